// 32 edges at a time, one in each lane. Sums are taken over a fixed number of pieces and then in
// order, so that they do not depend on the number of threads.
#include "core/context.h"
#include "ops/cg_vectors.h"
#include "ops/edge_smooth.h"

enum { MODES_MAX = KEDGE_ORDER_MAX + 1 };

/// y = B^-1 x for 32 edges, every entry of the packed triangle used twice.
static void multiply_group(int m, const double *restrict b, const double (*restrict x)[KG_LANES],
                           double (*restrict y)[KG_LANES])
{
  for (int i = 0; i < m; ++i) {
    for (int lane = 0; lane < KG_LANES; ++lane) y[i][lane] = 0.0;
    for (int j = 0; j < i; ++j, b += KG_LANES)
#pragma omp simd
      for (int lane = 0; lane < KG_LANES; ++lane) {
        y[i][lane] += b[lane] * x[j][lane];
        y[j][lane] += b[lane] * x[i][lane];
      }
#pragma omp simd
    for (int lane = 0; lane < KG_LANES; ++lane) y[i][lane] += b[lane] * x[i][lane];
    b += KG_LANES;
  }
}

/// The step of a group of edges; returns its part of r . z.
static double smooth_group(const kg_edge_smooth_args *a, int64_t group)
{
  const int m = a->size.n_edge, packed = m * (m + 1) / 2;
  const int32_t first = (int32_t)group * KG_LANES, left = a->n_edges - first;
  const int lanes = left < KG_LANES ? left : KG_LANES;
  double x[MODES_MAX][KG_LANES] = {{0}}, y[MODES_MAX][KG_LANES], dot = 0.0;
  int64_t row = (int64_t)first * m;
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < m; ++i, ++row)
      x[i][lane] = a->product ? a->r[row] - a->product[row] : a->r[row];
  multiply_group(m, a->inverse + group * packed * KG_LANES, (const double(*)[KG_LANES])x, y);
  row = (int64_t)first * m;
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < m; ++i, ++row) {
      double d = a->step * y[i][lane];
      if (a->momentum != 0.0) d += a->momentum * a->d[row];
      if (a->d) a->d[row] = d;
      a->z[row] = a->product ? a->z[row] + d : d;
      dot += a->r[row] * a->z[row];
    }
  return dot;
}

kedge_status kg_edge_smooth_host(kedge_context *ctx, const kg_edge_smooth_args *a)
{
  const int64_t groups = ((int64_t)a->n_edges + KG_LANES - 1) / KG_LANES;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int piece = 0; piece < KG_CG_PARTIALS; ++piece) {
    const int64_t end = groups * (piece + 1) / KG_CG_PARTIALS;
    double sum = 0.0;
    for (int64_t group = groups * piece / KG_CG_PARTIALS; group < end; ++group)
      sum += smooth_group(a, group);
    if (a->state) a->partial[piece] = sum;
  }
  if (!a->state) return KEDGE_OK;
  double rz = 0.0;
  for (int piece = 0; piece < KG_CG_PARTIALS; ++piece) rz += a->partial[piece];
  kg_cg_judge_preconditioner(a->state, rz);
  return KEDGE_OK;
}
