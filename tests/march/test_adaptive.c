// Steps that adapt to a tolerance, and marches that end when nothing moves any more: both measure
// in L2 what they have computed.
#include "moving.h"

#include <string.h>

/// The error of u at the end. Few steps are made again, and few matrices anew.
static double error_of(const setting *settings, double end, double tolerance, int most_steps,
                       int most_set_ups)
{
  moving m = adapting_of(settings, end, tolerance);
  march_on(&m);
  const kedge_marched marched = marched_now(&m);
  const double error = report_now(&m).u_l2;
  assert_true(marched.t == end && marched.converged);
  assert_int_equal(marched.solves, 5 * (marched.steps + marched.rejected));
  assert_true(4 * marched.rejected <= marched.steps + marched.rejected);
  assert_true(marched.steps <= most_steps);
  assert_true(marched.set_ups <= most_set_ups);
  moving_free(&m);
  return error;
}

static void errors_at_the_end_fall_with_the_tolerance(void **state)
{
  static const struct {
    double tolerance;
    int steps, set_ups;
  } of[] = {{1e-3, 8, 4}, {1e-4, 13, 6}, {1e-5, 23, 9}, {1e-6, 43, 13}, {1e-7, 80, 16}};
  double before = 1.0;
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
    if ((test_is_quick() || test_is_shadow()) && i > 1) continue;
    const double error =
        error_of(SETTINGS(TABLE_OF("3", MOVES)), 1.0, of[i].tolerance, of[i].steps, of[i].set_ups);
    assert_at_most(error, of[i].tolerance);
    assert_at_most(error, 0.6 * before);
    before = error;
  }
}

static void walls_that_change_at_once_are_followed_down_to_the_error_of_space(void **state)
{
  (void)state;
  const setting *const settings = SETTINGS(SUDDEN("t", "0"));
  assert_at_most(error_of(settings, 0.05, 1e-3, 12, 13), 2e-4);
  assert_at_most(error_of(settings, 0.05, 1e-5, 28, 16), 7.3e-5);
  if (!test_is_quick()) assert_at_most(error_of(settings, 0.05, 1e-6, 45, 18), 7.19e-5);
}

/// Nothing happens before: steps grow until the event, and are short behind it.
static void so_are_walls_that_change_at_an_event(void **state)
{
  (void)state;
  const setting *const settings =
      SETTINGS(SUDDEN("t-0.5", "t < 0.5 ? 1 : 0"), {"time", "events", "0.5"});
  assert_at_most(error_of(settings, 0.55, 1e-5, 36, 20), 7.3e-5);
}

static void times_are_hit_exactly(void **state)
{
  static const double expected[] = {0.1, 0.1234, 0.2, 0.25, 0.3, 0.4, 0.5};
  int next = 0;
  (void)state;
  moving m = adapting_of(
      SETTINGS(TABLE_OF("2", MOVES), {"output", "every", "0.1"}, {"time", "events", "0.25"}), 0.5,
      1e-4);
  must(m.ctx, kedge_march_hit(m.march, 0.1234));
  while (!kedge_march_ended(m.march)) {
    must(m.ctx, kedge_march_step(m.march));
    const double t = kedge_march_time(m.march);
    assert_true(t < expected[next] + 1e-15);
    if (fabs(t - expected[next]) > 1e-15) continue;
    const bool is_output = next != 1 && next != 3;
    assert_int_equal(kedge_march_is_output(m.march), is_output);
    ++next;
  }
  assert_int_equal(next, 7);
  moving_free(&m);
}

static void steps_begin_anew_with_new_data(void **state)
{
  (void)state;
  moving m = adapting_of(SETTINGS(SUDDEN("t", "1")), 0.1, 1e-4);
  must(m.ctx, kedge_march_hit(m.march, 0.05));
  while (kedge_march_time(m.march) < 0.05) must(m.ctx, kedge_march_step(m.march));
  const kedge_marched before = marched_now(&m);
  assert_int_equal(before.rejected, 0);
  kedge_boundary_value wall = {.group = "default", .text = "0"};
  kedge_data data = KEDGE_DATA_INIT;
  data.n_values = 1;
  data.values = &wall;
  must(m.ctx, kedge_march_data(m.march, &data));
  must(m.ctx, kedge_march_step(m.march));
  assert_true(marched_now(&m).step < 0.5 * before.step);
  march_on(&m);
  moving_free(&m);
}

static void a_tolerance_that_no_step_meets_is_told(void **state)
{
  (void)state;
  moving m = adapting_of(SETTINGS(SUDDEN("t", "0")), 0.05, 1e-300);
  assert_int_equal(kedge_march_step(m.march), KEDGE_ERR_NUMERIC);
  assert_non_null(strstr(kedge_context_error(m.ctx), "is too long for the tolerance 1e-300"));
  moving_free(&m);
}

/// u = (1 + 2 t) g, of which u_t = 2 g is known, and its norm 2 |g|.
#define GROWING(generate, group, g)                                                                \
  {"mesh", "generate", generate}, {"space", "order", "2"}, {"exact", "u", "(1+2*t)*(" g ")"},      \
      {"initial", "u", g}, {"boundary default", "type", "dirichlet"}, {"time", "until", "steady"}, \
      {"time", "steady_tolerance", "1e-3"}, {"solver", "tolerance", "1e-13"},                      \
  {                                                                                                \
    "boundary " group, "type", "neumann"                                                           \
  }
#define WAVY                                                                        \
  {                                                                                 \
    "mesh", "map", "x+0.05*sin(2*pi*x)*sin(2*pi*y), y+0.05*sin(2*pi*x)*sin(2*pi*y)" \
  }

static void assert_change(const setting *settings, const char *scheme, double expected,
                          double tolerance)
{
  moving m = moving_of(settings, scheme, 1.0, 4);
  march_on(&m);
  const kedge_marched marched = marched_now(&m);
  assert_false(marched.is_steady);
  assert_at_most(fabs(marched.change - expected), tolerance);
  moving_free(&m);
}

static void the_change_is_the_norm_of_u_t(void **state)
{
  static const char *const schemes[] = {"euler", "trbdf2", "esdirk4"};
  const double of_x = 2.0 / sqrt(3.0), of_xy = 2.0 * sqrt(7.0 / 6.0);  // |x|, |x + y|
  (void)state;
  for (int i = 0; i < 3; ++i) {
    const char *const scheme = schemes[i];
    assert_change(SETTINGS(GROWING("square 3", "left", "x")), scheme, of_x, 1e-10);
    assert_change(SETTINGS(GROWING("mixed 4", "left", "x+y"), {"equation", "mass", "3"}), scheme,
                  of_xy, 1e-10);
    assert_change(SETTINGS(GROWING("square 3", "left", "x"), {"equation", "mass", "1+x"}), scheme,
                  of_x, 1e-10);
    if (test_is_quick()) break;
    assert_change(SETTINGS(GROWING("quads 3", "left", "x"), WAVY), scheme, of_x, 1e-9);
    assert_change(SETTINGS(GROWING("square 3", "left", "x"), WAVY, {"mesh", "geometry", "2"},
                           {"equation", "mass", "2+x"}, {"space", "quadrature", "7"}),
                  scheme, of_x, 1e-9);
    assert_change(SETTINGS(GROWING("cube 2", "x0", "x+y"), {"equation", "mass", "1+z"}), scheme,
                  of_xy, 1e-10);
  }
}

/// u falls as exp(-2 pi^2 t), and so does its change.
#define FADING                                                                            \
  {"mesh", "generate", "square 8"}, {"space", "order", "2"}, {"equation", "source", "0"}, \
      {"initial", "u", "sin(pi*x)*sin(pi*y)"}, {"boundary default", "type", "dirichlet"}, \
      {"boundary default", "value", "0"}, {"output", "every", "0.31"},                    \
      {"time", "until", "steady"},                                                        \
  {                                                                                       \
    "time", "steady_tolerance", "1e-3"                                                    \
  }

static void assert_fades(moving *m, double longest)
{
  const double rate = 2.0 * M_PI * M_PI, expected = log(0.5 * rate / 1e-3) / rate;
  march_on(m);
  const kedge_marched marched = marched_now(m);
  assert_true(marched.is_steady && marched.change < 1e-3);
  assert_true(marched.t > 0.99 * expected && marched.t < 1.01 * expected + longest);
  assert_true(kedge_march_ended(m->march) && !kedge_march_is_output(m->march));
  assert_int_equal(kedge_march_step(m->march), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(m->ctx), "the march has ended, at t = 0."));
  assert_at_most(report_now(m).regions[0]->most, 2e-4);
}

static void a_march_ends_when_nothing_moves_any_more(void **state)
{
  (void)state;
  moving m = moving_of(SETTINGS(FADING), "trbdf2", 2.0, 200);
  assert_fades(&m, 0.01);
  must(m.ctx, kedge_problem_set(m.problem, "equation", "source", "1"));
  must(m.ctx, kedge_march_update(m.march));  // and goes on
  assert_false(kedge_march_ended(m.march));
  must(m.ctx, kedge_march_step(m.march));
  assert_false(marched_now(&m).is_steady);
  moving_free(&m);
  m = adapting_of(SETTINGS(FADING), 2.0, 1e-5);
  assert_fades(&m, marched_now(&m).step + 0.2);
  moving_free(&m);
}

static void memory_of_norms_is_predicted(void **state)
{
  (void)state;
  for (int i = 0; i < 4; ++i) {
    const char *const mass = i % 2 ? "1+x" : "2";
    moving m = i < 2
                   ? adapting_of(SETTINGS(SUDDEN("t", "1"), {"equation", "mass", mass}), 0.1, 1e-4)
                   : moving_of(SETTINGS(FADING, {"equation", "mass", mass}), "euler", 2.0, 100);
    kedge_plan plan = KEDGE_PLAN_INIT;
    must(m.ctx, kedge_march_plan(m.ctx, m.mesh, m.problem, &plan));
    m.ctx->bytes_peak = m.ctx->bytes_in_use;
    for (int k = 0; k < 3; ++k) must(m.ctx, kedge_march_step(m.march));
    assert_int_equal(report_now(&m).peak_device_bytes, m.ctx->bytes_peak);
    assert_int_equal(m.ctx->bytes_peak,
                     plan.peak_bytes[plan.operator_kind] + plan.march_bytes + plan.solution_bytes);
    moving_free(&m);
  }
}

int main(void)
{
  test_skip_without_backend();
  moving_threads = 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_at_the_end_fall_with_the_tolerance),
      cmocka_unit_test(walls_that_change_at_once_are_followed_down_to_the_error_of_space),
      cmocka_unit_test(so_are_walls_that_change_at_an_event),
      cmocka_unit_test(times_are_hit_exactly),
      cmocka_unit_test(steps_begin_anew_with_new_data),
      cmocka_unit_test(a_tolerance_that_no_step_meets_is_told),
      cmocka_unit_test(the_change_is_the_norm_of_u_t),
      cmocka_unit_test(a_march_ends_when_nothing_moves_any_more),
      cmocka_unit_test(memory_of_norms_is_predicted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
