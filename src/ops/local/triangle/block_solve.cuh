// block_solve.cuh: x = A^-1 x for every element by a block that has E of them side by side, A of
// each cut into tiles of B x B; column after column
//
//   L_jj L_jj^T = A_jj,   L_ij = A_ij L_jj^-T,   A_ik -= L_ij L_kj^T   for i >= k > j,
//
// L y = x on the way and L^T x = y backward. A tile stays in the registers of one *worker*: E
// threads, one an element, so that arithmetic needs no other lane. What others need of a column
// goes through shared memory, where the elements of an entry are neighbours.
//
// A *problem* says what is solved:
//   N, ROWS, FIRST              unknowns in tiles; rows of x, of which those begin at FIRST
//   TABLE, stage(ref, table)    numbers that all elements share, in shared memory
//   FACTORS, set(element, put)  numbers of an element
//   reduce(c, worker, step)     before: what is eliminated by hand; x of the tiles without it
//   mode_of(place)              row of x in memory of a row in shared memory
//   tile(c, i, j, t)            A_ij; what is above the diagonal of A counts for nothing
//   restore(c, worker, step)    after: the unknowns that are not in tiles
//
// Layout  x [group of the chunk][rows][lane]; in shared memory [row][element], the tiles of a
//         column [tile][column][row][element]
// Map     blocks stay and take E lanes of a group after the other; vertices and x come to shared
//         memory one ahead
#pragma once
#include <cuda_pipeline.h>

#include "device/cuda_launch.cuh"
#include "ops/local/triangle/element.h"
#include "ops/ops.h"
#include "ops/local/triangle/tiles.cuh"

namespace kg
{

struct element_solve_args {
  kg_batch batch;
  kg_materials materials;
  int32_t first_group, n_groups;  ///< the chunk of this call
  double *x;
  int rows;  ///< of x in a group
};

/// A worker's view of its element.
template <int E>
struct block_element {
  const kg_reference *ref;
  const double *table;
  double *factors, *x_rows;

  __device__ __forceinline__ double &factor(int k) const
  {
    return factors[k * E];
  }
  __device__ __forceinline__ double &x(int row) const
  {
    return x_rows[row * E];
  }
};

template <class Problem_, int B_, int E_, int BLOCKS_>
struct block_shape {
  using Problem = Problem_;
  static constexpr int B = B_, E = E_, BLOCKS = BLOCKS_;  ///< blocks of a multiprocessor
  static constexpr int N = Problem::N, NT = N / B, TILES = NT * (NT + 1) / 2;
  static constexpr int THREADS = (TILES * E + 31) / 32 * 32, WORKERS = THREADS / E;
  static_assert(N % B == 0, "tiles have no rows beyond A");
  static_assert(KG_LANES % E == 0 && THREADS >= 3 * E, "a thread a corner");
  /// Doubles from tile to tile of a column: where a warp has several workers, in different banks.
  static constexpr int STRIDE = B * B * E + (E < 16 && B % 2 == 0 ? E : 0);
  static constexpr int X = Problem::ROWS * E;

  /// Places in shared memory, counted in doubles.
  static constexpr int CORNERS = 0, FACTORS = CORNERS + 6 * E,
                       VECTORS = FACTORS + Problem::FACTORS * E, DIAGONAL = VECTORS + 2 * X,
                       COLUMN = DIAGONAL + B * (B + 1) / 2 * E,
                       TABLE = (COLUMN + NT * STRIDE + 1) / 2 * 2;
  static constexpr size_t BYTES =
      sizeof(double) * (TABLE + Problem::TABLE) + sizeof(int) * Problem::ROWS;
};

/// t = L of its lower triangle, 1 / L_kk on the diagonal; L to shared memory, packed.
template <int B, int E>
__device__ __forceinline__ void factor_tile(double (&t)[B][B], double *s_diagonal)
{
#pragma unroll
  for (int k = 0; k < B; ++k) {
    t[k][k] = reciprocal_root(t[k][k]);
#pragma unroll
    for (int r = k + 1; r < B; ++r) t[r][k] *= t[k][k];
#pragma unroll
    for (int c = k + 1; c < B; ++c)
#pragma unroll
      for (int r = c; r < B; ++r) t[r][c] = fma(-t[r][k], t[c][k], t[r][c]);
  }
#pragma unroll
  for (int r = 0; r < B; ++r)
#pragma unroll
    for (int c = 0; c <= r; ++c) s_diagonal[(r * (r + 1) / 2 + c) * E] = t[r][c];
}

/// t = t L^-T, to shared memory.
template <int B, int E>
__device__ __forceinline__ void divide_tile(double (&t)[B][B], const double *s_diagonal,
                                            double *s_tile)
{
#pragma unroll
  for (int c = 0; c < B; ++c) {
#pragma unroll
    for (int k = 0; k < c; ++k) {
      const double l = s_diagonal[(c * (c + 1) / 2 + k) * E];
#pragma unroll
      for (int r = 0; r < B; ++r) t[r][c] = fma(-t[r][k], l, t[r][c]);
    }
    const double inverse = s_diagonal[c * (c + 3) / 2 * E];
#pragma unroll
    for (int r = 0; r < B; ++r) {
      t[r][c] *= inverse;
      s_tile[(c * B + r) * E] = t[r][c];
    }
  }
}

/// t -= a b^T.
template <int B, int E>
__device__ __forceinline__ void subtract_product(double (&t)[B][B], const double *s_a,
                                                 const double *s_b)
{
#pragma unroll
  for (int k = 0; k < B; ++k) {
    double a[B];
#pragma unroll
    for (int r = 0; r < B; ++r) a[r] = s_a[(k * B + r) * E];
#pragma unroll
    for (int c = 0; c < B; ++c) {
      const double b = s_b[(k * B + c) * E];
#pragma unroll
      for (int r = 0; r < B; ++r) t[r][c] = fma(-a[r], b, t[r][c]);
    }
  }
}

/// y of a tile on the diagonal.
template <int B, int E>
__device__ __forceinline__ void forward_tile(const double (&t)[B][B], double *s_x)
{
  double x[B];
#pragma unroll
  for (int r = 0; r < B; ++r) {
    x[r] = s_x[r * E];
#pragma unroll
    for (int k = 0; k < r; ++k) x[r] = fma(-t[r][k], x[k], x[r]);
    x[r] *= t[r][r];
    s_x[r * E] = x[r];
  }
}

/// x of a tile on the diagonal.
template <int B, int E>
__device__ __forceinline__ void backward_tile(const double (&t)[B][B], double *s_x)
{
  double x[B];
#pragma unroll
  for (int r = 0; r < B; ++r) x[r] = s_x[r * E];
#pragma unroll
  for (int r = B - 1; r >= 0; --r) {
    x[r] *= t[r][r];
    s_x[r * E] = x[r];
#pragma unroll
    for (int k = 0; k < r; ++k) x[k] = fma(-t[r][k], x[r], x[k]);
  }
}

/// to -= t from, or t^T from.
template <int B, int E, bool TRANSPOSED>
__device__ __forceinline__ void subtract_vector(const double (&t)[B][B], const double *s_from,
                                                double *s_to)
{
  double sum[B] = {};
#pragma unroll
  for (int c = 0; c < B; ++c) {
    const double from = s_from[c * E];
#pragma unroll
    for (int r = 0; r < B; ++r) sum[r] = fma(TRANSPOSED ? t[c][r] : t[r][c], from, sum[r]);
  }
#pragma unroll
  for (int r = 0; r < B; ++r) s_to[r * E] -= sum[r];
}

/// The place of a worker's tile; -1, -1 for workers beyond the last tile.
struct tile_place {
  int row = -1, col = -1;

  __device__ __forceinline__ tile_place(int worker, int rows)
  {
    for (int c = 0, rest = worker; c < rows; rest -= rows - c, ++c)
      if (rest >= 0 && rest < rows - c) {
        col = c;
        row = c + rest;
      }
  }
};

/// x of the tiles becomes the solution.
template <class shape>
__device__ __forceinline__ void solve_tiles(const block_element<shape::E> &c, tile_place at,
                                            double *s_diagonal, double *s_column)
{
  constexpr int B = shape::B, E = shape::E, NT = shape::NT;
  double *const x_row = &c.x(shape::Problem::FIRST + at.row * B);
  double *const x_col = &c.x(shape::Problem::FIRST + at.col * B);
  double *const s_row = s_column + at.row * shape::STRIDE;
  double *const s_col = s_column + at.col * shape::STRIDE;
  const bool diagonal = at.row == at.col;
  double t[B][B];
  if (at.row >= 0) shape::Problem::tile(c, at.row * B, at.col * B, t);
  if (at.row == 0) factor_tile<B, E>(t, s_diagonal);
  __syncthreads();
#pragma unroll 1
  for (int j = 0; j < NT; ++j) {
    if (at.col == j) {
      if (diagonal)
        forward_tile<B, E>(t, x_row);
      else
        divide_tile<B, E>(t, s_diagonal, s_row);
    }
    __syncthreads();
    if (at.col == j && !diagonal) subtract_vector<B, E, false>(t, x_col, x_row);
    if (at.col > j) {
      subtract_product<B, E>(t, s_row, s_col);
      if (diagonal && at.col == j + 1) factor_tile<B, E>(t, s_diagonal);
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int i = NT - 1; i >= 0; --i) {
    if (at.row == i && diagonal) backward_tile<B, E>(t, x_row);
    __syncthreads();
    if (at.row == i && !diagonal) subtract_vector<B, E, true>(t, x_row, x_col);
    __syncthreads();
  }
}

/// A block's pieces of work, and what of the next one is on its way to shared memory.
template <class shape>
struct block_work {
  static constexpr int E = shape::E, PARTS = KG_LANES / E;
  const element_solve_args &a;
  double *s;
  const int *s_mode;
  int e, worker;

  /// First number of a row of x.
  __device__ __forceinline__ double *x_of(int64_t piece) const
  {
    return a.x + piece / PARTS * a.rows * KG_LANES + piece % PARTS * E + e;
  }
  /// The vertex that is the thread's corner of an element.
  __device__ __forceinline__ int32_t vertex_of(int64_t piece) const
  {
    if (threadIdx.x >= 3 * E || piece >= (int64_t)a.n_groups * PARTS) return 0;
    const int64_t group = a.first_group + piece / PARTS;
    return a.batch.arrays.vertex[(group * 3 + worker) * KG_LANES + piece % PARTS * E + e];
  }
  __device__ __forceinline__ void fetch(int64_t piece, int32_t vertex, int buffer) const
  {
    if (piece < (int64_t)a.n_groups * PARTS) {
      if (threadIdx.x < 3 * E)
        __pipeline_memcpy_async((double2 *)(s + shape::CORNERS) + threadIdx.x,
                                a.batch.arrays.vertices + 2 * (int64_t)vertex, sizeof(double2));
      double *const s_x = s + shape::VECTORS + buffer * shape::X + e;
      const double *x = x_of(piece);
      for (int i = worker; i < shape::Problem::ROWS; i += shape::WORKERS)
        __pipeline_memcpy_async(s_x + i * E, x + s_mode[i] * KG_LANES, sizeof(double));
    }
    __pipeline_commit();
  }
  /// The factors of the elements of a piece, whose corners have come.
  __device__ __forceinline__ void set_factors(int64_t piece) const
  {
    if (threadIdx.x >= E) return;
    const int64_t group = a.first_group + piece / PARTS;
    const int lane = (int)(piece % PARTS) * E + e;
    double x[3], y[3];
    for (int l = 0; l < 3; ++l) {
      const double2 corner = ((const double2 *)(s + shape::CORNERS))[l * E + e];
      x[l] = corner.x;
      y[l] = corner.y;
    }
    shape::Problem::set(kg_element_of(x, y, kg_material_at(&a.materials, group, lane)),
                        [&](int k, double value) { s[shape::FACTORS + k * E + e] = value; });
  }
};

template <class shape>
__global__ void __launch_bounds__(shape::THREADS, shape::BLOCKS)
    solve_blocks(const __grid_constant__ element_solve_args a)
{
  using Problem = typename shape::Problem;
  constexpr int E = shape::E;
  KG_SHARED(double2, s_memory);
  double *const s = (double *)s_memory;
  int *const s_mode = (int *)(s + shape::TABLE + Problem::TABLE);
  const block_work<shape> work = {a, s, s_mode, (int)threadIdx.x % E, (int)threadIdx.x / E};
  const tile_place at(work.worker, shape::NT);
  Problem::stage(a.batch.reference, s + shape::TABLE);
  block_element<E> c = {&a.batch.reference, s + shape::TABLE, s + shape::FACTORS + work.e, nullptr};
  for (int i = threadIdx.x; i < Problem::ROWS; i += shape::THREADS) s_mode[i] = Problem::mode_of(i);
  __syncthreads();
  const int64_t pieces = (int64_t)a.n_groups * work.PARTS;
  int64_t piece = blockIdx.x;
  work.fetch(piece, work.vertex_of(piece), 0);
  int32_t vertex = work.vertex_of(piece + gridDim.x);
#pragma unroll 1
  for (int buffer = 0; piece < pieces; piece += gridDim.x, buffer ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    work.set_factors(piece);
    __syncthreads();
    work.fetch(piece + gridDim.x, vertex, buffer ^ 1);
    vertex = work.vertex_of(piece + 2 * (int64_t)gridDim.x);
    c.x_rows = s + shape::VECTORS + buffer * shape::X + work.e;
    Problem::reduce(c, work.worker, shape::WORKERS);
    __syncthreads();
    solve_tiles<shape>(c, at, s + shape::DIAGONAL + work.e, s + shape::COLUMN + work.e);
    Problem::restore(c, work.worker, shape::WORKERS);
    __syncthreads();
    double *x = work.x_of(piece);
    for (int i = work.worker; i < Problem::ROWS; i += shape::WORKERS)
      x[s_mode[i] * KG_LANES] = c.x(i);
  }
}

template <class shape>
kedge_status launch_solve_blocks(kedge_context *ctx, const element_solve_args &a, const char *name)
{
  const unsigned blocks =
      kg_cuda_blocks(ctx, (int64_t)a.n_groups * (KG_LANES / shape::E), shape::BLOCKS);
  return kg_launch_shared(ctx, name, blocks, shape::THREADS, shape::BYTES, solve_blocks<shape>, a);
}

}  // namespace kg
