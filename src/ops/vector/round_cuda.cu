// round_cuda.cu: to = 2^exponent from, double to single precision.
// Map     thread = two neighbouring numbers; where `from` takes a step first, thread = a number, in
//         strides of the grid, and threads a multiple of KG_VECTORS apart have the same vector
// Cost    12 bytes a number; with a step 28
#include "device/cuda_each.cuh"
#include "ops/vector/grid_sum.cuh"
#include "ops/vector/round.h"
#include "ops/vector/row_passes.cuh"

namespace
{
enum { PAIRS = 256 };

__global__ void __launch_bounds__(PAIRS) round_kernel(const kg_round_args a)
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

__global__ void __launch_bounds__(THREADS, BLOCKS)
    round_advance_kernel(const kg_round_args a, unsigned *counter)
{
  __shared__ double s_sum[THREADS / 32 * KG_VECTORS];
  const int vector = threadIdx.x % KG_VECTORS;
  const double factor = kg_advance_factor(&a.advance, vector);
  const double scale = a.exponent ? ldexp(1.0, a.exponent[vector]) : 1.0;
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  double rr = 0.0;
  for (int64_t i = kg_thread_number(); i < a.n; i += stride) {
    const double r = a.from[i] + factor * kg_advance_closed(&a.advance, i);
    a.advance.r[i] = r;
    a.to[i] = (float)(scale * r);
    rr += r * r;
  }
  kg_grid_sums_end<KG_VECTORS>(rr, a.advance.sum, counter, s_sum);
}
}  // namespace

extern "C" kedge_status kg_round_cuda(kedge_context *ctx, const kg_round_args *a)
{
  if (a->advance.r != nullptr) return launch(ctx, a, round_advance_kernel, "round");
  return kg_launch_each<PAIRS>(ctx, "round", (a->n + 1) / 2, round_kernel, *a);
}
