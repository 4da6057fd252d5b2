// Single entries of local matrices, whatever their form.
#include <float.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "operations.h"
#include "ops/local_entry.h"
#include "ops/round.h"

/// Every entry of every lane, packed; to be freed.
static double *entries_of(const op_case *c, const kg_local *local)
{
  const int m = c->size.n_edge, n = c->size.n_trace;
  double *found = calloc(op_count(c, OP_LOCAL), sizeof *found);
  assert_non_null(found);
  for (int32_t e = 0; e < c->batch.count.n_groups * KG_LANES; ++e) {
    const kg_local_element from = kg_local_element_of(local, m, e);
    double *to = found + (int64_t)(e / KG_LANES) * c->size.n_packed * KG_LANES + e % KG_LANES;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        double *entry = to + kg_packed_entry(i, j) * KG_LANES;
        *entry = kg_local_entry(&from, i / m, i % m, j / m, j % m);
        assert_true(*entry == kg_local_entry(&from, j / m, j % m, i / m, i % m) ||
                    local->form != KG_LOCAL_PACKED);
      }
  }
  return found;
}

static void check(const op_case *c, const op_data *data, kg_local local, double bound)
{
  double *found = entries_of(c, &local);
  assert_close(op_count(c, OP_LOCAL), found, data->array[OP_LOCAL], bound);
  free(found);
}

static double *differences_of(op_case *c, const double *packed)
{
  double *to = case_output(c, (op_count(c, OP_LOCAL) + 1) / 2);
  must(ctx,
       kg_local_differences(ctx, &(kg_local_differences_args){.size = c->size,
                                                              .n_groups = c->batch.count.n_groups,
                                                              .from = packed,
                                                              .to = (float *)to}));
  return case_fetch(c, to);
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
    const double *packed = case_input(&c, data.array[OP_LOCAL], op_count(&c, OP_LOCAL));
    double *differences = differences_of(&c, packed);
    check(&c, &data, (kg_local){data.array[OP_LOCAL], KG_DOUBLE, KG_LOCAL_PACKED}, 0.0);
    check(&c, &data, (kg_local){differences, KG_SINGLE, KG_LOCAL_DIFFERENCES}, 9.0 * FLT_EPSILON);
    free(differences);
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
    const size_t count = op_reduced_count(&c);
    double *single = case_output(&c, (count + 1) / 2);
    must(ctx, kg_round(ctx, &(kg_round_args){.n = (int64_t)count,
                                             .from = op_reduced(&c, &data, NULL),
                                             .to = (float *)single}));
    double *reduced = case_fetch(&c, single);
    check(&c, &data, (kg_local){reduced, KG_SINGLE, KG_LOCAL_REDUCED, c.layout.host.side_edge},
          2 * FLT_EPSILON / DBL_EPSILON * rounding(c.size.n_trace));
    free(reduced);
    op_free(&data);
    case_destroy(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_of_packed_matrices_and_of_differences_are_those_of_k_e),
      cmocka_unit_test(reduced_matrices_in_single_precision_have_every_entry_of_k_e),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
