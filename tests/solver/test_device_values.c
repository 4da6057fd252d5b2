// Values of a solve in device memory, in the caller's order of elements.
#include "backend.h"
#include "bench.h"
#include "compare.h"
#include "device/context.h"

#define SIDES                                                                        \
  {"boundary default", "type", "dirichlet"}, {"boundary default", "value", "x - y"}, \
  {                                                                                  \
    "equation", "source", "exp(x)*y"                                                 \
  }

typedef struct sample {
  const char *generate;
  bool has_gradient;  ///< on the device
  setting settings[12];
} sample;

static const sample samples[] = {
    {"square 9", true, {{"space", "order", "1"}, SIDES}},
    {"square 9",
     true,
     {{"space", "order", "4"},
      SIDES,
      {"solver", "precision", "compact"},
      {"equation", "diffusion", "45"}}},
    {"square 9", false, {{"space", "order", "3"}, SIDES, {"equation", "diffusion", "1 + x*y"}}},
    {"quads 7", false, {{"space", "order", "2"}, SIDES}},
    {"mixed 7", false, {{"space", "order", "3"}, SIDES}},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static bench bench_of(const sample *s)
{
  bench b = {.ctx = open_backend(test_backend(), 2), .problem = NULL};
  b.problem = problem_of(b.ctx, s->settings);
  must(b.ctx, kedge_problem_set(b.problem, "mesh", "generate", s->generate));
  must(b.ctx, kedge_problem_mesh(b.problem, &b.mesh));
  bench_set_up(&b);
  return b;
}

/// All numbers of a field at nodes of an order.
static size_t count_of(const bench *b, const kedge_solution *solution, int order)
{
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(b->mesh, &info);
  int64_t *offsets = calloc((size_t)info.elements + 1, sizeof *offsets);
  must(b->ctx, kedge_solution_offsets(solution, order, offsets));
  const size_t n = (size_t)offsets[info.elements];
  free(offsets);
  return n;
}

enum { ASKED = 5 };

/// Fields and orders of nodes that a sample is asked for. @return how many
static int ask(const bench *b, const sample *s, kedge_device_values asked[ASKED])
{
  const int order = (int)b->m - 1;
  const kedge_device_values all[ASKED] = {{KEDGE_FIELD_U, order, NULL},
                                          {KEDGE_FIELD_U_STAR, order + 1, NULL},
                                          {KEDGE_FIELD_U_STAR, 2, NULL},
                                          {KEDGE_FIELD_QX, order, NULL},
                                          {KEDGE_FIELD_QY, order + 1, NULL}};
  memcpy(asked, all, sizeof all);
  return s->has_gradient ? ASKED : 3;
}

/// A solve of another source that fills arrays, which are compared with a solution of it.
static void compare(const bench *b, const sample *s, const kedge_solution *expected)
{
  kedge_data data = KEDGE_DATA_INIT;
  kedge_device_values asked[ASKED];
  kg_buffer arrays[ASKED];
  kedge_solution *solution = NULL;
  data.source = "cos(x)";
  data.n_device = ask(b, s, asked);
  data.device = asked;
  for (int k = 0; k < data.n_device; ++k) {
    must(b->ctx,
         kg_alloc(b->ctx, count_of(b, expected, asked[k].order), sizeof(double), &arrays[k]));
    asked[k].values = arrays[k].data;
  }
  must(b->ctx, kedge_solver_solve(b->solver, &data, &solution));
  for (int k = 0; k < data.n_device; ++k) {
    const size_t n = count_of(b, expected, asked[k].order);
    double *found = calloc(n, sizeof *found), *values = calloc(n, sizeof *values);
    must(b->ctx, kg_copy_out(b->ctx, found, arrays[k].data, n * sizeof *found));
    must(b->ctx, kedge_solution_values(expected, asked[k].field, asked[k].order, values));
    assert_close(n, found, values, 1e-13);
    free(found);
    free(values);
    kg_free(b->ctx, &arrays[k]);
  }
  kedge_solution_destroy(solution);
  must(b->ctx, kg_sync(b->ctx));
}

static void values_on_the_device_are_those_of_the_solution(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; ++i) {
    bench b = bench_of(&samples[i]);
    kedge_data data = KEDGE_DATA_INIT;
    kedge_solution *expected = NULL;
    data.source = "cos(x)";
    must(b.ctx, kedge_solver_solve(b.solver, &data, &expected));
    compare(&b, &samples[i], expected);
    compare(&b, &samples[i], expected);
    must(b.ctx, kedge_problem_set(b.problem, "output", "fields", "cells"));
    must(b.ctx, kedge_solver_update(b.solver));
    compare(&b, &samples[i], expected);
    kedge_solution_destroy(expected);
    bench_free(&b);
  }
}

static kedge_plan plan_of(const bench *b)
{
  kedge_plan plan = KEDGE_PLAN_INIT;
  must(b->ctx, kedge_solver_plan(b->ctx, b->mesh, b->problem, &plan));
  return plan;
}

/// Asserts what a solve with n arrays at nodes of an order takes. @return its peak
static int64_t peak_of(const bench *b, int n, int order)
{
  const kedge_plan plan = plan_of(b);
  kedge_device_values asked[2];
  kg_buffer arrays[2];
  kedge_data data = KEDGE_DATA_INIT;
  kedge_report report = KEDGE_REPORT_INIT;
  kedge_solution *solution = NULL;
  must(b->ctx, kedge_solver_solve(b->solver, NULL, &solution));
  for (int k = 0; k < n; ++k) {
    must(b->ctx, kg_alloc(b->ctx, count_of(b, solution, order), sizeof(double), &arrays[k]));
    asked[k] = (kedge_device_values){KEDGE_FIELD_U, order, arrays[k].data};
  }
  data.n_device = n;
  data.device = asked;
  must(b->ctx, kedge_solver_solve(b->solver, &data, &solution));
  must(b->ctx, kedge_solution_report(solution, &report));
  for (int k = 0; k < n; ++k) kg_free(b->ctx, &arrays[k]);
  kedge_solution_destroy(solution);
  assert_int_equal(report.peak_device_bytes, report.predicted_device_bytes);
  assert_int_equal(b->ctx->bytes_in_use, plan.peak_bytes[plan.operator_kind] + plan.values_bytes);
  return report.peak_device_bytes - plan.solution_bytes;
}

static void the_memory_of_values_is_predicted(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; ++i) {
    bench b = bench_of(&samples[i]);
    kedge_report report = KEDGE_REPORT_INIT;
    kedge_plan plan = plan_of(&b);
    const int64_t kept = plan.peak_bytes[plan.operator_kind] + plan.values_bytes;
    assert_true(plan.values_bytes > 0);
    assert_int_equal(peak_of(&b, 1, KEDGE_ORDER_MAX + 1), kept + plan.table_bytes);
    const int64_t of_two = peak_of(&b, 2, KEDGE_ORDER_MAX);
    assert_true(of_two > kept + plan.table_bytes && of_two <= kept + 2 * plan.table_bytes);
    must(b.ctx, kedge_solver_update(b.solver));
    must(b.ctx, kedge_solver_report(b.solver, &report));
    assert_int_equal(report.peak_device_bytes, kept);
    assert_int_equal(report.predicted_device_bytes, kept);
    must(b.ctx, kedge_plan_make(b.ctx, b.mesh, b.problem, &plan));
    assert_true(plan.values_bytes == 0 && plan.table_bytes == 0 && plan.apply_bytes == 0);
    bench_free(&b);
  }
}

/// A solve that asks for these values is refused with this sentence, and leaves no memory behind.
static void refuse(const bench *b, kedge_device_values asked, kedge_status status,
                   const char *sentence)
{
  kedge_data data = KEDGE_DATA_INIT;
  kedge_solution *solution = NULL;
  const int64_t before = b->ctx->bytes_in_use;
  data.n_device = 1;
  data.device = &asked;
  assert_int_equal(kedge_solver_solve(b->solver, &data, &solution), status);
  assert_string_equal(kedge_context_error(b->ctx), sentence);
  assert_null(solution);
  assert_int_equal(b->ctx->bytes_in_use, before);
}

static void values_that_are_not_there_are_refused(void **state)
{
  (void)state;
  bench b = bench_of(&samples[4]);
  kg_buffer array;
  must(b.ctx, kg_alloc(b.ctx, 1, 8, &array));
  refuse(&b, (kedge_device_values){KEDGE_FIELD_U, 0, array.data}, KEDGE_ERR_ARG,
         "kedge_solver_solve: nodes of order 0: the order must be 1 to 13");
  refuse(&b, (kedge_device_values){KEDGE_FIELD_U, 1, NULL}, KEDGE_ERR_ARG,
         "kedge_solver_solve: an array for values on the device is NULL");
  refuse(
      &b, (kedge_device_values){KEDGE_FIELD_SIGMA_X, 1, array.data}, KEDGE_ERR_ARG,
      "kedge_solver_solve: values on the device are of u, qx, qy and u_star: make the flux of qx "
      "and qy");
  refuse(&b, (kedge_device_values){KEDGE_FIELD_QX, 1, array.data}, KEDGE_ERR_UNSUPPORTED,
         "kedge_solver_solve: qx and qy on the device are there for straight triangles with "
         "coefficients that are constant in each: take them from the solution");
  if (b.ctx->backend == KEDGE_BACKEND_CUDA)
    refuse(&b, (kedge_device_values){KEDGE_FIELD_U, 1, (double *)&b}, KEDGE_ERR_ARG,
           "an array in memory of the host is given where the GPU is to read or write it");
  kedge_data data = KEDGE_DATA_INIT;
  kedge_solution *solution = NULL;
  data.n_device = -1;
  assert_int_equal(kedge_solver_solve(b.solver, &data, &solution), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(b.ctx),
                      "kedge_solver_solve: -1 values on the device without an array");
  kg_free(b.ctx, &array);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_on_the_device_are_those_of_the_solution),
      cmocka_unit_test(the_memory_of_values_is_predicted),
      cmocka_unit_test(values_that_are_not_there_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
