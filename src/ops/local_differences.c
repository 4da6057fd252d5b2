#include "ops/local_differences.h"

#include "core/context.h"

kedge_status kg_local_differences(kedge_context *ctx, const kg_local_differences_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_local_differences_args *) =
      KG_IMPLEMENTATIONS(kg_local_differences_host, kg_local_differences_cuda);
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_local_differences_cost(kg_sizes size, int64_t n_elements)
{
  return (kg_cost){.bytes = 12.0 * size.n_packed * (double)n_elements,
                   .flops = (2.0 * size.n_trace + 7.0) * (double)n_elements};
}
