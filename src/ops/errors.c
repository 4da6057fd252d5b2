#include "ops/errors.h"

#include "core/context.h"

kedge_status kg_errors(kedge_context *ctx, const kg_errors_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_errors_args *) =
      KG_IMPLEMENTATIONS(kg_errors_host, kg_errors_cuda);
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_errors_cost(kg_sizes size, int n_points, int64_t n_elements)
{
  const double N = size.n_modes, S = size.n_star, q = n_points;
  return (kg_cost){.bytes = 8.0 * (3 * N + S + 3 * q) * (double)n_elements,
                   .flops = q * (6 * N + 2 * S + 16) * (double)n_elements};
}
