// line_factor_cuda.cu: L D L^T of the lines of edges (line_factor.h).
// Layout  local [group][n (n+1) / 2][lane], W [edge group][m (m+1) / 2][lane], L [step][m][m]; in
//         shared memory, matrices [row][column] of a warp
// Map     warp = line, step after step; lanes share the entries of a matrix, lane k entries k, k +
//         32, ... of all, or of the lower triangle. While a step is computed, those of K^e for the
//         next one are on their way into registers, and the sides of the one after that.
// Cost    kg_line_factor_cost(), once a solve; the longest line decides, not the bytes
#include "device/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/smooth/line_factor.h"

namespace
{

enum { WARPS = 4 };

/// Entries of a lane: of a matrix, and of a triangle.
template <int M>
constexpr int FULL = (M * M + 31) / 32;
template <int M>
constexpr int HALF = (M * (M + 1) / 2 + 31) / 32;

/// Shared memory of a warp; columns are padded where m is even, against bank conflicts.
template <int M>
struct line_matrices {
  double block[M][M | 1];  // D of a step, then its W; zero above the diagonal
  double coupling[M][M | 1], g[M][M | 1];
  double least[M];
};

/// Entries of a step from K^e: C, and the lower triangle of A of its edge.
template <int M>
struct line_entries {
  double coupling[FULL<M>], block[HALF<M>];
};

/// The places of a lane's entries in a lower triangle. Places beyond the end are those of the last
/// entry, which another lane writes.
template <int M>
struct triangle_places {
  int lane, row[HALF<M>], column[HALF<M>];

  __device__ explicit triangle_places(int lane) : lane(lane)
  {
#pragma unroll
    for (int k = 0; k < HALF<M>; ++k) {
      const int at = min(lane + 32 * k, M * (M + 1) / 2 - 1);
      row[k] = 0;
      while (kg_packed_entry(row[k] + 1, 0) <= at) ++row[k];
      column[k] = at - kg_packed_entry(row[k], 0);
    }
  }
  __device__ bool writes(int k) const
  {
    return lane + 32 * k < M * (M + 1) / 2;
  }
};

/// Entries of K^e that couple an edge of an element with another one, or with itself.
struct line_block {
  kg_local_element element;
  int row_side, column_side;

  __device__ line_block(const kg_line_factor_args &a, int m, kg_side from, kg_side to)
      : element(kg_local_element_of(&a.locals, m, kg_side_element(to))),
        row_side(kg_side_facet(to)),
        column_side(kg_side_facet(from))
  {
  }
  __device__ double entry(int i, int j) const
  {
    return kg_local_entry(&element, row_side, i, column_side, j);
  }
};

/// Add the part of a side's element to the block of its edge.
template <int M>
__device__ void add_side(const kg_line_factor_args &a, kg_side side,
                         const triangle_places<M> &places, double (&block)[HALF<M>])
{
  const line_block of_side(a, M, side, side);
#pragma unroll
  for (int k = 0; k < HALF<M>; ++k) block[k] += of_side.entry(places.row[k], places.column[k]);
}

/// Loads the entries of A_s and C_s of a step whose edge has the sides `to`; the edge before it has
/// the sides `from`. The first step of a line has no C_s.
template <int M>
__device__ line_entries<M> load(const kg_line_factor_args &a, bool first, uint2 from, uint2 to,
                                const triangle_places<M> &places)
{
  line_entries<M> out = {};
  if (!first) {
    const kg_side before[2] = {from.x, from.y}, here[2] = {to.x, to.y};
    kg_side side[2];
    kg_line_sides(before, here, side);
    const line_block block(a, M, side[0], side[1]);
#pragma unroll
    for (int k = 0; k < FULL<M>; ++k) {
      const int at = min(places.lane + 32 * k, M * M - 1);
      out.coupling[k] = block.entry(at / M, at % M);
    }
  }
  add_side<M>(a, to.x, places, out.block);
  if (to.y != KG_NO_SIDE) add_side<M>(a, to.y, places, out.block);
  return out;
}

/// G = C W^T and L = G W with the W of the step before, then A - G G^T.
template <int M>
__device__ void eliminate(float *factor, const triangle_places<M> &places, line_entries<M> &entries,
                          line_matrices<M> &w)
{
  const int lane = places.lane;
#pragma unroll
  for (int k = 0; k < FULL<M>; ++k) {
    const int at = lane + 32 * k;
    if (at < M * M) w.coupling[at / M][at % M] = entries.coupling[k];
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < FULL<M>; ++k) {
    const int at = min(lane + 32 * k, M * M - 1), i = at / M, j = at % M;
    double sum = 0.0;
#pragma unroll
    for (int l = 0; l < M; ++l) sum += w.coupling[i][l] * w.block[j][l];
    if (lane + 32 * k < M * M) w.g[i][j] = sum;
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < FULL<M>; ++k) {
    const int at = min(lane + 32 * k, M * M - 1), i = at / M, j = at % M;
    double sum = 0.0;
#pragma unroll
    for (int l = 0; l < M; ++l) sum += w.g[i][l] * w.block[l][j];
    if (lane + 32 * k < M * M) factor[at] = (float)sum;
  }
#pragma unroll
  for (int k = 0; k < HALF<M>; ++k)
#pragma unroll
    for (int l = 0; l < M; ++l)
      entries.block[k] -= w.g[places.row[k]][l] * w.g[places.column[k]][l];
  __syncwarp();
}

/// W of D. Pivot by pivot the rows below lose their part of that row, in D and in the inverse of
/// its unit triangle, which takes its place; in the end rows are divided by the roots of the
/// pivots. False in all lanes: a pivot is lost in rounding.
template <int M>
__device__ bool factorize(const triangle_places<M> &places, double (&value)[HALF<M>],
                          line_matrices<M> &w)
{
  bool good = true;
#pragma unroll
  for (int k = 0; k < HALF<M>; ++k) {
    const int i = places.row[k], j = places.column[k];
    if (places.writes(k)) w.block[i][j] = value[k];
    if (places.writes(k) && i == j) w.least[i] = M * DBL_EPSILON * value[k];
  }
  __syncwarp();
  for (int pivot = 0; pivot < M; ++pivot) {
    const double size = w.block[pivot][pivot], reciprocal = 1.0 / size;
    good = good && size > w.least[pivot] && size <= DBL_MAX;
#pragma unroll
    for (int k = 0; k < HALF<M>; ++k) {
      const int i = places.row[k], j = places.column[k];
      if (i <= pivot) continue;
      const double factor = w.block[i][pivot] * reciprocal;
      const double other = j < pivot ? w.block[pivot][j] : w.block[j][pivot];
      value[k] = j == pivot ? -factor : value[k] - factor * other;
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < HALF<M>; ++k)
      if (places.writes(k) && places.row[k] > pivot)
        w.block[places.row[k]][places.column[k]] = value[k];
    __syncwarp();
  }
#pragma unroll
  for (int k = 0; k < HALF<M>; ++k) {
    const int i = places.row[k], j = places.column[k];
    const double root = 1.0 / sqrt(w.block[i][i]);
    value[k] = i == j ? root : value[k] * root;
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < HALF<M>; ++k)
    if (places.writes(k)) w.block[places.row[k]][places.column[k]] = value[k];
  __syncwarp();
  return good;
}

template <int M>
__device__ bool keep(const kg_line_factor_args &a, int32_t edge, const triangle_places<M> &places,
                     const double (&value)[HALF<M>])
{
  bool fits = true;
  float *out = a.inverse + kg_edge_block_at(M, edge);
#pragma unroll
  for (int k = 0; k < HALF<M>; ++k) {
    if (places.row[k] == places.column[k]) fits = fits && kg_factor_fits(1, &value[k], a.number);
    if (places.writes(k)) out[(places.lane + 32 * k) * KG_LANES] = (float)value[k];
  }
  return fits;
}

template <int M>
__global__ void __launch_bounds__(32 * WARPS) line_factor_kernel(const kg_line_factor_args a)
{
  __shared__ line_matrices<M> s_matrices[WARPS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int32_t line = (int32_t)blockIdx.x * WARPS + warp;
  if (line >= a.lines.n_lines) return;
  line_matrices<M> &w = s_matrices[warp];
  for (int k = lane; k < M * M; k += 32) w.block[k / M][k % M] = 0.0;
  __syncwarp();
  const triangle_places<M> places(lane);
  const uint2 *edge_sides = (const uint2 *)a.batch.arrays.edge_sides;
  const int32_t begin = a.lines.begin[line], last = a.lines.begin[line + 1] - 1;
  // Edges of this step, the next and the one after it; beyond the last step, the last edge.
  int32_t edge = a.lines.edge[begin], next = a.lines.edge[min(begin + 1, last)];
  uint2 sides = edge_sides[edge], sides_next = edge_sides[next];
  line_entries<M> entries = load<M>(a, true, sides, sides, places);
  for (int32_t step = begin; step <= last; ++step) {
    const int32_t after = a.lines.edge[min(step + 2, last)];
    line_entries<M> entries_next;
    if (step < last) entries_next = load<M>(a, false, sides, sides_next, places);
    const uint2 sides_after = edge_sides[after];
    if (step > begin) eliminate<M>(a.factor + kg_line_factor_at(M, line, step), places, entries, w);
    const bool good = factorize<M>(places, entries.block, w);
    if (!(keep<M>(a, edge, places, entries.block) && good)) atomicMin(a.fault, edge);
    entries = entries_next;
    sides = sides_next, sides_next = sides_after;
    edge = next, next = after;
  }
}

template <int M>
kedge_status launch(kedge_context *ctx, const kg_line_factor_args &a)
{
  return kg_launch_each<32 * WARPS>(ctx, "line_factor", 32 * (int64_t)a.lines.n_lines,
                                    line_factor_kernel<M>, a);
}

}  // namespace

extern "C" kedge_status kg_line_factor_cuda(kedge_context *ctx, const kg_line_factor_args *a)
{
  return kg_with_modes(ctx, a->batch.m, [&](auto m) { return launch<m()>(ctx, *a); });
}
