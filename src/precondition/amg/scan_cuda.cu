// scan_cuda.cu: where rows begin, by CUB.
#define CCCL_DISABLE_NVTX  // CUB's own ranges would lie between those of kedge
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "device/cuda_rt.h"
#include "precondition/amg/scan.h"

namespace
{
struct Widen {
  __device__ int64_t operator()(int32_t length) const
  {
    return length;
  }
};

/// Sums lengths up; without scratch, says how many bytes of scratch that takes.
cudaError_t scan(void *scratch, size_t *bytes, const int32_t *length, int32_t n, int64_t *begin,
                 cudaStream_t stream)
{
  return cub::DeviceScan::InclusiveSum(
      scratch, *bytes, thrust::make_transform_iterator(length, Widen{}), begin + 1, n, stream);
}
}  // namespace

extern "C" kedge_status kg_scan_bytes_cuda(kedge_context *ctx, int32_t n, size_t *bytes)
{
  *bytes = 0;
  return kg_cuda_check(ctx, scan(nullptr, bytes, nullptr, n, nullptr, nullptr), "sizing a scan");
}

extern "C" kedge_status kg_scan_cuda(kedge_context *ctx, const kg_scan_work *w, int32_t n)
{
  KG_TRY(kg_zero(ctx, w->begin, sizeof *w->begin));
  if (n == 0) return KEDGE_OK;
  size_t bytes = w->scratch_bytes;
  return kg_cuda_check(ctx, scan(w->scratch, &bytes, w->length, n, w->begin, kg_cuda_stream(ctx)),
                       "scanning rows");
}
