// Sources, right-hand sides and traces in device memory, beside those of the host.
#include <math.h>

#include "backend.h"
#include "compare.h"
#include "device/context.h"
#include "trace_system.h"

static const int chosen[] = {11, 2, 8, 10, 0};

/// How many of them. Where one more is taken it is `compact`.
static int n_chosen(void)
{
  return test_is_quick() ? 1 : (int)(sizeof chosen / sizeof *chosen);
}

static size_t elements_of(const bench *b)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(b->mesh, &info);
  return (size_t)info.elements;
}

/// A source by element, of host memory in `host`, of device memory in `device`.
typedef struct sources {
  double *values;
  kg_buffer there;
  kedge_data host, device;
} sources;

static void sources_of(const bench *b, uint32_t seed, sources *s)
{
  const size_t n = elements_of(b);
  s->values = noise(n, seed);
  must(b->ctx, kg_upload(b->ctx, s->values, n, sizeof(double), &s->there));
  s->host = s->device = (kedge_data)KEDGE_DATA_INIT;
  s->host.source_function = kedge_by_element;
  s->host.source_user = s->values;
  s->device.source_by_element = s->there.data;
}

static void sources_free(const bench *b, sources *s)
{
  free(s->values);
  kg_free(b->ctx, &s->there);
  must(b->ctx, kg_sync(b->ctx));
}

static void assert_same_solution(const bench *b, kedge_solution *x, kedge_solution *y)
{
  fields f = fields_of(b->ctx, x), g = fields_of(b->ctx, y);
  assert_same_bits(&f, &g);
  fields_free(&f);
  fields_free(&g);
  kedge_solution_destroy(x);
  kedge_solution_destroy(y);
}

static void a_source_on_the_device_is_that_of_the_host(void **state)
{
  (void)state;
  for (int k = 0; k <= n_chosen(); ++k) {
    bench b = bench_of(k < n_chosen() ? &samples[chosen[k]] : &compact);
    kedge_solution *x = NULL, *y = NULL;
    sources s;
    sources_of(&b, 1, &s);
    must(b.ctx, kedge_solver_solve(b.solver, &s.host, &x));
    must(b.ctx, kedge_solver_solve(b.solver, &s.device, &y));
    assert_same_solution(&b, x, y);
    kedge_data copied = KEDGE_DATA_INIT;  // to the host
    copied.source_function = kedge_by_element_device;
    copied.source_user = s.there.data;
    x = y = NULL;
    must(b.ctx, kedge_solver_solve(b.solver, &s.host, &x));
    must(b.ctx, kedge_solver_solve(b.solver, &copied, &y));
    assert_same_solution(&b, x, y);
    x = y = NULL;
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &x));  // that of the problem is there again
    must(b.ctx, kedge_solver_solve(b.solver, &(kedge_data){.size = sizeof(kedge_data)}, &y));
    assert_same_solution(&b, x, y);
    sources_free(&b, &s);
    bench_free(&b);
  }
}

static void several_sources_on_the_device_are_solved_at_once(void **state)
{
  (void)state;
  enum { N = 3 };
  bench b = bench_of(&samples[2]);
  sources s[N];
  const kedge_data *host[N], *device[N];
  kedge_solution *x[N] = {NULL}, *y[N] = {NULL};
  for (int i = 0; i < N; ++i) {
    sources_of(&b, (uint32_t)i + 1, &s[i]);
    host[i] = &s[i].host;
    device[i] = &s[i].device;
  }
  must(b.ctx, kedge_solver_solve_many(b.solver, N, host, x));
  must(b.ctx, kedge_solver_solve_many(b.solver, N, device, y));
  for (int i = 0; i < N; ++i) {
    assert_same_solution(&b, x[i], y[i]);
    sources_free(&b, &s[i]);
  }
  bench_free(&b);
}

static void the_order_of_elements_is_predicted(void **state)
{
  (void)state;
  for (int k = 0; k < n_chosen(); ++k) {
    bench b = bench_of(&samples[chosen[k]]);
    kedge_plan plan = KEDGE_PLAN_INIT;
    kedge_report report = KEDGE_REPORT_INIT;
    kedge_solution *x = NULL;
    sources s;
    must(b.ctx, kedge_solver_plan(b.ctx, b.mesh, b.problem, &plan));
    sources_of(&b, 1, &s);
    const int64_t before = b.ctx->bytes_in_use;
    must(b.ctx, kedge_solver_solve(b.solver, &s.device, &x));
    must(b.ctx, kedge_solver_solve(b.solver, &s.device, &x));
    assert_int_equal(b.ctx->bytes_in_use, before + plan.values_bytes + plan.solution_bytes);
    must(b.ctx, kedge_solution_report(x, &report));
    assert_int_equal(report.predicted_device_bytes,
                     plan.peak_bytes[plan.operator_kind] + plan.values_bytes + plan.solution_bytes);
    assert_int_equal(report.peak_device_bytes, report.predicted_device_bytes);
    assert_string_equal(report.evaluation, b.ctx->backend == KEDGE_BACKEND_CUDA ? "gpu" : "host");
    kedge_solution_destroy(x);
    sources_free(&b, &s);
    bench_free(&b);
  }
}

static void elements_that_are_not_finite_are_named_as_on_the_host(void **state)
{
  (void)state;
  for (int k = 0; k < n_chosen(); ++k) {
    bench b = bench_of(&samples[chosen[k]]);
    kedge_solution *x = NULL;
    char sentence[300];
    sources s;
    sources_of(&b, 1, &s);
    s.values[17] = k % 2 ? NAN : INFINITY;
    must(b.ctx, kg_copy_in(b.ctx, s.there.data, s.values, elements_of(&b) * sizeof(double)));
    assert_int_equal(kedge_solver_solve(b.solver, &s.host, &x), KEDGE_ERR_INPUT);
    snprintf(sentence, sizeof sentence, "%s", kedge_context_error(b.ctx));
    assert_non_null(strstr(sentence, "in element 17 (from 0)"));
    assert_int_equal(kedge_solver_solve(b.solver, &s.device, &x), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(b.ctx), sentence);
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &x));
    kedge_solution_destroy(x);
    sources_free(&b, &s);
    bench_free(&b);
  }
}

/// Coefficients of a test: arrays by element in both memories.
typedef struct coefficients {
  int n;  ///< 1: diffusion; 3: a tensor; the reaction is one more
  double *here[4];
  kg_buffer there[4];
} coefficients;

static void coefficients_of(const bench *b, int n, coefficients *c)
{
  const size_t elements = elements_of(b);
  c->n = n;
  for (int k = 0; k <= n; ++k) {
    c->here[k] = noise(elements, (uint32_t)k + 7);
    const double middle = k == 1 && n == 3 ? 0.1 : 2.0;  // xy is less than xx and yy
    for (size_t e = 0; e < elements; ++e) c->here[k][e] = middle + 0.5 * c->here[k][e];
    must(b->ctx, kg_upload(b->ctx, c->here[k], elements, sizeof(double), &c->there[k]));
  }
}

static void coefficients_free(const bench *b, coefficients *c)
{
  for (int k = 0; k <= c->n; ++k) {
    free(c->here[k]);
    kg_free(b->ctx, &c->there[k]);
  }
  must(b->ctx, kg_sync(b->ctx));
}

/// Have a problem take coefficients of one of the memories.
static void set_coefficients(const bench *b, coefficients *c, bool there)
{
  kedge_function *const by = there ? kedge_by_element_device : kedge_by_element;
  kedge_setting all[2] = {{"equation", "diffusion", NULL, {by}, {NULL}},
                          {"equation", "reaction", NULL, {by}, {NULL}}};
  for (int k = 0; k < c->n; ++k) {
    all[0].function[k] = by;
    all[0].user[k] = there ? c->there[k].data : (void *)c->here[k];
  }
  all[1].user[0] = there ? c->there[c->n].data : (void *)c->here[c->n];
  must(b->ctx, kedge_problem_set_all(b->problem, 2, all));
}

static void coefficients_on_the_device_are_those_of_the_host(void **state)
{
  (void)state;
  for (int k = 0; k < 2 * n_chosen(); ++k) {
    bench b = bench_of(&samples[chosen[k / 2]]);
    kedge_solution *x = NULL, *y = NULL;
    kedge_plan plan[2] = {KEDGE_PLAN_INIT, KEDGE_PLAN_INIT};
    coefficients c;
    coefficients_of(&b, k % 2 ? 3 : 1, &c);
    set_coefficients(&b, &c, false);
    must(b.ctx, kedge_solver_update(b.solver));
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &x));
    must(b.ctx, kedge_solver_plan(b.ctx, b.mesh, b.problem, &plan[0]));
    set_coefficients(&b, &c, true);
    must(b.ctx, kedge_solver_update(b.solver));
    const int64_t in_use = b.ctx->bytes_in_use;
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &y));
    must(b.ctx, kedge_solver_plan(b.ctx, b.mesh, b.problem, &plan[1]));
    assert_int_equal(b.ctx->bytes_in_use, in_use + plan[1].solution_bytes);
    assert_int_equal(plan[0].peak_bytes[plan[0].operator_kind],
                     plan[1].peak_bytes[plan[1].operator_kind]);
    assert_same_solution(&b, x, y);  // sigma too, for which the host copies them
    coefficients_free(&b, &c);
    bench_free(&b);
  }
}

static void coefficients_on_the_device_go_with_others(void **state)
{
  (void)state;
  bench b = bench_of(&samples[11]);
  coefficients c;
  coefficients_of(&b, 1, &c);
  kedge_solution *x[2] = {NULL};
  for (int there = 0; there < 2; ++there) {
    set_coefficients(&b, &c, there);
    must(b.ctx, kedge_problem_set(b.problem, "equation", "reaction", "1 + x*x"));  // it varies
    must(b.ctx,
         kedge_problem_set_source(b.problem, there ? kedge_by_element_device : kedge_by_element,
                                  there ? c.there[1].data : (void *)c.here[1]));
    must(b.ctx, kedge_solver_update(b.solver));
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &x[there]));
  }
  assert_same_solution(&b, x[0], x[1]);
  coefficients_free(&b, &c);
  bench_free(&b);
}

static const kg_backend_table *true_table;
static const void *kept;  ///< an array that is not copied to the host

static kedge_status copy_others(kedge_context *ctx, void *to, const void *from, size_t bytes)
{
  if (from == kept) return KG_FAIL(ctx, KEDGE_ERR_DEVICE, "no copy of %zu bytes", bytes);
  return true_table->copy_out(ctx, to, from, bytes);
}

static void assert_copy_fails(const bench *b, kedge_status status)
{
  char sentence[40];
  snprintf(sentence, sizeof sentence, "no copy of %zu bytes", elements_of(b) * sizeof(double));
  assert_int_equal(status, KEDGE_ERR_DEVICE);
  assert_string_equal(kedge_context_error(b->ctx), sentence);
}

static void numbers_that_cannot_be_copied_are_a_failure_and_no_values(void **state)
{
  (void)state;
  bench b = bench_of(&samples[11]);
  kedge_solution *x = NULL;
  kedge_data data = KEDGE_DATA_INIT;
  coefficients c;
  coefficients_of(&b, 1, &c);
  set_coefficients(&b, &c, true);
  must(b.ctx, kedge_solver_update(b.solver));
  must(b.ctx, kedge_solver_solve(b.solver, NULL, &x));
  double *values = calloc(elements_of(&b), sizeof *values);
  true_table = b.ctx->table;
  kg_backend_table others = *true_table;
  others.copy_out = copy_others;
  b.ctx->table = &others;
  kept = c.there[0].data;
  assert_copy_fails(&b, kedge_solution_means(x, KEDGE_FIELD_SIGMA_X, values));
  data.source_function = kedge_by_element_device;
  data.source_user = c.there[0].data;
  assert_copy_fails(&b, kedge_solver_solve(b.solver, &data, &x));
  must(b.ctx, kedge_problem_set(b.problem, "equation", "reaction", "1 + x*x"));  // it varies
  assert_copy_fails(&b, kedge_solver_update(b.solver));
  b.ctx->table = true_table;
  must(b.ctx, kedge_solver_update(b.solver));
  must(b.ctx, kedge_solver_solve(b.solver, &data, &x));
  must(b.ctx, kedge_solution_means(x, KEDGE_FIELD_SIGMA_X, values));
  kedge_solution_destroy(x);
  free(values);
  coefficients_free(&b, &c);
  bench_free(&b);
}

static void coefficients_that_are_not_elliptic_are_named_as_on_the_host(void **state)
{
  (void)state;
  static const double bad[] = {-1.0, 0.0, NAN, INFINITY, -1e-300, NAN};
  for (int k = 0; k < 6; k += test_is_quick() ? 5 : 1) {
    bench b = bench_of(&samples[11]);
    coefficients c;
    char sentence[300];
    const int n = k % 2 ? 3 : 1, which = k < 4 ? 0 : n;  // the diffusion, the reaction
    coefficients_of(&b, n, &c);
    c.here[which][5] = bad[k];
    must(b.ctx,
         kg_copy_in(b.ctx, c.there[which].data, c.here[which], elements_of(&b) * sizeof(double)));
    set_coefficients(&b, &c, false);
    assert_int_equal(kedge_solver_update(b.solver), KEDGE_ERR_INPUT);
    snprintf(sentence, sizeof sentence, "%s", kedge_context_error(b.ctx));
    assert_non_null(strstr(sentence, "in element 5 (from 0)"));
    set_coefficients(&b, &c, true);
    assert_int_equal(kedge_solver_update(b.solver), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(b.ctx), sentence);
    coefficients_free(&b, &c);
    bench_free(&b);
  }
}

/// Zeros, of device memory, for as many unknowns as there are.
static double *there(const bench *b, kg_buffer *buffer, const double *x)
{
  must(b->ctx, kg_upload(b->ctx, x, b->n, sizeof *x, buffer));
  return buffer->data;
}

static void systems_are_made_and_solved_on_the_device(void **state)
{
  (void)state;
  for (int k = 0; k <= n_chosen(); ++k) {
    bench b = bench_of(k < n_chosen() ? &samples[chosen[k]] : &compact);
    double *rhs = vector(b.n), *found = vector(b.n), *x = noise(b.n, 3);
    kedge_solution *expected = NULL, *recovered = NULL;
    kg_buffer vector_there, trace_there;
    sources s;
    sources_of(&b, 1, &s);
    must(b.ctx, kedge_solver_rhs(b.solver, &s.host, rhs));
    double *const to = there(&b, &vector_there, found);
    must(b.ctx, kedge_solver_rhs_device(b.solver, &s.device, to));
    must(b.ctx, kg_copy_out(b.ctx, found, to, b.n * sizeof *found));
    assert_memory_equal(found, rhs, b.n * sizeof *rhs);
    const double *const trace = there(&b, &trace_there, x);
    must(b.ctx, kedge_solver_recover(b.solver, &s.host, x, &expected));
    must(b.ctx, kedge_solver_recover_device(b.solver, &s.device, trace, &recovered));
    assert_same_solution(&b, expected, recovered);
    expected = recovered = NULL;
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &expected));  // begins with zeros again
    kedge_report report = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_solution_report(expected, &report));
    assert_true(report.iterations > 0);
    kedge_solution_destroy(expected);
    kg_free(b.ctx, &vector_there);
    kg_free(b.ctx, &trace_there);
    sources_free(&b, &s);
    free(rhs);
    free(found);
    free(x);
    bench_free(&b);
  }
}

static void arrays_that_do_not_go_are_refused(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  kedge_solution *solution = NULL;
  kg_buffer buffer;
  sources s;
  sources_of(&b, 1, &s);
  s.device.source = "1";
  assert_int_equal(kedge_solver_solve(b.solver, &s.device, &solution), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(b.ctx),
                      "kedge_solver_solve: the source needs a text, a function or an array, one of "
                      "them");
  s.device.source = NULL;
  double *x = noise(b.n, 1);
  x[5] = NAN;
  assert_int_equal(kedge_solver_recover_device(b.solver, NULL, there(&b, &buffer, x), &solution),
                   KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(b.ctx),
                      "kedge_solver_recover_device: unknown 5 of the trace is nan");
  assert_null(solution);
  if (b.ctx->backend == KEDGE_BACKEND_CUDA) {
    static const char sentence[] =
        "an array in memory of the host is given where the GPU is to read or write it";
    s.device.source_by_element = s.values;
    assert_int_equal(kedge_solver_solve(b.solver, &s.device, &solution), KEDGE_ERR_ARG);
    assert_string_equal(kedge_context_error(b.ctx), sentence);
    assert_int_equal(kedge_solver_rhs_device(b.solver, NULL, x), KEDGE_ERR_ARG);
    assert_int_equal(kedge_solver_recover_device(b.solver, NULL, x, &solution), KEDGE_ERR_ARG);
    assert_string_equal(kedge_context_error(b.ctx), sentence);
  }
  kg_free(b.ctx, &buffer);
  sources_free(&b, &s);
  free(x);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_source_on_the_device_is_that_of_the_host),
      cmocka_unit_test(several_sources_on_the_device_are_solved_at_once),
      cmocka_unit_test(the_order_of_elements_is_predicted),
      cmocka_unit_test(elements_that_are_not_finite_are_named_as_on_the_host),
      cmocka_unit_test(coefficients_on_the_device_are_those_of_the_host),
      cmocka_unit_test(coefficients_on_the_device_go_with_others),
      cmocka_unit_test(numbers_that_cannot_be_copied_are_a_failure_and_no_values),
      cmocka_unit_test(coefficients_that_are_not_elliptic_are_named_as_on_the_host),
      cmocka_unit_test(systems_are_made_and_solved_on_the_device),
      cmocka_unit_test(arrays_that_do_not_go_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
