// The trace operator in single precision against the one in double precision, from the same K^e and x.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "operations.h"
#include "ops/local_differences.h"
#include "ops/round.h"
#include "ops/trace_apply.h"

/// Device memory for floats, full of NaN, between guards.
static void *output_single(op_case *c, size_t count)
{
  return case_output(c, (count + 1) / 2);
}

/// A copy of what output_single() holds now, to be freed.
static float *fetch_single(op_case *c, const void *device)
{
  return (float *)case_fetch(c, device);
}

static float *rounded(op_case *c, const double *values, size_t count)
{
  float *to = output_single(c, count);
  const kg_round_args args = {.n = (int64_t)count, .from = case_input(c, values, count), .to = to};
  must(c->ctx, kg_round(c->ctx, &args));
  return to;
}

/// K^e in single precision: as it is, or in differences.
static float *rounded_local(op_case *c, const double *local, bool differences)
{
  const size_t count = op_count(c, OP_LOCAL);
  if (!differences) return rounded(c, local, count);
  float *to = output_single(c, count);
  const kg_local_differences_args args = {.size = c->size,
                                          .n_groups = c->batch.count.n_groups,
                                          .from = case_input(c, local, count),
                                          .to = to};
  must(c->ctx, kg_local_differences(c->ctx, &args));
  return to;
}

/// The product and, if it is left open, its halo.
typedef struct product {
  float *y, *halo;
  double p_ap;
} product;

static product multiply(op_case *c, const op_data *data, bool differences, bool open)
{
  const kg_trace_counts *n = &c->layout.count;
  const kg_cg_state running = {.stop = KG_CG_RUNNING};
  struct case_piece *piece = &c->pieces[c->n_pieces++];
  *piece = (struct case_piece){0};
  must(c->ctx, kg_upload(c->ctx, &running, 1, sizeof running, &piece->buffer));
  const kg_trace_apply_args args = {.batch = c->batch,
                                    .number = KG_SINGLE,
                                    .local = rounded_local(c, data->array[OP_LOCAL], differences),
                                    .differences = differences,
                                    .x = rounded(c, data->array[OP_TRACE], op_count(c, OP_TRACE)),
                                    .y = output_single(c, op_count(c, OP_PRODUCT)),
                                    .halo = output_single(c, op_count(c, OP_HALO)),
                                    .open = open,
                                    .partial = case_output(c, (size_t)n->n_patches),
                                    .state = piece->buffer.data};
  must(c->ctx, kg_trace_apply(c->ctx, &args));
  kg_cg_state state;
  must(c->ctx, kg_copy_out(c->ctx, &state, args.state, sizeof state));
  must(c->ctx, kg_sync(c->ctx));
  assert_int_equal(state.stop, KG_CG_RUNNING);
  free(case_fetch(c, args.partial));
  product out = {.y = fetch_single(c, args.y), .halo = fetch_single(c, args.halo)};
  out.p_ap = state.p_ap;
  case_release(c);
  return out;
}

static void product_free(product *p)
{
  free(p->y);
  free(p->halo);
}

/// Rounding of a sum of products of rounded numbers, relative to its largest partial sums.
static double rounding_single(double terms)
{
  return rounding(terms) * (FLT_EPSILON / DBL_EPSILON);
}

static void check_form(op_case *c, const op_data *data, bool differences)
{
  const size_t n = op_count(c, OP_PRODUCT), n_halo = op_count(c, OP_HALO);
  product closed = multiply(c, data, differences, false);
  product again = multiply(c, data, differences, false);
  product open = multiply(c, data, differences, true);
  assert_memory_equal(closed.y, again.y, n * sizeof *closed.y);
  assert_memory_equal(&closed.p_ap, &again.p_ap, sizeof closed.p_ap);

  double *y = malloc((n + 1) * sizeof *y);
  assert_non_null(y);
  for (size_t i = 0; i < n; ++i) y[i] = closed.y[i];
  const double bound = rounding_single(2 * c->size.n_trace);
  assert_close(n, y, data->array[OP_PRODUCT], bound);
  assert_close(1, &closed.p_ap, &data->array[OP_PRODUCT_STATE][STATE_P_AP], bound);

  const size_t inside = (size_t)c->layout.count.n_interior * (size_t)c->size.n_edge;
  for (size_t i = 0; i < n_halo; ++i) open.y[inside + i] += open.halo[i];
  assert_memory_equal(open.y, closed.y, n * sizeof *open.y);

  free(y);
  product_free(&open);
  product_free(&again);
  product_free(&closed);
}

static void check_size(kedge_context *of, int n_elements, int order, enum case_boundary boundary)
{
  op_case c;
  op_data data;
  case_create(&c, of, n_elements, order, boundary, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
  op_run_all(&c, &data);
  check_form(&c, &data, false);
  check_form(&c, &data, true);
  op_free(&data);
  case_destroy(&c);
}

/// The largest row of A 1 for the constant 1, without reaction: zero but for rounding.
static double product_of_constant(int order, bool differences)
{
  op_case c;
  op_data data;
  case_create(&c, ctx, 1000, order, CASE_NEUMANN, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
  op_run_all(&c, &data);
  for (size_t i = 0; i < op_count(&c, OP_TRACE); ++i)
    data.array[OP_TRACE][i] = i % (size_t)c.size.n_edge == 0;
  // x . A x may round to less than zero: no state judges it here.
  const kg_trace_counts *n = &c.layout.count;
  const kg_trace_apply_args args = {.batch = c.batch,
                                    .number = KG_SINGLE,
                                    .local = rounded_local(&c, data.array[OP_LOCAL], differences),
                                    .differences = differences,
                                    .x = rounded(&c, data.array[OP_TRACE], op_count(&c, OP_TRACE)),
                                    .y = output_single(&c, op_count(&c, OP_PRODUCT)),
                                    .halo = output_single(&c, op_count(&c, OP_HALO)),
                                    .partial = case_output(&c, (size_t)n->n_patches)};
  must(ctx, kg_trace_apply(ctx, &args));
  float *y = fetch_single(&c, args.y);
  double most = 0.0;
  for (size_t i = 0; i < op_count(&c, OP_PRODUCT); ++i) most = fmax(most, fabs(y[i]));
  free(y);
  op_free(&data);
  case_destroy(&c);
  return most;
}

static void differences_keep_the_constants_that_rounding_loses(void **state)
{
  (void)state;
  for (int order = 1; order <= 9; order += 4) {
    assert_true(product_of_constant(order, false) > 0.1 * FLT_EPSILON);
    assert_at_most(product_of_constant(order, true), 1e-5 * FLT_EPSILON);
  }
}

static void every_order_agrees_with_double_precision_repeatably(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    check_size(ctx, 150, order, (enum case_boundary)(order % CASE_BOUNDARIES));
}

static void sizes_about_groups_and_patches_agree_with_double_precision(void **state)
{
  (void)state;
  const int sizes[] = {1, 257, 2, 31, 33, 127, 129, 255, 1000};
  const size_t n = test_is_quick() ? 2 : sizeof sizes / sizeof *sizes;
  for (size_t i = 0; i < n; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int order = 2; order <= 4; order += 2)
        check_size(ctx, sizes[i], order, (enum case_boundary)boundary);
}

static void a_power_of_two_scales_without_rounding(void **state)
{
  (void)state;
  op_case c;
  case_create(&c, ctx, 2, 1, CASE_NEUMANN, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
  // The middle one is far below the range of float.
  const double from[5] = {1.0 / 3.0 * 0x1p-140, -0x1p-139, 0x1p-300, NAN, INFINITY};
  const kg_cg_state large = {.exponent = 140};
  struct case_piece *piece = &c.pieces[c.n_pieces++];
  *piece = (struct case_piece){0};
  must(ctx, kg_upload(ctx, &large, 1, sizeof large, &piece->buffer));
  float *to = output_single(&c, 5);
  const kg_round_args args = {
      .n = 5, .from = case_input(&c, from, 5), .to = to, .state = piece->buffer.data};
  must(ctx, kg_round(ctx, &args));
  float *values = fetch_single(&c, to);
  assert_true(values[0] == 1.0f / 3.0f && values[1] == -2.0f && values[2] == 0.0f);
  assert_true(isnan(values[3]) && isinf(values[4]));
  free(values);
  case_destroy(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_order_agrees_with_double_precision_repeatably),
      cmocka_unit_test(sizes_about_groups_and_patches_agree_with_double_precision),
      cmocka_unit_test(differences_keep_the_constants_that_rounding_loses),
      cmocka_unit_test(a_power_of_two_scales_without_rounding),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
