// A cycle of multigrid: what of it is work on the trace.
#include "precondition/multigrid.h"

#include "device/context.h"
#include "core/nvtx.h"
#include "ops/vector/round.h"
#include "ops/smooth/vertex_transfer.h"

/// What a cycle on the trace works with.
typedef struct cycle {
  const kg_patches *a;
  const kg_multigrid_vectors *v;
} cycle;

static kedge_status multiply(kedge_context *ctx, const cycle *c)
{
  return c->a->base.table->apply(ctx, &c->a->base, c->v->z, c->v->product, &(kg_pass){0});
}

/// The vertex modes that a step has to move: of r - A z, with the product at hand, or of r.
static kedge_status find_modes(kedge_context *ctx, const kg_multigrid *m, const cycle *c,
                               bool from_zero)
{
  if (!m->modes.value) return KEDGE_OK;
  return kg_vertex_modes_restrict(
      ctx, &(kg_vertex_modes_restrict_args){.modes = m->modes,
                                            .size = m->shape.size,
                                            .n_edges = m->shape.count.n_free,
                                            .number = m->shape.number,
                                            .r = c->v->r,
                                            .product = from_zero ? NULL : c->v->product});
}

/// How a smoothing begins and ends.
typedef struct smoothing {
  kg_phase phase;                   ///< of its products
  bool from_zero;                   ///< z is zero; else the product is at hand
  kg_vertex_correction correction;  ///< of z and of the product, still to be added
  kg_sum sum;                       ///< of r . z, made by the last step
} smoothing;

/// z and the product are corrected, in a pass of its own.
static kedge_status add_correction(kedge_context *ctx, const kg_multigrid *m, const cycle *c,
                                   kg_vertex_correction *correction)
{
  if (!correction->coarse) return KEDGE_OK;
  KG_TRY(kg_vertex_prolong(ctx, &(kg_vertex_prolong_args){.correction = *correction,
                                                          .size = m->shape.size,
                                                          .number = m->shape.number,
                                                          .z = c->v->z,
                                                          .product = c->v->product}));
  correction->coarse = NULL;
  return KEDGE_OK;
}

/// Steps of Chebyshev's iteration of the fourth kind, which needs no smallest eigenvalue (Lottes,
/// Optimal polynomial smoothers for multigrid V-cycles, 2023); a step alone is 9/8 of it, the best
/// there is for one.
static kedge_status smooth(kedge_context *ctx, const kg_multigrid *m, const cycle *c, smoothing how)
{
  const kg_smoother_table *table = m->smoother.table;
  const int steps = m->shape.smoothing_steps;
  const double scale = (steps == 1 ? 1.125 : 1.0) / m->largest_eigenvalue;
  KG_TRY(find_modes(ctx, m, c, how.from_zero));  // a correction that is not in the product has none
  if (!table->corrects) KG_TRY(add_correction(ctx, m, c, &how.correction));
  for (int i = 1; i <= steps; ++i) {
    if (i > 1) {
      KG_TRY(kg_plan_enter(ctx, m->plan, how.phase));
      KG_TRY(multiply(ctx, c));
    }
    const kg_smoother_args args = {
        .r = c->v->r,
        .product = c->v->product,
        .correction = how.correction,
        .modes = m->modes,
        .from_zero = how.from_zero && i == 1,
        .again = !how.from_zero && kg_multigrid_repeats(&m->shape),
        .z = c->v->z,
        .d = m->d,
        .step = scale * (8 * i - 4) / (2 * i + 1),
        .momentum = i == 1 ? 0.0 : (2.0 * i - 3) / (2 * i + 1),
        .sum = i == steps ? how.sum : (kg_sum){0},
    };
    KG_TRY(table->step(ctx, &m->smoother, &args));
    how.correction.coarse = NULL;
  }
  return KEDGE_OK;
}

/// c = C P^T (r - A z), with the product at hand.
static kedge_status solve_coarse(kedge_context *ctx, const kg_multigrid *m, const cycle *c,
                                 bool well, kg_vertex_correction *out)
{
  *out = (kg_vertex_correction){0};
  if (!m->coarse) return kg_plan_enter(ctx, m->plan, KG_PHASE_UP);
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_RESTRICT));
  KG_TRY(kg_vertex_restrict(ctx, &(kg_vertex_restrict_args){.space = m->space,
                                                            .size = m->shape.size,
                                                            .number = m->shape.number,
                                                            .r = c->v->r,
                                                            .product = c->v->product,
                                                            .coarse = m->residual}));
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_COARSE));
  kg_range_push("coarse_solve", m->shape.count.n_elements, m->space.n_rows);
  const kedge_status status = m->solver->solve(ctx, m->coarse, well, m->residual, m->correction);
  kg_range_pop();
  *out = (kg_vertex_correction){.space = m->space,
                                .diffusion = m->shape.diffusion,
                                .n_edges = m->shape.count.n_free,
                                .coarse = m->correction};
  return status == KEDGE_OK ? kg_plan_enter(ctx, m->plan, KG_PHASE_CORRECT) : status;
}

/// Adds the correction: with a reaction z += P c and its product from scratch, and nothing is left
/// to be added.
static kedge_status correct(kedge_context *ctx, const kg_multigrid *m, const cycle *c,
                            kg_vertex_correction *correction)
{
  KG_TRY(kg_vertex_spread(ctx, &(kg_vertex_spread_args){.space = m->space,
                                                        .size = m->shape.size,
                                                        .number = m->shape.number,
                                                        .column = m->matrix.column,
                                                        .coarse = correction->coarse,
                                                        .z = c->v->z}));
  correction->coarse = NULL;
  KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_UP));
  return multiply(ctx, c);
}

static kedge_status apply_blocks(kedge_context *ctx, const kg_multigrid *m, const cycle *c)
{
  return m->smoother.table->step(ctx, &m->smoother,
                                 &(kg_smoother_args){.r = c->v->r,
                                                     .product = c->v->product,
                                                     .from_zero = true,
                                                     .z = c->v->z,
                                                     .step = 1.0,
                                                     .sum = c->v->sum});
}

kedge_status kg_multigrid_apply(kedge_context *ctx, const kg_multigrid *m, bool well,
                                const kg_patches *a, const kg_multigrid_vectors *v)
{
  const cycle c = {a, v};
  kg_vertex_correction correction;
  if (m->shape.smoothing_steps == 0) return apply_blocks(ctx, m, &c);
  KG_TRY(smooth(ctx, m, &c, (smoothing){.phase = KG_PHASE_DOWN, .from_zero = true}));
  KG_TRY(multiply(ctx, &c));
  KG_TRY(solve_coarse(ctx, m, &c, well, &correction));
  if (correction.coarse && !kg_multigrid_is_reduced(&m->shape))
    KG_TRY(correct(ctx, m, &c, &correction));
  return smooth(ctx, m, &c,
                (smoothing){.phase = KG_PHASE_UP, .correction = correction, .sum = v->sum});
}

kedge_status kg_multigrid_apply_blocks(kedge_context *ctx, const kg_multigrid *m,
                                       const kg_patches *a, const kg_multigrid_vectors *v)
{
  const cycle c = {a, v};
  return apply_blocks(ctx, m, &c);
}

/// The cost of a cycle, without that of rounding the residual at its begin.
static kg_cost cycle_cost(const kg_multigrid_shape *s, kg_cost step)
{
  const bool reduced = kg_multigrid_is_reduced(s);
  const double k = s->smoothing_steps, products = reduced ? 2 * k - 1 : 2 * k;
  const kg_locals locals = kg_multigrid_cycle_locals(s);
  const kg_cost product = kg_trace_product_cost(s->size, &s->count, &locals);
  kg_cost sum = kg_cost_plus((kg_cost){0}, products, product);
  sum = kg_cost_plus(sum, 2 * k, step);
  sum = kg_cost_plus(sum, 1, kg_vertex_transfer_cost(&s->count, s->n_vertices, s->number));
  if (kg_multigrid_repeats(s))  // z is not read
    sum.bytes -= (double)kg_number_bytes(s->number) * s->size.n_edge * s->count.n_free;
  if (reduced)  // the second side of an edge, elements and vertices, once
    sum.bytes += 4.0 * s->count.n_free + 12.0 * s->count.n_elements + 24.0 * s->n_vertices;
  else  // the other vertices of the ends of edges, and where a vertex's begin
    sum.bytes += 8.0 * s->count.n_free + 4.0 * s->n_vertices;
  if (!kg_multigrid_has_vertex_modes(s)) return sum;
  // of r - A z, and of r, which counts as much
  return kg_cost_plus(sum, 2,
                      kg_vertex_modes_restrict_cost(s->size, &s->count, s->n_vertices, s->number));
}

kg_cost kg_multigrid_apply_cost(const kg_multigrid_shape *s)
{
  const kg_smoother_table *table = kg_smoother_table_of(s->smoother);
  const kg_cost step =
      table->step_cost(s->size, &s->count, s->n_line_steps, s->locals.local[0].number, s->number);
  kg_cost sum = s->smoothing_steps > 0 ? cycle_cost(s, step) : step;
  if (kg_multigrid_has_copies(s))
    sum.bytes += kg_round_cost((int64_t)s->count.n_free * s->size.n_edge).bytes;
  return sum;
}
