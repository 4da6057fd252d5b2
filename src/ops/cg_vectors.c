#include "ops/cg_vectors.h"

#include "core/context.h"

typedef kedge_status cg_vectors_fn(kedge_context *, const kg_cg_vectors_args *);

kedge_status kg_cg_start(kedge_context *ctx, const kg_cg_vectors_args *args)
{
  static cg_vectors_fn *const impl[] = KG_IMPLEMENTATIONS(kg_cg_start_host, kg_cg_start_cuda);
  return impl[ctx->backend](ctx, args);
}

kedge_status kg_cg_update(kedge_context *ctx, const kg_cg_vectors_args *args)
{
  static cg_vectors_fn *const impl[] = KG_IMPLEMENTATIONS(kg_cg_update_host, kg_cg_update_cuda);
  return impl[ctx->backend](ctx, args);
}

kedge_status kg_cg_direction(kedge_context *ctx, const kg_cg_vectors_args *args)
{
  static cg_vectors_fn *const impl[] =
      KG_IMPLEMENTATIONS(kg_cg_direction_host, kg_cg_direction_cuda);
  return impl[ctx->backend](ctx, args);
}

kg_cost kg_cg_vectors_cost(int64_t n)
{
  // update: z, Ap, D^-1 in, z out; direction: z, p, x in, p, x out.
  return (kg_cost){.bytes = 8.0 * 9.0 * (double)n, .flops = 12.0 * (double)n};
}
