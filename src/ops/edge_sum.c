#include "ops/edge_sum.h"

#include "core/context.h"

KG_OPERATOR(kg_edge_sum, kg_edge_sum_args)

kg_cost kg_edge_sum_cost(kg_sizes size, int64_t n_free)
{
  return (kg_cost){.bytes = (24.0 * size.n_edge + 8.0) * (double)n_free,
                   .flops = (double)size.n_edge * (double)n_free};
}
