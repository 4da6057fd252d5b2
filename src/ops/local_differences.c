#include "ops/local_differences.h"

#include "core/context.h"

KG_OPERATOR(kg_local_differences, kg_local_differences_args)

kg_cost kg_local_differences_cost(kg_sizes size, int64_t n_elements)
{
  return (kg_cost){.bytes = 12.0 * size.n_packed * (double)n_elements,
                   .flops = (2.0 * size.n_trace + 7.0) * (double)n_elements};
}
