// The trace operator with reduced K^e of pure diffusion against the one with packed K^e; and every
// form of it on GPUs with little shared memory.
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "trace_product.h"

static const kg_material diffusion = {0.7, 0.0, 1.3, KEDGE_SCALING_INVERSE_H};
static const local_form forms[] = {{.layout = KG_LAYOUT_REDUCED},
                                   {.number = KG_SINGLE, .layout = KG_LAYOUT_REDUCED}};

static void check_forms(op_case *c, const op_data *data)
{
  // Two thirds of the rows are sums of the others: their terms are counted twice.
  for (int i = 0; i < 2; ++i)
    check_form(c, data, forms[i], 2 * rounding_of(forms[i].number, 2 * c->size.n_trace));
}

static void every_order_gives_the_product_of_packed_matrices(void **state)
{
  (void)state;
  op_with_every_order(ctx, diffusion, check_forms);
}

static void sizes_about_groups_and_patches_give_it_too(void **state)
{
  (void)state;
  with_awkward_sizes(ctx, diffusion, 1, 1, check_forms);
}

/// Blocks that stay on their multiprocessor take one patch after the other.
static void more_patches_than_a_gpu_holds_at_once_give_it_too(void **state)
{
  (void)state;
  const bool many =
      test_backend() == KEDGE_BACKEND_CUDA && !test_is_quick() && !test_has_few_blocks();
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    op_with(ctx,
            !many        ? 1003
            : order <= 4 ? 202003
                         : 50003,
            order, CASE_MIXED, diffusion, check_forms);
}

/// No rounding of A is behind it: differences of equal means are taken before anything else.
static void check_constants(op_case *c, const op_data *data)
{
  for (size_t i = 0; i < op_count(c, OP_TRACE); ++i)
    data->array[OP_TRACE][i] = i % (size_t)c->size.n_edge == 0 ? 1.0 / 3.0 : 0.0;
  for (int k = 0; k < 2; ++k) {
    trace_product p = multiply_in_form(c, data, forms[k], false);
    for (size_t i = 0; i < op_count(c, OP_PRODUCT); ++i) assert_true(p.values[i] == 0.0);
    assert_true(p.dot == 0.0);
    trace_product_free(&p);
  }
}

static void constants_have_no_product_at_all(void **state)
{
  (void)state;
  for (int order = 1; order <= 9; order += 2)
    op_with(ctx, 300, order, CASE_NEUMANN, diffusion, check_constants);
}

static void check_unstreamed(op_case *c, const op_data *data)
{
  const kg_layout layouts[] = {KG_LAYOUT_PACKED, KG_LAYOUT_REDUCED};
  for (int i = 0; i < 2; ++i)
    for (int number = KG_DOUBLE; number <= KG_SINGLE; ++number)
      check_form(
          c, data,
          (local_form){.number = (kg_number)number, .layout = layouts[i], .unstreamed = true},
          2 * rounding_of((kg_number)number, 2 * c->size.n_trace));
}

static void gpus_with_little_shared_memory_give_it_too(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_CUDA) skip();
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    op_with(ctx, 1003, order, CASE_MIXED, diffusion, check_unstreamed);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_order_gives_the_product_of_packed_matrices),
      cmocka_unit_test(sizes_about_groups_and_patches_give_it_too),
      cmocka_unit_test(more_patches_than_a_gpu_holds_at_once_give_it_too),
      cmocka_unit_test(constants_have_no_product_at_all),
      cmocka_unit_test(gpus_with_little_shared_memory_give_it_too),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
