#include "ops/round.h"

#include "core/context.h"

kedge_status kg_round(kedge_context *ctx, const kg_round_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_round_args *) =
      KG_IMPLEMENTATIONS(kg_round_host, kg_round_cuda);
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_round_cost(int64_t n)
{
  return (kg_cost){.bytes = 12.0 * (double)n, .flops = (double)n};
}
