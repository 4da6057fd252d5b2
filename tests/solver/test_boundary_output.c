// The file of edges of groups: the trace at their nodes, and fluxes that add up to those of groups.
#include <math.h>
#include <unistd.h>

#include "backend.h"
#include "compare.h"
#include "moved.h"
#include "support.h"

static char path[64];  ///< of this process alone

static int make_path(void **state)
{
  (void)state;
  snprintf(path, sizeof path, "/tmp/kedge_edges_%ld.vtkhdf", (long)getpid());
  return 0;
}

/// What a file holds.
typedef struct edges {
  int64_t n, nodes;  ///< of an edge
  double *xyz, *trace, *group, *inside, *flux;
} edges;

static double *numbers(kedge_context *ctx, const char *name, int64_t *n)
{
  *n = 0;
  must(ctx, kedge_output_read(ctx, path, name, n, NULL));
  double *values = calloc((size_t)*n, sizeof *values);
  must(ctx, kedge_output_read(ctx, path, name, n, values));
  return values;
}

/// Write, read, and look at what every cell is.
static edges edges_of(kedge_context *ctx, const kedge_solution *solution, int order)
{
  edges e = {.nodes = order + 1};
  int64_t n, n_offsets, n_nodes;
  must(ctx, kedge_solution_write_boundary(solution, path));
  double *types = numbers(ctx, "Types", &e.n), *offsets = numbers(ctx, "Offsets", &n_offsets);
  e.xyz = numbers(ctx, "Points", &n_nodes);
  assert_int_equal(n_nodes, 3 * e.n * e.nodes);
  for (int64_t i = 0; i < e.n; ++i) {
    assert_true(types[i] == 68);
    assert_true(offsets[i + 1] - offsets[i] == (double)e.nodes);
  }
  e.trace = numbers(ctx, "PointData/trace", &n);
  assert_int_equal(n, e.n * e.nodes);
  e.group = numbers(ctx, "CellData/group", &n);
  e.inside = numbers(ctx, "CellData/inside", &n);
  e.flux = numbers(ctx, "CellData/flux", &n);
  assert_int_equal(n, e.n);
  free(types);
  free(offsets);
  unlink(path);
  return e;
}

static void edges_free(edges *e)
{
  free(e->xyz);
  free(e->trace);
  free(e->group);
  free(e->inside);
  free(e->flux);
}

/// The length of an edge, by Simpson's rule with the derivative of the polynomial of its nodes.
static double length_of(const edges *e, int64_t edge)
{
  const int order = (int)e->nodes - 1, steps = 64;
  const double *const at = e->xyz + 3 * edge * e->nodes;
  double length = 0.0;
  for (int q = 0; q <= steps; ++q) {
    const double t = (double)q / steps * order;
    double along[2] = {0};
    for (int k = 0; k <= order; ++k) {
      const int own = k == 0 ? 0 : k == 1 ? order : k - 1;
      double slope = 0.0;
      for (int m = 0; m <= order; ++m) {
        double product = m == own ? 0.0 : (double)order / (own - m);
        for (int j = 0; j <= order && m != own; ++j)
          if (j != own && j != m) product *= (t - j) / (own - j);
        slope += product;
      }
      for (int d = 0; d < 2; ++d) along[d] += slope * at[3 * k + d];
    }
    length += hypot(along[0], along[1]) * (q == 0 || q == steps ? 1 : q % 2 ? 4 : 2);
  }
  return length / (3 * steps);
}

/// Sums of the file are the numbers of groups.
static void assert_sums(kedge_context *ctx, const kedge_solution *solution, const edges *e,
                        double tolerance)
{
  kedge_report report = KEDGE_REPORT_INIT;
  int64_t all = 0;
  must(ctx, kedge_solution_report(solution, &report));
  for (int g = 0; g < report.n_groups; ++g) {
    const kedge_group_values *const v = report.groups[g];
    double length = 0.0, flux = 0.0, most = 1.0;
    int64_t n = 0;
    for (int64_t i = 0; i < e->n; ++i) {
      if (e->group[i] != v->tag || (e->inside[i] != 0.0) != v->inside) continue;
      const double here = length_of(e, i);
      length += here;
      flux += e->flux[i] * here;
      most = fmax(most, fabs(e->flux[i]));
      ++n;
    }
    assert_int_equal(n, v->edges);
    assert_at_most(fabs(length - v->length), tolerance);
    assert_at_most(fabs(flux - v->flux), tolerance * most);
    all += n;
  }
  assert_int_equal(all, e->n);
}

static double exact(double x, double y)
{
  return x + 2 * y + x * y;
}

/// Two regions.
static int32_t halves(int n, int i, int j)
{
  (void)j;
  return i < n / 2 ? 5 : 6;
}

static kedge_solution *solution_on(kedge_context *ctx, const kedge_mesh *mesh, const char *order)
{
  return solve(ctx, mesh,
               SETTINGS({"space", "order", order}, {"exact", "u", "x + 2*y + x*y"},
                        {"equation", "diffusion", "3"}, {"solver", "tolerance", "1e-13"},
                        {"boundary default", "type", "dirichlet"}));
}

static void the_trace_and_fluxes_of_every_edge_are_written(void **state)
{
  (void)state;
  static const struct {
    enum cut cut;
    int geometry;
    moving *to;
  } meshes[] = {{ALL, 1, stay}, {CHECKERED, 1, stay}, {ALL, 3, ring}, {WHOLE, 2, wave}};
  kedge_context *ctx = open_backend(test_backend(), 2);
  for (size_t k = 0; k < sizeof meshes / sizeof *meshes; ++k)
    for (int order = 2; order <= 8; order += 3) {
      char text[4];
      snprintf(text, sizeof text, "%d", order);
      kedge_mesh *mesh = grid_of(ctx, 4, meshes[k].cut, meshes[k].geometry, meshes[k].to, halves);
      kedge_solution *solution = solution_on(ctx, mesh, text);
      const int geometry = meshes[k].geometry;
      edges e = edges_of(ctx, solution, order > geometry ? order : geometry);
      const bool curved = geometry > 1;
      for (int64_t i = 0; i < e.n; ++i)
        for (int64_t j = 0; j < e.nodes; ++j) {
          const double *const at = e.xyz + 3 * (i * e.nodes + j);
          assert_true(at[2] == 0.0);
          // On curves u is no polynomial along an edge.
          assert_at_most(fabs(e.trace[i * e.nodes + j] - exact(at[0], at[1])),
                         curved ? 0.2 / pow(4, order) : 1e-9);
        }
      assert_sums(ctx, solution, &e, 1e-7);
      if (!curved)
        for (int64_t i = 0; i < e.n; ++i) {
          // The normal is to the right.
          const double *const a = e.xyz + 3 * i * e.nodes, *const b = a + 3;
          const double dx = b[0] - a[0], dy = b[1] - a[1];
          const double x = 0.5 * (a[0] + b[0]), y = 0.5 * (a[1] + b[1]);
          const double flux = 3 * ((1 + y) * dy - (2 + x) * dx) / hypot(dx, dy);
          assert_at_most(fabs(e.flux[i] - flux), 1e-7);
        }
      edges_free(&e);
      kedge_solution_destroy(solution);
      kedge_mesh_destroy(mesh);
    }
  kedge_context_destroy(ctx);
}

/// Orders above that of the cells that VTK evaluates, and solutions without fields.
static void high_orders_and_reports_have_the_same_edges(void **state)
{
  (void)state;
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh = square_mesh(ctx, 3);
  kedge_solution *solution = solution_on(ctx, mesh, "12"), *alone;
  edges e = edges_of(ctx, solution, 10);
  assert_int_equal(e.n, 12);
  for (int64_t i = 0; i < e.n * e.nodes; ++i)
    assert_at_most(fabs(e.trace[i] - exact(e.xyz[3 * i], e.xyz[3 * i + 1])), 1e-9);
  assert_sums(ctx, solution, &e, 1e-8);
  kedge_problem *problem =
      problem_of(ctx, SETTINGS({"space", "order", "12"}, {"exact", "u", "x + 2*y + x*y"},
                               {"equation", "diffusion", "3"}, {"solver", "tolerance", "1e-13"},
                               {"boundary default", "type", "dirichlet"}));
  must(ctx, kedge_solve_report(ctx, mesh, problem, &alone));
  edges same = edges_of(ctx, alone, 10);
  assert_int_equal(same.n, e.n);
  assert_memory_equal(same.trace, e.trace, (size_t)(e.n * e.nodes) * sizeof *e.trace);
  assert_memory_equal(same.flux, e.flux, (size_t)e.n * sizeof *e.flux);
  edges_free(&e);
  edges_free(&same);
  kedge_problem_destroy(problem);
  kedge_solution_destroy(alone);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

static void a_solution_that_is_overwritten_has_the_edges_of_the_last_solve(void **state)
{
  (void)state;
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh = square_mesh(ctx, 3);
  kedge_solution *solution = NULL;
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"space", "order", "4"}, {"solver", "tolerance", "1e-13"},
                    {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "y"}));
  kedge_solver *solver;
  must(ctx, kedge_solver_create(ctx, mesh, problem, &solver));
  for (int factor = 1; factor <= 3; ++factor) {
    char text[8];
    snprintf(text, sizeof text, "%d*x", factor);
    const kedge_boundary_value value = {.group = "default", .text = text};
    kedge_data data = KEDGE_DATA_INIT;
    data.n_values = 1;
    data.values = &value;
    must(ctx, kedge_solver_solve(solver, &data, &solution));
    edges e = edges_of(ctx, solution, 4);
    for (int64_t i = 0; i < e.n * e.nodes; ++i)
      assert_at_most(fabs(e.trace[i] - factor * e.xyz[3 * i]), 1e-10);
    assert_sums(ctx, solution, &e, 1e-8);
    edges_free(&e);
  }
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

/// Two squares, cut in halves, and a group of the line between them and the lower side.
static void lines_inside_the_domain_are_told_from_the_boundary(void **state)
{
  (void)state;
  static const double vertices[] = {0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1};
  static const int32_t triangles[] = {0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4};
  static const int32_t region[] = {8, 8, 7, 7}, lines[] = {1, 4, 0, 1, 1, 2}, tags[] = {3, 3, 3};
  kedge_context *ctx = open_backend(test_backend(), 1);
  kedge_mesh *mesh;
  must(ctx, kedge_mesh_create(ctx,
                              &(kedge_mesh_arrays){.n_vertices = 6,
                                                   .vertices = vertices,
                                                   .n_triangles = 4,
                                                   .triangles = triangles,
                                                   .regions = region,
                                                   .n_lines = 3,
                                                   .lines = lines,
                                                   .line_tags = tags},
                              &mesh));
  kedge_solution *solution = solution_on(ctx, mesh, "3");
  edges e = edges_of(ctx, solution, 3);
  assert_int_equal(e.n, 7);
  assert_sums(ctx, solution, &e, 1e-9);
  int inside = 0;
  for (int64_t i = 0; i < e.n; ++i) {
    if (e.inside[i] == 0.0) continue;
    ++inside;
    assert_true(e.group[i] == 3);
    // Seen from region 7, on the right, the normal is (-1, 0), and sigma_x is 3 (1 + y).
    assert_at_most(fabs(e.flux[i] + 4.5), 1e-9);
    assert_true(e.xyz[3 * i * e.nodes] == 1.0 && e.xyz[3 * i * e.nodes + 1] == 1.0);
  }
  assert_int_equal(inside, 1);
  edges_free(&e);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

static void names_that_paraview_does_not_know_are_refused(void **state)
{
  (void)state;
  kedge_context *ctx = open_backend(test_backend(), 1);
  kedge_mesh *mesh = square_mesh(ctx, 2);
  kedge_solution *solution = solution_on(ctx, mesh, "1");
  assert_int_equal(kedge_solution_write_boundary(solution, "/tmp/edges.vtk"), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "cannot write the output /tmp/edges.vtk: "));
  assert_int_equal(kedge_solution_write_boundary(solution, NULL), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solution_write_boundary(solution, "/nowhere/edges.hdf"), KEDGE_ERR_IO);
  assert_int_equal(kedge_solution_write_boundary(NULL, path), KEDGE_ERR_ARG);
  kedge_solution_destroy(solution);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_trace_and_fluxes_of_every_edge_are_written),
      cmocka_unit_test(high_orders_and_reports_have_the_same_edges),
      cmocka_unit_test(a_solution_that_is_overwritten_has_the_edges_of_the_last_solve),
      cmocka_unit_test(lines_inside_the_domain_are_told_from_the_boundary),
      cmocka_unit_test(names_that_paraview_does_not_know_are_refused),
  };
  return cmocka_run_group_tests(tests, make_path, NULL);
}
