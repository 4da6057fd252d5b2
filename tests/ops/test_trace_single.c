// The trace operator in single precision against the one in double precision, from the same K^e and
// x.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "ops/vector/round.h"
#include "trace_product.h"

static const kg_material diffusion = {1.0, 0.0, 1.0, KEDGE_SCALING_ONE};
static const local_form forms[] = {{.number = KG_SINGLE},
                                   {.number = KG_SINGLE, .layout = KG_LAYOUT_DIFFERENCES}};

static void check_forms(op_case *c, const op_data *data)
{
  for (int i = 0; i < 2; ++i)
    check_form(c, data, forms[i], rounding_of(KG_SINGLE, 2 * c->size.n_trace));
}

/// The largest row of A 1 for the constant 1, without reaction: zero but for rounding.
static double product_of_constant(int order, local_form form)
{
  op_case c;
  op_data data;
  case_create(&c, ctx, 1000, order, CASE_NEUMANN, diffusion);
  op_run_all(&c, &data);
  for (size_t i = 0; i < op_count(&c, OP_TRACE); ++i)
    data.array[OP_TRACE][i] = i % (size_t)c.size.n_edge == 0;
  trace_product p = multiply_in_form(&c, &data, form, false);
  const double most = largest(op_count(&c, OP_PRODUCT), p.values);
  trace_product_free(&p);
  op_free(&data);
  case_destroy(&c);
  return most;
}

static void differences_keep_the_constants_that_rounding_loses(void **state)
{
  (void)state;
  for (int order = 1; order <= 9; order += 4) {
    assert_true(product_of_constant(order, forms[0]) > 0.1 * FLT_EPSILON);
    assert_at_most(product_of_constant(order, forms[1]), 1e-5 * FLT_EPSILON);
  }
}

static void every_order_agrees_with_double_precision_repeatably(void **state)
{
  (void)state;
  op_with_every_order(ctx, diffusion, check_forms);
}

static void sizes_about_groups_and_patches_agree_with_double_precision(void **state)
{
  (void)state;
  with_awkward_sizes(ctx, diffusion, 2, 2, check_forms);
}

static void a_power_of_two_scales_without_rounding(void **state)
{
  (void)state;
  op_case c;
  case_create(&c, ctx, 2, 1, CASE_NEUMANN, diffusion);
  // The middle one is far below the range of float.
  const double from[5] = {1.0 / 3.0 * 0x1p-140, -0x1p-139, 0x1p-300, NAN, INFINITY};
  const int32_t large = 140;
  float *to = (float *)case_output(&c, 3);
  const kg_round_args args = {.n = 5,
                              .from = case_input(&c, from, 5),
                              .to = to,
                              .exponent = case_upload(&c, &large, 1, sizeof large)};
  must(ctx, kg_round(ctx, &args));
  float *values = (float *)case_fetch(&c, (double *)to);
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
