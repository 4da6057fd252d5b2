#include "precondition/amg/csr_diagonal.h"

#include <math.h>

#include "device/loop.h"

static kedge_status take_diagonal(kedge_context *ctx, const kg_csr_diagonal_args *args)
{
  int32_t faults = 0;
#pragma omp parallel for schedule(static)                                  \
    num_threads(kg_loop_threads(ctx, args->matrix.n_rows, 32)) reduction(| \
                                                                         : faults)
  for (int32_t i = 0; i < args->matrix.n_rows; ++i) faults |= !kg_csr_diagonal_row(args, i);
  *args->faults = faults;
  return KEDGE_OK;
}

kedge_status kg_csr_diagonal(kedge_context *ctx, const kg_csr_diagonal_args *args)
{
  int32_t faults;
  KG_TRY(kg_zero(ctx, args->faults, sizeof faults));
  KG_TRY(KG_IMPLEMENTATION(ctx, take_diagonal, kg_csr_diagonal_cuda)(ctx, args));
  KG_TRY(kg_copy_out(ctx, &faults, args->faults, sizeof faults));
  KG_REQUIRE(
      ctx, faults == 0, KEDGE_ERR_NUMERIC,
      "a coarse matrix of the multigrid (%d rows) has a diagonal entry that is not a positive "
      "number: check the mesh for nearly degenerate elements, choose a stabilization nearer to "
      "diffusion / h, or use " KG_WITHOUT_MULTIGRID,
      args->matrix.n_rows);
  return KEDGE_OK;
}

static kedge_status norms(kedge_context *ctx, const kg_csr_norms_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 6))
  for (int piece = 0; piece < KG_CSR_PIECES; ++piece) {
    double xx = 0.0, yy = 0.0;
    const int64_t end = (int64_t)a->n * (piece + 1) / KG_CSR_PIECES;
    for (int64_t i = (int64_t)a->n * piece / KG_CSR_PIECES; i < end; ++i) {
      xx += a->x[i] * a->x[i] * a->diagonal[i];
      yy += a->y[i] * a->y[i] * a->diagonal[i];
    }
    a->partial[piece] = xx;
    a->partial[KG_CSR_PIECES + piece] = yy;
  }
  return KEDGE_OK;
}

kedge_status kg_csr_growth(kedge_context *ctx, const kg_csr_norms_args *args, double *growth)
{
  double partial[2 * KG_CSR_PIECES], xx = 0.0, yy = 0.0;
  KG_TRY(KG_IMPLEMENTATION(ctx, norms, kg_csr_norms_cuda)(ctx, args));
  KG_TRY(kg_copy_out(ctx, partial, args->partial, sizeof partial));
  for (int i = 0; i < KG_CSR_PIECES; ++i) {
    xx += partial[i];
    yy += partial[KG_CSR_PIECES + i];
  }
  *growth = sqrt(yy / xx);
  return KEDGE_OK;
}
