#include "ops/local/triangle/local_matrices.h"

#include "device/context.h"

kedge_status kg_local_matrices(kedge_context *ctx, const kg_local_matrices_args *args)
{
  assert(args->local.layout == KG_LAYOUT_PACKED || args->local.layout == KG_LAYOUT_REDUCED);
  assert(args->local.number == KG_DOUBLE);
  assert(args->local.n_lanes == args->batch.count.n_groups * KG_LANES);
  return KG_IMPLEMENTATION(ctx, kg_local_matrices_host, kg_local_matrices_cuda)(ctx, args);
}

/// Modes of degree P are eliminated by hand; reduced K^e need no columns of W for mode 0 of the
/// edges.
kg_cost kg_local_matrices_cost(kg_sizes size, kg_layout layout, int64_t n_elements)
{
  const double N = size.n_modes, K = size.n_rotation, m = size.n_edge, trace = size.n_trace;
  const double n = trace - (layout == KG_LAYOUT_REDUCED ? 3 : 0);
  const double rows = kg_local_rows(layout, size.n_trace);
  const double build = 9 * K * (K + 1) / 2 + K + 9 * K * n + n * n;   // Z^-1, R, S0 of what is left
  const double top = 2 * (m + K) * trace;                             // f: F_p^T f_p, F_x of that
  const double algebra = K * K * K / 3 + K * K * (n + 1)              // Cholesky, triangular solve
                         + K * n * (n + 1) + 2 * K * n;               // rank-K update, F^e
  const double bytes = 8.0 * (N + rows + trace) + 3 * 8 + 3 * 4 + 8;  // f, K, F, ids, half a vertex
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + top + algebra) * (double)n_elements};
}
