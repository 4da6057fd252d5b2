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
  const size_t rows = (size_t)s->count.n_free * (size_t)s->m, d = sizeof(double);
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
  kg_run_cost(&p->run, kg_facet_sum_cost(p->shape.m, p->shape.count.n_free), 1.0);
  return kg_facet_diagonal(p->ctx,
                           &(kg_facet_diagonal_args){.batch = p->space.batch,
                                                     .locals = kg_elliptic_locals(p),
                                                     .inverse = p->arrays.inverse_diagonal});
}

/// Return the number of groups whose local matrices the host computes in about a second, after
/// which a solve can be cancelled. GPUs take less time even for all groups.
static int32_t groups_at_once(const kg_elliptic *p)
{
  const double flops_a_second = 1e9;
  const int32_t n_groups = p->shape.count.n_groups;
  // Values of varying coefficients have room for a chunk.
  const int32_t most = p->shape.choice.varies ? p->shape.choice.recover_groups : n_groups;
  if (p->ctx->backend == KEDGE_BACKEND_CUDA) return most;
  const double seconds = kg_elliptic_make_cost(p).flops / flops_a_second;
  const int32_t groups = 1 + (int32_t)(n_groups / (1.0 + seconds));
  return groups < most ? groups : most;
}

/// Compute K^e and F^e of all groups, at most `most` groups at once.
/// @param[in] work  NULL, or memory for K^e that are discarded, if F^e alone are wanted: one kernel
///                  computes both, so that F^e has the same bits as in a single solve
static kedge_status make_all(kg_elliptic *p, int32_t most, void *work)
{
  const kg_locals locals = kg_elliptic_locals(p);
  for (kg_chunk c = {0}; kg_next_chunk(p, most, &c);) {
    const kg_elements part = kg_elements_part(&p->elements[c.batch], c.first, c.n);
    const int32_t first_lane = locals.local[c.batch].first_lane + c.first * KG_LANES;
    kg_local local = kg_local_part(&locals.local[c.batch], first_lane, c.n * KG_LANES);
    if (work) local.data = work;
    if (c.batch > 0 || c.first > 0)
      KG_TRY(kg_run_announce(&p->run, KG_STAGE_LOCAL_MATRICES, false));
    KG_TRY(kg_coefficients_put(&p->coefficients, c.batch, c.first, c.n,
                               p->arrays.coefficients.values, &c.coefficient));
    KG_TRY(p->equation.form->make(p->ctx, &part, &c.coefficient,
                                  kg_elliptic_rows(p, p->arrays.load, KG_ROWS_MODES, &c), local,
                                  kg_elliptic_rows(p, p->arrays.condensed, KG_ROWS_TRACE, &c)));
  }
  return KEDGE_OK;
}

static kedge_status make_local_matrices(kg_elliptic *p)
{
  const kg_buffer load = kg_plan_buffer(&p->plan, &p->arrays.load);
  if (p->repeats) KG_TRY(kg_zero(p->ctx, load.data, load.bytes));  // loads come with each solve
  return make_all(p, groups_at_once(p), NULL);
}

/// b, of F^e, Neumann and Robin data.
static kedge_status make_right_hand_side(kg_elliptic *p)
{
  double *b = p->arrays.b;
  kg_run_cost(&p->run, kg_facet_sum_cost(p->shape.m, p->shape.count.n_free), 1.0);
  KG_TRY(kg_facet_loads(
      p->ctx,
      &(kg_facet_loads_args){.batch = p->space.batch, .condensed = p->arrays.condensed, .b = b}));
  return kg_add_neumann(p, b, 1.0);
}

kedge_status kg_stage_condense(kg_elliptic *p)
{
  if (p->shape.choice.iterates == KG_SINGLE) return kg_compact_condense(p);
  KG_TRY(make_all(p, condensed_groups(&p->shape), p->arrays.load_local));
  kg_run_cost(&p->run, kg_elliptic_make_cost(p), 1.0);
  return make_right_hand_side(p);
}

kedge_status kg_stage_local_matrices(kg_elliptic *p)
{
  const bool compact = p->shape.choice.iterates == KG_SINGLE;
  KG_TRY(compact ? kg_compact_local_matrices(p) : make_local_matrices(p));
  kg_run_cost(&p->run, kg_elliptic_make_cost(p), 1.0);
  kg_boundary_moves moves = {0};
  KG_TRY(kg_robin_add(&(kg_robin_args){&p->rules, &p->equation, &p->space.cut->layout,
                                       &p->arrays.robin, kg_elliptic_locals(p)},
                      &p->robin, &moves));
  kg_boundary_note(p, &moves);
  if (p->shape.choice.precond == KG_JACOBI) KG_TRY(make_diagonal(p));
  return p->repeats || compact ? KEDGE_OK : make_right_hand_side(p);
}
