// Solves of several right-hand sides, as many at once as pays.
#include <string.h>

#include "device/context.h"
#include "solver/at_once.h"
#include "solver/solver.h"
#include "solution/values.h"

static const char *const function = "kedge_solver_solve_many";

void kg_solver_forget_many(kedge_solver *s, kedge_context *ctx)
{
  if (!s->many) return;
  const int64_t before = ctx->bytes_in_use;
  kg_many_close(ctx, s->many);
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
  if (kg_many_open(p, &s->many) != KEDGE_OK) return false;
  s->bytes += p->ctx->bytes_in_use - before;
  return true;
}

/// All data; those of an older header end earlier.
static kedge_data data_of(const kedge_data *data)
{
  kedge_data all = KEDGE_DATA_INIT;
  if (data) memcpy(&all, data, data->size < sizeof all ? data->size : sizeof all);
  return all;
}

/// Whether a function is one of n solutions.
static bool is_among(int n, kedge_solution *const *solutions, kedge_function *by, const void *user)
{
  for (int i = 0; i < n; ++i)
    if (by == kedge_by_solution && user && user == solutions[i]) return true;
  return false;
}

/// Whether data begin with a solution or are made of one to overwrite, which each solve reads as
/// those before it have left it.
static bool follows(int n, kedge_solution *const *solutions, const kedge_data *data)
{
  const kedge_data all = data_of(data);
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
  for (int i = 0; i < now; ++i) {
    if (follows(now, solutions, data[i])) return 1;
    // The problem's data may be made of a solution too.
    if (solutions[i] &&
        kg_fields_check(p->ctx, p->mesh, p->data.resolved, solutions[i]) != KEDGE_OK)
      return 1;
  }
  const bool takes = kg_many_takes(p->ctx, &p->shape) && p->arrays.multigrid.coarse;
  return takes && has_room(s) ? now : 1;
}

/// The parts of a solve before the trace solve.
static kedge_status prepare(kedge_solver *s)
{
  kg_elliptic *const p = s->elliptic;
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRANSFER, kg_stage_loads));
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_LOCAL_MATRICES, kg_stage_condense));
  return kg_many_put(p, s->many, s->vector);
}

static kedge_status put(kg_elliptic *p, void *user)
{
  const kedge_solver *const s = user;
  return kg_many_take(p, s->many, s->vector);
}

/// The parts from the trace solve on. Boundary data are those of another vector by now.
static kedge_status finish(kedge_solver *s)
{
  kg_elliptic *const p = s->elliptic;
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRANSFER, kg_stage_boundary));
  p->begun = kg_many_begun(s->many, s->vector);
  p->put = put;
  p->put_user = s;
  const kedge_status status = kg_solver_end(s);
  p->begun = NULL;
  return status;
}

static kedge_status solve_at_once(kedge_solver *s, int n, const kedge_data *const *data,
                                  kedge_solution **solutions)
{
  kg_elliptic *const p = s->elliptic;
  double seconds;
  for (s->vector = 0; s->vector < n; ++s->vector) {
    kedge_solution **const to = &solutions[s->vector];
    KG_TRY(kg_solver_work(s, &(kg_work){function, data[s->vector], NULL, true, prepare}, to));
  }
  KG_TRY(kg_enter(p->ctx));
  KG_TRY(kg_elliptic_name_robin(p, kg_many_solve(p, s->many, n, &seconds)));
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
