#include "ops/edge_sum.h"

#include "core/context.h"

kedge_status kg_edge_sum(kedge_context *ctx, const kg_edge_sum_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_edge_sum_args *) =
      KG_IMPLEMENTATIONS(kg_edge_sum_host, kg_edge_sum_cuda);
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_edge_sum_cost(kg_sizes size, int64_t n_free)
{
  return (kg_cost){.bytes = (24.0 * size.n_edge + 8.0) * (double)n_free,
                   .flops = (double)size.n_edge * (double)n_free};
}
