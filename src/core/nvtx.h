/// @file
/// NVTX ranges in the domain "kedge"; every NVTX call of the library is in nvtx.c.
#pragma once
#include <stdint.h>

#include "kedge/base.h"
KEDGE_BEGIN_DECLS

/// Begin a range on this thread. `name` must live as long as the library (a literal).
/// The payload carries both counts.
void kg_range_push(const char *name, int64_t elements, int64_t unknowns);
void kg_range_pop(void);
/// A sample of the counter relative_residual.
void kg_range_residual(double relative_residual);

KEDGE_END_DECLS
