// The ELL matrix against a dense assembly from the same random local matrices, and its product
// against the dense and the matrix-free one.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "context.h"
#include "ell_problem.h"

static const int awkward_sizes[] = {33, 257, 1, 2, 31, 32};
enum { N_SIZES = sizeof awkward_sizes / sizeof *awkward_sizes };

/// Call `check` for every size, order 1..5 and mix of boundary conditions.
static void for_all_problems(void (*check)(ell_problem *))
{
  const int n_sizes = test_is_quick() ? 2 : N_SIZES, last = test_is_quick() ? 2 : 5;
  for (int s = 0; s < n_sizes; ++s)
    for (int order = 1; order <= last; ++order)
      for (int boundary = 0; boundary < N_BOUNDARIES; ++boundary) {
        ell_problem p;
        ell_problem_create(&p, ctx, awkward_sizes[s], order, (enum boundary)boundary);
        check(&p);
        ell_problem_destroy(&p);
      }
}

static void check_entries(ell_problem *p)
{
  const int64_t rows = p->matrix.rows;
  char *seen = malloc((size_t)p->columns);
  assert_non_null(seen);
  for (int64_t row = 0; row < rows; ++row) {
    memset(seen, 0, (size_t)p->columns);
    for (int k = 0; k < p->matrix.width; ++k) {
      const int32_t column = p->column[k * p->matrix.stride + row];
      const double value = p->value[k * p->matrix.stride + row];
      if (column < 0) {
        assert_int_equal(column, -1);
        assert_true(value == 0.0);
        continue;
      }
      assert_true(column < p->columns && !seen[column]);
      seen[column] = 1;
      assert_true(value == p->dense[row * p->columns + column]);
    }
    for (int64_t j = 0; j < p->columns; ++j)
      assert_true(seen[j] || p->dense[row * p->columns + j] == 0.0);
  }
  free(seen);
}

static void entries_are_those_of_a_dense_assembly_bit_for_bit(void **state)
{
  (void)state;
  for_all_problems(check_entries);
}

static void check_sentinels(ell_problem *p)
{
  const int m = p->size.n_edge;
  for (int64_t row = 0; row < p->matrix.stride; ++row) {
    const bool exists = row < p->matrix.rows;
    const bool boundary = exists && p->layout.host.edge_sides[2 * (row / m) + 1] == KG_NO_SIDE;
    const int present = !exists ? 0 : boundary ? 3 * m : 5 * m;
    for (int k = 0; k < p->matrix.width; ++k)
      assert_int_equal(p->column[k * p->matrix.stride + row] >= 0, k < present);
  }
}

static void rows_have_five_blocks_on_interior_and_three_on_boundary_edges(void **state)
{
  (void)state;
  for_all_problems(check_sentinels);
}

static void check_block_order(ell_problem *p)
{
  const int m = p->size.n_edge;
  const uint32_t *side_edge = p->layout.host.side_edge;
  for (int64_t row = 0; row < p->matrix.rows; row += m) {
    const kg_side *sides = p->layout.host.edge_sides + 2 * (row / m);
    assert_int_equal(p->column[row], row);
    int q = 1;
    for (int s = 0; s < 2 && sides[s] != KG_NO_SIDE; ++s)
      for (int l = 0; l < 3; ++l) {
        if (l == kg_side_facet(sides[s])) continue;
        const int32_t e = kg_side_element(sides[s]);
        const size_t at = ((size_t)(e / KG_LANES) * 3 + (size_t)l) * KG_LANES + e % KG_LANES;
        assert_int_equal(p->column[(q++ * m) * p->matrix.stride + row], (side_edge[at] >> 1) * m);
      }
  }
}

static void blocks_are_the_own_edge_then_those_of_the_lower_element(void **state)
{
  (void)state;
  for_all_problems(check_block_order);
}

static void check_products(ell_problem *p)
{
  double *x = ell_problem_vector(p, true);
  const pass_state running = {0};
  ell_product ell = ell_problem_apply(p, x, NULL);
  ell_product free_of_matrix = ell_problem_apply_matrix_free(p, x, &running);
  for (int64_t row = 0; row < p->matrix.rows; ++row) {
    double exact = 0.0;
    for (int64_t j = 0; j < p->columns; ++j) exact += p->dense[row * p->columns + j] * x[j];
    const double bound = ell_problem_rounding(p, row, x);
    assert_true(fabs(ell.y[row] - exact) <= bound);
    assert_true(fabs(ell.y[row] - free_of_matrix.y[row]) <= bound);
  }
  free(x);
  free(ell.y);
  free(free_of_matrix.y);
}

static void product_is_that_of_the_dense_and_of_the_matrix_free_operator(void **state)
{
  (void)state;
  for_all_problems(check_products);
}

static void check_dot(ell_problem *p)
{
  ell_problem_check_dot(p, ell_problem_apply);
}

static void p_ap_is_that_of_the_matrix_free_operator(void **state)
{
  (void)state;
  for_all_problems(check_dot);
}

static void results_do_not_depend_on_run_or_threads(void **state)
{
  (void)state;
  ell_problem_check_repeatable(ell_problem_apply);
}

static void nothing_happens_after_a_stop(void **state)
{
  (void)state;
  ell_problem_check_stopped(ctx, ell_problem_apply);
}

static void an_indefinite_matrix_has_a_negative_sum(void **state)
{
  (void)state;
  ell_problem_check_indefinite(ctx, ell_problem_apply);
}

static void a_nan_reaches_the_sum_and_its_neighbours_only(void **state)
{
  (void)state;
  ell_problem p;
  ell_problem_create(&p, ctx, 33, 2, ALL_NEUMANN);
  double *x = ell_problem_vector(&p, true);
  x[0] = NAN;  // the word that missing entries load
  const pass_state running = {0};
  ell_product result = ell_problem_apply(&p, x, &running);
  assert_true(isnan(result.state.dot));
  for (int64_t row = 0; row < p.matrix.rows; ++row)
    assert_int_equal(isnan(result.y[row]), p.dense[row * p.columns] != 0.0);
  free(x);
  free(result.y);
  ell_problem_destroy(&p);
}

static void too_little_work_memory_is_refused(void **state)
{
  (void)state;
  ell_problem p;
  ell_problem_create(&p, ctx, 33, 2, MIXED);
  kg_ell_assemble_args args = {.batch = p.batch, .matrix = p.matrix};
  size_t needed;
  must(p.ctx, kg_ell_work_bytes(p.ctx, &p.layout.count, &needed));
  args.work_bytes = needed - 1;
  assert_int_equal(kg_ell_assemble(p.ctx, &args), KEDGE_ERR_INTERNAL);
  char expected[128];
  snprintf(expected, sizeof expected, "the ELL assembly got %zu bytes of work memory and needs %zu",
           needed - 1, needed);
  assert_non_null(strstr(kedge_context_error(p.ctx), expected));
  ell_problem_destroy(&p);
}

static void a_matrix_of_another_shape_is_refused(void **state)
{
  (void)state;
  ell_problem p;
  ell_problem_create(&p, ctx, 33, 2, MIXED);
  kg_ell_assemble_args args = {.batch = p.batch, .matrix = p.matrix};
  args.matrix.rows -= 1;
  assert_int_equal(kg_ell_assemble(p.ctx, &args), KEDGE_ERR_INTERNAL);
  char expected[128];
  snprintf(expected, sizeof expected, "the ELL matrix is %lld x 15 where the trace needs %lld x 15",
           (long long)p.matrix.rows - 1, (long long)p.matrix.rows);
  assert_non_null(strstr(kedge_context_error(p.ctx), expected));
  ell_problem_destroy(&p);
}

static void columns_beyond_32_bits_are_refused(void **state)
{
  (void)state;
  ell_problem p;
  ell_problem_create(&p, ctx, 1, 1, MIXED);
  kg_ell_assemble_args args = {.batch = p.batch};
  args.batch.count.n_edges = args.batch.count.n_free = INT32_MAX / 2;
  args.matrix = kg_ell_shape(p.size.n_edge, &args.batch.count);
  assert_int_equal(kg_ell_assemble(p.ctx, &args), KEDGE_ERR_INTERNAL);  // the work memory is next
  args.batch.count.n_edges += 1;
  assert_int_equal(kg_ell_assemble(p.ctx, &args), KEDGE_ERR_UNSUPPORTED);
  assert_string_equal(kedge_context_error(p.ctx),
                      "the ELL matrix numbers its columns with 32 bits, too few for 2147483648 "
                      "trace unknowns: use the matrix-free operator");
  ell_problem_destroy(&p);
}

static void work_memory_is_known_for_any_counts(void **state)
{
  (void)state;
  ell_problem p;
  ell_problem_create(&p, ctx, 1, 1, MIXED);
  const int32_t elements[] = {0, 1, 1000, INT32_MAX / 3};
  size_t before = 0, bytes;
  for (size_t i = 0; i < sizeof elements / sizeof *elements; ++i) {
    const kg_trace_counts count = {.n_elements = elements[i],
                                   .n_sides = 3 * (int64_t)elements[i],
                                   .n_edges = elements[i] / 2 * 3};
    must(p.ctx, kg_ell_work_bytes(p.ctx, &count, &bytes));
    assert_true(bytes >= before && bytes % KG_ALIGNMENT == 0);
    assert_true(bytes >= 3 * (size_t)elements[i] * sizeof(int32_t));
    before = bytes;
  }
  ell_problem_destroy(&p);
}

/// Where rows fill whole lines, the priced bytes are the sizes of the arrays.
static void check_costs(ell_problem *p)
{
  if (p->matrix.rows != p->matrix.stride) return;
  const size_t arrays = ell_problem_entries(p) * (sizeof(int32_t) + sizeof(double)) +
                        (size_t)(p->columns + p->matrix.rows) * sizeof(double);
  assert_true(kg_ell_apply_cost(p->size.n_edge, &p->layout.count).bytes == (double)arrays);
  const double floor = (double)(p->layout.count.n_elements * p->size.n_packed) * sizeof(double) +
                       (double)ell_problem_entries(p) * (sizeof(int32_t) + sizeof(double));
  assert_true(kg_ell_assemble_cost(p->size.n_edge, &p->layout.count).bytes > floor);
}

static void an_application_costs_its_arrays_once(void **state)
{
  (void)state;
  for_all_problems(check_costs);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_are_those_of_a_dense_assembly_bit_for_bit),
      cmocka_unit_test(rows_have_five_blocks_on_interior_and_three_on_boundary_edges),
      cmocka_unit_test(blocks_are_the_own_edge_then_those_of_the_lower_element),
      cmocka_unit_test(product_is_that_of_the_dense_and_of_the_matrix_free_operator),
      cmocka_unit_test(p_ap_is_that_of_the_matrix_free_operator),
      cmocka_unit_test(results_do_not_depend_on_run_or_threads),
      cmocka_unit_test(nothing_happens_after_a_stop),
      cmocka_unit_test(an_indefinite_matrix_has_a_negative_sum),
      cmocka_unit_test(a_nan_reaches_the_sum_and_its_neighbours_only),
      cmocka_unit_test(too_little_work_memory_is_refused),
      cmocka_unit_test(a_matrix_of_another_shape_is_refused),
      cmocka_unit_test(columns_beyond_32_bits_are_refused),
      cmocka_unit_test(work_memory_is_known_for_any_counts),
      cmocka_unit_test(an_application_costs_its_arrays_once),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
