// The vertex modes of multigrid's smoothing, against the mesh and plain loops.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "../ops/dense.h"
#include "compare.h"
#include "ops/smooth/edge_smooth.h"
#include "ops/smooth/vertex_transfer.h"
#include "systems.h"

/// Values of psi_k at 1; at -1 they are (-1)^k times that.
static double at_end(int k)
{
  return sqrt(k + 0.5);
}

static void a_vertex_mode_is_one_at_its_vertex_and_zero_at_the_other(void **state)
{
  (void)state;
  for (int order = 2; order <= KEDGE_ORDER_MAX; ++order) {
    double shape[KEDGE_ORDER_MAX + 1], high = 0.0, low = 0.0;
    kg_vertex_mode_shape(order, shape);
    assert_true(shape[0] == 0.0);
    for (int k = 1; k <= order; ++k) {
      high += shape[k] * at_end(k);
      low += shape[k] * (k % 2 ? -at_end(k) : at_end(k));
    }
    assert_at_most(fabs(high - 1.0), rounding(order));
    assert_at_most(fabs(low), rounding(order));
  }
}

/// Its sum of (2 k + 1) c_k^2 is stationary: a function that is zero at both ends is orthogonal to
/// it.
static void a_vertex_mode_has_the_least_energy(void **state)
{
  (void)state;
  for (int order = 3; order <= KEDGE_ORDER_MAX; ++order) {
    double shape[KEDGE_ORDER_MAX + 1];
    kg_vertex_mode_shape(order, shape);
    for (int k = 3; k <= order;
         ++k) {  // psi_k less what the lower mode of its parity has at the ends
      const int lower = 2 - k % 2;
      const double part = at_end(k) / at_end(lower);
      const double product = (2 * k + 1) * shape[k] - part * (2 * lower + 1) * shape[lower];
      assert_at_most(fabs(product), rounding(order) * (2 * k + 1) * shape[k]);
    }
  }
}

/// The arguments for a system, with memory for the weights and for work.
static kg_vertex_modes_args modes_of(trace_system *s)
{
  op_case *c = &s->c;
  const size_t rows = (size_t)s->multigrid.space.n_rows;
  kg_vertex_modes_args args = {
      .batch = c->batch,
      .locals = kg_locals_of(s->device_local, c->batch.arrays.side_edge),
      .modes = {.space = s->multigrid.space,
                .weight = case_output(c, rows),
                .value = case_output(c, rows),
                .part = case_output(c, 2 * (size_t)c->batch.count.n_free)},
      .element = case_output(c, 3 * KG_LANES * (size_t)c->batch.count.n_groups),
      .fault = (int32_t *)case_output(c, 1)};
  kg_vertex_mode_shape(c->size.order, args.modes.shape);
  return args;
}

/// Vertex modes of a system, made by the operator.
static kg_vertex_modes make_modes(trace_system *s)
{
  const kg_vertex_modes_args args = modes_of(s);
  must(ctx, kg_vertex_modes_fill(ctx, &args));
  return args.modes;
}

/// z += sum_v phi_v value_v, from the ends of the mesh's edges; value[vertex].
static void add_modes(const trace_system *s, const int32_t *vertex, const double *value, double *z)
{
  const int m = s->c.size.n_edge;
  double shape[KEDGE_ORDER_MAX + 1];
  kg_vertex_mode_shape(s->c.size.order, shape);
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f)
    for (int end = 0; end < 2; ++end) {
      const double of_vertex = value[vertex[2 * f + end]];
      for (int k = 0; k < m; ++k)
        z[f * m + k] += of_vertex * (end == 0 && k % 2 ? -shape[k] : shape[k]);
    }
}

static void check_weights(trace_system *s)
{
  const size_t n = (size_t)s->multigrid.space.n_rows;
  double *weight = case_fetch(&s->c, make_modes(s).weight), *unit = calloc(n, sizeof *unit);
  double *x = calloc(s->n_all + 1, sizeof *x), *y = calloc(s->n_rows + 1, sizeof *y);
  int32_t *vertex = system_edge_vertices(s);
  bool *is_fixed = system_fixed_vertices(s);
  assert_true(unit && x && y);
  for (size_t i = 0; i < n; i += 1 + n / 8) {
    if (is_fixed[i]) assert_true(weight[i] == 0.0);
    if (is_fixed[i]) continue;
    for (size_t k = 0; k < s->n_rows; ++k) x[k] = 0.0;
    unit[i] = 1.0;
    add_modes(s, vertex, unit, x);
    unit[i] = 0.0;
    system_multiply(s, x, y);
    double energy = 0.0, size = 0.0;
    for (size_t k = 0; k < s->n_rows; ++k) energy += x[k] * y[k], size += fabs(x[k] * y[k]);
    const double tolerance = rounding(16.0 * s->c.size.n_trace) * 16 * size / energy;
    assert_at_most(fabs(weight[i] * energy - kg_vertex_mode_step(s->c.size.order)), tolerance);
  }
  free(weight), free(unit), free(x), free(y), free(vertex), free(is_fixed);
}

static void weights_divide_by_the_energies_of_the_modes(void **state)
{
  (void)state;
  for_systems(check_weights, 9, 0.0);
  for_systems(check_weights, 3, 5.0);
}

/// `values` in the type of numbers of device vectors.
static void *input_of(op_case *c, kg_number number, const double *values, size_t count)
{
  if (number == KG_DOUBLE) return case_input(c, values, count);
  double *twice = calloc(count / 2 + 1, sizeof *twice);
  assert_non_null(twice);
  for (size_t i = 0; i < count; ++i) ((float *)twice)[i] = (float)values[i];
  void *device = case_input(c, twice, count / 2 + 1);
  free(twice);
  return device;
}

static void check_values(trace_system *s, kg_number number)
{
  op_case *c = &s->c;
  const size_t n = (size_t)s->multigrid.space.n_rows;
  const double precision = number == KG_DOUBLE ? 1.0 : FLT_EPSILON / DBL_EPSILON;
  double *r = case_randoms(1, s->n_rows), *t = case_randoms(2, s->n_rows);
  double *unit = calloc(n, sizeof *unit), *x = calloc(s->n_rows + 1, sizeof *x);
  int32_t *vertex = system_edge_vertices(s);
  kg_vertex_modes_restrict_args args = {.modes = make_modes(s),
                                        .m = c->size.n_edge,
                                        .n_edges = c->batch.count.n_free,
                                        .number = number,
                                        .r = input_of(c, number, r, s->n_rows),
                                        .product = input_of(c, number, t, s->n_rows)};
  double *weight = case_fetch(c, args.modes.weight);
  for (int from_zero = 0; from_zero < 2; ++from_zero) {
    if (from_zero) args.product = NULL;
    must(ctx, kg_vertex_modes_restrict(ctx, &args));
    double *value = case_fetch(c, args.modes.value);
    for (size_t i = 0; i < n; i += 1 + n / 8) {
      for (size_t k = 0; k < s->n_rows; ++k) x[k] = 0.0;
      unit[i] = weight[i];
      add_modes(s, vertex, unit, x);
      unit[i] = 0.0;
      double sum = 0.0, size = 0.0;
      for (size_t k = 0; k < s->n_rows; ++k) {
        sum += x[k] * (from_zero ? r[k] : r[k] - t[k]);
        size += fabs(x[k]) * (fabs(r[k]) + fabs(t[k]));
      }
      assert_at_most(fabs(value[i] - sum), precision * rounding(s->c.size.n_edge) * 16 * size);
    }
    free(value);
  }
  free(r), free(t), free(unit), free(x), free(vertex), free(weight);
}

static void check_double_values(trace_system *s)
{
  check_values(s, KG_DOUBLE);
}

static void check_single_values(trace_system *s)
{
  check_values(s, KG_SINGLE);
}

static void values_are_weighted_products_of_the_residual_with_the_modes(void **state)
{
  (void)state;
  for_systems(check_double_values, 12, 0.0);
  for_systems(check_single_values, 9, 0.0);
}

/// With modes, from a z and from zero: what it is without, and the modes; and r . z of that.
static void check_step(trace_system *s)
{
  op_case *c = &s->c;
  const size_t n = s->n_rows, rows = (size_t)s->multigrid.space.n_rows;
  double *r = case_randoms(1, n), *t = case_randoms(2, n), *z = case_randoms(3, n);
  double *value = case_randoms(4, rows), *result[2];
  int32_t *vertex = system_edge_vertices(s);
  kg_vertex_space space = s->multigrid.space;
  space.mesh = c->batch.arrays;  // of low orders with a reaction it has let go of the sides
  for (int from_zero = 0; from_zero < 2; ++from_zero) {
    double dot = 0.0, size = 0.0;
    double *sum = NULL;
    for (int with = 0; with < 2; ++with) {
      kg_edge_smooth_args args = {.m = c->size.n_edge,
                                  .n_edges = c->batch.count.n_free,
                                  .inverse = s->multigrid.smoother.inverse,
                                  .form = KG_BLOCK_FACTOR,
                                  .r = case_input(c, r, n),
                                  .product = from_zero ? NULL : case_input(c, t, n),
                                  .z = case_input(c, z, n),
                                  .step = 0.7};
      if (with) {
        args.modes = (kg_vertex_modes){.space = space, .value = case_input(c, value, rows)};
        kg_vertex_mode_shape(c->size.order, args.modes.shape);
        args.sum = (kg_sum){case_output(c, KG_PIECES), case_output(c, 1), NULL};
      }
      must(ctx, kg_edge_smooth(ctx, &args));
      result[with] = case_fetch(c, args.z);
      if (with) sum = case_fetch(c, args.sum.total);
    }
    for (size_t i = 0; i < rows; ++i) value[i] *= 0.7;
    add_modes(s, vertex, value, result[0]);
    for (size_t i = 0; i < rows; ++i) value[i] /= 0.7;
    assert_close(n, result[1], result[0], rounding(c->size.n_edge) * 4);
    for (size_t i = 0; i < n; ++i) {
      dot += r[i] * result[1][i];
      size += fabs(r[i] * result[1][i]);
    }
    assert_at_most(fabs(*sum - dot), rounding((double)n) * size);
    free(result[0]), free(result[1]), free(sum);
  }
  free(r), free(t), free(z), free(value), free(vertex);
}

static void a_step_moves_the_modes_too(void **state)
{
  (void)state;
  for_systems(check_step, 9, 1.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_vertex_mode_is_one_at_its_vertex_and_zero_at_the_other),
      cmocka_unit_test(a_vertex_mode_has_the_least_energy),
      cmocka_unit_test(weights_divide_by_the_energies_of_the_modes),
      cmocka_unit_test(values_are_weighted_products_of_the_residual_with_the_modes),
      cmocka_unit_test(a_step_moves_the_modes_too),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
