#include "ops/constant_modes.h"

#include "core/context.h"

kedge_status kg_constant_modes(kedge_context *ctx, const kg_constant_modes_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_constant_modes_args *) =
      KG_IMPLEMENTATIONS(kg_constant_modes_host, kg_constant_modes_cuda);
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_constant_modes_cost(int64_t n_elements)
{
  return (kg_cost){.bytes = 6.0 * sizeof(double) * (double)n_elements};
}
