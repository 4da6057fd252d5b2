// cg_resident_sums.cuh: what crosses thread blocks in cg_resident.cuh, and the warp of each block
// that has no sides: it adds, decides, and tells the others alpha and beta.
#pragma once
#include "device/cuda_only.cuh"
#include "device/cuda_rt.h"
#include "ops/trace/cg_resident.h"

namespace kg
{

constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ void send(kg_cg_message *to, double value, uint64_t phase)
{
  send_pair(to, __double_as_longlong(value), phase);
}

__device__ __forceinline__ bool peek(const kg_cg_message *from, double *value, uint64_t phase)
{
  long long bits;
  uint64_t found;
  peek_pair(from, &bits, &found);
  *value = __longlong_as_double(bits);
  return found == phase;
}

/// Wait for N messages, `stride` apart; take(i, value).
template <int N, class Take>
__device__ __forceinline__ void receive(const kg_cg_message *from, int64_t stride, uint64_t phase,
                                        Take take)
{
  double values[N];
  bool here;
  do {
    here = true;
#pragma unroll
    for (int i = 0; i < N; ++i) here &= peek(from + i * stride, values + i, phase);
  } while (!here);
#pragma unroll
  for (int i = 0; i < N; ++i) take(i, values[i]);
}

template <int N>
__device__ __forceinline__ void warp_sum(double (&v)[N])
{
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
#pragma unroll
    for (int n = 0; n < N; ++n) v[n] += __shfl_xor_sync(ALL, v[n], offset);
}

/// Shared memory of the warps of a block. The last warp has no sides: it adds, sends and collects
/// the sums while the others wait for the messages of their edges.
struct block_state {
  double by_warp[2][32];  ///< sums of the warps with sides
  kg_cg_state cg;         ///< as this launch found it
  double factor;          ///< alpha, then beta
  int32_t stop;           ///< enum kg_cg_stop
};

/// Two a phase: the sums of the warps are there; alpha or beta is. It is quickest when the lanes of
/// a warp are together before it.
__device__ __forceinline__ void block_barrier()
{
  __syncwarp();
  meeting_barrier();
}

/// A warp with sides hands in its sums.
template <int N>
__device__ __forceinline__ void hand_in(double (&v)[N], block_state *b)
{
  warp_sum<N>(v);
  if ((threadIdx.x & 31) == 0)
#pragma unroll
    for (int n = 0; n < N; ++n) b->by_warp[n][threadIdx.x >> 5] = v[n];
  block_barrier();
}

/// The last warp adds over the grid; every lane of every block gets the same bits.
/// @param slots  [N][block]
template <int N>
__device__ __forceinline__ void grid_sum(double (&v)[N], const block_state *b, kg_cg_message *slots,
                                         uint64_t phase)
{
  constexpr int K = 5;  // messages on their way at once
  const int lane = threadIdx.x & 31, warps = (blockDim.x >> 5) - 1, blocks = gridDim.x;
  block_barrier();
#pragma unroll
  for (int n = 0; n < N; ++n) v[n] = lane < warps ? b->by_warp[n][lane] : 0.0;
  warp_sum<N>(v);
#pragma unroll
  for (int n = 0; n < N; ++n) {
    if (lane == 0) send(slots + n * blocks + blockIdx.x, v[n], phase);
    v[n] = 0.0;
  }
  for (int first = lane; first < blocks; first += 32 * K) {
    double part[N][K];
    bool here;
    do {
      here = true;
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int k = 0; k < K; ++k) {
          part[n][k] = 0.0;
          if (first + 32 * k < blocks)
            here &= peek(slots + n * blocks + first + 32 * k, &part[n][k], phase);
        }
    } while (!here);
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int k = 0; k < K; ++k) v[n] += part[n][k];
  }
  warp_sum<N>(v);
}

/// The last warp tells the others how to go on.
__device__ __forceinline__ void tell(double factor, int32_t stop, block_state *b)
{
  if ((threadIdx.x & 31) == 0) {
    b->factor = factor;
    b->stop = stop;
  }
  block_barrier();
}

/// All iterations, as the last warp sees them. All other warps wait for each factor: it is divided
/// first, from registers.
__device__ __forceinline__ void direct(const kg_cg_resident_args &a, kg_cg_message *slots,
                                       block_state *b)
{
  kg_cg_state cg = b->cg;
  uint64_t phase = 2 * (uint64_t)cg.iterations;
  for (int64_t step = 0; step < a.steps; ++step) {
    double dot[1], residual[2];
    grid_sum<1>(dot, b, slots, ++phase);
    const double alpha = cg.rz / dot[0];
    cg.p_ap = dot[0];
    cg.stop = kg_cg_judge(dot[0], KG_CG_INDEFINITE);
    tell(alpha, cg.stop, b);
    if (cg.stop != KG_CG_RUNNING) break;
    grid_sum<2>(residual, b, slots + gridDim.x, ++phase);
    const double beta = residual[1] / cg.rz;
    if (blockIdx.x == 0 && (threadIdx.x & 31) == 0) kg_cg_keep(a.vectors.steps, &cg);
    kg_cg_count(&cg, residual[0], residual[1]);
    tell(beta, cg.stop, b);
    cg.steps = cg.iterations;
    if (cg.stop != KG_CG_RUNNING) break;
    cg.rz = cg.rz_next;
  }
  if (blockIdx.x == 0 && (threadIdx.x & 31) == 0) *a.vectors.state = cg;
}

}  // namespace kg
