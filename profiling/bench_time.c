// How long a call takes; or one call for a profiler.
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/clock.h"

static int compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(double *values, int n)
{
  qsort(values, (size_t)n, sizeof *values, compare_doubles);
  return values[n / 2];
}

static kedge_status sample(kedge_context *ctx, bench_work work, int calls, double *seconds)
{
  if (work.reset) KG_TRY(work.reset(work.user));
  KG_TRY(kg_sync(ctx));
  const double began = kg_seconds();
  for (int i = 0; i < calls; ++i) KG_TRY(work.call(work.user));
  KG_TRY(kg_sync(ctx));
  *seconds = (kg_seconds() - began) / calls;
  return KEDGE_OK;
}

kedge_status bench_time(kedge_context *ctx, bench_work work, int samples, double *seconds)
{
  double times[BENCH_SAMPLES_MAX];
  KG_TRY(sample(ctx, work, 1, times));
  KG_TRY(sample(ctx, work, 1, times));
  const int calls = 1 + (int)(3e-3 / times[0]);
  for (int i = 0; i < samples; ++i) KG_TRY(sample(ctx, work, calls, times + i));
  *seconds = bench_median(times, samples);
  return KEDGE_OK;
}

kedge_status bench_profile(kedge_context *ctx, bench_work work, const char *name)
{
  double seconds;
  KG_TRY(sample(ctx, work, 1, &seconds));
  if (work.reset) KG_TRY(work.reset(work.user));
  KG_TRY(kg_sync(ctx));
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) {
    KG_TRY(bench_profile_cuda(ctx, work));
    printf("{\"profiled\":\"%s\"}\n", name);
    return KEDGE_OK;
  }
#endif
  return KG_FAIL(ctx, KEDGE_ERR_UNSUPPORTED, "%s: only a GPU has a profiler to call", name);
}
