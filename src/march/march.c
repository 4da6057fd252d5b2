#include "march/march.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/sized.h"
#include "march/checkpoint.h"
#include "march/times.h"
#include "problem/problem.h"

/// Times that differ by less than this part of the end are one.
static const double SAME_TIME = 1e-12;
/// Steps that differ by less than this part, or by rounding of their times, are as long as each
/// other: K^e stay.
static const double SAME_STEP = 1e-12;
/// A step that is shorter than the next one by this factor leaves a k of rounding alone.
static const double SHORT = 1e-5;

/// How steps adapt: they take so much of the length that would just do, and grow and shrink by so
/// much at once.
static const double SAFETY = 0.9, GROWTH = 4.0, SHRINKAGE = 0.2;
/// New matrices are paid by a step that is longer by this, and need not be made for one that would
/// be shorter by that (tests/march/test_adaptive.c counts what is saved).
static const double PAYS = 1.5, DOES = 0.96;
/// A first step knows little: one that is much too long becomes much shorter, by an order that
/// holds where data jump.
static const double FIRST_SHRINKAGE = 0.01, FIRST_ORDER = 2.0;

/// What times of this size lose to rounding, as a part of a step.
static double rounding_of(double t, double step)
{
  return 4.0 * DBL_EPSILON * t / step;
}

/// Into how many equal steps a length is divided. What is longer than the longest step by rounding
/// alone is no reason for one more.
/// @param[in] end  the time at its end
static int64_t count_steps(double length, double most, double end)
{
  const double n = ceil(length / most - fmax(1e-9, rounding_of(end, most)));
  return n > 1.0 ? (int64_t)fmin(n, 1e18) : 1;
}

/// Have steps of equal length end at the next time that is hit. What is done of them stays.
static void plan_until(kedge_march *m)
{
  while (m->hits[m->n_past].t <= m->plan.t) ++m->n_past;
  m->plan.until = m->hits[m->n_past].t;
  m->plan.n = count_steps(m->plan.until - m->plan.begin,
                          m->tolerance > 0.0 ? m->plan.wanted : m->most_step, m->plan.until);
}

/// Divide what is left to the next time that is hit into steps of equal length.
static void plan(kedge_march *m)
{
  m->plan.begin = m->plan.t;
  m->plan.done = 0;
  plan_until(m);
}

/// Plan steps behind a jump of the data, or at the beginning. How long a step may be that adapts is
/// not known: for data of order 1 that move by as much until the next jump, a scheme of order 4 has
/// the error of the tolerance with some half of this length.
static void plan_anew(kedge_march *m)
{
  int next = m->n_past;
  while (m->hits[next].t <= m->plan.t || (m->hits[next].t < m->end && !m->hits[next].is_event))
    ++next;
  const double first = 0.5 * pow(fmin(m->tolerance, 1.0), 0.25) * (m->hits[next].t - m->plan.t);
  m->plan.wanted = m->plan.wanted > 0.0 ? fmin(m->plan.wanted, first) : first;
  plan(m);
}

/// Add a time, which may be there already, to those that are hit.
static kedge_status add_hit(kedge_march *m, kg_hit hit)
{
  int at = m->n_hits;
  while (at > 0 && m->hits[at - 1].t >= hit.t - SAME_TIME * m->end) --at;
  if (at < m->n_hits && m->hits[at].t <= hit.t + SAME_TIME * m->end) {
    m->hits[at].is_event = m->hits[at].is_event || hit.is_event;
    m->hits[at].is_output = m->hits[at].is_output || hit.is_output;
    return KEDGE_OK;
  }
  if (m->n_hits == m->hits_room) {
    const int room = 2 * m->hits_room + 16;
    kg_hit *more;
    KG_TRY(kg_host_alloc(m->ctx, (size_t)room, sizeof *more, &more));
    if (m->n_hits > 0) memcpy(more, m->hits, (size_t)m->n_hits * sizeof *more);
    free(m->hits);
    m->hits = more;
    m->hits_room = room;
  }
  memmove(m->hits + at + 1, m->hits + at, (size_t)(m->n_hits - at) * sizeof hit);
  m->hits[at] = hit;
  ++m->n_hits;
  return KEDGE_OK;
}

/// Events, outputs and the end, which is one. Of times that are one the former stands, as data jump
/// at events exactly.
static kedge_status add_hits(kedge_march *m, const kg_time_settings *s)
{
  const int64_t n = s->every > 0.0 ? (int64_t)(s->end / s->every * (1.0 + SAME_TIME)) : 0;
  KG_TRY(add_hit(m, (kg_hit){.t = s->end, .is_output = true}));
  for (int i = 0; i < s->n_events; ++i)
    KG_TRY(add_hit(m, (kg_hit){s->events[i], .is_event = true}));
  for (int i = 0; i < s->n_outputs; ++i)
    KG_TRY(add_hit(m, (kg_hit){s->outputs[i], .is_output = true}));
  for (int64_t i = 1; i <= n; ++i)
    KG_TRY(add_hit(m, (kg_hit){kg_time_round((double)i * s->every), .is_output = true}));
  return KEDGE_OK;
}

kedge_status kg_march_open(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                           kedge_march **out)
{
  const kg_time_settings *const s = &problem->time;
  static const kg_tableau *const schemes[KG_SCHEMES] = {[KG_SCHEME_EULER] = &kg_tableau_euler,
                                                        [KG_SCHEME_TRBDF2] = &kg_tableau_trbdf2,
                                                        [KG_SCHEME_ESDIRK4] = &kg_tableau_esdirk4};
  *out = NULL;
  KG_REQUIRE(ctx, s->is_set, KEDGE_ERR_INPUT,
             "the problem has no [time]: add [time] with end and step");
  KG_TRY(kg_host_calloc(ctx, 1, sizeof **out, out));
  kedge_march *const m = *out;
  *m = (kedge_march){
      .ctx = ctx,
      .mesh = mesh,
      .problem = problem,
      .scheme = schemes[s->scheme],
      .end = s->end,
      .most_step = s->step,
      .tolerance = s->tolerance,
      .steady_tolerance = s->until == KG_UNTIL_STEADY ? s->steady_tolerance : 0.0,
      .plan.is_fresh = true,
      .created = kg_seconds(),
      .report = {.size = sizeof m->report, .end = s->end, .converged = true, .change = NAN}};
  m->report.scheme = m->scheme->name;
  KG_TRY(add_hits(m, s));
  m->plan.is_output = m->hits[0].t == 0.0;
  plan_anew(m);
  return KEDGE_OK;
}

void kedge_march_destroy(kedge_march *m)
{
  if (!m) return;
  if (m->state) m->method->destroy(m->state);
  free(m->hits);
  free(m);
}

/// The scheme of the next step.
static const kg_tableau *scheme_of(const kedge_march *m)
{
  return m->plan.is_fresh && m->scheme->first ? m->scheme->first : m->scheme;
}

/// The step that was given where it divides a length, but for what rounding makes of times: then
/// steps have the same bits whatever is hit.
static double step_of(const kedge_march *m)
{
  const double length = m->plan.until - m->plan.begin, n = (double)m->plan.n;
  const bool divides = fabs(length - n * m->most_step) <= 4.0 * DBL_EPSILON * m->plan.until;
  return divides ? m->most_step : length / n;
}

double kg_march_rate(const kedge_march *m)
{
  return 1.0 / (scheme_of(m)->gamma * step_of(m));
}

/// A time that is less by so little that nothing but a jump of the data is between.
static double just_before(double t)
{
  return t - 4.0 * DBL_EPSILON * t;
}

/// Likewise, greater.
static double just_after(double t)
{
  return t + 4.0 * DBL_EPSILON * t;
}

/// @param[in] t  at the end of the step
static kedge_status stages(kedge_march *m, double t)
{
  const kg_tableau *const scheme = scheme_of(m);
  const double step = step_of(m);
  const bool is_event = m->plan.done + 1 == m->plan.n && m->hits[m->n_past].is_event;
  const double latest = is_event ? just_before(t) : t;
  const double earliest = m->plan.is_fresh ? just_after(m->plan.t) : m->plan.t;
  for (int i = scheme->explicit_first; i < scheme->n_stages; ++i) {
    kg_march_stage stage = {.t = fmax(earliest, fmin(m->plan.t + scheme->c[i] * step, latest)),
                            .index = i,
                            .n = i,
                            .is_last = i + 1 == scheme->n_stages};
    if (scheme->c[i] == 1.0) stage.t = latest;
    for (int j = 0; j < i; ++j) stage.factor[j] = step * scheme->a[i][j];
    KG_TRY(m->method->stage(m->state, &stage));
  }
  m->plan.data_t = latest;
  return KEDGE_OK;
}

/// How much longer, or shorter, a step may be than one of this error.
static double factor_of(const kedge_march *m, double error)
{
  const bool is_first = m->plan.is_fresh && !(error <= m->tolerance);
  const double least = is_first ? FIRST_SHRINKAGE : SHRINKAGE;
  const double order = is_first ? FIRST_ORDER : m->scheme->order;
  const double factor = SAFETY * pow(m->tolerance / error, 1.0 / order);
  return factor >= least ? fmin(factor, GROWTH) : least;
}

static kedge_status prepare(kedge_march *m)
{
  const double rate = kg_march_rate(m);
  const double alike = fmax(SAME_STEP, rounding_of(m->plan.until, step_of(m)));
  if (fabs(rate - m->plan.rate) <= alike * rate) return KEDGE_OK;
  m->plan.rate = 0.0;
  KG_TRY(m->method->prepare(m->state, rate));
  m->plan.rate = rate;
  return KEDGE_OK;
}

/// What a step makes that may have to be made again.
typedef struct trial {
  double step, t;  ///< its length, and the time at its end
  double factor;   ///< of steps that adapt: factor_of() its error
  bool is_last;    ///< before a time that is hit
  bool is_good;
} trial;

/// Make the stages of a step, and estimate its error where it adapts.
static kedge_status try_step(kedge_march *m, trial *s)
{
  const double step = step_of(m);
  *s = (trial){.step = step, .is_last = m->plan.done + 1 == m->plan.n, .is_good = true};
  s->t =
      s->is_last ? m->plan.until : kg_time_round(m->plan.begin + step * (double)(m->plan.done + 1));
  KG_REQUIRE(m->ctx, s->t > m->plan.t && step > SAME_TIME * m->end, KEDGE_ERR_NUMERIC,
             "at t = %.9g a step of %.3g is too long for the tolerance %.3g, and a shorter one is "
             "none: is it below the tolerance of the solves?",
             m->plan.t, step, m->tolerance);
  KG_TRY(prepare(m));
  KG_TRY(stages(m, s->t));
  if (m->tolerance == 0.0) return KEDGE_OK;
  const kg_tableau *const scheme = scheme_of(m);
  double factor[KG_STAGES_MAX], error;
  for (int i = 0; i < scheme->n_stages; ++i) factor[i] = step * scheme->error[i];
  KG_TRY(m->method->estimate(m->state, scheme->n_stages, factor, &error));
  s->is_good = error <= m->tolerance;
  s->factor = factor_of(m, error);
  return KEDGE_OK;
}

/// Plan the steps behind one of those that adapt, which keep their length where another one does
/// not pay for its matrices.
static void adapt(kedge_march *m, const trial *s)
{
  const bool keeps = s->factor >= DOES && s->factor <= PAYS;
  m->plan.wanted = keeps ? s->step : s->factor * s->step;
  if (keeps || s->is_last) return;
  const double left = m->plan.until - m->plan.t;
  const double step = left / (double)count_steps(left, m->plan.wanted, m->plan.until);
  if (step < DOES * s->step || step > PAYS * s->step) plan(m);
}

/// Whether the state is steady, where the march ends then.
static kedge_status look_whether_steady(kedge_march *m)
{
  if (m->steady_tolerance == 0.0) return KEDGE_OK;
  KG_TRY(m->method->change(m->state, &m->report.change));
  m->plan.is_steady = m->report.is_steady = m->report.change < m->steady_tolerance;
  return KEDGE_OK;
}

kedge_status kedge_march_step(kedge_march *m)
{
  trial s;
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_step: the march is NULL");
  KG_REQUIRE(m->ctx, !kedge_march_ended(m), KEDGE_ERR_ARG,
             "kedge_march_step: the march has ended, at t = %.9g", m->plan.t);
  m->plan.has_failed = true;
  for (;;) {
    KG_TRY(try_step(m, &s));
    if (s.is_good) break;
    ++m->report.rejected;
    m->plan.wanted = s.factor * s.step;
    plan(m);
  }
  KG_TRY(m->method->accept(m->state));
  m->plan.t = m->report.t = s.t;
  m->plan.has_failed = false;
  m->has_solution = true;
  m->report.step = s.step;
  ++m->report.steps;
  ++m->plan.done;
  m->plan.is_fresh = s.is_last && m->hits[m->n_past].is_event;
  m->plan.is_output = s.is_last && m->hits[m->n_past].is_output;
  if (m->tolerance > 0.0) adapt(m, &s);
  if (s.is_last && s.t < m->end) (m->plan.is_fresh ? plan_anew : plan)(m);
  if (s.t < m->end && s.step < SHORT * step_of(m)) m->plan.is_fresh = true;
  KG_TRY(look_whether_steady(m));
  m->report.seconds = kg_seconds() - m->created;
  return KEDGE_OK;
}

kedge_status kg_march_move_end(kedge_march *m, int n, const kg_hit *hits)
{
  const kg_march_plan before = m->plan;
  const double step = step_of(m);
  for (int i = 0; i < n; ++i) {
    const bool was_asked_for = !hits[i].is_event && !hits[i].is_output && hits[i].t < m->end;
    if (hits[i].t <= m->plan.t || was_asked_for) KG_TRY(add_hit(m, hits[i]));
  }
  plan_until(m);
  if (m->plan.until == before.until) {
    m->plan = before;
    return KEDGE_OK;
  }
  if (m->plan.t < before.until && m->tolerance == 0.0 && step_of(m) == step) return KEDGE_OK;
  plan(m);
  if (m->report.step < SHORT * step_of(m)) m->plan.is_fresh = true;
  return KEDGE_OK;
}

void kg_march_limit(kedge_march *m, double most_step)
{
  m->most_step = most_step;
  if (!kedge_march_ended(m)) plan(m);
}

int64_t kg_march_left(const kedge_march *m, double *longest)
{
  int64_t n = 0;
  double from = m->plan.t;
  *longest = 0.0;
  for (int i = m->n_past; i < m->n_hits; ++i) {
    const double length = m->hits[i].t - from;
    const int64_t steps = count_steps(length, m->most_step, m->hits[i].t);
    n += steps;
    *longest = fmax(*longest, length / (double)steps);
    from = m->hits[i].t;
  }
  return n;
}

double kedge_march_time(const kedge_march *m)
{
  return m ? m->plan.t : NAN;
}

bool kedge_march_ended(const kedge_march *m)
{
  return !m || m->plan.t >= m->end || m->plan.is_steady;
}

bool kedge_march_is_output(const kedge_march *m)
{
  return m && m->plan.is_output;
}

kedge_status kedge_march_hit(kedge_march *m, double t)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_hit: the march is NULL");
  if (fabs(t - m->plan.t) <= SAME_TIME * m->end) return KEDGE_OK;
  KG_REQUIRE(m->ctx, t > m->plan.t && t <= m->end * (1.0 + SAME_TIME), KEDGE_ERR_ARG,
             "kedge_march_hit: t = %.9g is not between now, %.9g, and the end, %.9g", t, m->plan.t,
             m->end);
  KG_TRY(add_hit(m, (kg_hit){.t = t}));
  if (m->hits[m->n_past].t != m->plan.until) plan(m);
  return KEDGE_OK;
}

kedge_status kedge_march_solution(kedge_march *m, const kedge_solution **out)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_solution: the march is NULL");
  KG_REQUIRE(m->ctx, out, KEDGE_ERR_ARG, "kedge_march_solution: solution is NULL");
  *out = NULL;
  KG_REQUIRE(m->ctx, m->has_solution, KEDGE_ERR_ARG,
             "kedge_march_solution: there is none before a step, which alone makes fluxes and "
             "traces");
  return m->method->solution(m->state, out);
}

/// The data have changed: the next step is a first one, and what was steady is so no more.
static void begin_anew(kedge_march *m)
{
  m->plan.is_fresh = m->has_changed = true;
  m->plan.is_steady = m->report.is_steady = false;
  if (m->tolerance > 0.0 && !kedge_march_ended(m)) plan_anew(m);
}

kedge_status kedge_march_data(kedge_march *m, const kedge_data *data)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_data: the march is NULL");
  KG_TRY(m->method->data(m->state, data));
  begin_anew(m);
  return KEDGE_OK;
}

kedge_status kedge_march_update(kedge_march *m)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_update: the march is NULL");
  KG_TRY(m->method->update(m->state));
  begin_anew(m);
  return KEDGE_OK;
}

kedge_status kedge_march_save(const kedge_march *m, const char *path)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_save: the march is NULL");
  KG_REQUIRE(m->ctx, path, KEDGE_ERR_ARG, "kedge_march_save: path is NULL");
  KG_REQUIRE(m->ctx, !m->has_changed, KEDGE_ERR_UNSUPPORTED,
             "kedge_march_save: the problem or its data have changed on the way, and a checkpoint "
             "has none of that: save before, or do without");
  if (m->method->may_save) KG_TRY(m->method->may_save(m->state));
  return kg_checkpoint_write(m, path);
}

int64_t kedge_march_outputs(const kedge_march *m, int64_t room, double *t)
{
  int64_t n = 0;
  for (int i = 0; m && i < m->n_hits && m->hits[i].t <= m->plan.t; ++i) {
    if (!m->hits[i].is_output) continue;
    if (t && n < room) t[n] = m->hits[i].t;
    ++n;
  }
  return n;
}

kedge_status kedge_march_report(const kedge_march *m, kedge_marched *report)
{
  KG_REQUIRE(NULL, m && report, KEDGE_ERR_ARG,
             "kedge_march_report: the march or the report is NULL");
  KG_TRY(kg_check_sized(m->ctx, "KEDGE_MARCHED_INIT", report->size));
  kg_copy_sized(&m->report, report);
  return KEDGE_OK;
}
