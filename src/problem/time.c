// The time of a problem.
#include "problem/time.h"

#include <string.h>

#include "problem/keys.h"
#include "problem/problem.h"

static void set_time(kg_coefficients *c, double t)
{
  for (int k = 0; k < KG_TENSOR_MAX; ++k) kg_function_set_time(&c->diffusion[k], t);
  kg_function_set_time(&c->reaction, t);
  kg_function_set_time(&c->source, t);
  kg_function_set_time(&c->mass, t);
  for (int k = 0; k < KG_WAVE_PROPERTIES; ++k) kg_function_set_time(&c->property[k], t);
  for (int k = 0; k < KG_CURRENTS; ++k) kg_function_set_time(&c->current[k], t);
}

void kg_problem_set_time(kedge_problem *p, double t)
{
  kg_function *const exact[] = {&p->exact_u, &p->exact_dx, &p->exact_dy, &p->exact_dz};
  p->t = t;
  set_time(&p->equation, t);
  for (int i = 0; i < p->n_regions; ++i) set_time(&p->regions[i], t);
  for (int i = 0; i < p->n_boundaries; ++i) {
    kg_function_set_time(&p->boundaries[i].value, t);
    kg_function_set_time(&p->boundaries[i].coefficient, t);
    kg_wave_values_set_time(&p->boundaries[i].wave, t);
  }
  for (int k = 0; k < 4; ++k) kg_function_set_time(exact[k], t);
  kg_function_set_time(&p->initial, 0.0);
  kg_wave_values_set_time(&p->wave.exact, t);
}

void kg_resolved_set_time(kg_resolved *resolved, double t)
{
  set_time(&resolved->equation, t);
  kg_function_set_time(&resolved->reaction, t);
}

double kg_coefficients_time(const kg_coefficients *c)
{
  return c->reaction.t;
}

void kg_time_settle(kg_time_settings *t, bool names_scheme)
{
  if (t->steps > 0 && t->step == 0.0) t->step = t->end / (double)t->steps;
  if (!names_scheme && t->tolerance > 0.0) t->scheme = KG_SCHEME_ESDIRK4;
}

static const kg_setting *find(const kedge_problem *p, const char *section, const char *key)
{
  return kg_settings_find(&p->settings, section, key);
}

/// Whether only a problem in time has a setting.
static bool is_of_time(const kg_setting *s)
{
  static const char *const keys[][2] = {
      {"initial", "u"}, {"output", "every"}, {"output", "at"}, {"equation", "mass"}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    if (strcmp(s->section, keys[i][0]) == 0 && strcmp(s->key, keys[i][1]) == 0) return true;
  return kg_section_group(s->section, "region") && strcmp(s->key, "mass") == 0;
}

static kedge_status check_steady(kedge_context *ctx, const kedge_problem *p)
{
  for (int i = 0; i < p->settings.n; ++i) {
    const kg_setting *const s = &p->settings.items[i];
    if (is_of_time(s))
      return kg_problem_fail(ctx, p, s,
                             "[%s] %s belongs to a problem in time, and there is no [time]; add "
                             "[time] with end and step, or leave it out",
                             s->section, s->key);
  }
  const kg_setting *const s =
      find(p, "parameters", "t") ? NULL : kg_settings_naming(&p->settings, "t");
  if (!s) return KEDGE_OK;
  return kg_problem_fail(ctx, p, s,
                         "[%s] %s names t, the time, and there is no [time]; add [time] with end "
                         "and step, or set t in [parameters]",
                         s->section, s->key);
}

/// How long steps are is said in one way.
static kedge_status check_step(kedge_context *ctx, const kedge_problem *p)
{
  static const char *const keys[] = {"step", "steps", "tolerance"};
  const kg_setting *given = NULL, *const end = find(p, "time", "end");
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
    const kg_setting *const s = find(p, "time", keys[i]);
    if (s && given)
      return kg_problem_fail(ctx, p, s, "[time] has both %s and %s; keep one of them", given->key,
                             s->key);
    if (s) given = s;
  }
  if (kg_problem_is_wave(p) && p->time.step == 0.0) return KEDGE_OK;
  if (given && p->time.step == 0.0 && p->time.tolerance == 0.0)
    return kg_problem_fail(ctx, p, given,
                           "step = auto is of waves, whose steps have a limit; give a length");
  if (!given)
    return kg_problem_fail(ctx, p, end,
                           "[time] has no step; add step = ... or steps = ..., or tolerance = ... "
                           "for steps that adapt");
  const kg_setting *const scheme = find(p, "time", "scheme");
  if (p->time.tolerance > 0.0 && p->time.scheme != KG_SCHEME_ESDIRK4)
    return kg_problem_fail(ctx, p, scheme,
                           "tolerance in [time] needs scheme = esdirk4, which alone estimates its "
                           "error, not %s; change the scheme, or give a step",
                           kg_scheme_words[p->time.scheme]);
  if (p->time.steps == 0 && p->time.step > 0.0 && !(p->time.end / p->time.step <= KG_STEPS_MAX))
    return kg_problem_fail(ctx, p, given,
                           "step in [time] is %g, of which end = %g takes more than %d; give a "
                           "longer step",
                           p->time.step, p->time.end, KG_STEPS_MAX);
  return KEDGE_OK;
}

static kedge_status check_steady_state(kedge_context *ctx, const kedge_problem *p)
{
  const kg_setting *const until = find(p, "time", "until"), *const tolerance =
                                                                find(p, "time", "steady_tolerance");
  const bool steady = p->time.until == KG_UNTIL_STEADY;
  if (steady && !tolerance)
    return kg_problem_fail(ctx, p, until,
                           "until = steady in [time] needs steady_tolerance, the |u_t| below which "
                           "the state is steady; add it");
  if (!steady && tolerance)
    return kg_problem_fail(ctx, p, tolerance,
                           "steady_tolerance in [time] is of until = steady; add that, or leave it "
                           "out");
  return KEDGE_OK;
}

/// A list that ascends lies before the end, or at it, when its last time does.
static kedge_status check_times(kedge_context *ctx, const kedge_problem *p)
{
  const kg_time_settings *const t = &p->time;
  const kg_setting *const at = find(p, "output", "at");
  const double event = t->n_events > 0 ? t->events[t->n_events - 1] : 0.0;
  const double output = t->n_outputs > 0 ? t->outputs[t->n_outputs - 1] : 0.0;
  if (event >= t->end)
    return kg_problem_fail(ctx, p, find(p, "time", "events"),
                           "events in [time] has %g, which is not before end = %g; leave it out",
                           event, t->end);
  if (output > t->end)
    return kg_problem_fail(ctx, p, at, "at in [output] has %g, which is behind end = %g of [time]",
                           output, t->end);
  if (at && t->every > 0.0)
    return kg_problem_fail(ctx, p, at, "[output] has both every and at; keep one of them");
  if (t->every > 0.0 && !(t->end / t->every <= KG_OUTPUTS_MAX))
    return kg_problem_fail(ctx, p, find(p, "output", "every"),
                           "every in [output] is %g, of which end = %g has more than %d; give a "
                           "longer one",
                           t->every, t->end, KG_OUTPUTS_MAX);
  return KEDGE_OK;
}

kedge_status kg_problem_check_time(kedge_context *ctx, const kedge_problem *p)
{
  KG_TRY(kg_problem_check_waves(ctx, p));
  if (!p->time.is_set) return check_steady(ctx, p);
  if (!find(p, "time", "end")) {
    const kg_setting *first = p->settings.items;
    while (strcmp(first->section, "time") != 0) ++first;
    return kg_problem_fail(ctx, p, first, "[time] has no end; add end = ...");
  }
  KG_TRY(check_step(ctx, p));
  KG_TRY(check_steady_state(ctx, p));
  return check_times(ctx, p);
}

kedge_status kg_problem_refuse_time(kedge_context *ctx, const kedge_problem *p)
{
  if (!p->time.is_set) return KEDGE_OK;
  return kg_problem_fail(ctx, p, find(p, "time", "end"),
                         "the problem has a [time], and this solves steady ones: take [time] out, "
                         "or march with it");
}
