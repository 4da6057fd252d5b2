// column_solve.cuh: x = A^-1 x by a warp that has A in registers, tile column after tile column:
//
//   C_ij = A_ij - sum_{k < j} L_ik L_jk^T,   C_jj = L_jj L_jj^T,   L_ij = C_ij L_jj^-T
//
// x^T stands in the first row behind A, in the last row of tiles (N is no multiple of 8), becomes
// y^T, y = L^-1 x; then backward, with z the solution so far and -1 in the place of that row:
//
//   x_j = -L_jj^-T sum_{i > j} L_ij^T z_i
//
// Modes that are even along the base come before odd ones (mode_parity.cuh): a tile between the two
// has fewer terms.
//
// Tiles are built negative and inverses are negative, so that nothing has to change its sign.
//
// Layout  reference matrices in shared memory [tile (i, j) at i (i+1) / 2 + j][term][lane], those
//         on the diagonal whole; vectors of a group [place of a mode][lane], COLUMN_STRIDE apart.
// Map     blocks stay and take group after group; a warp takes E neighbouring elements.
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/local/triangle/local_operator.cuh"
#include "ops/local/triangle/mode_parity.cuh"
#include "ops/local/triangle/tile_inverse.cuh"

namespace kg
{

enum { COLUMN_WARPS = 4, COLUMN_STRIDE = KG_LANES + 1 };

template <int P>
struct column_shape {
  using Operator = condensed_operator<P>;
  static constexpr int N = Operator::K, NT = (N + 7) / 8, LAST = N % 8, TERMS = Operator::TERMS;
  static constexpr int TILES = NT * (NT + 1) / 2, E = NT <= 5 ? 2 : 1;
  static constexpr int BLOCKS = 3;            ///< of a multiprocessor
  static constexpr int EVEN = even_modes(N);  ///< in the first places
  static constexpr size_t TERM_BYTES = sizeof(double2) * TILES * TERMS * 32;
  static constexpr size_t BYTES = TERM_BYTES + sizeof(double) * N * COLUMN_STRIDE;
  static_assert(LAST != 0, "x has a row behind A");
  static_assert(TILES <= 32, "two bits a tile for parities");
  static_assert(sizeof(Operator) % sizeof(double) == 0, "an operator is doubles");

  /// Whether tile row i has modes of both parities; if not, is_odd() tells which.
  static __host__ __device__ constexpr bool is_mixed(int i)
  {
    return 8 * i < EVEN && 8 * i + 8 > EVEN;
  }
  static __host__ __device__ constexpr bool is_odd(int i)
  {
    return 8 * i >= EVEN;
  }

  static __device__ __forceinline__ int mode_of(int place)
  {
    return mode_in_place(place, EVEN);
  }

  using tiles = double2[NT][NT][E];  ///< [column][row][element], rows from the diagonal on
};

/// The place of a lane in a tile.
struct tile_lane {
  int lane, row, pair;
  __device__ __forceinline__ tile_lane()
      : lane((int)threadIdx.x % 32), row(lane / 4), pair(lane % 4 * 2)
  {
  }
};

/// Entries of a tile of the reference matrices to shared memory, zero beyond N.
template <class shape>
__device__ __forceinline__ void stage_tiles(const kg_reference &ref, double2 *s_terms)
{
  for (int at = threadIdx.x; at < shape::TILES * 32; at += blockDim.x) {
    const int tile = at / 32, lane = at % 32;
    int i = 0;
    while ((i + 1) * (i + 2) / 2 <= tile) ++i;
    const int row = 8 * i + lane / 4, col = 8 * (tile - i * (i + 1) / 2) + lane % 4 * 2;
    double r[2][shape::TERMS] = {};
    for (int h = 0; h < 2; ++h) {
      if (row >= shape::N || col + h >= shape::N) continue;
      const int down = shape::mode_of(row), across = shape::mode_of(col + h);
      const int most = down > across ? down : across, least = down + across - most;
      shape::Operator::read(ref, most * (most + 1) / 2 + least, r[h]);
    }
    for (int t = 0; t < shape::TERMS; ++t)
      s_terms[(tile * shape::TERMS + t) * 32 + lane] = make_double2(r[0][t], r[1][t]);
  }
}

/// Bits 2 k and 2 k + 1: whether the lane's two entries of tile k have modes of one parity.
template <class shape>
__device__ __forceinline__ unsigned long long parities_of(tile_lane at)
{
  unsigned long long bits = 0;
#pragma unroll
  for (int i = 0, tile = 0; i < shape::NT; ++i)
#pragma unroll
    for (int j = 0; j <= i; ++j, ++tile)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        if ((8 * i + at.row < shape::EVEN) == (8 * j + at.pair + h < shape::EVEN))
          bits |= 1ull << (2 * tile + h);
  return bits;
}

/// A warp: its place, its tables in shared memory, and the operators of its elements.
template <class shape>
struct column_warp {
  tile_lane at;
  unsigned long long parities;
  const double2 *s_terms;
  double *s_x;  ///< of the group, [place][lane]
  int first;    ///< element of the warp
  typename shape::Operator op[shape::E];

  /// Tile (i, j), negative, with x^T below A.
  __device__ __forceinline__ void build(int i, int j, double2 (&c)[shape::E]) const
  {
    const int tile = i * (i + 1) / 2 + j;
    double r[2][shape::TERMS];
#pragma unroll
    for (int t = 0; t < shape::TERMS; ++t) {
      const double2 pair = s_terms[(tile * shape::TERMS + t) * 32 + at.lane];
      r[0][t] = pair.x;
      r[1][t] = pair.y;
    }
    const bool mixed = shape::is_mixed(i) || shape::is_mixed(j);
    const bool same = mixed ? parities >> (2 * tile) & 1 : true;
    const bool same_next = mixed ? parities >> (2 * tile + 1) & 1 : true;
#pragma unroll
    for (int e = 0; e < shape::E; ++e) {
      c[e] = make_double2(-op[e].combine(r[0], same), -op[e].combine(r[1], same_next));
      if (!mixed && shape::is_odd(i) != shape::is_odd(j))
        c[e] = make_double2(-op[e].combine_other(r[0]), -op[e].combine_other(r[1]));
      if (i == j && at.row == at.pair) c[e].x -= op[e].diagonal;
      if (i == j && at.row == at.pair + 1) c[e].y -= op[e].diagonal;
      if (i == shape::NT - 1 && at.row >= shape::LAST) c[e] = below(j, e);
    }
  }
  /// Rows behind A: -x^T, zeros.
  __device__ __forceinline__ double2 below(int j, int e) const
  {
    const int col = 8 * j + at.pair;
    double2 c = make_double2(0.0, 0.0);
    if (at.row > shape::LAST) return c;
    if (col < shape::N) c.x = -s_x[col * COLUMN_STRIDE + first + e];
    if (col + 1 < shape::N) c.y = -s_x[(col + 1) * COLUMN_STRIDE + first + e];
    return c;
  }
};

/// Column j: C, then L below the diagonal and -L_jj^-1 on it.
template <class shape>
__device__ __forceinline__ void eliminate_column(const column_warp<shape> &w, int j,
                                                 typename shape::tiles &l)
{
#pragma unroll
  for (int i = pair_of<shape::NT>(j); i < shape::NT; i += 2) {
    const bool pair = i >= j;  // else the second alone
    if (pair) w.build(i, j, l[j][i]);
    w.build(i + 1, j, l[j][i + 1]);
#pragma unroll
    for (int k = 0; k < j; ++k)
#pragma unroll
      for (int e = 0; e < shape::E; ++e)
        if (pair)
          tile_multiply(l[j][i][e], l[j][i + 1][e], l[k][i][e], l[k][i + 1][e], l[k][j][e]);
        else
          tile_multiply(l[j][i + 1][e], l[k][i + 1][e], l[k][j][e]);
  }
  if (j < shape::NT - 1)
    invert_factors<8, shape::E>(l[j][j]);
  else
    invert_factors<shape::LAST, shape::E>(l[j][j]);
#pragma unroll
  for (int i = pair_of<shape::NT>(j + 1); i < shape::NT; i += 2)
#pragma unroll
    for (int e = 0; e < shape::E; ++e) {
      double2 c = {}, d = {};
      if (i > j) {
        tile_multiply(c, d, l[j][i][e], l[j][i + 1][e], l[j][j][e]);
        l[j][i][e] = c;
      } else {
        tile_multiply(d, l[j][i + 1][e], l[j][j][e]);
      }
      l[j][i + 1][e] = d;
    }
}

/// Sums over the rows: of the lane's first column in even rows, of the second in odd ones.
__device__ __forceinline__ double sum_rows(tile_lane at, double2 a)
{
  const bool odd = at.row % 2;
  double sum = (odd ? a.y : a.x) + __shfl_xor_sync(0xffffffffu, odd ? a.x : a.y, 4);
  sum += __shfl_xor_sync(0xffffffffu, sum, 8);
  return sum + __shfl_xor_sync(0xffffffffu, sum, 16);
}

/// The sum of the column whose number is that of the lane's row.
__device__ __forceinline__ double of_row(tile_lane at, double sum)
{
  return __shfl_sync(0xffffffffu, sum, 4 * at.row + at.row / 2);
}

/// The solution of element e to shared memory.
template <class shape>
__device__ __forceinline__ void substitute_back(const column_warp<shape> &w, int e,
                                                const typename shape::tiles &l)
{
  const tile_lane at = w.at;
  double z[shape::NT];  // of the lane's row in each tile
  const auto put = [&](int j, double x) {
    const int place = 8 * j + at.pair + at.row;
    if (at.row < 2 && place < shape::N) w.s_x[place * COLUMN_STRIDE + w.first + e] = x;
  };
  // Row LAST of the last inverse is the solution there.
  const double2 inverse = l[shape::NT - 1][shape::NT - 1][e];
  const int from = 4 * shape::LAST + at.lane % 4;
  const double first = __shfl_sync(0xffffffffu, inverse.x, from);
  const double second = __shfl_sync(0xffffffffu, inverse.y, from);
  const double last = at.row % 2 ? second : first;
  put(shape::NT - 1, last);
  z[shape::NT - 1] = of_row(at, last);
  if (at.row >= shape::LAST) z[shape::NT - 1] = at.row == shape::LAST ? -1.0 : 0.0;
#pragma unroll
  for (int j = shape::NT - 2; j >= 0; --j) {
    double2 sum = make_double2(0.0, 0.0);
#pragma unroll
    for (int i = j + 1; i < shape::NT; ++i) {
      sum.x = fma(l[j][i][e].x, z[i], sum.x);
      sum.y = fma(l[j][i][e].y, z[i], sum.y);
    }
    const double mine = of_row(at, sum_rows(at, sum));
    const double2 scaled = make_double2(l[j][j][e].x * mine, l[j][j][e].y * mine);
    const double x = sum_rows(at, scaled);
    put(j, x);
    z[j] = of_row(at, x);
  }
}

/// The operator of an element, which lane `element` has.
template <class Operator>
__device__ __forceinline__ Operator operator_from(const Operator &mine, int element)
{
  constexpr int COUNT = sizeof(Operator) / sizeof(double);
  Operator op;
  double value[COUNT];
  memcpy(value, &mine, sizeof op);
#pragma unroll
  for (int k = 0; k < COUNT; ++k) value[k] = __shfl_sync(0xffffffffu, value[k], element);
  memcpy(&op, value, sizeof op);
  return op;
}

template <class shape>
__global__ void __launch_bounds__(32 * COLUMN_WARPS, shape::BLOCKS)
    solve_columns(const kg_local_solve_args a)
{
  using Operator = typename shape::Operator;
  KG_SHARED(double2, s_memory);
  double *const s_x = (double *)s_memory + shape::TERM_BYTES / sizeof(double);
  const int warp = (int)threadIdx.x / 32;
  column_warp<shape> w;
  w.parities = parities_of<shape>(w.at);
  w.s_terms = s_memory;
  w.s_x = s_x;
  stage_tiles<shape>(a.batch.reference, s_memory);
#pragma unroll 1
  for (int64_t g = blockIdx.x; g < a.n_groups; g += gridDim.x) {
    double *const x = a.u + g * Operator::MODES * KG_LANES + w.at.lane;
    for (int i = warp; i < shape::N; i += COLUMN_WARPS)
      s_x[i * COLUMN_STRIDE + w.at.lane] = x[shape::mode_of(i) * KG_LANES];
    const Operator mine(kg_element_at(&a.batch.arrays, a.first_group + g, w.at.lane, &a.materials));
    __syncthreads();
#pragma unroll 1
    for (w.first = warp * shape::E; w.first < KG_LANES; w.first += COLUMN_WARPS * shape::E) {
#pragma unroll
      for (int e = 0; e < shape::E; ++e) w.op[e] = operator_from(mine, w.first + e);
      typename shape::tiles l;
#pragma unroll
      for (int j = 0; j < shape::NT; ++j) eliminate_column<shape>(w, j, l);
      __syncwarp();  // all have read the vectors
#pragma unroll
      for (int e = 0; e < shape::E; ++e) substitute_back<shape>(w, e, l);
    }
    __syncthreads();
    for (int i = warp; i < shape::N; i += COLUMN_WARPS)
      x[shape::mode_of(i) * KG_LANES] = s_x[i * COLUMN_STRIDE + w.at.lane];
    __syncthreads();
  }
}

template <int P>
kedge_status launch_solve_columns(kedge_context *ctx, const kg_local_solve_args &a)
{
  using shape = column_shape<P>;
  const unsigned blocks = kg_cuda_blocks(ctx, a.n_groups, shape::BLOCKS);
  return kg_launch_shared(ctx, "local_solve: solve", blocks, 32 * COLUMN_WARPS, shape::BYTES,
                          solve_columns<shape>, a);
}

}  // namespace kg
