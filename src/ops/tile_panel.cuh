// tile_panel.cuh: dense algebra of a few elements by one block, on the FP64 tensor cores (sm_80 and
// later).
//
// A panel holds, for each of E elements, the lower triangle of a symmetric positive definite matrix
// A of NT x NT tiles and RT tile rows of transposed right-hand sides B^T below it; tiles are 8 x 8.
// factor() replaces tile (i, j), i > j, by that of L, the rows below by (L^-1 B)^T, and tile (j, j)
// by the inverse of L_jj.
//
// Tiles lie as the tensor cores read them: two halves of four columns, each [row][4]. Lane t of a
// warp finds its operand of half h at h * 32 + t, the same for A and for the transpose in B: no
// bank conflicts. V warps share the tile rows of an element. The 8 x 8 diagonal tiles of four
// elements are inverted by one warp, a row a lane.
#pragma once
#include <cuda_runtime.h>

namespace kg
{

/// c += a b; a 8 x 4, b 4 x 8, c 8 x 8 with columns 2 (lane % 4) and the next of row lane / 4.
__device__ __forceinline__ void tensor_multiply(double c[2], double a, double b)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
#endif
}

template <int NT, int RT, int E, int V>
struct tile_panel {
  static constexpr int ROWS = NT + RT;                       ///< tile rows
  static constexpr int TILES = NT * (NT + 1) / 2 + RT * NT;  ///< of one element
  static constexpr int THREADS = 32 * E * V;
  static constexpr int WARPS = E * V;
  static constexpr size_t BYTES = sizeof(double) * 64 * TILES * E;

  double *memory;  ///< [element][tile][64] in shared memory

  __device__ __forceinline__ double *tile(int e, int i, int j) const
  {
    const int at = i < NT ? i * (i + 1) / 2 + j : NT * (NT + 1) / 2 + (i - NT) * NT + j;
    return memory + (e * TILES + at) * 64;
  }

  /// The pair of this lane in accumulator layout.
  static __device__ __forceinline__ double2 *pair(double *tile)
  {
    const int lane = threadIdx.x & 31;
    return (double2 *)(tile + (lane & 2) * 16 + (lane >> 2) * 4 + (lane & 1) * 2);
  }

  /// First tile of a tile row, in doubles from the element's first.
  static __device__ __forceinline__ int row_start(int i)
  {
    return 64 * (i < NT ? i * (i + 1) / 2 : NT * (NT + 1) / 2 + (i - NT) * NT);
  }

  /// Begins and ends with a barrier.
  __device__ __forceinline__ void factor() const
  {
    const int warp = threadIdx.x >> 5, e = warp / V, v = warp % V;
    double *element = memory + e * TILES * 64;
    for (int j = 0; j < NT; ++j) {
      __syncthreads();
      reduce_column(element, j, v);
      __syncthreads();
      if (warp * 4 < E) invert_diagonals(j, warp * 4);
      __syncthreads();
      solve_column(element, j, v);
    }
    __syncthreads();
  }

  /// Tile rows of a warp in column j: j + v, j + v + V, ...
  static constexpr int MINE = (ROWS + V - 1) / V;

  /// Column j less the products of the columns before it.
  __device__ __forceinline__ void reduce_column(double *element, int j, int v) const
  {
    const int lane = threadIdx.x & 31;
    const int count = (ROWS - j - v + V - 1) / V;  // of this warp's rows
    double c[MINE][2];
    const double *row[MINE];
#pragma unroll
    for (int r = 0; r < MINE; ++r) {
      if (r >= count) continue;
      const int start = row_start(j + v + r * V);
      row[r] = element + start + lane;
      const double2 values = *pair(element + start + 64 * j);
      c[r][0] = values.x;
      c[r][1] = values.y;
    }
    const double *pivot = element + row_start(j) + lane;
    for (int k = 0; k < 64 * j; k += 32) {
      const double b = -pivot[k];
#pragma unroll
      for (int r = 0; r < MINE; ++r)
        if (r < count) tensor_multiply(c[r], row[r][k], b);
    }
#pragma unroll
    for (int r = 0; r < MINE; ++r)
      if (r < count)
        *pair(element + row_start(j + v + r * V) + 64 * j) = make_double2(c[r][0], c[r][1]);
  }

  /// Tiles below the diagonal of column j times L_jj^-T.
  __device__ __forceinline__ void solve_column(double *element, int j, int v) const
  {
    const int lane = threadIdx.x & 31;
    const double *diagonal = element + row_start(j) + 64 * j;
    const double low = diagonal[lane], high = diagonal[32 + lane];
#pragma unroll
    for (int r = 0; r < MINE; ++r) {
      const int i = j + v + r * V;
      if (i == j || i >= ROWS) continue;
      double *t = element + row_start(i) + 64 * j;
      double c[2] = {0.0, 0.0};
      tensor_multiply(c, t[lane], low);
      tensor_multiply(c, t[32 + lane], high);
      __syncwarp();
      *pair(t) = make_double2(c[0], c[1]);
    }
  }

  /// Tile (j, j) of elements first..first+3 becomes the inverse of its Cholesky factor. While
  /// factoring a lane is (element, row); L goes to shared memory and the lane then solves L x =
  /// e_row, a column of the inverse. Rows above the pivot compute values that nobody uses.
  __device__ __forceinline__ void invert_diagonals(int j, int first) const
  {
    const int lane = threadIdx.x & 31, row = lane & 7;
    const int e = first + (lane >> 3) < E ? first + (lane >> 3) : E - 1;
    const bool mine = first + (lane >> 3) < E;
    double *t = memory + e * TILES * 64 + row_start(j) + 64 * j;
    double a[8], inverse[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) a[c] = t[c / 4 * 32 + row * 4 + c % 4];
    __syncwarp();  // lanes beyond E look at the last element too
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      inverse[k] = reciprocal_root(__shfl_sync(0xffffffffu, a[k], k, 8));
      a[k] *= inverse[k];
#pragma unroll
      for (int c = k + 1; c < 8; ++c) a[c] -= a[k] * __shfl_sync(0xffffffffu, a[k], c, 8);
    }
    if (mine)
#pragma unroll
      for (int c = 0; c < 8; ++c) t[c / 4 * 32 + row * 4 + c % 4] = a[c];
    __syncwarp();
    double x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      double sum = i == row ? 1.0 : 0.0;
#pragma unroll
      for (int k = 0; k < i; ++k) sum -= t[k / 4 * 32 + i * 4 + k % 4] * x[k];
      x[i] = sum * inverse[i];
    }
    __syncwarp();
    if (mine)
#pragma unroll
      for (int i = 0; i < 8; ++i) t[row / 4 * 32 + i * 4 + row % 4] = x[i];
  }

  /// 1 / sqrt(d) to rounding: the hardware's estimate and one step of third order. NaN for d < 0.
  static __device__ __forceinline__ double reciprocal_root(double d)
  {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
    const double error = fma(-d * y, y, 1.0);
    return fma(y * error, fma(0.375, error, 0.5), y);
  }
};

}  // namespace kg
