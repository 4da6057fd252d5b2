#include "device/context.h"
#include "precondition/amg/csr_diagonal.h"

kedge_status kg_csr_diagonal_host(kedge_context *ctx, const kg_csr_diagonal_args *args)
{
  int32_t faults = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(| : faults)
  for (int32_t i = 0; i < args->matrix.n_rows; ++i) faults |= !kg_csr_diagonal_row(args, i);
  *args->faults = faults;
  return KEDGE_OK;
}

kedge_status kg_csr_norms_host(kedge_context *ctx, const kg_csr_norms_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
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
