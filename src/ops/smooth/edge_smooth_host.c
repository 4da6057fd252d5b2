// 32 edges at a time, one in each lane.
#include <string.h>

#include "device/loop.h"
#include "ops/vector/pieces.h"
#include "ops/smooth/edge_smooth.h"

enum { MODES_MAX = KG_SPACE_FACET_MAX };

/// y = W^T (W x) for 32 edges, row by row of W.
static void multiply_factors(int m, const float *restrict w, const kg_real (*restrict x)[KG_LANES],
                             kg_real (*restrict y)[KG_LANES])
{
  for (int i = 0; i < m; ++i, w += i * KG_LANES) {
    kg_real t[KG_LANES] = {0};
    for (int lane = 0; lane < KG_LANES; ++lane) y[i][lane] = 0;
    for (int j = 0; j <= i; ++j)
#pragma omp simd
      for (int lane = 0; lane < KG_LANES; ++lane)
        t[lane] += (kg_real)w[j * KG_LANES + lane] * x[j][lane];
    for (int j = 0; j <= i; ++j)
#pragma omp simd
      for (int lane = 0; lane < KG_LANES; ++lane)
        y[j][lane] += (kg_real)w[j * KG_LANES + lane] * t[lane];
  }
}

/// Multiplies by W^T W where W is kept in upper halves of floats.
static void multiply_halves(int m, const uint16_t *restrict w,
                            const kg_real (*restrict x)[KG_LANES], kg_real (*restrict y)[KG_LANES])
{
  float factor[MODES_MAX * (MODES_MAX + 1) / 2 * KG_LANES];
  for (int i = 0; i < m * (m + 1) / 2 * KG_LANES; ++i) factor[i] = kg_of_upper_half(w[i]);
  multiply_factors(m, factor, x, y);
}

/// y = B^-1 x of a group.
static void solve_group(const kg_edge_smooth_args *a, int64_t group,
                        const kg_real (*restrict x)[KG_LANES], kg_real (*restrict y)[KG_LANES])
{
  const int m = a->m;
  const int64_t at = group * (m * (m + 1) / 2) * KG_LANES;
  if (a->form == KG_BLOCK_HALF)
    multiply_halves(m, (const uint16_t *)a->inverse + at, x, y);
  else
    multiply_factors(m, (const float *)a->inverse + at, x, y);
}

/// z and column `lane` of x = r - A z of an edge, corrected by rows of A P.
static inline void correct_by_rows(const kg_edge_smooth_args *a, int32_t edge, int K, int vector,
                                   kg_real *z, kg_real (*x)[KG_LANES], int lane)
{
  const int m = a->m;
  const kg_coarse_vector coarse = {a->correction.coarse, K, vector};
  double factor[KG_VERTEX_ROW_MAX];
  kg_vertex_row_factors(&a->correction.space.mesh, coarse, edge, factor);
  z[0] += (kg_real)kg_vertex_row_mean(factor);
  z[K] += (kg_real)kg_vertex_row_slope(factor);
  for (int k = 0; k < m; ++k)
    x[k][lane] -= (kg_real)kg_vertex_row_product(&a->correction.rows, m, edge, k, factor);
}

/// z and x = r - A z of an edge, corrected by a coarse function.
static inline void correct(const kg_edge_smooth_args *a, int32_t edge, int K, int vector,
                           kg_real *z, kg_real *x)
{
  const kg_edge_correction c = kg_edge_correct(&a->correction, edge, K, vector);
  z[0] += (kg_real)c.mean;
  z[K] += (kg_real)c.slope;
  *x -= (kg_real)c.flux;
}

/// The step of a group of edges, of one of K vectors; returns its part of the sum.
static inline double smooth_vector(const kg_edge_smooth_args *a, int64_t group, int K, int vector)
{
  const int m = a->m;
  const int32_t first = (int32_t)group * KG_LANES, left = a->n_edges - first;
  const int lanes = left < KG_LANES ? left : KG_LANES;
  const int64_t begin = (int64_t)first * m * K + vector;
  const kg_real *r = a->r, *product = a->product;
  kg_real *z = a->z, *direction = a->d;
  const kg_real step = (kg_real)a->step, momentum = (kg_real)a->momentum;
  kg_real x[MODES_MAX][KG_LANES], y[MODES_MAX][KG_LANES];
  double dot = 0.0;
  int64_t row = begin;
  if (lanes < KG_LANES) memset(x, 0, (size_t)m * sizeof *x);
  if (a->advance.r) dot = advance(&a->advance, begin, (int64_t)lanes * m, vector);
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < m; ++i, row += K) {
      x[i][lane] = product ? r[row] - product[row] : r[row];
      if (a->again) x[i][lane] += r[row];
      if (!product || a->again) z[row] = 0;
    }
  const bool corrects = a->correction.coarse != NULL, by_rows = a->correction.rows.value != NULL;
  for (int32_t lane = 0; corrects && lane < lanes; ++lane) {
    kg_real *const of = z + begin + (int64_t)lane * m * K;
    if (by_rows)
      correct_by_rows(a, first + lane, K, vector, of, x, lane);
    else
      correct(a, first + lane, K, vector, of, &x[0][lane]);
  }
  solve_group(a, group, (const kg_real(*)[KG_LANES])x, y);
  row = begin;
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < m; ++i, row += K) {
      kg_real d = step * y[i][lane];
      if (momentum != 0) d += momentum * direction[row];
      if (direction) direction[row] = d;
      z[row] += d;
    }
  for (int32_t lane = 0; a->modes.value && lane < lanes; ++lane)
    kg_vertex_modes_add(&a->modes, m, first + lane, a->step, K, vector,
                        z + begin + (int64_t)lane * m * K, K);
  for (int64_t i = begin; !a->advance.r && i < row; i += K) dot += (double)r[i] * z[i];
  return dot;
}

kedge_status KG_REAL(kg_edge_smooth_host)(kedge_context *ctx, const kg_edge_smooth_args *a)
{
  const int64_t groups = ((int64_t)a->n_edges + KG_LANES - 1) / KG_LANES;
  const kg_sum *const of = a->advance.r ? &a->advance.sum : &a->sum;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n_edges, a->m * a->m))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    const int64_t end = piece_begin(groups, piece + 1);
    double sum[KG_VECTORS] = {0.0};
    for (int64_t group = piece_begin(groups, piece); group < end; ++group)
      if (!a->many)
        sum[0] += smooth_vector(a, group, 1, 0);
      else
        for (int v = 0; v < KG_VECTORS; ++v) sum[v] += smooth_vector(a, group, KG_VECTORS, v);
    for (int v = 0; of->total && v < (a->many ? KG_VECTORS : 1); ++v)
      of->part[v * of->parts + piece] = sum[v];
  }
  if (of->total) kg_sum_pieces(of, a->many);
  return KEDGE_OK;
}
