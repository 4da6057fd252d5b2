// Full local matrices against the packed ones, and their product against a dense assembly from the
// same random local matrices.
#include <math.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "context.h"
#include "ell_problem.h"

typedef struct shape {
  int elements, order;
} shape;

/// Every order, and sizes about the number of lanes.
static const shape shapes[] = {{1, 1},  {2, 2},  {31, 3},  {32, 4},  {33, 5}, {33, 6},  {33, 7},
                               {33, 8}, {33, 9}, {33, 10}, {33, 11}, {2, 12}, {257, 1}, {257, 3}};

static void for_all_problems(void (*check)(ell_problem *))
{
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; ++s)
    for (int boundary = test_is_quick() ? MIXED : 0; boundary < N_BOUNDARIES; ++boundary) {
      ell_problem p;
      ell_problem_create(&p, ctx, shapes[s].elements, shapes[s].order, (enum boundary)boundary);
      check(&p);
      ell_problem_destroy(&p);
    }
}

static void check_entries(ell_problem *p)
{
  double *full = ell_problem_full(p);
  const int m = p->size.n_edge, n = p->size.n_trace;
  for (int32_t e = 0; e < p->layout.count.n_elements; ++e)
    for (int row = 0; row < n; ++row)
      for (int j = 0; j < n; ++j) {
        const int packed = row >= j ? row * (row + 1) / 2 + j : j * (j + 1) / 2 + row;
        const size_t at = ((size_t)(e / KG_LANES) * p->size.n_packed + packed) * KG_LANES;
        const size_t to = (((size_t)e * 3 + row / m) * n + j) * m + row % m;
        assert_true(full[to] == p->local[at + e % KG_LANES]);
      }
  free(full);
}

static void full_matrices_have_every_entry_of_the_packed_ones(void **state)
{
  (void)state;
  for_all_problems(check_entries);
}

static void check_products(ell_problem *p)
{
  double *x = ell_problem_vector(p, true);
  ell_product plain = ell_problem_apply_plain(p, x, NULL);
  for (int64_t row = 0; row < p->matrix.rows; ++row) {
    double exact = 0.0;
    for (int64_t j = 0; j < p->columns; ++j) exact += p->dense[row * p->columns + j] * x[j];
    assert_true(fabs(plain.y[row] - exact) <= ell_problem_rounding(p, row, x));
  }
  free(x);
  free(plain.y);
}

static void product_is_that_of_the_dense_matrix(void **state)
{
  (void)state;
  for_all_problems(check_products);
}

static void check_dot(ell_problem *p)
{
  ell_problem_check_dot(p, ell_problem_apply_plain);
}

static void p_ap_is_that_of_the_operator_by_patches(void **state)
{
  (void)state;
  for_all_problems(check_dot);
}

static void bits_do_not_depend_on_run_or_threads(void **state)
{
  (void)state;
  ell_problem_check_repeatable(ell_problem_apply_plain);
}

static void nothing_happens_after_a_stop(void **state)
{
  (void)state;
  ell_problem_check_stopped(ctx, ell_problem_apply_plain);
}

static void an_indefinite_matrix_has_a_negative_sum(void **state)
{
  (void)state;
  ell_problem_check_indefinite(ctx, ell_problem_apply_plain);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(full_matrices_have_every_entry_of_the_packed_ones),
      cmocka_unit_test(product_is_that_of_the_dense_matrix),
      cmocka_unit_test(p_ap_is_that_of_the_operator_by_patches),
      cmocka_unit_test(bits_do_not_depend_on_run_or_threads),
      cmocka_unit_test(nothing_happens_after_a_stop),
      cmocka_unit_test(an_indefinite_matrix_has_a_negative_sum),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
