#include "ops/smooth/line_factor.h"

#include "device/context.h"
#include "ops/numbering/fault.h"

kedge_status kg_line_factor(kedge_context *ctx, const kg_line_factor_args *args)
{
  KG_TRY(kg_fault_clear(ctx, args->fault));
  KG_TRY(KG_IMPLEMENTATION(ctx, kg_line_factor_host, kg_line_factor_cuda)(ctx, args));
  return kg_edge_blocks_check(ctx, &args->batch, args->number, args->fault);
}

/// A step reads three blocks of K^e and the edge and writes L and W. It takes three products with a
/// triangular matrix and the inverse of a factor.
kg_cost kg_line_factor_cost(kg_sizes size, int32_t n_steps, kg_number local)
{
  const double m = size.n_edge, packed = m * (m + 1) / 2, steps = n_steps;
  const double from = (double)kg_number_bytes(local);
  return (kg_cost){
      .bytes = steps * (from * (2.0 * packed + m * m) + sizeof(float) * (packed + m * m) + 12.0),
      .flops = steps * 11.0 / 3.0 * m * m * m};
}
