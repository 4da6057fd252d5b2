// A step of smoothing with the blocks of the edges, all of it in one pass.
#include "device/context.h"
#include "precondition/smoother.h"
#include "ops/smooth/edge_smooth.h"

static kg_block_form form(kg_number local)
{
  return local == KG_SINGLE ? KG_BLOCK_HALF : KG_BLOCK_FACTOR;
}

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

static kg_cost make_cost(kg_sizes size, const kg_trace_counts *count, int32_t n_steps,
                         kg_number local)
{
  (void)n_steps;
  return kg_edge_blocks_cost(size, count, local, kg_block_number_bytes(form(local)));
}

static kedge_status step(kedge_context *ctx, const kg_smoother *s, const kg_smoother_args *a)
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

static kg_cost step_cost(kg_sizes size, const kg_trace_counts *count, int32_t n_steps,
                         kg_number local, kg_number number)
{
  (void)n_steps;
  return kg_edge_smooth_cost(size, count, form(local), number);
}

/// Steps with vertex modes save iterations from this order on (docs/multigrid.md).
enum { MODES_ORDER_MIN = 5 };

double kg_smooth_facets_bound(const kg_trace_counts *count)
{
  return count->n_wide_groups > 0 ? 4.0 : 3.0;
}

const kg_smoother_table kg_smooth_edges = {.make = make,
                                           .make_cost = make_cost,
                                           .form = form,
                                           .step = step,
                                           .step_cost = step_cost,
                                           .bound = kg_smooth_facets_bound,
                                           .share = {0.92, 0.92},
                                           .corrects = true,
                                           .repeats = true,
                                           .modes_order_min = MODES_ORDER_MIN};
