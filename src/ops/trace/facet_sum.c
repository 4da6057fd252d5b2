#include "ops/trace/facet_sum.h"

#include "device/context.h"

KG_OPERATOR(kg_facet_loads, kg_facet_loads_args)
KG_OPERATOR(kg_facet_diagonal, kg_facet_diagonal_args)

kg_cost kg_facet_sum_cost(kg_sizes size, int64_t n_free)
{
  return (kg_cost){.bytes = (24.0 * size.n_edge + 8.0) * (double)n_free,
                   .flops = (double)size.n_edge * (double)n_free};
}
