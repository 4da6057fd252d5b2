// mass u_t - div(diffusion grad u) + reaction u = source as what marches: a stage is the solve of
// the steady equation with reaction + rate mass, and rate (mass base, phi) beside the loads.
// It is one file, as all its functions share the state of a march, which nobody else sees.
#include "march/checkpoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/sized.h"
#include "device/context.h"
#include "march/waves.h"
#include "ops/vector/combine.h"
#include "ops/vector/rounding.h"
#include "plan/plan.h"
#include "problem/problem.h"
#include "solution/values.h"
#include "solver/data.h"
#include "solver/solver.h"

enum { VECTORS = 3 };  ///< of u, beside those of k

/// Data of the caller, with texts of their own.
typedef struct own_data {
  bool are_given;
  kedge_data data;
  char *source;
  kedge_boundary_value *values;
} own_data;

typedef struct parabolic {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  const kedge_problem *from;  ///< the caller's
  kedge_problem *problem;     ///< a copy of it, with the shift of the stage
  kedge_solver *solver;       ///< of the copy
  kedge_marched *report;
  own_data data;
  kg_mass mass;
  kg_mass volume;    ///< for norms, made when the first is taken and the mass is no number
  kg_buffer norms;   ///< their work: kg_norm_numbers()
  kg_moving moving;  ///< the last stage
  // [batch][group][N][lane] of the device, all in one piece: u, the one that follows it, the base
  // of a stage, and k of stages. The value of a stage is made where its k will be.
  kg_buffer vectors;
  int64_t n;  ///< numbers of one
  int n_k;
  double *u, *next, *base, *k[KG_STAGES_MAX];
  double *value;          ///< the k that is still the value of the last stage; NULL: none is
  kg_buffer trace;        ///< of the last stage, where the next one begins
  kg_shared_layout *cut;  ///< that it is numbered by; NULL: there is none
  kedge_solution *solution;
  bool is_made;       ///< the solution is that of u
  bool is_ready;      ///< trace and loads to make it of are there
  bool is_resumed;    ///< likewise, but for the loads,
  double resumed_at;  ///< which are of this time
  bool is_set_up;
  double set_up_at;  ///< the time of its coefficients
} parabolic;

static void free_data(own_data *d)
{
  for (int i = 0; d->values && i < d->data.n_values; ++i) {
    free((char *)d->values[i].group);
    free((char *)d->values[i].text);
  }
  free(d->values);
  free(d->source);
  *d = (own_data){0};
}

static kedge_status copy_text(kedge_context *ctx, const char *from, char **to)
{
  *to = NULL;
  return from ? kg_copy_text(ctx, from, strlen(from), to) : KEDGE_OK;
}

/// @param[out] to  free_data(), also after a failure
static kedge_status copy_data(kedge_context *ctx, const kedge_data *from, own_data *to)
{
  *to = (own_data){.are_given = true, .data = kg_data_all(from)};
  const int n = to->data.n_values;
  const kedge_boundary_value *const values = to->data.values;
  to->data.size = sizeof to->data;
  to->data.start = NULL;
  to->data.n_device = 0;
  to->data.n_values = 0;
  KG_REQUIRE(ctx, n >= 0 && (n == 0 || values), KEDGE_ERR_ARG,
             "kedge_march_data: %d boundary values without an array", n);
  KG_TRY(copy_text(ctx, to->data.source, &to->source));
  to->data.source = to->source;
  KG_TRY(kg_host_calloc(ctx, (size_t)n, sizeof *to->values, &to->values));
  to->data.values = to->values;
  for (; to->data.n_values < n;) {
    kedge_boundary_value *const own = &to->values[to->data.n_values];
    char *group, *text;
    *own = values[to->data.n_values++];
    own->group = own->text = NULL;
    KG_TRY(copy_text(ctx, values[own - to->values].group, &group));
    own->group = group;
    KG_TRY(copy_text(ctx, values[own - to->values].text, &text));
    own->text = text;
  }
  return KEDGE_OK;
}

static void destroy(void *state)
{
  parabolic *const p = state;
  kedge_solution_destroy(p->solution);
  kedge_solver_destroy(p->solver);
  kg_layout_leave(&p->cut);
  kg_mass_free(p->ctx, &p->mass);
  kg_mass_free(p->ctx, &p->volume);
  kg_free(p->ctx, &p->norms);
  kg_free(p->ctx, &p->vectors);
  kg_free(p->ctx, &p->trace);
  kedge_problem_destroy(p->problem);
  free_data(&p->data);
  free(p);
}

static bool any_moves(const parabolic *p)
{
  const kg_resolved *const r = &p->solver->elliptic->equation.resolved;
  bool any = kg_function_may_move(&r->reaction) || kg_function_may_move(&r->equation.mass);
  for (int k = 0; k < r->equation.n_diffusion; ++k)
    any = any || kg_function_may_move(&r->equation.diffusion[k]);
  for (int g = 0; g < p->mesh->n_groups; ++g)
    any = any || kg_function_may_move(r->boundaries[g].coefficient);
  return any;
}

/// Set up the solver of the copy of the problem, for this rate.
static kedge_status set_up(parabolic *p, double rate)
{
  p->is_set_up = false;
  p->problem->shift = rate;
  KG_REQUIRE(p->ctx, p->problem->precision != KEDGE_PRECISION_COMPACT, KEDGE_ERR_UNSUPPORTED,
             "precision = compact makes load vectors again and again, which a problem in time "
             "needs: take double or mixed");
  p->is_made = p->is_ready = false;
  ++p->problem->version;
  ++p->report->set_ups;
  if (p->solver)
    KG_TRY(kedge_solver_update(p->solver));
  else
    KG_TRY(kg_solver_create(p->ctx, p->mesh, p->problem, VECTORS + p->n_k, &p->solver));
  const kg_elliptic *const e = p->solver->elliptic;
  const kg_function *const mass = &e->equation.resolved.equation.mass;
  KG_TRY(kg_mass_make(&e->rules, &e->equation, mass, e->space.is_affine, &p->mass));
  p->report->remakes = any_moves(p);
  p->set_up_at = p->problem->t;
  p->is_set_up = true;
  return KEDGE_OK;
}

static kedge_status prepare(void *state, double rate)
{
  parabolic *const p = state;
  if (!p->report->remakes) return set_up(p, rate);
  p->problem->shift = rate;  // the stage that comes sets up
  p->set_up_at = NAN;
  return KEDGE_OK;
}

/// The mass, where it is a number; else 0.
static double mass_number(const parabolic *p)
{
  const kg_function *const f = &p->solver->elliptic->equation.resolved.equation.mass;
  return f->kind == KG_FUNCTION_CONSTANT ? f->constant : 0.0;
}

/// The weights of norms are those of the mass, where it is a number.
static kedge_status have_volume(parabolic *p)
{
  const kg_elliptic *const e = p->solver->elliptic;
  if (mass_number(p) > 0.0 || p->volume.weight.data) return KEDGE_OK;
  return kg_mass_make(&e->rules, &e->equation, &kg_function_one, e->space.is_affine, &p->volume);
}

/// The L2 norm of a state.
static kedge_status norm_of(parabolic *p, const double *u, double *norm)
{
  const kg_elliptic *const e = p->solver->elliptic;
  const int64_t lanes = (int64_t)e->shape.count.n_groups * KG_LANES;
  const double mass = mass_number(p);
  double *const of_lanes = p->norms.data, squares;
  const kg_rounding_args sum = {.n = lanes,
                                .number = KG_DOUBLE,
                                .ap = of_lanes,
                                .part = of_lanes + lanes,
                                .total = of_lanes + lanes + KG_PIECES};
  KG_TRY(have_volume(p));
  KG_TRY(kg_mass_norms(&e->rules, mass > 0.0 ? &p->mass : &p->volume, u, of_lanes));
  KG_TRY(kg_rounding_sum(p->ctx, &sum));
  KG_TRY(kg_copy_out(p->ctx, &squares, sum.total, sizeof squares));
  *norm = sqrt(squares / (mass > 0.0 ? mass : 1.0));
  return KEDGE_OK;
}

/// Vectors and the trace: what a march has beside a solver.
static kedge_status allocate(parabolic *p)
{
  const kg_shape *const s = &p->solver->elliptic->shape;
  const int count = VECTORS + p->n_k;
  p->n = (int64_t)kg_shape_numbers(s, KG_ROWS_MODES, s->n_batches);
  KG_TRY(kg_alloc(p->ctx, (size_t)(p->n * count), sizeof(double), &p->vectors));
  KG_TRY(kg_zero(p->ctx, p->vectors.data, p->vectors.bytes));
  double *const all = p->vectors.data;
  p->u = all;
  p->next = all + p->n;
  p->base = all + 2 * p->n;
  for (int i = 0; i < p->n_k; ++i) p->k[i] = all + (VECTORS + i) * p->n;
  if (kg_time_measures(&p->problem->time)) {
    KG_TRY(kg_alloc(p->ctx, kg_norm_numbers(s), sizeof(double), &p->norms));
    KG_TRY(kg_zero(p->ctx, p->norms.data, p->norms.bytes));  // lanes without elements stay 0
    KG_TRY(have_volume(p));
  }
  return kg_alloc(p->ctx, (size_t)s->count.n_edges * (size_t)s->m, sizeof(double), &p->trace);
}

/// What is left out comes from [exact], as source and boundary values do; its time is 0 here.
static kedge_status put_initial(parabolic *p)
{
  const size_t n = (size_t)p->n;
  const bool is_exact = p->problem->initial.kind == KG_FUNCTION_NONE;
  const kg_function *const f = is_exact ? &p->problem->exact_u : &p->problem->initial;
  char place[KG_PLACE_BYTES];
  double *u;
  kedge_problem_place(p->from, is_exact ? "exact" : "initial", "u", place, sizeof place);
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *u, &u));
  kedge_status status = kg_project(&p->solver->elliptic->rules, f,
                                   is_exact ? "exact u at t = 0" : "initial u", place, u);
  if (status == KEDGE_OK) status = kg_copy_in(p->ctx, p->u, u, n * sizeof *u);
  free(u);
  return status;
}

/// The work of a stage, between kg_solver_work()'s beginning and end.
static kedge_status run_stage(kedge_solver *solver)
{
  kg_elliptic *const e = solver->elliptic;
  KG_TRY(kg_elliptic_stage(e, KG_STAGE_TRANSFER, kg_stage_loads));
  KG_TRY(kg_elliptic_stage(e, KG_STAGE_LOCAL_MATRICES, kg_stage_condense));
  KG_TRY(kg_elliptic_stage(e, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve));
  return kg_stage_modes(e);
}

/// The trace of the stage before, if it is numbered as that of the solver.
static const double *trace_to_begin_with(const parabolic *p)
{
  const kg_elliptic *const e = p->solver->elliptic;
  const kg_trace_counts *const n = &e->shape.count;
  const kg_shared_layout *const cut = e->space.cut;
  if (!p->cut || p->cut->layout.count.n_edges != n->n_edges ||
      p->cut->layout.count.n_free != n->n_free)
    return NULL;
  const bool same = p->cut == cut || memcmp(p->cut->layout.edge_section, cut->layout.edge_section,
                                            (size_t)n->n_edges) == 0;
  return same ? p->trace.data : NULL;
}

static kedge_status keep_trace(parabolic *p)
{
  const kg_elliptic *const e = p->solver->elliptic;
  const size_t bytes = (size_t)e->shape.count.n_edges * (size_t)e->shape.m * sizeof(double);
  kg_layout_leave(&p->cut);
  KG_TRY(kg_copy(p->ctx, p->trace.data, e->arrays.iteration.x, bytes));
  p->cut = kg_layout_use(e->space.cut);
  return KEDGE_OK;
}

static kg_work work_of(const parabolic *p, const char *function)
{
  return (kg_work){
      .function = function, .data = p->data.are_given ? &p->data.data : NULL, .moving = &p->moving};
}

/// All functions of the problem, and copies of them in the solver, become those of a time.
static kedge_status set_time(parabolic *p, double t)
{
  kg_problem_set_time(p->problem, t);
  if (p->report->remakes && (p->set_up_at != t || !p->is_set_up))
    return set_up(p, p->problem->shift);
  kg_resolved_set_time(&p->solver->elliptic->equation.resolved, t);
  return KEDGE_OK;
}

static void add_to_report(parabolic *p)
{
  const kedge_report *const r = &p->solution->report;
  ++p->report->solves;
  p->report->iterations += r->iterations;
  p->report->converged = p->report->converged && r->converged;
}

/// k of a stage, from its value and its base. @param[out] k  may be the value
static kedge_status make_k(const parabolic *p, const double *value, double *k)
{
  const double rate = p->moving.factor;
  return kg_combine(
      p->ctx,
      &(kg_combine_args){
          .n = p->n, .n_terms = 2, .from = {value, p->base}, .factor = {rate, -rate}, .to = k});
}

static kedge_status make_base(parabolic *p, const kg_march_stage *s)
{
  kg_combine_args base = {.n = p->n, .n_terms = 1, .from = {p->u}, .factor = {1.0}, .to = p->base};
  double *const value = p->value;
  p->value = NULL;
  if (value) KG_TRY(make_k(p, value, value));
  for (int j = 0; j < s->n; ++j) {
    if (s->factor[j] == 0.0) continue;
    base.from[base.n_terms] = p->k[j];
    base.factor[base.n_terms++] = s->factor[j];
  }
  return kg_combine(p->ctx, &base);
}

/// Coefficients that begin to vary inside of elements have results of other sizes.
static void drop_what_does_not_fit(parabolic *p)
{
  if (!p->solution || kg_solver_fits(p->solver, p->solution)) return;
  kedge_solution_destroy(p->solution);
  p->solution = NULL;
}

static kedge_status make_stage(parabolic *p, const kg_march_stage *s)
{
  KG_TRY(kg_enter(p->ctx));
  if (!p->is_set_up && !p->report->remakes) KG_TRY(set_up(p, p->problem->shift));
  KG_TRY(set_time(p, s->t));
  KG_TRY(make_base(p, s));
  double *const value = s->is_last ? p->next : p->k[s->index];
  p->moving = (kg_moving){&p->mass, p->problem->shift, p->base, value, NULL};
  kg_work work = work_of(p, "kedge_march_step");
  work.begins = true;
  work.run = run_stage;
  work.start = trace_to_begin_with(p);
  p->is_made = p->is_ready = p->is_resumed = false;
  drop_what_does_not_fit(p);
  KG_TRY(kg_solver_work(p->solver, &work, &p->solution));
  add_to_report(p);
  KG_TRY(keep_trace(p));
  p->is_ready = true;
  if (!s->is_last) p->value = value;
  return KEDGE_OK;
}

/// What fails of data says when, unless its sentence does.
static kedge_status stage(void *state, const kg_march_stage *s)
{
  parabolic *const p = state;
  const kedge_status status = make_stage(p, s);
  const char *const says = kedge_context_error(p->ctx);
  if ((status != KEDGE_ERR_INPUT && status != KEDGE_ERR_NUMERIC) || strstr(says, "t = "))
    return status;
  const char *const advice = strstr(says, "; ");
  const int n = advice ? (int)(advice - says) : (int)strlen(says);
  return KG_FAIL(p->ctx, status, "%.*s, at t = %.9g%s", n, says, s->t, says + n);
}

static kedge_status accept(void *state)
{
  parabolic *const p = state;
  double *const before = p->u;
  if (p->n_k > 0) KG_TRY(make_k(p, p->next, p->k[0]));
  p->u = p->next;
  p->next = before;
  return kg_sync(p->ctx);
}

/// The work of a solution of which there are u, base and trace.
static kedge_status run_resumed(kedge_solver *solver)
{
  kg_elliptic *const e = solver->elliptic;
  KG_TRY(kg_elliptic_stage(e, KG_STAGE_TRANSFER, kg_stage_loads));
  KG_TRY(kg_elliptic_stage(e, KG_STAGE_LOCAL_MATRICES, kg_stage_condense));
  KG_TRY(kg_elliptic_stage(e, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve));
  return kg_solver_end(solver);
}

/// Make all fields of what the last stage has left: its trace is still where it was found.
static kedge_status make_solution(parabolic *p)
{
  kg_work work = work_of(p, "kedge_march_solution");
  const kg_taken_trace trace = {.there.from = p->trace.data};
  work.run = kg_solver_end;
  if (p->is_resumed) {
    KG_TRY(set_time(p, p->resumed_at));
    p->moving.factor = p->problem->shift;
    work.begins = true;
    work.trace = &trace;
    work.run = run_resumed;
  }
  p->moving.work = p->next;  // what was u before the step
  p->is_ready = p->is_resumed = false;
  KG_TRY(kg_solver_work(p->solver, &work, &p->solution));
  p->is_made = true;
  return KEDGE_OK;
}

static kedge_status solution(void *state, const kedge_solution **out)
{
  parabolic *const p = state;
  KG_REQUIRE(
      p->ctx, p->is_made || p->is_ready || p->is_resumed, KEDGE_ERR_ARG,
      "kedge_march_solution: what was called last has failed, and took the solution with it");
  if (!p->is_made) KG_TRY(make_solution(p));
  *out = p->solution;
  return KEDGE_OK;
}

/// Read them once, so that what is wrong is said here, and not by the next step.
static kedge_status check_data(parabolic *p, const own_data *given)
{
  kg_data_made made;
  const kedge_status status =
      kg_data_make(p->solver, "kedge_march_data", given->are_given ? &given->data : NULL, &made);
  kg_data_free(&made);
  return status;
}

static kedge_status data(void *state, const kedge_data *given)
{
  parabolic *const p = state;
  own_data next = {0};
  if (p->is_ready || p->is_resumed) KG_TRY(make_solution(p));
  if (given) KG_TRY(kg_check_sized(p->ctx, "KEDGE_DATA_INIT", given->size));
  kedge_status status = given ? copy_data(p->ctx, given, &next) : KEDGE_OK;
  if (status == KEDGE_OK && p->is_set_up) status = check_data(p, &next);
  if (status != KEDGE_OK) {
    free_data(&next);
    return status;
  }
  free_data(&p->data);
  p->data = next;
  return KEDGE_OK;
}

static kedge_status copy_at_this_time(parabolic *p, const kedge_problem *problem)
{
  const double t = p->problem->t;
  KG_TRY(kg_problem_clone(problem, &p->problem));
  kg_problem_set_time(p->problem, t);
  return KEDGE_OK;
}

/// Set up for another problem at the time that is reached.
static kedge_status take(parabolic *p, const kedge_problem *problem, double rate)
{
  KG_TRY(copy_at_this_time(p, problem));
  return set_up(p, rate);
}

/// After take() has failed, in the memory of what was there: have the next stage set up for that.
static void put_back(parabolic *p, const kedge_problem *before, double rate)
{
  (void)copy_at_this_time(p, before);
  p->problem->shift = rate;
  p->is_set_up = false;
  p->set_up_at = NAN;
}

static kedge_status update(void *state)
{
  parabolic *const p = state;
  const double rate = p->problem->shift;
  KG_REQUIRE(p->ctx, p->from->order == p->problem->order, KEDGE_ERR_INPUT,
             "kedge_march_update: u has order %d, and the problem now has order %d: begin another "
             "march",
             p->problem->order, p->from->order);
  if (p->is_ready || p->is_resumed) KG_TRY(make_solution(p));
  const bool was_made = p->is_made;
  kedge_problem *before = NULL;
  KG_TRY(kg_problem_clone(p->problem, &before));
  const kedge_status status = take(p, p->from, rate);
  if (status != KEDGE_OK) put_back(p, before, rate);
  kedge_problem_destroy(before);
  p->is_made = was_made;
  KG_TRY(status);
  const kg_shape *const s = &p->solver->elliptic->shape;
  // Mesh and order alone say how u lies, whatever coefficients are.
  KG_REQUIRE(p->ctx, p->n == (int64_t)kg_shape_numbers(s, KG_ROWS_MODES, s->n_batches),
             KEDGE_ERR_INTERNAL, "kedge_march_update: u has another layout");
  return KEDGE_OK;
}

static kedge_status estimate(void *state, int n, const double *factor, double *norm)
{
  parabolic *const p = state;
  const double last = factor[n - 1] * p->moving.factor;
  // The k of the last stage is still (value - base) rate. The sum may overwrite k_1: the next step
  // reads k_0 alone.
  kg_combine_args all = {
      .n = p->n, .n_terms = 2, .from = {p->next, p->base}, .factor = {last, -last}, .to = p->k[1]};
  for (int j = 0; j < n - 1; ++j) {
    if (factor[j] == 0.0) continue;
    all.from[all.n_terms] = p->k[j];
    all.factor[all.n_terms++] = factor[j];
  }
  KG_TRY(kg_combine(p->ctx, &all));
  return norm_of(p, p->k[1], norm);
}

static kedge_status change(void *state, double *norm)
{
  parabolic *const p = state;
  if (p->n_k > 0) return norm_of(p, p->k[0], norm);
  KG_TRY(make_k(p, p->u, p->next));
  return norm_of(p, p->next, norm);
}

static int arrays(void *state, kg_march_array list[KG_MARCH_ARRAYS_MAX])
{
  const parabolic *const p = state;
  int n = 0;
  list[n++] = (kg_march_array){p->u, p->n};
  list[n++] = (kg_march_array){p->base, p->n};
  if (p->n_k > 0) list[n++] = (kg_march_array){p->k[0], p->n};
  list[n++] = (kg_march_array){p->trace.data, (int64_t)(p->trace.bytes / sizeof(double))};
  return n;
}

/// Base and trace are those of the last stage, whose value is u.
static kedge_status resume(void *state, double t)
{
  parabolic *const p = state;
  p->cut = kg_layout_use(p->solver->elliptic->space.cut);
  p->moving = (kg_moving){&p->mass, p->problem->shift, p->base, p->u, NULL};
  p->is_resumed = true;
  p->resumed_at = t;
  return KEDGE_OK;
}

static const kg_march_method method = {prepare, stage,  accept, estimate, change, solution,
                                       data,    update, arrays, resume,   destroy};

static kedge_status start(parabolic *p, double rate)
{
  KG_TRY(kg_problem_clone(p->from, &p->problem));
  KG_TRY(set_up(p, rate));
  return allocate(p);
}

/// Make a march, which begins at 0, or goes on.
/// @param[in]  from  NULL: it begins
/// @param[out] out   kedge_march_destroy(), also after a failure
static kedge_status make(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                         const kg_checkpoint *from, kedge_march **out)
{
  kedge_march *m;
  parabolic *p = NULL;
  if (kg_problem_is_wave(problem)) return kg_waves_march(ctx, mesh, problem, from, out);
  kedge_status status = kg_march_open(ctx, mesh, problem, out);
  m = *out;
  if (status == KEDGE_OK && from) status = kg_checkpoint_take_plan(from, m);
  if (status == KEDGE_OK) status = kg_host_calloc(ctx, 1, sizeof *p, &p);
  if (status == KEDGE_OK) {
    m->method = &method;
    m->state = p;
    *p = (parabolic){.ctx = ctx,
                     .mesh = mesh,
                     .from = problem,
                     .report = &m->report,
                     .n_k = kg_march_ks(m->scheme)};
    // Steps whose lengths differ by rounding have the matrix of the first of them.
    status = start(p, from && m->plan.rate > 0.0 ? m->plan.rate : kg_march_rate(m));
  }
  if (status == KEDGE_OK) m->plan.rate = p->problem->shift;
  if (status == KEDGE_OK) status = from ? kg_checkpoint_take_state(from, m) : put_initial(p);
  return status;
}

kedge_status kedge_march_create(kedge_context *ctx, const kedge_mesh *mesh,
                                const kedge_problem *problem, kedge_march **out)
{
  KG_REQUIRE(ctx, out != NULL, KEDGE_ERR_ARG, "kedge_march_create: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && problem, KEDGE_ERR_ARG,
             "kedge_march_create: context, mesh or problem is NULL");
  KG_TRY(kg_enter(ctx));
  KG_TRY(kg_problem_check_time(ctx, problem));
  const kedge_status status = make(ctx, mesh, problem, NULL, out);
  if (status == KEDGE_OK) return status;
  kedge_march_destroy(*out);
  *out = NULL;
  return status;
}

kedge_status kedge_march_restore(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kedge_problem *problem, const char *path, kedge_march **out)
{
  kg_checkpoint from;
  KG_REQUIRE(ctx, out != NULL, KEDGE_ERR_ARG, "kedge_march_restore: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && problem && path, KEDGE_ERR_ARG,
             "kedge_march_restore: context, mesh, problem or path is NULL");
  KG_TRY(kg_enter(ctx));
  KG_TRY(kg_problem_check_time(ctx, problem));
  kedge_status status = kg_checkpoint_read(ctx, mesh, problem, path, &from);
  if (status == KEDGE_OK) status = make(ctx, mesh, problem, &from, out);
  kg_checkpoint_free(&from);
  if (status == KEDGE_OK) return status;
  kedge_march_destroy(*out);
  *out = NULL;
  return status;
}

kedge_status kedge_march_plan(kedge_context *ctx, const kedge_mesh *mesh,
                              const kedge_problem *problem, kedge_plan *plan)
{
  kedge_problem *copy = NULL;
  kedge_march *m = NULL;
  KG_REQUIRE(ctx, ctx && problem && plan, KEDGE_ERR_ARG, "kedge_march_plan: an argument is NULL");
  KG_TRY(kg_problem_check_time(ctx, problem));
  if (kg_problem_is_wave(problem)) return kg_waves_march_plan(ctx, mesh, problem, plan);
  kedge_status status = kg_march_open(ctx, mesh, problem, &m);
  if (status == KEDGE_OK) status = kg_problem_clone(problem, &copy);
  if (status == KEDGE_OK) {
    const bool adapts = problem->time.tolerance > 0.0;
    double step = 0.0;
    const int64_t steps = adapts ? 0 : kg_march_left(m, &step);
    copy->shift = kg_march_rate(m);
    status = kg_plan_make(ctx,
                          &(kg_plan_args){.mesh = mesh,
                                          .problem = copy,
                                          .repeats = true,
                                          .march_vectors = VECTORS + kg_march_ks(m->scheme),
                                          .counted_from = KG_COUNTED_ELEMENTS,
                                          .march_step = step,
                                          .march_steps = steps},
                          plan);
  }
  kedge_march_destroy(m);
  kedge_problem_destroy(copy);
  return status;
}
