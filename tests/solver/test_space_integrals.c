// Meshes of tetrahedra: integrals of expressions over the domain, regions and groups of faces.
#include <math.h>

#include "compare.h"
#include "context.h"
#include "kedge/integral.h"
#include "mesh/mesh.h"
#include "support.h"

static kedge_mesh *mesh_of(const char *generate, const char *map)
{
  kedge_mesh *mesh;
  kedge_problem *const problem =
      problem_of(ctx, SETTINGS({"mesh", "generate", generate}, {"mesh", "map", map}));
  must(ctx, kedge_problem_mesh(problem, &mesh));
  kedge_problem_destroy(problem);
  return mesh;
}

static kedge_integral *integral_of(const kedge_mesh *mesh, const char *of, const char *on)
{
  kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
  kedge_integral *integral;
  options.of = of;
  options.on = on;
  must(ctx, kedge_integral_create(ctx, mesh, &options, &integral));
  return integral;
}

static double value_of(const kedge_mesh *mesh, const kedge_solution *solution, const char *of,
                       const char *on)
{
  double value;
  kedge_integral *const integral = integral_of(mesh, of, on);
  must(ctx, kedge_integral_evaluate(integral, solution, &value));
  kedge_integral_destroy(integral);
  return value;
}

static void assert_near(double value, double expected)
{
  assert_at_most(fabs(value - expected), 2e-13 * fmax(1.0, fabs(expected)));
}

/// On a brick that is cut by a map of no polynomial, whose faces stay where they are.
static void polynomials_are_integrated_to_rounding(void **state)
{
  (void)state;
  static const struct {
    const char *of, *on;
    double value;
  } cases[] = {
      {"1", NULL, 1.0},
      {"x^2*y*z^3", "all", 1.0 / 24.0},
      {"(x*y*z)^7", NULL, 1.0 / 512.0},
      {"region*z^15", "domain", 1.0 / 16.0},
      {"1", "x1", 1.0},
      {"x*y^4*z", "x1", 0.1},
      {"y^9*z^9", "x0", 0.01},
      {"x*normal_x + y*normal_y + z*normal_z", "z1", 1.0},
      {"normal_x^2 + 2*normal_y^2 + 3*normal_z^2", "y0", 2.0},
      {"normal_x + 10*normal_y + 100*normal_z", "z0", -100.0},
  };
  kedge_mesh *const mesh =
      mesh_of("cube 3", "x + 0.1*sin(pi*x)*cos(2*y), y + 0.05*sin(pi*y)*z, z - 0.1*sin(pi*z)*x*y");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_near(value_of(mesh, NULL, cases[i].of, cases[i].on), cases[i].value);
  kedge_mesh_destroy(mesh);
}

static void fields_of_a_known_solution_have_their_integrals(void **state)
{
  (void)state;
  static const struct {
    const char *of, *on;
    double value;
  } cases[] = {
      // u = x^2 - y z + 3 z, and sigma = K q.
      {"u", NULL, 1.0 / 3.0 - 0.25 + 1.5},
      {"u_star - u", NULL, 0.0},
      {"qx^2 + qy^2 + qz^2", NULL, 4.0 / 3.0 + 1.0 / 3.0 + 19.0 / 3.0},
      {"sigma_x", NULL, 2.0 - 0.5 * 0.5},
      {"sigma_y", NULL, 0.5 - 1.5},
      {"sigma_z", NULL, 2.5},
      {"qx*sigma_x + qy*sigma_y + qz*sigma_z", NULL,
       2.0 * 4.0 / 3.0 + 3.0 / 3.0 + 19.0 / 3.0 - 2.0 * 0.5 * 0.5},
      {"trace", "z1", 1.0 / 3.0 - 0.5 + 3.0},
      {"trace - u", "x0", 0.0},
      {"flux", "z1", 2.5},
      {"flux - sigma_x", "x1", 0.0},
      {"flux*y", "x1", 2.0 * 2.0 * 0.5 - 0.5 / 4.0},
  };
  kedge_mesh *const mesh = mesh_of("cube 2", "x + 0.1*sin(pi*x)*y, y, z - 0.1*sin(pi*z)*x");
  for (int order = 2; order <= 3; ++order) {
    kedge_solution *const solution =
        solve(ctx, mesh,
              SETTINGS({"space", "order", order == 2 ? "2" : "3"},
                       {"equation", "diffusion", "2, 0.5, 0, 3, 0, 1"},
                       {"equation", "source", "-4"}, {"boundary default", "type", "dirichlet"},
                       {"boundary default", "value", "x^2 - y*z + 3*z"},
                       {"solver", "tolerance", "1e-14"}));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
      assert_at_most(fabs(value_of(mesh, solution, cases[i].of, cases[i].on) - cases[i].value),
                     1e-11);
    kedge_solution_destroy(solution);
  }
  kedge_mesh_destroy(mesh);
}

/// By every rule of the stabilization, and where diffusion varies inside of elements.
static void the_integral_of_the_flux_is_the_flux_of_the_group(void **state)
{
  (void)state;
  static const setting coefficients[][2] = {
      {{"equation", "diffusion", "2"}, {"equation", "reaction", "0.5"}},
      {{"equation", "diffusion", "2"}, {"space", "stabilization", "3"}},
      {{"equation", "diffusion", "2"}, {"space", "stabilization", "3/h"}},
      {{"equation", "diffusion", "2, 0.1, 0.3, 1, 0, 4"}, {"space", "length", "0.3"}},
      {{"equation", "diffusion", "2, 0.1, 0.3, 1, 0, 4"}, {"space", "stabilization", "3"}},
      {{"equation", "diffusion", "1 + x*y"}, {"equation", "reaction", "z"}},
      {{"equation", "diffusion", "1 + x, 0.1, 0.2*z, 2, 0, 3 + y"},
       {"space", "stabilization", "2"}},
      {{"equation", "diffusion", "1 + x, 0.1, 0.2*z, 2, 0, 3 + y"}, {"space", "quadrature", "6"}},
  };
  kedge_mesh *const mesh = mesh_of("cube 2", "x + 0.1*y^2, y + 0.05*sin(3*z), z*(1 + 0.2*x)");
  for (size_t k = 0; k < sizeof coefficients / sizeof *coefficients; ++k)
    for (int order = 1; order <= 3; ++order) {
      char text[2] = {(char)('0' + order)};
      kedge_report r = KEDGE_REPORT_INIT;
      kedge_solution *const solution = solve(
          ctx, mesh,
          SETTINGS({"space", "order", text}, {"equation", "source", "1 + x*y*z"},
                   {"boundary default", "type", "dirichlet"},
                   {"boundary default", "value", "x*y + z"}, {"boundary x1", "type", "neumann"},
                   {"boundary x1", "value", "1"}, {"boundary y0", "type", "robin"},
                   {"boundary y0", "coefficient", "2"}, {"boundary y0", "value", "z"},
                   {"solver", "tolerance", "1e-13"}, coefficients[k][0], coefficients[k][1]));
      must(ctx, kedge_solution_report(solution, &r));
      assert_int_equal(r.n_groups, 6);
      for (int g = 0; g < r.n_groups; ++g) {
        assert_near(value_of(mesh, solution, "flux", r.groups[g]->name), r.groups[g]->flux);
        assert_near(value_of(mesh, solution, "trace", r.groups[g]->name), r.groups[g]->integral);
        assert_near(value_of(mesh, solution, "1", r.groups[g]->name), r.groups[g]->length);
      }
      assert_near(value_of(mesh, solution, "u", NULL), r.regions[0]->integral);
      kedge_solution_destroy(solution);
    }
  kedge_mesh_destroy(mesh);
}

static void functions_of_the_caller_get_z_and_normals(void *user, const kedge_points *p,
                                                      double *value)
{
  const bool on_faces = *(bool *)user;
  for (size_t i = 0; i < p->n; ++i) {
    double x[3];
    kg_tetrahedron_point(p->mesh, p->place[i], (const double[]){p->r[i], p->s[i], p->third[i]}, x);
    const bool same = fabs(x[0] - p->x[i]) + fabs(x[1] - p->y[i]) + fabs(x[2] - p->z[i]) < 1e-14;
    const double normal = on_faces ? p->normal_z[i] : p->normal_z == NULL ? 1.0 : NAN;
    value[i] = same ? p->z[i] * p->z[i] * normal : NAN;
  }
}

static void functions_and_solutions_are_integrated(void **state)
{
  (void)state;
  kedge_mesh *const mesh = mesh_of("cube 2", "x, y, z");
  kedge_solution *solution = solve(
      ctx, mesh,
      SETTINGS({"boundary default", "type", "dirichlet"},
               {"boundary default", "value", "x + 2*y - z"}, {"solver", "tolerance", "1e-14"}));
  const struct {
    kedge_function *function;
    void *user;
    const char *on;
    double value;
  } cases[] = {
      {functions_of_the_caller_get_z_and_normals, &(bool){false}, NULL, 1.0 / 3.0},
      {functions_of_the_caller_get_z_and_normals, &(bool){true}, "z1", 1.0},
      {kedge_by_solution, solution, NULL, 1.0},
      {kedge_by_solution, solution, "z1", 0.5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
    kedge_integral *integral;
    double value;
    options.function = cases[i].function;
    options.user = cases[i].user;
    options.on = cases[i].on;
    must(ctx, kedge_integral_create(ctx, mesh, &options, &integral));
    must(ctx, kedge_integral_evaluate(integral, solution, &value));
    assert_near(value, cases[i].value);
    kedge_integral_destroy(integral);
  }
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

/// Up to the most points that may be asked for.
static void the_points_that_are_asked_for_are_taken(void **state)
{
  (void)state;
  static const int points[] = {1, 4, 13, 40};
  kedge_mesh *const mesh = mesh_of("cube 1", "x, y, z");
  for (int i = 0; i < (test_is_quick() ? 3 : 4); ++i)
    for (int on_faces = 0; on_faces < 2; ++on_faces) {
      kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
      kedge_integral *integral;
      double value;
      options.of = "1/(1 + x + z)";
      options.on = on_faces ? "y1" : NULL;
      options.quadrature = points[i];
      must(ctx, kedge_integral_create(ctx, mesh, &options, &integral));
      must(ctx, kedge_integral_evaluate(integral, NULL, &value));
      const double error = fabs(value - (3.0 * log(3.0) - 4.0 * log(2.0)));
      assert_true(i == 0 ? error > 1e-3 && error < 0.1 : error < (i == 1 ? 1e-5 : 1e-13));
      kedge_integral_destroy(integral);
    }
  kedge_mesh_destroy(mesh);
}

static void what_has_no_value_there_is_refused(void **state)
{
  (void)state;
  static const struct {
    const char *of, *on;
    bool in_space;
    const char *sentence;
  } cases[] = {
      {"normal_z", NULL, true,
       "the integral: normal_z has a value on faces alone, and 'all' is the whole domain; take a "
       "group of faces with on"},
      {"flux", "domain", true,
       "the integral: flux has a value on faces alone, and 'domain' is a region; take a group of "
       "faces with on"},
      {"trace", "z", true, "cube 1 has no group or region 'z' among "},
      {"qz", NULL, false, "the integral: it names qz, and the mesh is one of the plane"},
      {"sigma_z", NULL, false, "the integral: it names sigma_z, and the mesh is one of the plane"},
      {"normal_z", "left", false,
       "the integral: it names normal_z, and the mesh is one of the plane"},
      {"z", NULL, false, "the integral: it names z, and the mesh is one of the plane"},
  };
  kedge_mesh *space, *const plane = square_mesh(ctx, 2);
  kedge_integral *integral;
  must(ctx, kedge_mesh_generate(ctx, "cube 1", &space));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_integral_options options = KEDGE_INTEGRAL_OPTIONS_INIT;
    options.of = cases[i].of;
    options.on = cases[i].on;
    assert_int_equal(
        kedge_integral_create(ctx, cases[i].in_space ? space : plane, &options, &integral),
        KEDGE_ERR_INPUT);
    assert_null(integral);
    assert_non_null(strstr(kedge_context_error(ctx), cases[i].sentence));
  }
  double value;
  integral = integral_of(space, "1/(z - z)", NULL);
  assert_int_equal(kedge_integral_evaluate(integral, NULL, &value), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(ctx), "the integrand '1/(z - z)' is inf at x = "));
  assert_non_null(strstr(kedge_context_error(ctx), ", z = "));
  kedge_integral_destroy(integral);
  kedge_mesh_destroy(space);
  kedge_mesh_destroy(plane);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_are_integrated_to_rounding),
      cmocka_unit_test(fields_of_a_known_solution_have_their_integrals),
      cmocka_unit_test(the_integral_of_the_flux_is_the_flux_of_the_group),
      cmocka_unit_test(functions_and_solutions_are_integrated),
      cmocka_unit_test(the_points_that_are_asked_for_are_taken),
      cmocka_unit_test(what_has_no_value_there_is_refused),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
