// What is linear in time, and in the space of the elements, is exact: all schemes, shapes and
// conditions, with steps that change on the way.
#include "moving.h"

/// u is a polynomial in space times 1 + 2 t. With these conditions the source is derived.
#define LINEAR(generate, order_text, u) LINEAR_BETWEEN(generate, "left", "top", order_text, u)
#define LINEAR_BETWEEN(generate, left, top, order_text, u)                                         \
  {"mesh", "generate", generate}, {"space", "order", order_text},                                  \
      {"equation", "diffusion", "0.7"}, {"equation", "reaction", "0.3"},                           \
      {"exact", "u", "(1+2*t)*(" u ")"}, {"initial", "u", u}, {"boundary " left, "type", "robin"}, \
      {"boundary " left, "coefficient", "1.5"}, {"boundary " top, "type", "neumann"},              \
      {"boundary default", "type", "dirichlet"},                                                   \
  {                                                                                                \
    "solver", "tolerance", "1e-13"                                                                 \
  }
#define WAVY                                                                        \
  {                                                                                 \
    "mesh", "map", "x+0.05*sin(2*pi*x)*sin(2*pi*y), y+0.05*sin(2*pi*x)*sin(2*pi*y)" \
  }
#define MASS                        \
  {                                 \
    "equation", "mass", "1+x+y^2/2" \
  }

static const char *const schemes[] = {"euler", "trbdf2", "esdirk4"};

/// Whether a scheme is tried: one is where there is little time, and on GPUs, where a set-up of a
/// few elements takes as long as one of many.
static bool is_tried(size_t scheme)
{
  return scheme == 1 || !(test_is_quick() || test_backend() == KEDGE_BACKEND_CUDA);
}

static void assert_exact(const setting *settings)
{
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
    if (!is_tried(i)) continue;
    moving m = moving_of(settings, schemes[i], 1.0, 3);
    must(m.ctx, kedge_march_hit(m.march, 0.5));
    must(m.ctx, kedge_march_hit(m.march, 0.9));
    march_on(&m);
    const kedge_report report = report_now(&m);
    kedge_marched marched = KEDGE_MARCHED_INIT;
    must(m.ctx, kedge_march_report(m.march, &marched));
    assert_int_equal(marched.steps, 5);  // two of 0.25, two of 0.2, one of 0.1
    // One before the times were known.
    assert_int_equal(marched.set_ups, marched.remakes ? 1 + marched.solves : 4);
    assert_true(marched.converged);
    assert_at_most(report.u_l2, 1e-10);
    assert_at_most(report.sigma_l2, 1e-10);
    moving_free(&m);
  }
}

static void behind_a_step_of_little_more_than_rounding(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
    moving m = moving_of(SETTINGS(LINEAR("square 3", "2", "x^2-x*y+y")), schemes[i], 1.0, 3);
    must(m.ctx, kedge_march_hit(m.march, 0.5));
    must(m.ctx, kedge_march_hit(m.march, 0.5 + 5e-12));
    march_on(&m);
    assert_at_most(report_now(&m).u_l2, 1e-10);
    moving_free(&m);
  }
}

static void on_triangles(void **state)
{
  (void)state;
  assert_exact(SETTINGS(LINEAR("square 3", "2", "x^2-x*y+y")));
}

static void on_quadrilaterals(void **state)
{
  (void)state;
  assert_exact(SETTINGS(LINEAR("quads 3", "2", "x^2-x*y^2+y")));
  assert_exact(SETTINGS(LINEAR("mixed 4", "2", "x^2-x*y+y"), MASS));
}

static void on_trapezoids_and_curved_elements(void **state)
{
  (void)state;
  assert_exact(SETTINGS(LINEAR("quads 3", "2", "x-2*y"), WAVY));
  assert_exact(SETTINGS(LINEAR("mixed 4", "2", "x-2*y"), WAVY, {"mesh", "geometry", "2"}));
  assert_exact(SETTINGS(LINEAR("square 3", "2", "x-2*y"), WAVY, {"mesh", "geometry", "2"}, MASS,
                        {"space", "quadrature", "7"}));
}

static void on_tetrahedra(void **state)
{
  (void)state;
  assert_exact(SETTINGS(LINEAR_BETWEEN("cube 2", "x0", "z1", "2", "x^2-x*z+y")));
  assert_exact(SETTINGS(LINEAR_BETWEEN("cube 2", "x0", "z1", "2", "x^2-x*z+y"),
                        {"equation", "mass", "1+x+z"}));
}

static void with_a_mass_that_varies(void **state)
{
  (void)state;
  assert_exact(SETTINGS(LINEAR("square 3", "2", "x^2-x*y+y"), MASS));
  assert_exact(SETTINGS(LINEAR("square 3", "2", "x^2-x*y+y"), {"equation", "mass", "3.5"}));
}

static void with_coefficients_that_move(void **state)
{
  (void)state;
  assert_exact(SETTINGS(LINEAR("square 3", "2", "x^2-x*y+y"), {"equation", "diffusion", "1+t"},
                        {"equation", "mass", "(1+t)*(2+x)"}));
  assert_exact(SETTINGS(LINEAR("quads 3", "2", "x^2-x*y^2+y"), {"equation", "reaction", "t"},
                        {"equation", "mass", "1+t"}, {"boundary left", "coefficient", "1+t"}));
}

int main(void)
{
  test_skip_without_backend();
  moving_threads = 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(behind_a_step_of_little_more_than_rounding),
      cmocka_unit_test(on_triangles),
      cmocka_unit_test(on_quadrilaterals),
      cmocka_unit_test(on_trapezoids_and_curved_elements),
      cmocka_unit_test(on_tetrahedra),
      cmocka_unit_test(with_coefficients_that_move),
      cmocka_unit_test(with_a_mass_that_varies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
