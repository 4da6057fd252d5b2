// The sparse matrices of the multigrid: products with vectors, transposes, products and inverses
// against dense computations.
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "grid.h"
#include "matrix.h"
#include "precondition/amg/csr_apply.h"
#include "precondition/amg/csr_transpose.h"
#include "precondition/amg/dense.h"
#include "precondition/amg/scan.h"

/// Rows of 0 to 9 random entries of single precision, one row with an entry in every column.
static fe_matrix random_matrix(uint64_t seed, int32_t n_rows, int32_t n_columns)
{
  fe_matrix m = {n_rows};
  m.row = get((size_t)n_rows + 1, sizeof *m.row);
  m.column = get((size_t)(10 * n_rows + n_columns), sizeof *m.column);
  m.value = get((size_t)(10 * n_rows + n_columns), sizeof *m.value);
  for (int32_t i = 0; i < n_rows; ++i) {
    const int32_t step = n_columns / 10 + 1;
    int32_t j = i == n_rows / 2 ? 0 : (int32_t)((1.0 + test_random(&seed)) * step);
    while (j < n_columns) {
      m.column[m.n_entries] = j;
      m.value[m.n_entries++] = (double)(float)test_random(&seed);
      j += i == n_rows / 2 ? 1 : step + (int32_t)((1.0 + test_random(&seed)) * step);
    }
    m.row[i + 1] = m.n_entries;
  }
  return m;
}

/// A random matrix whose entries are whole parts of one, as prolongations have them.
static fe_matrix random_parts(uint64_t seed, int32_t n_rows, int32_t n_columns)
{
  fe_matrix m = random_matrix(seed, n_rows, n_columns);
  for (int32_t e = 0; e < m.n_entries; ++e)
    m.value[e] = rint(fabs(m.value[e]) * KG_CSR_PARTS) / KG_CSR_PARTS;
  return m;
}

static const int32_t sizes[] = {1, 2, 31, 32, 33, 127, 128, 129, 3000, 31000, 150001};
/// The first DENSE sizes are compared with dense matrices.
enum { SIZES = sizeof sizes / sizeof *sizes, DENSE = 8 };

static double *upload(const double *values, int32_t n, kg_buffer *out)
{
  must(ctx, kg_upload(ctx, values, (size_t)n, sizeof *values, out));
  return out->data;
}

/// Vectors of one call, each of them K side by side; what `expected` makes of the sum of number i.
typedef struct vectors {
  const double *x, *y, *b, *diagonal, *previous;
  double momentum, weight;
  int K;
} vectors;
typedef double expectation(const vectors *v, int32_t i, double sum);

static double step_of(const vectors *v, int32_t i, double sum)
{
  const double previous = v->previous ? v->previous[i] : 0.0;
  const double before = v->momentum * (v->x[i] - previous);
  return v->x[i] + before + v->weight * ((v->b[i] - sum) / v->diagonal[i / v->K] - v->x[i]);
}
static double residual_of(const vectors *v, int32_t i, double sum)
{
  return v->b[i] - sum - v->diagonal[i / v->K] * v->x[i];
}
static double restricted_of(const vectors *v, int32_t i, double sum)
{
  return (void)v, (void)i, sum;
}
static double prolonged_of(const vectors *v, int32_t i, double sum)
{
  return v->y[i] + sum;
}
static double scaled_of(const vectors *v, int32_t i, double sum)
{
  return v->x[i] + sum / v->diagonal[i / v->K];
}

/// The products of a matrix with each of K vectors that lie side by side.
static double *multiply_each(const fe_matrix *m, const double *x, int K)
{
  const size_t n = (size_t)m->n;
  double *sum = get(n * (size_t)K, sizeof *sum), *one = get(2 * n, sizeof *one);
  for (int k = 0; k < K; ++k) {
    for (size_t i = 0; i < n; ++i) one[i] = x[i * (size_t)K + (size_t)k];
    fe_multiply(m, one, one + n);
    for (size_t i = 0; i < n; ++i) sum[i * (size_t)K + (size_t)k] = one[n + i];
  }
  free(one);
  return sum;
}

static void check_product(const fe_matrix *m, kg_csr_rule rule, expectation *expected,
                          bool with_previous, bool many)
{
  const int K = many ? KG_VECTORS : 1;
  const int32_t n = m->n * K;
  double *v[4];
  kg_buffer device[5];
  for (int k = 0; k < 4; ++k) v[k] = randoms(10u + (uint64_t)k, n);
  for (int32_t i = 0; i < n; ++i) v[3][i] += 2.0;
  double *sum = multiply_each(m, v[0], K), *found = get((size_t)n, sizeof *found);
  double *found_z = get((size_t)n, sizeof *found_z);
  const vectors host = {v[0], v[1], v[2], v[3], with_previous ? v[1] : NULL, 0.3, 0.7, K};
  device_matrix matrix;
  const kg_csr_form form = {.parts = rule == KG_CSR_RESTRICT || rule == KG_CSR_PROLONG};
  device_matrix_plain(ctx, m, form, &matrix);
  kg_csr_apply_args args = {.matrix = matrix.csr, .momentum = 0.3, .weight = 0.7, .many = many};
  args.x = upload(v[0], n, &device[0]);
  args.y = upload(v[1], n, &device[1]);
  args.b = upload(v[2], n, &device[2]);
  args.diagonal = args.matrix.diagonal = upload(v[3], m->n, &device[3]);
  args.z = upload(v[0], n, &device[4]);
  args.previous = with_previous ? args.y : NULL;
  must(ctx, kg_csr_apply(ctx, rule, &args));
  must(ctx, kg_copy_out(ctx, found, args.y, (size_t)n * sizeof *found));
  must(ctx, kg_copy_out(ctx, found_z, args.z, (size_t)n * sizeof *found_z));
  must(ctx, kg_sync(ctx));
  for (int32_t i = 0; i < n; ++i) {
    const int32_t row = i / K;
    const double terms = m->row[row + 1] - m->row[row], exact = expected(&host, i, sum[i]);
    assert_at_most(fabs(found[i] - exact), rounding(terms) * (terms + 4.0));
    const double z = rule == KG_CSR_RESTRICT ? 0.7 * sum[i] / v[3][row] : v[0][i];
    assert_at_most(fabs(found_z[i] - z), rounding(terms) * (terms + 4.0));
  }
  for (int k = 0; k < 5; ++k) kg_free(ctx, &device[k]);
  for (int k = 0; k < 4; ++k) free(v[k]);
  free(sum);
  free(found);
  free(found_z);
  device_matrix_destroy(ctx, &matrix);
}

static void check_products(int32_t n, bool many)
{
  fe_matrix m = random_matrix(3, n, n), p = random_parts(4, n, n);
  check_product(&m, KG_CSR_STEP, step_of, true, many);
  check_product(&m, KG_CSR_STEP, step_of, false, many);
  check_product(&m, KG_CSR_RESIDUAL, residual_of, false, many);
  check_product(&m, KG_CSR_SCALED, scaled_of, false, many);
  check_product(&p, KG_CSR_RESTRICT, restricted_of, false, many);
  check_product(&p, KG_CSR_PROLONG, prolonged_of, false, many);
  fe_matrix_free(&m);
  fe_matrix_free(&p);
}

static void products_with_vectors_are_those_of_their_formulas(void **state)
{
  (void)state;
  for (int s = 0; s < SIZES - (test_is_quick() ? 1 : 0); ++s) check_products(sizes[s], false);
}

static void products_with_several_vectors_are_those_of_each(void **state)
{
  (void)state;
  for (int s = 0; s < SIZES - (test_is_quick() ? 1 : 0); ++s) check_products(sizes[s], true);
}

static void transposes_have_every_entry_in_ascending_columns(void **state)
{
  (void)state;
  for (int s = 0; s < DENSE; ++s) {
    const int32_t n = sizes[s], n_columns = 2 * n + 3;
    fe_matrix m = random_parts(5, n, n_columns), t;
    device_matrix matrix;
    kg_arena arena = {0};
    kg_csr transpose;
    device_matrix_plain(ctx, &m, (kg_csr_form){.parts = true}, &matrix);
    must(ctx, kg_csr_transpose(ctx, &matrix.csr, n_columns, &arena, &arena, &transpose));
    fe_matrix_fetch(ctx, &transpose, &t);
    assert_int_equal(t.n, n_columns);
    assert_int_equal(t.row[t.n], m.n_entries);
    double *dense = fe_dense(&m, n_columns), *other = fe_dense(&t, n);
    for (int32_t i = 0; i < n; ++i)
      for (int32_t j = 0; j < n_columns; ++j)
        assert_true(dense[i * n_columns + j] == other[j * n + i]);
    for (int32_t j = 0; j < n_columns; ++j)
      for (int32_t e = t.row[j] + 1; e < t.row[j + 1]; ++e)
        assert_true(t.column[e - 1] < t.column[e]);
    free(dense);
    free(other);
    fe_matrix_free(&m);
    fe_matrix_free(&t);
    kg_arena_free(ctx, &arena);
    device_matrix_destroy(ctx, &matrix);
  }
}

/// c = a b, but for `unit` of every entry beside the diagonal; rows have the same sums in any case.
static void check_dense_product(const fe_matrix *a, const fe_matrix *b, const fe_matrix *c,
                                int32_t n_columns, double unit)
{
  double *da = fe_dense(a, b->n), *db = fe_dense(b, n_columns), *dc = fe_dense(c, n_columns);
  for (int32_t i = 0; i < a->n; ++i) {
    double row = 0.0, row_size = 0.0, lost = 0.0;
    for (int32_t j = 0; j < n_columns; ++j) {
      double sum = 0.0, size = 0.0;
      for (int32_t k = 0; k < b->n; ++k) {
        sum += da[i * b->n + k] * db[k * n_columns + j];
        size += fabs(da[i * b->n + k] * db[k * n_columns + j]);
      }
      const double found = dc[i * n_columns + j];
      if (i != j || unit == 0.0)
        assert_at_most(fabs(found - sum), rounding(b->n) * size + unit * fabs(sum));
      row += found - sum;
      row_size += size;
      lost += unit * fabs(sum);
    }
    if (unit > 0.0) assert_at_most(fabs(row), rounding(b->n) * (row_size + lost));
  }
  free(da);
  free(db);
  free(dc);
}

/// The product, made and fetched.
static fe_matrix product_of(const kg_csr *a, const kg_csr *b, bool square)
{
  const kg_csr_make_args args = {
      .source = KG_CSR_PRODUCT, .a = *a, .b = *b, .square = square, .wide = !square};
  kg_arena arena = {0};
  kg_scan_work work;
  kg_csr made;
  fe_matrix found;
  must(ctx, kg_scan_take(ctx, &arena, a->n_rows, &work));
  must(ctx, kg_csr_make(ctx, &args, &work, &arena, &made));
  fe_matrix_fetch(ctx, &made, &found);
  kg_arena_free(ctx, &arena);
  return found;
}

static void check_columns(const fe_matrix *c, bool square)
{
  for (int32_t i = 0; i < c->n; ++i) {
    if (square) assert_int_equal(c->column[c->row[i]], i);
    for (int32_t e = c->row[i]; e < c->row[i + 1]; ++e)
      for (int32_t f = c->row[i]; f < e; ++f) assert_true(c->column[e] != c->column[f]);
  }
}

/// Entries of a product that are not wide are rounded once.
static const double unit = 0x1p-24;

/// A P, which stays double, and P^T (A P).
static void products_of_matrices_are_those_of_dense_ones(void **state)
{
  (void)state;
  const kg_csr_form values = {0}, parts = {.parts = true}, wide = {.wide = true};
  for (int s = 0; s < DENSE; ++s)
    for (int square = 0; square < 2; ++square) {
      const int32_t n = sizes[s], middle = n + 7;
      fe_matrix a = square ? random_parts(5, n, middle) : random_matrix(5, n, middle);
      fe_matrix b = square ? random_matrix(6, middle, n) : random_parts(6, middle, n);
      device_matrix device[2];
      device_matrix_plain(ctx, &a, square ? parts : values, &device[0]);
      device_matrix_plain(ctx, &b, square ? wide : parts, &device[1]);
      fe_matrix c = product_of(&device[0].csr, &device[1].csr, square);
      check_dense_product(&a, &b, &c, n, square ? unit : 0.0);
      check_columns(&c, square);
      fe_matrix_free(&a);
      fe_matrix_free(&b);
      fe_matrix_free(&c);
      for (int k = 0; k < 2; ++k) device_matrix_destroy(ctx, &device[k]);
    }
}

static void a_diagonal_apart_takes_part_in_products(void **state)
{
  (void)state;
  for (int n = 2; n < 16; n += 6) {
    fe_matrix a;
    fe_grid_matrix((fe_grid){n, n, .height = 1.0, .jitter = 0.4}, &a);
    fe_matrix b = random_parts(6, a.n, a.n + 3);
    device_matrix device[2];
    device_matrix_create(ctx, &a, &device[0]);
    device_matrix_plain(ctx, &b, (kg_csr_form){.parts = true}, &device[1]);
    fe_matrix_round(&a);
    fe_matrix c = product_of(&device[0].csr, &device[1].csr, false);
    check_dense_product(&a, &b, &c, a.n + 3, 0.0);
    fe_matrix_free(&a);
    fe_matrix_free(&b);
    fe_matrix_free(&c);
    for (int k = 0; k < 2; ++k) device_matrix_destroy(ctx, &device[k]);
  }
}

/// The columns of the inverse are its products with those of the identity; A takes them back.
static void check_inverse(const fe_matrix *m, const double *inverse)
{
  const size_t n = (size_t)m->n;
  kg_buffer memory;
  double *unit_vector = get(n, sizeof *unit_vector), *column = get(n, sizeof *column);
  double *again = get(n, sizeof *again);
  must(ctx, kg_alloc(ctx, 2 * n, sizeof(double), &memory));
  double *const x = memory.data, *const y = x + n;
  for (size_t i = 0; i < n; ++i) {
    memset(unit_vector, 0, n * sizeof *unit_vector);
    unit_vector[i] = 1.0;
    must(ctx, kg_copy_in(ctx, x, unit_vector, n * sizeof *x));
    must(ctx, kg_dense_apply(ctx, m->n, inverse, x, y, false));
    must(ctx, kg_copy_out(ctx, column, y, n * sizeof *y));
    must(ctx, kg_sync(ctx));
    fe_multiply(m, column, again);
    for (size_t j = 0; j < n; ++j)
      assert_at_most(fabs(again[j] - (i == j ? 1.0 : 0.0)), (double)n * rounding(m->n));
  }
  free(unit_vector);
  free(column);
  free(again);
  kg_free(ctx, &memory);
}

static void dense_inverses_solve_what_the_matrix_made(void **state)
{
  (void)state;
  // Rows of less than a block of pivots, of a full one, and of one that is not full at the end.
  const fe_grid grids[] = {{2, 2}, {3, 3}, {2, 32}, {2, 33}, {2, 34}, {9, 9}, {18, 17}, {33, 33}};
  for (int k = 0; k < (test_is_quick() ? 6 : 8); ++k) {
    const int n = grids[k].ny;
    fe_matrix m;
    fe_grid_matrix((fe_grid){grids[k].nx, n, .height = 1.0, .jitter = 0.3}, &m);
    device_matrix matrix;
    kg_buffer memory;
    const size_t square = (size_t)m.n * (size_t)m.n, kept = kg_dense_entries(m.n);
    device_matrix_create(ctx, &m, &matrix);
    fe_matrix_round(&m);
    must(ctx, kg_alloc(ctx, kept + square + kg_dense_work(m.n) + 1, sizeof(double), &memory));
    double *const inverse = memory.data, *const work = inverse + kept + square;
    must(ctx,
         kg_dense_inverse(ctx, &(kg_dense_inverse_args){matrix.csr, inverse, inverse + kept, work,
                                                        (int32_t *)(work + kg_dense_work(m.n))}));
    check_inverse(&m, inverse);
    kg_free(ctx, &memory);
    device_matrix_destroy(ctx, &matrix);
    fe_matrix_free(&m);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_with_vectors_are_those_of_their_formulas),
      cmocka_unit_test(products_with_several_vectors_are_those_of_each),
      cmocka_unit_test(transposes_have_every_entry_in_ascending_columns),
      cmocka_unit_test(products_of_matrices_are_those_of_dense_ones),
      cmocka_unit_test(a_diagonal_apart_takes_part_in_products),
      cmocka_unit_test(dense_inverses_solve_what_the_matrix_made),
  };
  return cmocka_run_group_tests_name("multigrid.matrices", tests, open_context, close_context);
}
