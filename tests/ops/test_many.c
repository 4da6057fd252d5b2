// Operators of many vectors at once: each vector has the bits that it has alone.
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "ops/smooth/edge_blocks.h"
#include "ops/smooth/edge_smooth.h"
#include "ops/vector/round.h"
#include "trace_product.h"

static const kg_material diffusion = {0.7, 0.0, 1.3, KEDGE_SCALING_INVERSE_H};

enum { K = KG_VECTORS };

/// The numbers of vector v, alone.
static double *alone(const double *many, size_t n, int v)
{
  double *one = malloc((n + 1) * sizeof *one);
  assert_non_null(one);
  for (size_t i = 0; i < n; ++i) one[i] = many[i * K + (size_t)v];
  return one;
}

static void *output(op_case *c, kg_number number, size_t count)
{
  return case_output(c, number == KG_SINGLE ? (count + 1) / 2 : count);
}

/// Numbers in device memory, of a type.
static void *input(op_case *c, kg_number number, const double *values, size_t count)
{
  double *from = case_input(c, values, count);
  if (number == KG_DOUBLE) return from;
  void *to = output(c, number, count);
  must(c->ctx, kg_round(c->ctx, &(kg_round_args){.n = (int64_t)count, .from = from, .to = to}));
  return to;
}

static double number_at(const void *values, kg_number number, size_t i)
{
  return number == KG_SINGLE ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/// Vector v of `many` is `one`.
static void assert_vector(const void *many, const void *one, kg_number number, size_t n, int v)
{
  for (size_t i = 0; i < n; ++i)
    if (number_at(many, number, i * K + (size_t)v) != number_at(one, number, i))
      fail_msg("row %zu of vector %d: %.17g, alone %.17g", i, v,
               number_at(many, number, i * K + (size_t)v), number_at(one, number, i));
}

/// Totals lie two numbers apart.
static kg_sum many_sum(op_case *c, size_t parts)
{
  return (kg_sum){.part = case_output(c, K * parts),
                  .total = case_output(c, 2 * K),
                  .stride = 2,
                  .parts = (int64_t)parts};
}

static double *take(op_case *c, const double *device)
{
  return case_fetch(c, device);
}

/// The product of vector v alone, and its sum.
static void *product_of(op_case *c, kg_trace_apply_args args, const double *x, int v, double *dot)
{
  const kg_number number = args.local.number;
  double *of = alone(x, op_count(c, OP_TRACE), v);
  args.x = input(c, number, of, op_count(c, OP_TRACE));
  args.y = output(c, number, op_count(c, OP_PRODUCT));
  args.halo = output(c, number, op_count(c, OP_HALO));
  args.pass = (kg_pass){.sum = {.part = case_output(c, (size_t)c->batch.count.n_patches),
                                .total = case_output(c, 1)}};
  must(c->ctx, kg_trace_apply(c->ctx, &args));
  double *sum = take(c, args.pass.sum.total);
  *dot = *sum;
  free(sum), free(of);
  return take(c, args.y);
}

static void check_product(op_case *c, const op_data *data, local_form form, bool open)
{
  const size_t n = op_count(c, OP_PRODUCT), n_halo = op_count(c, OP_HALO);
  const size_t inside = (size_t)(c->batch.count.n_interior * c->size.n_edge) * K;
  double *x = case_randoms(7, K * op_count(c, OP_TRACE));
  kg_open rows;
  kg_trace_apply_args args = {.batch = c->batch, .local = local_in_form(c, data, form)};
  if (!kg_trace_takes_many(c->ctx, &args)) skip();
  args.x = input(c, form.number, x, K * op_count(c, OP_TRACE));
  args.y = output(c, form.number, K * n);
  args.halo = output(c, form.number, K * n_halo);
  args.pass = (kg_pass){.sum = many_sum(c, (size_t)c->batch.count.n_patches),
                        .open = open ? &rows : NULL,
                        .many = true};
  must(c->ctx, kg_trace_apply(c->ctx, &args));
  double *y = take(c, args.y), *halo = take(c, args.halo);
  double *dots = take(c, args.pass.sum.total);
  if (open) {
    assert_true(rows.first == (int64_t)inside && rows.n == (int64_t)(K * n_halo));
    for (size_t i = 0; i < K * n_halo; ++i)
      if (form.number == KG_SINGLE)
        ((float *)y)[inside + i] += ((float *)halo)[i];
      else
        y[inside + i] += halo[i];
  }
  for (int v = 0; v < K; ++v) {
    double dot;
    void *one = product_of(c, args, x, v, &dot);
    assert_vector(y, one, form.number, n, v);
    // On a GPU the sum has other parts.
    assert_close(1, &dots[2 * v], &dot, rounding_of(form.number, 2 * c->size.n_trace));
    free(one);
  }
  free(x), free(y), free(halo), free(dots);
  case_release(c);
}

static void check_packed(op_case *c, const op_data *data)
{
  check_product(c, data, (local_form){.layout = KG_LAYOUT_PACKED}, false);
  check_product(c, data, (local_form){.number = KG_SINGLE, .layout = KG_LAYOUT_DIFFERENCES}, true);
}

static void check_reduced(op_case *c, const op_data *data)
{
  check_product(c, data, (local_form){.layout = KG_LAYOUT_REDUCED}, true);
  check_product(c, data, (local_form){.number = KG_SINGLE, .layout = KG_LAYOUT_REDUCED}, false);
}

static void products_have_the_bits_of_single_ones(void **state)
{
  (void)state;
  const kg_material reacting = {0.7, 1.1, 1.3, KEDGE_SCALING_INVERSE_H};
  for (int order = KEDGE_ORDER_MIN; order < KG_MANY_MODES_MAX; ++order) {
    op_with(ctx, 1003, order, CASE_MIXED, reacting, check_packed);
    op_with(ctx, 1003, order, CASE_MIXED, diffusion, check_reduced);
  }
}

static void check_both(op_case *c, const op_data *data)
{
  check_packed(c, data);
  check_reduced(c, data);
}

static void sizes_about_groups_and_patches_have_them_too(void **state)
{
  (void)state;
  with_awkward_sizes(ctx, diffusion, 1, 1, check_both);
}

/// A step of many vectors from zero, with its blocks, but without vectors.
static kg_edge_smooth_args smoothing_of(op_case *c, kg_local local)
{
  const kg_locals locals = kg_locals_of(local, c->batch.arrays.side_edge);
  const int m = c->size.n_edge;
  const size_t groups = ((size_t)c->batch.count.n_free + KG_LANES - 1) / KG_LANES;
  void *inverse = output(c, KG_SINGLE, groups * (size_t)(m * (m + 1) / 2) * KG_LANES);
  must(c->ctx,
       kg_edge_blocks(c->ctx, &(kg_edge_blocks_args){.batch = c->batch,
                                                     .locals = locals,
                                                     .form = KG_BLOCK_FACTOR,
                                                     .inverse = inverse,
                                                     .fault = (int32_t *)case_output(c, 1)}));
  return (kg_edge_smooth_args){.m = c->size.n_edge,
                               .n_edges = c->batch.count.n_free,
                               .inverse = inverse,
                               .form = KG_BLOCK_FACTOR,
                               .step = 0.7,
                               .many = true};
}

/// A step with all that there is but a coarse correction.
static void check_step(op_case *c, const op_data *data, bool from_zero)
{
  const size_t n = op_count(c, OP_PRODUCT);
  const int m = c->size.n_edge;
  kg_edge_smooth_args args =
      smoothing_of(c, local_in_form(c, data, (local_form){.layout = KG_LAYOUT_PACKED}));
  double *r = case_randoms(1, K * n), *t = case_randoms(2, K * n), *z = case_randoms(3, K * n);
  double *d = case_randoms(4, K * n), *sums = NULL, *z_many = NULL, *d_many = NULL;
  for (int v = -1; v < K; ++v) {  // first all of them
    double *of[] = {r, t, z, d};
    for (int i = 0; v >= 0 && i < 4; ++i) of[i] = alone(of[i], n, v);
    const size_t rows = v < 0 ? K * n : n;
    args.r = case_input(c, of[0], rows);
    args.product = from_zero ? NULL : case_input(c, of[1], rows);
    args.again = !from_zero && m % 2 == 0;
    args.z = case_input(c, of[2], rows);
    args.d = case_input(c, of[3], rows);
    args.momentum = 0.3;
    args.sum = v < 0 ? many_sum(c, KG_PIECES)
                     : (kg_sum){.part = case_output(c, KG_PIECES), .total = case_output(c, 1)};
    args.many = v < 0;
    must(c->ctx, kg_edge_smooth(c->ctx, &args));
    double *z_new = take(c, args.z), *d_new = take(c, args.d), *sum = take(c, args.sum.total);
    if (v < 0) {
      z_many = z_new, d_many = d_new, sums = sum;
      continue;
    }
    assert_vector(z_many, z_new, KG_DOUBLE, n, v);
    assert_vector(d_many, d_new, KG_DOUBLE, n, v);
    double size = 1.0;
    for (size_t i = 0; i < n; ++i) size += fabs(of[0][i] * z_new[i]);
    assert_at_most(fabs(sums[2 * v] - *sum), rounding((double)n) * size);
    free(z_new), free(d_new), free(sum);
    for (int i = 0; i < 4; ++i) free(of[i]);
  }
  free(r), free(t), free(z), free(d), free(z_many), free(d_many), free(sums);
  case_release(c);
}

static void check_steps(op_case *c, const op_data *data)
{
  check_step(c, data, false);
  check_step(c, data, true);
}

static void steps_of_smoothing_have_them_too(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order < KG_MANY_MODES_MAX; ++order)
    op_with(ctx, 301, order, CASE_MIXED, diffusion, check_steps);
}

/// A step of r by y, which has open rows; the factor of a vector is 2 numbers behind the last.
typedef struct advance {
  double *r, *y, *halo;
  double factor[2 * K];
  kg_advance args;
} advance;

static advance advance_of(op_case *c)
{
  const size_t n = op_count(c, OP_PRODUCT), n_halo = op_count(c, OP_HALO);
  advance of = {.r = case_randoms(1, K * n),
                .y = case_randoms(2, K * n),
                .halo = case_randoms(3, K * n_halo),
                .factor = {0.5, 0.0, -3.0, 0.0, 0.0, 0.0, 1e-3}};
  of.args = (kg_advance){.r = case_input(c, of.r, K * n),
                         .y = case_input(c, of.y, K * n),
                         .open = {.first = c->batch.count.n_interior * c->size.n_edge * K,
                                  .n = (int64_t)(K * n_halo),
                                  .halo = case_input(c, of.halo, K * n_halo)},
                         .factor = case_input(c, of.factor, 2 * K),
                         .sum = many_sum(c, KG_PIECES)};
  return of;
}

/// r has taken the step, and the sums are of it.
static void assert_advanced(op_case *c, const advance *of)
{
  const size_t n = op_count(c, OP_PRODUCT), first = (size_t)of->args.open.first;
  const size_t last = first + (size_t)of->args.open.n;
  double *r = take(c, of->args.r), *sums = take(c, of->args.sum.total), rr[K] = {0.0};
  for (size_t i = 0; i < K * n; ++i) {
    const double y = of->y[i] + (i >= first && i < last ? of->halo[i - first] : 0.0);
    const double part = of->factor[i % K * 2] * y;
    assert_at_most(fabs(r[i] - (of->r[i] + part)), rounding(2.0) * (fabs(of->r[i]) + fabs(part)));
    rr[i % K] += r[i] * r[i];
  }
  for (int v = 0; v < K; ++v)
    assert_at_most(fabs(sums[2 * v] - rr[v]), rounding((double)n) * (1.0 + rr[v]));
  free(r), free(sums);
}

static void check_advances(op_case *c, const op_data *data)
{
  const size_t n = op_count(c, OP_PRODUCT);
  const kg_local local = local_in_form(c, data, (local_form){.layout = KG_LAYOUT_PACKED});
  kg_edge_smooth_args step = smoothing_of(c, local);
  advance of = advance_of(c);
  step.r = of.args.r;
  step.z = case_output(c, K * n);
  step.advance = of.args;
  must(c->ctx, kg_edge_smooth(c->ctx, &step));
  assert_advanced(c, &of);
  double *with = take(c, step.z);
  step.advance = (kg_advance){0};
  must(c->ctx, kg_edge_smooth(c->ctx, &step));
  double *without = take(c, step.z);
  assert_memory_equal(with, without, K * n * sizeof *with);
  free(with), free(without), free(of.r), free(of.y), free(of.halo);

  of = advance_of(c);
  kg_round_args round = {.n = (int64_t)(K * n),
                         .from = of.args.r,
                         .to = output(c, KG_SINGLE, K * n),
                         .advance = of.args,
                         .many = true};
  must(c->ctx, kg_round(c->ctx, &round));
  assert_advanced(c, &of);
  with = take(c, (double *)round.to);
  round.advance = (kg_advance){0};
  must(c->ctx, kg_round(c->ctx, &round));
  without = take(c, (double *)round.to);
  assert_memory_equal(with, without, K * n * sizeof(float));
  free(with), free(without), free(of.r), free(of.y), free(of.halo);
  case_release(c);
}

static void a_residual_takes_its_step_where_it_is_read(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order < KG_MANY_MODES_MAX; ++order)
    op_with(ctx, 301, order, CASE_MIXED, diffusion, check_advances);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_have_the_bits_of_single_ones),
      cmocka_unit_test(sizes_about_groups_and_patches_have_them_too),
      cmocka_unit_test(steps_of_smoothing_have_them_too),
      cmocka_unit_test(a_residual_takes_its_step_where_it_is_read),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
