// roofs_cuda.cu: read bandwidth and double precision rate of the GPU, the best of several runs.
#include "device/cuda_rt.h"
#include "roofs.h"

namespace
{

__global__ void read_kernel(const double2 *array, int64_t n, double *out)
{
  double sum = 0.0;
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const double2 v = __ldcs(array + i);
    sum += v.x + v.y;
  }
  if (sum == 1e300) *out = sum;  // never: keeps the loads
}

enum { CHAINS = 8, STEPS = 4096 };

__global__ void multiply_add_kernel(double seed, double *out)
{
  double x[CHAINS];
  for (int i = 0; i < CHAINS; ++i) x[i] = seed + i + threadIdx.x;
  for (int step = 0; step < STEPS; ++step)
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) x[i] = fma(x[i], 0.999999, 1e-6);
  double sum = 0.0;
  for (int i = 0; i < CHAINS; ++i) sum += x[i];
  if (sum == 1e300) *out = sum;
}

/// Least milliseconds of ten launches.
template <class Launch>
float best(cudaStream_t stream, Launch launch)
{
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float least = 1e30f;
  for (int i = 0; i < 10; ++i) {
    float ms = 0.0f;
    cudaEventRecord(begin, stream);
    launch();
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    if (ms < least) least = ms;
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return least;
}

}  // namespace

extern "C" kedge_status measure_roofs_cuda(kedge_context *ctx, roofs *out)
{
  const int64_t n = (int64_t)1 << 28;  // 4 GiB of double2
  kg_buffer buffer;
  KG_TRY(kg_alloc(ctx, (size_t)n, sizeof(double2), &buffer));
  KG_TRY(kg_zero(ctx, buffer.data, buffer.bytes));
  const unsigned sms = (unsigned)kg_cuda(ctx)->multiprocessors;
  const cudaStream_t stream = kg_cuda_stream(ctx);
  const float read = best(stream, [&] {
    read_kernel<<<sms * 32, 512, 0, stream>>>((const double2 *)buffer.data, n,
                                              (double *)buffer.data);
  });
  const float flops = best(stream, [&] {
    multiply_add_kernel<<<sms * 16, 256, 0, stream>>>(1.0, (double *)buffer.data);
  });
  kg_free(ctx, &buffer);
  out->read_bytes_per_second = (double)n * sizeof(double2) / (1e-3 * read);
  out->flops_per_second = (double)sms * 16 * 256 * STEPS * CHAINS * 2 / (1e-3 * flops);
  return kg_cuda_launched(ctx, "roofs");
}
