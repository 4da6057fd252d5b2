// Aggregates and prolongations against their definition.
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "matrix.h"
#include "precondition/amg/aggregate.h"
#include "precondition/amg/csr_make.h"
#include "precondition/amg/scan.h"

/// The aggregation of a matrix, with copies on the host.
typedef struct aggregation {
  fe_matrix m;
  device_matrix device;
  kg_arena arena;
  kg_aggregate_args args;
  int32_t n_aggregates;
  int32_t *strong, *aggregate;
} aggregation;

enum { THETA_PERCENT = 8 };

static void *take(aggregation *a, size_t count, size_t size)
{
  void *array;
  must(ctx, kg_arena_take(ctx, &a->arena, count, size, &array));
  return array;
}

/// Aggregates of the matrix, rounded; it is not the caller's any more.
static void aggregation_create(fe_matrix *m, aggregation *a)
{
  const size_t n = (size_t)m->n;
  *a = (aggregation){0};
  device_matrix_create(ctx, m, &a->device);
  fe_matrix_round(m);
  a->m = *m;
  const size_t entries = (size_t)a->device.csr.n_entries;
  a->args = (kg_aggregate_args){.matrix = a->device.csr,
                                .threshold = 1e-4 * THETA_PERCENT * THETA_PERCENT,
                                .key = take(a, n, sizeof(uint64_t)),
                                .key_near = take(a, n, sizeof(uint64_t)),
                                .aggregate = take(a, n, sizeof(int32_t)),
                                .undecided = take(a, 1, sizeof(int32_t)),
                                .strong = take(a, entries, sizeof(int32_t))};
  must(ctx, kg_scan_take(ctx, &a->arena, m->n, &a->args.work));
  must(ctx, kg_aggregate(ctx, &a->args, &a->n_aggregates));
  int32_t *beside = get(entries, sizeof *beside);
  a->strong = get(entries + n, sizeof *a->strong);
  a->aggregate = get(n, sizeof *a->aggregate);
  must(ctx, kg_copy_out(ctx, beside, a->args.strong, entries * sizeof *beside));
  must(ctx, kg_copy_out(ctx, a->aggregate, a->args.aggregate, n * sizeof *a->aggregate));
  must(ctx, kg_sync(ctx));
  for (int32_t i = 0, from = 0; i < m->n; ++i) {  // as entries of m, with the diagonal
    a->strong[m->row[i]] = i;
    for (int32_t e = m->row[i] + 1; e < m->row[i + 1]; ++e) a->strong[e] = beside[from++];
  }
  free(beside);
}

static void aggregation_destroy(aggregation *a)
{
  free(a->strong);
  free(a->aggregate);
  kg_arena_free(ctx, &a->arena);
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

/// Every aggregate has a member (its root) next to which all are its own, and members are within
/// two connections of it; roots are more than two connections apart.
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

/// Entries of P are multiples of this, and the own one takes what that leaves of the others.
static const double unit = 1.0 / KG_CSR_PARTS;

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
    const double expected = 1.0 - omega - omega * strong / scale;
    assert_at_most(fabs(row_sum - expected), rounding(9.0) + 0.5 * unit);
    row[a->aggregate[i]] -= 1.0 - omega;
    for (int32_t e = m->row[i] + 1; e < m->row[i + 1]; ++e)
      if (a->strong[e] != i) row[a->aggregate[a->strong[e]]] += omega * m->value[e] / scale;
    for (int32_t k = 0; k < a->n_aggregates; ++k) {
      const double own = k == a->aggregate[i] ? p->row[i + 1] - p->row[i] : 1.0;
      assert_at_most(fabs(row[k]), rounding(9.0) + 0.5 * own * unit);
    }
  }
  free(dense);
}

/// Makes and checks the prolongation; its longest row. The matrix is not the caller's any more.
static int32_t check_prolongation_of(fe_matrix *m, bool keeps_constants)
{
  fe_matrix p;
  aggregation a;
  kg_csr made;
  aggregation_create(m, &a);
  const kg_csr_make_args args = {.source = KG_CSR_PROLONGATION,
                                 .a = a.device.csr,
                                 .strong = a.args.strong,
                                 .aggregate = a.args.aggregate,
                                 .omega = 0.6};
  must(ctx, kg_csr_make(ctx, &args, &a.args.work, &a.arena, &made));
  fe_matrix_fetch(ctx, &made, &p);
  check_prolongation(&a, &p, 0.6);
  int32_t longest = 0;
  for (int32_t i = 0; i < p.n; ++i) {
    double sum = 0.0;
    for (int32_t e = p.row[i]; e < p.row[i + 1]; ++e) sum += p.value[e];
    if (keeps_constants) assert_true(sum == 1.0);
    if (p.row[i + 1] - p.row[i] > longest) longest = p.row[i + 1] - p.row[i];
  }
  fe_matrix_free(&p);
  aggregation_destroy(&a);
  return longest;
}

static void prolongations_are_smoothed_aggregates_and_keep_constants(void **state)
{
  (void)state;
  for (int k = 0; k < AGGREGATED; ++k) {
    fe_matrix m;
    fe_grid_matrix(aggregated[k], &m);
    check_prolongation_of(&m, aggregated[k].neumann);
  }
}

/// A hub with spokes, paths of vertices that hold together more than with the hub; row sums are 0.
static fe_matrix wheel(int32_t spokes, int32_t length)
{
  const int32_t n = 1 + spokes * length;
  fe_matrix m = {n, 0, get((size_t)n + 1, sizeof *m.row), get(4 * (size_t)n, sizeof *m.column),
                 get(4 * (size_t)n, sizeof *m.value)};
  for (int32_t i = 0; i < n; ++i) {
    const int32_t diagonal = m.n_entries++, at = (i - 1) % length;
    m.column[diagonal] = i;
    for (int32_t k = 0; k < (i == 0 ? spokes : 2); ++k) {
      const bool inner = i > 0 && k == 0, outer = i > 0 && k == 1;
      if (outer && at == length - 1) continue;
      const bool to_hub = i == 0 || (inner && at == 0);
      m.column[m.n_entries] = i == 0 ? 1 + k * length : to_hub ? 0 : inner ? i - 1 : i + 1;
      m.value[m.n_entries] = to_hub ? -1.0 : -2.0;
      m.value[diagonal] -= m.value[m.n_entries++];
    }
    m.row[i + 1] = m.n_entries;
  }
  return m;
}

static void a_row_next_to_many_aggregates_is_made_as_any_other(void **state)
{
  (void)state;
  fe_matrix m = wheel(45, 5);
  assert_in_range(check_prolongation_of(&m, true), 20, 46);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aggregates_are_the_surroundings_of_roots_that_are_far_apart),
      cmocka_unit_test(prolongations_are_smoothed_aggregates_and_keep_constants),
      cmocka_unit_test(a_row_next_to_many_aggregates_is_made_as_any_other),
  };
  return cmocka_run_group_tests_name("multigrid.aggregates", tests, open_context, close_context);
}
