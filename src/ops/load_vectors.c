#include "ops/load_vectors.h"

#include "core/context.h"

kedge_status kg_load_vectors(kedge_context *ctx, const kg_load_vectors_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_load_vectors_args *) =
      KG_IMPLEMENTATIONS(kg_load_vectors_host, kg_load_vectors_cuda);
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_load_vectors_cost(kg_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, q = kg_rule_points(size.order);
  return (kg_cost){.bytes = 8.0 * (q + N) * (double)n_elements,
                   .flops = (2.0 * N * q + q) * (double)n_elements};
}
