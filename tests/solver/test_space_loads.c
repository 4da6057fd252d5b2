// Sources and boundary values in space with peaks between the points of their rules, or that are
// singular; and the rule that a problem asks for.
#include <math.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "kedge/integral.h"
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

static double integral_of(const kedge_mesh *mesh, const kedge_solution *solution, const char *of,
                          const char *on)
{
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  kedge_integral *integral;
  double value;
  options.of = of;
  options.on = on;
  must(ctx, kedge_integral_create(ctx, mesh, &options, &integral));
  must(ctx, kedge_integral_evaluate(integral, solution, &value));
  kedge_integral_destroy(integral);
  return value;
}

static void dirichlet_values_that_jump_are_integrated_by_parts(void **state)
{
  static const char *const groups[] = {"x0", "x1", "y0", "y1", "z0", "z1"};
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 2", &mesh));
  kedge_solution *const solution = solve(
      ctx, mesh,
      SETTINGS({"space", "order", "2"}, {"equation", "source", "1"},
               {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x<0.37"}));
  double sum = 0.0;
  for (size_t i = 0; i < 6; ++i) sum += integral_of(mesh, solution, "trace", groups[i]);
  assert_at_most(fabs(sum - 2.48), 1e-3);
  kedge_report r = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(solution, &r));
  assert_int_equal(r.refined_facets, 16);  // half of those of four sides have the jump
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

static void a_peak_of_neumann_values_is_found(void **state)
{
  (void)state;
  const double width = sqrt(1000.0), side = 0.5 * sqrt(acos(-1.0)) / width;
  const double expected = pow(side * (erf(0.4 * width) + erf(0.6 * width)), 2.0);
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "cube 3", &mesh));
  kedge_solution *const solution =
      solve(ctx, mesh,
            SETTINGS({"equation", "source", "0"}, ZERO_AROUND, {"boundary z1", "type", "neumann"},
                     {"boundary z1", "value", "exp(-1000*((x-0.4)^2+(y-0.4)^2))"}));
  assert_at_most(fabs(integral_of(mesh, solution, "flux", "z1") / expected - 1.0), 1e-5);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

/// Coefficients and values of a Robin condition are integrated alike, by the common rule.
static void rough_robin_conditions_are_noted(void **state)
{
  static const setting conditions[][2] = {
      {{"boundary z1", "value", "x<0.37"}, {"boundary z1", "coefficient", "1"}},
      {{"boundary z1", "value", "1"}, {"boundary z1", "coefficient", "1+(x<0.37)"}}};
  (void)state;
  for (size_t i = 0; i < 2; ++i)
    assert_non_null(strstr(
        report_on(ctx, "cube 2",
                  SETTINGS({"equation", "source", "1"}, ZERO_AROUND,
                           {"boundary z1", "type", "robin"}, conditions[i][0], conditions[i][1]))
            .solver_note,
        "boundary values are too rough to integrate: more points move their integral by some "));
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
      cmocka_unit_test(dirichlet_values_that_jump_are_integrated_by_parts),
      cmocka_unit_test(a_peak_of_neumann_values_is_found),
      cmocka_unit_test(rough_robin_conditions_are_noted),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
