// edge_blocks_cuda.cu: B_f^-1 of every free edge f (edge_blocks.h).
// Layout  local [group][n (n+1) / 2][lane], inverse [edge group][m (m+1) / 2][lane]
// Map     thread = edge: its block lies in registers at low orders, else in local memory.
//         Neighbours write neighbouring words; they read words of elements near each other, because
//         edges are numbered along the elements.
// Cost    kg_edge_blocks_cost(), once a solve
#include <type_traits>

#include "basis/cell.h"
#include "device/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/smooth/edge_blocks.h"

namespace
{

enum { BLOCK = 128, ANY = 0 };  // ANY: modes that no kernel is compiled for, of tetrahedra

template <kg_block_form FORM>
using Kept = std::conditional_t<FORM == KG_BLOCK_HALF, uint16_t, float>;

template <kg_block_form FORM>
__device__ __forceinline__ Kept<FORM> keep(double value)
{
  if constexpr (FORM == KG_BLOCK_HALF)
    return kg_upper_half((float)value);
  else
    return (Kept<FORM>)value;
}

template <int M, kg_block_form FORM>
__global__ void __launch_bounds__(BLOCK) edge_blocks_kernel(const kg_edge_blocks_args a)
{
  constexpr int most = M == ANY ? KG_SPACE_FACET_MAX : M;
  const int m = M == ANY ? a.batch.m : M, packed = m * (m + 1) / 2;
  const int32_t edge = (int32_t)kg_thread_number();
  if (edge >= a.batch.count.n_free) return;
  const uint2 both = ((const uint2 *)a.batch.arrays.edge_sides)[edge];
  const kg_side sides[2] = {both.x, both.y};
  double block[most * (most + 1) / 2];
#pragma unroll
  for (int k = 0; k < packed; ++k) block[k] = 0.0;
  kg_edge_block_of(&a.locals, m, sides, block);
  if (!kg_edge_block_invert(m, a.number, block)) atomicMin(a.fault, edge);
  auto *out = (Kept<FORM> *)a.inverse + kg_edge_block_at(m, edge);
#pragma unroll
  for (int k = 0; k < packed; ++k) out[k * KG_LANES] = keep<FORM>(block[k]);
}

template <int M>
kedge_status launch(kedge_context *ctx, const kg_edge_blocks_args &a)
{
  auto kernel = edge_blocks_kernel<M, KG_BLOCK_FACTOR>;
  if (a.form == KG_BLOCK_HALF) kernel = edge_blocks_kernel<M, KG_BLOCK_HALF>;
  return kg_launch_each<BLOCK>(ctx, "edge_blocks", a.batch.count.n_free, kernel, a);
}

}  // namespace

extern "C" kedge_status kg_edge_blocks_cuda(kedge_context *ctx, const kg_edge_blocks_args *a)
{
  if (a->batch.m > KEDGE_ORDER_MAX + 1) return launch<ANY>(ctx, *a);
  return kg_with_modes(ctx, a->batch.m, [&](auto m) { return launch<m()>(ctx, *a); });
}
