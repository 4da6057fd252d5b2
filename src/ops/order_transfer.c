#include "ops/order_transfer.h"

#include "core/context.h"

KG_OPERATOR(kg_order_local, kg_order_local_args)
KG_OPERATOR(kg_order_restrict, kg_order_vector_args)
KG_OPERATOR(kg_order_add, kg_order_vector_args)

kg_cost kg_order_local_cost(kg_sizes to_size, bool reduced, int64_t n_elements)
{
  const int rows = reduced ? kg_reduced_rows(to_size) : to_size.n_packed;
  return (kg_cost){.bytes = 2 * 8.0 * rows * (double)n_elements};
}

kg_cost kg_order_vector_cost(int64_t n_edges, int m)
{
  const double n = (double)n_edges * m;
  return (kg_cost){.bytes = 6 * 8.0 * n, .flops = 2 * n};
}
