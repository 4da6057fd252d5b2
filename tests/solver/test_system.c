// The trace system as a caller sees it: product, matrix and right-hand side.
#include "backend.h"
#include "compare.h"
#include "device/context.h"
#include "grid.h"
#include "trace_system.h"

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
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

static void products_on_the_device_are_those_of_the_host(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; ++s) {
    bench b = bench_of(&samples[s]);
    double *x = noise(b.n, 1), *y = product(&b, x);
    for (int in_place = 0; in_place < 2; ++in_place) {
      double *z = through_device(&b, kedge_solver_apply_device, x, in_place);
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
    double *z = through_device(&b, kedge_solver_apply_device, x, false);
    assert_memory_equal(y, z, b.n * sizeof *y);
    free(x);
    free(y);
    free(z);
    bench_free(&b);
  }
}

static void the_memory_of_products_on_the_device_is_predicted(void **state)
{
  (void)state;
  for (int s = 0; s < SAMPLES; ++s) {
    bench b = bench_of(&samples[s]);
    kedge_plan plan = KEDGE_PLAN_INIT;
    kedge_report report = KEDGE_REPORT_INIT;
    kedge_solution *solution = NULL;
    must(b.ctx, kedge_solver_plan(b.ctx, b.mesh, b.problem, &plan));
    const int64_t set_up = b.ctx->bytes_in_use;
    double *x = noise(b.n, 1);
    free(through_device(&b, kedge_solver_apply_device, x, false));
    free(through_device(&b, kedge_solver_apply_device, x, false));
    assert_int_equal(b.ctx->bytes_in_use, set_up + plan.apply_bytes);
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &solution));
    must(b.ctx, kedge_solution_report(solution, &report));
    assert_int_equal(report.peak_device_bytes, set_up + plan.apply_bytes + plan.solution_bytes);
    assert_int_equal(report.predicted_device_bytes, report.peak_device_bytes);
    must(b.ctx, kedge_solver_update(b.solver));
    assert_int_equal(b.ctx->bytes_in_use, set_up + plan.solution_bytes);
    must(b.ctx, kedge_solver_report(b.solver, &report));
    assert_int_equal(report.peak_device_bytes, set_up);
    kedge_solution_destroy(solution);
    free(x);
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
    const int64_t in_use = b.ctx->bytes_in_use + 2 * solution_bytes(&b);
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
      cmocka_unit_test(the_memory_of_products_on_the_device_is_predicted),
      cmocka_unit_test(arrays_that_are_not_on_the_gpu_are_refused),
      cmocka_unit_test(the_product_is_that_of_the_matrix),
      cmocka_unit_test(the_matrix_is_symmetric_and_positive),
      cmocka_unit_test(the_system_solved_elsewhere_has_the_trace_of_a_solve),
      cmocka_unit_test(the_system_has_the_units_of_the_problem),
      cmocka_unit_test(solves_go_on_as_if_nobody_had_asked),
      cmocka_unit_test(a_compact_solver_has_no_operator_but_a_right_hand_side),
      cmocka_unit_test(pure_neumann_problems_without_reaction_have_no_system),
      cmocka_unit_test(a_trace_without_unknowns_has_an_empty_system),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
