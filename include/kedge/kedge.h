/// @file
/// All of kedge's public API.
#pragma once
#include "kedge/base.h"
#include "kedge/context.h"
#include "kedge/mesh.h"
#include "kedge/problem.h"
#include "kedge/solution.h"
#include "kedge/machine.h"
