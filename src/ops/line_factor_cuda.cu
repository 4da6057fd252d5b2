// line_factor_cuda.cu: L D L^T of the lines of edges (line_factor.h).
// Layout  local [group][n (n+1) / 2][lane], W [edge group][m (m+1) / 2][lane], L [step][m][m]; in
//         shared memory, matrices [row][column] of a warp, of symmetric ones the lower triangle
// Map     warp = line, step after step; lanes share the entries of a matrix
// Cost    kg_line_factor_cost(), once a solve; the longest line decides, not the bytes
#include "backend/cuda_rt.h"
#include "ops/by_order.cuh"
#include "ops/line_factor.h"
#include "ops/real.h"

namespace
{

enum { WARPS = 4 };

/// Of a warp; columns are padded where m is even, against conflicts.
template <int M>
struct line_matrices {
  double block[M][M | 1];  // D of a step, then its W
  double coupling[M][M | 1], g[M][M | 1];
  double third[M][M | 1], weights[M][M | 1];  // of strips: K^e of an edge and the third one, and W
  double column[M], least[M];
};

/// The entries of kg_line_coupling(), which a lane asks for one by one: what they are condensed
/// with comes to shared memory once.
template <int M>
struct line_block {
  kg_local_element element;
  int row_side, column_side;
  bool condensed;

  __device__ line_block(const kg_line_factor_args &a, int32_t from, int32_t to, int lane,
                        line_matrices<M> &w)
      : element(kg_local_element_of(&a.local, M, to / 3)),
        row_side(to % 3),
        column_side(from % 3),
        condensed(false)
  {
    if (a.strips.corner == nullptr) return;
    const int corner = a.strips.corner[to / 3], slot = kg_strip_slot(corner, column_side);
    if (slot == 1) return;  // the edge is in line elsewhere
    condensed = true;
    const kg_real *third = kg_strip_third(&a.strips, M, to / 3, slot);
    for (int k = lane; k < M * M; k += 32) {
      w.third[k / M][k % M] =
          kg_local_entry(&element, row_side, k / M, kg_strip_side(corner, 1), k % M);
      w.weights[k / M][k % M] = third[k];
    }
    __syncwarp();
  }
  __device__ double entry(int i, int j, const line_matrices<M> &w) const
  {
    double sum = kg_local_entry(&element, row_side, i, column_side, j);
    for (int k = 0; k < M && condensed; ++k) sum -= w.third[i][k] * w.weights[k][j];
    return sum;
  }
};

/// C of the step, then G = C W^T and L = G W of the step before.
template <int M>
__device__ void make_factor(const kg_line_factor_args &a, int32_t step, int lane,
                            line_matrices<M> &w)
{
  float *out = a.factor + (int64_t)step * M * M;
  const int32_t *edge = a.lines.edge + step;
  int32_t side[2];
  kg_line_sides(a.batch.arrays.edge_sides, edge[-1], edge[0], side);
  const line_block<M> block(a, side[0], side[1], lane, w);
  for (int k = lane; k < M * M; k += 32) w.coupling[k / M][k % M] = block.entry(k / M, k % M, w);
  __syncwarp();
  for (int k = lane; k < M * M; k += 32) {
    const int i = k / M, j = k % M;
    double sum = 0.0;
    for (int l = 0; l <= j; ++l) sum += w.coupling[i][l] * w.block[j][l];
    w.g[i][j] = sum;
  }
  __syncwarp();
  for (int k = lane; k < M * M; k += 32) {
    const int i = k / M, j = k % M;
    double sum = 0.0;
    for (int l = j; l < M; ++l) sum += w.g[i][l] * w.block[l][j];
    out[k] = (float)sum;
  }
  __syncwarp();
}

/// What a side's element has in the block of its edge, in or onto the lower triangle.
template <int M>
__device__ void add_side(const kg_line_factor_args &a, int32_t side, bool onto, int lane,
                         line_matrices<M> &w)
{
  const line_block<M> block(a, side, side, lane, w);
  for (int k = lane; k < M * M; k += 32) {
    const int i = k / M, j = k % M;
    if (j > i) continue;
    const double entry = block.entry(i, j, w);
    w.block[i][j] = onto ? w.block[i][j] + entry : entry;
  }
  __syncwarp();
}

template <int M>
__device__ void make_block(const kg_line_factor_args &a, int32_t edge, bool first, int lane,
                           line_matrices<M> &w)
{
  const int2 sides = ((const int2 *)a.batch.arrays.edge_sides)[edge];
  add_side<M>(a, sides.x, false, lane, w);
  if (sides.y >= 0) add_side<M>(a, sides.y, true, lane, w);
  for (int k = lane; k < M * M; k += 32) {
    const int i = k / M, j = k % M;
    if (j > i) continue;
    double sum = w.block[i][j];
    for (int l = 0; l < M && !first; ++l) sum -= w.g[i][l] * w.g[j][l];
    w.block[i][j] = sum;
  }
  __syncwarp();
}

/// W in place of D, row after row: those below row k lose their part of it, in D and in W. False in
/// all lanes: a pivot is lost in rounding.
template <int M>
__device__ bool factorize(int lane, line_matrices<M> &w)
{
  bool good = true;
  if (lane < M) w.least[lane] = M * DBL_EPSILON * w.block[lane][lane];
  __syncwarp();
  for (int k = 0; k < M; ++k) {
    const double pivot = w.block[k][k], reciprocal = 1.0 / pivot, root = sqrt(reciprocal);
    good = good && pivot > w.least[k] && pivot <= DBL_MAX;
    if (lane < M) w.column[lane] = lane < k ? w.block[k][lane] : w.block[lane][k];
    __syncwarp();
    for (int at = lane; at < M * M; at += 32) {
      const int i = at / M, j = at % M;
      if (i < k || j > i) continue;
      const double factor = w.column[i] * reciprocal;
      w.block[i][j] = i == k   ? (j == k ? root : w.column[j] * root)
                      : j == k ? -factor
                               : w.block[i][j] - factor * w.column[j];
    }
    __syncwarp();
  }
  return good;
}

template <int M>
__device__ bool keep_factor(const kg_line_factor_args &a, int32_t edge, int lane,
                            const line_matrices<M> &w)
{
  bool fits = true;
  float *out = a.inverse + kg_edge_block_at(M, edge);
  for (int k = lane; k < M * M; k += 32) {
    const int i = k / M, j = k % M;
    if (i == j) fits = fits && kg_factor_fits(1, &w.block[i][i]);
    if (j <= i) out[kg_packed_entry(i, j) * KG_LANES] = (float)w.block[i][j];
  }
  return fits;
}

template <int M>
__global__ void __launch_bounds__(32 * WARPS)
    KG_REAL(line_factor_kernel)(const kg_line_factor_args a)
{
  __shared__ line_matrices<M> s_matrices[WARPS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int32_t line = (int32_t)blockIdx.x * WARPS + warp;
  if (line >= a.lines.n_lines) return;
  line_matrices<M> &w = s_matrices[warp];
  const int32_t begin = a.lines.begin[line], end = a.lines.begin[line + 1];
  for (int32_t step = begin; step < end; ++step) {
    const int32_t edge = a.lines.edge[step];
    if (step > begin) make_factor<M>(a, step, lane, w);
    make_block<M>(a, edge, step == begin, lane, w);
    const bool good = factorize<M>(lane, w);
    if (!(keep_factor<M>(a, edge, lane, w) && good)) atomicMin(a.fault, edge);
    __syncwarp();
  }
}

template <int P>
kedge_status launch(kedge_context *ctx, const kg_line_factor_args &a)
{
  const unsigned blocks = ((unsigned)a.lines.n_lines + WARPS - 1) / WARPS;
  KG_REAL(line_factor_kernel)<P + 1><<<blocks, 32 * WARPS, 0, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, "line_factor");
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_line_factor_cuda)(kedge_context *ctx,
                                                     const kg_line_factor_args *a)
{
  if (a->lines.n_lines == 0) return KEDGE_OK;  // an empty grid is a launch error
  return kg_with_order(a->batch.reference.size.order, [&](auto p) { return launch<p()>(ctx, *a); });
}
