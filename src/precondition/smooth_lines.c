// A step of smoothing with A along lines of edges across stretched triangles, and the blocks of
// other edges.
#include "device/context.h"
#include "precondition/smoother.h"
#include "ops/smooth/edge_smooth.h"
#include "ops/smooth/smooth_vectors.h"

static kedge_status make(kedge_context *ctx, const kg_smoother *s, const kg_batch *batch,
                         const kg_locals *locals, int32_t *fault)
{
  KG_TRY(kg_smooth_edges.make(ctx, s, batch, locals, fault));
  return kg_line_factor(ctx, &(kg_line_factor_args){.batch = *batch,
                                                    .locals = *locals,
                                                    .lines = s->lines,
                                                    .number = s->number,
                                                    .inverse = s->inverse,
                                                    .factor = s->factor,
                                                    .fault = fault});
}

static kg_cost make_cost(const kg_smoother *s, kg_number local)
{
  return kg_cost_plus(kg_smooth_edges.make_cost(s, local), 1,
                      kg_line_factor_cost(s->m, s->lines.n_steps, local));
}

/// Apply to x in place: L^-1 along the lines, D^-1 = W^T W everywhere, L^-T along the lines.
static kedge_status invert(kedge_context *ctx, const kg_smoother *s, void *x)
{
  kg_line_sweep_args sweep = {
      .m = s->m, .lines = s->lines, .number = s->number, .factor = s->factor, .x = x};
  KG_TRY(kg_line_sweep(ctx, &sweep));
  KG_TRY(kg_edge_smooth(ctx, &(kg_edge_smooth_args){.m = s->m,
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

/// B^-1 works in place in the product.
static kedge_status step(kedge_context *ctx, const kg_smoother *s, const kg_smoother_args *a)
{
  const kg_smooth_vectors_args vectors = {.n = (int64_t)s->count.n_free * s->m,
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
  KG_TRY(kg_smooth_residual(ctx, &vectors));
  KG_TRY(invert(ctx, s, a->product));
  return kg_smooth_advance(ctx, &vectors);
}

static kg_cost step_cost(const kg_smoother *s)
{
  const int64_t rows = (int64_t)s->count.n_free * s->m;
  kg_cost sum = kg_smooth_vectors_cost(rows, s->number);
  sum = kg_cost_plus(sum, 1, kg_smooth_edges.step_cost(s));
  return kg_cost_plus(sum, 2, kg_line_sweep_cost(s->m, s->lines.n_steps, s->number));
}

/// Lines are long, and add up what halves would lose.
const kg_smoother_table kg_smooth_lines = {
    .make = make,
    .make_cost = make_cost,
    .step = step,
    .step_cost = step_cost,
    .bound = kg_smooth_facets_bound,  // 2 for elements with a pair: two parts
    .share = {0.95, 0.85},
    .has_lines = true};
