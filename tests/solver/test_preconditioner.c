// The preconditioner of a solver as a caller sees it.
#include "backend.h"
#include "compare.h"
#include "device/context.h"
#include "grid.h"
#include "trace_system.h"

#define ON_WALL                                                          \
  {"boundary 7", "type", "dirichlet"}, {"boundary 7", "value", "x - y"}, \
      {"boundary default", "type", "neumann"},                           \
  {                                                                      \
    "boundary default", "value", "x"                                     \
  }
#define ON_GRID                                                              \
  {"boundary 1", "type", "dirichlet"}, {"boundary 1", "value", "x"},         \
      {"boundary 3", "type", "robin"}, {"boundary 3", "coefficient", "2"},   \
      {"boundary 3", "value", "1"}, {"boundary default", "type", "neumann"}, \
  {                                                                          \
    "boundary default", "value", "0"                                         \
  }
#define KIND(kind)                   \
  {                                  \
    "solver", "preconditioner", kind \
  }
#define MULTIGRID KIND("multigrid")

enum {
  MIXED = 6,
  WITH_ROWS = 8,  ///< from here on cycles read rows of A P, which are in single precision
  CASES = 12
};
static const sample cases[CASES] = {
    {IRREGULAR,
     {{"space", "order", "3"}, ON_WALL, KIND("jacobi"), {"equation", "diffusion", "45"}}},
    {IRREGULAR, {{"space", "order", "2"}, ON_WALL, {"solver", "operator", "ell"}}},
    {IRREGULAR, {{"space", "order", "3"}, ON_WALL, KIND("block-jacobi")}},
    {IRREGULAR, {{"space", "order", "1"}, ON_WALL, MULTIGRID, {"equation", "diffusion", "45"}}},
    {IRREGULAR, {{"space", "order", "6"}, ON_WALL, MULTIGRID, {"equation", "reaction", "2"}}},
    {IRREGULAR, {{"space", "order", "2"}, ON_WALL, MULTIGRID, {"solver", "smoothing_steps", "3"}}},
    {IRREGULAR, {{"space", "order", "4"}, ON_WALL, MULTIGRID, {"solver", "precision", "mixed"}}},
    {IRREGULAR, {{"space", "order", "3"}, ON_WALL, MULTIGRID, {"solver", "smoother", "line"}}},
    {IRREGULAR,
     {{"space", "order", "2"}, ON_WALL, MULTIGRID, {"equation", "diffusion", "1 + x*x, 0.5, 2"}}},
    {CURVED, {{"space", "order", "3"}, ON_GRID, MULTIGRID}},
    {CURVED_SQUARES, {{"space", "order", "3"}, ON_GRID, MULTIGRID}},
    {BOTH, {{"space", "order", "2"}, ON_GRID, MULTIGRID}},
};

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// M r.
static double *preconditioned(const bench *b, const double *r)
{
  double *z = vector(b->n);
  must(b->ctx, kedge_solver_precondition(b->solver, r, z));
  return z;
}

static void it_is_symmetric_and_positive(void **state)
{
  (void)state;
  for (int s = 0; s < CASES; ++s) {
    bench b = bench_of(&cases[s]);
    const double tolerance = s == MIXED || s >= WITH_ROWS ? FLT_EPSILON : DBL_EPSILON;
    for (uint32_t seed = 1; seed < 4; ++seed) {
      double *x = noise(b.n, seed), *y = noise(b.n, seed + 10);
      double *mx = preconditioned(&b, x), *my = preconditioned(&b, y);
      const double xx = dot(b.n, x, mx), yy = dot(b.n, y, my);
      assert_true(xx > 0.0 && yy > 0.0);
      assert_at_most(fabs(dot(b.n, x, my) - dot(b.n, y, mx)),
                     16.0 * tolerance * sqrt((double)b.n) * sqrt(xx * yy));
      free(x);
      free(y);
      free(mx);
      free(my);
    }
    bench_free(&b);
  }
}

/// Iterations of conjugate gradients with A and M of the solver, from zero to the tolerance.
static int64_t iterations(const bench *b, double tolerance)
{
  double *x = vector(b->n), *r = vector(b->n), *ap = vector(b->n);
  must(b->ctx, kedge_solver_rhs(b->solver, NULL, r));
  double *z = preconditioned(b, r), *p = vector(b->n);
  memcpy(p, z, b->n * sizeof *p);
  double rz = dot(b->n, r, z);
  const double target = tolerance * sqrt(dot(b->n, r, r));
  int64_t steps = 0;
  for (; sqrt(dot(b->n, r, r)) > target && steps < 2000; ++steps) {
    must(b->ctx, kedge_solver_apply(b->solver, p, ap));
    const double alpha = rz / dot(b->n, p, ap), before = rz;
    for (size_t i = 0; i < b->n; ++i) x[i] += alpha * p[i];
    for (size_t i = 0; i < b->n; ++i) r[i] -= alpha * ap[i];
    must(b->ctx, kedge_solver_precondition(b->solver, r, z));
    rz = dot(b->n, r, z);
    for (size_t i = 0; i < b->n; ++i) p[i] = z[i] + rz / before * p[i];
  }
  free(x);
  free(r);
  free(ap);
  free(z);
  free(p);
  return steps;
}

static void an_iteration_elsewhere_takes_as_many_steps_as_a_solve(void **state)
{
  (void)state;
  for (int s = 0; s < CASES; ++s) {
    bench b = bench_of(&cases[s]);
    kedge_solution *solution = NULL;
    kedge_report report = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_problem_set(b.problem, "solver", "tolerance", "1e-9"));
    must(b.ctx, kedge_solver_update(b.solver));
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &solution));
    must(b.ctx, kedge_solution_report(solution, &report));
    const int64_t own = report.iterations, found = iterations(&b, 1e-9);
    if (llabs(found - own) > 2 + own / 10)
      fail_msg("case %d: %lld iterations, and %lld of the solver", s, (long long)found,
               (long long)own);
    kedge_solution_destroy(solution);
    bench_free(&b);
  }
}

static void it_has_the_units_of_the_problem(void **state)
{
  (void)state;
  for (int s = 0; s < CASES; ++s) {
    bench b = bench_of(&cases[s]);
    double *x = noise(b.n, 5), *ax = product(&b, x), *max = preconditioned(&b, ax);
    const double part = dot(b.n, ax, max) / dot(b.n, x, ax);
    assert_true(part > 0.2 && part < 5.0);
    free(x);
    free(ax);
    free(max);
    bench_free(&b);
  }
  bench b = bench_of(&cases[3]);
  double *x = noise(b.n, 1), *before = preconditioned(&b, x);
  must(b.ctx, kedge_problem_set(b.problem, "equation", "diffusion", "184320"));  // 4096 * 45
  must(b.ctx, kedge_solver_update(b.solver));
  double *after = preconditioned(&b, x);
  for (size_t i = 0; i < b.n; ++i) assert_true(before[i] == 4096.0 * after[i]);
  free(x);
  free(before);
  free(after);
  bench_free(&b);
}

static void large_and_small_residuals_have_the_same_digits(void **state)
{
  (void)state;
  static const double factors[] = {0x1p+300, 0x1p-300};
  bench b = bench_of(&cases[MIXED]);
  double *r = noise(b.n, 3), *z = preconditioned(&b, r), *s = vector(b.n);
  for (int k = 0; k < 2; ++k) {
    for (size_t i = 0; i < b.n; ++i) s[i] = factors[k] * r[i];
    must(b.ctx, kedge_solver_precondition(b.solver, s, s));
    for (size_t i = 0; i < b.n; ++i) assert_true(s[i] == factors[k] * z[i]);
  }
  memset(s, 0, b.n * sizeof *s);
  must(b.ctx, kedge_solver_precondition(b.solver, s, s));
  assert_true(largest(b.n, s) == 0.0);
  free(r);
  free(z);
  free(s);
  bench_free(&b);
}

static void arrays_of_the_device_have_what_those_of_the_host_have(void **state)
{
  (void)state;
  for (int s = 0; s < CASES; ++s) {
    bench b = bench_of(&cases[s]);
    double *r = noise(b.n, 1), *z = preconditioned(&b, r);
    for (int in_place = 0; in_place < 2; ++in_place) {
      double *there = through_device(&b, kedge_solver_precondition_device, r, in_place);
      assert_memory_equal(z, there, b.n * sizeof *z);
      free(there);
    }
    must(b.ctx, kedge_solver_precondition(b.solver, r, r));
    assert_memory_equal(z, r, b.n * sizeof *z);
    free(r);
    free(z);
    bench_free(&b);
  }
}

static void its_memory_is_predicted(void **state)
{
  (void)state;
  for (int s = 0; s < CASES; ++s)
    for (int there = 0; there < 2; ++there) {
      bench b = bench_of(&cases[s]);
      kedge_plan plan = KEDGE_PLAN_INIT;
      kedge_report report = KEDGE_REPORT_INIT;
      kedge_solution *solution = NULL;
      must(b.ctx, kedge_solver_plan(b.ctx, b.mesh, b.problem, &plan));
      const int64_t set_up = b.ctx->bytes_in_use;
      double *r = noise(b.n, 1);
      for (int i = 0; i < 2; ++i)
        free(there ? through_device(&b, kedge_solver_precondition_device, r, true)
                   : preconditioned(&b, r));
      assert_int_equal(b.ctx->bytes_in_use, set_up + plan.apply_bytes);
      must(b.ctx, kedge_solver_solve(b.solver, NULL, &solution));
      must(b.ctx, kedge_solution_report(solution, &report));
      assert_true(report.peak_device_bytes <= report.predicted_device_bytes);
      must(b.ctx, kedge_solver_update(b.solver));
      assert_int_equal(b.ctx->bytes_in_use, set_up + plan.solution_bytes);
      kedge_solution_destroy(solution);
      free(r);
      bench_free(&b);
    }
}

static void solves_go_on_as_if_nobody_had_asked(void **state)
{
  (void)state;
  for (int s = 0; s < CASES; ++s) {
    bench b = bench_of(&cases[s]);
    kedge_solution *before = NULL, *after = NULL;
    double *r = noise(b.n, 2);
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &before));
    must(b.ctx, kedge_solver_precondition(b.solver, r, r));
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &after));
    fields f = fields_of(b.ctx, before), g = fields_of(b.ctx, after);
    assert_same_bits(&f, &g);
    fields_free(&f);
    fields_free(&g);
    free(r);
    kedge_solution_destroy(before);
    kedge_solution_destroy(after);
    bench_free(&b);
  }
}

static void what_cannot_be_had_is_refused(void **state)
{
  (void)state;
  bench b = bench_of(&cases[0]), single = bench_of(&compact);
  double *r = noise(b.n, 1), *s = noise(single.n, 1);
  assert_int_equal(kedge_solver_precondition(NULL, r, r), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(NULL), "kedge_solver_precondition: the solver is NULL");
  assert_int_equal(kedge_solver_precondition(b.solver, r, NULL), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(b.ctx), "kedge_solver_precondition: a vector is NULL");
  assert_int_equal(kedge_solver_precondition_device(b.solver, NULL, r), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(b.ctx),
                      "kedge_solver_precondition_device: a vector is NULL");
  if (b.ctx->backend == KEDGE_BACKEND_CUDA) {
    assert_int_equal(kedge_solver_precondition_device(b.solver, r, r), KEDGE_ERR_ARG);
    assert_string_equal(kedge_context_error(b.ctx),
                        "an array in memory of the host is given where the GPU is to read or "
                        "write it");
  }
  assert_int_equal(kedge_solver_precondition(single.solver, s, s), KEDGE_ERR_UNSUPPORTED);
  assert_non_null(strstr(kedge_context_error(single.ctx), "take precision = double or mixed"));
  must(b.ctx, kedge_problem_set(b.problem, "equation", "diffusion", "2"));
  assert_int_equal(kedge_solver_precondition(b.solver, r, r), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(b.ctx), "call kedge_solver_update()"));
  free(r);
  free(s);
  bench_free(&b);
  bench_free(&single);
}

static void a_trace_without_unknowns_needs_no_vectors(void **state)
{
  (void)state;
  static const double vertices[] = {0, 0, 1, 0, 0, 1};
  static const int32_t triangle[] = {0, 1, 2};
  kedge_mesh_arrays arrays = {
      .n_vertices = 3, .vertices = vertices, .n_triangles = 1, .triangles = triangle};
  bench b = {.ctx = open_backend(test_backend(), 1)};
  double nothing = 1.0;
  must(b.ctx, kedge_mesh_create(b.ctx, &arrays, &b.mesh));
  b.problem = problem_of(b.ctx, SETTINGS({"boundary default", "type", "dirichlet"},
                                         {"boundary default", "value", "x"}));
  must(b.ctx, kedge_solver_create(b.ctx, b.mesh, b.problem, &b.solver));
  must(b.ctx, kedge_solver_precondition(b.solver, &nothing, &nothing));
  must(b.ctx, kedge_solver_precondition_device(b.solver, NULL, NULL));
  assert_true(nothing == 1.0);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_symmetric_and_positive),
      cmocka_unit_test(an_iteration_elsewhere_takes_as_many_steps_as_a_solve),
      cmocka_unit_test(it_has_the_units_of_the_problem),
      cmocka_unit_test(large_and_small_residuals_have_the_same_digits),
      cmocka_unit_test(arrays_of_the_device_have_what_those_of_the_host_have),
      cmocka_unit_test(its_memory_is_predicted),
      cmocka_unit_test(solves_go_on_as_if_nobody_had_asked),
      cmocka_unit_test(what_cannot_be_had_is_refused),
      cmocka_unit_test(a_trace_without_unknowns_needs_no_vectors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
