#include "ops/smooth_vectors.h"

#include "core/context.h"

typedef kedge_status smooth_vectors_fn(kedge_context *, const kg_smooth_vectors_args *);

kedge_status kg_smooth_residual(kedge_context *ctx, const kg_smooth_vectors_args *args)
{
  static smooth_vectors_fn *const impl[][KEDGE_BACKEND_COUNT] =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_smooth_residual_host, kg_smooth_residual_cuda);
  return impl[args->number][ctx->backend](ctx, args);
}

kedge_status kg_smooth_advance(kedge_context *ctx, const kg_smooth_vectors_args *args)
{
  static smooth_vectors_fn *const impl[][KEDGE_BACKEND_COUNT] =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_smooth_advance_host, kg_smooth_advance_cuda);
  return impl[args->number][ctx->backend](ctx, args);
}

kg_cost kg_smooth_vectors_cost(int64_t n, kg_number number)
{
  // residual: r, A z in, v out; advance: y, z, r in, z out.
  return (kg_cost){.bytes = 7.0 * (double)kg_number_bytes(number) * (double)n,
                   .flops = 5.0 * (double)n};
}
