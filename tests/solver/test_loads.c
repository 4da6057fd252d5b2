// Loads and boundary data with peaks between the points of their rules, or that are singular; and
// the rule that a problem asks for.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "support.h"

/// u of -laplace u = 1 on the unit square with u = 0 around: an integral of source times this is
/// one of the solution for that source.
static double bubble(double x, double y)
{
  const double pi = acos(-1.0);
  double sum = 0.0;
  for (int m = 1; m < 60; m += 2)
    sum += 4.0 / pow(pi * m, 3) * (1.0 - cosh(m * pi * (y - 0.5)) / cosh(m * pi / 2)) *
           sin(m * pi * x);
  return sum;
}

/// The integral of u over the unit square, of elements of one size. The report says who evaluates
/// until the next one.
static double integral_of(const char *generate, const kedge_problem *problem, kedge_report *report)
{
  static char evaluation[64];
  kedge_mesh *mesh;
  kedge_solution *solution;
  must(ctx, kedge_mesh_generate(ctx, generate, &mesh));
  must(ctx, kedge_solve(ctx, mesh, problem, &solution));
  *report = (kedge_report)KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_report(solution, report));
  double *means = calloc((size_t)report->elements, sizeof *means), sum = 0.0;
  assert_non_null(means);
  must(ctx, kedge_solution_means(solution, KEDGE_FIELD_U, means));
  for (int64_t e = 0; e < report->elements; ++e) sum += means[e] / (double)report->elements;
  assert_null(strstr(report->solver_note, "too rough"));
  snprintf(evaluation, sizeof evaluation, "%s", report->evaluation);
  report->evaluation = evaluation;
  free(means);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  return sum;
}

static double integral_with(const char *generate, const setting *settings, kedge_report *report)
{
  kedge_problem *problem = problem_of(ctx, settings);
  const double integral = integral_of(generate, problem, report);
  kedge_problem_destroy(problem);
  return integral;
}

static void assert_near(double value, double expected, double tolerance)
{
  assert_at_most(fabs(value / expected - 1.0), tolerance);
}

#define ZERO_AROUND                          \
  {"boundary default", "type", "dirichlet"}, \
  {                                          \
    "boundary default", "value", "0"         \
  }

static void a_source_between_the_points_of_triangles_is_found(void **state)
{
  (void)state;
  static const char *const widths[] = {"0.02", "0.002", "0.001"};
  static const char *const orders[] = {"1", "3"};
  for (size_t k = 0; k < 3; ++k)
    for (size_t p = 0; p < 2; ++p) {
      kedge_report r;
      const double u = integral_with(
          "square 10",
          SETTINGS({"space", "order", orders[p]}, {"parameters", "w", widths[k]},
                   {"equation", "source", "exp(-((x-0.37)^2+(y-0.42)^2)/w^2)/(pi*w^2)"},
                   ZERO_AROUND),
          &r);
      const double w = strtod(widths[k], NULL);
      assert_near(u, bubble(0.37, 0.42) - 0.25 * w * w, p == 0 ? 5e-3 : 1e-4);
      assert_true(r.refined_elements >= 1 && r.refined_elements <= 40);
    }
}

static void a_line_of_sources_along_a_diagonal_is_found(void **state)
{
  (void)state;
  enum { POINTS = 2000 };
  double expected = 0.0;  // along x + y = 1.03 the integral by x has the strength of the line
  for (int i = 0; i < POINTS; ++i) {
    const double x = 0.03 + 0.97 * (i + 0.5) / POINTS;
    expected += bubble(x, 1.03 - x) * 0.97 / POINTS;
  }
  kedge_report r;
  const double u =
      integral_with("square 6",
                    SETTINGS({"space", "order", "2"}, {"parameters", "w", "0.001"},
                             {"equation", "source", "1/(2*w*cosh((x+y-1.03)/w)^2)"}, ZERO_AROUND),
                    &r);
  assert_near(u, expected, 1e-3);
}

static void a_narrow_ring_on_quadrilaterals_is_found(void **state)
{
  (void)state;
  enum { POINTS = 720 };
  const double pi = acos(-1.0), radius = 0.3;
  double expected = 0.0;
  for (int i = 0; i < POINTS; ++i) {
    const double a = 2.0 * pi * i / POINTS;
    expected += bubble(0.51 + radius * cos(a), 0.47 + radius * sin(a)) * 2.0 * pi * radius / POINTS;
  }
  kedge_report r;
  const double u = integral_with(
      "quads 6",
      SETTINGS({"space", "order", "2"}, {"parameters", "w", "0.0015"},
               {"equation", "source", "exp(-((hypot(x-0.51,y-0.47)-0.3)/w)^2)/(w*sqrt(pi))"},
               ZERO_AROUND),
      &r);
  assert_near(u, expected, 1e-3);
}

/// A peak of strength 1.
static void peak(void *user, const kedge_points *points, double *value)
{
  const double w = *(const double *)user, pi = acos(-1.0);
  for (size_t i = 0; i < points->n; ++i) {
    const double x = points->x[i] - 0.371, y = points->y[i] - 0.616;
    value[i] = exp(-(x * x + y * y) / (w * w)) / (pi * w * w);
  }
}

static void a_peak_of_the_callers_function_is_found(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 7", "quads 7"};
  static const char *const precisions[] = {"double", "compact"};
  double width = 0.003;
  for (size_t k = 0; k < 2; ++k)
    for (size_t i = 0; i < 2; ++i) {
      kedge_problem *problem = problem_of(
          ctx,
          SETTINGS({"space", "order", "3"}, {"solver", "precision", precisions[i]}, ZERO_AROUND));
      kedge_report r;
      must(ctx, kedge_problem_set_source(problem, peak, &width));
      const double u = integral_of(meshes[k], problem, &r);
      assert_near(u, bubble(0.371, 0.616), 1e-3);
      kedge_problem_destroy(problem);
    }
}

static void a_source_singular_at_a_vertex_keeps_the_orders(void **state)
{
  (void)state;
  // -laplace r^1.5 = -2.25 r^-0.5: u* has order 2.5, and with the usual points 1.5.
  static const char *const meshes[2][2] = {{"square 4", "square 8"}, {"quads 4", "quads 8"}};
  for (int k = 0; k < 2; ++k)
    for (int order = 2; order <= 4; order += 2) {
      const char *const text = order == 2 ? "2" : "4";
      double error[2];
      for (int i = 0; i < 2; ++i)
        error[i] = converged_on(
                       ctx, meshes[k][i],
                       SETTINGS({"space", "order", text}, {"exact", "u", "hypot(x-0.5,y-0.5)^1.5"},
                                {"boundary default", "type", "dirichlet"}))
                       .u_star_l2;
      assert_true(log2(error[0] / error[1]) > 2.3);
    }
}

#define SPOT "exp(-((x-0.37)/0.002)^2)/(0.002*sqrt(pi))"

static void boundary_values_between_points_are_found(void **state)
{
  (void)state;
  // The integral of u is that of the values times a polynomial of y, which is known.
  static const struct {
    const char *group, *type, *value;
    double expected;
  } cases[] = {
      {"top", "neumann", SPOT, 0.5},
      {"top", "robin", SPOT, 0.25},
      {"top", "neumann", "1/sqrt(abs(x-0.43))",
       0.5 * 2.0 * (0.6557438524302001 + 0.7549834435270750)},
      {"bottom", "dirichlet", SPOT, 1.0},
      {"bottom", "dirichlet", "1/(0.004*cosh((x-0.68)/0.002)^2)", 1.0},
      {"bottom", "dirichlet", "log(abs(x-0.5))", -1.6931471805599453},
  };
  static const char *const meshes[] = {"square 10", "quads 6"};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
    for (size_t i = 0; i < 2; ++i) {
      char group[32];
      snprintf(group, sizeof group, "boundary %s", cases[k].group);
      kedge_report r;
      const bool robin = strcmp(cases[k].type, "robin") == 0;
      const bool bottom = strcmp(cases[k].group, "bottom") == 0;
      const double u = integral_with(
          meshes[i],
          SETTINGS({"space", "order", i == 0 ? "2" : "3"}, {"boundary default", "type", "neumann"},
                   {"boundary default", "value", "0"}, {"boundary bottom", "type", "dirichlet"},
                   {"boundary bottom", "value", bottom ? cases[k].value : "0"},
                   {"boundary top", "type", bottom ? "neumann" : cases[k].type},
                   {"boundary top", "value", bottom ? "0" : cases[k].value},
                   {robin ? "boundary top" : "space", robin ? "coefficient" : "order",
                    robin    ? "1"
                    : i == 0 ? "2"
                             : "3"}),
          &r);
      assert_near(u, cases[k].expected, 1e-5);
      assert_true(r.refined_facets >= 1);
      assert_int_equal(r.refined_elements, 0);
    }
}

static void a_robin_coefficient_between_points_is_found(void **state)
{
  (void)state;
  // By parts, and by as many points as resolve it on the same mesh.
  static const char *const values[] = {"exp(-((x-0.38)/0.004)^2)/(0.004*sqrt(pi))",
                                       "0.2/sqrt(abs(x-0.5))"};
  for (size_t k = 0; k < 2; ++k)
    for (size_t order = 0; order < 2; ++order) {
      double u[2];
      for (size_t i = 0; i < 2; ++i) {
        kedge_report r;
        u[i] = integral_with(
            k == 0 ? "quads 16" : "square 10",
            SETTINGS({"space", "order", order ? "4" : "2"}, {"equation", "source", "1"},
                     {"boundary default", "type", "neumann"}, {"boundary default", "value", "0"},
                     {"boundary top", "type", "robin"}, {"boundary top", "value", "0"},
                     {"boundary top", "coefficient", values[k]},
                     {"equation", i ? "quadrature" : "reaction", i ? "24" : "0"}),
            &r);
        assert_int_equal(r.refined_facets > 0, i == 0);
      }
      assert_near(u[0], u[1], k == 0 ? 1e-5 : 8e-3);
    }
}

static void smooth_data_keep_their_points(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 6", "quads 6", "mixed 6", "ring 3 24", "disk 4"};
  static const char *const solutions[] = {"sin(2*x)*sin(3*y)", "exp(x)*cos(y)", "x^3-y^2+1e-3",
                                          "log(9+x*y)/(5+y)"};
  for (size_t k = 0; k < sizeof meshes / sizeof *meshes; ++k)
    for (size_t i = 0; i < sizeof solutions / sizeof *solutions; ++i)
      for (int order = 1; order <= 4; order += 3) {
        const kedge_report r = converged_on(
            ctx, meshes[k],
            SETTINGS({"space", "order", order == 1 ? "1" : "4"}, {"exact", "u", solutions[i]},
                     {"boundary default", "type", order == 1 ? "dirichlet" : "neumann"},
                     {"equation", "reaction", "1"}));
        if (r.refined_elements + r.refined_facets > 0)
          fail_msg("%s, %s, order %d: %d, %d", meshes[k], solutions[i], order,
                   (int)r.refined_elements, (int)r.refined_facets);
      }
}

static void a_rule_that_is_asked_for_is_taken(void **state)
{
  (void)state;
  kedge_report r;
  // Too few points for a peak: what is asked for is done, and nothing is added.
  const double lost = integral_with(
      "square 10",
      SETTINGS({"space", "order", "1"}, {"equation", "quadrature", "4"},
               {"equation", "source", "exp(-((x-0.37)^2+(y-0.42)^2)/0.002^2)/(pi*0.002^2)"},
               ZERO_AROUND),
      &r);
  assert_at_most(fabs(lost), 1e-6);
  assert_int_equal(r.refined_elements, 0);
  assert_string_equal(r.evaluation, "host: [equation] quadrature");
  // Enough of them: a peak that is as wide as elements.
  static const char *const meshes[] = {"square 5", "quads 5"};
  for (size_t k = 0; k < 2; ++k) {
    const double u = integral_with(
        meshes[k],
        SETTINGS({"space", "order", "4"}, {"equation", "quadrature", "24"},
                 {"equation", "source", "exp(-((x-0.37)^2+(y-0.42)^2)/0.05^2)/(pi*0.05^2)"},
                 ZERO_AROUND),
        &r);
    assert_near(u, bubble(0.37, 0.42) - 0.25 * 0.05 * 0.05, 1e-4);
  }
  // A polynomial has the same load by any rule.
  double u[2];
  for (int i = 0; i < 2; ++i)
    u[i] = integral_with(
        "mixed 4",
        SETTINGS({"space", "order", "2"}, {"equation", "source", "1+x*y^2"},
                 {"equation", i ? "quadrature" : "reaction", i ? "9" : "0"}, ZERO_AROUND),
        &r);
  assert_near(u[1], u[0], 1e-9);
}

static void a_rule_of_too_few_points_and_values_that_are_not_finite_are_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh = square_mesh(ctx, 4);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "5"}, {"equation", "quadrature", "6"}, ZERO_AROUND));
  assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT),
                         "[equation] quadrature = 6 is too little for order 5: take 7 points"));
  kedge_problem_destroy(problem);
  problem = problem_of(ctx, SETTINGS({"equation", "source", "sqrt(x-0.4)"},
                                     {"equation", "quadrature", "9"}, ZERO_AROUND));
  assert_non_null(strstr(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), "source is nan at x = "));
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
}

static void what_more_points_go_on_to_move_is_noted(void **state)
{
  (void)state;
  kedge_report r =
      converged_on(ctx, "square 6",
                   SETTINGS({"space", "order", "2"}, {"equation", "source", "1/x"}, ZERO_AROUND));
  assert_non_null(
      strstr(r.solver_note, "the source is too rough to integrate: more points move its"));
  r = converged_on(
      ctx, "quads 4",
      SETTINGS({"space", "order", "2"}, {"equation", "source", "sin(1e7*x*y)"}, ZERO_AROUND));
  assert_non_null(strstr(r.solver_note, "the source is too rough to integrate"));
  r = converged_on(ctx, "square 6",
                   SETTINGS({"space", "order", "2"}, {"boundary top", "type", "neumann"},
                            {"boundary top", "value", "1/abs(x-0.5)"}, ZERO_AROUND));
  assert_non_null(strstr(r.solver_note, "boundary values are too rough to integrate"));
}

static void points_of_local_matrices_that_are_not_integrated_are_noted(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 4", "quads 4"}, *const diffusions[] = {"2", "1+x"};
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 2; ++i) {
      const kedge_report r = converged_on(
          ctx, meshes[k],
          SETTINGS({"space", "quadrature", "20"}, {"equation", "diffusion", diffusions[i]},
                   {"equation", "source", "x"}, ZERO_AROUND));
      const bool noted = strstr(r.solver_note, "[space] quadrature has no effect") != NULL;
      assert_int_equal(noted, k == 0 && i == 0);
    }
}

static void tails_of_what_is_resolved_keep_their_points(void **state)
{
  (void)state;
  static const char *const meshes[] = {"square 14", "quads 16"};
  static const char *const sources[] = {"exp(-((x-0.43)^2+(y-0.36)^2)/0.01)",
                                        "1/cosh(15*(x+0.2*y-0.55))^4",
                                        "1e6*exp(-130*(x-0.61)^2)*(2+y)"};
  for (size_t k = 0; k < 2; ++k)
    for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
      const kedge_report r = converged_on(
          ctx, meshes[k],
          SETTINGS({"space", "order", "4"}, {"equation", "source", sources[i]}, ZERO_AROUND));
      if (r.refined_elements > 0)
        fail_msg("%s, %s: %d", meshes[k], sources[i], (int)r.refined_elements);
    }
}

static void a_peak_among_more_rough_elements_than_are_tried_is_found(void **state)
{
  (void)state;
  kedge_report r;
  const double u =
      integral_with("square 200",
                    SETTINGS({"space", "order", "1"}, {"parameters", "w", "0.0015"},
                             {"equation", "source",
                              "sin(140*x)*cos(160*y)+exp(-((x-0.29)^2+(y-0.57)^2)/w^2)/(pi*w^2)"},
                             ZERO_AROUND),
                    &r);
  assert_near(u, bubble(0.29, 0.57), 1e-3);
}

static void robin_values_and_coefficients_are_integrated_alike(void **state)
{
  (void)state;
  static const char *const peaks[] = {"exp(-((x-0.62)/0.03)^2)/0.03",
                                      "1/(0.05*cosh((x-0.31)/0.025)^2)+exp(-((y-0.7)/0.02)^2)"};
  for (size_t k = 0; k < 2; ++k)
    for (int order = 1; order <= 3; ++order) {
      const kedge_report r =
          converged_on(ctx, order == 2 ? "quads 8" : "square 9",
                       SETTINGS({"space", "order",
                                 order == 1   ? "1"
                                 : order == 2 ? "2"
                                              : "3"},
                                {"boundary default", "type", "robin"},
                                {"boundary default", "coefficient", peaks[k]},
                                {"boundary default", "value", peaks[k]}, {"exact", "u", "1"},
                                {"equation", "source", "0"}));
      assert_true(r.refined_facets > 0);
      assert_at_most(r.u_l2, 2e-6);
    }
}

static void a_reaction_as_rough_as_the_source_is_noted(void **state)
{
  (void)state;
  static const char *const peaks[] = {"exp(-((x-0.52)^2+(y-0.31)^2)/0.008^2)/(pi*0.008^2)",
                                      "200/cosh((x+y-1.07)/0.004)"};
  for (size_t k = 0; k < 2; ++k)
    for (int i = 0; i < 2; ++i) {  // where it does nothing, the source alone decides
      char small[80];
      snprintf(small, sizeof small, "1e-9*%s", peaks[k]);
      const kedge_report r =
          converged_on(ctx, k == 0 ? "quads 9" : "square 7",
                       SETTINGS({"space", "order", "1"}, {"equation", "source", peaks[k]},
                                {"equation", "reaction", i == 0 ? peaks[k] : small}, ZERO_AROUND));
      const bool noted = strstr(r.solver_note, "reaction is too rough to integrate near x = ");
      assert_int_equal(noted, i == 0);
      assert_int_equal(r.refined_elements > 0, i == 1);
    }
}

static void a_rule_of_the_problem_that_misses_is_noted(void **state)
{
  (void)state;
  static const char *const rules[] = {"3", "5"};
  for (int k = 0; k < 2; ++k) {
    kedge_report r = converged_on(
        ctx, k == 0 ? "square 8" : "quads 11",
        SETTINGS({"space", "order", "1"}, {"equation", "quadrature", rules[k]},
                 {"equation", "source", "exp(-((x-0.28)^2+(y-0.66)^2)/0.003^2)/(pi*0.003^2)"},
                 ZERO_AROUND));
    char expected[64];
    snprintf(expected, sizeof expected, "[equation] quadrature = %s has too few points for the",
             rules[k]);
    assert_non_null(strstr(r.solver_note, expected));
    assert_null(strstr(r.solver_note, "stabilization"));
    r = converged_on(
        ctx, k == 0 ? "square 8" : "quads 11",
        SETTINGS({"space", "order", "1"}, {"equation", "quadrature", rules[k]},
                 {"equation", "source", "1"}, ZERO_AROUND, {"boundary top", "type", "neumann"},
                 {"boundary top", "value", "exp(-((x-0.28)/0.004)^2)"}));
    assert_non_null(strstr(r.solver_note, "too few points for boundary values"));
    r = converged_on(ctx, "square 8",
                     SETTINGS({"space", "order", "1"}, {"equation", "quadrature", "9"},
                              {"equation", "source", "sin(3*x)*exp(y)"}, ZERO_AROUND));
    assert_null(strstr(r.solver_note, "[equation] quadrature"));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_source_between_the_points_of_triangles_is_found),
      cmocka_unit_test(a_line_of_sources_along_a_diagonal_is_found),
      cmocka_unit_test(a_narrow_ring_on_quadrilaterals_is_found),
      cmocka_unit_test(a_peak_of_the_callers_function_is_found),
      cmocka_unit_test(a_source_singular_at_a_vertex_keeps_the_orders),
      cmocka_unit_test(boundary_values_between_points_are_found),
      cmocka_unit_test(a_robin_coefficient_between_points_is_found),
      cmocka_unit_test(smooth_data_keep_their_points),
      cmocka_unit_test(a_rule_that_is_asked_for_is_taken),
      cmocka_unit_test(a_rule_of_too_few_points_and_values_that_are_not_finite_are_refused),
      cmocka_unit_test(points_of_local_matrices_that_are_not_integrated_are_noted),
      cmocka_unit_test(what_more_points_go_on_to_move_is_noted),
      cmocka_unit_test(tails_of_what_is_resolved_keep_their_points),
      cmocka_unit_test(a_peak_among_more_rough_elements_than_are_tried_is_found),
      cmocka_unit_test(robin_values_and_coefficients_are_integrated_alike),
      cmocka_unit_test(a_reaction_as_rough_as_the_source_is_noted),
      cmocka_unit_test(a_rule_of_the_problem_that_misses_is_noted),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
