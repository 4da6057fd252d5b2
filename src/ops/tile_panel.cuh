// tile_panel.cuh: dense algebra of a few elements by one block, on the FP64 tensor cores (sm_80 and later).
//
// A panel holds, for each of E elements, the lower triangle of a symmetric positive definite matrix A of NT x NT tiles
// and RT tile rows of transposed right-hand sides B^T below it; tiles are 8 x 8. factor() replaces tile (i, j),
// i > j, by that of L, the rows below by (L^-1 B)^T, and tile (j, j) by the inverse of L_jj.
//
// Tiles lie as the tensor cores read them: two halves of four columns, each [row][4]. Lane t of a warp finds its
// operand of half h at h * 32 + t, the same for A and for the transpose in B: no bank conflicts.
// V warps share the tile rows of an element. The 8 x 8 diagonal tiles of four elements are inverted by one
// warp, a row a lane.
#pragma once
#include <cuda_runtime.h>

namespace kg {

/// c += a b; a 8 x 4, b 4 x 8, c 8 x 8 with columns 2 (lane % 4) and the next of row lane / 4.
__device__ __forceinline__ void tensor_multiply(double c[2], double a, double b)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
#endif
}

template <int NT, int RT, int E, int V> struct tile_panel {
  static constexpr int ROWS = NT + RT;                            ///< tile rows
  static constexpr int TILES = NT * (NT + 1) / 2 + RT * NT;       ///< of one element
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

  /// Begins and ends with a barrier.
  __device__ void factor() const
  {
    constexpr int MINE = (ROWS + V - 1) / V;  // most tile rows of a warp
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, e = warp / V, v = warp % V;
    for (int j = 0; j < NT; ++j) {
      __syncthreads();
      double c[MINE][2];
#pragma unroll
      for (int r = 0; r < MINE; ++r) {
        const int i = j + v + r * V;
        if (i >= ROWS) continue;
        const double2 start = *pair(tile(e, i, j));
        c[r][0] = start.x;
        c[r][1] = start.y;
      }
      for (int k = 0; k < j; ++k)
#pragma unroll
        for (int h = 0; h < 64; h += 32) {
          const double b = -tile(e, j, k)[h + lane];
#pragma unroll
          for (int r = 0; r < MINE; ++r) {
            const int i = j + v + r * V;
            if (i < ROWS) tensor_multiply(c[r], tile(e, i, k)[h + lane], b);
          }
        }
#pragma unroll
      for (int r = 0; r < MINE; ++r) {
        const int i = j + v + r * V;
        if (i < ROWS) *pair(tile(e, i, j)) = make_double2(c[r][0], c[r][1]);
      }
      __syncthreads();
      if (warp * 4 < E) invert_diagonals(j, warp * 4);
      __syncthreads();
      const double low = tile(e, j, j)[lane], high = tile(e, j, j)[32 + lane];
#pragma unroll
      for (int r = 0; r < MINE; ++r) {
        const int i = j + v + r * V;
        if (i <= j || i >= ROWS) continue;
        double *t = tile(e, i, j);
        c[r][0] = c[r][1] = 0.0;
        tensor_multiply(c[r], t[lane], low);
        tensor_multiply(c[r], t[32 + lane], high);
        __syncwarp();
        *pair(t) = make_double2(c[r][0], c[r][1]);
      }
    }
    __syncthreads();
  }

  /// Tile (j, j) of elements first..first+3 becomes the inverse of its Cholesky factor: Gauss-Jordan beside the
  /// factorisation, lane = (element, row). Rows above the pivot compute values that nobody uses.
  __device__ __forceinline__ void invert_diagonals(int j, int first) const
  {
    const int lane = threadIdx.x & 31, row = lane & 7;
    const int e = first + (lane >> 3) < E ? first + (lane >> 3) : E - 1;
    double *t = tile(e, j, j);
    double a[8], x[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      a[c] = t[c / 4 * 32 + row * 4 + c % 4];
      x[c] = c == row ? 1.0 : 0.0;
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const double inverse = rsqrt(__shfl_sync(0xffffffffu, a[k], k, 8));
      const double l = a[k] * inverse;
#pragma unroll
      for (int c = 0; c <= k; ++c) {
        if (row == k) x[c] *= inverse;
        const double pivot = __shfl_sync(0xffffffffu, x[c], k, 8);
        if (row > k) x[c] -= l * pivot;
      }
#pragma unroll
      for (int c = k + 1; c < 8; ++c) a[c] -= l * __shfl_sync(0xffffffffu, l, c, 8);
    }
    if (first + (lane >> 3) >= E) return;
#pragma unroll
    for (int c = 0; c < 8; ++c) t[c / 4 * 32 + row * 4 + c % 4] = x[c];
  }
};

}  // namespace kg
