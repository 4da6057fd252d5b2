// element_solve.cuh: x = A^-1 x in place for every element of a chunk, A symmetric positive definite
// and a combination of reference matrices: an *operator* says of which.
// Layout  x [group of the chunk][rows][lane], of which the first N rows are the vector. Operators:
//         element_operator.cuh
// Map     N <= 28: a few lanes of a warp = element, A spread over their registers (lane_solve.cuh).
//         N <= 55, with tensor cores: warp = E neighbouring lanes of a group, A in its registers
//         (column_solve.cuh); larger: in shared memory (tiles.cuh). GPUs without: block = element
//         (panel_cuda.cuh).
#pragma once
#include "ops/column_solve.cuh"
#include "ops/element_operator.cuh"
#include "ops/lane_solve.cuh"
#include "ops/mode_parity.cuh"
#include "ops/panel_cuda.cuh"
#include "ops/tiles.cuh"

namespace kg
{

// ---- one warp an element

/// Elements a warp and warps a block: several elements a block for the warp that inverts their
/// diagonal tiles.
template <class Operator_, int N_>
struct tensor_solve_shape {
  using Operator = Operator_;
  static constexpr int N = N_, NT = (N + 7) / 8;
  static constexpr int E = 1, WARPS = 4;
  using factors = tile_cholesky<NT, E, WARPS>;
  static constexpr size_t BYTES = sizeof(double) * (factors::DOUBLES + 8 * NT * E * WARPS);
};

/// Tile (i, j) of A of E elements, the identity beyond N.
template <class shape>
__device__ __forceinline__ void build_tile(const kg_reference &ref,
                                           const typename shape::Operator *s_op, int i, int j,
                                           double2 *c)
{
  using Operator = typename shape::Operator;
  const int lane = threadIdx.x & 31, row = 8 * i + lane / 4, col = 8 * j + lane % 4 * 2;
  double r[2][Operator::TERMS] = {};
#pragma unroll
  for (int h = 0; h < 2; ++h)
    if (row < shape::N && col + h <= row) Operator::read(ref, row * (row + 1) / 2 + col + h, r[h]);
  const bool same = same_parity(row, col), same_next = same_parity(row, col + 1);
#pragma unroll
  for (int e = 0; e < shape::E; ++e) {
    c[e] = make_double2(s_op[e].combine(r[0], same), s_op[e].combine(r[1], same_next));
    const double diagonal = row < shape::N ? s_op[e].diagonal : 1.0;
    if (row == col) c[e].x += diagonal;
    if (row == col + 1) c[e].y += diagonal;
  }
}

/// Sum over the lanes that differ in the bits FROM..TO.
template <int FROM, int TO>
__device__ __forceinline__ double sum_lanes(double value)
{
#pragma unroll
  for (int bit = FROM; bit <= TO; bit *= 2) value += __shfl_xor_sync(0xffffffffu, value, bit);
  return value;
}

/// s_x = L^-1 s_x, element e of the warp.
template <class shape>
__device__ __forceinline__ void forward(const typename shape::factors &factors, double *s_x)
{
  const int lane = threadIdx.x & 31, row = lane / 4, pair = lane % 4 * 2;
#pragma unroll 1
  for (int j = 0; j < shape::NT; ++j) {
    double c[shape::E];
#pragma unroll
    for (int e = 0; e < shape::E; ++e) {
      double *x = s_x + e * 8 * shape::NT;
      c[e] = 0.0;
#pragma unroll 2
      for (int k = 0; k < j; ++k) {
        const double2 l = factors.at(e, j, k), y = *(const double2 *)(x + 8 * k + pair);
        c[e] += l.x * y.x + l.y * y.y;
      }
      c[e] = x[8 * j + row] - sum_lanes<1, 2>(c[e]);
    }
    __syncwarp();
#pragma unroll
    for (int e = 0; e < shape::E; ++e) {
      const double2 inverse = factors.at(e, j, j);
      const double first = __shfl_sync(0xffffffffu, c[e], 4 * pair);
      const double second = __shfl_sync(0xffffffffu, c[e], 4 * pair + 4);
      const double y = sum_lanes<1, 2>(inverse.x * first + inverse.y * second);
      if (pair == 0) s_x[e * 8 * shape::NT + 8 * j + row] = y;
    }
    __syncwarp();
  }
}

/// s_x = L^-T s_x.
template <class shape>
__device__ __forceinline__ void backward(const typename shape::factors &factors, double *s_x)
{
  const int lane = threadIdx.x & 31, row = lane / 4, pair = lane % 4 * 2;
#pragma unroll 1
  for (int j = shape::NT - 1; j >= 0; --j) {
    double2 c[shape::E];
#pragma unroll
    for (int e = 0; e < shape::E; ++e) {
      const double *x = s_x + e * 8 * shape::NT;
      double2 sum = make_double2(0.0, 0.0);
#pragma unroll 2
      for (int i = j + 1; i < shape::NT; ++i) {
        const double2 l = factors.at(e, i, j);
        sum.x += l.x * x[8 * i + row];
        sum.y += l.y * x[8 * i + row];
      }
      const double2 y = *(const double2 *)(x + 8 * j + pair);
      c[e] = make_double2(y.x - sum_lanes<4, 16>(sum.x), y.y - sum_lanes<4, 16>(sum.y));
    }
    __syncwarp();
#pragma unroll
    for (int e = 0; e < shape::E; ++e) {
      const double2 inverse = factors.at(e, j, j);
      const double even = __shfl_sync(0xffffffffu, c[e].x, row / 2);
      const double odd = __shfl_sync(0xffffffffu, c[e].y, row / 2);
      const double mine = row % 2 == 0 ? even : odd;
      const double2 x =
          make_double2(sum_lanes<4, 16>(inverse.x * mine), sum_lanes<4, 16>(inverse.y * mine));
      if (row == 0) *(double2 *)(s_x + e * 8 * shape::NT + 8 * j + pair) = x;
    }
    __syncwarp();
  }
}

template <class shape>
__global__ void __launch_bounds__(32 * shape::WARPS) solve_tensor(const element_solve_args a)
{
  using Operator = typename shape::Operator;
  constexpr int N = shape::N, E = shape::E, PADDED = 8 * shape::NT;
  extern __shared__ double2 s_memory[];
  __shared__ alignas(16) unsigned char s_operators[shape::WARPS * E * sizeof(Operator)];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int per_group = KG_LANES / (E * shape::WARPS);  // blocks of a group
  const int64_t g = blockIdx.x / per_group;
  const int first = ((int)(blockIdx.x % per_group) * shape::WARPS + warp) * E;
  const typename shape::factors factors = {(double *)s_memory};
  Operator *s_op = (Operator *)s_operators + warp * E;
  double *s_x = (double *)s_memory + shape::factors::DOUBLES + warp * E * PADDED;
  double *x = a.x + g * a.rows * KG_LANES + first;
  if (lane < E) s_op[lane] = Operator(element_of(a, g, first + lane));
  for (int i = lane; i < PADDED * E; i += 32)
    s_x[i % E * PADDED + i / E] = i / E < N ? x[i / E * KG_LANES + i % E] : 0.0;
  __syncwarp();
  factors.factor(
      [&](int i, int j, double2 *c) { build_tile<shape>(a.batch.reference, s_op, i, j, c); });
  forward<shape>(factors, s_x);
  backward<shape>(factors, s_x);
  for (int i = lane; i < N * E; i += 32) x[i / E * KG_LANES + i % E] = s_x[i % E * PADDED + i / E];
}

template <class Operator, int N>
kedge_status launch_solve_tensor(kedge_context *ctx, const element_solve_args &a, const char *name)
{
  using shape = tensor_solve_shape<Operator, N>;
  const unsigned blocks = (unsigned)a.n_groups * KG_LANES / (shape::E * shape::WARPS);
  KG_TRY(ask_for_shared(ctx, solve_tensor<shape>, shape::BYTES));
  solve_tensor<shape><<<blocks, 32 * shape::WARPS, shape::BYTES, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, name);
}

// ---- one block an element

template <class Operator>
__global__ void solve_plain(const element_solve_args a, int N)
{
  extern __shared__ double2 s_memory[];
  const int np = kg_panel_padded(N), ld = kg_panel_ld(N), lane = (int)(blockIdx.x % KG_LANES);
  double *panel = (double *)s_memory, *x = panel + np * ld, *s_inverse = x + ld;
  const int64_t g = blockIdx.x / KG_LANES;
  const Operator op(element_of(a, g, lane));
  double *column = a.x + g * a.rows * KG_LANES + lane;
  for (int i = threadIdx.x; i < N * N; i += blockDim.x) {
    const int row = i / N, col = i % N;
    if (col > row) continue;
    double r[Operator::TERMS];
    Operator::read(a.batch.reference, row * (row + 1) / 2 + col, r);
    panel[row * ld + col] = op.combine(r, same_parity(row, col)) + (row == col ? op.diagonal : 0.0);
  }
  for (int i = threadIdx.x; i < N; i += blockDim.x) x[i] = column[i * KG_LANES];
  kg_panel_pad(panel, np + 1, N, np, ld);
  kg_panel_factor(panel, np + 1, np, ld, s_inverse);
  kg_panel_backward(panel, np, ld, s_inverse, x);
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += blockDim.x) column[i * KG_LANES] = x[i];
}

template <class Operator>
kedge_status launch_solve_plain(kedge_context *ctx, const element_solve_args &a, int N,
                                const char *name)
{
  const int np = kg_panel_padded(N);
  const size_t shared = sizeof(double) * ((size_t)(np + 1) * kg_panel_ld(N) + np);
  KG_TRY(ask_for_shared(ctx, solve_plain<Operator>, shared));
  solve_plain<Operator>
      <<<(unsigned)a.n_groups * KG_LANES, kg_panel_threads(np + 1), shared, kg_cuda_stream(ctx)>>>(
          a, N);
  return kg_cuda_launched(ctx, name);
}

/// How an element of 16 to 28 unknowns is dealt out.
template <class Operator, int N>
using dealt_shape = lane_shape<Operator, N, N <= 21 ? 4 : 8, 2>;

/// Solve for the elements of a chunk; `name` is for messages. Lanes of an element, and blocks a
/// multiprocessor is to hold, are what an H200 was fastest with.
template <class Operator, int N>
kedge_status element_solve(kedge_context *ctx, const element_solve_args &a, const char *name)
{
  if constexpr (N <= 28) {
    using shape = dealt_shape<Operator, N>;
    return lanes_fit<shape>(ctx) ? launch_solve_lanes<shape>(ctx, a, name)
                                 : launch_solve_plain<Operator>(ctx, a, N, name);
  } else {
    if (kg_cuda(ctx)->code_major < 8) return launch_solve_plain<Operator>(ctx, a, N, name);
    if constexpr (N <= 55)
      return launch_solve_columns<Operator, N>(ctx, a, name);
    else
      return launch_solve_tensor<Operator, N>(ctx, a, name);
  }
}

}  // namespace kg
