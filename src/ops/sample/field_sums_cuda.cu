// field_sums_cuda.cu: sums and extrema of u and u* over the elements of a chunk.
// Layout  u [group][N][lane], u* [group][N*][lane]: lanes are neighbouring words.
// Map     warp = piece, which takes its groups one after the other; lane = element. The sums of the
//         lanes are joined in a fixed order, and the first lane writes.
// Cost    kg_field_sums_cost(); modes are read again from the cache for each point.
#include "device/cuda_launch.cuh"
#include "ops/sample/field_sums.h"

namespace
{

enum { THREADS = 128, WORDS = sizeof(kg_field_sums) / sizeof(double) };
static_assert(sizeof(kg_field_sums) == WORDS * sizeof(double), "shuffled as numbers");

/// Join the sums of the lanes of a warp, so that lane 0 has all.
__device__ void join_lanes(kg_field_sums &sum)
{
  for (int away = KG_LANES / 2; away > 0; away /= 2) {
    kg_field_sums other;
    double mine[WORDS], theirs[WORDS];
    memcpy(mine, &sum, sizeof sum);
#pragma unroll
    for (int k = 0; k < WORDS; ++k) theirs[k] = __shfl_down_sync(0xffffffffu, mine[k], away);
    memcpy(&other, theirs, sizeof other);
    if (threadIdx.x % KG_LANES < away) kg_field_sums_join(&other, &sum);
  }
}

__global__ void __launch_bounds__(THREADS) field_sums(const kg_field_sums_args a)
{
  const int piece = (int)((blockIdx.x * THREADS + threadIdx.x) / KG_LANES);
  const int lane = (int)(threadIdx.x % KG_LANES);
  const int64_t n_groups = (a.n_elements + KG_LANES - 1) / KG_LANES;
  if (piece >= a.n_pieces) return;
  kg_field_sums sum = kg_no_field_sums();
  for (int64_t g = piece; g < n_groups; g += a.n_pieces)
    if (lane < kg_field_lanes(&a, g)) kg_field_sums_element(&a, g, lane, &sum);
  __syncwarp();
  join_lanes(sum);
  if (lane != 0) return;
  if (!a.begins) {
    kg_field_sums all = a.sums[piece];
    kg_field_sums_join(&sum, &all);
    sum = all;
  }
  a.sums[piece] = sum;
}

}  // namespace

extern "C" kedge_status kg_field_sums_add_cuda(kedge_context *ctx, const kg_field_sums_args *a)
{
  constexpr int of_block = THREADS / KG_LANES;
  const unsigned blocks = (unsigned)((a->n_pieces + of_block - 1) / of_block);
  return kg_launch(ctx, "field_sums", blocks, THREADS, 0, field_sums, *a);
}
