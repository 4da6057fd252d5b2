#include "ops/line_factor.h"

#include "core/context.h"
#include "ops/fault.h"

kedge_status kg_line_factor(kedge_context *ctx, const kg_line_factor_args *args)
{
  static kedge_status (*const impl[][KEDGE_BACKEND_COUNT])(kedge_context *,
                                                           const kg_line_factor_args *) =
      KG_IMPLEMENTATIONS_OF_NUMBERS(kg_line_factor_host, kg_line_factor_cuda);
  KG_TRY(kg_fault_clear(ctx, args->fault));
  KG_TRY(impl[args->number][ctx->backend](ctx, args));
  return kg_edge_blocks_check(ctx, &args->batch, args->number, args->fault);
}

/// Of a step: three blocks of K^e read, D^-1 and L written; an inverse and two products.
kg_cost kg_line_factor_cost(kg_sizes size, int32_t n_steps)
{
  const double m = size.n_edge, packed = m * (m + 1) / 2, steps = n_steps;
  return (kg_cost){.bytes = steps * (8.0 * (3.0 * packed + 2.0 * m * m) + 12.0),
                   .flops = steps * 5.0 * m * m * m};
}
