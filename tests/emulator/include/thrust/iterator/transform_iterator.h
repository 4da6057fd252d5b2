#pragma once
#include "emulated_iterators.h"
