// What a march does between steps, what it refuses, and the memory that it takes.
#include "moving.h"

#include <string.h>

#define COOLING                                                                                    \
  {"mesh", "generate", "square 5"}, {"space", "order", "2"}, {"equation", "source", "x*sin(4*t)"}, \
      {"exact", "u", "cos(x+2*y)*(1+t^2)"}, {"initial", "u", "cos(x+2*y)"},                        \
      {"boundary left", "type", "dirichlet"}, {"boundary left", "value", "1+t"},                   \
      {"boundary default", "type", "robin"}, {"boundary default", "coefficient", "2"},             \
      {"boundary default", "value", "0"},                                                          \
  {                                                                                                \
    "solver", "tolerance", "1e-12"                                                                 \
  }

enum { STEPS = 3 };

static moving cooling(const char *scheme)
{
  return moving_of(SETTINGS(COOLING), scheme, 0.3, STEPS);
}

static const kedge_solution *solution_now(const moving *m)
{
  const kedge_solution *solution;
  must(m->ctx, kedge_march_solution(m->march, &solution));
  return solution;
}

static fields fields_now(const moving *m)
{
  return fields_of(m->ctx, solution_now(m));
}

static void assert_refused(const moving *m, kedge_status status, kedge_status expected,
                           const char *sentence)
{
  assert_int_equal(status, expected);
  if (!strstr(kedge_context_error(m->ctx), sentence))
    fail_msg("'%s' has not '%s'", kedge_context_error(m->ctx), sentence);
}

static void a_solution_is_the_same_whether_those_before_were_asked_for(void **state)
{
  (void)state;
  moving asks = cooling("esdirk4"), waits = cooling("esdirk4");
  for (int i = 0; i < STEPS; ++i) {
    must(asks.ctx, kedge_march_step(asks.march));
    solution_now(&asks);
    assert_ptr_equal(solution_now(&asks), solution_now(&asks));
  }
  march_on(&waits);
  fields a = fields_now(&asks), b = fields_now(&waits);
  assert_same_bits(&a, &b);
  fields_free(&a);
  fields_free(&b);
  moving_free(&asks);
  moving_free(&waits);
}

static void a_mass_may_be_an_array(void **state)
{
  enum { ELEMENTS = 50 };
  double two[ELEMENTS];
  (void)state;
  moving number = cooling("trbdf2"), array = cooling("trbdf2");
  for (int i = 0; i < ELEMENTS; ++i) two[i] = 2.0;
  must(number.ctx, kedge_problem_set(number.problem, "equation", "mass", "2"));
  must(array.ctx,
       kedge_problem_set_function(array.problem, "equation", "mass", kedge_by_element, two));
  must(number.ctx, kedge_march_update(number.march));
  must(array.ctx, kedge_march_update(array.march));
  march_on(&number);
  march_on(&array);
  fields a = fields_now(&number), b = fields_now(&array);
  kedge_marched marched = KEDGE_MARCHED_INIT;
  must(array.ctx, kedge_march_report(array.march, &marched));
  assert_false(marched.remakes);
  assert_at_most(fields_distance(&a, &b), 1e-10);
  fields_free(&a);
  fields_free(&b);
  two[7] = -1.0;
  assert_refused(&array, kedge_march_update(array.march), KEDGE_ERR_INPUT, "mass must be positive");
  moving_free(&number);
  moving_free(&array);
}

static void memory_is_predicted(void **state)
{
  static const char *const schemes[] = {"euler", "esdirk4"};
  static const char *const mass[] = {"2", "1+x"};
  (void)state;
  for (int i = 0; i < 4; ++i) {
    const setting *const settings = SETTINGS(COOLING, {"equation", "mass", mass[i / 2]});
    moving m = moving_of(settings, schemes[i % 2], 1.0, 4);
    kedge_plan plan = KEDGE_PLAN_INIT;
    must(m.ctx, kedge_march_plan(m.ctx, m.mesh, m.problem, &plan));
    assert_true(plan.march_bytes > 0);
    m.ctx->bytes_peak = m.ctx->bytes_in_use;
    march_on(&m);
    const kedge_report report = report_now(&m);
    assert_int_equal(m.ctx->bytes_peak,
                     plan.peak_bytes[plan.operator_kind] + plan.march_bytes + plan.solution_bytes);
    assert_int_equal(report.peak_device_bytes, m.ctx->bytes_peak);
    assert_int_equal(report.predicted_device_bytes, m.ctx->bytes_peak);
    moving_free(&m);
  }
}

static void data_of_the_caller_take_the_place_of_the_problems(void **state)
{
  (void)state;
  moving own = cooling("trbdf2");
  must(own.ctx, kedge_problem_set(own.problem, "equation", "source", "3*t"));
  must(own.ctx, kedge_problem_set(own.problem, "boundary left", "value", "2"));
  must(own.ctx, kedge_march_update(own.march));
  march_on(&own);
  moving given = cooling("trbdf2");
  char text[] = "2";
  kedge_boundary_value value = {.group = "left", .text = text};
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "3*t";
  data.n_values = 1;
  data.values = &value;
  must(given.ctx, kedge_march_data(given.march, &data));
  text[0] = '9';  // it is copied
  march_on(&given);
  fields a = fields_now(&own), b = fields_now(&given);
  assert_same_bits(&a, &b);
  fields_free(&a);
  fields_free(&b);
  moving_free(&own);
  moving_free(&given);
}

static void a_solution_outlives_a_change_of_data_or_of_the_problem(void **state)
{
  (void)state;
  moving m = cooling("trbdf2"), other = cooling("trbdf2");
  must(m.ctx, kedge_march_step(m.march));
  must(other.ctx, kedge_march_step(other.march));
  fields a = fields_now(&m);
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "1000";
  must(other.ctx, kedge_march_data(other.march, &data));
  must(other.ctx, kedge_problem_set(other.problem, "equation", "diffusion", "50"));
  must(other.ctx, kedge_march_update(other.march));
  fields b = fields_now(&other);
  assert_same_bits(&a, &b);
  must(other.ctx, kedge_march_step(other.march));
  fields c = fields_now(&other);
  assert_true(fields_distance(&a, &c) > 1.0);
  fields_free(&a);
  fields_free(&b);
  fields_free(&c);
  moving_free(&m);
  moving_free(&other);
}

static void cancelled_steps_of(const char *diffusion)
{
  moving m = cooling("esdirk4"), other = cooling("esdirk4");
  const kedge_solution *none;
  must(m.ctx, kedge_problem_set(m.problem, "equation", "diffusion", diffusion));
  must(m.ctx, kedge_march_update(m.march));
  must(other.ctx, kedge_problem_set(other.problem, "equation", "diffusion", diffusion));
  must(other.ctx, kedge_march_update(other.march));
  must(m.ctx, kedge_march_step(m.march));
  for (int most = 1; most < 60; most += 7) {
    patience p = {.most = most};
    kedge_context_set_progress(m.ctx, be_patient, &p);
    assert_int_equal(kedge_march_step(m.march), KEDGE_ERR_CANCELLED);
    kedge_context_set_progress(m.ctx, NULL, NULL);
    assert_true(kedge_march_time(m.march) == 0.1);
    assert_refused(&m, kedge_march_solution(m.march, &none), KEDGE_ERR_ARG, "has failed");
    assert_null(none);
  }
  march_on(&m);
  march_on(&other);
  fields a = fields_now(&m), b = fields_now(&other);
  assert_at_most(fields_distance(&a, &b), 1e-9);  // iterations have begun elsewhere
  fields_free(&a);
  fields_free(&b);
  moving_free(&m);
  moving_free(&other);
}

static void a_step_that_was_cancelled_is_taken_again(void **state)
{
  (void)state;
  cancelled_steps_of("1");
  cancelled_steps_of("1+t");  // which sets up in each stage
}

static void a_time_that_is_reached_but_for_rounding_is_hit_already(void **state)
{
  (void)state;
  moving m = cooling("trbdf2");
  for (int i = 0; i < 2; ++i) must(m.ctx, kedge_march_step(m.march));
  const double t = kedge_march_time(m.march), step = marched_now(&m).step;
  must(m.ctx, kedge_march_hit(m.march, nextafter(t, 1e9)));
  must(m.ctx, kedge_march_hit(m.march, nextafter(t, 0.0)));
  must(m.ctx, kedge_march_step(m.march));
  assert_at_most(fabs(marched_now(&m).step - step), 1e-12);
  moving_free(&m);
}

static void steps_that_differ_by_rounding_share_a_set_up(void **state)
{
  (void)state;
  moving m = moving_of(SETTINGS(COOLING), "euler", 3000.0, 1);
  for (int i = 0; i <= 20; ++i) must(m.ctx, kedge_march_hit(m.march, 2990.0 + 0.1 * i));
  march_on(&m);
  const kedge_marched marched = marched_now(&m);
  assert_int_equal(marched.steps, 22);
  assert_true(marched.set_ups <= 4);  // before the times were known, 2990, 0.1 and what is left
  moving_free(&m);
}

static void what_makes_no_sense_is_refused(void **state)
{
  (void)state;
  moving m = cooling("trbdf2");
  const kedge_solution *solution;
  kedge_marched marched = {0};
  assert_refused(&m, kedge_march_solution(m.march, &solution), KEDGE_ERR_ARG, "none before a step");
  assert_refused(&m, kedge_march_solution(m.march, NULL), KEDGE_ERR_ARG, "solution is NULL");
  assert_refused(&m, kedge_march_hit(m.march, 0.31), KEDGE_ERR_ARG, "is not between now, 0, and");
  assert_refused(&m, kedge_march_hit(m.march, NAN), KEDGE_ERR_ARG, "is not between now");
  assert_refused(&m, kedge_march_report(m.march, &marched), KEDGE_ERR_ARG, "KEDGE_MARCHED_INIT");
  kedge_data data = KEDGE_DATA_INIT;
  data.n_values = 1;
  assert_refused(&m, kedge_march_data(m.march, &data), KEDGE_ERR_ARG, "1 boundary values without");
  data.n_values = 0;
  data.source = "1+";
  assert_refused(&m, kedge_march_data(m.march, &data), KEDGE_ERR_INPUT, "of source");
  kedge_boundary_value value = {.group = "lef", .text = "1"};
  data.source = NULL;
  data.n_values = 1;
  data.values = &value;
  assert_refused(&m, kedge_march_data(m.march, &data), KEDGE_ERR_INPUT,
                 "the mesh has no boundary group 'lef'; did you mean 'left'?");
  must(m.ctx, kedge_problem_set(m.problem, "space", "order", "3"));
  assert_refused(&m, kedge_march_update(m.march), KEDGE_ERR_INPUT,
                 "u has order 2, and the problem");
  must(m.ctx, kedge_problem_set(m.problem, "space", "order", "2"));
  must(m.ctx, kedge_problem_set(m.problem, "equation", "mass", "x-0.5"));
  assert_refused(&m, kedge_march_update(m.march), KEDGE_ERR_INPUT, "mass must be positive, and at");
  must(m.ctx, kedge_problem_set(m.problem, "equation", "mass", "x+0.5"));
  must(m.ctx, kedge_march_update(m.march));
  march_on(&m);
  assert_true(kedge_march_time(m.march) == 0.3);
  assert_refused(&m, kedge_march_step(m.march), KEDGE_ERR_ARG, "has ended, at t = 0.3");
  moving_free(&m);
}

static void an_update_that_is_refused_leaves_steps_what_they_were(void **state)
{
  (void)state;
  moving m = cooling("trbdf2"), other = cooling("trbdf2");
  must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_problem_set(m.problem, "solver", "precision", "compact"));
  assert_refused(&m, kedge_march_update(m.march), KEDGE_ERR_UNSUPPORTED, "take double or mixed");
  must(m.ctx, kedge_problem_set(m.problem, "solver", "precision", "double"));
  must(m.ctx, kedge_problem_set(m.problem, "equation", "mass", "x-0.5"));
  assert_refused(&m, kedge_march_update(m.march), KEDGE_ERR_INPUT, "mass must be positive");
  assert_non_null(solution_now(&m));
  must(m.ctx, kedge_march_step(m.march));
  must(m.ctx, kedge_march_hit(m.march, 0.25));  // steps of another length set up anew
  must(other.ctx, kedge_march_step(other.march));
  must(other.ctx, kedge_march_step(other.march));
  must(other.ctx, kedge_march_hit(other.march, 0.25));
  march_on(&m);
  march_on(&other);
  fields a = fields_now(&m), b = fields_now(&other);
  assert_at_most(fields_distance(&a, &b), 1e-10);
  fields_free(&a);
  fields_free(&b);
  moving_free(&m);
  moving_free(&other);
}

/// Create a march of a problem that has changed.
static void assert_not_created(const moving *m, kedge_status expected, const char *sentence)
{
  kedge_march *march;
  assert_refused(m, kedge_march_create(m->ctx, m->mesh, m->problem, &march), expected, sentence);
  assert_null(march);
}

static void what_cannot_march_is_refused(void **state)
{
  (void)state;
  moving m = cooling("euler");
  kedge_problem *steady = problem_of(m.ctx, SETTINGS({"boundary default", "type", "dirichlet"}));
  kedge_problem *const moves = m.problem;
  kedge_plan plan = KEDGE_PLAN_INIT;
  m.problem = steady;
  assert_not_created(&m, KEDGE_ERR_INPUT, "has no [time]");
  assert_refused(&m, kedge_march_plan(m.ctx, m.mesh, steady, &plan), KEDGE_ERR_INPUT, "no [time]");
  kedge_problem_destroy(steady);
  m.problem = moves;
  must(m.ctx, kedge_problem_set(m.problem, "initial", "u", "log(x-0.5)"));
  assert_not_created(&m, KEDGE_ERR_INPUT, "initial u is nan at x =");
  must(m.ctx, kedge_problem_set(m.problem, "initial", "u", "0"));
  must(m.ctx, kedge_problem_set(m.problem, "equation", "mass", "x-0.5"));
  assert_not_created(&m, KEDGE_ERR_INPUT, "mass must be positive, and at x =");
  must(m.ctx, kedge_problem_set(m.problem, "equation", "mass", "1"));
  must(m.ctx, kedge_problem_set(m.problem, "solver", "precision", "compact"));
  assert_not_created(&m, KEDGE_ERR_UNSUPPORTED, "take double or mixed");
  moving_free(&m);
}

static void outputs_events_and_the_end_are_hit(void **state)
{
  static const double of_every[] = {0.1, 0.15, 0.2, 0.3, 0.35, 0.4, 0.5};
  static const double of_at[] = {0.01, 0.18, 0.35, 0.5};
  static const char *const are_outputs[] = {"yes, no, yes, yes, no, yes, yes", "yes, no, yes, yes"};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    const double *const expected = i == 0 ? of_every : of_at;
    moving m = moving_of(i == 0 ? SETTINGS(COOLING, {"output", "every", "0.1"},
                                           {"time", "events", "0.15, 0.3, 0.35"})
                                : SETTINGS(COOLING, {"output", "at", "0.01, 0.35"}),
                         "trbdf2", 0.5, 2);
    char are[80] = "";
    assert_false(kedge_march_is_output(m.march));
    for (int k = 0; !kedge_march_ended(m.march); ++k) {
      must(m.ctx, kedge_march_step(m.march));
      assert_at_most(fabs(kedge_march_time(m.march) - expected[k]), 1e-15);
      strcat(are, k > 0 ? ", " : "");
      strcat(are, kedge_march_is_output(m.march) ? "yes" : "no");
    }
    assert_string_equal(are, are_outputs[i]);
    moving_free(&m);
  }
}

static void times_of_steps_are_round(void **state)
{
  (void)state;
  moving m = moving_of(SETTINGS(COOLING, {"output", "every", "0.3"}), "trbdf2", 1.2, 12);
  for (int k = 1; !kedge_march_ended(m.march); ++k) {
    must(m.ctx, kedge_march_step(m.march));
    assert_true(kedge_march_time(m.march) == k / 10.0);
  }
  moving_free(&m);
}

static void outputs_up_to_now_are_counted(void **state)
{
  double t[2] = {0.0};
  (void)state;
  moving m =
      moving_of(SETTINGS(COOLING, {"output", "every", "0.1"}, {"time", "events", "0.15, 0.3"}),
                "trbdf2", 0.5, 5);
  assert_int_equal(kedge_march_outputs(m.march, 2, t), 0);
  must(m.ctx, kedge_march_hit(m.march, 0.22));
  for (int i = 0; i < 5; ++i) must(m.ctx, kedge_march_step(m.march));
  assert_true(kedge_march_time(m.march) == 0.3 && !kedge_march_ended(m.march));
  assert_int_equal(kedge_march_outputs(m.march, 2, t), 3);
  assert_true(t[0] == 0.1 && t[1] == 0.2);
  march_on(&m);
  assert_int_equal(kedge_march_outputs(m.march, 0, NULL), 5);
  assert_int_equal(kedge_march_outputs(NULL, 2, t), 0);
  moving_free(&m);
}

static void an_event_next_to_the_end_or_an_output_is_one_with_it(void **state)
{
  static const double expected[] = {0.15, 0.3, 0.5};
  (void)state;
  moving m = moving_of(
      SETTINGS(COOLING, {"time", "events", "0.3, 0.5 - 1e-15"}, {"output", "at", "0.3 + 1e-15"}),
      "trbdf2", 0.5, 2);
  int k = 0;
  for (; !kedge_march_ended(m.march); ++k) {
    must(m.ctx, kedge_march_step(m.march));
    assert_true(k < 3 && fabs(kedge_march_time(m.march) - expected[k]) < 1e-16);
    assert_int_equal(kedge_march_is_output(m.march), k > 0);
  }
  assert_int_equal(k, 3);
  moving_free(&m);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_solution_is_the_same_whether_those_before_were_asked_for),
      cmocka_unit_test(a_mass_may_be_an_array),
      cmocka_unit_test(memory_is_predicted),
      cmocka_unit_test(data_of_the_caller_take_the_place_of_the_problems),
      cmocka_unit_test(a_solution_outlives_a_change_of_data_or_of_the_problem),
      cmocka_unit_test(a_step_that_was_cancelled_is_taken_again),
      cmocka_unit_test(a_time_that_is_reached_but_for_rounding_is_hit_already),
      cmocka_unit_test(steps_that_differ_by_rounding_share_a_set_up),
      cmocka_unit_test(what_makes_no_sense_is_refused),
      cmocka_unit_test(an_update_that_is_refused_leaves_steps_what_they_were),
      cmocka_unit_test(what_cannot_march_is_refused),
      cmocka_unit_test(outputs_events_and_the_end_are_hit),
      cmocka_unit_test(times_of_steps_are_round),
      cmocka_unit_test(outputs_up_to_now_are_counted),
      cmocka_unit_test(an_event_next_to_the_end_or_an_output_is_one_with_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
