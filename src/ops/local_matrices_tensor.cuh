// local_matrices_tensor.cuh: K^e and F^e of every element on FP64 tensor cores (sm_80 and later).
// Layout  local [group][n (n+1) / 2][lane], condensed [group][n][lane].
// Map     block = E neighbouring lanes of a group; panel = [Z^-1; R^T; f^T] (tile_panel.cuh). All
//         warps build the matrices of all E elements together, so that an entry of a reference
//         matrix is read once for E.
// Cost    kg_local_matrices_cost()
#pragma once
#include "backend/cuda_rt.h"
#include "ops/local_matrices.h"
#include "ops/tile_panel.cuh"

namespace kg
{

/// Elements a block and warps an element: what fits shared memory several times over.
template <int P>
struct block_shape {
  static constexpr int E = P <= 4 ? 8 : P <= 8 ? 4 : P <= 11 ? 2 : 1;
  static constexpr int V = P <= 4 ? 1 : P <= 9 ? 2 : 4;
};

template <int P>
struct local_shape {
  static constexpr int N = (P + 1) * (P + 2) / 2, m = P + 1, n = 3 * m;
  static constexpr int NT = (N + 7) / 8, RT = (n + 1 + 7) / 8;
  static constexpr int E = block_shape<P>::E, V = block_shape<P>::V;
  using panel = tile_panel<NT, RT, E, V>;
};

/// Row of entry t of a packed lower triangle.
__device__ __forceinline__ int packed_row(int t)
{
  int row = (int)(0.5f * (sqrtf(8.0f * (float)t + 1.0f) - 1.0f));
  if ((row + 1) * (row + 2) / 2 <= t) ++row;
  if (row * (row + 1) / 2 > t) --row;
  return row;
}

/// Z^-1 of all elements, tile by tile; rows and columns beyond N are those of the identity.
template <int P>
__device__ __forceinline__ void build_operator(const typename local_shape<P>::panel &panel,
                                               const kg_reference &ref, const kg_element *s_e)
{
  using shape = local_shape<P>;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int turn = 0;
  for (int I = 0; I < shape::NT; ++I)
    for (int J = 0; J <= I; ++J) {
      if (turn++ % shape::panel::WARPS != warp) continue;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int i = 8 * I + (lane >> 2), j = 8 * J + 4 * h + (lane & 3);
        const int k = i * (i + 1) / 2 + j;
        const bool inside = i < shape::N && j <= i;
        double r[6];
#pragma unroll
        for (int q = 0; q < 3; ++q) {
          r[q] = inside ? __ldg(ref.stiffness[q] + k) : 0.0;
          r[3 + q] = inside ? __ldg(ref.edge_mass[q] + k) : 0.0;
        }
#pragma unroll
        for (int e = 0; e < shape::E; ++e) {
          const kg_element &g = s_e[e];
          double sum = g.stiffness[0] * r[0] + g.stiffness[1] * r[1] + g.stiffness[2] * r[2] +
                       g.tau[0] * r[3] + g.tau[1] * r[4] + g.tau[2] * r[5];
          if (i == j) sum = inside ? sum + g.mass : 1.0;
          panel.tile(e, I, J)[32 * h + lane] = sum;
        }
      }
    }
}

/// R^T with the signs of reversed sides, f^T in row n, zeros beyond.
template <int P>
__device__ __forceinline__ void build_lift(const typename local_shape<P>::panel &panel,
                                           const kg_local_matrices_args &a, int64_t group,
                                           int first_lane, const kg_element *s_e,
                                           const uint32_t (*s_side)[3])
{
  using shape = local_shape<P>;
  const kg_reference &ref = a.batch.reference;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int turn = 0;
  for (int I = 0; I < shape::RT; ++I)
    for (int J = 0; J < shape::NT; ++J) {
      if (turn++ % shape::panel::WARPS != warp) continue;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int c = 8 * I + (lane >> 2), i = 8 * J + 4 * h + (lane & 3);
        const int l = c / shape::m < 3 ? c / shape::m : 2, mode = c - l * shape::m;
        const bool lift = i < shape::N && c < shape::n, load = i < shape::N && c == shape::n;
        const double f = lift ? __ldg(ref.lift + i * shape::n + c) : 0.0;
        const double fr = lift ? __ldg(ref.lift_r + i * shape::n + c) : 0.0;
        const double fs = lift ? __ldg(ref.lift_s + i * shape::n + c) : 0.0;
#pragma unroll
        for (int e = 0; e < shape::E; ++e) {
          const kg_element &g = s_e[e];
          double value = g.tau[l] * f + g.lift_r[l] * fr + g.lift_s[l] * fs;
          if (s_side[e][l] & (unsigned)mode & 1u) value = -value;
          if (load) value = a.load[(group * shape::N + i) * KG_LANES + first_lane + e];
          panel.tile(e, shape::NT + I, J)[32 * h + lane] = value;
        }
      }
    }
}

/// W W^T of the element's tile rows into s_out [row (row+1) / 2 + col][element], row n holds F^e.
/// Tile pairs are dealt out to the element's warps; their sums wait in registers until nobody needs
/// the tiles any more.
template <int P>
__device__ __forceinline__ void multiply_rows(const typename local_shape<P>::panel &panel)
{
  using shape = local_shape<P>;
  constexpr int PAIRS = shape::RT * (shape::RT + 1) / 2, MINE = (PAIRS + shape::V - 1) / shape::V;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, e = warp / shape::V,
            v = warp % shape::V;
  double c[MINE][2] = {};
  const double *rows = panel.tile(e, shape::NT, 0) + lane;
#pragma unroll
  for (int r = 0; r < MINE; ++r) {
    const int pair = v + r * shape::V;
    if (pair >= PAIRS) continue;
    const int I = packed_row(pair), J = pair - I * (I + 1) / 2;
    const double *x = rows + 64 * shape::NT * I, *y = rows + 64 * shape::NT * J;
#pragma unroll 4
    for (int k = 0; k < 64 * shape::NT; k += 32) tensor_multiply(c[r], x[k], y[k]);
  }
  __syncthreads();
  double *s_out = panel.memory;
#pragma unroll
  for (int r = 0; r < MINE; ++r) {
    const int pair = v + r * shape::V;
    if (pair >= PAIRS) continue;
    const int I = packed_row(pair), J = pair - I * (I + 1) / 2;
    const int row = 8 * I + (lane >> 2), col = 8 * J + 2 * (lane & 3);
#pragma unroll
    for (int s = 0; s < 2; ++s)
      if (col + s <= row && row <= shape::n)
        s_out[(row * (row + 1) / 2 + col + s) * shape::E + e] = c[r][s];
  }
  __syncthreads();
}

/// K^e = S0 - W W^T and F^e: a warp takes a row, neighbouring threads write neighbouring lanes.
template <int P>
__device__ __forceinline__ void write_out(const double *s_out, const kg_local_matrices_args &a,
                                          int64_t group, int first_lane, const kg_element *s_e,
                                          const uint32_t (*s_side)[3])
{
  using shape = local_shape<P>;
  constexpr int n = shape::n, m = shape::m, packed = n * (n + 1) / 2, E = shape::E;
  const int e = threadIdx.x % E, lane = first_lane + e;  // E divides 32
  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  double *local = a.local + group * packed * KG_LANES + lane;
  for (int row = threadIdx.x >> 5; row <= n; row += shape::panel::WARPS) {
    const int l = row / m, first = row * (row + 1) / 2;
    for (int col = (threadIdx.x & 31) / E; col <= row && col < n; col += 32 / E) {
      const double product = s_out[(first + col) * E + e];
      if (row == n) {
        a.condensed[(group * n + col) * KG_LANES + lane] = product;
        continue;
      }
      const int k = col / m;
      double s0 =
          s_e[e].trace[l * (l + 1) / 2 + k] * __ldg(a.batch.reference.trace_mass + first + col);
      if (row == col) s0 += s_e[e].tau[l];
      const unsigned flip =
          (s_side[e][l] & (unsigned)(row - l * m)) ^ (s_side[e][k] & (unsigned)(col - k * m));
      local[(first + col) * KG_LANES] = exists ? (flip & 1u ? -s0 : s0) - product : 0.0;
    }
  }
}

template <int P>
__global__ void __launch_bounds__(local_shape<P>::panel::THREADS)
    local_matrices_tensor(const kg_local_matrices_args a)
{
  using shape = local_shape<P>;
  extern __shared__ double2 s_memory[];
  __shared__ kg_element s_e[shape::E];
  __shared__ uint32_t s_side[shape::E][3];
  const typename shape::panel panel = {(double *)s_memory};
  constexpr int BLOCKS = KG_LANES / shape::E;  // of a group
  const int64_t group = blockIdx.x / BLOCKS;
  const int first_lane = (int)(blockIdx.x % BLOCKS) * shape::E;
  if (threadIdx.x < shape::E) {
    const int lane = first_lane + (int)threadIdx.x;
    double x[3], y[3];
    kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
    s_e[threadIdx.x] = kg_element_of(x, y, a.material);
    for (int l = 0; l < 3; ++l)
      s_side[threadIdx.x][l] = a.batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane];
  }
  __syncthreads();
  build_operator<P>(panel, a.batch.reference, s_e);
  build_lift<P>(panel, a, group, first_lane, s_e, s_side);
  panel.factor();
  multiply_rows<P>(panel);
  write_out<P>(panel.memory, a, group, first_lane, s_e, s_side);
}

template <int P>
kedge_status launch_tensor(kedge_context *ctx, const kg_local_matrices_args &a)
{
  using shape = local_shape<P>;
  const auto kernel = local_matrices_tensor<P>;
  KG_TRY(kg_cuda_check(ctx,
                       cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)shape::panel::BYTES),
                       "local_matrices: asking for shared memory"));
  const unsigned blocks = (unsigned)a.batch.count.n_groups * (KG_LANES / shape::E);
  kernel<<<blocks, shape::panel::THREADS, shape::panel::BYTES, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, "local_matrices");
}

}  // namespace kg
