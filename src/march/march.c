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
/// Steps that differ by less than this part are as long as each other: K^e stay.
static const double SAME_STEP = 1e-12;

/// Divide what is left to the next time that is hit into steps of equal length.
static void plan(kedge_march *m)
{
  while (m->hits[m->n_past].t <= m->plan.t) ++m->n_past;
  m->plan.begin = m->plan.t;
  m->plan.until = m->hits[m->n_past].t;
  m->plan.done = 0;
  // What is longer than the longest step by rounding alone is no reason for one more.
  const double n = ceil((m->plan.until - m->plan.begin) / m->most_step - 1e-9);
  m->plan.n = n > 1.0 ? (int64_t)n : 1;
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
  KG_REQUIRE(ctx, !(s->tolerance > 0.0), KEDGE_ERR_UNSUPPORTED,
             "tolerance in [time]: steps do not adapt yet; give step or steps");
  KG_TRY(kg_host_calloc(ctx, 1, sizeof **out, out));
  kedge_march *const m = *out;
  *m = (kedge_march){.ctx = ctx,
                     .mesh = mesh,
                     .problem = problem,
                     .scheme = schemes[s->scheme],
                     .end = s->end,
                     .most_step = s->step,
                     .plan.is_fresh = true,
                     .created = kg_seconds(),
                     .report = {.size = sizeof m->report, .end = s->end, .converged = true}};
  m->report.scheme = m->scheme->name;
  KG_TRY(add_hits(m, s));
  plan(m);
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

static double step_of(const kedge_march *m)
{
  return (m->plan.until - m->plan.begin) / (double)m->plan.n;
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

/// @param[in] t  at the end of the step
static kedge_status stages(kedge_march *m, double t)
{
  const kg_tableau *const scheme = scheme_of(m);
  const double step = step_of(m);
  const bool is_event = m->plan.done + 1 == m->plan.n && m->hits[m->n_past].is_event;
  const double latest = is_event ? just_before(t) : t;
  for (int i = scheme->explicit_first; i < scheme->n_stages; ++i) {
    kg_march_stage stage = {.t = fmin(m->plan.t + scheme->c[i] * step, latest),
                            .index = i,
                            .n = i,
                            .is_last = i + 1 == scheme->n_stages};
    if (scheme->c[i] == 1.0) stage.t = latest;
    for (int j = 0; j < i; ++j) stage.factor[j] = step * scheme->a[i][j];
    KG_TRY(m->method->stage(m->state, &stage));
  }
  m->plan.data_t = latest;
  return m->method->accept(m->state);
}

static kedge_status prepare(kedge_march *m)
{
  const double rate = kg_march_rate(m);
  if (fabs(rate - m->plan.rate) <= SAME_STEP * rate) return KEDGE_OK;
  m->plan.rate = 0.0;
  KG_TRY(m->method->prepare(m->state, rate));
  m->plan.rate = rate;
  return KEDGE_OK;
}

kedge_status kedge_march_step(kedge_march *m)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_step: the march is NULL");
  KG_REQUIRE(m->ctx, m->plan.t < m->end, KEDGE_ERR_ARG,
             "kedge_march_step: the march has ended, at t = %.9g", m->end);
  const bool is_last = m->plan.done + 1 == m->plan.n;
  const double step = step_of(m);
  const double t =
      is_last ? m->plan.until : kg_time_round(m->plan.begin + step * (double)(m->plan.done + 1));
  KG_TRY(prepare(m));
  KG_TRY(stages(m, t));
  m->plan.t = m->report.t = t;
  m->has_solution = true;
  m->report.step = step;
  ++m->report.steps;
  ++m->plan.done;
  m->plan.is_fresh = is_last && m->hits[m->n_past].is_event;
  m->plan.is_output = is_last && m->hits[m->n_past].is_output;
  m->report.seconds = kg_seconds() - m->created;
  if (is_last && t < m->end) plan(m);
  return KEDGE_OK;
}

double kedge_march_time(const kedge_march *m)
{
  return m ? m->plan.t : NAN;
}

bool kedge_march_ended(const kedge_march *m)
{
  return !m || m->plan.t >= m->end;
}

bool kedge_march_is_output(const kedge_march *m)
{
  return m && m->plan.is_output;
}

kedge_status kedge_march_hit(kedge_march *m, double t)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_hit: the march is NULL");
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
             "kedge_march_solution: there was no step yet, which alone makes fluxes and traces");
  return m->method->solution(m->state, out);
}

kedge_status kedge_march_data(kedge_march *m, const kedge_data *data)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_data: the march is NULL");
  KG_TRY(m->method->data(m->state, data));
  m->plan.is_fresh = true;
  m->has_changed = true;
  return KEDGE_OK;
}

kedge_status kedge_march_update(kedge_march *m)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_update: the march is NULL");
  m->plan.is_fresh = true;
  m->has_changed = true;
  return m->method->update(m->state);
}

kedge_status kedge_march_save(const kedge_march *m, const char *path)
{
  KG_REQUIRE(NULL, m, KEDGE_ERR_ARG, "kedge_march_save: the march is NULL");
  KG_REQUIRE(m->ctx, path, KEDGE_ERR_ARG, "kedge_march_save: path is NULL");
  KG_REQUIRE(m->ctx, !m->has_changed, KEDGE_ERR_UNSUPPORTED,
             "kedge_march_save: the problem or its data have changed on the way, and a checkpoint "
             "has none of that: save before, or do without");
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
