// panel_cuda.cuh: dense algebra of one element by one block, in shared memory.
//
// A *panel* is a matrix of rows of length ld. Its first `np` rows hold a symmetric positive
// definite matrix A (lower triangle), np a multiple of 4; the rows below hold the transposes of
// right-hand sides, B^T. A partial Cholesky factorisation turns them into L and (L^-1 B)^T at once:
// the same dot products for every row, one thread a row, four columns at a time.
//
// ld = np + 2: rows start on 16 bytes, and eight rows of a quarter warp lie in different banks.
#pragma once
#include "ops/local/triangle/element.h"
#include "ops/ops.h"

KG_INLINE int kg_panel_padded(int n)
{
  return (n + 3) / 4 * 4;
}
KG_INLINE int kg_panel_ld(int n)
{
  return kg_panel_padded(n) + 2;
}

/// Rows and columns n..np-1 become those of the identity, and 0 in the rows below.
__device__ __forceinline__ void kg_panel_pad(double *panel, int rows, int n, int np, int ld)
{
  for (int row = threadIdx.x; row < rows; row += blockDim.x)
    for (int k = n; k < np; ++k) panel[row * ld + k] = row == k ? 1.0 : 0.0;
  for (int i = threadIdx.x; i < (np - n) * n; i += blockDim.x)
    panel[(n + i / n) * ld + i % n] = 0.0;
}

/// s[c] = row[j0 + c] - sum_{k < j0} row[k] other_c[k], other_c = row j0 + c of the panel.
__device__ __forceinline__ void kg_panel_dots(const double *row, const double *first, int j0,
                                              int ld, double s[4])
{
  for (int c = 0; c < 4; ++c) s[c] = row[j0 + c];
  for (int k = 0; k < j0; k += 2) {
    const double2 mine = *(const double2 *)(row + k);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const double2 theirs = *(const double2 *)(first + c * ld + k);
      s[c] -= mine.x * theirs.x;
      s[c] -= mine.y * theirs.y;
    }
  }
}

/// Factor. The block has at least `rows` threads. Begins and ends with a barrier. s_inverse [np]
/// receives 1 / L_ii.
__device__ __forceinline__ void kg_panel_factor(double *panel, int rows, int np, int ld,
                                                double *s_inverse)
{
  const int row = threadIdx.x;
  double *mine = panel + row * ld;
  for (int j0 = 0; j0 < np; j0 += 4) {
    const bool below = row >= j0 && row < rows;
    const bool diagonal = below && row < j0 + 4;
    const double *first = panel + j0 * ld;
    double s[4], l[4][4], inverse[4];
    __syncthreads();
    if (below) kg_panel_dots(mine, first, j0, ld, s);
    if (diagonal)
      for (int c = 0; c < 4; ++c) mine[j0 + c] = s[c];
    __syncthreads();
    if (below) {
      // Every thread factors the 4 x 4 block of the diagonal for itself, then solves its own row.
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j <= i; ++j) {
          double sum = first[i * ld + j0 + j];
#pragma unroll
          for (int k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
          if (i == j) inverse[i] = 1.0 / sqrt(sum);
          l[i][j] = sum * inverse[j];
        }
      }
#pragma unroll
      for (int c = 0; c < 4; ++c) {
#pragma unroll
        for (int k = 0; k < c; ++k) s[c] -= s[k] * l[c][k];
        s[c] *= inverse[c];
      }
    }
    __syncthreads();
    // In a row of the diagonal block this also fills the upper triangle, which nobody reads.
    if (below)
      for (int c = 0; c < 4; ++c) mine[j0 + c] = s[c];
    if (row == j0)
      for (int c = 0; c < 4; ++c) s_inverse[j0 + c] = inverse[c];
  }
  __syncthreads();
}

/// Z^-1 of one element into the lower triangle of the panel.
__device__ __forceinline__ void kg_panel_local_operator(double *panel, int ld,
                                                        const kg_reference &ref,
                                                        const kg_element &e)
{
  const int N = ref.size.n_modes;
  for (int i = threadIdx.x; i < N * N; i += blockDim.x) {
    const int row = i / N, col = i % N;
    if (col > row) continue;
    const int k = row * (row + 1) / 2 + col;
    double sum = e.stiffness[0] * ref.stiffness[0][k] + e.stiffness[1] * ref.stiffness[1][k] +
                 e.stiffness[2] * ref.stiffness[2][k] + e.tau[0] * ref.edge_mass[0][k] +
                 e.tau[1] * ref.edge_mass[1][k] + e.tau[2] * ref.edge_mass[2][k];
    if (row == col) sum += e.mass;
    panel[row * ld + col] = sum;
  }
}

/// The element of a block: number e of the mesh in its group's lane.
struct kg_place {
  int64_t group;
  int lane;
};

/// Brings the geometry of an element into shared memory (it is indexed by edges at run time). Ends
/// with a barrier.
__device__ __forceinline__ void kg_block_element(const kg_batch &batch, kg_place at,
                                                 kg_material material, kg_element *s_element)
{
  if (threadIdx.x == 0) *s_element = kg_element_at(&batch.arrays, at.group, at.lane, material);
  __syncthreads();
}

/// Whole warps for this many rows, one thread a row, at most 1024.
static inline unsigned kg_panel_threads(int rows)
{
  return (unsigned)(rows + 31) / 32 * 32;
}
