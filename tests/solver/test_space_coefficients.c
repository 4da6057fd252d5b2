// Tetrahedra with coefficients that are not one number: tensors, Robin conditions, regions, data.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "device/backend.h"
#include "mesh/generate.h"
#include "support.h"

/// A full tensor, of eigenvalues 0.8, 2.0 and 4.2.
#define TENSOR "2, 0.5, -0.3, 1.5, 0.7, 3.5"
#define TOLERANT                   \
  {                                \
    "solver", "tolerance", "1e-13" \
  }

/// A tensor of linear functions, positive definite in the cube.
#define LINEAR "2 + x, 0.5*y, -0.2*z, 1.5 + y, 0.3, 3 - x"

static const double tensor[3][3] = {{2, 0.5, -0.3}, {0.5, 1.5, 0.7}, {-0.3, 0.7, 3.5}};

static bool is_inside(const double *x)
{
  bool inside = true;
  for (int k = 0; k < 3; ++k) inside = inside && x[k] > 1e-9 && x[k] < 1.0 - 1e-9;
  return inside;
}

/// `cube n` with its vertices inside moved by at most `shake` h.
/// @param[in] halves  tetrahedra at x > 1/2 are region 2
static kedge_mesh *cube_of(int n, double shake, bool halves)
{
  const kg_form_args args = {.n = n, .pattern = KG_PATTERN_TETRAHEDRA};
  kg_raw_mesh raw = {0};
  kedge_mesh *mesh = NULL;
  must(ctx, kg_form_cube(ctx, &args, &raw));
  for (int64_t e = 0; halves && e < raw.n_elements; ++e) {
    double sum = 0.0;
    for (int l = 0; l < 4; ++l) sum += raw.vertices[3 * (int64_t)raw.corners[4 * e + l]];
    raw.regions[e] = sum > 2.0 ? 2 : 1;
  }
  for (int64_t v = 0; v < raw.n_vertices; ++v) {
    double *const x = raw.vertices + 3 * v;
    const double by[3] = {sin(12.9898 * (double)v), sin(78.233 * (double)v),
                          sin(37.719 * (double)v)};
    if (!is_inside(x)) continue;
    for (int k = 0; k < 3; ++k) x[k] += shake / n * by[k];
  }
  must(ctx, kg_mesh_build(ctx, &raw, "cube", &mesh));
  kg_raw_mesh_free(&raw);
  return mesh;
}

/// A polynomial of a degree.
static const char *polynomial(int degree)
{
  static const char *const of[] = {"", "1 + x - 2*y + 3*z", "x*y - z^2 + 2*y*z + x",
                                   "x^3 - 2*x*y*z + y^2*z - z", "x^2*y^2 - x*z^3 + y^4 - x*y*z"};
  return of[degree];
}

static void polynomials_come_back_with_a_tensor_and_all_conditions(void **state)
{
  (void)state;
  for (int order = 1; order <= 4; ++order)
    for (int shaken = 0; shaken < 2; ++shaken) {
      const char text[2] = {(char)('0' + order), '\0'};
      kedge_mesh *mesh = cube_of(2 + shaken, 0.15 * shaken, false);
      const kedge_report r = report_of(
          ctx, mesh,
          SETTINGS({"space", "order", text}, {"space", "stabilization", shaken ? "auto" : "1.5"},
                   {"equation", "diffusion", TENSOR}, {"equation", "reaction", "0.4"},
                   {"exact", "u", polynomial(order)}, {"boundary x0", "type", "neumann"},
                   {"boundary z1", "type", "neumann"}, {"boundary y1", "type", "robin"},
                   {"boundary y1", "coefficient", "1 + x*z"}, {"boundary z0", "type", "robin"},
                   {"boundary z0", "coefficient", "2"}, {"boundary default", "type", "dirichlet"},
                   TOLERANT));
      assert_true(r.converged);
      assert_at_most(r.u_l2, 1e-11);
      assert_at_most(r.q_l2, 1e-11);
      assert_at_most(r.sigma_l2, 1e-11);
      assert_at_most(r.u_star_l2, 1e-11);
      kedge_mesh_destroy(mesh);
    }
}

/// Every side is a Robin one: nothing else holds the mean of u.
static void robin_conditions_alone_determine_u(void **state)
{
  (void)state;
  kedge_mesh *mesh = cube_of(3, 0.1, false);
  const kedge_report r =
      report_of(ctx, mesh,
                SETTINGS({"space", "order", "2"}, {"equation", "diffusion", "3"},
                         {"exact", "u", polynomial(2)}, {"boundary default", "type", "robin"},
                         {"boundary default", "coefficient", "1 + x + y*z"}, TOLERANT));
  assert_true(r.converged);
  assert_at_most(r.u_l2, 1e-11);
  assert_at_most(r.u_star_l2, 1e-11);
  kedge_mesh_destroy(mesh);
}

#define SMOOTH "exp(x + y/2)*sin(2*z + 3/10) + x*y^2*z"

static void assert_digits(double value, double expected)
{
  if (!(fabs(value - expected) <= 6e-6 * expected)) fail_msg("%.6e is not %.6e", value, expected);
}

static void numbers_and_neumann_sides_have_the_errors_of_a_reference(void **state)
{
  (void)state;
  kedge_mesh *mesh = cube_of(4, 0.0, false);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", "2"}, {"space", "stabilization", "2"},
               {"equation", "diffusion", "3"}, {"equation", "reaction", "0.5"},
               {"exact", "u", SMOOTH}, {"boundary x0", "type", "neumann"},
               {"boundary z1", "type", "neumann"}, {"boundary default", "type", "dirichlet"},
               {"solver", "tolerance", "1e-12"}));
  assert_digits(r.u_l2, 7.22300e-04);
  assert_digits(r.q_l2, 1.83245e-03);
  assert_digits(r.u_star_l2, 3.94266e-05);
  assert_digits(r.sigma_l2, 3.0 * r.q_l2);
  kedge_mesh_destroy(mesh);
}

/// The number 3 as a tensor, and as that of two regions.
static void a_number_is_a_tensor_of_it_and_one_of_regions(void **state)
{
  (void)state;
  static const char *const as[] = {"3, 0, 0, 3, 0, 3", "region == 1 ? 3 : 2 + 1"};
  kedge_mesh *mesh = cube_of(2, 0.1, true);
  kedge_report r[3];
  for (int k = 0; k < 3; ++k)
    r[k] = report_of(
        ctx, mesh,
        SETTINGS({"space", "order", "3"}, {"equation", "diffusion", k ? as[k - 1] : "3"},
                 {"exact", "u", SMOOTH}, {"boundary default", "type", "dirichlet"}, TOLERANT));
  for (int k = 1; k < 3; ++k) {
    assert_at_most(fabs(r[k].u_l2 - r[0].u_l2), 1e-9 * r[0].u_l2);
    assert_at_most(fabs(r[k].sigma_l2 - r[0].sigma_l2), 1e-9 * r[0].sigma_l2);
  }
  kedge_mesh_destroy(mesh);
}

static void assert_orders(int order, const kedge_report *coarse, const kedge_report *fine)
{
  const double rate[] = {log2(coarse->u_l2 / fine->u_l2), log2(coarse->q_l2 / fine->q_l2),
                         log2(coarse->sigma_l2 / fine->sigma_l2),
                         log2(coarse->u_star_l2 / fine->u_star_l2)};
  const int expected[] = {order + 1, order + 1, order + 1, order + 2};
  for (int i = 0; i < 4; ++i)
    if (!(rate[i] > expected[i] - 0.35))
      fail_msg("order %d: the rates of u, q, sigma, u* are %.2f, %.2f, %.2f, %.2f", order, rate[0],
               rate[1], rate[2], rate[3]);
}

/// The flux through x = 1/2 is that of both regions, where one has a tensor.
static kedge_report two_regions(int n, const char *order)
{
  kedge_mesh *mesh = cube_of(n, 0.0, true);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order}, {"region 1", "diffusion", "1"},
               {"region 2", "diffusion", "4, 0, 0, 2, 0.5, 3"}, {"region 2", "reaction", "2"},
               {"exact", "u", "sin(x - 1/2)*exp(y - z/2)*(region == 1 ? 1 : 1/4) + cos(y + 2*z)"},
               {"boundary x1", "type", "neumann"}, {"boundary y0", "type", "robin"},
               {"boundary y0", "coefficient", "1"}, {"boundary default", "type", "dirichlet"},
               {"solver", "tolerance", "1e-12"}));
  assert_true(r.converged);
  kedge_mesh_destroy(mesh);
  return r;
}

static void two_regions_keep_the_orders_of_all_fields(void **state)
{
  (void)state;
  for (int order = 1; order <= 3; ++order) {
    const char text[2] = {(char)('0' + order), '\0'};
    const kedge_report coarse = two_regions(2, text), fine = two_regions(4, text);
    assert_orders(order, &coarse, &fine);
  }
}

/// sigma is the tensor times q, in the values that a caller reads.
static void sigma_is_the_tensor_times_q(void **state)
{
  (void)state;
  static const kedge_field q[] = {KEDGE_FIELD_QX, KEDGE_FIELD_QY, KEDGE_FIELD_QZ},
                           sigma[] = {KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y,
                                      KEDGE_FIELD_SIGMA_Z};
  enum { N = 48 * 10 };
  double x[3 * N], values[6][N], expected[3][N];
  kedge_mesh *mesh = cube_of(2, 0.1, false);
  for (int varies = 0; varies < 2; ++varies) {
    kedge_solution *s = solve(
        ctx, mesh,
        SETTINGS({"space", "order", "2"}, {"equation", "diffusion", varies ? LINEAR : TENSOR},
                 {"exact", "u", SMOOTH}, {"boundary default", "type", "dirichlet"}, TOLERANT));
    must(ctx, kedge_solution_nodes(s, 2, x));
    for (int k = 0; k < 3; ++k) {
      must(ctx, kedge_solution_values(s, q[k], 2, values[k]));
      must(ctx, kedge_solution_values(s, sigma[k], 2, values[3 + k]));
    }
    for (int i = 0; i < N; ++i) {
      const double *const at = x + 3 * i;
      const double linear[3][3] = {{2 + at[0], 0.5 * at[1], -0.2 * at[2]},
                                   {0.5 * at[1], 1.5 + at[1], 0.3},
                                   {-0.2 * at[2], 0.3, 3 - at[0]}};
      for (int k = 0; k < 3; ++k) {
        const double *const row = varies ? linear[k] : tensor[k];
        expected[k][i] = row[0] * values[0][i] + row[1] * values[1][i] + row[2] * values[2][i];
      }
    }
    for (int k = 0; k < 3; ++k) assert_close(N, values[3 + k], expected[k], rounding(100));
    kedge_solution_destroy(s);
  }
  kedge_mesh_destroy(mesh);
}

/// All fields of two solutions at nodes.
static void assert_same_values(kedge_solution *const s[2], int elements, int order,
                               double tolerance)
{
  const size_t n = (size_t)elements * (size_t)((order + 1) * (order + 2) * (order + 3) / 6);
  double *values = malloc(2 * n * sizeof *values);
  assert_non_null(values);
  for (int field = 0; field < KEDGE_FIELD_COUNT; ++field) {
    for (int k = 0; k < 2; ++k)
      must(ctx, kedge_solution_values(s[k], (kedge_field)field, order, values + (size_t)k * n));
    assert_close(n, values + n, values, tolerance);
  }
  free(values);
}

/// Diffusion and reaction of elements: by region, as arrays, and as arrays on the device.
static void data_of_elements_are_coefficients(void **state)
{
  (void)state;
  kedge_mesh *mesh = cube_of(2, 0.1, true);
  enum { N = 48 };
  double diffusion[N], reaction[N];
  kg_buffer there[2];
  kedge_solution *s[3];
  // Elements keep the caller's order in this array: those of both halves, cube by cube.
  for (int e = 0; e < N; ++e) {
    diffusion[e] = e / 6 % 2 ? 4.0 : 1.0;
    reaction[e] = e / 6 % 2 ? 2.0 : 0.0;
  }
  must(ctx, kg_upload(ctx, diffusion, N, sizeof(double), &there[0]));
  must(ctx, kg_upload(ctx, reaction, N, sizeof(double), &there[1]));
  for (int k = 0; k < 3; ++k) {
    kedge_problem *problem = problem_of(
        ctx,
        SETTINGS({"space", "order", "2"}, {"equation", "source", "1 + x*y"},
                 {"equation", "diffusion", "region == 1 ? 1 : 4"},
                 {"equation", "reaction", "region == 1 ? 0 : 2"},
                 {"boundary x1", "type", "neumann"}, {"boundary default", "type", "dirichlet"},
                 {"boundary x1", "value", "1"}, {"boundary default", "value", "x + z"}, TOLERANT));
    kedge_function *const by = k == 1 ? kedge_by_element : kedge_by_element_device;
    if (k > 0) {
      must(ctx, kedge_problem_set_function(problem, "equation", "diffusion", by,
                                           k == 1 ? diffusion : there[0].data));
      must(ctx, kedge_problem_set_function(problem, "equation", "reaction", by,
                                           k == 1 ? reaction : there[1].data));
    }
    must(ctx, kedge_solve(ctx, mesh, problem, &s[k]));
    kedge_problem_destroy(problem);
  }
  assert_same_values(s, N, 2, 1e-11);
  assert_same_values(s + 1, N, 2, 1e-11);
  for (int k = 0; k < 3; ++k) kedge_solution_destroy(s[k]);
  for (int k = 0; k < 2; ++k) kg_free(ctx, &there[k]);
  kedge_mesh_destroy(mesh);
}

static void assert_refused_with(const kedge_mesh *mesh, const setting *settings,
                                const char *sentence)
{
  kedge_problem *problem = problem_of(ctx, settings);
  assert_string_equal(refusal_of(ctx, mesh, problem, KEDGE_ERR_INPUT), sentence);
  kedge_problem_destroy(problem);
}

#define HELD                                 \
  {"boundary default", "type", "dirichlet"}, \
  {                                          \
    "boundary default", "value", "0"         \
  }

static void tensors_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  kedge_mesh *cube = cube_of(2, 0.0, true), *square = square_mesh(ctx, 2);
  assert_refused_with(cube, SETTINGS({"equation", "diffusion", "1, 0, 1"}, HELD),
                      "diffusion is a tensor of three numbers, xx, xy, yy, "
                      "and cube is a mesh of space: write six numbers, xx, xy, xz, yy, yz, zz");
  assert_refused_with(square, SETTINGS({"equation", "diffusion", TENSOR}, HELD),
                      "diffusion is a tensor of six numbers, xx, xy, xz, yy, "
                      "yz, zz, and square 2 is a mesh of the plane: write three numbers, xx, xy, "
                      "yy");
  assert_refused_with(
      cube,
      SETTINGS({"region 1", "diffusion", "1"}, {"region 2", "diffusion", "1, 0, 0, 1, 2, 1"}, HELD),
      "diffusion in region '2' must be positive definite, and its least "
      "eigenvalue is -1");
  assert_refused_with(
      cube,
      SETTINGS({"boundary default", "type", "robin"}, {"boundary default", "coefficient", "1"},
               {"boundary default", "value", "0"}, {"equation", "reaction", "1"},
               {"boundary z1", "type", "robin"}, {"boundary z1", "value", "0"},
               {"boundary z1", "coefficient", "log(z - 2)"}),
      "the coefficient on boundary z1 is nan at x = 0.0146582, y = 0.0310459, "
      "z = 1, in element 29 (from 0); change it so that it is finite on the whole "
      "boundary");
  assert_refused_with(cube, SETTINGS({"solver", "operator", "matrix-free-plain"}, HELD),
                      "cube is of tetrahedra, on which kedge solves with operator = matrix-free or "
                      "ell so far");
  kedge_mesh_destroy(cube);
  kedge_mesh_destroy(square);
}

/// Coefficients and u for which sums over the points are exact.
static void polynomials_come_back_where_coefficients_vary(void **state)
{
  (void)state;
  for (int order = 1; order <= 4; ++order) {
    const char text[2] = {(char)('0' + order), '\0'};
    kedge_mesh *mesh = cube_of(2, 0.1, false);
    const kedge_report r =
        report_of(ctx, mesh,
                  SETTINGS({"space", "order", text}, {"equation", "diffusion", LINEAR},
                           {"space", "stabilization", order % 2 ? "auto" : "2"},
                           {"equation", "reaction", "1 + x*z"}, {"exact", "u", polynomial(order)},
                           {"boundary x0", "type", "neumann"}, {"boundary y1", "type", "robin"},
                           {"boundary y1", "coefficient", "1 + x*z"},
                           {"boundary default", "type", "dirichlet"}, TOLERANT));
    assert_true(r.converged);
    assert_at_most(r.u_l2, 1e-11);
    assert_at_most(r.q_l2, 1e-11);
    assert_at_most(r.sigma_l2, 1e-11);
    assert_at_most(r.u_star_l2, 1e-11);
    kedge_mesh_destroy(mesh);
  }
}

/// A function that is constant, but not seen to be: sums over points in place of closed forms.
static void sums_over_points_are_the_closed_forms_of_constants(void **state)
{
  (void)state;
  kedge_mesh *mesh = cube_of(2, 0.1, false);
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; order += test_is_shadow() ? 2 : 1) {
    const char text[2] = {(char)('0' + order), '\0'};
    static const char *const diffusion[] = {TENSOR,
                                            "2*(sin(x)^2 + cos(x)^2), 0.5, -0.3, 1.5, 0.7, 3.5"};
    kedge_solution *s[2];
    for (int k = 0; k < 2; ++k)
      s[k] = solve(ctx, mesh,
                   SETTINGS({"space", "order", text}, {"equation", "diffusion", diffusion[k]},
                            {"equation", "reaction", "0.7"}, {"equation", "source", "exp(x)"},
                            {"boundary default", "type", "dirichlet"},
                            {"boundary default", "value", "y + z^2"}, TOLERANT));
    assert_same_values(s, 48, order, 1e-10);
    for (int k = 0; k < 2; ++k) kedge_solution_destroy(s[k]);
  }
  kedge_mesh_destroy(mesh);
}

static kedge_report varying(int n, const char *order)
{
  kedge_mesh *mesh = cube_of(n, 0.0, false);
  const kedge_report r = report_of(
      ctx, mesh,
      SETTINGS({"space", "order", order},
               {"equation", "diffusion",
                "exp(x - y), 0.3*sin(z), 0.2*x*y, 1 + z^2, 0.1*cos(x), 2 + sin(3*x)"},
               {"equation", "reaction", "1 + sin(y + z)"}, {"exact", "u", SMOOTH},
               {"boundary x1", "type", "neumann"}, {"boundary y0", "type", "robin"},
               {"boundary y0", "coefficient", "1 + x"}, {"boundary default", "type", "dirichlet"},
               {"solver", "tolerance", "1e-12"}));
  assert_true(r.converged);
  kedge_mesh_destroy(mesh);
  return r;
}

static void varying_coefficients_keep_the_orders_of_all_fields(void **state)
{
  (void)state;
  for (int order = 1; order <= (test_is_shadow() ? 1 : 3); ++order) {
    const char text[2] = {(char)('0' + order), '\0'};
    const kedge_report coarse = varying(2, text), fine = varying(4, text);
    assert_orders(order, &coarse, &fine);
  }
}

/// The assembled matrix and products with K^e.
static void both_operators_have_the_same_solution(void **state)
{
  (void)state;
  static const char *const operators[] = {"matrix-free", "ell"};
  kedge_mesh *mesh = cube_of(2, 0.1, true);
  for (int order = 1; order <= KG_SPACE_ORDER_MAX; order += test_is_shadow() ? 2 : 1) {
    const char text[2] = {(char)('0' + order), '\0'};
    kedge_solution *s[2];
    for (int k = 0; k < 2; ++k)
      s[k] = solve(ctx, mesh,
                   SETTINGS({"space", "order", text}, {"solver", "operator", operators[k]},
                            {"equation", "diffusion", TENSOR}, {"equation", "source", "exp(x)"},
                            {"region 2", "reaction", "3"}, {"boundary z0", "type", "robin"},
                            {"boundary z0", "coefficient", "1 + x"}, {"boundary z0", "value", "x"},
                            {"boundary x1", "type", "neumann"}, {"boundary x1", "value", "1"},
                            {"boundary default", "type", "dirichlet"},
                            {"boundary default", "value", "y + z^2"}, {"region 1", "reaction", "0"},
                            TOLERANT));
    assert_same_values(s, 48, order, 1e-10);
    for (int k = 0; k < 2; ++k) kedge_solution_destroy(s[k]);
  }
  kedge_mesh_destroy(mesh);
}

static void a_solver_has_the_solution_of_a_solve(void **state)
{
  (void)state;
  static const char *const diffusion[] = {TENSOR, LINEAR};
  kedge_mesh *mesh = cube_of(2, 0.1, true);
  for (int varies = 0; varies < 2; ++varies) {
    kedge_solution *s[2] = {NULL};
    kedge_solver *solver = NULL;
    kedge_problem *problem = problem_of(
        ctx, SETTINGS({"space", "order", "2"}, {"equation", "diffusion", diffusion[varies]},
                      {"region 2", "reaction", "3"}, {"region 1", "reaction", "0"},
                      {"exact", "u", SMOOTH}, {"boundary z0", "type", "robin"},
                      {"boundary z0", "coefficient", "1 + x"},
                      {"boundary default", "type", "dirichlet"}, TOLERANT));
    must(ctx, kedge_solve(ctx, mesh, problem, &s[0]));
    must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
    for (int again = 0; again < 2; ++again) must(ctx, kedge_solver_solve(solver, NULL, &s[1]));
    assert_same_values(s, 48, 2, 1e-10);
    for (int k = 0; k < 2; ++k) kedge_solution_destroy(s[k]);
    kedge_solver_destroy(solver);
    kedge_problem_destroy(problem);
  }
  kedge_mesh_destroy(mesh);
}

static void varying_coefficients_that_are_not_elliptic_are_refused(void **state)
{
  (void)state;
  kedge_mesh *cube = cube_of(2, 0.0, false);
  assert_refused_with(cube, SETTINGS({"equation", "diffusion", "x - 2"}, HELD),
                      "diffusion must be positive, and at x = 0.036497, y = 0.125168, z = "
                      "0.0775578 it is -1.9635, in element 3 (from 0)");
  kedge_mesh_destroy(cube);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_come_back_with_a_tensor_and_all_conditions),
      cmocka_unit_test(robin_conditions_alone_determine_u),
      cmocka_unit_test(numbers_and_neumann_sides_have_the_errors_of_a_reference),
      cmocka_unit_test(a_number_is_a_tensor_of_it_and_one_of_regions),
      cmocka_unit_test(two_regions_keep_the_orders_of_all_fields),
      cmocka_unit_test(sigma_is_the_tensor_times_q),
      cmocka_unit_test(data_of_elements_are_coefficients),
      cmocka_unit_test(polynomials_come_back_where_coefficients_vary),
      cmocka_unit_test(sums_over_points_are_the_closed_forms_of_constants),
      cmocka_unit_test(varying_coefficients_keep_the_orders_of_all_fields),
      cmocka_unit_test(a_solver_has_the_solution_of_a_solve),
      cmocka_unit_test(both_operators_have_the_same_solution),
      cmocka_unit_test(varying_coefficients_that_are_not_elliptic_are_refused),
      cmocka_unit_test(tensors_that_do_not_fit_are_refused),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
