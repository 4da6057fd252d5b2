// What multigrid smooths the trace with, against dense matrices and plain loops.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "../ops/dense.h"
#include "compare.h"
#include "ops/vector/cg_vectors.h"
#include "ops/smooth/edge_blocks.h"
#include "ops/smooth/edge_smooth.h"
#include "ops/smooth/vertex_transfer.h"
#include "systems.h"

/// Factors are rounded to single precision.
static void check_blocks(trace_system *s)
{
  const int m = s->c.size.n_edge;
  double *inverse = system_edge_blocks(s);
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f) {
    double block[(KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1)] = {0};
    for (int k = 0; k < 2; ++k) {
      const kg_side side = s->c.mesh->edge_sides[2 * s->c.layout.mesh_edge[f] + k];
      const int first = kg_side_facet(side) * m;
      for (int i = 0; side != KG_NO_SIDE && i < m * m; ++i)
        block[i] += system_local_entry(s, kg_side_element(side), first + i / m, first + i % m);
    }
    const double condition = dense_invert(m, block);
    const double scale = largest((size_t)(m * m), block);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j <= i; ++j) {
        const double value = inverse[kg_edge_block_at(m, f) + kg_packed_entry(i, j) * KG_LANES];
        const double kept = FLT_EPSILON * sqrt(block[i * m + i] * block[j * m + j]);
        assert_at_most(fabs(value - block[i * m + j]), rounding(m) * condition * scale + kept);
      }
  }
  free(inverse);
}

static void blocks_of_edges_are_inverted(void **state)
{
  (void)state;
  for_systems(check_blocks, 9, 1.0);
}

/// y = B^-1 x by the packed inverses.
static void multiply_blocks(trace_system *s, const double *inverse, const double *x, double *y)
{
  const int m = s->c.size.n_edge, packed = m * (m + 1) / 2;
  for (size_t i = 0; i < s->n_rows; ++i) {
    const size_t f = i / (size_t)m;
    y[i] = 0.0;
    for (int j = 0; j < m; ++j) {
      const int a = (int)(i % (size_t)m), high = a > j ? a : j, low = a > j ? j : a;
      y[i] += inverse[(f / KG_LANES * (size_t)packed + (size_t)(high * (high + 1) / 2 + low)) *
                          KG_LANES +
                      f % KG_LANES] *
              x[f * (size_t)m + (size_t)j];
    }
  }
}

/// One step with everything there is, against plain loops.
static void check_smoothing(trace_system *s)
{
  op_case *c = &s->c;
  double *inverse = system_edge_blocks(s);
  const size_t n = s->n_rows;
  const int m = c->size.n_edge;
  double *r = case_randoms(1, n), *t = case_randoms(2, n), *z = case_randoms(3, n),
         *d = case_randoms(4, n), *y = calloc(n + 1, sizeof *y), *x = calloc(n + 1, sizeof *x);
  assert_true(x && y);
  kg_edge_smooth_args args = {.m = c->size.n_edge,
                              .n_edges = c->batch.count.n_free,
                              .inverse = s->multigrid.smoother.inverse,
                              .form = KG_BLOCK_FACTOR,
                              .r = case_input(c, r, n),
                              .product = case_input(c, t, n),
                              .z = case_input(c, z, n),
                              .d = case_input(c, d, n),
                              .step = 0.7,
                              .momentum = 0.3,
                              .sum = {case_output(c, KG_PIECES), case_output(c, 1), NULL}};
  must(ctx, kg_edge_smooth(ctx, &args));
  double *z_new = case_fetch(c, args.z), *d_new = case_fetch(c, args.d), dot = 0.0, size = 0.0;
  for (size_t i = 0; i < n; ++i) x[i] = r[i] - t[i];
  multiply_blocks(s, inverse, x, y);
  const double scale = largest(n, y) + 2.0;
  for (size_t i = 0; i < n; ++i) {
    const double step = 0.3 * d[i] + 0.7 * y[i];
    assert_at_most(fabs(d_new[i] - step), rounding(m) * scale);
    assert_at_most(fabs(z_new[i] - (z[i] + step)), rounding(m) * scale);
    dot += r[i] * z_new[i];
    size += fabs(r[i] * z_new[i]);
  }
  double *sum = case_fetch(c, args.sum.total);
  assert_at_most(fabs(*sum - dot), rounding((double)n) * size);

  args.product = NULL;  // from zero, and nothing after it
  args.d = NULL;
  args.momentum = 0.0;
  args.sum = (kg_sum){0};
  must(ctx, kg_edge_smooth(ctx, &args));
  free(z_new);
  z_new = case_fetch(c, args.z);
  multiply_blocks(s, inverse, r, y);
  for (size_t i = 0; i < n; ++i)
    assert_at_most(fabs(z_new[i] - 0.7 * y[i]), rounding(m) * largest(n, y));
  free(r), free(t), free(z), free(d), free(x), free(y), free(z_new), free(d_new), free(sum);
  free(inverse);
}

static void a_step_smooths_edge_by_edge_and_sums_r_z(void **state)
{
  (void)state;
  for_systems(check_smoothing, 9, 1.0);
}

/// A step with a coarse function to add, from a z or from zero, against the same after it has been
/// added.
static void check_corrected_step_from(trace_system *s, bool from_zero)
{
  op_case *c = &s->c;
  const size_t n = s->n_rows;
  double *r = case_randoms(1, n), *t = case_randoms(2, n), *z = case_randoms(3, n),
         *coarse = system_coarse_randoms(s, 4), *result[2];
  const kg_vertex_correction correction = {
      .space = s->multigrid.space,
      .materials = s->multigrid.materials,
      .n_edges = c->batch.count.n_free,
      .coarse = case_input(c, coarse, (size_t)s->multigrid.space.n_rows)};
  for (int in_passing = 1; in_passing >= 0; --in_passing) {
    const bool no_product = from_zero && in_passing;
    for (size_t i = 0; from_zero && i < n; ++i) t[i] = 0.0, z[i] = in_passing ? z[i] : 0.0;
    double *product = case_input(c, t, n);
    kg_edge_smooth_args args = {.m = c->size.n_edge,
                                .n_edges = c->batch.count.n_free,
                                .inverse = s->multigrid.smoother.inverse,
                                .form = KG_BLOCK_FACTOR,
                                .r = case_input(c, r, n),
                                .product = no_product ? NULL : product,
                                .z = case_input(c, z, n),
                                .step = 0.7};
    if (in_passing)
      args.correction = correction;
    else
      must(ctx, kg_vertex_prolong(ctx, &(kg_vertex_prolong_args){.correction = correction,
                                                                 .m = c->size.n_edge,
                                                                 .z = args.z,
                                                                 .product = product}));
    must(ctx, kg_edge_smooth(ctx, &args));
    result[in_passing] = case_fetch(c, args.z);
  }
  assert_close(n, result[1], result[0], rounding(c->size.n_edge) * 4);
  free(r), free(t), free(z), free(coarse), free(result[0]), free(result[1]);
}

static void check_corrected_step(trace_system *s)
{
  check_corrected_step_from(s, false);
  check_corrected_step_from(s, true);
}

static void a_step_adds_the_coarse_correction_in_passing(void **state)
{
  (void)state;
  for_systems(check_corrected_step, 9, 0.0);
}

static void check_bound(trace_system *s)
{
  const double bound = s->multigrid.largest_eigenvalue;
  assert_true(bound > 0.0 &&
              bound <= s->multigrid.smoother.table->bound(&s->multigrid.shape.count));
  assert_at_most(system_largest_of_steps(s, 100), bound * (1 + rounding((double)s->n_rows)));
}

static void power_steps_stay_below_the_measured_bound(void **state)
{
  (void)state;
  for (kedge_smoother k = 0; k < KEDGE_SMOOTHER_AUTO; ++k) for_smoother(k, check_bound, 5, 1.0);
}

/// The step from one order of the tests of the estimate to the next: shadow computes what the host
/// does, and one or two have to do there.
static int order_step(int step)
{
  return test_backend() == KEDGE_BACKEND_SHADOW ? KEDGE_ORDER_MAX / 2 : step;
}

/// Triangles that become obtuse, and needles: edges with vertex modes from order 5 on, and lines.
static void the_estimate_from_shapes_is_enough_for_one_step(void **state)
{
  (void)state;
  const kedge_smoother smoothers[] = {KEDGE_SMOOTHER_EDGE, KEDGE_SMOOTHER_LINE};
  const double stretches[] = {1.0, 4.0, 20.0};
  for (int order = 1; order <= KEDGE_ORDER_MAX; order += order_step(order < 7 ? 1 : 2))
    for (int i = 0; i < 6; ++i)
      for_materials(
          (system_options){
              .order = order, .smoother = smoothers[i % 2], .stretch = stretches[i / 2]},
          check_estimate);
}

/// The estimate is above the measured bound on lattices of needles and of obtuse triangles. Edges
/// bear 179 degrees only just (precondition/smoother.h).
static void the_estimate_bears_needles_and_obtuse_triangles(void **state)
{
  (void)state;
  const kedge_smoother smoothers[] = {KEDGE_SMOOTHER_EDGE, KEDGE_SMOOTHER_LINE};
  const double angles[] = {5.0, 110.0, 140.0, 170.0};
  const int orders[] = {1, 4, 5, 6, 8, 9};
  for (int p = 0; p < 6; p += order_step(1))
    for (int i = 0; i < 8; ++i)
      for_materials(
          (system_options){
              .order = orders[p], .smoother = smoothers[i % 2], .angle = angles[i / 2]},
          check_estimate);
}

/// Steps from zero and from a z, with and without a direction before: the same as with the vectors
/// at hand.
static void check_line_step(trace_system *s)
{
  const size_t n = s->n_rows;
  op_case *c = &s->c;
  double *r = case_randoms(1, n), *t = case_randoms(2, n), *z = case_randoms(3, n),
         *d = case_randoms(4, n), *v = calloc(n + 1, sizeof *v),
         *y = calloc(s->n_all + 1, sizeof *y);
  assert_true(v && y);
  for (size_t i = 0; i < n; ++i) v[i] = r[i] - t[i];
  system_smooth(s, v, y);
  const kg_smoother_args args = {.r = case_input(c, r, n),
                                 .product = case_input(c, t, n),
                                 .z = case_input(c, z, n),
                                 .d = case_input(c, d, n),
                                 .step = 0.7,
                                 .momentum = 0.3,
                                 .sum = {s->cg.v.partial, case_output(c, 1), NULL}};
  must(ctx, s->multigrid.smoother.table->step(ctx, &s->multigrid.smoother, &args));
  double *z_new = case_fetch(c, args.z), *d_new = case_fetch(c, args.d), dot = 0.0, size = 0.0;
  const double scale = largest(n, y) + 2.0;
  for (size_t i = 0; i < n; ++i) {
    const double step = 0.3 * d[i] + 0.7 * y[i];
    assert_at_most(fabs(d_new[i] - step), rounding(2) * scale);
    assert_at_most(fabs(z_new[i] - (z[i] + step)), rounding(2) * scale);
    dot += r[i] * z_new[i];
    size += fabs(r[i] * z_new[i]);
  }
  double *sum = case_fetch(c, args.sum.total);
  assert_at_most(fabs(*sum - dot), rounding((double)n) * size);
  free(r), free(t), free(z), free(d), free(v), free(y), free(z_new), free(d_new), free(sum);
}

static void a_step_by_lines_advances_direction_and_z(void **state)
{
  (void)state;
  for_smoother(KEDGE_SMOOTHER_LINE, check_line_step, 5, 1.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_of_edges_are_inverted),
      cmocka_unit_test(a_step_smooths_edge_by_edge_and_sums_r_z),
      cmocka_unit_test(a_step_adds_the_coarse_correction_in_passing),
      cmocka_unit_test(a_step_by_lines_advances_direction_and_z),
      cmocka_unit_test(power_steps_stay_below_the_measured_bound),
      cmocka_unit_test(the_estimate_from_shapes_is_enough_for_one_step),
      cmocka_unit_test(the_estimate_bears_needles_and_obtuse_triangles),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
