// Orders of convergence on meshes of Gmsh, and single precision beside double.
#include "moving_waves.h"

enum { SYSTEMS = 4 };

/// Standing waves of the rectangle [0,2] x [0,1] and of the brick [0,1] x [0,0.8] x [0,0.7].
#define RECTANGLE                                                                     \
  {"mesh", "file", KEDGE_SOURCE_DIR "/meshes/curved.msh"}, {"mesh", "geometry", "1"}, \
      {"parameters", "w", "pi*sqrt(2)"},                                              \
  {                                                                                   \
    "time", "end", "0.2"                                                              \
  }
#define BRICK                                                                                   \
  {"mesh", "file", KEDGE_SOURCE_DIR "/tests/solver/data/brick.msh"}, {"parameters", "a", "pi"}, \
      {"parameters", "b", "pi/0.8"}, {"parameters", "c", "pi/0.7"},                             \
      {"parameters", "w", "sqrt(a^2+b^2+c^2)"},                                                 \
  {                                                                                             \
    "time", "end", "0.05"                                                                       \
  }

static const setting *const systems[SYSTEMS] = {
    SETTINGS(RECTANGLE, {"equation", "system", "maxwell-tm"},
             {"boundary default", "type", "conductor"},
             {"exact", "Ez", "sin(pi*x)*sin(pi*y)*cos(w*t)"},
             {"exact", "Hx", "-pi/w*sin(pi*x)*cos(pi*y)*sin(w*t)"},
             {"exact", "Hy", "pi/w*cos(pi*x)*sin(pi*y)*sin(w*t)"}),
    SETTINGS(RECTANGLE, {"equation", "system", "acoustics"}, {"boundary default", "type", "wall"},
             {"exact", "p", "cos(pi*x)*cos(pi*y)*cos(w*t)"},
             {"exact", "vx", "pi/w*sin(pi*x)*cos(pi*y)*sin(w*t)"},
             {"exact", "vy", "pi/w*cos(pi*x)*sin(pi*y)*sin(w*t)"}),
    // curl curl E = w^2 E of an E without divergence: 2 a, -b and -c along a, b and c
    SETTINGS(BRICK, {"equation", "system", "maxwell"}, {"boundary default", "type", "conductor"},
             {"parameters", "f", "2/a"}, {"parameters", "g", "-1/b"}, {"parameters", "d", "-1/c"},
             {"exact", "Ex", "f*cos(a*x)*sin(b*y)*sin(c*z)*cos(w*t)"},
             {"exact", "Ey", "g*sin(a*x)*cos(b*y)*sin(c*z)*cos(w*t)"},
             {"exact", "Ez", "d*sin(a*x)*sin(b*y)*cos(c*z)*cos(w*t)"},
             {"exact", "Hx", "-(d*b-g*c)*sin(a*x)*cos(b*y)*cos(c*z)*sin(w*t)/w"},
             {"exact", "Hy", "-(f*c-d*a)*cos(a*x)*sin(b*y)*cos(c*z)*sin(w*t)/w"},
             {"exact", "Hz", "-(g*a-f*b)*cos(a*x)*cos(b*y)*sin(c*z)*sin(w*t)/w"}),
    SETTINGS(BRICK, {"equation", "system", "acoustics"}, {"boundary default", "type", "wall"},
             {"exact", "p", "cos(a*x)*cos(b*y)*cos(c*z)*cos(w*t)"},
             {"exact", "vx", "a/w*sin(a*x)*cos(b*y)*cos(c*z)*sin(w*t)"},
             {"exact", "vy", "b/w*cos(a*x)*sin(b*y)*cos(c*z)*sin(w*t)"},
             {"exact", "vz", "c/w*cos(a*x)*cos(b*y)*sin(c*z)*sin(w*t)"})};

static double error_of(int system, int order, int refine, const char *precision)
{
  const char text[2] = {(char)('0' + order), '\0'}, times[2] = {(char)('0' + refine), '\0'};
  waves w = waves_before(systems[system]);
  must(w.ctx, kedge_problem_set(w.problem, "space", "order", text));
  must(w.ctx, kedge_problem_set(w.problem, "mesh", "refine", times));
  must(w.ctx, kedge_problem_set(w.problem, "solver", "precision", precision));
  waves_begin(&w);
  waves_on(&w);
  const double error = waves_error(&w, NULL);
  waves_free(&w);
  return error;
}

static void errors_fall_with_the_order_and_one_more(void **state)
{
  (void)state;
  for (int system = 0; system < SYSTEMS; ++system)
    for (int order = 1; order <= (test_is_shadow() || test_is_quick() ? 1 : 5); ++order) {
      const double coarse = error_of(system, order, 0, "double");
      const double fine = error_of(system, order, 1, "double"), rate = log2(coarse / fine);
      if (!(rate > order + 0.75)) fail_msg("system %d, order %d: %.2f", system, order, rate);
    }
}

static void single_precision_has_the_errors_of_double_to_two_digits(void **state)
{
  int compared = 0;
  (void)state;
  for (int system = 0; system < SYSTEMS; ++system)
    for (int order = 1; order <= (test_is_shadow() || test_is_quick() ? 2 : 6); ++order) {
      const double error = error_of(system, order, 0, "double");
      const double single = error_of(system, order, 0, "single");
      assert_true(single != error);
      assert_at_most(fabs(single - error), error > 1e-4 ? 5e-3 * error : 2e-6);
      compared += error > 1e-4;
    }
  assert_true(compared >= (test_is_shadow() || test_is_quick() ? 6 : 10));
}

/// The error of Ez of the wave in glass of the page.
static double error_in_glass(const char *order, const char *cfl)
{
  waves w = waves_of(
      "square 12", order,
      SETTINGS({"equation", "system", "maxwell-tm"}, {"equation", "permittivity", "2.25"},
               {"boundary default", "type", "incident"}, {"exact", "Ez", "sin(6*(x - t/1.5))"},
               {"exact", "Hy", "-1.5*sin(6*(x - t/1.5))"}, {"time", "end", "3"},
               {"time", "cfl", cfl}));
  waves_on(&w);
  const double error = waves_error(&w, "Ez");
  waves_free(&w);
  return error;
}

static void longer_steps_have_the_errors_that_the_page_says(void **state)
{
  (void)state;
  for (int i = 0; i < 2; ++i) {
    const char *const order = i ? "2" : "1";
    assert_at_most(error_in_glass(order, "1.5"), 1.1 * error_in_glass(order, "1"));
  }
  assert_at_most(fabs(error_in_glass("4", "1") - 2.1e-7), 0.05e-7);
  assert_at_most(fabs(error_in_glass("4", "1.5") - 5.1e-7), 0.05e-7);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_fall_with_the_order_and_one_more),
      cmocka_unit_test(single_precision_has_the_errors_of_double_to_two_digits),
      cmocka_unit_test(longer_steps_have_the_errors_that_the_page_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
