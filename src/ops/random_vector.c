#include "ops/random_vector.h"

#include "core/context.h"

kedge_status kg_random_vector(kedge_context *ctx, const kg_random_vector_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_random_vector_args *) =
      KG_IMPLEMENTATIONS(kg_random_vector_host, kg_random_vector_cuda);
  return impl[ctx->backend](ctx, args);
}
