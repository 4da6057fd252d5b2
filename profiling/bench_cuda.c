#include <cuda_profiler_api.h>

#include "backend/cuda_rt.h"
#include "bench.h"

kedge_status bench_profile_cuda(kedge_context *ctx, bench_work work)
{
  KG_TRY(kg_cuda_check(ctx, cudaProfilerStart(), "starting the profiler"));
  KG_TRY(work.call(work.user));
  KG_TRY(kg_sync(ctx));
  return kg_cuda_check(ctx, cudaProfilerStop(), "stopping the profiler");
}
