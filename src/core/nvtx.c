#include "core/nvtx.h"

void kg_range_push(const char *name, int64_t elements, int64_t unknowns)
{
  (void)name, (void)elements, (void)unknowns;
}

void kg_range_pop(void)
{
}

void kg_range_residual(double relative_residual)
{
  (void)relative_residual;
}
