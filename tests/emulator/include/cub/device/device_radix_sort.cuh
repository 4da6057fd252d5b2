#pragma once
#include "../emulated_cub.h"
