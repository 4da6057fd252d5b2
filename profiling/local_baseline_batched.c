// Local matrices by the batched routines of cuSOLVER (potrf) and cuBLAS (trsm, gemm). gemm stands
// for syrk, which has no batched form.
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <stdlib.h>

#include "device/cuda_rt.h"
#include "core/memory.h"
#include "local_baseline.h"

struct batched_handles {
  cublasHandle_t blas;
  cusolverDnHandle_t solver;
};

static kedge_status check(kedge_context *ctx, int status, const char *what)
{
  return status == 0 ? KEDGE_OK
                     : KG_FAIL(ctx, KEDGE_ERR_DEVICE, "%s failed with status %d", what, status);
}

void baseline_close_batched(struct batched_handles *batch)
{
  if (batch == NULL) return;
  if (batch->blas) cublasDestroy(batch->blas);
  if (batch->solver) cusolverDnDestroy(batch->solver);
  free(batch);
}

static kedge_status open(baseline *b)
{
  kedge_context *ctx = b->ctx;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *b->batch, &b->batch));
  KG_TRY(check(ctx, cublasCreate(&b->batch->blas), "cublasCreate"));
  KG_TRY(check(ctx, cusolverDnCreate(&b->batch->solver), "cusolverDnCreate"));
  KG_TRY(check(ctx, cublasSetStream(b->batch->blas, kg_cuda_stream(ctx)), "cublasSetStream"));
  KG_TRY(check(ctx, cusolverDnSetStream(b->batch->solver, kg_cuda_stream(ctx)),
               "cusolverDnSetStream"));
  KG_TRY(kg_alloc(ctx, 2 * (size_t)b->elements, sizeof(double *), &b->pointers));
  KG_TRY(kg_alloc(ctx, (size_t)b->elements, sizeof(int), &b->info));
  return baseline_pointers_cuda(b);
}

static kedge_status build(void *user)
{
  return baseline_build_cuda(user);
}

static kedge_status call(void *user)
{
  const baseline *b = user;
  const kg_sizes z = b->args.batch.reference.size;
  const int N = z.n_modes, n = z.n_trace, batch = (int)b->elements;
  double **const operators = b->pointers.data, **const lifts = operators + b->elements;
  const double one = 1.0, minus_one = -1.0;
  KG_TRY(build(user));
  KG_TRY(check(b->ctx,
               cusolverDnDpotrfBatched(b->batch->solver, CUBLAS_FILL_MODE_LOWER, N, operators, N,
                                       b->info.data, batch),
               "cusolverDnDpotrfBatched"));
  KG_TRY(check(b->ctx,
               cublasDtrsmBatched(b->batch->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                                  CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, N, n + 1, &one,
                                  (const double *const *)operators, N, lifts, N, batch),
               "cublasDtrsmBatched"));
  const long long lift_stride = (long long)N * (n + 1), stride = (long long)n * (n + 1);
  const double *w = b->lifts.data;
  return check(b->ctx,
               cublasDgemmStridedBatched(b->batch->blas, CUBLAS_OP_T, CUBLAS_OP_N, n + 1, n, N,
                                         &minus_one, w, N, lift_stride, w, N, lift_stride, &one,
                                         b->matrices.data, n + 1, stride, batch),
               "cublasDgemmStridedBatched");
}

const baseline_variant *baseline_cuda_variants(int *n)
{
  static const baseline_variant variants[] = {
      {"cuSOLVER potrfBatched, cuBLAS trsmBatched, gemmStridedBatched", false, open, call, build}};
  *n = 1;
  return variants;
}
