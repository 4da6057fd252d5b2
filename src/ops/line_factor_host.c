#include "core/context.h"
#include "ops/line_factor.h"
#include "ops/real.h"

enum { MODES_MAX = KEDGE_ORDER_MAX + 1, PACKED_MAX = MODES_MAX * (MODES_MAX + 1) / 2 };

typedef struct step_work {
  double inverse[PACKED_MAX];  ///< -D^-1 of the step before, then of this one
  double coupling[MODES_MAX][MODES_MAX], factor[MODES_MAX][MODES_MAX];
} step_work;

/// L = C D^-1 of the step before, in numbers as they are kept.
static void make_factor(const kg_line_factor_args *a, int32_t step, step_work *w)
{
  const int m = a->batch.reference.size.n_edge;
  kg_real *out = (kg_real *)a->factor + (int64_t)step * m * m;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      w->coupling[i][j] = kg_line_coupling(a, m, a->lines.side + 2 * (int64_t)step, i, j);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0.0;
      for (int k = 0; k < m; ++k) sum -= w->coupling[i][k] * w->inverse[kg_packed_entry(k, j)];
      w->factor[i][j] = sum;
      out[i * m + j] = (kg_real)sum;
    }
}

/// Entry (i, j) of what a side's element has in the block of its edge.
static double side_entry(const kg_line_factor_args *a, int32_t side, int i, int j)
{
  const int32_t both[2] = {side, side};
  return kg_line_coupling(a, a->batch.reference.size.n_edge, both, i, j);
}

/// D^-1 of a step; false: there is none.
static bool make_inverse(const kg_line_factor_args *a, int32_t edge, bool first, step_work *w)
{
  const int m = a->batch.reference.size.n_edge;
  const int32_t *sides = a->batch.arrays.edge_sides + 2 * (int64_t)edge;
  double *d = w->inverse;
  for (int k = 0; k < m * (m + 1) / 2; ++k) d[k] = 0.0;
  for (int of = 0; of < 2 && sides[of] >= 0; ++of)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j <= i; ++j) d[kg_packed_entry(i, j)] += side_entry(a, sides[of], i, j);
  for (int i = 0; i < m && !first; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k < m; ++k) d[kg_packed_entry(i, j)] -= w->factor[i][k] * w->coupling[j][k];
  const bool good = kg_sweep(m, d, 1) && kg_sweep_fits(m, d, 1);
  kg_real *out = (kg_real *)a->inverse + kg_edge_block_at(m, edge);
  for (int k = 0; k < m * (m + 1) / 2; ++k) out[k * KG_LANES] = (kg_real)-d[k];
  return good;
}

kedge_status KG_REAL(kg_line_factor_host)(kedge_context *ctx, const kg_line_factor_args *a)
{
  int32_t fault = *a->fault;
#pragma omp parallel for schedule(dynamic, 16) num_threads(ctx->threads) reduction(min : fault)
  for (int32_t line = 0; line < a->lines.n_lines; ++line) {
    step_work w;
    const int32_t begin = a->lines.begin[line], end = a->lines.begin[line + 1];
    for (int32_t step = begin; step < end; ++step) {
      const int32_t edge = a->lines.edge[step];
      if (step > begin) make_factor(a, step, &w);
      if (!make_inverse(a, edge, step == begin, &w) && edge < fault) fault = edge;
    }
  }
  *a->fault = fault;
  return KEDGE_OK;
}
