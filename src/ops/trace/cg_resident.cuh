// cg_resident.cuh: the whole of conjugate gradients for a small problem in one kernel.
//
// Map     thread = side of an element, (e, l); a warp has ten elements, lane = 10 l + element of
//         the warp, the last two lanes idle. Blocks are all resident at once, one a multiprocessor.
// State   p of the side is in registers. The thread that runs along an edge from its lower to its
//         higher vertex (on the boundary: the only one) owns the edge: x, r, D^-1 of the edge, too.
// K^e     thread l has K_ll (packed) and K_l,l+1, which its neighbour l+1 uses transposed: these
//         two exchange x and products by shuffles. Entries are in registers, then in shared memory,
//         and what fits neither streams from the L2 cache.
// Sums    by the last warp of each block (cg_resident_sums.cuh), in an order that the grid alone
//         decides: results repeat bit for bit.
// Cost    of an iteration: twice the way of a message through the L2 cache and back, and the
//         product from where K^e lies.
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/trace/cg_resident_sums.cuh"

namespace kg
{

constexpr int WARP_ELEMENTS = 10, WARP_SIDES = 30;

/// The form of the kernel for m = M: most warps of a block (all registers are shared among them),
/// entries of K^e a thread has in registers, and in shared memory when the problem does not fit
/// registers.
template <int M>
struct resident_shape {
  static constexpr int warps = M <= 5 ? 15 : M <= 8 ? 11 : M <= 10 ? 10 : 7;
  static constexpr int in_registers = M == 2 ? 4 : M == 3 ? 9 : M == 9 ? 4 : M == 10 ? 2 : 12;
  static constexpr int entries = M * M + M * (M + 1) / 2;
  static constexpr int in_shared_max = (225 << 10) / (8 * WARP_SIDES * warps);
  static constexpr int outside = entries - in_registers;
  static constexpr bool may_stream = outside > in_shared_max;
};

struct side_place {
  int element, l;
  int next, previous;  ///< lanes of sides l + 1 and l - 1 of the element
  int edge;
  bool active;  ///< has unknowns
  bool owns;
  bool shared;  ///< with another element
};

__device__ __forceinline__ side_place place_of(const kg_batch &batch)
{
  const int lane = threadIdx.x & 31, warps = (blockDim.x >> 5) - 1;
  const int warp = blockIdx.x * warps + (threadIdx.x >> 5);
  side_place s;
  s.l = lane / WARP_ELEMENTS;
  s.element = warp * WARP_ELEMENTS + lane % WARP_ELEMENTS;
  s.next = lane + (s.l < 2 ? WARP_ELEMENTS : -2 * WARP_ELEMENTS);
  s.previous = lane + (s.l > 0 ? -WARP_ELEMENTS : 2 * WARP_ELEMENTS);
  s.edge = 0;
  const bool exists = lane < WARP_SIDES && s.element < batch.count.n_elements;
  if (lane >= WARP_SIDES) s.next = s.previous = lane;
  uint32_t word = 0;
  if (exists)
    word =
        batch.arrays.side_edge[(s.element / KG_LANES * 3 + s.l) * KG_LANES + s.element % KG_LANES];
  s.edge = (int)(word >> 1);
  s.active = exists && s.edge < batch.count.n_free;
  s.shared = s.active && s.edge < batch.count.n_interior + batch.count.n_shared;
  s.owns = s.active && !(s.shared && (word & 1u));
  if (!exists) s.element = -1;
  return s;
}

/// The entries of K^e of a thread: K_l,l+1 by columns, then the lower triangle of K_ll by rows.
/// What is in shared memory is [warp][entry][side of the warp], what streams [warp][entry][lane].
template <int M, bool STREAM>
struct thread_matrix {
  using shape = resident_shape<M>;
  static constexpr int in_shared = STREAM ? shape::in_shared_max : shape::outside;
  static constexpr int streamed = shape::outside - in_shared;
  double registers[shape::in_registers];
  double *s_entries, *entries;

  __device__ __forceinline__ double get(int i) const
  {
    if (i < shape::in_registers) return registers[i];
    if (i < shape::in_registers + in_shared)
      return s_entries[(i - shape::in_registers) * WARP_SIDES];
    return entries[(i - shape::in_registers - in_shared) * 32];
  }

  __device__ __forceinline__ void put(int i, double value)
  {
    i -= shape::in_registers;
    if (i < 0) return;
    if (i < in_shared)
      s_entries[i * WARP_SIDES] = value;
    else
      entries[(i - in_shared) * 32] = value;
  }

  __device__ __forceinline__ void load(const side_place &s, const double *local, double *memory,
                                       double *stream)
  {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int use = lane < WARP_SIDES ? lane : WARP_SIDES - 1;  // idle lanes read a neighbour's
    s_entries = memory + warp * in_shared * WARP_SIDES + use;
    entries = stream + (int64_t)(blockIdx.x * ((blockDim.x >> 5) - 1) + warp) * streamed * 32 + use;
    constexpr int packed = 3 * M * (3 * M + 1) / 2;
    const double *from =
        local + (int64_t)(s.element / KG_LANES) * packed * KG_LANES + s.element % KG_LANES;
    const int row = s.l * M, column = (s.l + 1) % 3 * M;
    auto entry = [&](int i, int j) {
      if (s.element < 0) return 0.0;
      const int high = i > j ? i : j, low = i > j ? j : i;
      return from[(high * (high + 1) / 2 + low) * KG_LANES];
    };
#pragma unroll
    for (int i = 0; i < shape::in_registers; ++i)
      registers[i] = i < M * M ? entry(row + i % M, column + i / M) : 0.0;
    if (lane < WARP_SIDES) {
      int i = 0;
      for (int b = 0; b < M; ++b)
        for (int a = 0; a < M; ++a) put(i++, entry(row + a, column + b));
      for (int a = 0; a < M; ++a)
        for (int c = 0; c <= a; ++c) put(i++, entry(row + a, row + c));
    }
    __syncwarp();
  }

  /// y = the rows of K^e p of this side.
  __device__ __forceinline__ void multiply(const side_place &s, const double (&p)[M],
                                           double (&y)[M]) const
  {
#pragma unroll
    for (int a = 0; a < M; ++a) y[a] = 0.0;
#pragma unroll
    for (int b = 0; b < M; ++b) {
      const double next = __shfl_sync(ALL, p[b], s.next);
      double sum = 0.0;
#pragma unroll
      for (int a = 0; a < M; ++a) {
        const double k = get(b * M + a);
        y[a] += k * next;
        sum += k * p[a];
      }
      y[b] += __shfl_sync(ALL, sum, s.previous);
    }
#pragma unroll
    for (int a = 0; a < M; ++a)
#pragma unroll
      for (int c = 0; c <= a; ++c) {
        const double k = get(M * M + a * (a + 1) / 2 + c);
        y[a] += k * p[c];
        if (c < a) y[c] += k * p[a];
      }
  }
};

/// Vectors of a side; zero where the thread has none.
template <int M>
struct side_vectors {
  double p[M], x[M], r[M], inverse[M];

  __device__ __forceinline__ void load(const side_place &s, const kg_cg_vectors_args &v)
  {
    const int64_t first = (int64_t)s.edge * M;
#pragma unroll
    for (int k = 0; k < M; ++k) {
      p[k] = s.active ? v.p[first + k] : 0.0;
      x[k] = s.owns ? v.x[first + k] : 0.0;
      inverse[k] = s.owns ? v.inverse[first + k] : 0.0;
      r[k] = s.owns ? v.z[first + k] / inverse[k] : 0.0;
    }
  }
  __device__ __forceinline__ void store(const side_place &s, const kg_cg_vectors_args &v) const
  {
    if (!s.owns) return;
    const int64_t first = (int64_t)s.edge * M;
#pragma unroll
    for (int k = 0; k < M; ++k) {
      v.p[first + k] = p[k];
      v.x[first + k] = x[k];
      v.z[first + k] = inverse[k] * r[k];
    }
  }
};

/// All iterations, as a side sees them.
template <int M, class Matrix>
__device__ __forceinline__ void iterate(const kg_cg_resident_args &a, const side_place &s,
                                        const Matrix &matrix, kg_cg_message *message,
                                        block_state *b, side_vectors<M> &v)
{
  const int apart = a.batch.count.n_interior + a.batch.count.n_shared;
  const bool gives = s.shared && !s.owns, takes = s.shared && s.owns;  // a product; then z comes
  uint64_t phase = 2 * (uint64_t)b->cg.iterations;
  for (int64_t step = 0; step < a.steps; ++step) {
    double y[M], dot[1] = {0.0}, residual[2] = {0.0, 0.0};
    matrix.multiply(s, v.p, y);
    ++phase;
#pragma unroll
    for (int k = 0; k < M; ++k) {
      dot[0] += v.p[k] * y[k];
      if (gives) send(message + k * apart, y[k], phase);
    }
    hand_in<1>(dot, b);
    if (takes) receive<M>(message, apart, phase, [&](int k, double other) { y[k] += other; });
    block_barrier();
    if (b->stop != KG_CG_RUNNING) break;
    const double alpha = s.owns ? b->factor : 0.0;  // others have no x and r
    ++phase;
#pragma unroll
    for (int k = 0; k < M; ++k) {
      v.x[k] += alpha * v.p[k];
      v.r[k] -= alpha * y[k];
      y[k] = v.inverse[k] * v.r[k];  // z
      residual[0] += v.r[k] * v.r[k];
      residual[1] += v.r[k] * y[k];
      if (takes) send(message + k * apart, y[k], phase);
    }
    hand_in<2>(residual, b);
    if (gives) receive<M>(message, apart, phase, [&](int k, double z) { y[k] = z; });
    block_barrier();
    if (b->stop != KG_CG_RUNNING) break;
    const double beta = b->factor;
#pragma unroll
    for (int k = 0; k < M; ++k) v.p[k] = y[k] + beta * v.p[k];
  }
}

template <int M, bool STREAM>
__global__ void __launch_bounds__(32 * (resident_shape<M>::warps + 1), 1)
    cg_resident(const kg_cg_resident_args a, kg_cg_message *slots, kg_cg_message *messages,
                double *stream)
{
  KG_SHARED(double, s_entries);
  __shared__ block_state s_block;
  if (a.vectors.state->stop != KG_CG_RUNNING) return;
  if (threadIdx.x == 0) s_block.cg = *a.vectors.state;
  __syncthreads();
  if (threadIdx.x >= blockDim.x - 32) {
    direct(a, slots, &s_block);
    return;
  }
  const side_place s = place_of(a.batch);
  thread_matrix<M, STREAM> matrix;
  matrix.load(s, (const double *)a.local.data, s_entries, stream);
  side_vectors<M> v;
  v.load(s, a.vectors);
  iterate<M>(a, s, matrix, messages + s.edge, &s_block, v);
  v.store(s, a.vectors);
}

}  // namespace kg
