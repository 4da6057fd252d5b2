#include "precondition/amg/csr_apply.h"

#include "device/context.h"

KG_OPERATOR(kg_csr_start, kg_csr_apply_args)

static kedge_status apply(kedge_context *ctx, const kg_csr_apply_args *args, kg_csr_rule rule)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr_apply_args *, kg_csr_rule) =
      KG_IMPLEMENTATIONS(kg_csr_apply_host, kg_csr_apply_cuda);
  return impl[ctx->backend](ctx, args, rule);
}

kedge_status kg_csr_step(kedge_context *ctx, const kg_csr_apply_args *args)
{
  return apply(ctx, args, KG_CSR_STEP);
}

kedge_status kg_csr_residual(kedge_context *ctx, const kg_csr_apply_args *args)
{
  return apply(ctx, args, KG_CSR_RESIDUAL);
}

kedge_status kg_csr_restrict(kedge_context *ctx, const kg_csr_apply_args *args)
{
  return apply(ctx, args, KG_CSR_RESTRICT);
}

kedge_status kg_csr_prolong(kedge_context *ctx, const kg_csr_apply_args *args)
{
  return apply(ctx, args, KG_CSR_PROLONG);
}

kedge_status kg_csr_scaled(kedge_context *ctx, const kg_csr_apply_args *args)
{
  return apply(ctx, args, KG_CSR_SCALED);
}

kg_cost kg_csr_apply_cost(const kg_csr *matrix, kg_csr_rule rule)
{
  // Words a row: x (once, of about as many rows), y, diagonal, and what the rule reads.
  static const double words[] = {[KG_CSR_STEP] = 5.0,
                                 [KG_CSR_RESIDUAL] = 4.0,
                                 [KG_CSR_RESTRICT] = 3.0,
                                 [KG_CSR_PROLONG] = 2.0,
                                 [KG_CSR_SCALED] = 3.0};
  return (kg_cost){
      .bytes = (matrix->part ? 6.0 : 8.0) * matrix->n_entries +
               (4.0 + 8.0 * words[rule]) * matrix->n_rows,
      .flops = 2.0 * matrix->n_entries,
  };
}
