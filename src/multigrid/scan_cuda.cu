// scan_cuda.cu: where rows begin, by CUB.
#define CCCL_DISABLE_NVTX  // CUB's own ranges would lie between those of kedge
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "backend/cuda_rt.h"
#include "multigrid/scan.h"

namespace
{
struct Widen {
  __device__ int64_t operator()(int32_t length) const
  {
    return length;
  }
};

/// Without scratch, what it needs of it.
cudaError_t scan(void *scratch, size_t *bytes, const int32_t *length, int32_t n, int64_t *begin,
                 cudaStream_t stream)
{
  return cub::DeviceScan::InclusiveSum(
      scratch, *bytes, thrust::make_transform_iterator(length, Widen{}), begin + 1, n, stream);
}
}  // namespace

extern "C" kedge_status kg_scan_cuda(kedge_context *ctx, const int32_t *length, int32_t n,
                                     int64_t *begin)
{
  KG_TRY(kg_zero(ctx, begin, sizeof *begin));
  if (n == 0) return KEDGE_OK;
  size_t bytes = 0;
  KG_TRY(kg_cuda_check(ctx, scan(nullptr, &bytes, length, n, begin, nullptr), "sizing a scan"));
  kg_buffer scratch = {};
  KG_TRY(kg_alloc(ctx, bytes, 1, &scratch));
  const kedge_status status = kg_cuda_check(
      ctx, scan(scratch.data, &bytes, length, n, begin, kg_cuda_stream(ctx)), "scanning rows");
  kg_free(ctx, &scratch);
  return status;
}
