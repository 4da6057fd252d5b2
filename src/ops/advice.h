/// @file
/// What sentences advise in more than one place.
#pragma once

/// What goes where multigrid does not. Jacobi refuses settings that it would not read.
#define KG_WITHOUT_MULTIGRID "preconditioner = jacobi without settings of multigrid"
