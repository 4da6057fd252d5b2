// The trace system as a caller sees it: product, matrix, right-hand side, and what is recovered
// from a trace that was found elsewhere.
#include "backend.h"
#include "bench.h"
#include "compare.h"
#include "device/context.h"
#include "grid.h"
#include "moved.h"

typedef enum domain { IRREGULAR, CURVED, SQUARES, CURVED_SQUARES, BOTH } domain;

typedef struct sample {
  domain domain;
  setting settings[12];
} sample;

/// Conditions on grids, and on test_irregular_mesh().
#define ON_GRID                                                            \
  {"boundary 1", "type", "dirichlet"}, {"boundary 1", "value", "x"},       \
      {"boundary 2", "type", "neumann"}, {"boundary 2", "value", "y"},     \
      {"boundary 3", "type", "robin"}, {"boundary 3", "coefficient", "2"}, \
      {"boundary 3", "value", "1"}, {"boundary 4", "type", "neumann"},     \
  {                                                                        \
    "boundary 4", "value", "0"                                             \
  }
#define ON_WALL                                                          \
  {"boundary 7", "type", "dirichlet"}, {"boundary 7", "value", "x - y"}, \
      {"boundary default", "type", "neumann"},                           \
  {                                                                      \
    "boundary default", "value", "x"                                     \
  }

static const sample samples[] = {
    {IRREGULAR, {{"space", "order", "1"}, ON_WALL, {"equation", "diffusion", "45"}}},
    {IRREGULAR, {{"space", "order", "4"}, ON_WALL, {"solver", "preconditioner", "jacobi"}}},
    {IRREGULAR,
     {{"space", "order", "3"},
      ON_WALL,
      {"equation", "reaction", "2"},
      {"solver", "preconditioner", "multigrid"}}},
    {IRREGULAR,
     {{"space", "order", "2"},
      ON_WALL,
      {"solver", "preconditioner", "multigrid"},
      {"solver", "precision", "mixed"}}},
    {IRREGULAR, {{"space", "order", "2"}, ON_WALL, {"solver", "operator", "ell"}}},
    {IRREGULAR, {{"space", "order", "2"}, ON_WALL, {"solver", "operator", "matrix-free-plain"}}},
    {IRREGULAR, {{"space", "order", "2"}, ON_WALL, {"equation", "diffusion", "1 + x*x, 0.5, 2"}}},
    {IRREGULAR,
     {{"space", "order", "2"},
      {"equation", "reaction", "3"},
      {"boundary 7", "type", "neumann"},
      {"boundary 7", "value", "1"},
      {"boundary default", "type", "neumann"},
      {"boundary default", "value", "x"}}},
    {CURVED, {{"space", "order", "3"}, ON_GRID}},
    {SQUARES, {{"space", "order", "2"}, ON_GRID}},
    {CURVED_SQUARES, {{"space", "order", "3"}, ON_GRID}},
    {BOTH, {{"space", "order", "2"}, ON_GRID}},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static const sample compact = {IRREGULAR,
                               {{"space", "order", "2"},
                                ON_WALL,
                                {"solver", "preconditioner", "multigrid"},
                                {"solver", "precision", "compact"}}};

static kedge_mesh *mesh_of(kedge_context *ctx, domain of)
{
  switch (of) {
    case IRREGULAR:
      return test_irregular_mesh(ctx, 150);
    case CURVED:
      return moved(ctx, 5, ALL, 2, ring);
    case SQUARES:
      return moved(ctx, 6, WHOLE, 1, trapezoids);
    case CURVED_SQUARES:
      return moved(ctx, 5, WHOLE, 3, ring);
    default:
      return moved(ctx, 6, CHECKERED, 2, wave);
  }
}

static bench bench_with(kedge_context *ctx, const sample *s)
{
  bench b = {.ctx = ctx, .mesh = mesh_of(ctx, s->domain), .problem = problem_of(ctx, s->settings)};
  must(ctx, kedge_problem_set(b.problem, "equation", "source", "exp(x)*y"));
  must(ctx, kedge_problem_set(b.problem, "solver", "tolerance", "1e-13"));
  bench_set_up(&b);
  return b;
}

static bench bench_of(const sample *s)
{
  return bench_with(open_backend(test_backend(), 2), s);
}

static double *vector(size_t n)
{
  double *v = calloc(n + 1, sizeof *v);
  assert_non_null(v);
  return v;
}

/// Numbers without a pattern, in [-1, 1).
static double *noise(size_t n, uint32_t seed)
{
  double *v = vector(n);
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    v[i] = (double)(seed >> 8) / (1 << 23) - 1.0;
  }
  return v;
}

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

static double *product(const bench *b, const double *x)
{
  double *y = vector(b->n);
  must(b->ctx, kedge_solver_apply(b->solver, x, y));
  return y;
}

/// The unknowns of a solution.
static double *unknowns_of(const bench *b, const kedge_solution *solution)
{
  kedge_report report = KEDGE_REPORT_INIT;
  must(b->ctx, kedge_solution_report(solution, &report));
  double *modes = vector((size_t)report.edges * b->m), *x = vector(b->n);
  int32_t *edges = calloc(b->n / b->m + 1, sizeof *edges);
  must(b->ctx, kedge_solution_trace(solution, NULL, modes));
  must(b->ctx, kedge_solver_edges(b->solver, edges));
  for (size_t k = 0; k < b->n / b->m; ++k) {
    assert_true(edges[k] >= 0 && edges[k] < report.edges && (k == 0 || edges[k] > edges[k - 1]));
    memcpy(x + k * b->m, modes + (size_t)edges[k] * b->m, b->m * sizeof *x);
  }
  free(modes);
  free(edges);
  return x;
}

/// Solve A x = b by conjugate gradients, with products of the solver.
static double *conjugate_gradients(const bench *b, const double *rhs)
{
  double *x = vector(b->n), *r = vector(b->n), *p = vector(b->n), *ap = vector(b->n);
  memcpy(r, rhs, b->n * sizeof *r);
  memcpy(p, rhs, b->n * sizeof *r);
  double rr = dot(b->n, r, r);
  const double target = 1e-24 * rr;
  int steps = 0;
  for (; rr > target && steps < 5000; ++steps) {
    must(b->ctx, kedge_solver_apply(b->solver, p, ap));
    const double alpha = rr / dot(b->n, p, ap), before = rr;
    for (size_t i = 0; i < b->n; ++i) x[i] += alpha * p[i];
    for (size_t i = 0; i < b->n; ++i) r[i] -= alpha * ap[i];
    rr = dot(b->n, r, r);
    for (size_t i = 0; i < b->n; ++i) p[i] = r[i] + rr / before * p[i];
  }
  assert_true(rr <= target);
  free(r);
  free(p);
  free(ap);
  return x;
}

/// kedge_solver_apply_device() with arrays of the context's device.
static double *device_product(const bench *b, const double *x, bool in_place)
{
  kg_buffer from, to = {0};
  double *y = vector(b->n);
  must(b->ctx, kg_upload(b->ctx, x, b->n, sizeof *x, &from));
  if (!in_place) must(b->ctx, kg_alloc(b->ctx, b->n, sizeof *y, &to));
  double *const at = in_place ? from.data : to.data;
  must(b->ctx, kedge_solver_apply_device(b->solver, from.data, at));
  must(b->ctx, kg_copy_out(b->ctx, y, at, b->n * sizeof *y));
  kg_free(b->ctx, &from);
  kg_free(b->ctx, &to);
  must(b->ctx, kg_sync(b->ctx));
  return y;
}

static void products_on_the_device_are_those_of_the_host(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; ++s) {
    bench b = bench_of(&samples[s]);
    double *x = noise(b.n, 1), *y = product(&b, x);
    for (int in_place = 0; in_place < 2; ++in_place) {
      double *z = device_product(&b, x, in_place);
      assert_memory_equal(y, z, b.n * sizeof *y);
      free(z);
    }
    must(b.ctx, kedge_problem_set(b.problem, "space", "order", "5"));
    must(b.ctx, kedge_solver_update(b.solver));
    kedge_report report = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_solver_report(b.solver, &report));
    b.n = (size_t)report.trace_unknowns;
    free(x);
    free(y);
    x = noise(b.n, 2);
    y = product(&b, x);
    double *z = device_product(&b, x, false);
    assert_memory_equal(y, z, b.n * sizeof *y);
    free(x);
    free(y);
    free(z);
    bench_free(&b);
  }
}

static void arrays_that_are_not_on_the_gpu_are_refused(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  if (b.ctx->backend == KEDGE_BACKEND_CUDA) {
    double *x = noise(b.n, 1);
    assert_int_equal(kedge_solver_apply_device(b.solver, x, x), KEDGE_ERR_ARG);
    assert_string_equal(kedge_context_error(b.ctx),
                        "an array in memory of the host is given where the GPU is to read or "
                        "write it");
    free(x);
  }
  assert_int_equal(kedge_solver_apply_device(b.solver, NULL, NULL), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(b.ctx), "kedge_solver_apply_device: a vector is NULL");
  bench_free(&b);
}

static void the_product_is_that_of_the_matrix(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; ++s) {
    bench b = bench_of(&samples[s]);
    kedge_matrix *a;
    must(b.ctx, kedge_solver_matrix(b.solver, &a));
    assert_int_equal(a->rows, b.n);
    double *x = noise(b.n, 1), *y = product(&b, x), *z = vector(b.n);
    for (int64_t i = 0; i < a->rows; ++i) {
      assert_true(a->begin[i + 1] > a->begin[i]);
      for (int64_t k = a->begin[i]; k < a->begin[i + 1]; ++k) {
        assert_true(a->column[k] < a->rows &&
                    (k == a->begin[i] || a->column[k] > a->column[k - 1]));
        z[i] += a->value[k] * x[a->column[k]];
      }
    }
    assert_close(b.n, y, z, 1e-12);
    kedge_matrix_destroy(a);
    free(x);
    free(y);
    free(z);
    bench_free(&b);
  }
}

/// Entry (i, j), which must be there.
static double entry(const kedge_matrix *a, int64_t i, int64_t j)
{
  int64_t k = a->begin[i];
  while (k < a->begin[i + 1] && a->column[k] < j) ++k;
  assert_true(k < a->begin[i + 1] && a->column[k] == j);
  return a->value[k];
}

static void the_matrix_is_symmetric_and_positive(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; ++s) {
    bench b = bench_of(&samples[s]);
    kedge_matrix *a;
    must(b.ctx, kedge_solver_matrix(b.solver, &a));
    const double most = largest((size_t)a->begin[a->rows], a->value);
    for (int64_t i = 0; i < a->rows; ++i)
      for (int64_t k = a->begin[i]; k < a->begin[i + 1]; ++k)
        assert_at_most(fabs(a->value[k] - entry(a, a->column[k], i)), 1e-13 * most);
    for (uint32_t seed = 1; seed < 4; ++seed) {
      double *x = noise(b.n, seed), *y = product(&b, x);
      assert_true(dot(b.n, x, y) > 0.0);
      free(x);
      free(y);
    }
    kedge_matrix_destroy(a);
    bench_free(&b);
  }
}

static void the_system_solved_elsewhere_has_the_trace_of_a_solve(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; ++s) {
    bench b = bench_of(&samples[s]);
    kedge_solution *solution = NULL;
    double *rhs = vector(b.n);
    must(b.ctx, kedge_solver_rhs(b.solver, NULL, rhs));
    double *x = conjugate_gradients(&b, rhs);
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &solution));
    double *u = unknowns_of(&b, solution);
    assert_close(b.n, x, u, 1e-9);
    kedge_solution_destroy(solution);
    free(rhs);
    free(x);
    free(u);
    bench_free(&b);
  }
}

/// Data that differ from the problem's.
static const kedge_boundary_value wall = {.group = "7", .text = "1 + y"};

static kedge_data other_data(void)
{
  kedge_data data = KEDGE_DATA_INIT;
  data.source = "cos(x)";
  data.n_values = 1;
  data.values = &wall;
  return data;
}

static void the_right_hand_side_takes_the_data_of_a_solve(void **state)
{
  (void)state;
  bench b = bench_of(&samples[1]);
  const kedge_data data = other_data();
  kedge_solution *solution = NULL;
  double *rhs = vector(b.n), *again = vector(b.n);
  must(b.ctx, kedge_solver_rhs(b.solver, &data, rhs));
  must(b.ctx, kedge_solver_solve(b.solver, &data, &solution));
  double *u = unknowns_of(&b, solution), *au = product(&b, u);
  assert_close(b.n, au, rhs, 1e-10);
  must(b.ctx, kedge_solver_rhs(b.solver, NULL, again));
  assert_true(distance(b.n, again, rhs) > 0.1);
  must(b.ctx, kedge_solver_rhs(b.solver, &data, again));
  assert_memory_equal(rhs, again, b.n * sizeof *rhs);
  kedge_solution_destroy(solution);
  free(rhs);
  free(again);
  free(u);
  free(au);
  bench_free(&b);
}

static void a_solution_of_another_mesh_is_no_source(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]), other = bench_with(b.ctx, &samples[9]);
  kedge_solution *solution = NULL;
  double *rhs = vector(b.n + other.n);
  must(b.ctx, kedge_solver_solve(other.solver, NULL, &solution));
  kedge_data data = KEDGE_DATA_INIT;
  data.source_function = kedge_by_solution;
  data.source_user = solution;
  assert_int_equal(kedge_solver_rhs(b.solver, &data, rhs), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(b.ctx), "is of another mesh"));
  must(b.ctx, kedge_solver_rhs(other.solver, &data, rhs));
  assert_true(isfinite(largest(other.n, rhs)));
  free(rhs);
  kedge_solution_destroy(solution);
  kedge_solver_destroy(other.solver);
  kedge_problem_destroy(other.problem);
  kedge_mesh_destroy(other.mesh);
  bench_free(&b);
}

static void refused_data_name_the_function_that_was_called(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  const kedge_boundary_value nameless = {.text = "0"}, empty = {.group = "7"};
  kedge_data none = KEDGE_DATA_INIT, nobody = KEDGE_DATA_INIT, nothing = KEDGE_DATA_INIT;
  none.n_values = nobody.n_values = nothing.n_values = 1;
  nobody.values = &nameless;
  nothing.values = &empty;
  const kedge_data *const refused[] = {&none, &nobody, &nothing};
  kedge_solution *solution = NULL;
  double *x = vector(b.n), *rhs = vector(b.n);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(kedge_solver_solve(b.solver, refused[i], &solution), KEDGE_ERR_ARG);
    assert_ptr_equal(kedge_context_error(b.ctx),
                     strstr(kedge_context_error(b.ctx), "kedge_solver_solve: "));
    assert_int_equal(kedge_solver_rhs(b.solver, refused[i], rhs), KEDGE_ERR_ARG);
    assert_ptr_equal(kedge_context_error(b.ctx),
                     strstr(kedge_context_error(b.ctx), "kedge_solver_rhs: "));
    assert_int_equal(kedge_solver_recover(b.solver, refused[i], x, &solution), KEDGE_ERR_ARG);
    assert_ptr_equal(kedge_context_error(b.ctx),
                     strstr(kedge_context_error(b.ctx), "kedge_solver_recover: "));
  }
  free(x);
  free(rhs);
  bench_free(&b);
}

static void the_trace_of_a_solve_recovers_its_solution(void **state)
{
  (void)state;
  for (int s = 0; s <= SAMPLES; ++s) {
    bench b = bench_of(s < SAMPLES ? &samples[s] : &compact);
    kedge_solution *solved = NULL, *recovered = NULL;
    kedge_data data = other_data();
    data.n_values = 0;
    must(b.ctx, kedge_solver_solve(b.solver, &data, &solved));
    double *u = unknowns_of(&b, solved);
    for (int turn = 0; turn < 2; ++turn)
      must(b.ctx, kedge_solver_recover(b.solver, &data, u, &recovered));
    fields f = fields_of(b.ctx, solved), g = fields_of(b.ctx, recovered);
    assert_same_bits(&f, &g);
    kedge_report of_solve = KEDGE_REPORT_INIT, report = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_solution_report(solved, &of_solve));
    must(b.ctx, kedge_solution_report(recovered, &report));
    assert_int_equal(report.iterations, 0);
    assert_true(report.relative_residual == of_solve.relative_residual);
    assert_string_equal(report.solver_note, "");
    fields_free(&f);
    fields_free(&g);
    free(u);
    kedge_solution_destroy(solved);
    kedge_solution_destroy(recovered);
    bench_free(&b);
  }
}

static void a_trace_that_is_no_solution_is_recovered_and_says_so(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  kedge_solution *solution = NULL;
  kedge_report report = KEDGE_REPORT_INIT;
  const kedge_boundary_value zeros[] = {{.group = "7", .text = "0"},
                                        {.group = "default", .text = "0"}};
  kedge_data none = KEDGE_DATA_INIT;
  none.source = "0";
  none.n_values = 2;
  none.values = zeros;
  double *x = noise(b.n, 5);
  must(b.ctx, kedge_solver_recover(b.solver, NULL, x, &solution));
  must(b.ctx, kedge_solution_report(solution, &report));
  assert_true(report.relative_residual > 1e-3 && !report.converged);
  assert_int_equal(report.stop, KEDGE_STOP_LIMIT);
  must(b.ctx, kedge_solver_recover(b.solver, &none, x, &solution));
  must(b.ctx, kedge_solution_report(solution, &report));
  assert_true(isinf(report.relative_residual));
  double *u = unknowns_of(&b, solution);
  assert_memory_equal(x, u, b.n * sizeof *x);
  x[3] = NAN;
  assert_int_equal(kedge_solver_recover(b.solver, NULL, x, &solution), KEDGE_ERR_INPUT);
  assert_null(solution);
  assert_non_null(strstr(kedge_context_error(b.ctx), "unknown 3 of the trace is nan"));
  free(x);
  free(u);
  bench_free(&b);
}

static void the_system_has_the_units_of_the_problem(void **state)
{
  (void)state;
  kedge_matrix *a[2];
  bench b = bench_of(&samples[1]);
  must(b.ctx, kedge_solver_matrix(b.solver, &a[0]));
  must(b.ctx, kedge_problem_set(b.problem, "equation", "diffusion", "4096"));
  double *rhs = vector(b.n), *x = noise(b.n, 1);
  int32_t edge = 0;
  kedge_matrix *refused = NULL;
  kedge_solution *solution = NULL;
  assert_int_equal(kedge_solver_apply(b.solver, x, rhs), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solver_rhs(b.solver, NULL, rhs), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solver_edges(b.solver, &edge), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solver_recover(b.solver, NULL, x, &solution), KEDGE_ERR_ARG);
  assert_int_equal(kedge_solver_matrix(b.solver, &refused), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(b.ctx), "call kedge_solver_update()"));
  must(b.ctx, kedge_solver_update(b.solver));
  must(b.ctx, kedge_solver_matrix(b.solver, &a[1]));
  assert_int_equal(a[0]->begin[b.n], a[1]->begin[b.n]);
  for (int64_t k = 0; k < a[0]->begin[b.n]; ++k)
    assert_true(4096.0 * a[0]->value[k] == a[1]->value[k]);
  for (int i = 0; i < 2; ++i) kedge_matrix_destroy(a[i]);
  free(rhs);
  free(x);
  bench_free(&b);
}

static void solves_go_on_as_if_nobody_had_asked(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; s += 3) {
    bench b = bench_of(&samples[s]);
    kedge_solution *before = NULL, *after = NULL;
    kedge_matrix *a;
    double *x = noise(b.n, 2), *rhs = vector(b.n);
    const int64_t in_use = b.ctx->bytes_in_use;
    const kedge_data data = other_data();
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &before));
    must(b.ctx, kedge_solver_rhs(b.solver, s < 8 ? &data : NULL, rhs));
    must(b.ctx, kedge_solver_matrix(b.solver, &a));
    must(b.ctx, kedge_solver_apply(b.solver, x, x));
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &after));
    fields f = fields_of(b.ctx, before), g = fields_of(b.ctx, after);
    assert_same_bits(&f, &g);
    assert_int_equal(b.ctx->bytes_in_use, in_use);
    fields_free(&f);
    fields_free(&g);
    free(x);
    free(rhs);
    kedge_matrix_destroy(a);
    kedge_solution_destroy(before);
    kedge_solution_destroy(after);
    bench_free(&b);
  }
}

static void a_compact_solver_has_no_operator_but_a_right_hand_side(void **state)
{
  (void)state;
  sample in_double = compact;
  in_double.settings[5] = (setting){"solver", "precision", "double"};
  bench b = bench_of(&compact), other = bench_of(&in_double);
  double *x = noise(b.n, 1), *y = vector(b.n);
  kedge_matrix *a;
  assert_int_equal(kedge_solver_apply(b.solver, x, y), KEDGE_ERR_UNSUPPORTED);
  assert_non_null(strstr(kedge_context_error(b.ctx), "take precision = double or mixed"));
  assert_int_equal(kedge_solver_matrix(b.solver, &a), KEDGE_ERR_UNSUPPORTED);
  assert_null(a);
  must(b.ctx, kedge_solver_rhs(b.solver, NULL, x));
  must(other.ctx, kedge_solver_rhs(other.solver, NULL, y));
  assert_close(b.n, x, y, 1e-12);
  free(x);
  free(y);
  bench_free(&b);
  bench_free(&other);
}

static void pure_neumann_problems_without_reaction_have_no_system(void **state)
{
  (void)state;
  kedge_context *ctx = open_backend(test_backend(), 2);
  kedge_mesh *mesh = test_irregular_mesh(ctx, 20);
  kedge_problem *problem = problem_of(
      ctx, SETTINGS({"boundary 7", "type", "neumann"}, {"boundary 7", "value", "1"},
                    {"boundary default", "type", "neumann"}, {"boundary default", "value", "0"}));
  kedge_solver *solver;
  assert_int_equal(kedge_solver_create(ctx, mesh, problem, &solver), KEDGE_ERR_INPUT);
  assert_null(solver);
  kedge_problem_destroy(problem);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
}

static void a_trace_without_unknowns_has_an_empty_system(void **state)
{
  (void)state;
  static const double vertices[] = {0, 0, 1, 0, 0, 1};
  static const int32_t triangle[] = {0, 1, 2};
  kedge_mesh_arrays arrays = {
      .n_vertices = 3, .vertices = vertices, .n_triangles = 1, .triangles = triangle};
  bench b = {.ctx = open_backend(test_backend(), 1)};
  kedge_solution *solution = NULL, *recovered = NULL;
  kedge_matrix *a;
  double nothing = 1.0;
  must(b.ctx, kedge_mesh_create(b.ctx, &arrays, &b.mesh));
  b.problem = problem_of(b.ctx, SETTINGS({"boundary default", "type", "dirichlet"},
                                         {"boundary default", "value", "x"}));
  must(b.ctx, kedge_solver_create(b.ctx, b.mesh, b.problem, &b.solver));
  must(b.ctx, kedge_solver_matrix(b.solver, &a));
  assert_int_equal(a->rows, 0);
  assert_int_equal(a->begin[0], 0);
  must(b.ctx, kedge_solver_apply(b.solver, &nothing, &nothing));
  must(b.ctx, kedge_solver_rhs(b.solver, NULL, &nothing));
  must(b.ctx, kedge_solver_solve(b.solver, NULL, &solution));
  must(b.ctx, kedge_solver_recover(b.solver, NULL, &nothing, &recovered));
  fields f = fields_of(b.ctx, solution), g = fields_of(b.ctx, recovered);
  assert_same_bits(&f, &g);
  assert_true(nothing == 1.0);
  fields_free(&f);
  fields_free(&g);
  kedge_matrix_destroy(a);
  kedge_solution_destroy(solution);
  kedge_solution_destroy(recovered);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_on_the_device_are_those_of_the_host),
      cmocka_unit_test(arrays_that_are_not_on_the_gpu_are_refused),
      cmocka_unit_test(the_product_is_that_of_the_matrix),
      cmocka_unit_test(the_matrix_is_symmetric_and_positive),
      cmocka_unit_test(the_system_solved_elsewhere_has_the_trace_of_a_solve),
      cmocka_unit_test(the_right_hand_side_takes_the_data_of_a_solve),
      cmocka_unit_test(a_solution_of_another_mesh_is_no_source),
      cmocka_unit_test(refused_data_name_the_function_that_was_called),
      cmocka_unit_test(the_trace_of_a_solve_recovers_its_solution),
      cmocka_unit_test(a_trace_that_is_no_solution_is_recovered_and_says_so),
      cmocka_unit_test(the_system_has_the_units_of_the_problem),
      cmocka_unit_test(solves_go_on_as_if_nobody_had_asked),
      cmocka_unit_test(a_compact_solver_has_no_operator_but_a_right_hand_side),
      cmocka_unit_test(pure_neumann_problems_without_reaction_have_no_system),
      cmocka_unit_test(a_trace_without_unknowns_has_an_empty_system),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
