#include "ops/sample/errors.h"

#include "device/context.h"

KG_OPERATOR(kg_errors, kg_errors_args)

// Sums over modes go by rows of points (docs/math.md#sums-over-points); vertices of the triangle
// are read.
kg_cost kg_errors_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, S = size.n_star, m = size.n_edge;
  const double rows = kg_point_rows(size.order), q = rows * rows;
  const double bytes = 8.0 * (3 * N + S + 3 * q + KG_POINT_CORNERS) + 3 * 4 + 8;
  const double flops =
      rows * 2 * (3 * N + S) + q * (2 * (4 * m + 1) + 16) + KG_POINT_CORNERS * 2 * N;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}
