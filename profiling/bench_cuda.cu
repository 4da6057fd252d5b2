// bench_cuda.cu: one call of an operator where a profiler looks.
#include <cuda_profiler_api.h>

#include "device/cuda_rt.h"
#include "bench_work.h"

namespace
{

/// Stands before each operator's kernels in what the profiler lists.
__global__ void profile_marker_kernel()
{
}

}  // namespace

extern "C" kedge_status bench_profile_cuda(kedge_context *ctx, bench_work work)
{
  KG_TRY(kg_cuda_check(ctx, cudaProfilerStart(), "starting the profiler"));
  profile_marker_kernel<<<1, 1, 0, kg_cuda_stream(ctx)>>>();
  KG_TRY(kg_cuda_launched(ctx, "marking an operator"));
  KG_TRY(work.call(work.user));
  KG_TRY(kg_sync(ctx));
  return kg_cuda_check(ctx, cudaProfilerStop(), "stopping the profiler");
}
