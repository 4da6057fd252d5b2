// Local matrices and, of load vectors, the right-hand side of the trace.
#include "elliptic/compact.h"
#include "ops/trace/facet_sum.h"

/// Return the number of groups whose F^e are computed at once in a solve after a set-up. Their K^e,
/// made for this, take no more memory than a chunk of the local solve.
static int32_t condensed_groups(const kg_shape *s)
{
  const size_t chunk = kg_shape_most_rows(s, KG_ROWS_MODES) + kg_shape_most_rows(s, KG_ROWS_FLUX) +
                       kg_shape_most_rows(s, KG_ROWS_STAR);
  const size_t n = (size_t)s->choice.recover_groups * chunk / kg_shape_most_local_rows(s);
  return n < (size_t)s->choice.recover_groups ? (int32_t)n + 1 : s->choice.recover_groups;
}

void kg_local_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_choice *c = &s->choice;
  const kg_locals locals = kg_shape_locals(s);
  const bool compact = c->iterates == KG_SINGLE;
  const size_t rows = (size_t)s->count.n_free * (size_t)s->size.n_edge, d = sizeof(double);
  const unsigned kept = KG_FROM(LOCAL, STEP), condenses = c->repeats ? KG_IN(CONDENSE) : 0;
  // Once another form of the operator stands, packed K^e are gone.
  const bool stays = c->linear == KEDGE_OPERATOR_MATRIX_FREE;
  kg_plan_array(plan, "K^e", kg_locals_bytes(&locals), 1,
                stays ? kept : KG_IN(LOCAL) | KG_IN(ASSEMBLY), &a->local);
  kg_robin_declare(plan, s, &a->robin);
  kg_plan_array(plan, "F^e", compact ? 0 : kg_shape_numbers(s, KG_ROWS_TRACE, s->n_batches), d,
                KG_IN(LOCAL) | condenses | KG_ANEW, &a->condensed);
  kg_plan_array(plan, "K^e of loads",
                c->repeats && !compact
                    ? kg_shape_most_local_rows(s) * KG_LANES * (size_t)condensed_groups(s)
                    : 0,
                d, KG_IN(CONDENSE), &a->load_local);
  kg_plan_array(plan, "b", c->residual == KG_REMADE_WITH_LOADS ? 0 : rows, d,
                c->repeats ? condenses | KG_IN_SOLVE : kept, &a->b);
  kg_plan_array(plan, "inverse diagonal", c->precond == KG_JACOBI ? rows : 0, d, kept,
                &a->inverse_diagonal);
}

/// Make the Jacobi preconditioner: the inverse diagonal of A.
static kedge_status make_diagonal(kg_elliptic *p)
{
  kg_run_cost(&p->run, kg_facet_sum_cost(p->shape.size, p->space.cut->layout.count.n_free), 1.0);
  return kg_facet_diagonal(p->ctx,
                           &(kg_facet_diagonal_args){.batch = p->space.batch,
                                                     .locals = kg_elliptic_locals(p),
                                                     .inverse = p->arrays.inverse_diagonal});
}

/// Return the number of groups whose local matrices the host computes in about a second, after
/// which a solve can be cancelled. GPUs take less time even for all groups.
static int32_t groups_at_once(const kg_elliptic *p, int batch)
{
  const double flops_a_second = 1e9;
  const kg_elements *e = &p->elements[batch];
  const int32_t n_groups = kg_elements_groups(e);
  // Values of varying coefficients have room for a chunk.
  const bool varies = p->shape.choice.varies && e->by_quadrature;
  const int32_t most = varies ? p->shape.choice.recover_groups : n_groups;
  if (p->ctx->backend == KEDGE_BACKEND_CUDA) return most;
  const kg_local local = kg_elliptic_locals(p).local[batch];
  const double seconds = p->equation.form->make_cost(e, local.layout).flops / flops_a_second;
  const int32_t groups = 1 + (int32_t)(n_groups / (1.0 + seconds));
  return groups < most ? groups : most;
}

/// Local matrices and F^e of some groups of a batch.
static kedge_status make_groups(kg_elliptic *p, int batch, int32_t first, int32_t n_groups)
{
  const kg_elements part = kg_elements_part(&p->elements[batch], first, n_groups);
  const kg_shape_batch *b = &p->shape.batch[batch];
  const size_t lanes = (size_t)first * KG_LANES;
  kg_local local = kg_elliptic_locals(p).local[batch];
  local = kg_local_part(&local, local.first_lane + first * KG_LANES,
                        kg_elements_groups(&part) * KG_LANES);
  double *const load = kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, batch);
  double *const condensed = kg_elliptic_rows(p, p->arrays.condensed, KG_ROWS_TRACE, batch);
  kg_coefficient coefficient;
  KG_TRY(kg_coefficients_put(&p->coefficients, batch, first, kg_elements_groups(&part),
                             p->arrays.coefficients.values, &coefficient));
  return p->equation.form->make(p->ctx, &part, &coefficient,
                                load + lanes * (size_t)kg_batch_rows(b, KG_ROWS_MODES), local,
                                condensed + lanes * (size_t)kg_batch_rows(b, KG_ROWS_TRACE));
}

/// K^e of a set-up are made with loads that are zero.
static kedge_status zero_loads(kg_elliptic *p)
{
  const kg_buffer load = kg_plan_buffer(&p->plan, &p->arrays.load);
  return p->repeats ? kg_zero(p->ctx, load.data, load.bytes) : KEDGE_OK;
}

static kedge_status make_local_matrices(kg_elliptic *p)
{
  KG_TRY(zero_loads(p));
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const int32_t n_groups = kg_elements_groups(&p->elements[i]), most = groups_at_once(p, i);
    for (int32_t first = 0; first < n_groups; first += most) {
      if (first > 0) KG_TRY(kg_run_announce(&p->run, KG_STAGE_LOCAL_MATRICES, false));
      KG_TRY(make_groups(p, i, first, most));
    }
  }
  return KEDGE_OK;
}

/// b, of F^e, Neumann and Robin data.
static kedge_status make_right_hand_side(kg_elliptic *p)
{
  double *b = p->arrays.b;
  kg_run_cost(&p->run, kg_facet_sum_cost(p->shape.size, p->space.cut->layout.count.n_free), 1.0);
  KG_TRY(kg_facet_loads(
      p->ctx,
      &(kg_facet_loads_args){.batch = p->space.batch, .condensed = p->arrays.condensed, .b = b}));
  return kg_add_neumann(p, b, 1.0);
}

/// Compute F^e of some groups of a batch, in a solve after a set-up. The kernel is that of K^e, so
/// that F^e has the same bits as in a single solve. The K^e that it also writes are discarded.
static kedge_status condense_groups(kg_elliptic *p, int batch, int32_t first, int32_t n_groups)
{
  const kg_elements part = kg_elements_part(&p->elements[batch], first, n_groups);
  const kg_shape_batch *b = &p->shape.batch[batch];
  const int32_t groups = kg_elements_groups(&part);
  const size_t lanes = (size_t)first * KG_LANES;
  kg_local local = kg_shape_made_locals(&p->shape).local[batch];
  local.first_lane += first * KG_LANES;
  local.n_lanes = groups * KG_LANES;
  local.n_elements = part.n_elements;
  local.data = p->arrays.load_local;
  const double *const load = kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, batch);
  double *const condensed = kg_elliptic_rows(p, p->arrays.condensed, KG_ROWS_TRACE, batch);
  kg_coefficient coefficient;
  KG_TRY(kg_coefficients_put(&p->coefficients, batch, first, groups, p->arrays.coefficients.values,
                             &coefficient));
  return p->equation.form->make(p->ctx, &part, &coefficient,
                                load + lanes * (size_t)kg_batch_rows(b, KG_ROWS_MODES), local,
                                condensed + lanes * (size_t)kg_batch_rows(b, KG_ROWS_TRACE));
}

kedge_status kg_stage_condense(kg_elliptic *p)
{
  const int32_t most = condensed_groups(&p->shape);
  const kg_layout layout = kg_shape_made_locals(&p->shape).local[0].layout;
  if (p->shape.choice.iterates == KG_SINGLE) return kg_compact_condense(p);
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const int32_t n_groups = kg_elements_groups(&p->elements[i]);
    for (int32_t first = 0; first < n_groups; first += most) {
      if (first > 0) KG_TRY(kg_run_announce(&p->run, KG_STAGE_LOCAL_MATRICES, false));
      KG_TRY(condense_groups(p, i, first, most));
    }
    kg_run_cost(&p->run, p->equation.form->make_cost(&p->elements[i], layout), 1.0);
  }
  return make_right_hand_side(p);
}

static kedge_status add_robin(kg_elliptic *p)
{
  const kg_robin_args args = {&p->rules, &p->equation, &p->space.cut->layout, &p->arrays.robin,
                              kg_elliptic_locals(p)};
  kg_boundary_moves moves = {0};
  KG_TRY(kg_robin_add(&args, &p->robin, &moves));
  kg_boundary_note(p, &moves);
  return KEDGE_OK;
}

kedge_status kg_stage_local_matrices(kg_elliptic *p)
{
  const bool compact = p->shape.choice.iterates == KG_SINGLE;
  KG_TRY(compact ? kg_compact_local_matrices(p) : make_local_matrices(p));
  const kg_layout layout = kg_shape_made_locals(&p->shape).local[0].layout;
  for (int i = 0; i < p->shape.n_batches; ++i)
    kg_run_cost(&p->run, p->equation.form->make_cost(&p->elements[i], layout), 1.0);
  KG_TRY(add_robin(p));
  if (p->shape.choice.precond == KG_JACOBI) KG_TRY(make_diagonal(p));
  return p->repeats || compact ? KEDGE_OK : make_right_hand_side(p);
}
