#include "precondition/amg/dense.h"

#include "device/context.h"
#include "ops/advice.h"

kedge_status kg_dense_inverse(kedge_context *ctx, const kg_dense_inverse_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_dense_inverse_args *) =
      KG_IMPLEMENTATIONS(kg_dense_inverse_host, kg_dense_inverse_cuda);
  int32_t fault;
  KG_TRY(kg_zero(ctx, args->fault, sizeof fault));
  KG_TRY(impl[ctx->backend](ctx, args));
  KG_TRY(kg_copy_out(ctx, &fault, args->fault, sizeof fault));
  KG_REQUIRE(
      ctx, fault == 0, KEDGE_ERR_NUMERIC,
      "the coarsest matrix of the multigrid (%d rows) is not positive definite: check the mesh for "
      "nearly degenerate elements, choose a stabilization nearer to diffusion / h, with Neumann "
      "conditions alone a reaction that is not negligible beside the diffusion, or "
      "use " KG_WITHOUT_MULTIGRID,
      args->matrix.n_rows);
  return KEDGE_OK;
}

kedge_status kg_dense_apply(kedge_context *ctx, int32_t n, const double *inverse, const double *x,
                            double *y)
{
  static kedge_status (*const impl[])(kedge_context *, int32_t, const double *, const double *,
                                      double *) =
      KG_IMPLEMENTATIONS(kg_dense_apply_host, kg_dense_apply_cuda);
  return impl[ctx->backend](ctx, n, inverse, x, y);
}
