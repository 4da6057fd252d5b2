// Single entries of local matrices, whatever their form.
#include <float.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "operations.h"
#include "ops/local/entry.h"
#include "ops/trace/facet_sum.h"
#include "ops/local/convert.h"

/// Every entry of every lane, packed; to be freed.
static double *entries_of(const op_case *c, const kg_locals *locals)
{
  const int m = c->size.n_edge, n = c->size.n_trace;
  double *found = calloc(op_count(c, OP_LOCAL), sizeof *found);
  assert_non_null(found);
  const kg_local *last = &locals->local[locals->n_locals - 1];
  for (int32_t e = 0; e < last->first_lane + last->n_lanes; ++e) {
    const kg_local_element from = kg_local_element_of(locals, m, e);
    double *to = found + (int64_t)(e / KG_LANES) * c->size.n_packed * KG_LANES + e % KG_LANES;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        double *entry = to + kg_packed_entry(i, j) * KG_LANES;
        *entry = kg_local_entry(&from, i / m, i % m, j / m, j % m);
        assert_true(*entry == kg_local_entry(&from, j / m, j % m, i / m, i % m) ||
                    from.layout != KG_LAYOUT_PACKED);
      }
  }
  return found;
}

static void check(const op_case *c, const op_data *data, const kg_locals *locals, double bound)
{
  double *found = entries_of(c, locals);
  assert_close(op_count(c, OP_LOCAL), found, data->array[OP_LOCAL], bound);
  free(found);
}

static void check_local(const op_case *c, const op_data *data, kg_local local, double bound)
{
  const kg_locals locals = kg_locals_of(local, c->layout.host.side_edge);
  check(c, data, &locals, bound);
}

/// K^e in another layout or number, in host memory; to be freed.
static double *converted(op_case *c, kg_local from, kg_local *to)
{
  const size_t doubles = (kg_local_bytes(to) + sizeof(double) - 1) / sizeof(double);
  to->data = case_output(c, doubles);
  must(ctx, kg_local_convert(
                ctx, &(kg_local_convert_args){.m = c->size.n_edge, .from = from, .to = *to}));
  return to->data = case_fetch(c, to->data);
}

static kg_local packed_of(op_case *c, const op_data *data)
{
  return case_local(c, KG_LAYOUT_PACKED, KG_DOUBLE,
                    case_input(c, data->array[OP_LOCAL], op_count(c, OP_LOCAL)));
}

static void entries_of_packed_matrices_and_of_differences_are_those_of_k_e(void **state)
{
  (void)state;
  const kg_material material = {1.3, 0.7, 2.0, KEDGE_SCALING_ONE};
  for (int order = 1; order <= 9; order += 4) {
    op_case c;
    op_data data;
    case_create(&c, ctx, 33, order, CASE_MIXED, material);
    op_run_all(&c, &data);
    kg_local differences = case_local(&c, KG_LAYOUT_DIFFERENCES, KG_SINGLE, NULL);
    double *owned = converted(&c, packed_of(&c, &data), &differences);
    check_local(&c, &data, case_local(&c, KG_LAYOUT_PACKED, KG_DOUBLE, data.array[OP_LOCAL]), 0.0);
    check_local(&c, &data, differences, 9.0 * FLT_EPSILON);
    free(owned);
    op_free(&data);
    case_destroy(&c);
  }
}

static void reduced_matrices_in_single_precision_have_every_entry_of_k_e(void **state)
{
  (void)state;
  const kg_material diffusion = {0.7, 0.0, 1.3, KEDGE_SCALING_INVERSE_H};
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order) {
    op_case c;
    op_data data;
    case_create(&c, ctx, 33, order, CASE_MIXED, diffusion);
    op_run_all(&c, &data);
    kg_local reduced = case_local(&c, KG_LAYOUT_REDUCED, KG_SINGLE, NULL);
    double *owned = converted(&c, op_reduced(&c, &data, NULL), &reduced);
    check_local(&c, &data, reduced, 2 * FLT_EPSILON / DBL_EPSILON * rounding(c.size.n_trace));
    free(owned);
    op_free(&data);
    case_destroy(&c);
  }
}

/// FULL has no empty lanes; the last group of 64 elements has none either.
static void full_matrices_have_every_entry_of_k_e(void **state)
{
  (void)state;
  const kg_material material = {1.3, 0.7, 2.0, KEDGE_SCALING_ONE};
  for (int order = 1; order <= 9; order += 4) {
    op_case c;
    op_data data;
    case_create(&c, ctx, 64, order, CASE_MIXED, material);
    op_run_all(&c, &data);
    kg_local full = case_local(&c, KG_LAYOUT_FULL, KG_DOUBLE, NULL);
    double *owned = converted(&c, packed_of(&c, &data), &full);
    check_local(&c, &data, full, 0.0);
    free(owned);
    op_free(&data);
    case_destroy(&c);
  }
}

/// Three kg_local in the list, each of other lanes, in another layout and number.
static void a_list_of_matrices_in_several_layouts_has_every_entry_of_k_e(void **state)
{
  (void)state;
  const kg_material diffusion = {0.7, 0.0, 1.3, KEDGE_SCALING_INVERSE_H};
  op_case c;
  op_data data;
  case_create(&c, ctx, 96, 3, CASE_MIXED, diffusion);
  op_run_all(&c, &data);
  const kg_local packed = packed_of(&c, &data);
  kg_local reduced = op_reduced(&c, &data, NULL),
           full = case_local(&c, KG_LAYOUT_FULL, KG_DOUBLE, NULL);
  double *owned = converted(&c, packed, &full);
  reduced.data = case_fetch(&c, reduced.data);
  const kg_local host = case_local(&c, KG_LAYOUT_PACKED, KG_DOUBLE, data.array[OP_LOCAL]);
  const kg_locals locals = {.side_edge = c.layout.host.side_edge,
                            .n_locals = 3,
                            .local = {kg_local_part(&reduced, 0, 32), kg_local_part(&host, 32, 32),
                                      kg_local_part(&full, 64, 32)}};
  assert_ptr_equal(kg_local_of_lane(&locals, 31), &locals.local[0]);
  assert_ptr_equal(kg_local_of_lane(&locals, 32), &locals.local[1]);
  assert_ptr_equal(kg_local_of_lane(&locals, 95), &locals.local[2]);
  check(&c, &data, &locals, 2 * rounding(c.size.n_trace));
  free(reduced.data);
  free(owned);
  op_free(&data);
  case_destroy(&c);
}

/// Local matrices, cut into two kg_local that lie apart in device memory.
static void a_diagonal_has_the_same_bits_however_its_matrices_are_cut(void **state)
{
  (void)state;
  const kg_material material = {1.3, 0.7, 2.0, KEDGE_SCALING_ONE};
  for (int32_t cut = 32; cut <= 64; cut += 32) {
    op_case c;
    op_data data;
    case_create(&c, ctx, 96, 2, CASE_MIXED, material);
    op_run_all(&c, &data);
    const kg_local host = case_local(&c, KG_LAYOUT_PACKED, KG_DOUBLE, data.array[OP_LOCAL]);
    kg_locals locals = {
        .side_edge = c.batch.arrays.side_edge,
        .n_locals = 2,
        .local = {kg_local_part(&host, 0, cut), kg_local_part(&host, cut, 96 - cut)}};
    for (int i = 0; i < 2; ++i)
      locals.local[i].data = case_input(&c, locals.local[i].data, kg_local_count(&locals.local[i]));
    double *inverse = case_output(&c, op_count(&c, OP_INVERSE));
    must(ctx, kg_facet_diagonal(ctx, &(kg_facet_diagonal_args){
                                         .batch = c.batch, .locals = locals, .inverse = inverse}));
    double *found = case_fetch(&c, inverse);
    assert_memory_equal(found, data.array[OP_INVERSE], op_count(&c, OP_INVERSE) * sizeof *found);
    free(found);
    op_free(&data);
    case_destroy(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_of_packed_matrices_and_of_differences_are_those_of_k_e),
      cmocka_unit_test(reduced_matrices_in_single_precision_have_every_entry_of_k_e),
      cmocka_unit_test(full_matrices_have_every_entry_of_k_e),
      cmocka_unit_test(a_list_of_matrices_in_several_layouts_has_every_entry_of_k_e),
      cmocka_unit_test(a_diagonal_has_the_same_bits_however_its_matrices_are_cut),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
