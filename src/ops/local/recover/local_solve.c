#include "ops/local/triangle/local_solve.h"

#include "device/context.h"

KG_OPERATOR(kg_local_solve, kg_local_solve_args)

kg_cost kg_local_solve_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_trace, m = size.n_edge, K = size.n_rotation;
  const double lower = (N * N - m * (m + 1) * (2 * m + 1) / 6) / 2;  // pairs of unequal degree
  const double build = 9 * K * (K + 1) / 2 + K;
  const double trace = 2 * N * n + 10 * N + 4 * lower;  // F_l lambda_l, Dr and Ds of what they make
  const double top = 6 * K * m;                         // modes of degree P: B, B g, B^T x
  const double algebra = K * K * K / 3 + 2 * K * K;     // Cholesky, two triangular solves
  const double flux = 4 * lower + 8 * N;                // Dr^T u, Ds^T u
  const double bytes = 8.0 * (4 * N + n / 2.0) + 3 * 8 + 3 * 4 + 8;
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + trace + top + algebra + flux) * (double)n_elements};
}
