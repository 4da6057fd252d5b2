// The sparse matrices of the multigrid: products with vectors, transposes, products and inverses
// against dense computations; aggregates and prolongations against their definition.
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "grid.h"
#include "multigrid/aggregate.h"
#include "multigrid/csr_apply.h"
#include "multigrid/csr_transpose.h"
#include "multigrid/dense.h"

static void *get(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

static double *randoms(uint64_t seed, int32_t n)
{
  double *v = get((size_t)n, sizeof *v);
  for (int32_t i = 0; i < n; ++i) v[i] = test_random(&seed);
  return v;
}

/// Rows of 0 to 9 random entries, one row with an entry in every column.
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
      m.value[m.n_entries++] = test_random(&seed);
      j += i == n_rows / 2 ? 1 : step + (int32_t)((1.0 + test_random(&seed)) * step);
    }
    m.row[i + 1] = m.n_entries;
  }
  return m;
}

static const int32_t sizes[] = {1, 2, 31, 32, 33, 127, 128, 129, 3000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static double *upload(const double *values, int32_t n, kg_buffer *out)
{
  must(ctx, kg_upload(ctx, values, (size_t)n, sizeof *values, out));
  return out->data;
}

typedef kedge_status product(kedge_context *, const kg_csr_apply_args *);

/// Vectors of one call; what `expected` makes of the sum of row i.
typedef struct vectors {
  const double *x, *y, *b, *inverse, *previous;
  double momentum, weight;
} vectors;
typedef double expectation(const vectors *v, int32_t i, double sum);

static double step_of(const vectors *v, int32_t i, double sum)
{
  const double previous = v->previous ? v->previous[i] : 0.0;
  return v->x[i] + v->momentum * (v->x[i] - previous) + v->weight * v->inverse[i] * (v->b[i] - sum);
}
static double residual_of(const vectors *v, int32_t i, double sum)
{
  return v->b[i] - sum;
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
  return v->inverse[i] * sum;
}

static void check_product(const fe_matrix *m, product *call, expectation *expected,
                          bool with_previous)
{
  const int32_t n = m->n;
  double *v[4];
  kg_buffer device[5];
  for (int k = 0; k < 4; ++k) v[k] = randoms(10u + (uint64_t)k, n);
  double *sum = get((size_t)n, sizeof *sum), *found = get((size_t)n, sizeof *found);
  double *found_z = get((size_t)n, sizeof *found_z);
  const vectors host = {v[0], v[1], v[2], v[3], with_previous ? v[1] : NULL, 0.3, 0.7};
  device_matrix matrix;
  device_matrix_create(ctx, m, &matrix);
  kg_csr_apply_args args = {.matrix = matrix.csr, .momentum = 0.3, .weight = 0.7};
  args.x = upload(v[0], n, &device[0]);
  args.y = upload(v[1], n, &device[1]);
  args.b = upload(v[2], n, &device[2]);
  args.inverse = upload(v[3], n, &device[3]);
  args.z = upload(v[0], n, &device[4]);
  args.previous = with_previous ? args.y : NULL;
  must(ctx, call(ctx, &args));
  must(ctx, kg_copy_out(ctx, found, args.y, (size_t)n * sizeof *found));
  must(ctx, kg_copy_out(ctx, found_z, args.z, (size_t)n * sizeof *found_z));
  must(ctx, kg_sync(ctx));
  fe_multiply(m, v[0], sum);
  for (int32_t i = 0; i < n; ++i) {
    const double terms = m->row[i + 1] - m->row[i], exact = expected(&host, i, sum[i]);
    assert_at_most(fabs(found[i] - exact), rounding(terms) * (terms + 4.0));
    const double z = call == kg_csr_restrict ? 0.7 * v[3][i] * sum[i] : v[0][i];
    assert_at_most(fabs(found_z[i] - z), rounding(terms) * (terms + 4.0));
  }
  for (int k = 0; k < 5; ++k) kg_free(ctx, &device[k]);
  for (int k = 0; k < 4; ++k) free(v[k]);
  free(sum);
  free(found);
  free(found_z);
  device_matrix_destroy(ctx, &matrix);
}

static void products_with_vectors_are_those_of_their_formulas(void **state)
{
  (void)state;
  for (int s = 0; s < SIZES; ++s) {
    fe_matrix m = random_matrix(3, sizes[s], sizes[s]);
    check_product(&m, kg_csr_step, step_of, true);
    check_product(&m, kg_csr_step, step_of, false);
    check_product(&m, kg_csr_residual, residual_of, false);
    check_product(&m, kg_csr_restrict, restricted_of, false);
    check_product(&m, kg_csr_prolong, prolonged_of, false);
    check_product(&m, kg_csr_scaled, scaled_of, false);
    fe_matrix_free(&m);
  }
}

static void transposes_have_every_entry_in_ascending_columns(void **state)
{
  (void)state;
  for (int s = 0; s < SIZES - 1; ++s) {
    const int32_t n = sizes[s], n_columns = 2 * n + 3;
    fe_matrix m = random_matrix(5, n, n_columns), t;
    device_matrix matrix;
    kg_csr_owned transpose = {0};
    device_matrix_create(ctx, &m, &matrix);
    must(ctx, kg_csr_transpose(ctx, &matrix.csr, n_columns, &transpose));
    fe_matrix_fetch(ctx, &transpose.csr, &t);
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
    kg_free(ctx, &transpose.memory);
    device_matrix_destroy(ctx, &matrix);
  }
}

static void check_dense_product(const fe_matrix *a, const fe_matrix *b, const fe_matrix *c,
                                int32_t n_columns)
{
  double *da = fe_dense(a, b->n), *db = fe_dense(b, n_columns), *dc = fe_dense(c, n_columns);
  for (int32_t i = 0; i < a->n; ++i)
    for (int32_t j = 0; j < n_columns; ++j) {
      double sum = 0.0, size = 0.0;
      for (int32_t k = 0; k < b->n; ++k) {
        sum += da[i * b->n + k] * db[k * n_columns + j];
        size += fabs(da[i * b->n + k] * db[k * n_columns + j]);
      }
      assert_at_most(fabs(dc[i * n_columns + j] - sum), rounding(b->n) * size);
    }
  free(da);
  free(db);
  free(dc);
}

static void products_of_matrices_are_those_of_dense_ones(void **state)
{
  (void)state;
  for (int s = 0; s < SIZES - 1; ++s) {
    const int32_t n = sizes[s], middle = n + 7;
    fe_matrix a = random_matrix(5, n, middle), b = random_matrix(6, middle, n), c;
    device_matrix device[2];
    kg_csr_owned made = {0};
    device_matrix_create(ctx, &a, &device[0]);
    device_matrix_create(ctx, &b, &device[1]);
    const kg_csr_make_args args = {
        .source = KG_CSR_PRODUCT, .a = device[0].csr, .b = device[1].csr, .square = true};
    must(ctx, kg_csr_make(ctx, &args, &made));
    fe_matrix_fetch(ctx, &made.csr, &c);
    check_dense_product(&a, &b, &c, n);
    for (int32_t i = 0; i < n; ++i) {
      assert_int_equal(c.column[c.row[i]], i);
      for (int32_t e = c.row[i]; e < c.row[i + 1]; ++e)
        for (int32_t f = c.row[i]; f < e; ++f) assert_true(c.column[e] != c.column[f]);
    }
    fe_matrix_free(&a);
    fe_matrix_free(&b);
    fe_matrix_free(&c);
    kg_free(ctx, &made.memory);
    for (int k = 0; k < 2; ++k) device_matrix_destroy(ctx, &device[k]);
  }
}

static void dense_inverses_solve_what_the_matrix_made(void **state)
{
  (void)state;
  for (int n = 2; n <= 33;
       n += n < 8 ? 1 : 25) {  // 1 to 1024 rows, blocks of pivots that are not full
    fe_matrix m;
    fe_grid_matrix((fe_grid){n, n, .height = 1.0, .jitter = 0.3}, &m);
    device_matrix matrix;
    kg_buffer memory;
    const size_t square = (size_t)m.n * (size_t)m.n;
    device_matrix_create(ctx, &m, &matrix);
    must(ctx, kg_alloc(ctx, square + kg_dense_work(m.n) + 1, sizeof(double), &memory));
    double *const inverse = memory.data;
    must(ctx, kg_dense_inverse(ctx, &(kg_dense_inverse_args){
                                        matrix.csr, inverse, inverse + square,
                                        (int32_t *)(inverse + square + kg_dense_work(m.n))}));
    double *found = get(square, sizeof *found), *row = get((size_t)m.n, sizeof *row);
    must(ctx, kg_copy_out(ctx, found, inverse, square * sizeof *found));
    must(ctx, kg_sync(ctx));
    for (int32_t i = 0; i < m.n; ++i) {
      fe_multiply(&m, found + (size_t)i * (size_t)m.n, row);  // column i of A A^-1, by symmetry
      for (int32_t j = 0; j < m.n; ++j) {
        assert_at_most(fabs(row[j] - (i == j ? 1.0 : 0.0)), n * n * rounding(m.n));
        assert_true(found[i * m.n + j] == found[j * m.n + i]);
      }
    }
    free(found);
    free(row);
    kg_free(ctx, &memory);
    device_matrix_destroy(ctx, &matrix);
    fe_matrix_free(&m);
  }
}

/// The aggregation of a matrix, with copies on the host.
typedef struct aggregation {
  fe_matrix m;
  device_matrix device;
  kg_buffer memory;
  kg_aggregate_args args;
  int32_t n_aggregates;
  int32_t *strong, *aggregate;
} aggregation;

enum { THETA_PERCENT = 8 };

static void aggregation_create(const fe_matrix *m, aggregation *a)
{
  const size_t n = (size_t)m->n, entries = (size_t)m->n_entries, word = sizeof(uint64_t);
  *a = (aggregation){.m = *m, .strong = get(entries, 4), .aggregate = get(n, 4)};
  device_matrix_create(ctx, m, &a->device);
  must(ctx, kg_alloc(ctx, 6 * n + entries + 2, word, &a->memory));
  uint64_t *const w = a->memory.data;
  a->args = (kg_aggregate_args){.matrix = a->device.csr,
                                .threshold = 1e-4 * THETA_PERCENT * THETA_PERCENT,
                                .key = w,
                                .key_near = w + n,
                                .begin = (int64_t *)(w + 2 * n),
                                .length = (int32_t *)(w + 3 * n + 1),
                                .aggregate = (int32_t *)(w + 4 * n + 1),
                                .undecided = (int32_t *)(w + 5 * n + 1),
                                .strong = (int32_t *)(w + 5 * n + 2)};
  must(ctx, kg_aggregate(ctx, &a->args, &a->n_aggregates));
  must(ctx, kg_copy_out(ctx, a->strong, a->args.strong, entries * sizeof *a->strong));
  must(ctx, kg_copy_out(ctx, a->aggregate, a->args.aggregate, n * sizeof *a->aggregate));
  must(ctx, kg_sync(ctx));
}

static void aggregation_destroy(aggregation *a)
{
  free(a->strong);
  free(a->aggregate);
  kg_free(ctx, &a->memory);
  device_matrix_destroy(ctx, &a->device);
  fe_matrix_free(&a->m);
}

static void check_strong(const aggregation *a)
{
  const fe_matrix *m = &a->m;
  for (int32_t i = 0; i < m->n; ++i)
    for (int32_t e = m->row[i]; e < m->row[i + 1]; ++e) {
      const int32_t j = m->column[e];
      const double scale = sqrt(m->value[m->row[i]] * m->value[m->row[j]]);
      const bool strong = i != j && m->value[e] < -0.01 * THETA_PERCENT * scale;
      assert_int_equal(a->strong[e], strong ? j : i);
    }
}

/// Mark what is within two strong connections of i.
static void mark(const aggregation *a, int32_t i, int32_t *mark)
{
  const fe_matrix *m = &a->m;
  for (int32_t e = m->row[i]; e < m->row[i + 1]; ++e) {
    const int32_t j = a->strong[e];
    for (int32_t f = m->row[j]; f < m->row[j + 1]; ++f) mark[a->strong[f]] = i + 1;
  }
}

/// Every aggregate has a member (its root) next to which all are its own, and members are within two
/// connections of it; roots are more than two connections apart.
static void check_aggregates(const aggregation *a)
{
  const fe_matrix *m = &a->m;
  int32_t *root = get((size_t)a->n_aggregates, sizeof *root),
          *near = get((size_t)m->n, sizeof *near);
  uint64_t *key = get((size_t)m->n, sizeof *key);
  must(ctx, kg_copy_out(ctx, key, a->args.key, (size_t)m->n * sizeof *key));
  must(ctx, kg_sync(ctx));
  int32_t n_roots = 0;
  for (int32_t i = 0; i < m->n; ++i) {
    if ((key[i] & KG_KEY_STATE) != KG_KEY_ROOT) continue;
    assert_int_equal(a->aggregate[i], n_roots);  // numbered as their roots are
    root[n_roots++] = i;
    mark(a, i, near);
    for (int32_t k = 0; k + 1 < n_roots; ++k) assert_true(near[root[k]] != i + 1);
    for (int32_t e = m->row[i]; e < m->row[i + 1]; ++e)
      assert_int_equal(a->aggregate[a->strong[e]], a->aggregate[i]);
  }
  assert_int_equal(n_roots, a->n_aggregates);
  for (int32_t i = 0; i < m->n; ++i) {
    bool connected = false;
    for (int32_t e = m->row[i]; e < m->row[i + 1]; ++e) connected = connected || a->strong[e] != i;
    if (!connected) {
      assert_int_equal(a->aggregate[i], -1);
      continue;
    }
    assert_in_range(a->aggregate[i], 0, a->n_aggregates - 1);
    mark(a, i, near);
    assert_int_equal(near[root[a->aggregate[i]]], i + 1);
  }
  free(root);
  free(near);
  free(key);
}

static const fe_grid aggregated[] = {{3, 2, .height = 1.0},
                                     {40, 50, .height = 1.0},
                                     {40, 50, .height = 1.0, .jitter = 0.6, .neumann = true},
                                     {40, 50, .height = 0.05, .jitter = 0.3},
                                     {40, 40, .height = 1.0, .reaction = 1e4},
                                     {40, 40, .height = 1.0, .reaction = 1e6}};
enum { AGGREGATED = sizeof aggregated / sizeof *aggregated };

static void aggregates_are_the_surroundings_of_roots_that_are_far_apart(void **state)
{
  (void)state;
  for (int k = 0; k <= AGGREGATED; ++k) {
    fe_matrix m;
    aggregation a;
    if (k < AGGREGATED)
      fe_grid_matrix(aggregated[k], &m);
    else
      fe_irregular_matrix(3001, &m);
    aggregation_create(&m, &a);
    check_strong(&a);
    check_aggregates(&a);
    aggregation_destroy(&a);
  }
}

/// Row i of P: (1 - omega) in the own aggregate, the rest by strong connections.
static void check_prolongation(const aggregation *a, const fe_matrix *p, double omega)
{
  const fe_matrix *m = &a->m;
  double *dense = fe_dense(p, a->n_aggregates);
  for (int32_t i = 0; i < m->n; ++i) {
    double lumped = m->value[m->row[i]], strong = 0.0, row_sum = 0.0;
    for (int32_t e = m->row[i] + 1; e < m->row[i + 1]; ++e)
      *(a->strong[e] == i ? &lumped : &strong) += m->value[e];
    double *row = dense + (size_t)i * (size_t)a->n_aggregates;
    for (int32_t k = 0; k < a->n_aggregates; ++k) row_sum += row[k];
    if (a->aggregate[i] < 0) {
      assert_int_equal(p->row[i + 1], p->row[i]);
      continue;
    }
    const double scale = fmax(lumped, -strong);
    assert_at_most(fabs(row_sum - (1.0 - omega - omega * strong / scale)), rounding(9.0));
    row[a->aggregate[i]] -= 1.0 - omega;
    for (int32_t e = m->row[i] + 1; e < m->row[i + 1]; ++e)
      if (a->strong[e] != i) row[a->aggregate[a->strong[e]]] += omega * m->value[e] / scale;
    assert_at_most(largest((size_t)a->n_aggregates, row), rounding(9.0));
  }
  free(dense);
}

static void prolongations_are_smoothed_aggregates_and_keep_constants(void **state)
{
  (void)state;
  for (int k = 0; k < AGGREGATED; ++k) {
    fe_matrix m, p;
    aggregation a;
    kg_csr_owned made = {0};
    fe_grid_matrix(aggregated[k], &m);
    aggregation_create(&m, &a);
    const kg_csr_make_args args = {.source = KG_CSR_PROLONGATION,
                                   .a = a.device.csr,
                                   .strong = a.args.strong,
                                   .aggregate = a.args.aggregate,
                                   .omega = 0.6};
    must(ctx, kg_csr_make(ctx, &args, &made));
    fe_matrix_fetch(ctx, &made.csr, &p);
    check_prolongation(&a, &p, 0.6);
    for (int32_t i = 0; i < p.n && aggregated[k].neumann; ++i) {
      double sum = 0.0;
      for (int32_t e = p.row[i]; e < p.row[i + 1]; ++e) sum += p.value[e];
      assert_at_most(fabs(sum - 1.0), rounding(9.0));
    }
    kg_free(ctx, &made.memory);
    fe_matrix_free(&p);
    aggregation_destroy(&a);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_with_vectors_are_those_of_their_formulas),
      cmocka_unit_test(transposes_have_every_entry_in_ascending_columns),
      cmocka_unit_test(products_of_matrices_are_those_of_dense_ones),
      cmocka_unit_test(dense_inverses_solve_what_the_matrix_made),
      cmocka_unit_test(aggregates_are_the_surroundings_of_roots_that_are_far_apart),
      cmocka_unit_test(prolongations_are_smoothed_aggregates_and_keep_constants),
  };
  return cmocka_run_group_tests_name("multigrid.matrices", tests, open_context, close_context);
}
