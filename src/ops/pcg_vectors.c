#include "ops/pcg_vectors.h"

#include "core/context.h"

typedef kedge_status pcg_vectors_fn(kedge_context *, const kg_cg_vectors_args *);

kedge_status kg_pcg_start(kedge_context *ctx, const kg_cg_vectors_args *args)
{
  static pcg_vectors_fn *const impl[] = KG_IMPLEMENTATIONS(kg_pcg_start_host, kg_pcg_start_cuda);
  return impl[ctx->backend](ctx, args);
}

kedge_status kg_pcg_direction(kedge_context *ctx, const kg_cg_vectors_args *args)
{
  static pcg_vectors_fn *const impl[][KEDGE_BACKEND_COUNT] =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_pcg_direction_host, kg_pcg_direction_cuda);
  return impl[kg_cg_number(args)][ctx->backend](ctx, args);
}

kedge_status kg_pcg_update(kedge_context *ctx, const kg_cg_vectors_args *args)
{
  static pcg_vectors_fn *const impl[][KEDGE_BACKEND_COUNT] =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_pcg_update_host, kg_pcg_update_cuda);
  return impl[kg_cg_number(args)][ctx->backend](ctx, args);
}

kg_cost kg_pcg_vectors_cost(int64_t n, kg_number number)
{
  // direction: z, p in, p out; update: x, p, r, Ap in, x, r out.
  return (kg_cost){.bytes = (number == KG_SINGLE ? 4.0 * 7.0 + 8.0 * 2.0 : 8.0 * 9.0) * (double)n,
                   .flops = 8.0 * (double)n};
}
