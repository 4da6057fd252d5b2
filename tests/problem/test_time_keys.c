// Keys of time: how they are read, and what is refused.
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "fixture.h"

static kedge_status parse(const char *text, kedge_problem **out)
{
  return kg_problem_parse(NULL, "rod.ini", text, strlen(text), NULL, 0, out);
}

static kedge_problem *parsed(const char *text)
{
  kedge_problem *p;
  if (parse(text, &p) != KEDGE_OK) fail_msg("%s: %s", text, kedge_context_error(NULL));
  return p;
}

static double value_at(const kg_function *f, double x, double y)
{
  double value = NAN;
  kg_function_evaluate(f, &(kedge_points){.n = 1, .x = &x, .y = &y}, &value);
  return value;
}

static void all_keys_of_time_are_read(void **state)
{
  (void)state;
  kedge_problem *p = parsed(
      "[parameters]\nperiod = 0.5\n"
      "[time]\nend = 4*period\ntolerance = 1e-5\nscheme = esdirk4\n"
      "events = period, min(1.5*period, 9),\n  3*period\n"
      "until = steady\nsteady_tolerance = 1e-3\n"
      "[initial]\nu = x*y + period\n"
      "[output]\nat = 0.5, 1, 4*period\n"
      "[equation]\nsource = exp(-t)\n");
  const kg_time_settings *const t = &p->time;
  assert_true(t->is_set);
  assert_true(t->end == 2 && t->tolerance == 1e-5 && t->step == 0 && t->steps == 0);
  assert_int_equal(t->scheme, KG_SCHEME_ESDIRK4);
  assert_int_equal(t->n_events, 3);
  assert_true(t->events[0] == 0.5 && t->events[1] == 0.75 && t->events[2] == 1.5);
  assert_int_equal(t->until, KG_UNTIL_STEADY);
  assert_true(t->steady_tolerance == 1e-3);
  assert_int_equal(t->n_outputs, 3);
  assert_true(t->outputs[0] == 0.5 && t->outputs[1] == 1 && t->outputs[2] == 2);
  assert_true(t->every == 0);
  assert_true(value_at(&p->initial, 2, 3) == 6.5);
  kedge_problem_destroy(p);
}

static void what_is_left_out_has_its_default(void **state)
{
  (void)state;
  kedge_problem *p = parsed("[time]\nend = 2\nstep = 0.3\n");
  assert_int_equal(p->time.scheme, KG_SCHEME_TRBDF2);
  assert_int_equal(p->time.until, KG_UNTIL_END);
  assert_true(p->time.step == 0.3);
  assert_int_equal(p->time.n_events + p->time.n_outputs, 0);
  assert_int_equal(p->initial.kind, KG_FUNCTION_NONE);
  kedge_problem_destroy(p);

  p = parsed("[time]\nend = 2\nsteps = 8\n[output]\nevery = 0.5\n");
  assert_true(p->time.step == 0.25);
  assert_true(p->time.every == 0.5);
  kedge_problem_destroy(p);

  p = parsed("[time]\nend = 2\ntolerance = 1e-4\n");
  assert_int_equal(p->time.scheme, KG_SCHEME_ESDIRK4);  // the one that has an estimate
  kedge_problem_destroy(p);

  p = parsed("[space]\norder = 2\n");
  assert_false(p->time.is_set);
  kedge_problem_destroy(p);
}

static void wrong_keys_of_time_are_refused_with_their_place(void **state)
{
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"[time]\nend = 0\nstep = 1", "rod.ini:2: end must be positive, not '0'"},
      {"[time]\nend = -1\nstep = 1", "rod.ini:2: end must be positive, not '-1'"},
      {"[time]\nend = 1\nstep = 1-1", "rod.ini:3: step must be positive, not '1-1', which is 0"},
      {"[time]\nend = 1\nstep = x",
       "rod.ini:3: step must be a constant, but it depends on x, y, t or region"},
      {"[time]\nend = 1\nsteps = 0",
       "rod.ini:3: steps must be a whole number from 1 to 1000000000, not '0'"},
      {"[time]\nstep = 1", "rod.ini:2: [time] has no end; add end = ..."},
      {"[time]\nend = 1",
       "rod.ini:2: [time] has no step; add step = ... or steps = ..., or tolerance = ... for "
       "steps that adapt"},
      {"[time]\nend = 1\nsteps = 4\nstep = 0.25",
       "rod.ini:3: [time] has both step and steps; keep one of them"},
      {"[time]\nend = 1\nstep = 0.25\ntolerance = 1e-3",
       "rod.ini:4: [time] has both step and tolerance; keep one of them"},
      {"[time]\nend = 1\nstep = 1e-300",
       "rod.ini:3: step in [time] is 1e-300, of which end = 1 takes more than 1000000000; give a "
       "longer step"},
      {"[time]\nend = 1\ntolerance = 0", "rod.ini:3: tolerance must be positive, not '0'"},
      {"[time]\nend = 1\nscheme = trbdf2\ntolerance = 1e-3",
       "rod.ini:3: tolerance in [time] needs scheme = esdirk4, which alone estimates its error, "
       "not trbdf2; change the scheme, or give a step"},
      {"[time]\nend = 1\nstep = 1\nscheme = esdirk",
       "rod.ini:4: unknown scheme 'esdirk'; did you mean 'esdirk4'?"},
      {"[time]\nend = 1\nstep = 1\nuntil = steady",
       "rod.ini:4: until = steady in [time] needs steady_tolerance, the |u_t| below which the "
       "state is steady; add it"},
      {"[time]\nend = 1\nstep = 1\nsteady_tolerance = 1e-3",
       "rod.ini:4: steady_tolerance in [time] is of until = steady; add that, or leave it out"},
      {"[time]\nend = 1\nstep = 1\nevents = 0, 0.5",
       "rod.ini:4: events in [time] has 0; times are positive"},
      {"[time]\nend = 1\nstep = 1\nevents = 0.5, 0.25",
       "rod.ini:4: events in [time] has 0.25 behind 0.5; write times that ascend"},
      {"[time]\nend = 1\nstep = 1\nevents = 0.5, 0.5",
       "rod.ini:4: events in [time] has 0.5 behind 0.5; write times that ascend"},
      {"[time]\nend = 1\nstep = 1\nevents = 0.5, 1",
       "rod.ini:4: events in [time] has 1, which is not before end = 1; leave it out"},
      {"[time]\nend = 1\nstep = 1\nevents = 0.5,, 0.75",
       "rod.ini:4: events has nothing between two commas"},
      {"[time]\nend = 1\nstep = 1\nevents = 0.5,",
       "rod.ini:4: events has nothing between two commas"},
      {"[time]\nend = 1\nstep = 1\nevents = 0.25, q",
       "rod.ini:4: column 7 of events: unknown name 'q': known here are x, y, z, t, region, pi; "
       "others are set in [parameters], above those that use them"},
      {"[time]\nend = 1\nstep = 1\n[output]\nat = -1, 1",
       "rod.ini:5: at in [output] has -1; times are positive, as the first step makes the first "
       "solution"},
      {"[time]\nend = 1\nstep = 1\n[output]\nat = 0, 1",
       "rod.ini:5: at in [output] has 0; times are positive, as the first step makes the first "
       "solution"},
      {"[time]\nend = 1\nstep = 1\n[output]\nevery = 1e-300",
       "rod.ini:5: every in [output] is 1e-300, of which end = 1 has more than 1000000; give a "
       "longer one"},
      {"[time]\nend = 1\nstep = 1\n[output]\nat = 0.5, 1.5",
       "rod.ini:5: at in [output] has 1.5, which is behind end = 1 of [time]"},
      {"[time]\nend = 1\nstep = 1\n[output]\nevery = 0.5\nat = 0.5",
       "rod.ini:6: [output] has both every and at; keep one of them"},
      {"[time]\nend = 1\nstep = 1\n[parameters]\nt = 2",
       "rod.ini:5: 't' cannot name a parameter: with [time] it is the time; give the parameter "
       "another name"},
      {"[time]\nend = 1\nstep = 1\n[mesh]\nmap = x+t, y",
       "rod.ini:5: map cannot depend on t: the mesh does not move in time"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *p;
    assert_int_equal(parse(cases[i].text, &p), KEDGE_ERR_INPUT);
    assert_null(p);
    assert_string_equal(kedge_context_error(NULL), cases[i].message);
  }
}

static void without_time_what_needs_it_is_refused(void **state)
{
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"[initial]\nu = 1",
       "rod.ini:2: [initial] u belongs to a problem in time, and there is no [time]; add "
       "[time] with end and step, or leave it out"},
      {"[output]\nevery = 1",
       "rod.ini:2: [output] every belongs to a problem in time, and there is no [time]; add "
       "[time] with end and step, or leave it out"},
      {"[output]\nat = 1",
       "rod.ini:2: [output] at belongs to a problem in time, and there is no [time]; add "
       "[time] with end and step, or leave it out"},
      {"[equation]\nmass = 1",
       "rod.ini:2: [equation] mass belongs to a problem in time, and there is no [time]; add "
       "[time] with end and step, or leave it out"},
      {"[equation]\nsource = 1\n[region steel]\ndiffusion = 2\nmass = 1+x",
       "rod.ini:5: [region steel] mass belongs to a problem in time, and there is no [time]; add "
       "[time] with end and step, or leave it out"},
      {"[equation]\ndiffusion = 1\nsource = 2*x*t",
       "rod.ini:3: [equation] source names t, the time, and there is no [time]; add [time] "
       "with end and step, or set t in [parameters]"},
      {"[boundary left]\ntype = dirichlet\nvalue = t",
       "rod.ini:3: [boundary left] value names t, the time, and there is no [time]; add [time] "
       "with end and step, or set t in [parameters]"},
      {"[integral heat]\nof = t*u",
       "rod.ini:2: [integral heat] of names t, the time, and there is no [time]; add [time] "
       "with end and step, or set t in [parameters]"},
      {"[exact]\nu = exp(-t)",
       "rod.ini:2: [exact] u names t, the time, and there is no [time]; add [time] with end "
       "and step, or set t in [parameters]"},
      {"[parameters]\na = t",
       "rod.ini:2: a must be a constant, but it depends on x, y, t or region"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *p;
    assert_int_equal(parse(cases[i].text, &p), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(NULL), cases[i].message);
  }
}

static void a_steady_problem_may_have_a_parameter_called_t(void **state)
{
  (void)state;
  kedge_problem *p = parsed("[parameters]\nt = 0.25\n[equation]\nsource = 4*t + x\n");
  assert_true(value_at(&p->equation.source, 1, 0) == 2);
  assert_false(kg_function_uses_t(&p->equation.source));
  kedge_problem_destroy(p);
}

static void calls_set_time_and_what_needs_it_in_any_order(void **state)
{
  const fixture *const f = *state;
  set(f, "equation", "source", "t");
  assert_int_equal(kg_problem_check_time(f->ctx, f->problem), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(f->ctx),
                      "[equation] source names t, the time, and there is no [time]; add [time] "
                      "with end and step, or set t in [parameters]");
  set(f, "initial", "u", "x");
  set(f, "time", "step", "0.5");
  set(f, "time", "end", "1");
  assert_int_equal(kg_problem_check_time(f->ctx, f->problem), KEDGE_OK);
}

static void tell_the_time(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = points->t;
}

static void the_initial_state_may_be_a_function(void **state)
{
  const fixture *const f = *state;
  set(f, "time", "end", "1");
  set(f, "time", "steps", "2");
  assert_int_equal(kedge_problem_set_function(f->problem, "initial", "u", tell_the_time, NULL),
                   KEDGE_OK);
  assert_int_equal(f->problem->initial.kind, KG_FUNCTION_CALLER);
  kg_problem_set_time(f->problem, 0.5);
  assert_true(value_at(&f->problem->initial, 0, 0) == 0);  // it is the state at 0 whatever the time
  set(f, "initial", "u", "t");
  assert_true(value_at(&f->problem->initial, 0, 0) == 0);
}

static void all_functions_of_a_problem_get_its_time(void **state)
{
  const fixture *const f = *state;
  set(f, "time", "end", "1");
  set(f, "time", "steps", "2");
  set(f, "equation", "diffusion", "1+t, x, 2+t");
  set(f, "equation", "reaction", "3+t");
  set(f, "equation", "source", "4+t");
  set(f, "region default", "diffusion", "5+t");
  set(f, "boundary default", "type", "robin");
  set(f, "boundary default", "value", "6+t");
  set(f, "boundary default", "coefficient", "7+t");
  set(f, "exact", "u", "(8+t)*x*y");
  const kedge_problem *const p = f->problem;
  const int64_t version = p->version;
  kg_problem_set_time(f->problem, 0.5);
  assert_int_equal(p->version, version);
  const kg_function *const functions[] = {&p->equation.diffusion[0],     &p->equation.diffusion[2],
                                          &p->equation.reaction,         &p->equation.source,
                                          &p->regions[0].diffusion[0],   &p->boundaries[0].value,
                                          &p->boundaries[0].coefficient, &p->exact_u};
  for (int i = 0; i < 8; ++i) assert_true(value_at(functions[i], 1, 1) == i + 1.5);
  assert_true(value_at(&p->exact_dx, 0, 2) == 17 && value_at(&p->exact_dy, 3, 0) == 25.5);
  set(f, "equation", "source", "9+t");  // what is set later has it too
  assert_true(value_at(&p->equation.source, 0, 0) == 9.5);
  assert_true(value_at(&p->exact_dx, 0, 2) == 17);
}

static void what_a_mesh_makes_of_a_problem_has_its_time(void **state)
{
  const fixture *const f = *state;
  kedge_mesh *mesh;
  kg_resolved resolved;
  set(f, "mesh", "generate", "square 2");
  set(f, "time", "end", "1");
  set(f, "time", "steps", "2");
  set(f, "equation", "diffusion", "1+t");
  set(f, "equation", "reaction", "2");
  set(f, "boundary default", "type", "dirichlet");
  set(f, "exact", "u", "x^2*exp(-t)");
  kg_problem_set_time(f->problem, 0.5);
  assert_int_equal(kedge_problem_mesh(f->problem, &mesh), KEDGE_OK);
  if (kg_problem_resolve(f->ctx, f->problem, mesh, &resolved) != KEDGE_OK)
    fail_msg("%s", kedge_context_error(f->ctx));
  assert_int_equal(resolved.n_materials, 1);
  assert_false(resolved.varies);
  assert_true(kg_material_of(&resolved, 0)[0] == 1.5);
  assert_true(kg_coefficients_time(&resolved.equation) == 0.5);
  // u_t - (1 + t) 2 exp(-t) + 2 u
  const double decay = exp(-0.5);
  assert_true(fabs(value_at(&resolved.equation.source, 3, 0) - decay * (-9 - 3 + 18)) <= 1e-14);
  kg_resolved_set_time(&resolved, 0);
  assert_true(fabs(value_at(&resolved.equation.source, 3, 0) - (-9 - 2 + 18)) <= 1e-14);
  kg_resolved_free(&resolved);
  kedge_mesh_destroy(mesh);
}

static void problems_in_time_are_written_and_read_back(void **state)
{
  const fixture *const f = *state;
  kedge_problem *again;
  set(f, "time", "end", "2");
  set(f, "time", "steps", "8");
  set(f, "time", "events", "0.5, 1");
  set(f, "initial", "u", "x");
  set(f, "equation", "source", "t");
  char path[] = "time_keys_XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  assert_int_equal(kedge_problem_write(f->problem, path), KEDGE_OK);
  const kedge_status status = kedge_problem_read(f->ctx, path, NULL, 0, &again);
  unlink(path);
  assert_int_equal(status, KEDGE_OK);
  assert_true(again->time.step == 0.25 && again->time.n_events == 2);
  assert_true(value_at(&again->initial, 3, 0) == 3);
  kedge_problem_destroy(again);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_keys_of_time_are_read),
      cmocka_unit_test(what_is_left_out_has_its_default),
      cmocka_unit_test(wrong_keys_of_time_are_refused_with_their_place),
      cmocka_unit_test(without_time_what_needs_it_is_refused),
      cmocka_unit_test(a_steady_problem_may_have_a_parameter_called_t),
      FIXTURE_TEST(calls_set_time_and_what_needs_it_in_any_order),
      FIXTURE_TEST(the_initial_state_may_be_a_function),
      FIXTURE_TEST(all_functions_of_a_problem_get_its_time),
      FIXTURE_TEST(what_a_mesh_makes_of_a_problem_has_its_time),
      FIXTURE_TEST(problems_in_time_are_written_and_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
