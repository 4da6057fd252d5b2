// round_cuda.cu: to = 2^exponent from, double to single precision.
// Map     thread = two neighbouring numbers
// Cost    12 bytes a number
#include "backend/cuda_rt.h"
#include "ops/round.h"

namespace
{
enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS) round_kernel(const kg_round_args a)
{
  const double scale = a.state ? ldexp(1.0, a.state->exponent) : 1.0;
  const int64_t i = 2 * ((int64_t)blockIdx.x * THREADS + threadIdx.x);
  if (i + 1 < a.n) {
    const double2 pair = *(const double2 *)(a.from + i);
    *(float2 *)(a.to + i) = make_float2((float)(scale * pair.x), (float)(scale * pair.y));
  } else if (i < a.n) {
    a.to[i] = (float)(scale * a.from[i]);
  }
}
}  // namespace

extern "C" kedge_status kg_round_cuda(kedge_context *ctx, const kg_round_args *a)
{
  if (a->n == 0) return KEDGE_OK;  // an empty grid is a launch error
  const int64_t blocks = (a->n + 2 * THREADS - 1) / (2 * THREADS);
  round_kernel<<<(unsigned)blocks, THREADS, 0, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "round");
}
