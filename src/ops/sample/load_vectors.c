#include "ops/sample/load_vectors.h"

#include "device/context.h"

KG_OPERATOR(kg_load_vectors, kg_load_vectors_args)

// The cost counts points and modes as kg_errors_cost() does.
kg_cost kg_load_vectors_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, rows = kg_point_rows(size.order), q = rows * rows;
  const double flops = q * (2.0 * size.n_edge + 1) + rows * 2 * N + N;
  return (kg_cost){.bytes = (8.0 * (q + N) + 3 * 4 + 8) * (double)n_elements,
                   .flops = flops * (double)n_elements};
}
