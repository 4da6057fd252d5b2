#include "multigrid/smoother.h"

#include <math.h>

#include "core/context.h"
#include "ops/edge_blocks.h"
#include "ops/edge_smooth.h"
#include "ops/smooth_vectors.h"
#include "ops/vertex_transfer.h"

kg_block_form kg_smoother_form(kedge_smoother kind, kg_number local)
{
  return kind == KEDGE_SMOOTHER_EDGE && local == KG_SINGLE ? KG_BLOCK_HALF : KG_BLOCK_FACTOR;
}

bool kg_smoother_has_lines(kedge_smoother kind)
{
  return kind == KEDGE_SMOOTHER_LINE;
}

kedge_status kg_smoother_make(kedge_context *ctx, const kg_smoother *s, const kg_batch *batch,
                              const kg_locals *locals, int32_t *fault)
{
  KG_TRY(kg_edge_blocks(ctx, &(kg_edge_blocks_args){.batch = *batch,
                                                    .locals = *locals,
                                                    .number = s->number,
                                                    .form = s->form,
                                                    .inverse = s->inverse,
                                                    .fault = fault}));
  if (s->kind == KEDGE_SMOOTHER_EDGE) return KEDGE_OK;
  return kg_line_factor(ctx, &(kg_line_factor_args){.batch = *batch,
                                                    .locals = *locals,
                                                    .lines = s->lines,
                                                    .number = s->number,
                                                    .inverse = s->inverse,
                                                    .factor = s->factor,
                                                    .fault = fault});
}

kg_cost kg_smoother_make_cost(kedge_smoother kind, kg_sizes size, const kg_trace_counts *count,
                              int32_t n_steps, kg_number local)
{
  const kg_block_form form = kg_smoother_form(kind, local);
  const kg_cost sum = kg_edge_blocks_cost(size, count, local, kg_block_number_bytes(form));
  return kg_cost_plus(sum, 1, kg_line_factor_cost(size, n_steps, local));
}

double kg_smoother_estimate(kedge_smoother kind, int order, double alignment)
{
  const double by_lines = order < 5 ? 0.95 : 0.85;
  const double share = kind == KEDGE_SMOOTHER_LINE ? by_lines : 0.92;
  return share * fmax(2.0, 0.85 * (1.5 + 0.5 * alignment));
}

static kedge_status step_by_edges(kedge_context *ctx, const kg_smoother *s,
                                  const kg_smoother_args *a)
{
  return kg_edge_smooth(ctx, &(kg_edge_smooth_args){.size = s->size,
                                                    .n_edges = s->count.n_free,
                                                    .number = s->number,
                                                    .inverse = s->inverse,
                                                    .form = s->form,
                                                    .r = a->r,
                                                    .product = a->from_zero ? NULL : a->product,
                                                    .again = a->again,
                                                    .z = a->z,
                                                    .correction = a->correction,
                                                    .modes = a->modes,
                                                    .d = a->d,
                                                    .step = a->step,
                                                    .momentum = a->momentum,
                                                    .sum = a->sum});
}

static kedge_status add_correction(kedge_context *ctx, const kg_smoother *s,
                                   const kg_smoother_args *a)
{
  if (!a->correction.coarse) return KEDGE_OK;
  return kg_vertex_prolong(ctx, &(kg_vertex_prolong_args){.correction = a->correction,
                                                          .size = s->size,
                                                          .number = s->number,
                                                          .z = a->z,
                                                          .product = a->product});
}

/// Multiplies by B^-1 in place: L^-1 along the lines, D^-1 = W^T W everywhere, L^-T along the
/// lines.
static kedge_status invert_lines(kedge_context *ctx, const kg_smoother *s, void *x)
{
  kg_line_sweep_args sweep = {
      .size = s->size, .lines = s->lines, .number = s->number, .factor = s->factor, .x = x};
  KG_TRY(kg_line_sweep(ctx, &sweep));
  KG_TRY(kg_edge_smooth(ctx, &(kg_edge_smooth_args){.size = s->size,
                                                    .n_edges = s->count.n_free,
                                                    .number = s->number,
                                                    .inverse = s->inverse,
                                                    .form = s->form,
                                                    .r = x,
                                                    .z = x,
                                                    .step = 1.0}));
  sweep.backward = true;
  return kg_line_sweep(ctx, &sweep);
}

/// Lines are inverted in place in the product.
static kedge_status step_by_lines(kedge_context *ctx, const kg_smoother *s,
                                  const kg_smoother_args *a)
{
  const kg_smooth_vectors_args vectors = {.n = (int64_t)s->count.n_free * s->size.n_edge,
                                          .number = s->number,
                                          .r = a->r,
                                          .product = a->from_zero ? NULL : a->product,
                                          .v = a->product,
                                          .y = a->product,
                                          .z = a->z,
                                          .d = a->d,
                                          .step = a->step,
                                          .momentum = a->momentum,
                                          .from_zero = a->from_zero,
                                          .sum = a->sum};
  KG_TRY(add_correction(ctx, s, a));
  KG_TRY(kg_smooth_residual(ctx, &vectors));
  KG_TRY(invert_lines(ctx, s, a->product));
  return kg_smooth_advance(ctx, &vectors);
}

kedge_status kg_smoother_step(kedge_context *ctx, const kg_smoother *s, const kg_smoother_args *a)
{
  return s->kind == KEDGE_SMOOTHER_EDGE ? step_by_edges(ctx, s, a) : step_by_lines(ctx, s, a);
}

kg_cost kg_smoother_step_cost(kedge_smoother kind, kg_sizes size, const kg_trace_counts *count,
                              int32_t n_steps, kg_number local, kg_number number)
{
  const kg_cost by_edges = kg_edge_smooth_cost(size, count, kg_smoother_form(kind, local), number);
  if (kind == KEDGE_SMOOTHER_EDGE) return by_edges;
  const kg_cost vectors = kg_smooth_vectors_cost((int64_t)count->n_free * size.n_edge, number);
  return kg_cost_plus(kg_cost_plus(vectors, 1, by_edges), 2,
                      kg_line_sweep_cost(size, n_steps, number));
}
