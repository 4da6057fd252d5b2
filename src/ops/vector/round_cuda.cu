// round_cuda.cu: to = 2^exponent from, double to single precision.
// Map     thread = two neighbouring numbers
// Cost    12 bytes a number
#include "device/cuda_each.cuh"
#include "ops/vector/round.h"

namespace
{
enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS) round_kernel(const kg_round_args a)
{
  const int64_t i = 2 * kg_thread_number();
  const int v = a.many ? (int)(i % KG_VECTORS) : 0, w = a.many ? v + 1 : 0;
  const double scale = a.exponent ? ldexp(1.0, a.exponent[v]) : 1.0;
  const double second = a.exponent ? ldexp(1.0, a.exponent[w]) : 1.0;
  if (i + 1 < a.n) {
    const double2 pair = *(const double2 *)(a.from + i);
    *(float2 *)(a.to + i) = make_float2((float)(scale * pair.x), (float)(second * pair.y));
  } else if (i < a.n) {
    a.to[i] = (float)(scale * a.from[i]);
  }
}
}  // namespace

extern "C" kedge_status kg_round_cuda(kedge_context *ctx, const kg_round_args *a)
{
  return kg_launch_each<THREADS>(ctx, "round", (a->n + 1) / 2, round_kernel, *a);
}
