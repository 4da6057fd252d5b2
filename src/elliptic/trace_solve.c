// Assembly, which makes of the local matrices what the trace solve needs, and the trace solve.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "device/context.h"
#include "ops/vector/round.h"
#include "ops/vector/rounding.h"
#include "precondition/bound.h"
#include "elliptic/compact.h"
#include "elliptic/elliptic.h"

kedge_status kg_trace_bind(kg_elliptic *p)
{
  kg_iteration *const it = &p->arrays.iteration;
  it->b = p->arrays.b;
  it->jacobi.inverse = p->arrays.inverse_diagonal;
  return kg_iteration_bind(p->ctx, it, &p->shape, &p->space.batch, kg_elliptic_locals(p));
}

static kedge_status make_multigrid(kg_elliptic *p)
{
  // The levels of a refinement know diffusion, a number in each element, and reaction alone.
  const bool fast = !kg_mesh_in_space(p->mesh) && !p->shape.choice.by_quadrature &&
                    p->shape.n_robin == 0 && p->equation.resolved.equation.n_diffusion == 1;
  const kg_coefficient all = kg_materials_from(&p->equation, &p->shape, &p->arrays.materials, 0, 0);
  const kg_multigrid_args args = {.batch = p->space.batch,
                                  .locals = kg_elliptic_locals(p),
                                  .materials = all.constant,
                                  .lines = &p->space.lines,
                                  .refined = fast ? p->space.refined : NULL};
  kg_multigrid *const multigrid = &p->arrays.iteration.multigrid;
  kedge_report *r = &p->run.solution->report;
  const double began = kg_seconds();
  KG_TRY(kg_multigrid_create(p->ctx, &args, multigrid));
  KG_TRY(kg_sync(p->ctx));
  r->setup_seconds = kg_seconds() - began;
  kg_edge_lines_free(&p->space.lines);
  r->smoother = kedge_smoother_name(p->shape.choice.smoother);
  r->smoothing_steps = p->shape.choice.steps;
  r->multigrid_levels = kg_multigrid_levels(multigrid);
  kg_run_cost(&p->run, kg_multigrid_create_cost(&multigrid->shape), 1.0);
  return KEDGE_OK;
}

/// Make the operator's own form of K^e, where it keeps another than packed ones, and multigrid.
kedge_status kg_stage_assembly(kg_elliptic *p)
{
  const kg_linear *const a = &p->arrays.iteration.linear.base;
  if (a->table->setup) {
    kg_run_cost(&p->run, a->table->setup_cost(a), 1.0);
    KG_TRY(a->table->setup(p->ctx, a));
  }
  return p->shape.choice.precond == KG_JACOBI ? KEDGE_OK : make_multigrid(p);
}

/// x: zero, but the Dirichlet values in their rows.
static kedge_status start_x(kg_elliptic *p)
{
  const kg_trace_counts *n = &p->shape.count;
  const size_t m = (size_t)p->shape.m, rows = (size_t)n->n_free * m;
  double *const x = p->arrays.iteration.x;
  KG_TRY(kg_zero(p->ctx, x, rows * sizeof *x));
  return kg_copy_in(p->ctx, x + rows, p->boundary + (size_t)n->n_neumann * m,
                    (size_t)(n->n_edges - n->n_free) * m * sizeof *x);
}

/// The last part of making the preconditioner, with the vectors of the iteration as work.
kedge_status kg_stage_bound(kg_elliptic *p)
{
  kg_iteration *const it = &p->arrays.iteration;
  kg_multigrid *const m = &it->multigrid;
  const double began = kg_seconds();
  if (p->shape.choice.precond == KG_JACOBI || !kg_multigrid_is_measured(&m->shape)) return KEDGE_OK;
  assert(it->method.base.table == &kg_cg_loop);  // multigrid is for symmetric systems
  KG_TRY(kg_multigrid_bound(p->ctx, &it->method.cg, &it->blocks, &m->largest_eigenvalue));
  kg_run_cost(&p->run, kg_multigrid_bound_cost(&m->shape), 1.0);
  p->run.solution->report.setup_seconds += kg_seconds() - began;
  return KEDGE_OK;
}

/// Put the trace that the solve begins with in the free rows of x; Dirichlet values stay.
static kedge_status put_start(kedge_context *ctx, void *user)
{
  const kg_elliptic *p = user;
  const size_t rows = (size_t)p->shape.count.n_free * (size_t)p->shape.m;
  if (!p->data.taken.from)
    return kg_copy_in(ctx, p->arrays.iteration.x, p->data.start, rows * sizeof(double));
  if (!p->data.taken.unknown)
    return kg_copy(ctx, p->arrays.iteration.x, p->data.taken.from, rows * sizeof(double));
  kg_unknowns_args args = p->data.taken;
  args.to = p->arrays.iteration.x;
  return kg_unknowns_move(ctx, &args);
}

/// Estimate |A x_0| for the start vector x_0 with the Dirichlet values, as diffusion times |x_0|.
/// Neumann data, which make a boundary layer too, and the parts of A from reaction and
/// stabilization are left out. That is harmless: if the estimate is too small, the coarse system is
/// solved more accurately than needed in the first iteration, which changes the number of
/// iterations by one at most, and not the tolerance (docs/multigrid.md#the-first-iteration).
static double boundary_residual(const kg_elliptic *p)
{
  const kg_trace_counts *n = &p->shape.count;
  const size_t m = (size_t)p->shape.m;
  const double *values = p->boundary + (size_t)n->n_neumann * m;
  double sum = 0.0;
  for (size_t i = 0; i < (size_t)(n->n_edges - n->n_free) * m; ++i) sum += values[i] * values[i];
  return p->equation.material.diffusion * sqrt(sum);
}

/// What makes the residuals of a solve: one of these, in room that the caller has.
typedef struct residuals {
  kg_plain_residual plain;
  kg_remade_residual remade;
} residuals;

static kg_residual *residual_of(kg_elliptic *p, residuals *room)
{
  const kg_iteration *const it = &p->arrays.iteration;
  room->plain = kg_plain_residual_of(&it->linear.base, it->b);
  room->remade = kg_remade_residual_of(p);
  return p->shape.choice.iterates == KG_SINGLE ? &room->remade.base : &room->plain.base;
}

static void report_costs(kg_elliptic *p, const kg_system_result *result)
{
  residuals room;
  const kg_residual *const residual = residual_of(p, &room);
  const kg_krylov *k = &p->arrays.iteration.method.base;
  const kg_cost product = k->linear->table->cost(k->linear);
  const kg_cost rounding = kg_cost_plus(kg_rounding_cost(k->linear->rows), 1, product);
  p->run.solution->report.operator_bytes = (int64_t)product.bytes;
  kg_run_cost(&p->run, product, (double)result->iterations);
  kg_run_cost(&p->run, kg_cost_plus(k->table->cost(k), 1, k->precond->table->cost(k->precond)),
              (double)result->iterations);
  kg_run_cost(&p->run, rounding, result->roundings);
  kg_run_cost(&p->run, residual->cost(residual), result->residuals);
}

kedge_status kg_trace_report(kg_elliptic *p, const kg_system_result *result)
{
  kedge_solution *s = p->run.solution;
  s->report.iterations = result->iterations;
  s->report.start_residual = result->start_residual;
  s->report.relative_residual = result->relative_residual;
  s->report.rounding_residual = result->rounding_residual;
  s->report.stop = result->stop;
  s->report.converged = result->converged;
  kg_remainder *const left = &p->remainder;
  left->rr = result->rr;
  left->most_energy = fmax(left->most_energy, result->energy);
  // Few iterations from a trace that is near say little of what they leave.
  left->energy = p->data.start || p->data.taken.from ? left->most_energy : result->energy;
  for (kg_topic topic = KG_ABOUT_END; !p->data.takes_start && topic < KG_ABOUT_LOSS; ++topic)
    KG_TRY(kg_elliptic_diagnose(p, topic));
  p->remainder.note_end = strlen(s->note);
  report_costs(p, result);
  if (p->shape.choice.iterates == KG_SINGLE) s->report.refinements = result->starts;
  return KEDGE_OK;
}

kg_system_rule kg_trace_rule(const kg_elliptic *p)
{
  return (kg_system_rule){.tolerance = p->equation.problem->tolerance,
                          .accepts_rounding = p->equation.problem->accepts_rounding,
                          .stabilization_ratio = kg_stabilization_ratio(p),
                          .boundary_residual = boundary_residual(p),
                          .max_iterations = p->equation.problem->max_iterations};
}

/// Solve, or measure a trace, or go on from one.
static kedge_status solve(kg_elliptic *p, const kg_system *system)
{
  const kg_system_rule rule = kg_trace_rule(p);
  const bool goes_on = p->remainder.goes_on;
  kg_system_result result;
  kedge_status status;
  if (goes_on)
    status = kg_system_go_on(p->ctx, system, &rule, &p->remainder.further);
  else
    status =
        (p->data.takes_start ? kg_system_measure : kg_system_solve)(p->ctx, system, &rule, &result);
  kg_sampler_rest(&p->source.sampler);
  KG_TRY(status);
  return goes_on ? KEDGE_OK : kg_trace_report(p, &result);
}

kedge_status kg_stage_trace_solve(kg_elliptic *p)
{
  kg_iteration *const it = &p->arrays.iteration;
  residuals room;
  const kg_system system = {.residual = residual_of(p, &room),
                            .krylov = &it->method.base,
                            .first = p->shape.choice.precond == KG_JACOBI ? NULL : &it->first.base,
                            .warm = p->data.start || p->data.taken.from ? put_start : NULL,
                            .user = p,
                            .keeps = p->repeats,
                            .gain = p->shape.choice.iterates == KG_SINGLE ? KG_COMPACT_GAIN : 0.0};
  if (!p->repeats) KG_TRY(kg_stage_bound(p));
  KG_TRY(start_x(p));
  KG_TRY(solve(p, &system));
  if (!p->repeats) kg_multigrid_destroy(p->ctx, &it->multigrid);
  return KEDGE_OK;
}

kedge_status kg_trace_begin(kg_elliptic *p, double **x)
{
  KG_TRY(kg_plan_enter(p->ctx, &p->plan, KG_PHASE_RESIDUAL));
  kg_krylov *const k = &p->arrays.iteration.method.base;
  *x = k->x;
  return kg_zero(p->ctx, k->x, (size_t)k->linear->all_rows * sizeof *k->x);
}

kedge_status kg_trace_end(kg_elliptic *p, const double **y)
{
  const kg_krylov *const k = &p->arrays.iteration.method.base;
  *y = k->residual;
  return kg_linear_apply(p->ctx, k->linear, k->x, k->residual, &(kg_pass){0});
}

kedge_status kg_trace_residual(kg_elliptic *p, double **r, double **spare)
{
  const kg_krylov *const k = &p->arrays.iteration.method.base;
  *r = k->residual;
  *spare = k->work_all;
  return kg_plan_enter(p->ctx, &p->plan, KG_PHASE_STEP);
}

/// Begin with a preconditioner in single precision: it becomes 2^exponent times itself, by the norm
/// of the residual.
static kedge_status begin_single(kg_elliptic *p, int *exponent)
{
  const kg_krylov *const k = &p->arrays.iteration.method.base;
  double rr;
  KG_TRY(kg_rounding_sum(p->ctx, &(kg_rounding_args){.n = k->linear->rows,
                                                     .number = KG_DOUBLE,
                                                     .ap = k->residual,
                                                     .part = k->sum.part,
                                                     .total = k->sum.total}));
  KG_TRY(kg_copy_out(p->ctx, &rr, k->sum.total, sizeof rr));
  *exponent = kg_round_exponent(rr);
  return k->precond->table->begin(p->ctx, k->precond, &rr);
}

kedge_status kg_trace_precondition(kg_elliptic *p, kg_unknowns_args *z)
{
  const kg_krylov *const k = &p->arrays.iteration.method.base;
  const kg_precond *const m = k->precond;
  int exponent = 0;
  z->from = k->residual;
  z->diagonal = m->inverse;
  if (m->pointwise) return KEDGE_OK;
  z->from = k->x;
  z->from_single = m->z ? *m->z : NULL;
  if (m->z)
    KG_TRY(begin_single(p, &exponent));
  else
    KG_TRY(kg_zero(p->ctx, k->x, (size_t)k->linear->all_rows * sizeof *k->x));
  z->factor = ldexp(z->factor, -exponent);
  KG_TRY(m->table->apply(p->ctx, m, k->residual, m->z ? (void *)*m->z : k->x, &(kg_pass){0}));
  return kg_plan_enter(p->ctx, &p->plan, KG_PHASE_STEP);
}

kedge_status kg_trace_right_side(kg_elliptic *p, const double **b)
{
  const kg_krylov *const k = &p->arrays.iteration.method.base;
  residuals room;
  kg_residual *const residual = residual_of(p, &room);
  KG_TRY(start_x(p));
  KG_TRY(kg_plan_enter(p->ctx, &p->plan, KG_PHASE_RESIDUAL));
  const kedge_status status = residual->make(p->ctx, residual, k->x, k->residual, k->sum);
  kg_sampler_rest(&p->source.sampler);
  *b = k->residual;
  return status;
}
