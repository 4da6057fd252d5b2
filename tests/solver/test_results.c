// What a solution hands out: values in the caller's numbering, on the smallest and oddest meshes
// too.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "compare.h"
#include "context.h"
#include "grid.h"
#include "support.h"

/// The solution of these problems, which order 2 holds.
static double quadratic(double x, double y)
{
  return 1.0 + x - 2.0 * y + 0.5 * x * y;
}

static const char quadratic_text[] = "1+x-2*y+0.5*x*y";

static kedge_solution *solve_quadratic(const kedge_mesh *mesh, const char *others, const char *op)
{
  return solve(ctx, mesh,
               SETTINGS({"space", "order", "2"}, {"exact", "u", quadratic_text},
                        {"boundary 7", "type", "dirichlet"}, {"boundary default", "type", others},
                        {"solver", "operator", op}, {"solver", "tolerance", "1e-14"}));
}

/// Relative to what the solution reaches on a mesh of this size.
static void assert_near(const test_grid *grid, double actual, double expected)
{
  const double width = sqrt(0.5 * grid->n_triangles);
  assert_at_most(fabs(actual - expected), 1e-12 * fabs(quadratic(width, width)) + 1e-12);
}

static void check_values(const test_grid *grid, const kedge_solution *solution, int order)
{
  const size_t n = (size_t)grid->n_triangles * (size_t)kedge_node_count(order);
  double *xy = malloc(2 * n * sizeof *xy), *values[KEDGE_FIELD_COUNT_PLANE];
  assert_non_null(xy);
  must(ctx, kedge_solution_nodes(solution, order, xy));
  for (int k = 0; k < KEDGE_FIELD_COUNT_PLANE; ++k) {
    values[k] = malloc(n * sizeof(double));
    assert_non_null(values[k]);
    must(ctx, kedge_solution_values(solution, (kedge_field)k, order, values[k]));
  }
  for (size_t i = 0; i < n; ++i) {
    const double x = xy[2 * i], y = xy[2 * i + 1];
    assert_near(grid, values[KEDGE_FIELD_U][i], quadratic(x, y));
    assert_near(grid, values[KEDGE_FIELD_U_STAR][i], quadratic(x, y));
    assert_near(grid, values[KEDGE_FIELD_QX][i], 1.0 + 0.5 * y);
    assert_near(grid, values[KEDGE_FIELD_QY][i], -2.0 + 0.5 * x);
  }
  for (int k = 0; k < KEDGE_FIELD_COUNT_PLANE; ++k) free(values[k]);
  free(xy);
}

/// The first three nodes of an element are the triangle's vertices, from its first one on; those of
/// a clockwise triangle in the other direction.
static void check_element_order(const test_grid *grid, const kedge_solution *solution)
{
  double *xy = malloc(6 * (size_t)grid->n_triangles * sizeof *xy);
  assert_non_null(xy);
  must(ctx, kedge_solution_nodes(solution, 1, xy));
  int turned = 0;
  for (int e = 0; e < grid->n_triangles; ++e) {
    const double *p[3];
    for (int i = 0; i < 3; ++i) p[i] = grid->vertices + 2 * grid->triangles[3 * e + i];
    const double area =
        (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
    const int turn = area < 0.0;
    turned += turn;
    assert_memory_equal(xy + 6 * e, p[0], 2 * sizeof(double));
    assert_memory_equal(xy + 6 * e + 2, p[1 + turn], 2 * sizeof(double));
    assert_memory_equal(xy + 6 * e + 4, p[2 - turn], 2 * sizeof(double));
  }
  assert_int_equal(turned > 0, grid->n_triangles > 3);
  free(xy);
}

static void check_trace(const test_grid *grid, const kedge_solution *solution, int64_t n_edges)
{
  int32_t *edges = malloc(2 * (size_t)n_edges * sizeof *edges);
  double *modes = malloc(3 * (size_t)n_edges * sizeof *modes);
  assert_true(edges && modes);
  must(ctx, kedge_solution_trace(solution, edges, modes));
  for (int64_t f = 0; f < n_edges; ++f) {
    const int32_t *v = edges + 2 * f;
    assert_true(v[0] >= 0 && v[0] < v[1] && v[1] < grid->n_vertices);
    for (int i = 0; i <= 4; ++i) {
      const double t = 0.5 * i - 1.0, a = 0.5 * (1.0 - t), b = 0.5 * (1.0 + t);
      double psi[3], lambda = 0.0;
      kg_legendre(2, t, psi);
      for (int k = 0; k < 3; ++k) lambda += modes[3 * f + k] * psi[k];
      const double *from = grid->vertices + 2 * v[0], *to = grid->vertices + 2 * v[1];
      assert_near(grid, lambda, quadratic(a * from[0] + b * to[0], a * from[1] + b * to[1]));
    }
  }
  free(edges);
  free(modes);
}

static void check_indicator(const test_grid *grid, const kedge_solution *solution)
{
  double *indicator = malloc((size_t)grid->n_triangles * sizeof *indicator);
  assert_non_null(indicator);
  must(ctx, kedge_solution_indicator(solution, indicator));
  assert_at_most(largest((size_t)grid->n_triangles, indicator), 1e-11);
  free(indicator);
}

static void check_mesh(int n_triangles, const char *others, const char *op)
{
  test_grid grid;
  test_grid_create(&grid, n_triangles);
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  kedge_solution *solution = solve_quadratic(mesh, others, op);
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &report);
  check_values(&grid, solution, 1);
  check_values(&grid, solution, 5);
  check_element_order(&grid, solution);
  check_trace(&grid, solution, report.edges);
  check_indicator(&grid, solution);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  test_grid_destroy(&grid);
}

static void values_are_in_the_callers_numbering_on_awkward_meshes(void **state)
{
  (void)state;
  const int sizes[] = {1, 2, 3, 31, 32, 33, 257};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int k = 0; k < 2; ++k) {
      check_mesh(sizes[i], "dirichlet", k ? "ell" : "matrix-free");
      check_mesh(sizes[i], "neumann", k ? "ell" : "matrix-free");
    }
}

/// max |u* - u| over the nodes of order 5 of every element, to be freed.
static double *largest_differences(const kedge_solution *solution, int n_elements)
{
  const int n = kedge_node_count(5);
  double *u = malloc((size_t)(n_elements * n) * sizeof *u),
         *star = malloc((size_t)(n_elements * n) * sizeof *u);
  double *most = calloc((size_t)n_elements, sizeof *most);
  assert_true(u && star && most);
  must(ctx, kedge_solution_values(solution, KEDGE_FIELD_U, 5, u));
  must(ctx, kedge_solution_values(solution, KEDGE_FIELD_U_STAR, 5, star));
  for (int i = 0; i < n_elements * n; ++i) most[i / n] = fmax(most[i / n], fabs(star[i] - u[i]));
  free(u);
  free(star);
  return most;
}

static void the_indicator_of_an_element_is_the_size_of_its_difference(void **state)
{
  (void)state;
  enum { N = 80 };
  test_grid grid;
  test_grid_create(&grid, N);
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  kedge_solution *solution = solve(
      ctx, mesh, SETTINGS({"exact", "u", "exp(2*x)"}, {"boundary default", "type", "dirichlet"}));
  double indicator[N], *most = largest_differences(solution, N);
  must(ctx, kedge_solution_indicator(solution, indicator));
  for (int e = 0; e < N; ++e) {
    const double *a = grid.vertices + 2 * grid.triangles[3 * e];
    const double *b = grid.vertices + 2 * grid.triangles[3 * e + 1];
    const double *c = grid.vertices + 2 * grid.triangles[3 * e + 2];
    const double area = 0.5 * fabs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
    // A quadratic of L2 norm 1 on a triangle of area 1 is at most 6 large; nodes miss a little of
    // it.
    assert_true(indicator[e] <= 1.1 * sqrt(area) * most[e]);
    assert_true(indicator[e] >= sqrt(area) * most[e] / 6.0);
  }
  free(most);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  test_grid_destroy(&grid);
}

static void a_triangle_between_dirichlet_edges_has_no_unknowns_and_converges_at_once(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 1);
  kedge_solution *solution = solve_quadratic(mesh, "dirichlet", "matrix-free");
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  assert_int_equal(r.trace_unknowns, 0);
  assert_int_equal(r.iterations, 0);
  assert_true(r.converged);
  assert_string_equal(r.solver_note, "");
  assert_at_most(r.u_l2, 1e-11);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

static void a_problem_without_data_is_solved_in_no_iteration(void **state)
{
  (void)state;
  kedge_mesh *mesh = test_irregular_mesh(ctx, 40);
  kedge_solution *solution =
      solve(ctx, mesh,
            SETTINGS({"space", "order", "3"}, {"boundary default", "type", "dirichlet"},
                     {"boundary default", "value", "0"}));
  kedge_report r = KEDGE_REPORT_INIT;
  kedge_solution_report(solution, &r);
  assert_int_equal(r.iterations, 0);
  assert_true(r.converged && r.relative_residual == 0.0);
  fields f = fields_of(ctx, solution);
  for (int k = 0; k < FIELDS; ++k) assert_true(largest(f.n[k], f.values[k]) == 0.0);
  fields_free(&f);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
}

static void null_arguments_are_refused(void **state)
{
  (void)state;
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_generate(ctx, "square 1", &mesh));
  kedge_solution *s =
      solve(ctx, mesh, SETTINGS({"boundary default", "type", "dirichlet"}, {"exact", "u", "x"}));
  double value;
  assert_int_equal(kedge_solution_nodes(NULL, 1, &value), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(NULL), "kedge_solution_nodes: the solution is NULL");
  assert_int_equal(kedge_solution_values(NULL, KEDGE_FIELD_U, 1, &value), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_trace(NULL, NULL, &value), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_indicator(NULL, &value), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_write(NULL, "u.vtkhdf"), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_nodes(s, 1, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_values(s, KEDGE_FIELD_U, 1, NULL), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx), "kedge_solution_values: the array is NULL");
  assert_int_equal(kedge_solution_indicator(s, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_write(s, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_trace(s, NULL, NULL), KEDGE_OK);
  kedge_solution_destroy(s);
  kedge_mesh_destroy(mesh);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_in_the_callers_numbering_on_awkward_meshes),
      cmocka_unit_test(the_indicator_of_an_element_is_the_size_of_its_difference),
      cmocka_unit_test(a_triangle_between_dirichlet_edges_has_no_unknowns_and_converges_at_once),
      cmocka_unit_test(a_problem_without_data_is_solved_in_no_iteration),
      cmocka_unit_test(null_arguments_are_refused),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
