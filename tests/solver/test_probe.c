// Probes: fields at points whose elements are found once, and CSV files of them.
#include <math.h>
#include <unistd.h>

#include "backend.h"
#include "compare.h"
#include "moved.h"
#include "solution/solution.h"
#include "support.h"

typedef struct sample {
  const char *name;
  int n;
  enum cut cut;
  int geometry;
  moving *to;
  const char *diffusion;
} sample;

static const sample samples[] = {
    {"triangles", 9, ALL, 1, wave, "2"},
    {"triangles, tensor", 5, ALL, 1, wave, "2, 0.5, 1"},
    {"triangles, varying", 5, ALL, 1, wave, "1 + x^2"},
    {"curved triangles", 4, ALL, 3, ring, "2"},
    {"squares", 6, WHOLE, 1, trapezoids, "3"},
    {"curved squares", 4, WHOLE, 2, ring, "1 + 0.5*x"},
    {"both, curved", 5, CHECKERED, 2, wave, "2, 0.5, 1"},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

typedef struct bench {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kedge_solution *solution;
  int64_t n_elements, n_nodes;  ///< nodes of order 5
  int64_t *offsets;
  double *x, *y;
} bench;

enum { NODES = 5 };

static char path[64];  ///< of a table, of this process alone

static int make_path(void **state)
{
  (void)state;
  snprintf(path, sizeof path, "/tmp/kedge_probe_%ld.csv", (long)getpid());
  return 0;
}

static kedge_solution *solution_on(kedge_context *ctx, const kedge_mesh *mesh, const sample *s,
                                   const char *kept)
{
  return solve(ctx, mesh,
               SETTINGS({"space", "order", "4"}, {"equation", "source", "1 + x*y"},
                        {"equation", "diffusion", s->diffusion}, {"output", "fields", kept},
                        {"boundary default", "type", "dirichlet"},
                        {"boundary default", "value", "sin(x) - y"}));
}

static bench bench_with(const sample *s, int threads)
{
  bench b = {.ctx = open_backend(test_backend(), threads)};
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  b.mesh = moved(b.ctx, s->n, s->cut, s->geometry, s->to);
  b.solution = solution_on(b.ctx, b.mesh, s, "full");
  must(b.ctx, kedge_mesh_get_info(b.mesh, &info));
  b.n_elements = info.elements;
  b.offsets = calloc((size_t)info.elements + 1, sizeof *b.offsets);
  must(b.ctx, kedge_solution_offsets(b.solution, NODES, b.offsets));
  b.n_nodes = b.offsets[info.elements];
  double *xy = calloc(2 * (size_t)b.n_nodes, sizeof *xy);
  b.x = calloc((size_t)b.n_nodes, sizeof *b.x);
  b.y = calloc((size_t)b.n_nodes, sizeof *b.y);
  must(b.ctx, kedge_solution_nodes(b.solution, NODES, xy));
  for (int64_t i = 0; i < b.n_nodes; ++i) b.x[i] = xy[2 * i], b.y[i] = xy[2 * i + 1];
  free(xy);
  return b;
}

static bench bench_of(const sample *s)
{
  return bench_with(s, 2);
}

static void bench_free(bench *b)
{
  kedge_solution_destroy(b->solution);
  kedge_mesh_destroy(b->mesh);
  kedge_context_destroy(b->ctx);
  free(b->offsets);
  free(b->x);
  free(b->y);
}

static kedge_probe *probe_of(const bench *b, int64_t n, const double *x, const double *y)
{
  kedge_probe *probe;
  must(b->ctx, kedge_probe_create(b->ctx, b->mesh, n, x, y, &probe));
  return probe;
}

static double *values_of(const bench *b, const kedge_probe *probe, kedge_field field)
{
  double *values = calloc((size_t)kedge_probe_count(probe), sizeof *values);
  must(b->ctx, kedge_probe_values(probe, b->solution, field, values));
  return values;
}

/// At nodes inside of elements, where kedge_solution_values() has the values of polynomials too.
static void points_inside_have_the_values_of_their_element(void **state)
{
  (void)state;
  for (int k = 0; k < SAMPLES; k += test_is_quick() ? 3 : 1) {
    bench b = bench_of(&samples[k]);
    double *x = calloc((size_t)b.n_nodes, sizeof *x), *y = calloc((size_t)b.n_nodes, sizeof *y);
    int64_t *from = calloc((size_t)b.n_nodes, sizeof *from), n = 0;
    for (int64_t e = b.n_elements - 1; e >= 0; --e) {
      const int64_t count = b.offsets[e + 1] - b.offsets[e], inside = count == 21 ? 6 : 16;
      for (int64_t i = b.offsets[e + 1] - inside; i < b.offsets[e + 1]; ++i, ++n) {
        x[n] = b.x[i];
        y[n] = b.y[i];
        from[n] = i;
      }
    }
    kedge_probe *probe = probe_of(&b, n, x, y);
    assert_int_equal(kedge_probe_count(probe), n);
    assert_int_equal(kedge_probe_outside(probe), 0);
    double *nodes = calloc((size_t)b.n_nodes, sizeof *nodes);
    double *expected = calloc((size_t)n, sizeof *expected);
    for (int f = 0; f < KEDGE_FIELD_COUNT_PLANE; ++f) {
      double *found = values_of(&b, probe, (kedge_field)f);
      must(b.ctx, kedge_solution_values(b.solution, (kedge_field)f, NODES, nodes));
      for (int64_t i = 0; i < n; ++i) expected[i] = nodes[from[i]];
      assert_close((size_t)n, found, expected, 1e-11);
      free(found);
    }
    free(nodes);
    free(expected);
    free(from);
    free(x);
    free(y);
    kedge_probe_destroy(probe);
    bench_free(&b);
  }
}

/// All nodes on edges: the element of the lowest number that has a node there.
static void a_point_of_an_edge_belongs_to_the_lower_number(void **state)
{
  (void)state;
  static const sample mixed = {"both", 5, CHECKERED, 1, stay, "1"};
  bench b = bench_of(&mixed);
  double *nodes = calloc((size_t)b.n_nodes, sizeof *nodes);
  must(b.ctx, kedge_solution_values(b.solution, KEDGE_FIELD_QX, NODES, nodes));
  kedge_probe *probe = probe_of(&b, b.n_nodes, b.x, b.y);
  double *found = values_of(&b, probe, KEDGE_FIELD_QX);
  for (int64_t i = 0; i < b.n_nodes; ++i) {
    int64_t first = 0;
    while (hypot(b.x[first] - b.x[i], b.y[first] - b.y[i]) > 1e-12) ++first;
    assert_at_most(fabs(found[i] - nodes[first]), 1e-9);
  }
  free(nodes);
  free(found);
  kedge_probe_destroy(probe);
  bench_free(&b);
}

static void rounding_outside_counts_as_inside_and_more_does_not(void **state)
{
  (void)state;
  static const sample square = {"straight", 50, CHECKERED, 1, stay, "1"};
  static const double x[] = {-5e-10, 1 + 5e-10, 0.3, 0.3,      -7e-10, 0.5,
                             -1e-8,  0.5,       NAN, INFINITY, 1e300,  0.5};
  static const double y[] = {0.41, 0.77,     -5e-10, 1 + 5e-10, -7e-10, 0.5,
                             0.5,  1 + 1e-8, 0.5,    0.5,       0.5,    -0.1};
  static const double nearest_x[] = {0, 1, 0.3, 0.3, 0, 0.5},
                      nearest_y[] = {0.41, 0.77, 0, 1, 0, 0.5};
  enum { N = sizeof x / sizeof *x, INSIDE = 6 };
  bench b = bench_of(&square);
  kedge_probe *probe = probe_of(&b, N, x, y), *nearest = probe_of(&b, INSIDE, nearest_x, nearest_y);
  assert_int_equal(kedge_probe_outside(probe), N - INSIDE);
  for (int f = 0; f < KEDGE_FIELD_COUNT_PLANE; ++f) {
    double *found = values_of(&b, probe, (kedge_field)f);
    double *expected = values_of(&b, nearest, (kedge_field)f);
    assert_close(INSIDE, found, expected, 1e-7);
    for (int i = INSIDE; i < N; ++i) assert_true(isnan(found[i]));
    free(found);
    free(expected);
  }
  kedge_probe_destroy(probe);
  kedge_probe_destroy(nearest);
  bench_free(&b);
}

/// Points of a circle, from which curves of order 5 differ by less than 1e-9 of the mesh. At its
/// ends u is not smooth, as source and boundary values do not meet there.
static void points_of_a_curved_boundary_are_inside(void **state)
{
  (void)state;
  static const sample fine = {"ring", 20, ALL, 5, ring, "1"};
  enum { N = 101 };
  double x[N], y[N];
  for (int i = 0; i < N; ++i) {
    x[i] = 2 * cos(0.5 * M_PI * i / (N - 1));
    y[i] = 2 * sin(0.5 * M_PI * i / (N - 1));
  }
  bench b = bench_of(&fine);
  kedge_probe *probe = probe_of(&b, N, x, y);
  assert_int_equal(kedge_probe_outside(probe), 0);
  double *found = values_of(&b, probe, KEDGE_FIELD_U_STAR);
  for (int i = 0; i < N; ++i) assert_at_most(fabs(found[i] - (sin(x[i]) - y[i])), 1e-4);
  free(found);
  kedge_probe_destroy(probe);
  bench_free(&b);
}

static void values_do_not_depend_on_threads_or_on_where_the_solution_lies(void **state)
{
  (void)state;
  enum { N = 3000 };
  double *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y), *first = NULL;
  for (int i = 0; i < N; ++i) {
    x[i] = fmod(0.618033988749895 * (i + 1), 1.0);
    y[i] = (i + 0.5) / N;
  }
  static const sample grid = {"both", 12, CHECKERED, 1, stay, "1 + x"};
  for (int threads = 1; threads <= 3; ++threads) {
    bench b = bench_with(&grid, threads);
    kedge_probe *probe = probe_of(&b, N, x, y);
    double *found = values_of(&b, probe, KEDGE_FIELD_SIGMA_X);
    must(b.ctx, kg_solution_bring(b.solution, KG_HOLDS_FLUX));
    double *again = values_of(&b, probe, KEDGE_FIELD_SIGMA_X);
    assert_memory_equal(found, again, N * sizeof *found);
    free(again);
    if (first) assert_memory_equal(found, first, N * sizeof *found);
    free(threads == 1 ? NULL : found);
    if (threads == 1) first = found;
    kedge_probe_destroy(probe);
    bench_free(&b);
  }
  free(first);
  free(x);
  free(y);
}

static void a_few_points_bring_no_whole_field_and_leave_no_device_memory(void **state)
{
  (void)state;
  static const double x[] = {0.11, 0.9, 0.13}, y[] = {0.2, 0.8, 0.21};
  static const sample grid = {"triangles", 20, ALL, 1, stay, "1"};
  bench b = bench_of(&grid);
  const int64_t before = b.ctx->bytes_in_use;
  const bool was_here = b.solution->held[KG_HELD_FLUX].host != NULL;
  kedge_probe *probe = probe_of(&b, 3, x, y);
  free(values_of(&b, probe, KEDGE_FIELD_QX));
  assert_int_equal(b.ctx->bytes_in_use, before);
  assert_int_equal(b.solution->held[KG_HELD_FLUX].host != NULL, was_here);
  kedge_probe_destroy(probe);
  bench_free(&b);
}

static void one_probe_serves_solves_that_overwrite_their_solution(void **state)
{
  (void)state;
  static const double x[] = {0.3, 0.7, 5}, y[] = {0.4, 0.6, 5};
  static const sample grid = {"both", 6, CHECKERED, 1, stay, "1"};
  bench b = bench_of(&grid);
  kedge_problem *problem =
      problem_of(b.ctx, SETTINGS({"space", "order", "3"}, {"boundary default", "type", "dirichlet"},
                                 {"boundary default", "value", "x"}));
  kedge_solver *solver;
  must(b.ctx, kedge_solver_create(b.ctx, b.mesh, problem, &solver));
  kedge_probe *probe = probe_of(&b, 3, x, y);
  kedge_solution *solution = NULL;
  kedge_report report = KEDGE_REPORT_INIT;
  for (int step = 1; step <= 3; ++step) {
    char text[8];
    double values[3];
    snprintf(text, sizeof text, "%d*x", step);
    const kedge_boundary_value value = {.group = "default", .text = text};
    kedge_data data = KEDGE_DATA_INIT;
    data.n_values = 1;
    data.values = &value;
    must(b.ctx, kedge_solver_solve(solver, &data, &solution));
    must(b.ctx, kedge_solution_report(solution, &report));
    assert_null(report.probe_note);
    must(b.ctx, kedge_probe_values(probe, solution, KEDGE_FIELD_U, values));
    for (int i = 0; i < 2; ++i) assert_at_most(fabs(values[i] - step * x[i]), 1e-8);
    assert_true(isnan(values[2]));
    must(b.ctx, kedge_probe_write(probe, solution, path));
    must(b.ctx, kedge_solution_report(solution, &report));
    const char *const note = strstr(report.probe_note, ": 1 of 3 points lie outside of the mesh");
    assert_non_null(note);
    must(b.ctx, kedge_probe_write(probe, solution, path));
    must(b.ctx, kedge_solution_report(solution, &report));
    assert_null(strstr(note + 1, ": 1 of 3 points"));  // the same note stands there once
  }
  unlink(path);
  kedge_probe_destroy(probe);
  kedge_solution_destroy(solution);
  kedge_solver_destroy(solver);
  kedge_problem_destroy(problem);
  bench_free(&b);
}

/// The rows of a table read back are the points and values to the last bit.
static void a_table_has_the_values_to_the_last_bit(void **state)
{
  (void)state;
  static const double x[] = {0.1, 0.7, 1.0 / 3}, y[] = {0.2, -3, 0.9};
  static const sample grid = {"both", 5, CHECKERED, 1, stay, "2, 0.5, 1"};
  static const kedge_field columns[] = {KEDGE_FIELD_U,  KEDGE_FIELD_U_STAR,  KEDGE_FIELD_QX,
                                        KEDGE_FIELD_QY, KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y};
  bench b = bench_of(&grid);
  kedge_probe *probe = probe_of(&b, 3, x, y);
  must(b.ctx, kedge_probe_write(probe, b.solution, path));
  FILE *file = fopen(path, "r");
  char line[400];
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "x,y,region,u,u_star,qx,qy,sigma_x,sigma_y\n");
  for (int i = 0; i < 3; ++i) {
    assert_non_null(fgets(line, sizeof line, file));
    char *at = line;
    assert_true(strtod(at, &at) == x[i]);
    assert_true(strtod(at + 1, &at) == y[i]);
    if (i == 1) {
      assert_string_equal(at, ",,,,,,,\n");
      continue;
    }
    assert_true(strtod(at + 1, &at) == 0);
    for (int f = 0; f < KEDGE_FIELD_COUNT_PLANE; ++f) {
      double *values = values_of(&b, probe, columns[f]);
      assert_int_equal(*at, ',');
      assert_true(strtod(at + 1, &at) == values[i]);
      free(values);
    }
    assert_string_equal(at, "\n");
  }
  assert_null(fgets(line, sizeof line, file));
  fclose(file);
  unlink(path);
  kedge_probe_destroy(probe);
  bench_free(&b);
}

static void assert_refused(const bench *b, kedge_status status, kedge_status expected,
                           const char *sentence)
{
  assert_int_equal(status, expected);
  assert_string_equal(kedge_context_error(b->ctx), sentence);
}

static void a_solution_that_does_not_fit_is_refused_in_its_own_context(void **state)
{
  (void)state;
  static const double at = 0.4;
  double value;
  bench b = bench_of(&samples[1]), other = bench_of(&samples[1]);
  kedge_probe *here, *there;
  must(other.ctx, kedge_probe_create(other.ctx, b.mesh, 1, &at, &at, &here));
  must(other.ctx, kedge_probe_create(other.ctx, other.mesh, 1, &at, &at, &there));
  must(b.ctx, kedge_probe_values(here, b.solution, KEDGE_FIELD_U, &value));
  assert_true(isfinite(value));
  assert_refused(&b, kedge_probe_values(there, b.solution, KEDGE_FIELD_U, &value), KEDGE_ERR_ARG,
                 "kedge_probe_values: probe and solution are of two mesh objects");
  kedge_probe_destroy(here);
  kedge_probe_destroy(there);
  bench_free(&other);
  bench_free(&b);
}

static void probes_made_together_are_those_made_one_by_one(void **state)
{
  (void)state;
  enum { N = 3 };
  const setting *const settings = SETTINGS(
      {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x"},
      {"probe one", "points", "0.31 0.47"}, {"probe line", "line", "-0.2 0.5, 1.1 0.5, 14"},
      {"probe edge", "points", "1.0000000001 0.5, 0.5 0.25, 3 4"});
  static const int counts[N] = {1, 14, 3};
  for (int i = 0; i < 2; ++i) {
    static const sample grids[] = {{"both", 6, CHECKERED, 1, stay, "1"},
                                   {"curved", 5, ALL, 3, wave, "1"}};
    bench b = bench_of(&grids[i]);
    kedge_problem *problem = problem_of(b.ctx, settings);
    assert_int_equal(kedge_problem_probe_count(problem), N);
    kedge_probe *all[N];
    const int64_t before = b.ctx->bytes_in_use;
    must(b.ctx, kedge_problem_probes_create(b.ctx, b.mesh, problem, all));
    assert_int_equal(b.ctx->bytes_in_use, before);
    for (int k = 0; k < N; ++k) {
      kedge_probe *one;
      double values[2][14];
      must(b.ctx, kedge_problem_probe_create(b.ctx, b.mesh, problem, k, &one));
      assert_int_equal(kedge_probe_count(all[k]), counts[k]);
      assert_int_equal(kedge_probe_outside(all[k]), kedge_probe_outside(one));
      must(b.ctx, kedge_probe_values(all[k], b.solution, KEDGE_FIELD_QX, values[0]));
      must(b.ctx, kedge_probe_values(one, b.solution, KEDGE_FIELD_QX, values[1]));
      for (int p = 0; p < counts[k]; ++p)
        assert_true(values[0][p] == values[1][p] || (isnan(values[0][p]) && isnan(values[1][p])));
      kedge_probe_destroy(one);
      kedge_probe_destroy(all[k]);
    }
    // The last one has no point inside: there are no probes.
    must(b.ctx, kedge_problem_set(problem, "probe edge", "points", "3 4"));
    assert_int_equal(kedge_problem_probes_create(b.ctx, b.mesh, problem, all), KEDGE_ERR_INPUT);
    assert_non_null(strstr(kedge_context_error(b.ctx), "no point of the probe lies in "));
    for (int k = 0; k < N; ++k) assert_null(all[k]);
    assert_refused(&b, kedge_problem_probes_create(b.ctx, b.mesh, problem, NULL), KEDGE_ERR_ARG,
                   "kedge_problem_probes_create: out is NULL");
    kedge_problem_destroy(problem);
    bench_free(&b);
  }
}

static void what_is_no_probe_is_refused(void **state)
{
  (void)state;
  static const double x[] = {3, NAN}, y[] = {4, 0.5}, inside = 0.5;
  bench b = bench_of(&samples[1]);
  kedge_probe *none, *probe = probe_of(&b, 1, &inside, &inside);
  kedge_context *const ctx = b.ctx;
  double value;
  assert_refused(&b, kedge_probe_create(ctx, b.mesh, 0, x, y, &none), KEDGE_ERR_ARG,
                 "kedge_probe_create: the probe has no points");
  assert_null(none);
  assert_refused(&b, kedge_probe_create(ctx, b.mesh, 2, x, NULL, &none), KEDGE_ERR_ARG,
                 "kedge_probe_create: x or y is NULL");
  assert_int_equal(kedge_probe_create(ctx, b.mesh, 2, x, y, &none), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(ctx), "no point of the probe lies in "));
  assert_non_null(strstr(kedge_context_error(ctx), "the first of 2 is (3, 4)"));
  assert_null(none);
  assert_refused(&b, kedge_probe_values(probe, b.solution, KEDGE_FIELD_COUNT, &value),
                 KEDGE_ERR_ARG, "kedge_probe_values: there is no field 8, or the array is NULL");
  kedge_mesh *other = moved(ctx, 3, ALL, 1, stay);
  kedge_solution *elsewhere = solution_on(ctx, other, &samples[0], "full");
  kedge_solution *means = solution_on(ctx, b.mesh, &samples[1], "cells");
  assert_refused(&b, kedge_probe_values(probe, elsewhere, KEDGE_FIELD_U, &value), KEDGE_ERR_ARG,
                 "kedge_probe_values: probe and solution are of two mesh objects");
  assert_int_equal(kedge_probe_write(probe, means, path), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(ctx), "[output] fields = cells"));
  assert_int_equal(kedge_probe_write(probe, b.solution, "/nowhere/x.csv"), KEDGE_ERR_IO);
  assert_int_equal(kedge_problem_check_probes(NULL), KEDGE_ERR_ARG);
  assert_int_equal(access(path, F_OK), -1);
  kedge_solution_destroy(elsewhere);
  kedge_solution_destroy(means);
  kedge_mesh_destroy(other);
  kedge_probe_destroy(probe);
  kedge_probe_destroy(NULL);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_inside_have_the_values_of_their_element),
      cmocka_unit_test(a_point_of_an_edge_belongs_to_the_lower_number),
      cmocka_unit_test(rounding_outside_counts_as_inside_and_more_does_not),
      cmocka_unit_test(points_of_a_curved_boundary_are_inside),
      cmocka_unit_test(values_do_not_depend_on_threads_or_on_where_the_solution_lies),
      cmocka_unit_test(a_few_points_bring_no_whole_field_and_leave_no_device_memory),
      cmocka_unit_test(one_probe_serves_solves_that_overwrite_their_solution),
      cmocka_unit_test(a_table_has_the_values_to_the_last_bit),
      cmocka_unit_test(a_solution_that_does_not_fit_is_refused_in_its_own_context),
      cmocka_unit_test(probes_made_together_are_those_made_one_by_one),
      cmocka_unit_test(what_is_no_probe_is_refused),
  };
  return cmocka_run_group_tests(tests, make_path, NULL);
}
