// Solutions of which only the means over the elements are kept ([output] fields = cells).
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "support.h"

static kedge_solution *solve_for(const kedge_mesh *mesh, const char *order, const char *kept)
{
  return solve(
      ctx, mesh,
      SETTINGS({"space", "order", order}, {"exact", "u", "exp(2*x)*y"},
               {"boundary 7", "type", "dirichlet"}, {"boundary default", "type", "neumann"},
               {"solver", "max_iterations", "20"}, {"output", "fields", kept}));
}

/// The means of a field; to be freed.
static double *means_of(const kedge_solution *solution, kedge_field field, size_t n)
{
  double *values = malloc(n * sizeof *values);
  assert_non_null(values);
  must(ctx, kedge_solution_means(solution, field, values));
  return values;
}

static void compare_means(const kedge_solution *full, const kedge_solution *cells, size_t n)
{
  for (int k = 0; k < KEDGE_FIELD_COUNT_PLANE; ++k) {
    double *a = means_of(full, (kedge_field)k, n), *b = means_of(cells, (kedge_field)k, n);
    assert_memory_equal(a, b, n * sizeof *a);
    free(a);
    free(b);
  }
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  assert_true(a && b);
  must(ctx, kedge_solution_indicator(full, a));
  must(ctx, kedge_solution_indicator(cells, b));
  assert_memory_equal(a, b, n * sizeof *a);
  free(a);
  free(b);
}

static void what_is_kept_is_that_of_the_full_solution_to_the_bit(void **state)
{
  (void)state;
  const int sizes[] = {1, 33, 257};
  const char *const orders[] = {"1", "4"};
  for (int i = 0; i < 6; ++i) {
    test_grid grid;
    test_grid_create(&grid, sizes[i / 2]);
    kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
    kedge_solution *full = solve_for(mesh, orders[i % 2], "full");
    kedge_solution *cells = solve_for(mesh, orders[i % 2], "cells");
    kedge_report a = KEDGE_REPORT_INIT, b = KEDGE_REPORT_INIT;
    kedge_solution_report(full, &a);
    kedge_solution_report(cells, &b);
    assert_memory_equal(&a.u_l2, &b.u_l2, 4 * sizeof a.u_l2);
    compare_means(full, cells, (size_t)grid.n_triangles);
    kedge_solution_destroy(full);
    kedge_solution_destroy(cells);
    kedge_mesh_destroy(mesh);
    test_grid_destroy(&grid);
  }
}

/// The mean of a quadratic is that of its values in the middles of the edges.
static void means_are_integrals_over_areas(void **state)
{
  (void)state;
  enum { N = 65, NODES = 6 };
  test_grid grid;
  test_grid_create(&grid, N);
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  kedge_solution *solution = solve_for(mesh, "2", "full");
  double values[N * NODES], expected[N];
  for (int k = 0; k < KEDGE_FIELD_U_STAR; ++k) {
    must(ctx, kedge_solution_values(solution, (kedge_field)k, 2, values));
    for (int e = 0; e < N; ++e) {
      const double *node = values + NODES * e;
      expected[e] = (node[3] + node[4] + node[5]) / 3.0;
    }
    double *means = means_of(solution, (kedge_field)k, N);
    assert_close(N, means, expected, rounding(NODES * NODES));
    free(means);
  }
  double *u = means_of(solution, KEDGE_FIELD_U, N),
         *star = means_of(solution, KEDGE_FIELD_U_STAR, N);
  assert_memory_equal(u, star, N * sizeof *u);
  free(u);
  free(star);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  test_grid_destroy(&grid);
}

/// A linear u on curves of order 2, whose flux is a constant vector: at the nodes, and as a mean of
/// what is kept. A tensor, and one number for straight triangles.
static void the_flux_is_diffusion_times_the_gradient(void **state)
{
  (void)state;
  static const struct {
    const char *words, *map, *diffusion;
    double sigma[2];
  } cases[] = {{"mixed 4", "x + 0.1*y^2, y - 0.1*x*y", "2, 0.5, 1", {5.0, -0.5}},
               {"square 4", "x, y", "2.5", {7.5, -5.0}}};
  for (int i = 0; i < 4; ++i) {
    const char *const kept = i % 2 ? "cells" : "full";
    kedge_mesh *mesh;
    kedge_solution *s;
    kedge_problem *problem = problem_of(
        ctx, SETTINGS({"mesh", "generate", cases[i / 2].words}, {"mesh", "geometry", "2"},
                      {"mesh", "map", cases[i / 2].map}, {"space", "order", "2"},
                      {"equation", "diffusion", cases[i / 2].diffusion},
                      {"exact", "u", "3*x - 2*y + 1"}, {"boundary default", "type", "dirichlet"},
                      {"solver", "tolerance", "1e-13"}, {"output", "fields", kept}));
    must(ctx, kedge_problem_mesh(problem, &mesh));
    must(ctx, kedge_solve(ctx, mesh, problem, &s));
    kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
    must(ctx, kedge_mesh_get_info(mesh, &info));
    int64_t offsets[200];
    double values[2000];
    must(ctx, kedge_solution_offsets(s, 3, offsets));
    for (int component = 0; component < 2; ++component) {
      const kedge_field field = component ? KEDGE_FIELD_SIGMA_Y : KEDGE_FIELD_SIGMA_X;
      const int64_t n = i % 2 ? info.elements : offsets[info.elements];
      assert_in_range(n, 1, 2000);
      must(ctx, i % 2 ? kedge_solution_means(s, field, values)
                      : kedge_solution_values(s, field, 3, values));
      for (int64_t k = 0; k < n; ++k)
        assert_at_most(fabs(values[k] - cases[i / 2].sigma[component]), 1e-10);
    }
    kedge_solution_destroy(s);
    kedge_mesh_destroy(mesh);
    kedge_problem_destroy(problem);
  }
}

static void what_was_not_kept_is_refused(void **state)
{
  (void)state;
  test_grid grid;
  test_grid_create(&grid, 2);
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  kedge_solution *s = solve_for(mesh, "1", "cells");
  double values[2 * 3];
  assert_int_equal(kedge_solution_values(s, KEDGE_FIELD_U, 1, values), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(ctx),
                      "kedge_solution_values: the problem says [output] fields = cells, so only "
                      "the means over the elements were kept; read them with "
                      "kedge_solution_means(), or solve with fields = full");
  assert_int_equal(kedge_solution_trace(s, NULL, values), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "kedge_solution_trace: the problem says"));
  assert_int_equal(kedge_solution_nodes(s, 1, (double[2 * 2 * 3]){0}), KEDGE_OK);
  assert_int_equal(kedge_solution_means(NULL, KEDGE_FIELD_U, values), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(NULL), "kedge_solution_means: the solution is NULL");
  assert_int_equal(kedge_solution_means(s, KEDGE_FIELD_U, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_means(s, KEDGE_FIELD_COUNT, values), KEDGE_ERR_ARG);
  kedge_solution_destroy(s);
  kedge_mesh_destroy(mesh);
  test_grid_destroy(&grid);
}

static void *read_all(hid_t file, const char *name, hid_t type, size_t count, size_t size)
{
  void *values = calloc(count, size);
  assert_non_null(values);
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
  assert_int_equal(H5Sget_simple_extent_npoints(space), count);
  assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(dataset);
  return values;
}

/// Corners of the cells of the file are those of the caller's triangles, a clockwise one turned.
static void check_corners(const test_grid *grid, hid_t file, size_t n_vertices)
{
  const size_t n = (size_t)grid->n_triangles;
  double *points =
      read_all(file, "VTKHDF/Points", H5T_NATIVE_DOUBLE, 3 * n_vertices, sizeof *points);
  int32_t *corner = read_all(file, "VTKHDF/Connectivity", H5T_NATIVE_INT32, 3 * n, sizeof *corner);
  for (size_t e = 0; e < n; ++e)
    for (size_t l = 0; l < 3; ++l) {
      const double *point = points + 3 * corner[3 * e + l];
      int found = 0;
      for (size_t k = 0; k < 3; ++k) {
        const double *vertex = grid->vertices + 2 * grid->triangles[3 * e + k];
        found += point[0] == vertex[0] && point[1] == vertex[1];
      }
      assert_int_equal(found, 1);
      assert_true(point[2] == 0.0);
    }
  free(points);
  free(corner);
}

static void the_file_holds_the_triangles_and_their_means(void **state)
{
  (void)state;
  char path[] = "/tmp/kedge_cells_XXXXXX.hdf";
  const int descriptor = mkstemps(path, 4);
  assert_true(descriptor >= 0);
  close(descriptor);
  test_grid grid;
  test_grid_create(&grid, 257);
  const size_t n = 257;
  kedge_mesh *mesh = test_grid_mesh(&grid, ctx);
  kedge_solution *solution = solve_for(mesh, "3", "cells");
  kedge_report report = KEDGE_REPORT_INIT;
  must(ctx, kedge_solution_write(solution, path));
  kedge_solution_report(solution, &report);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_corners(&grid, file, (size_t)report.vertices);
  double *u = read_all(file, "VTKHDF/CellData/u", H5T_NATIVE_DOUBLE, n, sizeof *u);
  double *q = read_all(file, "VTKHDF/CellData/q", H5T_NATIVE_DOUBLE, 3 * n, sizeof *q);
  double *error =
      read_all(file, "VTKHDF/CellData/error_indicator", H5T_NATIVE_DOUBLE, n, sizeof *q);
  int32_t *region = read_all(file, "VTKHDF/CellData/region", H5T_NATIVE_INT32, n, sizeof *region);
  double *indicator = malloc(n * sizeof *indicator);
  assert_non_null(indicator);
  must(ctx, kedge_solution_indicator(solution, indicator));
  double *means[3];
  for (int k = 0; k < 3; ++k) means[k] = means_of(solution, (kedge_field)k, n);
  for (size_t e = 0; e < n; ++e) {
    assert_true(u[e] == means[0][e] && error[e] == indicator[e]);
    assert_true(q[3 * e] == means[1][e] && q[3 * e + 1] == means[2][e] && q[3 * e + 2] == 0.0);
    assert_int_equal(region[e], 0);
  }
  for (int k = 0; k < 3; ++k) free(means[k]);
  free(indicator);
  free(region);
  free(error);
  free(q);
  free(u);
  H5Fclose(file);
  unlink(path);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  test_grid_destroy(&grid);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_kept_is_that_of_the_full_solution_to_the_bit),
      cmocka_unit_test(means_are_integrals_over_areas),
      cmocka_unit_test(the_flux_is_diffusion_times_the_gradient),
      cmocka_unit_test(what_was_not_kept_is_refused),
      cmocka_unit_test(the_file_holds_the_triangles_and_their_means),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
