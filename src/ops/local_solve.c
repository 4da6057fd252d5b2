#include "ops/local_solve.h"

#include "core/context.h"

kedge_status kg_local_solve(kedge_context *ctx, const kg_local_solve_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_local_solve_args *) =
      KG_IMPLEMENTATIONS(kg_local_solve_host, kg_local_solve_cuda);
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_local_solve_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_trace, m = size.n_edge;
  const double lower = (N * N - m * (m + 1) * (2 * m + 1) / 6) / 2;  // pairs of unequal degree
  const double build = 7 * N * (N + 1) / 2 + N;
  const double trace = 6 * N * n + 4 * lower;        // tau F lambda, F~_k lambda, Dr p_r + Ds p_s
  const double algebra = N * N * N / 3 + 2 * N * N;  // Cholesky, two triangular solves
  const double flux = 4 * lower + 8 * N;             // Dr^T u, Ds^T u
  const double bytes = 8.0 * (4 * N + n / 2.0) + 3 * 8 + 3 * 4 + 8;
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + trace + algebra + flux) * (double)n_elements};
}
