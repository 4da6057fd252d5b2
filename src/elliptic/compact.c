#include "elliptic/compact.h"

#include "device/context.h"
#include "core/nvtx.h"
#include "ops/local/triangle/batch_part.h"
#include "ops/vector/difference.h"
#include "ops/local/convert.h"
#include "ops/vector/round.h"
#include "ops/trace/trace_loads.h"
#include "ops/trace/trace_sides.h"

/// Some patches of a batch.
typedef struct chunk {
  kg_chunk groups;
  kg_batch batch;  ///< of the product
  kg_elements elements;
  kg_local local;  ///< K^e
} chunk;

/// Return the bytes of the memory for K^e of a chunk. It holds values of the source before, which
/// need more than reduced K^e for a single group at orders 1 and 2.
static size_t local_bytes(const kg_shape *s)
{
  const size_t lanes = KG_LANES * (size_t)s->choice.residual_groups, d = sizeof(double);
  const size_t local = kg_shape_most_local_rows(s) * lanes * d;
  const size_t values = (size_t)kg_shape_source_points(s) * KG_LANES * d;
  return local > values ? local : values;
}

void kg_compact_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const size_t lanes = KG_LANES * (size_t)s->choice.residual_groups, d = sizeof(double);
  const unsigned sampled = s->choice.repeats ? KG_IN(LOADS) : KG_IN(TRANSFER);
  const unsigned makes = KG_IN(LOCAL) | KG_IN(RESIDUAL) | kg_phase_of_b(&s->choice) | KG_ANEW;
  if (s->choice.iterates == KG_DOUBLE) return;
  kg_plan_array(plan, "loads of a chunk", kg_shape_most_rows(s, KG_ROWS_MODES) * lanes, d,
                makes | sampled, &a->chunk_load);
  kg_plan_array(plan, "F^e of a chunk", kg_shape_most_rows(s, KG_ROWS_TRACE) * lanes, d, makes,
                &a->chunk_condensed);
  kg_plan_array(plan, "coefficients of a chunk",
                KG_CELL_FUNCTIONS * (size_t)kg_shape_value_points(s) * lanes, d, makes,
                &a->chunk_coefficients);
  kg_plan_array(plan, "K^e of a chunk", local_bytes(s), 1, makes | sampled, &a->chunk_local);
  kg_plan_array(plan, "sides of a chunk",
                s->choice.sides_stay ? 0 : kg_shape_most_rows(s, KG_ROWS_SIDES) * lanes,
                sizeof *a->chunk_sides, KG_IN(RESIDUAL), &a->chunk_sides);
}

/// Advance to the next chunk of K^e. A chunk of zeros stands before the first one.
/// @return false: there is no chunk left
static bool next_chunk(const kg_elliptic *p, chunk *c)
{
  if (!kg_next_chunk(p, p->shape.choice.residual_groups, &c->groups)) return false;
  const int32_t of_patch = p->shape.count.patch_groups, first = c->groups.first;
  const kg_local all = kg_shape_made_locals(&p->shape).local[c->groups.batch];
  const kg_batch whole = kg_batch_of_local(&p->space.batch, &all);
  c->batch = kg_batch_part(&whole, first / of_patch, (c->groups.n + of_patch - 1) / of_patch);
  c->elements = kg_elements_part(&p->elements[c->groups.batch], first, c->groups.n);
  c->elements.batch = c->batch;
  c->local = all;
  c->local.data = p->arrays.chunk_local;
  c->local.first_lane += first * KG_LANES;
  c->local.n_lanes = c->batch.count.n_groups * KG_LANES;
  c->local.n_elements = c->elements.n_elements;
  return true;
}

/// The sides of a chunk, where they have left memory for the trace solve.
static kedge_status make_sides(kg_elliptic *p, chunk *c)
{
  uint32_t *const sides = p->arrays.chunk_sides;
  if (p->shape.choice.sides_stay) return KEDGE_OK;
  c->elements.batch.arrays.side_edge = c->elements.cells.side_edge = sides;
  return kg_trace_sides(p->ctx, &(kg_trace_sides_args){c->batch, sides});
}

static kedge_status make_local(kg_elliptic *p, const chunk *c)
{
  const kg_arrays *const a = &p->arrays;
  kg_coefficient coefficient;
  KG_TRY(kg_coefficients_put(&p->coefficients, c->groups.batch, c->groups.first,
                             c->batch.count.n_groups, a->chunk_coefficients, &coefficient));
  return p->equation.form->make(p->ctx, &c->elements, &coefficient, a->chunk_load, c->local,
                                a->chunk_condensed);
}

/// K^e of a chunk in single precision, in the form of the trace solve.
static kedge_status keep_local(kg_elliptic *p, const chunk *c)
{
  const kg_local all = kg_elliptic_locals(p).local[c->groups.batch];
  return kg_local_convert(
      p->ctx,
      &(kg_local_convert_args){.m = p->shape.m,
                               .from = c->local,
                               .to = kg_local_part(&all, c->local.first_lane, c->local.n_lanes)});
}

/// Compute the load vectors of a chunk. The values of the source are put in the memory for K^e,
/// which is computed later. All of it is used: values of a small chunk may be larger than its K^e.
static kedge_status make_loads(kg_elliptic *p, const chunk *c)
{
  const kg_buffer values = {c->local.data, local_bytes(&p->shape)};
  return kg_source_loads(&p->source, c->groups.batch, c->groups.first, c->batch.count.n_groups,
                         values, p->arrays.chunk_load);
}

kedge_status kg_compact_look(kg_elliptic *p)
{
  kedge_status status = KEDGE_OK;
  if (!kg_source_moves(&p->source)) return KEDGE_OK;
  kg_source_look(&p->source);
  for (chunk c = {0}; status == KEDGE_OK && next_chunk(p, &c);) status = make_loads(p, &c);
  if (status == KEDGE_OK) status = kg_source_refine(&p->source, &p->loads_left);
  kg_sampler_rest(&p->source.sampler);
  return status;
}

/// What K^e of all chunks are made for.
typedef struct purpose {
  const double *x;
  double *y;   ///< A x, with `loads` less b; without x 0 or -b; NULL: no vector is made
  bool loads;  ///< load vectors are made; else they are zero
  bool keeps;  ///< K^e stay, in single precision
} purpose;

/// Add the contribution of a chunk to y = A x - b, in double precision. Reduced K^e are used where
/// possible: the product of packed K^e with a constant is not exactly zero, because of rounding.
static kedge_status make_chunk(kg_elliptic *p, chunk *c, purpose to)
{
  kg_open open;  // subtract() knows which rows are
  const kg_trace_apply_args args = {.batch = c->batch,
                                    .local = c->local,
                                    .x = to.x,
                                    .y = to.y,
                                    .halo = p->arrays.iteration.halo,
                                    .pass.open = &open};
  if (to.loads) KG_TRY(make_loads(p, c));
  KG_TRY(make_local(p, c));
  if (to.keeps) KG_TRY(keep_local(p, c));
  if (to.x) KG_TRY(kg_trace_apply(p->ctx, &args));
  if (!to.loads) return KEDGE_OK;
  return kg_trace_loads(p->ctx, &(kg_trace_loads_args){args, p->arrays.chunk_condensed});
}

/// y = 0, with the rows between patches that are left open.
static kedge_status clear(kg_elliptic *p, double *y)
{
  const kg_buffer halo = kg_plan_buffer(&p->plan, &p->arrays.iteration.halo);
  KG_TRY(kg_zero(p->ctx, y, (size_t)p->shape.count.n_free * (size_t)p->shape.m * sizeof *y));
  return kg_zero(p->ctx, halo.data, halo.bytes);
}

/// Make the K^e of all chunks. Rows of y between patches are left open.
static kedge_status make_all(kg_elliptic *p, purpose to)
{
  const kg_buffer load = kg_plan_buffer(&p->plan, &p->arrays.chunk_load);
  if (to.y && !to.x) KG_TRY(clear(p, to.y));
  if (!to.loads) KG_TRY(kg_zero(p->ctx, load.data, load.bytes));
  for (chunk c = {0}; next_chunk(p, &c);) {
    if (!to.keeps) KG_TRY(make_sides(p, &c));
    KG_TRY(make_chunk(p, &c, to));
    KG_TRY(kg_run_announce(&p->run, p->run.stage, false));
  }
  return to.loads ? kg_add_neumann(p, to.y, -1.0) : KEDGE_OK;
}

/// Compute r = b - r, and complete the rows of r between two patches, which are not summed yet.
/// @param[in] b  NULL: zero
static kedge_status subtract(kg_elliptic *p, const double *b, double *r, kg_sum sum)
{
  const kg_trace_counts *n = &p->shape.count;
  const int64_t m = p->shape.m;
  return kg_difference(p->ctx, &(kg_difference_args){.n = n->n_free * m,
                                                     .b = b,
                                                     .r = r,
                                                     .open = {n->n_interior * m, n->n_shared * m,
                                                              p->arrays.iteration.halo},
                                                     .sum = sum});
}

kg_cost kg_elliptic_make_cost(const kg_elliptic *p)
{
  const kg_locals locals = kg_shape_made_locals(&p->shape);
  kg_cost sum = {0};
  for (int i = 0; i < locals.n_locals; ++i)
    sum =
        kg_cost_plus(sum, 1, p->equation.form->make_cost(&p->elements[i], locals.local[i].layout));
  return sum;
}

/// Make K^e and b. Its bits do not depend on the chunks: a row is a sum of two numbers.
static kedge_status make_right_side(kg_elliptic *p, bool keeps)
{
  const kg_arrays *a = &p->arrays;
  const kedge_status status = make_all(p, (purpose){.y = a->b, .loads = true, .keeps = keeps});
  kg_sampler_rest(&p->source.sampler);
  kg_run_cost(&p->run, kg_trace_loads_cost(p->shape.m, &p->shape.count), 1.0);
  kg_run_cost(&p->run, kg_round_cost((int64_t)p->shape.count.n_free * p->shape.m), 1.0);
  KG_TRY(status);
  return subtract(p, NULL, a->b, a->iteration.method.base.sum);
}

kedge_status kg_compact_local_matrices(kg_elliptic *p)
{
  const kg_locals made = kg_shape_made_locals(&p->shape), kept = kg_shape_locals(&p->shape);
  for (int i = 0; i < made.n_locals; ++i)
    kg_run_cost(&p->run,
                kg_local_convert_cost(&made.local[i], &kept.local[i], made.local[i].n_elements),
                1.0);
  const bool has_right_side = p->shape.choice.residual == KG_REMADE && !p->repeats;
  return has_right_side ? make_right_side(p, true) : make_all(p, (purpose){.keeps = true});
}

kedge_status kg_compact_condense(kg_elliptic *p)
{
  if (p->shape.choice.residual == KG_REMADE_WITH_LOADS) return KEDGE_OK;
  kg_run_cost(&p->run, kg_elliptic_make_cost(p), 1.0);
  return make_right_side(p, false);
}

static kedge_status make_residual(kedge_context *ctx, kg_residual *base, const double *x, double *r,
                                  kg_sum sum)
{
  kg_elliptic *p = ((kg_remade_residual *)base)->elliptic;
  const bool loads = p->shape.choice.residual == KG_REMADE_WITH_LOADS;
  (void)ctx;
  kg_range_push("residual", p->mesh->n_elements, (int64_t)p->shape.count.n_free * p->shape.m);
  kedge_status status =
      x || loads ? make_all(p, (purpose){.x = x, .y = r, .loads = loads}) : clear(p, r);
  if (status == KEDGE_OK) status = subtract(p, p->arrays.b, r, sum);
  kg_range_pop();
  return status;
}

static kg_cost cost(const kg_residual *base)
{
  const kg_elliptic *p = ((const kg_remade_residual *)base)->elliptic;
  const kg_trace_counts *n = &p->shape.count;
  const kg_locals locals = kg_shape_made_locals(&p->shape);
  const double loads = p->shape.choice.residual == KG_REMADE_WITH_LOADS ? 1.0 : 0.0;
  kg_cost sum = kg_cost_plus(kg_round_cost((int64_t)n->n_free * p->shape.m), 1,
                             kg_trace_product_cost(p->shape.m, n, &locals));
  sum = kg_cost_plus(sum, 1, kg_elliptic_make_cost(p));
  sum = kg_cost_plus(sum, 1, kg_trace_sides_cost(n));
  return kg_cost_plus(sum, loads, kg_trace_loads_cost(p->shape.m, n));
}

kg_remade_residual kg_remade_residual_of(kg_elliptic *p)
{
  return (kg_remade_residual){{make_residual, cost}, p};
}
