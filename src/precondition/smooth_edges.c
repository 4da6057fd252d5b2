// A step of smoothing with the blocks of the edges, all of it in one pass.
#include "device/context.h"
#include "precondition/smoother.h"
#include "ops/smooth/edge_smooth.h"

static kedge_status make(kedge_context *ctx, const kg_smoother *s, const kg_batch *batch,
                         const kg_locals *locals, int32_t *fault)
{
  return kg_edge_blocks(ctx, &(kg_edge_blocks_args){.batch = *batch,
                                                    .locals = *locals,
                                                    .number = s->number,
                                                    .form = s->form,
                                                    .inverse = s->inverse,
                                                    .fault = fault});
}

static kg_cost make_cost(const kg_smoother *s, kg_number local)
{
  return kg_edge_blocks_cost(s->m, &s->count, local, kg_block_number_bytes(s->form));
}

static kedge_status step(kedge_context *ctx, const kg_smoother *s, const kg_smoother_args *a)
{
  return kg_edge_smooth(ctx, &(kg_edge_smooth_args){.m = s->m,
                                                    .n_edges = s->count.n_free,
                                                    .number = s->number,
                                                    .inverse = s->inverse,
                                                    .form = s->form,
                                                    .r = a->r,
                                                    .advance = a->advance,
                                                    .product = a->from_zero ? NULL : a->product,
                                                    .again = a->again,
                                                    .z = a->z,
                                                    .correction = a->correction,
                                                    .modes = a->modes,
                                                    .d = a->d,
                                                    .step = a->step,
                                                    .momentum = a->momentum,
                                                    .sum = a->sum,
                                                    .many = a->many});
}

static kg_cost step_cost(const kg_smoother *s)
{
  return kg_edge_smooth_cost(s->m, &s->count, s->form, s->number);
}

double kg_smooth_facets_bound(const kg_trace_counts *count)
{
  return kg_most_facets(&count->lanes);
}

/// Steps with vertex modes save iterations from order 5 on (docs/multigrid.md).
const kg_smoother_table kg_smooth_edges = {.make = make,
                                           .make_cost = make_cost,
                                           .step = step,
                                           .step_cost = step_cost,
                                           .bound = kg_smooth_facets_bound,
                                           .share = {0.92, 0.92},
                                           .halves = true,
                                           .corrects = true,
                                           .repeats = true,
                                           .takes_many = true,
                                           .modes_order_min = 5};
