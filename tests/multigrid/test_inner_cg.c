// Steps of the conjugate gradients inside a coarse solver against those of a textbook.
#include <math.h>

#include "compare.h"
#include "context.h"
#include "matrix.h"
#include "precondition/amg/inner_cg.h"

enum { STEPS = 6 };

/// A is tridiagonal, M its inverse diagonal. Vectors are [row][vector].
static double diagonal(int64_t row)
{
  return 3.0 + (double)(row % 5);
}

static void multiply(int64_t rows, int K, const double *x, double *y)
{
  for (int64_t i = 0; i < rows * K; ++i) {
    const int64_t row = i / K;
    y[i] = diagonal(row) * x[i] - (row > 0 ? x[i - K] : 0.0) - (row + 1 < rows ? x[i + K] : 0.0);
  }
}

/// Vector 2 is zero.
static double right_side(int64_t i, int K)
{
  return K > 1 && i % K == 2 ? 0.0 : sin(1.0 + (double)i);
}

/// One vector, by the book.
static void textbook(int64_t rows, int K, int v, double *x)
{
  const size_t n = (size_t)rows;
  double *r = get(n, sizeof *r), *z = get(n, sizeof *z), *p = get(n, sizeof *p);
  double *ap = get(n, sizeof *ap), before = 0.0;
  for (int64_t i = 0; i < rows; ++i) {
    r[i] = right_side(i * K + v, K);
    x[i] = p[i] = 0.0;
  }
  for (int k = 0; k < STEPS; ++k) {
    double rz = 0.0, p_ap = 0.0;
    for (int64_t i = 0; i < rows; ++i) rz += r[i] * (z[i] = r[i] / diagonal(i));
    for (int64_t i = 0; i < rows; ++i) p[i] = z[i] + (before > 0.0 ? rz / before * p[i] : 0.0);
    multiply(rows, 1, p, ap);
    for (int64_t i = 0; i < rows; ++i) p_ap += p[i] * ap[i];
    for (int64_t i = 0; i < rows && p_ap > 0.0; ++i) {
      x[i] += rz / p_ap * p[i];
      r[i] -= rz / p_ap * ap[i];
    }
    before = rz;
  }
  free(r);
  free(z);
  free(p);
  free(ap);
}

/// What the host does between the passes: z = M r, and r - A p.
static void precondition(int64_t n, int K, const double *r, double *z)
{
  for (int64_t i = 0; i < n; ++i) z[i] = r[i] / diagonal(i / K);
}

/// Before the first step memory may hold anything.
static void fill_with_nan(double *on_device, size_t n)
{
  double *nan = get(n, sizeof *nan);
  for (size_t i = 0; i < n; ++i) nan[i] = NAN;
  must(ctx, kg_copy_in(ctx, on_device, nan, n * sizeof *nan));
  must(ctx, kg_sync(ctx));
  free(nan);
}

/// STEPS steps by the passes. On the device: r, x, z, p, r - A p, then sums and their parts.
static void by_passes(int64_t rows, int K, double *x)
{
  const int64_t n = rows * K;
  const size_t bytes = (size_t)n * sizeof(double);
  double *r = get((size_t)n, sizeof *r), *z = get((size_t)n, sizeof *z);
  double *p = get((size_t)n, sizeof *p), *next = get((size_t)n, sizeof *next);
  kg_buffer vectors, sums;
  must(ctx, kg_alloc(ctx, 5 * (size_t)n, sizeof(double), &vectors));
  must(ctx, kg_alloc(ctx, (size_t)K * (3 + KG_PIECES), sizeof(double), &sums));
  double *const on = vectors.data, *const sum = sums.data;
  kg_inner_cg_args a = {.n = n,
                        .r = on,
                        .x = on + n,
                        .z = on + 2 * n,
                        .p = on + 3 * n,
                        .next = on + 4 * n,
                        .p_ap = sum + 2 * K,
                        .sum = {.part = sum + 3 * K, .stride = 1, .parts = KG_PIECES},
                        .many = K > 1};
  const size_t n_sums = (size_t)K * (3 + KG_PIECES);
  fill_with_nan(on, 5 * (size_t)n);
  fill_with_nan(sum, n_sums);
  for (int64_t i = 0; i < n; ++i) r[i] = right_side(i, K);
  must(ctx, kg_copy_in(ctx, a.r, r, bytes));
  for (int k = 0; k < STEPS; ++k) {
    a.rz_before = a.rz;
    a.rz = a.sum.total = sum + k % 2 * K;
    precondition(n, K, r, z);
    must(ctx, kg_copy_in(ctx, on + 2 * n, z, bytes));
    must(ctx, kg_inner_cg_rz(ctx, &a));
    must(ctx, kg_inner_cg_direction(ctx, &a));
    must(ctx, kg_copy_out(ctx, p, a.p, bytes));
    must(ctx, kg_sync(ctx));
    multiply(rows, K, p, next);
    for (int64_t i = 0; i < n; ++i) next[i] = r[i] - next[i];
    must(ctx, kg_copy_in(ctx, on + 4 * n, next, bytes));
    a.sum.total = sum + 2 * K;
    must(ctx, kg_inner_cg_p_ap(ctx, &a));
    must(ctx, kg_inner_cg_update(ctx, &a));
    must(ctx, kg_copy_out(ctx, r, a.r, bytes));
    must(ctx, kg_sync(ctx));
  }
  must(ctx, kg_copy_out(ctx, x, a.x, bytes));
  must(ctx, kg_sync(ctx));
  kg_free(ctx, &vectors);
  kg_free(ctx, &sums);
  free(r);
  free(z);
  free(p);
  free(next);
}

static void steps_are_those_of_a_textbook_for_one_vector_and_for_many(void **state)
{
  (void)state;
  const int64_t sizes[] = {1, 2, 1023, 70001};
  for (int k = 0; k < 4; ++k)
    for (int K = 1; K <= KG_VECTORS; K += KG_VECTORS - 1) {
      const int64_t rows = sizes[k];
      double *x = get((size_t)(rows * K), sizeof *x), *exact = get((size_t)rows, sizeof *exact);
      by_passes(rows, K, x);
      for (int v = 0; v < K; ++v) {
        textbook(rows, K, v, exact);
        for (int64_t i = 0; i < rows; ++i) assert_at_most(fabs(x[i * K + v] - exact[i]), 1e-13);
      }
      free(x);
      free(exact);
    }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_are_those_of_a_textbook_for_one_vector_and_for_many)};
  return cmocka_run_group_tests_name("multigrid.inner_cg", tests, open_context, close_context);
}
