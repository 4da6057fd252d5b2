#include "ops/local_matrices.h"

#include "core/context.h"

kedge_status kg_local_matrices(kedge_context *ctx, const kg_local_matrices_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_local_matrices_args *) =
      KG_IMPLEMENTATIONS(kg_local_matrices_host, kg_local_matrices_cuda);
  return impl[ctx->backend](ctx, args);
}

/// Reduced K^e need no columns of W for mode 0 of the edges.
kg_cost kg_local_matrices_cost(kg_sizes size, bool reduced, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_trace - (reduced ? 3 : 0), packed = N * (N + 1) / 2;
  const double rows = reduced ? kg_reduced_rows(size) : size.n_packed;
  const double build = 11 * packed + 5 * N * n;           // Z^-1 and R from reference matrices
  const double algebra = N * N * N / 3 + N * N * (n + 1)  // Cholesky, triangular solve
                         + N * n * (n + 1) + 2 * N * n;   // rank-N update, F^e
  const double bytes =
      8.0 * (N + rows + size.n_trace) + 3 * 8 + 3 * 4 + 8;  // f, K, F, ids, half a vertex
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + algebra) * (double)n_elements};
}
