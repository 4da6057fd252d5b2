#include "precondition/amg/csr_diagonal.h"

#include <math.h>

#include "device/context.h"
#include "ops/advice.h"

kedge_status kg_csr_diagonal(kedge_context *ctx, const kg_csr_diagonal_args *args)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr_diagonal_args *) =
      KG_IMPLEMENTATIONS(kg_csr_diagonal_host, kg_csr_diagonal_cuda);
  int32_t faults;
  KG_TRY(kg_zero(ctx, args->faults, sizeof faults));
  KG_TRY(impl[ctx->backend](ctx, args));
  KG_TRY(kg_copy_out(ctx, &faults, args->faults, sizeof faults));
  KG_REQUIRE(
      ctx, faults == 0, KEDGE_ERR_NUMERIC,
      "a coarse matrix of the multigrid (%d rows) has a diagonal entry that is not a positive "
      "number: check the mesh for nearly degenerate elements, choose a stabilization nearer to "
      "diffusion / h, or use " KG_WITHOUT_MULTIGRID,
      args->matrix.n_rows);
  return KEDGE_OK;
}

kedge_status kg_csr_growth(kedge_context *ctx, const kg_csr_norms_args *args, double *growth)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr_norms_args *) =
      KG_IMPLEMENTATIONS(kg_csr_norms_host, kg_csr_norms_cuda);
  double partial[2 * KG_CSR_PIECES], xx = 0.0, yy = 0.0;
  KG_TRY(impl[ctx->backend](ctx, args));
  KG_TRY(kg_copy_out(ctx, partial, args->partial, sizeof partial));
  for (int i = 0; i < KG_CSR_PIECES; ++i) {
    xx += partial[i];
    yy += partial[KG_CSR_PIECES + i];
  }
  *growth = sqrt(yy / xx);
  return KEDGE_OK;
}
