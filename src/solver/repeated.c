#include "solver/solver.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/nvtx.h"
#include "core/sized.h"
#include "device/context.h"
#include "plan/plan.h"
#include "solver/giving.h"
#include "solver/unknowns.h"
#include "solution/values.h"

static void elliptic_free(kg_elliptic *p)
{
  if (p) kg_elliptic_free(p);
  free(p);
}

/// Take over a set-up that has begun, and the memory of the one before if it is enough.
static void take(kedge_solver *s, kg_elliptic *next)
{
  kg_elliptic *const before = s->elliptic;
  if (before) {
    const kg_shape *const a = &next->shape, *const b = &before->shape;
    const bool same_mesh = before->space.has_mesh && next->space.is_cut_as_before &&
                           a->rows == b->rows && a->exact_rows == b->exact_rows &&
                           a->fast_exact_rows == b->fast_exact_rows;
    next->space.has_mesh = kg_plan_take(&next->plan, &before->plan) && same_mesh;
  }
  elliptic_free(before);
  next->before = NULL;
  s->elliptic = next;
}

/// Make all that does not depend on the data of a solve.
static kedge_status make(kedge_solver *s)
{
  kg_elliptic *const p = s->elliptic;
  kg_report_fill(p);
  p->ctx->bytes_peak = p->ctx->bytes_in_use;
  KG_TRY(kg_elliptic_set_up(p));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_TRACE_SOLVE));
  KG_TRY(kg_run_end(&p->run, kg_stage_bound(p)));
  s->version = p->equation.problem->version;
  p->run.is_again = true;
  return KEDGE_OK;
}

/// Device memory that a solver has been asked for beside `bytes`.
static int64_t bytes_beside(const kedge_solver *s)
{
  return (int64_t)(s->device_unknowns.bytes + s->element_order.bytes + s->node_tables.bytes);
}

/// Tell the memory of a set-up or a solve.
static void report_memory(const kedge_solver *s, int64_t in_use_before)
{
  const kg_elliptic *const p = s->elliptic;
  kedge_report *const r = &p->run.solution->report;
  r->peak_device_bytes = p->ctx->bytes_peak - in_use_before;
  r->predicted_device_bytes += bytes_beside(s) + (s->many ? kg_many_bytes(&p->shape) : 0);
}

static kedge_status set_up(kedge_solver *s, kg_elliptic *next)
{
  kedge_context *const ctx = next->ctx;
  kg_unknowns_forget(s, ctx);
  kg_solver_forget_many(s, ctx);
  const int64_t in_use_before = ctx->bytes_in_use - s->bytes - bytes_beside(s);
  s->version = 0;
  s->set_up = (kedge_solution){.ctx = ctx};
  next->run.solution = &s->set_up;
  kedge_status status = kg_elliptic_begin(next);
  if (status != KEDGE_OK) {
    elliptic_free(next);
    return status;
  }
  take(s, next);
  status = kg_elliptic_name_robin(next, make(s));
  s->bytes = ctx->bytes_in_use - in_use_before - bytes_beside(s);
  report_memory(s, in_use_before);
  return status;
}

/// Set up for the mesh and the problem of `from`, which has nothing yet.
static kedge_status start(kedge_solver *s, kg_elliptic from)
{
  kg_elliptic *next;
  KG_TRY(kg_enter(from.ctx));
  KG_TRY(kg_host_alloc(from.ctx, 1, sizeof *next, &next));
  *next = from;
  kg_range_push("set-up", from.mesh->n_elements, 0);
  const kedge_status status = set_up(s, next);
  kg_range_pop();
  return status;
}

kedge_status kedge_solver_create(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kedge_problem *problem, kedge_solver **out)
{
  KG_REQUIRE(ctx, out != NULL, KEDGE_ERR_ARG, "kedge_solver_create: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && problem, KEDGE_ERR_ARG,
             "kedge_solver_create: context, mesh or problem is NULL");
  KG_TRY(kg_problem_refuse_time(ctx, problem));
  return kg_solver_create(ctx, mesh, problem, 0, out);
}

kedge_status kg_solver_create(kedge_context *ctx, const kedge_mesh *mesh,
                              const kedge_problem *problem, int march_vectors, kedge_solver **out)
{
  kedge_solver *s;
  *out = NULL;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *s, &s));
  const kedge_status status = start(s, (kg_elliptic){.ctx = ctx,
                                                     .mesh = mesh,
                                                     .equation.problem = problem,
                                                     .repeats = true,
                                                     .march_vectors = march_vectors});
  if (status == KEDGE_OK)
    *out = s;
  else
    kedge_solver_destroy(s);
  return status;
}

kedge_status kedge_solver_update(kedge_solver *s)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solver_update: the solver is NULL");
  const kg_elliptic *const p = s->elliptic;
  return start(s, (kg_elliptic){.ctx = p->ctx,
                                .mesh = p->mesh,
                                .equation.problem = p->equation.problem,
                                .repeats = true,
                                .march_vectors = p->march_vectors,
                                .before = p});
}

kedge_status kedge_solver_plan(kedge_context *ctx, const kedge_mesh *mesh,
                               const kedge_problem *problem, kedge_plan *plan)
{
  KG_REQUIRE(ctx, ctx && problem && plan, KEDGE_ERR_ARG, "kedge_solver_plan: an argument is NULL");
  return kg_plan_make(ctx, &(kg_plan_args){mesh, problem, true, 0, KG_COUNTED_ELEMENTS}, plan);
}

void kedge_solver_destroy(kedge_solver *s)
{
  if (s == NULL) return;
  if (s->elliptic) kg_unknowns_forget(s, s->elliptic->ctx);
  if (s->elliptic) kg_solver_forget_many(s, s->elliptic->ctx);
  if (s->elliptic) kg_free(s->elliptic->ctx, &s->element_order);
  elliptic_free(s->elliptic);
  free(s);
}

kedge_status kedge_solver_report(const kedge_solver *s, kedge_report *report)
{
  KG_REQUIRE(NULL, s && report, KEDGE_ERR_ARG,
             "kedge_solver_report: the solver or the report is NULL");
  KG_TRY(kg_check_sized(s->elliptic->ctx, "KEDGE_REPORT_INIT", report->size));
  kg_copy_sized(&s->set_up.report, report);
  return KEDGE_OK;
}

bool kg_solver_fits(const kedge_solver *solver, const kedge_solution *s)
{
  const kg_elliptic *const p = solver->elliptic;
  const kg_shape *shape = &p->shape;
  bool same = s->ctx == p->ctx && s->mesh == p->mesh && s->size.order == shape->size.order &&
              s->n_groups == p->shape.count.n_groups && s->n_edges == p->shape.count.n_edges &&
              s->n_batches == shape->n_batches && !s->only_report &&
              kg_holds(s, KG_HELD_MEANS) == shape->choice.wants_means;
  for (int i = 0; same && i < s->n_batches; ++i)
    same = s->batch[i].n_groups == shape->batch[i].lanes.n_groups &&
           s->batch[i].by_quadrature == shape->batch[i].by_quadrature;
  return same;
}

/// Fill in what a solution has before the first stage.
static kedge_status begin(kedge_solver *solver, const char *function, kedge_solution **solution)
{
  kg_elliptic *const p = solver->elliptic;
  const bool given = *solution != NULL;
  if (!given) KG_TRY(kg_solution_create(p->ctx, solution));
  kedge_solution *const s = p->run.solution = *solution;
  KG_REQUIRE(p->ctx, !given || kg_solver_fits(solver, s), KEDGE_ERR_ARG,
             "%s: the solution was not made by this solver: give its own, or NULL", function);
  KG_TRY(kg_results_allocate(p, KG_ON_DEVICE));
  s->note[0] = '\0';
  memcpy(s->evaluation, solver->set_up.evaluation, sizeof s->evaluation);
  memcpy(s->evaluated, solver->set_up.evaluated, sizeof s->evaluated);
  kg_coefficients_free(&s->equation);
  kg_report_fill(p);
  const kedge_report *const r = &solver->set_up.report;
  s->report.solution_bytes = (int64_t)s->block.bytes;
  s->report.predicted_device_bytes += s->report.solution_bytes + p->shape.march_bytes;
  s->report.stages[KG_STAGE_MESH].seconds = 0.0;
  s->report.smoother = r->smoother;
  s->report.smoothing_steps = r->smoothing_steps;
  s->report.multigrid_levels = r->multigrid_levels;
  p->ctx->bytes_peak = p->ctx->bytes_in_use;
  return KEDGE_OK;
}

kedge_status kg_solver_end(kedge_solver *solver)
{
  kg_elliptic *const p = solver->elliptic;
  kedge_solution *const s = p->run.solution;
  const int64_t in_use_before = p->ctx->bytes_in_use - solver->bytes - bytes_beside(solver) -
                                (int64_t)s->block.bytes - p->shape.march_bytes;
  KG_TRY(kg_stages_local(p));
  KG_TRY(kg_remainder_look(p));
  report_memory(solver, in_use_before);
  KG_TRY(kg_coefficients_copy(p->ctx, &p->data.resolved->equation, &s->equation));
  kg_layout_leave(&s->cut);
  s->cut = kg_layout_use(p->space.cut);
  return KEDGE_OK;
}

static kedge_status run(kedge_solver *solver)
{
  kg_elliptic *const p = solver->elliptic;
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRANSFER, kg_stage_loads));
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_LOCAL_MATRICES, kg_stage_condense));
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve));
  return kg_solver_end(solver);
}

/// Whether the trace to begin with is numbered as that of this solver.
static kedge_status check_start(const kg_elliptic *p, const kedge_solution *s)
{
  const size_t edges = (size_t)p->shape.count.n_edges;
  KG_REQUIRE(p->ctx, kg_holds(s, KG_HELD_TRACE) && s->cut, KEDGE_ERR_ARG,
             "kedge_solver_solve: the solution to start from has no trace");
  KG_REQUIRE(p->ctx,
             s->mesh == p->mesh && s->size.order == p->shape.size.order &&
                 s->n_edges == p->shape.count.n_edges && s->n_groups == p->shape.count.n_groups &&
                 memcmp(s->cut->layout.edge_section, p->space.cut->layout.edge_section, edges) == 0,
             KEDGE_ERR_ARG,
             "kedge_solver_solve: the solution to start from is of another mesh, order or kind of "
             "conditions");
  return KEDGE_OK;
}

kedge_status kg_solver_check(const kedge_solver *solver, const char *function)
{
  const kg_elliptic *const p = solver->elliptic;
  KG_REQUIRE(p->ctx, p->equation.problem->version == solver->version, KEDGE_ERR_ARG,
             "%s: the problem has changed since the solver was set up: call "
             "kedge_solver_update()",
             function);
  return KEDGE_OK;
}

/// Set the initial trace of a solve: the trace of the solution to start from, read from the device
/// if it is there, or a given trace that is used without an iteration.
static kedge_status put_start(const kg_elliptic *p, const kg_work *work, kg_data_made *made)
{
  kg_data *const data = &made->data;
  const kg_taken_trace *const taken = work->trace;
  data->takes_start = taken != NULL;
  if (taken) {
    data->start = taken->rows;
    data->taken = taken->there;
    return KEDGE_OK;
  }
  if (work->start) {
    data->taken.from = work->start;
    return KEDGE_OK;
  }
  const kedge_solution *const s = made->start;
  if (!s) return KEDGE_OK;
  KG_TRY(check_start(p, s));
  data->taken.from = s->ctx == p->ctx ? kg_solution_there(s, KG_HELD_TRACE, 0) : NULL;
  if (data->taken.from) return KEDGE_OK;
  KG_TRY(kg_solution_bring(s, KG_HOLDS_TRACE));
  data->start = s->held[KG_HELD_TRACE].host;
  return KEDGE_OK;
}

static kedge_status solve(kedge_solver *solver, const kg_work *work, kedge_solution **solution)
{
  kg_elliptic *const p = solver->elliptic;
  kg_data_made made;
  KG_TRY(kg_solver_check(solver, work->function));
  const kedge_solution *const given = *solution;
  if (work->begins) KG_TRY(begin(solver, work->function, solution));
  p->run.solution = *solution;
  kedge_status status = kg_data_make(solver, work->function, work->data, &made);
  if (status == KEDGE_OK) status = kg_fields_check(p->ctx, p->mesh, made.data.resolved, given);
  if (status == KEDGE_OK) status = put_start(p, work, &made);
  if (status == KEDGE_OK) status = kg_giving_open(solver, work->function, &made);
  p->data = made.data;
  p->data.moving = work->moving;
  if (status == KEDGE_OK) status = kg_elliptic_name_robin(p, work->run(solver));
  p->data = kg_elliptic_data(p);
  kg_giving_close(solver);
  kg_source_close(&p->source);
  kg_data_free(&made);
  return status;
}

kedge_status kg_solver_work(kedge_solver *solver, const kg_work *work, kedge_solution **solution)
{
  kg_elliptic *const p = solver->elliptic;
  kedge_status status = kg_enter(p->ctx);
  kg_range_push("solve", p->mesh->n_elements, 0);
  if (status == KEDGE_OK) status = solve(solver, work, solution);
  kg_range_pop();
  p->run.solution = &solver->set_up;
  if (status == KEDGE_OK) return KEDGE_OK;
  kedge_solution_destroy(*solution);
  *solution = NULL;
  return status;
}

kedge_status kg_solver_run(kedge_solver *solver, const char *function, const kedge_data *data,
                           const kg_taken_trace *trace, kedge_solution **solution)
{
  return kg_solver_work(
      solver, &(kg_work){.function = function, .data = data, .trace = trace, .begins = true, run},
      solution);
}

kedge_status kedge_solver_solve(kedge_solver *solver, const kedge_data *data,
                                kedge_solution **solution)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_solve: the solver is NULL");
  KG_REQUIRE(solver->elliptic->ctx, solution, KEDGE_ERR_ARG,
             "kedge_solver_solve: solution is NULL");
  return kg_solver_run(solver, "kedge_solver_solve", data, NULL, solution);
}
