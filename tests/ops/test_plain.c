// Full local matrices against the packed ones, and their product against a dense assembly from the
// same random local matrices.
#include <math.h>
#include <stdlib.h>

#include "backend.h"
#include "cmocka_all.h"
#include "ell_problem.h"

typedef struct shape {
  int elements, order;
} shape;

/// Every order, and sizes about the number of lanes.
static const shape shapes[] = {{1, 1},  {2, 2},  {31, 3},  {32, 4},  {33, 5}, {33, 6},  {33, 7},
                               {33, 8}, {33, 9}, {33, 10}, {33, 11}, {2, 12}, {257, 1}, {257, 3}};

static void for_all_problems(void (*check)(ell_problem *, const double *full))
{
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; ++s)
    for (int boundary = test_is_quick() ? MIXED : 0; boundary < N_BOUNDARIES; ++boundary) {
      ell_problem p;
      ell_problem_create(&p, shapes[s].elements, shapes[s].order, (enum boundary)boundary, 2);
      double *full = ell_problem_full(&p);
      check(&p, full);
      free(full);
      ell_problem_destroy(&p);
    }
}

static void check_entries(ell_problem *p, const double *full)
{
  const int m = p->size.n_edge, n = p->size.n_trace;
  for (int32_t e = 0; e < p->layout.count.n_elements; ++e)
    for (int row = 0; row < n; ++row)
      for (int j = 0; j < n; ++j) {
        const int packed = row >= j ? row * (row + 1) / 2 + j : j * (j + 1) / 2 + row;
        const size_t at = ((size_t)(e / KG_LANES) * p->size.n_packed + packed) * KG_LANES;
        const size_t to = (((size_t)e * 3 + row / m) * n + j) * m + row % m;
        assert_true(full[to] == p->local[at + e % KG_LANES]);
      }
}

static void full_matrices_have_every_entry_of_the_packed_ones(void **state)
{
  (void)state;
  for_all_problems(check_entries);
}

static void check_products(ell_problem *p, const double *full)
{
  double *x = ell_problem_vector(p, true);
  ell_product plain = ell_problem_apply_plain(p, full, x, NULL);
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

static void check_dot(ell_problem *p, const double *full)
{
  if (p->matrix.rows == 0) return;
  double *x = ell_problem_vector(p, false);
  const kg_cg_state before = {.p_ap = NAN, .rz = 3.0, .iterations = 5, .stop = KG_CG_RUNNING};
  ell_product plain = ell_problem_apply_plain(p, full, x, &before);
  ell_product by_patches = ell_problem_apply_matrix_free(p, x, &before);
  ell_problem_check_dots(p, x, &before, &plain.state, &by_patches.state);
  free(x);
  free(plain.y);
  free(by_patches.y);
}

static void p_ap_is_that_of_the_operator_by_patches(void **state)
{
  (void)state;
  for_all_problems(check_dot);
}

static void bits_do_not_depend_on_run_or_threads(void **state)
{
  (void)state;
  const int threads[] = {1, 1, 3};
  ell_product first = {0};
  for (int run = 0; run < 3; ++run) {
    ell_problem p;
    ell_problem_create(&p, 257, 3, MIXED, threads[run]);
    double *x = ell_problem_vector(&p, false), *full = ell_problem_full(&p);
    const kg_cg_state running = {.stop = KG_CG_RUNNING};
    ell_product result = ell_problem_apply_plain(&p, full, x, &running);
    free(full);
    free(x);
    if (run == 0) {
      first = result;
    } else {
      assert_memory_equal(result.y, first.y, (size_t)p.matrix.rows * sizeof *first.y);
      assert_memory_equal(&result.state, &first.state, sizeof first.state);
      free(result.y);
    }
    ell_problem_destroy(&p);
  }
  free(first.y);
}

static void nothing_happens_after_a_stop(void **state)
{
  (void)state;
  ell_problem p;
  ell_problem_create(&p, 33, 2, MIXED, 2);
  double *x = ell_problem_vector(&p, true), *full = ell_problem_full(&p);
  const kg_cg_state stopped = {.p_ap = 0.25, .stop = KG_CG_CONVERGED};
  ell_product result = ell_problem_apply_plain(&p, full, x, &stopped);
  for (int64_t row = 0; row < p.matrix.rows; ++row) assert_true(isnan(result.y[row]));
  assert_memory_equal(&result.state, &stopped, sizeof stopped);
  free(x);
  free(full);
  free(result.y);
  ell_problem_destroy(&p);
}

static void an_indefinite_matrix_stops_the_iteration(void **state)
{
  (void)state;
  ell_problem p;
  ell_problem_create(&p, 33, 2, MIXED, 2);
  double *x = ell_problem_vector(&p, false), *full = ell_problem_full(&p);
  for (size_t k = 0; k < kg_trace_plain_count(p.size, &p.layout.count); ++k) full[k] = -full[k];
  const kg_cg_state running = {.stop = KG_CG_RUNNING};
  ell_product result = ell_problem_apply_plain(&p, full, x, &running);
  assert_true(result.state.p_ap < 0.0);
  assert_int_equal(result.state.stop, KG_CG_INDEFINITE);
  free(x);
  free(full);
  free(result.y);
  ell_problem_destroy(&p);
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
      cmocka_unit_test(an_indefinite_matrix_stops_the_iteration),
  };
  return cmocka_run_group_tests_name("ops.plain", tests, NULL, NULL);
}
