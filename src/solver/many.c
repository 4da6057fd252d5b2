// Solves with several right-hand sides, up to KG_VECTORS at once where that is faster than one
// after the other. Only the trace solve is done jointly: by an iteration of its own
// (elliptic/iteration.h), which reads the arrays of the set-up.
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "device/context.h"
#include "solver/data.h"
#include "solver/solver.h"
#include "solution/values.h"

/// What solves at once have beside a set-up.
struct kg_many {
  kg_plan plan;
  kg_iteration iteration;
  double *boundary;  ///< [vector][boundary value] of host memory
  kg_loads_left loads_left[KG_VECTORS];
  kg_system_rule rule[KG_VECTORS];
  kg_system_result result[KG_VECTORS];
};

static const char *const function = "kedge_solver_solve_many";

static size_t free_rows(const kg_elliptic *p)
{
  return (size_t)p->arrays.iteration.linear.base.rows;
}

static size_t all_rows(const kg_elliptic *p)
{
  return (size_t)p->arrays.iteration.linear.base.all_rows;
}

/// Values of kg_elliptic.boundary: those of Neumann edges come first.
static size_t boundary_values(const kg_elliptic *p)
{
  return all_rows(p) - free_rows(p) + (size_t)p->shape.count.n_neumann * (size_t)p->shape.m;
}

/// Numbers of the load vectors of a right-hand side.
static size_t load_numbers(const kg_elliptic *p)
{
  return kg_shape_numbers(&p->shape, KG_ROWS_MODES, p->shape.n_batches);
}

static void close_many(kedge_context *ctx, struct kg_many *m)
{
  kg_iteration_free(ctx, &m->iteration);
  kg_plan_free(ctx, &m->plan);
  free(m->boundary);
  free(m);
}

static kedge_status open_many(kg_elliptic *p, struct kg_many *m)
{
  kg_iteration *const it = &m->iteration;
  kg_iteration_declare(&m->plan, &p->shape, KG_VECTORS, it);
  kg_plan_place(&m->plan);
  KG_TRY(kg_plan_commit(p->ctx, &m->plan));
  KG_TRY(kg_multigrid_share(p->ctx, &p->arrays.iteration.multigrid, &it->multigrid));
  KG_TRY(kg_iteration_bind(p->ctx, it, &p->shape, &p->space.batch, kg_elliptic_locals(p)));
  return kg_host_alloc(p->ctx, KG_VECTORS * boundary_values(p) + 1, sizeof *m->boundary,
                       &m->boundary);
}

void kg_solver_forget_many(kedge_solver *s, kedge_context *ctx)
{
  if (!s->many) return;
  const int64_t before = ctx->bytes_in_use;
  close_many(ctx, s->many);
  s->bytes -= before - ctx->bytes_in_use;
  s->many = NULL;
}

/// Have the memory for many, if the device has it.
static bool has_room(kedge_solver *s)
{
  kg_elliptic *const p = s->elliptic;
  if (s->many) return true;
  if (kg_enter(p->ctx) != KEDGE_OK) return false;
  if (kg_many_bytes(&p->shape) > kg_free_bytes(p->ctx)) return false;
  const int64_t before = p->ctx->bytes_in_use;
  struct kg_many *many;
  if (kg_host_calloc(p->ctx, 1, sizeof *many, &many) != KEDGE_OK) return false;
  if (open_many(p, many) != KEDGE_OK) {
    close_many(p->ctx, many);
    return false;
  }
  s->many = many;
  s->bytes += p->ctx->bytes_in_use - before;
  return true;
}

/// Whether a function is one of n solutions.
static bool is_among(int n, kedge_solution *const *solutions, kedge_function *by, const void *user)
{
  for (int i = 0; i < n; ++i)
    if (by == kedge_by_solution && user && user == solutions[i]) return true;
  return false;
}

/// Return whether the data of a solve depend on a previous solution: as initial trace, or because a
/// source or boundary value evaluates one of the `n` solutions to overwrite. Such solves must be
/// done one after the other.
static bool follows(int n, kedge_solution *const *solutions, const kedge_data *data)
{
  const kedge_data all = kg_data_all(data);
  bool does = all.start || is_among(n, solutions, all.source_function, all.source_user);
  for (int k = 0; all.values && k < all.n_values; ++k)
    does = does || is_among(n, solutions, all.values[k].function, all.values[k].user);
  return does;
}

/// Solves to be made at once.
static int at_once(kedge_solver *s, int n, const kedge_data *const *data,
                   kedge_solution *const *solutions)
{
  const kg_elliptic *const p = s->elliptic;
  const int now = n < KG_VECTORS ? n : KG_VECTORS;
  if (!kg_many_pays(p->ctx, now) || kg_solver_check(s, function) != KEDGE_OK) return 1;
  // Loads that are made again lie in parts that are known behind one solve of them alone.
  if (!p->shape.choice.loads_stay) return 1;
  for (int i = 0; i < now; ++i) {
    if (follows(now, solutions, data[i])) return 1;
    // The problem's data may be made of a solution too.
    if (solutions[i] &&
        kg_fields_check(p->ctx, p->mesh, p->data.resolved, solutions[i]) != KEDGE_OK)
      return 1;
  }
  const bool takes = kg_many_takes(p->ctx, &p->shape) && p->arrays.iteration.multigrid.coarse;
  return takes && has_room(s) ? now : 1;
}

/// The parts of a solve before the trace solve. What they have made is kept, b in work.
static kedge_status prepare(kedge_solver *s)
{
  kg_elliptic *const p = s->elliptic;
  struct kg_many *const m = s->many;
  const size_t v = (size_t)s->vector, n = free_rows(p), load = load_numbers(p), d = sizeof(double);
  double *const work = m->iteration.method.base.work_all;
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRANSFER, kg_stage_loads));
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_LOCAL_MATRICES, kg_stage_condense));
  memcpy(m->boundary + v * boundary_values(p), p->boundary, boundary_values(p) * d);
  m->loads_left[v] = p->loads_left;
  m->rule[v] = kg_trace_rule(p);
  if (m->iteration.load)
    KG_TRY(kg_copy(p->ctx, m->iteration.load + v * load, p->arrays.load, load * d));
  return kg_copy(p->ctx, work + v * n, p->arrays.b, n * d);
}

/// Set up the vectors of a joint iteration with KG_VECTORS right-hand sides. x is zero except for
/// the Dirichlet values. Where there are fewer right-hand sides the others are zero, so that their
/// iterations end at once.
static kedge_status start(kg_elliptic *p, struct kg_many *m, size_t n_vectors)
{
  kg_iteration *const it = &m->iteration;
  double *const work = it->method.base.work_all;
  const size_t n = free_rows(p), all = all_rows(p), values = boundary_values(p), d = sizeof(double);
  const kg_interleave_args b = {.n = (int64_t)n, .from = work, .to = it->b};
  const kg_interleave_args x = {.n = (int64_t)all, .from = work, .to = it->x};
  for (size_t v = n_vectors; v < KG_VECTORS; ++v) {
    m->rule[v] = m->rule[0];
    KG_TRY(kg_zero(p->ctx, work + v * n, n * d));
  }
  KG_TRY(kg_interleave(p->ctx, &b));
  KG_TRY(kg_zero(p->ctx, work, KG_VECTORS * all * d));
  for (size_t v = 0; v < n_vectors; ++v)
    KG_TRY(kg_copy_in(p->ctx, work + v * all + n, m->boundary + (v + 1) * values - (all - n),
                      (all - n) * d));
  return kg_interleave(p->ctx, &x);
}

/// Solve, and leave x one vector behind the other in work.
static kedge_status solve(kg_elliptic *p, struct kg_many *m, size_t n_vectors)
{
  kg_iteration *const it = &m->iteration;
  kg_krylov *const k = &it->method.base;
  kg_plain_residual residual = kg_plain_residual_of(k->linear, it->b);
  const kg_system system = {
      .residual = &residual.base, .krylov = k, .first = &it->first.base, .keeps = true};
  KG_TRY(start(p, m, n_vectors));
  KG_TRY(kg_system_solve(p->ctx, &system, m->rule, m->result));
  const kg_interleave_args x = {
      .n = k->linear->all_rows, .apart = true, .from = k->x, .to = k->work_all};
  KG_TRY(kg_interleave(p->ctx, &x));
  return kg_sync(p->ctx);
}

/// The trace solve of n right-hand sides. @param[out] seconds  of each
static kedge_status solve_traces(kedge_solver *s, int n, double *seconds)
{
  kg_elliptic *const p = s->elliptic;
  const double began = kg_seconds();
  KG_TRY(kg_enter(p->ctx));
  KG_TRY(kg_plan_enter(p->ctx, &p->plan, KG_PHASE_STEP));
  kg_range_push("trace_solve", p->mesh->n_elements, (int64_t)free_rows(p));
  const kedge_status status = solve(p, s->many, (size_t)n);
  kg_range_pop();
  *seconds = (kg_seconds() - began) / n;
  return kg_elliptic_name_robin(p, status);
}

/// What a trace solve of its own would leave.
static kedge_status take(kedge_solver *s)
{
  kg_elliptic *const p = s->elliptic;
  const struct kg_many *const m = s->many;
  const kg_iteration *const it = &m->iteration;
  const size_t v = (size_t)s->vector, all = all_rows(p), load = load_numbers(p), d = sizeof(double);
  const double *const x = it->method.base.work_all;
  memcpy(p->boundary, m->boundary + v * boundary_values(p), boundary_values(p) * d);
  p->loads_left = m->loads_left[v];
  if (it->load) KG_TRY(kg_copy(p->ctx, p->arrays.load, it->load + v * load, load * d));
  KG_TRY(kg_copy(p->ctx, p->arrays.iteration.x, x + v * all, all * d));
  return kg_trace_report(p, &m->result[v]);
}

/// The parts from the trace solve on.
static kedge_status finish(kedge_solver *s)
{
  kg_elliptic *const p = s->elliptic;
  KG_TRY(kg_run_announce(&p->run, KG_STAGE_TRACE_SOLVE, false));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_TRACE_SOLVE));
  KG_TRY(kg_run_end(&p->run, take(s)));
  KG_TRY(kg_run_announce(&p->run, KG_STAGE_TRACE_SOLVE, true));
  return kg_solver_end(s);
}

static kedge_status solve_at_once(kedge_solver *s, int n, const kedge_data *const *data,
                                  kedge_solution **solutions)
{
  double seconds;
  for (s->vector = 0; s->vector < n; ++s->vector) {
    kedge_solution **const to = &solutions[s->vector];
    KG_TRY(kg_solver_work(s, &(kg_work){function, data[s->vector], NULL, true, prepare}, to));
  }
  KG_TRY(solve_traces(s, n, &seconds));
  for (s->vector = 0; s->vector < n; ++s->vector) {
    solutions[s->vector]->report.stages[KG_STAGE_TRACE_SOLVE].seconds += seconds;
    KG_TRY(kg_solver_work(s, &(kg_work){function, data[s->vector], NULL, false, finish},
                          &solutions[s->vector]));
  }
  return KEDGE_OK;
}

/// Have the sentence of a refusal say which data it is about.
static kedge_status name_data(kedge_context *ctx, int i, kedge_status status)
{
  char sentence[sizeof ctx->error];
  if (status != KEDGE_ERR_INPUT) return status;
  memcpy(sentence, ctx->error, sizeof sentence);
  return KG_FAIL(ctx, status, "data[%d]: %s", i, sentence);
}

kedge_status kedge_solver_solve_many(kedge_solver *solver, int n, const kedge_data *const *data,
                                     kedge_solution **solutions)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_solve_many: the solver is NULL");
  kedge_context *const ctx = solver->elliptic->ctx;
  KG_REQUIRE(ctx, n > 0 && data && solutions, KEDGE_ERR_ARG,
             "kedge_solver_solve_many: data or solutions is NULL, or their number is %d", n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      KG_REQUIRE(ctx, !solutions[i] || solutions[i] != solutions[j], KEDGE_ERR_ARG,
                 "kedge_solver_solve_many: solutions %d and %d are the same: each takes a result "
                 "of its own",
                 j, i);
  kedge_status status = KEDGE_OK;
  for (int i = 0, now; status == KEDGE_OK && i < n; i += now) {
    now = at_once(solver, n - i, data + i, solutions + i);
    status = now == 1 ? kedge_solver_solve(solver, data[i], &solutions[i])
                      : solve_at_once(solver, now, data + i, solutions + i);
    const int vector = now == 1 ? 0 : solver->vector;
    if (vector < now) status = name_data(ctx, i + vector, status);
  }
  if (status == KEDGE_OK) return KEDGE_OK;
  for (int i = 0; i < n; ++i) {
    kedge_solution_destroy(solutions[i]);
    solutions[i] = NULL;
  }
  return status;
}
