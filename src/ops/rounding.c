#include "ops/rounding.h"

#include "core/context.h"

typedef kedge_status pass(kedge_context *, const kg_cg_vectors_args *);

kedge_status kg_rounding_perturb(kedge_context *ctx, const kg_cg_vectors_args *args)
{
  static pass *const impl[][KEDGE_BACKEND_COUNT] =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_rounding_perturb_host, kg_rounding_perturb_cuda);
  return impl[kg_cg_number(args)][ctx->backend](ctx, args);
}

kedge_status kg_rounding_sum(kedge_context *ctx, const kg_cg_vectors_args *args)
{
  static pass *const impl[][KEDGE_BACKEND_COUNT] =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_rounding_sum_host, kg_rounding_sum_cuda);
  return impl[kg_cg_number(args)][ctx->backend](ctx, args);
}

kg_cost kg_rounding_cost(int64_t n)
{
  return (kg_cost){.bytes = 3 * 8.0 * (double)n, .flops = 4.0 * (double)n};
}
