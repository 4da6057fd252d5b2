// Assembly, which makes of the local matrices what the trace solve needs, and the trace solve.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "linear/cg.h"
#include "linear/system.h"
#include "precondition/bound.h"
#include "precondition/precond.h"
#include "ops/vector/rounding.h"
#include "elliptic/compact.h"
#include "elliptic/elliptic.h"

static kg_ell_matrix ell_matrix(const kg_elliptic *p)
{
  kg_ell_matrix matrix = kg_ell_shape(p->shape.size, &p->shape.count);
  matrix.column = p->arrays.ell_column;
  matrix.value = p->arrays.ell_value;
  return matrix;
}

static kg_local full_local(const kg_elliptic *p)
{
  kg_local full = kg_shape_full_local(&p->shape);
  full.data = p->arrays.full_local;
  return full;
}

/// The operator as the present stage has it.
static kg_linears trace_linear(const kg_elliptic *p)
{
  const kg_arrays *b = &p->arrays;
  kg_linears a;
  if (p->shape.choice.linear == KEDGE_OPERATOR_ELL)
    a.ell = (kg_ell){.base = kg_linear_of(&kg_ell_table, &p->space.batch, KG_DOUBLE),
                     .batch = p->space.batch,
                     .locals = kg_elliptic_locals(p),
                     .matrix = ell_matrix(p),
                     .work = b->ell_work,
                     .work_bytes = p->shape.ell_work_bytes};
  else if (p->shape.choice.linear == KEDGE_OPERATOR_MATRIX_FREE_PLAIN)
    a.gather = (kg_gather){.base = kg_linear_of(&kg_gather_table, &p->space.batch, KG_DOUBLE),
                           .batch = p->space.batch,
                           .made = kg_elliptic_locals(p),
                           .full = full_local(p)};
  else
    a.patches = kg_patches_of(&(kg_trace_product_args){
        .batch = p->space.batch, .locals = kg_elliptic_locals(p), .halo = b->halo});
  a.base.symmetric = p->equation.form->symmetric;
  return a;
}

static kedge_status make_multigrid(kg_elliptic *p)
{
  // The levels of a refinement know diffusion, a number in each element, and reaction alone.
  const bool fast = !p->shape.choice.by_quadrature && p->shape.n_robin == 0 &&
                    p->equation.resolved.equation.n_diffusion == 1;
  const kg_multigrid_args args = {.batch = p->space.batch,
                                  .locals = kg_elliptic_locals(p),
                                  .materials = p->equation.coefficient.constant,
                                  .lines = &p->space.lines,
                                  .refined = fast ? p->space.refined : NULL};
  kedge_report *r = &p->run.solution->report;
  const double began = kg_seconds();
  KG_TRY(kg_multigrid_create(p->ctx, &args, &p->arrays.multigrid));
  KG_TRY(kg_sync(p->ctx));
  r->setup_seconds = kg_seconds() - began;
  kg_edge_lines_free(&p->space.lines);
  r->smoother = kedge_smoother_name(p->shape.choice.smoother);
  r->smoothing_steps = p->shape.choice.steps;
  r->multigrid_levels = kg_multigrid_levels(&p->arrays.multigrid);
  kg_run_cost(&p->run, kg_multigrid_create_cost(&p->arrays.multigrid.shape), 1.0);
  return KEDGE_OK;
}

/// Make the operator's own form of K^e, where it keeps another than packed ones, and multigrid.
kedge_status kg_stage_assembly(kg_elliptic *p)
{
  const kg_linears a = trace_linear(p);
  kg_run_cost(&p->run, a.base.table->setup_cost(&a.base), 1.0);
  KG_TRY(a.base.table->setup(p->ctx, &a.base));
  return p->shape.choice.precond == KG_JACOBI ? KEDGE_OK : make_multigrid(p);
}

/// All of an array, if there is one.
static kedge_status zero(const kg_elliptic *p, const void *pointer)
{
  const kg_buffer array = kg_plan_buffer(&p->plan, pointer);
  return kg_zero(p->ctx, array.data, array.bytes);
}

/// x: zero, but the Dirichlet values in their rows; p, and with multigrid z: zero.
static kedge_status start_vectors(kg_elliptic *p)
{
  const kg_trace_counts *n = &p->space.layout.count;
  const size_t m = (size_t)p->shape.size.n_edge;
  const kg_arrays *a = &p->arrays;
  KG_TRY(zero(p, &a->x));
  KG_TRY(zero(p, &a->p));
  if (p->shape.choice.precond != KG_JACOBI) KG_TRY(zero(p, &a->z));
  return kg_copy_in(p->ctx, a->x + (size_t)n->n_free * m, p->boundary + (size_t)n->n_neumann * m,
                    (size_t)(n->n_edges - n->n_free) * m * sizeof(double));
}

/// The preconditioners of a solve, and the iterations with them. They do not move.
typedef struct kg_methods {
  kg_linears a;
  kg_precond jacobi;
  kg_cycle cycle, first, blocks;
  kg_cg cg, first_cg, bound;
  double *r;  ///< a residual in double precision
} kg_methods;

static kg_cg_args cg_args(kg_elliptic *p, kg_methods *m)
{
  const kg_arrays *b = &p->arrays;
  const bool multigrid = p->shape.choice.precond != KG_JACOBI;
  kg_cg_args v = {.linear = &m->a.base,
                  .x = b->x,
                  .r = multigrid ? b->r : b->ap,
                  .p = b->p,
                  .ap = b->ap,
                  .z = b->z,
                  .part = b->vector_part,
                  .product_part = b->operator_part,
                  .state = b->state,
                  .steps = b->steps,
                  .work = b->resident,
                  .plan = &p->plan};
  if (p->arrays.multigrid.single.z) v.z = p->arrays.multigrid.single.z;
  m->r = b->residual ? b->residual : v.r;
  return v;
}

static void make_cycles(const kg_elliptic *p, kg_cg_args v, kg_methods *m)
{
  m->cycle = m->first = m->blocks =
      kg_cycle_of(&p->arrays.multigrid, &m->a.patches, v.ap, p->arrays.exponent);
  m->first.room = p->arrays.room ? p->arrays.room : v.p;  // there is no direction yet
  m->blocks.blocks = true;
  v.precond = &m->first.base;
  m->first_cg = kg_cg_of(&kg_cg_loop, &v);
  v.precond = &m->blocks.base;
  v.plan = NULL;  // it is used in one phase
  v.steps = NULL;
  m->bound = kg_cg_of(&kg_cg_loop, &v);
}

/// Make the operator, preconditioners and methods of a solve, once multigrid exists.
static kedge_status make_methods(kg_elliptic *p, kg_methods *m)
{
  const bool multigrid = p->shape.choice.precond != KG_JACOBI;
  *m = (kg_methods){.a = trace_linear(p)};
  kg_cg_args v = cg_args(p, m);
  if (multigrid)
    make_cycles(p, v, m);
  else
    m->jacobi = kg_jacobi_of(p->arrays.inverse_diagonal);
  v.precond = multigrid ? &m->cycle.base : &m->jacobi;
  const kg_krylov_table *const krylov = kg_krylov_for(p->ctx, v.linear, v.precond);
  KG_REQUIRE(p->ctx, krylov, KEDGE_ERR_INTERNAL, "no iteration takes the trace operator with %s",
             v.precond->table->name);
  m->cg = kg_cg_of(krylov, &v);
  return KEDGE_OK;
}

/// The last part of making the preconditioner, with the vectors of the iteration as work. With
/// precision = compact the residual in double precision is made in x.
static kedge_status measure_smoother(kg_elliptic *p, const kg_methods *m)
{
  const double began = kg_seconds();
  const kg_arrays *a = &p->arrays;
  KG_TRY(zero(p, &a->x));
  KG_TRY(zero(p, &a->p));
  double *const r = p->shape.choice.iterates == KG_SINGLE ? a->x : m->r;
  KG_TRY(kg_multigrid_bound(p->ctx, &m->bound, r, &p->arrays.multigrid.largest_eigenvalue));
  kg_run_cost(&p->run, kg_multigrid_bound_cost(&p->arrays.multigrid.shape), 1.0);
  p->run.solution->report.setup_seconds += kg_seconds() - began;
  return KEDGE_OK;
}

/// Put the trace that the solve begins with in the free rows of x; Dirichlet values stay.
static kedge_status put_start(kedge_context *ctx, void *user)
{
  const kg_elliptic *p = user;
  const size_t rows = (size_t)p->space.layout.count.n_free * (size_t)p->shape.size.n_edge;
  if (!p->data.taken.from) return kg_copy_in(ctx, p->arrays.x, p->data.start, rows * sizeof(double));
  if (!p->data.taken.unknown) return kg_copy(ctx, p->arrays.x, p->data.taken.from, rows * sizeof(double));
  kg_unknowns_args args = p->data.taken;
  args.to = p->arrays.x;
  return kg_unknowns_move(ctx, &args);
}

/// The trace matrix is made of numbers of the size of the stabilization tau; what couples the edges
/// is of the size of diffusion / h, or of reaction * h.
static double stabilization_ratio(const kg_elliptic *p)
{
  const kg_material *k = &p->equation.material;
  const double h = sqrt(kg_mean_square(p->mesh));
  const double scale[] = {
      [KEDGE_SCALING_ONE] = 1.0, [KEDGE_SCALING_H] = h, [KEDGE_SCALING_INVERSE_H] = 1.0 / h};
  const double tau = k->stabilization * scale[k->scaling];
  return tau * h / (k->diffusion + k->reaction * h * h);
}

/// An estimate of |A x_0|: diffusion times |x_0|, of the Dirichlet values. It leaves out Neumann
/// data, though a flux is a layer at the boundary too, and the part of A that the reaction and the
/// stabilization make. That is harmless: an estimate that is too small makes the first iteration
/// solve the coarse system well without need, which is one iteration more or less, to the same
/// tolerance (docs/multigrid.md#the-first-iteration).
static double boundary_residual(const kg_elliptic *p)
{
  const kg_trace_counts *n = &p->space.layout.count;
  const size_t m = (size_t)p->shape.size.n_edge;
  const double *values = p->boundary + (size_t)n->n_neumann * m;
  double sum = 0.0;
  for (size_t i = 0; i < (size_t)(n->n_edges - n->n_free) * m; ++i) sum += values[i] * values[i];
  return p->equation.material.diffusion * sqrt(sum);
}

kedge_status kg_elliptic_diagnose(kg_elliptic *p, kg_topic topic)
{
  const kg_trace_counts *n = &p->space.layout.count;
  const kg_choice *c = &p->shape.choice;
  kg_diagnosis d = {
      .ctx = p->ctx,
      .mesh = p->mesh,
      .problem = p->equation.problem,
      .resolved = &p->equation.resolved,
      .layout = &p->space.layout,
      .boundary = p->boundary,
      .n_boundary = (size_t)(n->n_edges - n->n_free + n->n_neumann) * (size_t)p->shape.size.n_edge,
      .material = p->equation.material,
      .strength = p->equation.strength,
      .scale = p->equation.scale,
      .square = kg_mean_square(p->mesh),
      .robin = p->equation.robin,
      .loads_left = p->loads_left,
      .stabilization_ratio = stabilization_ratio(p),
      .report = &p->run.solution->report,
      .fields = &p->fields,
      .lost = p->lost,
      .gradient = &p->gradient,
      .failure = p->remainder.failure,
      .lost_error = p->lost_error,
      .keeps_means = c->wants_means,
      .is_stretched = p->mesh->info.min_angle < KG_LINE_ANGLE,
      .has_plain_cycle = c->precond != KG_JACOBI && c->steps > 0 &&
                         !kg_smoother_has_lines(c->smoother) && n->n_wide_groups == 0,
      .integrates = kg_shape_has_quadrature(&p->shape),
      .is_compact = c->iterates == KG_SINGLE,
      .takes_data = p->repeats,
      .note = p->run.solution->note,
      .room = sizeof p->run.solution->note};
  for (int i = 0; i < p->shape.n_batches; ++i)
    if (p->shape.batch[i].keeps_gradient)
      d.keeps_gradient[kg_cell_index(p->shape.batch[i].cell)] = true;
  for (int k = 0; k < KG_NORMS; ++k) d.norm_moves[k] = p->norm_moves[k];
  return kg_diagnose(&d, topic);
}

static kedge_status report_solve(kg_elliptic *p, const kg_methods *m, const kg_residual *residual,
                                 const kg_system_result *result)
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
  const kg_krylov *k = &m->cg.base;
  const kg_cost product = k->linear->table->cost(k->linear);
  const kg_cost rounding = kg_cost_plus(kg_rounding_cost(k->linear->rows), 1, product);
  s->report.operator_bytes = (int64_t)product.bytes;
  kg_run_cost(&p->run, product, (double)result->iterations);
  kg_run_cost(&p->run, kg_cost_plus(k->table->cost(k), 1, k->precond->table->cost(k->precond)),
                (double)result->iterations);
  kg_run_cost(&p->run, rounding, result->roundings);
  kg_run_cost(&p->run, residual->cost(residual), result->residuals);
  if (p->shape.choice.iterates == KG_SINGLE) s->report.refinements = result->starts;
  return KEDGE_OK;
}

/// Measure the smoother, if multigrid wants to know it.
static kedge_status measure(kg_elliptic *p, const kg_methods *m)
{
  const bool multigrid = p->shape.choice.precond != KG_JACOBI;
  return multigrid && kg_multigrid_is_measured(&p->arrays.multigrid.shape) ? measure_smoother(p, m)
                                                                           : KEDGE_OK;
}

kedge_status kg_stage_bound(kg_elliptic *p)
{
  KG_TRY(kg_host_calloc(p->ctx, 1, sizeof *p->methods, &p->methods));
  KG_TRY(make_methods(p, p->methods));
  return measure(p, p->methods);
}

void kg_methods_free(kg_elliptic *p)
{
  kg_methods *const m = p->methods;
  if (!m) return;
  if (m->cg.base.table) m->cg.base.table->free(p->ctx, &m->cg.base);
  if (m->first_cg.base.table) m->first_cg.base.table->free(p->ctx, &m->first_cg.base);
  free(m);
  p->methods = NULL;
}

/// What makes the residuals of a solve: one of these, in room that the caller has.
typedef struct residuals {
  kg_plain_residual plain;
  kg_remade_residual remade;
} residuals;

static kg_residual *residual_of(kg_elliptic *p, const kg_methods *m, residuals *room)
{
  room->plain = kg_plain_residual_of(&m->a.base, p->arrays.b);
  room->remade = kg_remade_residual_of(p);
  return p->shape.choice.iterates == KG_SINGLE ? &room->remade.base : &room->plain.base;
}

kg_system_rule kg_trace_rule(const kg_elliptic *p)
{
  return (kg_system_rule){.tolerance = p->equation.problem->tolerance,
                          .accepts_rounding = p->equation.problem->accepts_rounding,
                          .stabilization_ratio = stabilization_ratio(p),
                          .boundary_residual = boundary_residual(p),
                          .max_iterations = p->equation.problem->max_iterations};
}

/// x and other vectors at the beginning of an iteration; or x as it has been made.
static kedge_status begin_vectors(kg_elliptic *p)
{
  if (!p->begun || !kg_system_is_done(p->begun)) KG_TRY(start_vectors(p));
  return p->begun ? p->put(p, p->put_user) : KEDGE_OK;
}

/// The trace solve by methods that are there.
static kedge_status solve_by(kg_elliptic *p, kg_methods *m)
{
  const bool multigrid = p->shape.choice.precond != KG_JACOBI;
  const bool compact = p->shape.choice.iterates == KG_SINGLE;
  residuals room;
  const kg_system system = {.residual = residual_of(p, m, &room),
                            .krylov = &m->cg.base,
                            .first = multigrid ? &m->first_cg.base : NULL,
                            .warm = p->data.start || p->data.taken.from ? put_start : NULL,
                            .user = p,
                            .begun = p->begun,
                            .r = m->r,
                            .keeps = p->repeats,
                            .gain = compact ? KG_COMPACT_GAIN : 0.0,
                            .plan = &p->plan};
  const kg_system_rule rule = kg_trace_rule(p);
  if (!p->repeats) KG_TRY(measure(p, m));
  KG_TRY(begin_vectors(p));
  if (p->remainder.goes_on) {
    const kedge_status done = kg_system_go_on(p->ctx, &system, &rule, &p->remainder.further);
    kg_source_rest(&p->source);
    KG_TRY(done);
    if (!p->repeats) kg_multigrid_destroy(p->ctx, &p->arrays.multigrid);
    return KEDGE_OK;
  }
  kg_system_result result;
  const kedge_status status =
      (p->data.takes_start ? kg_system_measure : kg_system_solve)(p->ctx, &system, &rule, &result);
  kg_source_rest(&p->source);
  KG_TRY(status);
  KG_TRY(report_solve(p, m, system.residual, &result));
  if (!p->repeats) kg_multigrid_destroy(p->ctx, &p->arrays.multigrid);
  return KEDGE_OK;
}

kedge_status kg_stage_trace_solve(kg_elliptic *p)
{
  kg_methods m;
  if (p->methods) return solve_by(p, p->methods);
  KG_TRY(make_methods(p, &m));
  return solve_by(p, &m);
}

/// Bytes of all free rows.
static size_t free_bytes(const kg_elliptic *p)
{
  return (size_t)p->space.layout.count.n_free * (size_t)p->shape.size.n_edge * sizeof(double);
}

kedge_status kg_trace_begin(kg_elliptic *p, double **x)
{
  KG_TRY(kg_plan_enter(p->ctx, &p->plan, KG_PHASE_RESIDUAL));
  *x = p->arrays.x;
  return zero(p, &p->arrays.x);
}

kedge_status kg_trace_end(kg_elliptic *p, const double **y)
{
  const kg_methods *const m = p->methods;
  *y = m->r;
  return kg_linear_apply(p->ctx, &m->a.base, p->arrays.x, m->r, &(kg_pass){0});
}

kedge_status kg_trace_multiply(kg_elliptic *p, const double *x, double *y)
{
  double *from;
  const double *to;
  KG_TRY(kg_trace_begin(p, &from));
  KG_TRY(kg_copy_in(p->ctx, from, x, free_bytes(p)));
  KG_TRY(kg_trace_end(p, &to));
  return kg_copy_out(p->ctx, y, to, free_bytes(p));
}

kedge_status kg_trace_right_side(kg_elliptic *p, const double **b)
{
  const kg_methods *const m = p->methods;
  residuals room;
  kg_residual *const residual = residual_of(p, m, &room);
  KG_TRY(start_vectors(p));
  KG_TRY(kg_plan_enter(p->ctx, &p->plan, KG_PHASE_RESIDUAL));
  const kedge_status status = residual->make(p->ctx, residual, p->arrays.x, m->r, m->cg.base.sum);
  kg_source_rest(&p->source);
  *b = m->r;
  return status;
}
