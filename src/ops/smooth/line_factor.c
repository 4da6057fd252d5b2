#include "ops/smooth/line_factor.h"

#include "device/loop.h"
#include "ops/numbering/fault.h"

enum { MODES_MAX = KEDGE_ORDER_MAX + 1, PACKED_MAX = MODES_MAX * (MODES_MAX + 1) / 2 };

typedef struct step_work {
  double w[PACKED_MAX];            ///< W of the step before, then of this one
  double g[MODES_MAX][MODES_MAX];  ///< G
} step_work;

/// A row of C, then of G and of L. @param[in] side  of kg_line_sides()
static void make_row(const kg_line_factor_args *a, const kg_side side[2], int i, step_work *w,
                     float *out)
{
  const int m = a->batch.m, l = kg_side_facet(side[1]);
  const kg_local_element e = kg_local_element_of(&a->locals, m, kg_side_element(side[1]));
  double coupling[MODES_MAX];
  for (int j = 0; j < m; ++j) coupling[j] = kg_local_entry(&e, l, i, kg_side_facet(side[0]), j);
  for (int j = 0; j < m; ++j) {
    w->g[i][j] = 0.0;
    for (int k = 0; k <= j; ++k) w->g[i][j] += coupling[k] * w->w[kg_packed_entry(j, k)];
  }
  for (int j = 0; j < m; ++j) {
    double sum = 0.0;
    for (int k = j; k < m; ++k) sum += w->g[i][k] * w->w[kg_packed_entry(k, j)];
    out[j] = (float)sum;
  }
}

static void make_factor(const kg_line_factor_args *a, int32_t line, int32_t step, step_work *w)
{
  const int m = a->batch.m;
  const int32_t *edge = a->lines.edge + step;
  const kg_side *sides = a->batch.arrays.edge_sides;
  float *out = a->factor + kg_line_factor_at(m, line, step);
  kg_side side[2];
  kg_line_sides(sides + 2 * (int64_t)edge[-1], sides + 2 * (int64_t)edge[0], side);
  for (int i = 0; i < m; ++i) make_row(a, side, i, w, out + i * m);
}

/// Make W of a step; false: it does not exist.
static bool make_block(const kg_line_factor_args *a, int32_t edge, bool first, step_work *w)
{
  const int m = a->batch.m;
  double *d = w->w;
  for (int k = 0; k < m * (m + 1) / 2; ++k) d[k] = 0.0;
  kg_edge_block_of(&a->locals, m, a->batch.arrays.edge_sides + 2 * (int64_t)edge, d);
  for (int i = 0; i < m && !first; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k < m; ++k) d[kg_packed_entry(i, j)] -= w->g[i][k] * w->g[j][k];
  const bool good = kg_edge_block_invert(m, a->number, d);
  float *out = a->inverse + kg_edge_block_at(m, edge);
  for (int k = 0; k < m * (m + 1) / 2; ++k) out[k * KG_LANES] = (float)d[k];
  return good;
}

kedge_status kg_line_factor_host(kedge_context *ctx, const kg_line_factor_args *a)
{
  const int m = a->batch.m;
  const int threads = kg_loop_threads(ctx, a->lines.n_steps, 2 * m * m * m);
  int32_t fault = *a->fault;
#pragma omp parallel for schedule(dynamic, 16) reduction(min : fault) num_threads(threads)
  for (int32_t line = 0; line < a->lines.n_lines; ++line) {
    step_work w;
    const int32_t begin = a->lines.begin[line], end = a->lines.begin[line + 1];
    for (int32_t step = begin; step < end; ++step) {
      const int32_t edge = a->lines.edge[step];
      if (step > begin) make_factor(a, line, step, &w);
      if (!make_block(a, edge, step == begin, &w) && edge < fault) fault = edge;
    }
  }
  *a->fault = fault;
  return KEDGE_OK;
}

kedge_status kg_line_factor(kedge_context *ctx, const kg_line_factor_args *args)
{
  KG_TRY(kg_fault_clear(ctx, args->fault));
  KG_TRY(KG_IMPLEMENTATION(ctx, kg_line_factor_host, kg_line_factor_cuda)(ctx, args));
  return kg_edge_blocks_check(ctx, &args->batch, args->number, args->fault);
}

/// A step reads three blocks of K^e and the edge and writes L and W. It takes three products with a
/// triangular matrix and the inverse of a factor.
kg_cost kg_line_factor_cost(int m, int32_t n_steps, kg_number local)
{
  const double square = m * m, packed = m * (m + 1) / 2, steps = n_steps;
  const double from = (double)kg_number_bytes(local);
  return (kg_cost){
      .bytes = steps * (from * (2.0 * packed + square) + sizeof(float) * (packed + square) + 12.0),
      .flops = steps * 11.0 / 3.0 * m * m * m};
}
