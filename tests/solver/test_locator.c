// Values at points anywhere, beside those at nodes and at points of elements.
#include <math.h>

#include "backend.h"
#include "compare.h"
#include "device/context.h"
#include "moved.h"
#include "support.h"

typedef struct sample {
  const char *name;
  int n;
  enum cut cut;
  int geometry;
  moving *to;
} sample;

static const sample samples[] = {
    {"triangles", 9, ALL, 1, wave},          {"curved triangles", 4, ALL, 3, ring},
    {"squares", 6, WHOLE, 1, trapezoids},    {"curved squares", 4, WHOLE, 2, ring},
    {"both, curved", 5, CHECKERED, 2, wave}, {"both, highest order", 4, CHECKERED, 5, ring},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

typedef struct bench {
  kedge_context *ctx;
  kedge_mesh *mesh;
  kedge_solution *solution;
  kedge_locator *locator;
  int order;
  int64_t *offsets;
  int64_t n_elements, n_nodes;
  double *nodes, *xy;  ///< of u*
} bench;

static bench bench_of(const sample *s, const char *order)
{
  bench b = {.ctx = open_backend(test_backend(), 2)};
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_report report = KEDGE_REPORT_INIT;
  b.mesh = moved(b.ctx, s->n, s->cut, s->geometry, s->to);
  b.solution = solve(b.ctx, b.mesh,
                     SETTINGS({"space", "order", order}, {"equation", "source", "1 + x*y"},
                              {"boundary default", "type", "dirichlet"},
                              {"boundary default", "value", "sin(x) - y"}));
  must(b.ctx, kedge_locator_create(b.ctx, b.mesh, &b.locator));
  must(b.ctx, kedge_mesh_get_info(b.mesh, &info));
  must(b.ctx, kedge_solution_report(b.solution, &report));
  b.order = report.order + 1;
  b.n_elements = info.elements;
  b.offsets = calloc((size_t)info.elements + 1, sizeof *b.offsets);
  must(b.ctx, kedge_solution_offsets(b.solution, b.order, b.offsets));
  b.n_nodes = b.offsets[info.elements];
  b.nodes = calloc((size_t)b.n_nodes, sizeof *b.nodes);
  b.xy = calloc(2 * (size_t)b.n_nodes, sizeof *b.xy);
  must(b.ctx, kedge_solution_values(b.solution, KEDGE_FIELD_U_STAR, b.order, b.nodes));
  must(b.ctx, kedge_solution_nodes(b.solution, b.order, b.xy));
  return b;
}

static void bench_free(bench *b)
{
  kedge_locator_destroy(b->locator);
  kedge_solution_destroy(b->solution);
  kedge_mesh_destroy(b->mesh);
  kedge_context_destroy(b->ctx);
  free(b->offsets);
  free(b->nodes);
  free(b->xy);
}

/// Values of u* at points.
static double *values_at(const bench *b, size_t n, const double *x, const double *y)
{
  const double *there;
  double *values = calloc(n, sizeof *values);
  kg_buffer arrays[3];
  must(b->ctx, kedge_locator_keep(b->locator, b->n_nodes, b->nodes, &there));
  must(b->ctx, kg_upload(b->ctx, x, n, sizeof *x, &arrays[0]));
  must(b->ctx, kg_upload(b->ctx, y, n, sizeof *y, &arrays[1]));
  must(b->ctx, kg_alloc(b->ctx, n, sizeof *x, &arrays[2]));
  must(b->ctx, kedge_locator_values(b->locator, b->order, there, (int64_t)n, arrays[0].data,
                                    arrays[1].data, arrays[2].data));
  must(b->ctx, kg_copy_out(b->ctx, values, arrays[2].data, n * sizeof *values));
  for (int i = 0; i < 3; ++i) kg_free(b->ctx, &arrays[i]);
  must(b->ctx, kg_sync(b->ctx));
  return values;
}

/// At nodes inside of elements.
static void points_inside_have_the_values_of_their_element(void **state)
{
  (void)state;
  for (int k = 0; k < SAMPLES; k += test_is_quick() ? 2 : 1) {
    bench b = bench_of(&samples[k], "4");
    double *x = calloc((size_t)b.n_nodes, sizeof *x), *y = calloc((size_t)b.n_nodes, sizeof *y);
    double *expected = calloc((size_t)b.n_nodes, sizeof *expected);
    size_t n = 0;
    for (int64_t e = 0; e < b.n_elements; ++e) {
      const int64_t count = b.offsets[e + 1] - b.offsets[e];
      const int64_t inside = count == 21 ? 6 : 16;  // of order 5: the last ones
      for (int64_t i = b.offsets[e + 1] - inside; i < b.offsets[e + 1]; ++i, ++n) {
        x[n] = b.xy[2 * i];
        y[n] = b.xy[2 * i + 1];
        expected[n] = b.nodes[i];
      }
    }
    double *found = values_at(&b, n, x, y);
    // A map is a sum of powers, whose coefficients at order 5 are large beside what they add up to.
    assert_close(n, found, expected, samples[k].geometry == 5 ? 1e-11 : 1e-12);
    free(found);
    free(x);
    free(y);
    free(expected);
    bench_free(&b);
  }
}

/// Between nodes, on squares and triangles that are not curved.
static void polynomials_of_the_order_of_the_nodes_are_exact(void **state)
{
  (void)state;
  enum { N = 500 };
  const sample mixed = {"straight", 3, CHECKERED, 1, stay};
  bench b = bench_of(&mixed, "2");
  double x[N], y[N], expected[N];
  for (int order = 1; order <= KEDGE_ORDER_MAX + 1; order += test_is_quick() ? 4 : 1) {
    b.order = order;
    must(b.ctx, kedge_solution_offsets(b.solution, order, b.offsets));
    b.n_nodes = b.offsets[b.n_elements];
    b.nodes = realloc(b.nodes, (size_t)b.n_nodes * sizeof *b.nodes);
    b.xy = realloc(b.xy, 2 * (size_t)b.n_nodes * sizeof *b.xy);
    must(b.ctx, kedge_solution_nodes(b.solution, order, b.xy));
    for (int64_t i = 0; i < b.n_nodes; ++i)
      b.nodes[i] = pow(b.xy[2 * i] - 0.6 * b.xy[2 * i + 1] + 0.3, order);
    for (int i = 0; i < N; ++i) {
      x[i] = fmod(0.618033988749895 * (i + 1), 1.0);
      y[i] = (i + 0.5) / N;
      expected[i] = pow(x[i] - 0.6 * y[i] + 0.3, order);
    }
    double *found = values_at(&b, N, x, y);
    assert_close(N, found, expected, 1e-13);
    free(found);
  }
  bench_free(&b);
}

/// All nodes: on edges, u* is near that of each neighbour, and it is there.
static void no_point_of_an_edge_is_lost(void **state)
{
  (void)state;
  for (int k = 0; k < SAMPLES; k += test_is_quick() ? 2 : 1) {
    bench b = bench_of(&samples[k], "3");
    const size_t n = (size_t)b.n_nodes;
    double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
    for (size_t i = 0; i < n; ++i) x[i] = b.xy[2 * i], y[i] = b.xy[2 * i + 1];
    double *found = values_at(&b, n, x, y);
    for (size_t i = 0; i < n; ++i) assert_at_most(fabs(found[i] - b.nodes[i]), 1e-2);
    free(found);
    free(x);
    free(y);
    bench_free(&b);
  }
}

static void points_outside_are_nan(void **state)
{
  (void)state;
  static const double x[] = {-1e-6, 0.5, 1.0 + 1e-6, 1e300, NAN, 0.5, -INFINITY};
  static const double y[] = {0.5, -1e-6, 0.5, 0.5, 0.5, NAN, INFINITY};
  enum { N = sizeof x / sizeof *x };
  const sample square = {"straight", 5, CHECKERED, 1, stay};
  bench b = bench_of(&square, "2");
  double *found = values_at(&b, N, x, y);
  for (int i = 0; i < N; ++i) assert_true(isnan(found[i]));
  free(found);
  bench_free(&b);
  b = bench_of(&samples[1], "2");  // a quarter of a ring of radii 1 and 2
  const double inner[] = {0.0, 0.999, 0.7, 2.0}, outer[] = {0.0, 0.0, 0.7, 0.01};
  found = values_at(&b, 4, inner, outer);
  for (int i = 0; i < 4; ++i) assert_true(isnan(found[i]));
  free(found);
  bench_free(&b);
}

static void the_memory_of_points_is_predicted(void **state)
{
  (void)state;
  for (int k = 0; k < SAMPLES; k += test_is_quick() ? 2 : 1) {
    bench b = bench_of(&samples[k], "4");
    const double x = 0.5, y = 0.5;
    kedge_locator_destroy(b.locator);
    const int64_t before = b.ctx->bytes_in_use;
    must(b.ctx, kedge_locator_create(b.ctx, b.mesh, &b.locator));
    for (int i = 0; i < 2; ++i) {
      free(values_at(&b, 1, &x, &y));
      const int64_t field = (int64_t)kg_rounded((size_t)b.n_nodes * sizeof *b.nodes);
      assert_int_equal(b.ctx->bytes_in_use - before, kedge_locator_bytes(b.mesh) + field);
    }
    bench_free(&b);
  }
}

static void arguments_that_are_none_are_refused(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0], "2");
  kedge_locator *none;
  const double *there;
  double at = 0.5;
  assert_int_equal(kedge_locator_create(b.ctx, NULL, &none), KEDGE_ERR_ARG);
  assert_null(none);
  assert_int_equal(kedge_locator_values(b.locator, 14, &at, 1, &at, &at, &at), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(b.ctx),
                      "kedge_locator_values: nodes of order 14: the order must be 1 to 13");
  assert_int_equal(kedge_locator_values(b.locator, 2, &at, -1, &at, &at, &at), KEDGE_ERR_ARG);
  assert_string_equal(kedge_context_error(b.ctx),
                      "kedge_locator_values: an array is NULL, or there are -1 points");
  assert_int_equal(kedge_locator_keep(b.locator, -1, &at, &there), KEDGE_ERR_ARG);
  must(b.ctx, kedge_locator_values(b.locator, 2, NULL, 0, NULL, NULL, NULL));
  if (b.ctx->backend == KEDGE_BACKEND_CUDA) {
    assert_int_equal(kedge_locator_values(b.locator, 2, &at, 1, &at, &at, &at), KEDGE_ERR_ARG);
    assert_string_equal(
        kedge_context_error(b.ctx),
        "an array in memory of the host is given where the GPU is to read or write it");
  }
  assert_int_equal(kedge_locator_bytes(NULL), 0);
  bench_free(&b);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_inside_have_the_values_of_their_element),
      cmocka_unit_test(polynomials_of_the_order_of_the_nodes_are_exact),
      cmocka_unit_test(no_point_of_an_edge_is_lost),
      cmocka_unit_test(points_outside_are_nan),
      cmocka_unit_test(the_memory_of_points_is_predicted),
      cmocka_unit_test(arguments_that_are_none_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
