// Local matrices and products that are made of a part of the patches at a time, and single entries
// of K^e in differences.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "operations.h"
#include "ops/local/triangle/batch_part.h"
#include "ops/local/triangle/local_matrices.h"
#include "ops/trace/trace_loads.h"

static const kg_material material = {1.3, 0.7, 1.0, KEDGE_SCALING_ONE};

/// A x, or A x - b, as elliptic/compact.c makes it: K^e and F^e of some patches, multiplied at
/// once, then those of the next ones.
static double *product_in_parts(op_case *c, const op_data *data, int32_t patches, bool less_b)
{
  const kg_trace_counts *n = &c->batch.count;
  const size_t groups = (size_t)patches * (size_t)n->patch_groups, lanes = KG_LANES * groups;
  kg_local local =
      case_local(c, KG_LAYOUT_PACKED, KG_DOUBLE, case_output(c, (size_t)c->size.n_packed * lanes));
  double *condensed = case_output(c, (size_t)c->size.n_trace * lanes);
  const double *load = case_input(c, data->array[OP_LOAD], op_count(c, OP_LOAD));
  const double *x = case_input(c, data->array[OP_TRACE], op_count(c, OP_TRACE));
  double *y = case_output(c, op_count(c, OP_PRODUCT)), *halo = case_output(c, op_count(c, OP_HALO));
  kg_open open;
  for (int32_t first = 0; first < n->n_patches; first += patches) {
    const int32_t left = n->n_patches - first;
    const kg_batch part = kg_batch_part(&c->batch, first, left < patches ? left : patches);
    const size_t lane = (size_t)first * (size_t)n->patch_groups * KG_LANES;
    local.first_lane = (int32_t)lane;
    local.n_lanes = part.count.n_groups * KG_LANES;
    must(c->ctx, kg_local_matrices(c->ctx, &(kg_local_matrices_args){
                                               .batch = part,
                                               .materials = kg_one_material(c->material),
                                               .load = load + (size_t)c->size.n_modes * lane,
                                               .local = local,
                                               .condensed = condensed}));
    const kg_trace_apply_args args = {
        .batch = part, .local = local, .x = x, .y = y, .halo = halo, .pass.open = &open};
    must(c->ctx, kg_trace_apply(c->ctx, &args));
    if (less_b) must(c->ctx, kg_trace_loads(c->ctx, &(kg_trace_loads_args){args, condensed}));
  }
  double *product = case_fetch(c, y), *second = case_fetch(c, halo);
  const size_t m = (size_t)c->size.n_edge, shared = (size_t)n->n_interior * m;
  for (size_t i = 0; i < (size_t)n->n_shared * m; ++i) product[shared + i] += second[i];
  free(second);
  case_release(c);
  return product;
}

static void a_product_in_parts_has_the_bits_of_the_whole(void **state)
{
  (void)state;
  const int sizes[] = {1, 257, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int order = 1; order <= 9; order += 4) {
      op_case c;
      op_data data;
      case_create(&c, ctx, sizes[i], order, CASE_MIXED, material);
      op_run_all(&c, &data);
      for (int32_t patches = 1; patches <= 3; patches += 2) {
        double *y = product_in_parts(&c, &data, patches, false);
        assert_memory_equal(y, data.array[OP_PRODUCT], op_count(&c, OP_PRODUCT) * sizeof *y);
        free(y);
      }
      op_free(&data);
      case_destroy(&c);
    }
}

static void the_right_hand_side_in_parts_is_that_of_the_whole(void **state)
{
  (void)state;
  const int sizes[] = {1, 257, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int order = 1; order <= KEDGE_ORDER_MAX; order += order == 9 ? 3 : 4) {
      op_case c;
      op_data data;
      case_create(&c, ctx, sizes[i], order, CASE_MIXED, material);
      op_run_all(&c, &data);
      const size_t n = op_count(&c, OP_PRODUCT);
      double *expected = calloc(n + 1, sizeof *expected);
      assert_non_null(expected);
      for (size_t k = 0; k < n; ++k)
        expected[k] = data.array[OP_PRODUCT][k] - data.array[OP_RHS][k];
      double *y = product_in_parts(&c, &data, 2, true);
      // Sums of six numbers, in another order.
      assert_close(n, y, expected, 6 * DBL_EPSILON);
      free(y);
      free(expected);
      op_free(&data);
      case_destroy(&c);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_product_in_parts_has_the_bits_of_the_whole),
      cmocka_unit_test(the_right_hand_side_in_parts_is_that_of_the_whole),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
