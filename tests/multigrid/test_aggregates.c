// Aggregates and prolongations against their definition.
#include <stdlib.h>

#include "context.h"
#include "multigrid/aggregate.h"
#include "multigrid/csr_make.h"

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
      cmocka_unit_test(aggregates_are_the_surroundings_of_roots_that_are_far_apart),
      cmocka_unit_test(prolongations_are_smoothed_aggregates_and_keep_constants),
  };
  return cmocka_run_group_tests_name("multigrid.aggregates", tests, open_context, close_context);
}
