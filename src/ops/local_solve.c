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
  const double N = size.n_modes, n = size.n_trace;
  const double build = 11 * N * (N + 1) / 2 + 6 * N * n;
  const double algebra = N * N * N / 3 + 2 * N * N;  // Cholesky, two triangular solves
  const double flux = 4 * N * n + 4 * N * N;         // F~_x lambda, F~_y lambda, Dr^T u, Ds^T u
  const double bytes = 8.0 * (4 * N + n / 2.0) + 3 * 8 + 3 * 4 + 8;
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + algebra + flux) * (double)n_elements};
}
