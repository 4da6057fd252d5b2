// Waves as what marches: a stage is one of a low-storage Runge-Kutta scheme.
#include "kedge/waves.h"
#include "march/waves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/sized.h"
#include "device/context.h"
#include "march/checkpoint.h"
#include "march/march.h"
#include "waves/waves.h"

enum { LOOKS = 32 };  ///< steps between two looks for numbers that are not finite
/// A stable step that an update shortens by this factor is noted.
static const double MUCH_SHORTER = 0.1;

/// Stages by times alone: what they add is the affair of kg_waves_stage().
static const kg_tableau scheme = {
    .name = "lsrk4", .order = 4, .n_stages = KG_WAVE_STAGES, .gamma = 1.0, .c = KG_WAVE_TIMES};

typedef struct state {
  kg_waves waves;
  const kedge_problem *from;  ///< the caller's
  kedge_march *march;
  bool is_automatic;  ///< its step
  bool was_updated;
  double step;
  double begun;  ///< kg_seconds() of the step
  bool is_lost;  ///< a stage has failed
} state;

/// Whether the energy of waves has no reason to grow.
static bool is_closed(const state *s)
{
  return !s->was_updated && s->waves.given.n_pieces == 0 && s->waves.driven.n_pieces == 0;
}

/// Whether the energy has grown by more than came in. Where something drives waves it may grow, but
/// no step within the limit makes energy of itself. So a longer one is made of the state, of which
/// nothing is kept, with nothing that drives: energy that grows is then that of the modes that the
/// step does not damp, and these are no wave that the step could follow, however it was driven.
static kedge_status has_grown(state *s, double energy, bool *grown)
{
  // What rounding makes of energies grows with the root of the steps, of which there may be 10^7.
  const double rounding = s->waves.args.number == KG_SINGLE ? 1e-4 : 1e-10;
  const double step_growth = 1e-3;  // far above rounding, and what errors of time make of waves
  double after;
  *grown = false;
  if (is_closed(s)) {
    *grown = !(energy <= (1.0 + rounding) * s->waves.account.first_energy);
    return KEDGE_OK;
  }
  if (!kg_waves_is_longer(s->step, s->waves.longest)) return KEDGE_OK;
  KG_TRY(kg_waves_undriven(&s->waves, s->step, &after));
  *grown = !isfinite(energy) || !(after <= (1.0 + step_growth) * energy);
  return KEDGE_OK;
}

/// Note where the energy has first been seen to have grown.
static kedge_status watch(state *s, double energy, int64_t step, double t)
{
  kedge_marched *const report = &s->march->report;
  bool grown;
  if (report->grown_step > 0) return KEDGE_OK;
  KG_TRY(has_grown(s, energy, &grown));
  if (!grown) return KEDGE_OK;
  report->grown_step = step;
  report->grown_t = t;
  report->converged = false;
  return KEDGE_OK;
}

static kedge_status prepare(void *user, double rate)
{
  state *const s = user;
  s->step = 1.0 / rate;
  return KEDGE_OK;
}

/// A failure in the middle of a step leaves a state of none of the times.
static kedge_status check_state(const state *s, const char *call)
{
  KG_REQUIRE(s->waves.ctx, !s->is_lost, KEDGE_ERR_ARG,
             "%s: a step has failed in its middle and left no state; begin another march, or go on "
             "from a checkpoint",
             call);
  return KEDGE_OK;
}

static kedge_status stage(void *user, const kg_march_stage *what)
{
  state *const s = user;
  KG_TRY(check_state(s, "kedge_march_step"));
  if (what->index == 0) {  // cancelled here, the state is that before the step
    KG_TRY(kg_progress(s->waves.ctx, &(kedge_progress){.stage = "march"}));
    s->begun = kg_seconds();
  }
  s->is_lost = what->index > 0;  // the first stage leaves the state, which it only reads
  s->waves.steps = s->march->report.steps + 1;
  KG_TRY(kg_enter(s->waves.ctx));
  KG_TRY(kg_waves_stage(&s->waves, what->index, s->step, what->t));
  s->is_lost = false;
  return KEDGE_OK;
}

/// Look for numbers that are not finite, and for energy that grows where it may not. Without memory
/// for that the march goes on, and the next look is another try.
static kedge_status look(state *s)
{
  double energy;
  KG_TRY(kg_waves_check(&s->waves));
  if (!kg_waves_is_longer(s->step, s->waves.longest) || s->march->report.grown_step > 0)
    return KEDGE_OK;
  kedge_status status = kg_waves_energy(&s->waves, -1, &energy);
  if (status == KEDGE_OK) status = watch(s, energy, s->waves.steps, s->march->plan.t + s->step);
  if (status != KEDGE_ERR_MEMORY) return status;
  s->waves.ctx->error[0] = '\0';
  return KEDGE_OK;
}

static kedge_status accept(void *user)
{
  state *const s = user;
  s->is_lost = true;
  KG_TRY(kg_sync(s->waves.ctx));
  KG_TRY(kg_waves_check_data(&s->waves));
  s->waves.account.step_seconds += kg_seconds() - s->begun;
  if (s->waves.steps % LOOKS == 0) KG_TRY(look(s));
  s->is_lost = false;
  return KEDGE_OK;
}

static kedge_status solution(void *user, const kedge_solution **out)
{
  state *const s = user;
  (void)out;
  return KG_FAIL(s->waves.ctx, KEDGE_ERR_UNSUPPORTED,
                 "kedge_march_solution: waves have no solution of this kind; read their fields by "
                 "name");
}

static kedge_status data(void *user, const kedge_data *given)
{
  state *const s = user;
  KG_REQUIRE(s->waves.ctx, !given, KEDGE_ERR_UNSUPPORTED,
             "kedge_march_data: waves take sources and boundary values from their problem alone: "
             "change it, and call kedge_march_update()");
  return KEDGE_OK;
}

/// The longest step of a problem. @param[in] longest  of cfl 1
static double step_of(const kedge_problem *p, double longest)
{
  return p->time.step > 0.0 ? p->time.step : p->wave.cfl * longest;
}

/// Refuse more steps than may be counted.
static kedge_status check_steps(kedge_context *ctx, const kedge_problem *p, double step)
{
  if (p->time.end / step <= KG_STEPS_MAX) return KEDGE_OK;
  return kg_problem_fail(ctx, p, kg_settings_find(&p->settings, "time", "end"),
                         "steps may be %.3g long at most, of which end = %g takes more than %d; "
                         "end earlier, or take larger elements or a lower order",
                         step, p->time.end, KG_STEPS_MAX);
}

/// Note a run in which nothing happens, or next to nothing.
static void note_run(kg_waves *w)
{
  const kedge_problem *const p = w->problem;
  const double stable = p->wave.cfl * w->longest;
  if (w->account.first_energy == 0.0 && w->given.n_pieces == 0 && w->driven.n_pieces == 0)
    kg_waves_add_note(w,
                      "no initial values, no source, no data of the boundary: all fields stay 0");
  if (p->time.end < stable)
    kg_waves_add_note(w,
                      "end = %.4g is %.2g of one stable step, %.4g: are lengths and speeds in the "
                      "units of time?",
                      p->time.end, p->time.end / stable, stable);
}

static kedge_status update(void *user)
{
  state *const s = user;
  kg_waves next;
  KG_TRY(check_state(s, "kedge_march_update"));
  KG_TRY(kg_enter(s->waves.ctx));
  KG_TRY(kg_waves_renew(&s->waves, s->from, &next));
  const double step = s->from->wave.cfl * next.longest, before = s->waves.longest;
  const kedge_status status =
      s->is_automatic ? check_steps(s->waves.ctx, next.problem, step) : KEDGE_OK;
  kg_waves_unsettle(status == KEDGE_OK ? &s->waves : &next);
  if (status != KEDGE_OK) return status;
  if (next.longest < MUCH_SHORTER * before)
    kg_waves_add_note(&next, "the longest stable step was %.4g, and is %.4g from t = %.9g on",
                      before, next.longest, s->march->plan.t);
  s->waves = next;
  s->was_updated = true;
  s->march->problem = s->waves.problem;
  if (s->is_automatic) kg_march_limit(s->march, step);
  return KEDGE_OK;
}

static kedge_status may_save(void *user)
{
  state *const s = user;
  KG_TRY(check_state(s, "kedge_march_save"));
  return kg_waves_check(&s->waves);
}

/// The state alone: the first stage of a step needs nothing else. Numbers of single precision are
/// taken two at a time; there is an even number of them.
static int arrays(void *user, kg_march_array list[KG_MARCH_ARRAYS_MAX])
{
  const kg_wave_args *const a = &((state *)user)->waves.args;
  const int64_t n = kg_wave_state(a);
  list[0] = (kg_march_array){(double *)(void *)a->u, a->number == KG_SINGLE ? n / 2 : n};
  return 1;
}

static kedge_status resume(void *user, double t)
{
  state *const s = user;
  s->waves.t = t;
  return KEDGE_OK;
}

static void destroy(void *user)
{
  state *const s = user;
  kg_waves_free(&s->waves);
  free(s);
}

static const kg_march_method method = {.prepare = prepare,
                                       .stage = stage,
                                       .accept = accept,
                                       .solution = solution,
                                       .data = data,
                                       .update = update,
                                       .arrays = arrays,
                                       .resume = resume,
                                       .destroy = destroy,
                                       .may_save = may_save};

kedge_status kg_waves_march(kedge_context *ctx, const kedge_mesh *mesh,
                            const kedge_problem *problem, const kg_checkpoint *from,
                            kedge_march **out)
{
  state *s;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *s, &s));
  s->from = problem;
  s->is_automatic = problem->time.step == 0.0;
  const int64_t in_use = ctx->bytes_in_use;
  kedge_status status = kg_waves_create(ctx, mesh, problem, &s->waves);
  if (status == KEDGE_OK &&
      kg_waves_is_longer(step_of(problem, s->waves.longest), s->waves.longest))
    status = kg_waves_undriven_room(&s->waves);
  s->waves.account.device_bytes = ctx->bytes_in_use - in_use;
  if (status == KEDGE_OK) status = kg_waves_energy(&s->waves, -1, &s->waves.account.first_energy);
  if (status == KEDGE_OK) {
    note_run(&s->waves);
    const double step = step_of(problem, s->waves.longest);
    s->waves.problem->time.step = step;
    status = check_steps(ctx, problem, step);
    if (status == KEDGE_OK) status = kg_march_open(ctx, mesh, s->waves.problem, out);
  }
  if (status != KEDGE_OK) {
    destroy(s);
    return status;
  }
  kedge_march *const m = *out;
  m->method = &method;
  m->state = s;
  s->march = m;
  m->scheme = &scheme;
  m->report.scheme = scheme.name;
  kg_march_left(m, &m->report.step);
  if (!from) return KEDGE_OK;
  KG_TRY(kg_checkpoint_take_plan(from, m));
  if (m->plan.rate > 0.0) KG_TRY(prepare(s, m->plan.rate));
  return kg_checkpoint_take_state(from, m);
}

static void describe(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                     const kg_waves_memory *memory, kedge_plan *plan)
{
  plan->elements = mesh->n_elements;
  plan->edges = mesh->n_edges;
  plan->vertices = mesh->n_vertices;
  plan->boundary_edges = mesh->n_boundary_edges;
  plan->dimension = mesh->dimension;
  plan->order = problem->order;
  plan->preconditioner = plan->smoother = "";
  snprintf(ctx->plan_note, sizeof ctx->plan_note, "%s", memory->note);
  plan->note = ctx->plan_note;
  plan->precision = problem->wave.single ? "single" : "double";
  plan->wave_unknowns = memory->unknowns;
  plan->host_bytes = memory->host;
  plan->free_bytes = memory->free;
  plan->host_free_bytes =
      ctx->backend == KEDGE_BACKEND_CUDA ? kg_memory_available("") : memory->free;
  for (int op = 0; op < KEDGE_OPERATOR_COUNT; ++op) {
    plan->peak_bytes[op] = memory->device;
    plan->needed_bytes[op] = memory->needed;
    plan->fits[op] = memory->needed <= memory->free;
  }
}

/// The step of a march, and how many there are.
static kedge_status count_steps(kedge_context *ctx, const kedge_mesh *mesh,
                                const kedge_problem *problem, double longest, kedge_plan *plan)
{
  const double step = step_of(problem, longest);
  double taken;
  kedge_problem *copy = NULL;
  kedge_march *march = NULL;
  KG_TRY(check_steps(ctx, problem, step));
  kedge_status status = kg_problem_clone(problem, &copy);
  if (status == KEDGE_OK) {
    copy->time.step = step;
    status = kg_march_open(ctx, mesh, copy, &march);
  }
  if (status == KEDGE_OK) {
    plan->wave_step = step;
    plan->wave_steps = kg_march_left(march, &taken);
    plan->wave_longest = longest;
  }
  kedge_march_destroy(march);
  kedge_problem_destroy(copy);
  return status;
}

kedge_status kg_waves_march_plan(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kedge_problem *problem, kedge_plan *plan)
{
  kedge_plan filled = KEDGE_PLAN_INIT;
  kg_waves_memory memory;
  kedge_mesh *own = NULL;
  KG_TRY(kg_check_sized(ctx, "KEDGE_PLAN_INIT", plan->size));
  KG_TRY(kg_enter(ctx));
  if (!mesh) KG_TRY(kedge_problem_mesh(problem, &own));
  kedge_status status = kg_waves_plan(ctx, mesh ? mesh : own, problem, &memory);
  // What does not fit is told, and its sentence stays in the context.
  if (status == KEDGE_ERR_MEMORY && memory.unknowns > 0) status = KEDGE_OK;
  if (status == KEDGE_OK) {
    describe(ctx, mesh ? mesh : own, problem, &memory, &filled);
    status = count_steps(ctx, mesh ? mesh : own, problem, memory.longest, &filled);
  }
  if (status == KEDGE_OK) kg_copy_sized(&filled, plan);
  kedge_mesh_destroy(own);
  return status;
}

const kg_waves *kg_waves_in(const kedge_march *m)
{
  return m && m->method == &method ? &((const state *)m->state)->waves : NULL;
}

kedge_status kg_waves_watch(const kedge_march *m, double energy)
{
  return watch(m->state, energy, m->report.steps, m->plan.t);
}

kedge_status kg_waves_of(const kedge_march *m, const char *call, const void *out, kg_waves **waves)
{
  *waves = NULL;
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "%s: the march is NULL", call);
  KG_REQUIRE(m->ctx, out, KEDGE_ERR_ARG, "%s: an argument is NULL", call);
  KG_REQUIRE(m->ctx, m->method == &method, KEDGE_ERR_ARG,
             "%s: the problem is none of waves; its solution has its fields", call);
  *waves = &((state *)m->state)->waves;
  return check_state(m->state, call);
}
