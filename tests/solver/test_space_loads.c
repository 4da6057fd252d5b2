// Sources and boundary values in space with peaks between the points of their rules, or that are
// singular; and the rule that a problem asks for.
#include <math.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "support.h"

#define ZERO_AROUND                          \
  {"boundary default", "type", "dirichlet"}, \
  {                                          \
    "boundary default", "value", "0"         \
  }
#define PEAK "exp(-1000*((x-0.4)^2+(y-0.4)^2+(z-0.4)^2))"

static kedge_report report_with(const char *generate, const char *order, const char *source,
                                setting more)
{
  return report_on(
      ctx, generate,
      SETTINGS({"space", "order", order}, {"equation", "source", source}, ZERO_AROUND, more));
}

#define NO_MORE                    \
  (setting)                        \
  {                                \
    "solver", "tolerance", "1e-10" \
  }

/// The integral of the peak over the unit cube.
static double peak(void)
{
  const double width = sqrt(1000.0), left = erf(0.4 * width), right = erf(0.6 * width);
  return pow(0.5 * sqrt(acos(-1.0)) / width * (left + right), 3.0);
}

static void a_peak_between_points_is_found(void **state)
{
  static const struct {
    const char *generate, *order;
  } cases[] = {{"cube 4", "1"}, {"cube 2", "2"}, {"cube 3", "3"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const kedge_report r = report_with(cases[i].generate, cases[i].order, PEAK, NO_MORE);
    assert_at_most(fabs(r.balance.source / peak() - 1.0), 1e-5);
    assert_true(r.refined_elements > 0);
    assert_string_equal(r.solver_note, "");
  }
}

static void a_source_that_is_steep_at_the_boundary_is_found(void **state)
{
  (void)state;
  const kedge_report r = report_with("cube 4", "1", "1/(x+1e-3)", NO_MORE);
  assert_at_most(fabs(r.balance.source / log(1001.0) - 1.0), 1e-3);
}

static void a_smooth_source_is_integrated_by_the_common_rule(void **state)
{
  (void)state;
  const kedge_report r = report_with("cube 4", "1", "sin(3*x)*y+z^2", NO_MORE);
  assert_int_equal(r.refined_elements, 0);
  assert_string_equal(r.solver_note, "");
}

static void a_singular_source_is_noted_with_its_place(void **state)
{
  (void)state;
  const kedge_report r = report_with("cube 4", "1", "1/(x^2+y^2)", NO_MORE);
  assert_non_null(strstr(r.solver_note, "the source is too rough to integrate: more points move"));
  assert_non_null(strstr(r.solver_note, ", z = "));
}

static void a_rule_that_is_asked_for_is_taken_and_judged(void **state)
{
  (void)state;
  const kedge_report r = report_with("cube 4", "1", PEAK, (setting){"equation", "quadrature", "5"});
  assert_int_equal(r.refined_elements, 0);
  assert_true(fabs(r.balance.source / peak() - 1.0) > 0.1);
  assert_non_null(strstr(r.solver_note, "[equation] quadrature = 5 has too few points for"));
}

/// The modes, points and weights of the integrals by parts are those of the solve: a source of
/// degree P + 1 makes the same solution by either.
static void a_rule_that_is_asked_for_is_exact_where_it_can_be(void **state)
{
  static const char *const orders[] = {"1", "2", "3", "4", "5", "6"};
  (void)state;
  for (size_t i = 0; i < 6; ++i) {
    const kedge_report r = report_on(
        ctx, "cube 2",
        SETTINGS({"space", "order", orders[i]}, {"equation", "quadrature", "10"},
                 {"equation", "reaction", "2"}, {"exact", "u", "x^2-y*z+z^2*x+1"},
                 {"boundary default", "type", "dirichlet"}, {"solver", "tolerance", "1e-13"}));
    const kedge_report usual = report_on(
        ctx, "cube 2",
        SETTINGS({"space", "order", orders[i]}, {"equation", "reaction", "2"},
                 {"exact", "u", "x^2-y*z+z^2*x+1"}, {"boundary default", "type", "dirichlet"},
                 {"solver", "tolerance", "1e-13"}));
    assert_at_most(fabs(r.u_l2 - usual.u_l2), 1e-11);
    assert_at_most(fabs(r.u_star_l2 - usual.u_star_l2), 1e-11);
    assert_at_most(fabs(r.q_l2 - usual.q_l2), 1e-10);
  }
}

static void a_value_that_is_not_finite_is_refused_by_either_rule(void **state)
{
  static const char *const rules[] = {"4", "5"};
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 2", &mesh));
  for (size_t i = 0; i < 2; ++i) {
    kedge_problem *const problem =
        problem_of(ctx, SETTINGS({"equation", "source", "sqrt(z-0.3)"},
                                 {"equation", "quadrature", rules[i]}, ZERO_AROUND));
    assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), ", z = "));
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_peak_between_points_is_found),
      cmocka_unit_test(a_source_that_is_steep_at_the_boundary_is_found),
      cmocka_unit_test(a_smooth_source_is_integrated_by_the_common_rule),
      cmocka_unit_test(a_singular_source_is_noted_with_its_place),
      cmocka_unit_test(a_rule_that_is_asked_for_is_taken_and_judged),
      cmocka_unit_test(a_rule_that_is_asked_for_is_exact_where_it_can_be),
      cmocka_unit_test(a_value_that_is_not_finite_is_refused_by_either_rule),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
