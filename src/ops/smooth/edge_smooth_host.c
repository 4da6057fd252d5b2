// 32 edges at a time, one in each lane.
#include "device/loop.h"
#include "ops/vector/pieces.h"
#include "ops/smooth/edge_smooth.h"

enum { MODES_MAX = KEDGE_ORDER_MAX + 1 };

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
  const int m = a->size.n_edge;
  const int64_t at = group * (m * (m + 1) / 2) * KG_LANES;
  if (a->form == KG_BLOCK_HALF)
    multiply_halves(m, (const uint16_t *)a->inverse + at, x, y);
  else
    multiply_factors(m, (const float *)a->inverse + at, x, y);
}

/// z and column `lane` of x = r - A z of an edge, corrected by rows of A P.
static void correct_by_rows(const kg_edge_smooth_args *a, int32_t edge, kg_real *z,
                            kg_real (*x)[KG_LANES], int lane)
{
  const int m = a->size.n_edge;
  double factor[KG_VERTEX_ROW_MAX];
  kg_vertex_row_factors(&a->correction.space.mesh, a->correction.coarse, edge, factor);
  z[0] += (kg_real)kg_vertex_row_mean(factor);
  z[1] += (kg_real)kg_vertex_row_slope(factor);
  for (int k = 0; k < m; ++k)
    x[k][lane] -= (kg_real)kg_vertex_row_product(&a->correction.rows, m, edge, k, factor);
}

/// z and x = r - A z of an edge, corrected by a coarse function.
static void correct(const kg_edge_smooth_args *a, int32_t edge, kg_real *z, kg_real *x)
{
  const kg_edge_correction c = kg_edge_correct(&a->correction, edge);
  z[0] += (kg_real)c.mean;
  z[1] += (kg_real)c.slope;
  *x -= (kg_real)c.flux;
}

/// The step of a group of edges; returns its part of r . z.
static double smooth_group(const kg_edge_smooth_args *a, int64_t group)
{
  const int m = a->size.n_edge;
  const int32_t first = (int32_t)group * KG_LANES, left = a->n_edges - first;
  const int lanes = left < KG_LANES ? left : KG_LANES;
  const kg_real *r = a->r, *product = a->product;
  kg_real *z = a->z, *direction = a->d;
  const kg_real step = (kg_real)a->step, momentum = (kg_real)a->momentum;
  kg_real x[MODES_MAX][KG_LANES] = {{0}}, y[MODES_MAX][KG_LANES];
  double dot = 0.0;
  int64_t row = (int64_t)first * m;
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < m; ++i, ++row) {
      x[i][lane] = product ? r[row] - product[row] : r[row];
      if (a->again) x[i][lane] += r[row];
      if (!product || a->again) z[row] = 0;
    }
  const bool corrects = a->correction.coarse != NULL, by_rows = a->correction.rows.value != NULL;
  for (int32_t lane = 0; corrects && by_rows && lane < lanes; ++lane)
    correct_by_rows(a, first + lane, z + (int64_t)(first + lane) * m, x, lane);
  for (int32_t lane = 0; corrects && !by_rows && lane < lanes; ++lane)
    correct(a, first + lane, z + (int64_t)(first + lane) * m, &x[0][lane]);
  solve_group(a, group, (const kg_real(*)[KG_LANES])x, y);
  row = (int64_t)first * m;
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < m; ++i, ++row) {
      kg_real d = step * y[i][lane];
      if (momentum != 0) d += momentum * direction[row];
      if (direction) direction[row] = d;
      z[row] += d;
    }
  for (int32_t edge = first; a->modes.value && edge < first + lanes; ++edge)
    kg_vertex_modes_add(&a->modes, m, edge, a->step, z + (int64_t)edge * m);
  for (int64_t i = (int64_t)first * m; i < row; ++i) dot += (double)r[i] * z[i];
  return dot;
}

kedge_status KG_REAL(kg_edge_smooth_host)(kedge_context *ctx, const kg_edge_smooth_args *a)
{
  const int64_t groups = ((int64_t)a->n_edges + KG_LANES - 1) / KG_LANES;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->n_edges, a->size.n_edge * a->size.n_edge))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    const int64_t end = piece_begin(groups, piece + 1);
    double sum = 0.0;
    for (int64_t group = piece_begin(groups, piece); group < end; ++group)
      sum += smooth_group(a, group);
    if (a->sum.total) a->sum.part[piece] = sum;
  }
  if (a->sum.total) kg_sum_end(&a->sum, sum_in_order(a->sum.part, KG_PIECES));
  return KEDGE_OK;
}
