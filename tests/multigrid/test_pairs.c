// Pairs of edges that an element couples strongly, against the mesh and dense blocks.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "ops/smooth/edge_pairs.h"
#include "ops/smooth/edge_smooth.h"
#include "systems.h"

/// Pairs of a system, whose blocks take the place of what its smoother has: [free edge], to be
/// freed. Their device memory is *device.
static int32_t *make_pairs(trace_system *s, int32_t **device, bool *any)
{
  op_case *c = &s->c;
  const size_t n = (size_t)c->batch.count.n_free, words = n / 2 + 2;
  kg_edge_pairs_args args = {.batch = c->batch,
                             .locals = kg_locals_of(s->device_local, c->batch.arrays.side_edge),
                             .number = KG_DOUBLE,
                             .pair = (int32_t *)case_output(c, words),
                             .want = (int32_t *)case_output(c, words),
                             .inverse = s->multigrid.smoother.inverse,
                             .fault = (int32_t *)case_output(c, 1)};
  must(ctx, kg_edge_blocks(ctx, &(kg_edge_blocks_args){.batch = c->batch,
                                                       .locals = args.locals,
                                                       .inverse = args.inverse,
                                                       .fault = args.fault}));
  must(ctx, kg_edge_pairs(ctx, &args, any));
  *device = args.pair;
  return (int32_t *)case_fetch(c, (const double *)args.pair);
}

/// B: A of edges with themselves, and of pairs with each other.
static double *assemble(const trace_system *s, const int32_t *pair)
{
  const int n = s->c.size.n_trace, m = s->c.size.n_edge;
  const int64_t rows = (int64_t)s->n_rows;
  double *b = calloc((size_t)(rows * rows) + 1, sizeof *b);
  assert_non_null(b);
  for (int32_t e = 0; e < s->c.mesh->n_elements; ++e)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int64_t row = system_trace_row(s, e, i), column = system_trace_row(s, e, j);
        if (row < rows && column < rows && (i / m == j / m || pair[row / m] == column / m + 1))
          b[row * rows + column] += system_local_entry(s, e, i, j);
      }
  return b;
}

static int n_pairs;

static void check_choice(trace_system *s)
{
  const int m = s->c.size.n_edge;
  const int64_t rows = (int64_t)s->n_rows;
  int32_t *device;
  bool any;
  if (rows == 0 || rows > 700) return;
  int32_t *pair = make_pairs(s, &device, &any);
  double *b = assemble(s, pair);
  int found = 0;
  for (int32_t f = 0; f < s->c.batch.count.n_free; ++f) {
    const int32_t other = pair[f] - 1;
    if (other < 0) continue;
    ++found;
    assert_int_equal(pair[other], f + 1);
    const int64_t row = (int64_t)f * m, column = (int64_t)other * m;
    const double coupling = b[row * rows + column];
    assert_true(coupling < 0.0);
    assert_true(coupling * coupling >
                (1.0 - 1e-12) * KG_PAIR_STRONG * b[row * rows + row] * b[column * rows + column]);
  }
  assert_int_equal(any, found > 0);
  n_pairs += found / 2;
  free(pair), free(b);
}

static void pairs_are_mutual_and_strongly_coupled(void **state)
{
  (void)state;
  n_pairs = 0;
  for_smoother(KEDGE_SMOOTHER_LINE, check_choice, 2, 1.0);  // stretched 1 : 20
  assert_true(n_pairs > 100);
}

/// z = B^-1 y, of K vectors that are multiples of it.
static double *solve(trace_system *s, const int32_t *pair, const double *y, int K)
{
  op_case *c = &s->c;
  const size_t n = s->n_rows;
  double *r = calloc(n * (size_t)K + 1, sizeof *r);
  assert_non_null(r);
  for (size_t i = 0; i < n; ++i)
    for (int v = 0; v < K; ++v) r[i * (size_t)K + (size_t)v] = ldexp(y[i], v);
  double *on_device = case_input(c, r, n * (size_t)K), *z = case_output(c, n * (size_t)K);
  must(ctx, kg_edge_smooth(ctx, &(kg_edge_smooth_args){.size = c->size,
                                                       .n_edges = c->batch.count.n_free,
                                                       .inverse = s->multigrid.smoother.inverse,
                                                       .r = on_device,
                                                       .z = z,
                                                       .step = 1.0,
                                                       .many = K > 1}));
  must(ctx,
       kg_pair_smooth(ctx, &(kg_pair_smooth_args){
                               .size = c->size,
                               .n_edges = c->batch.count.n_free,
                               .pair = pair,
                               .inverse = s->multigrid.smoother.inverse,
                               .sides = c->batch.arrays.edge_sides,
                               .locals = kg_locals_of(s->device_local, c->batch.arrays.side_edge),
                               .r = on_device,
                               .z = z,
                               .step = 1.0,
                               .many = K > 1}));
  free(r);
  return case_fetch(c, z);
}

static void check_solve(trace_system *s)
{
  const size_t n = s->n_rows;
  int32_t *device;
  bool any;
  if (n == 0 || n > 700) return;
  int32_t *pair = make_pairs(s, &device, &any);
  double *b = assemble(s, pair), *y = case_randoms(5, n), *z = solve(s, device, y, 1);
  double scale = 0.0;
  for (size_t i = 0; i < n * n; ++i) scale = fmax(scale, fabs(b[i]));
  for (size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (size_t j = 0; j < n; ++j) sum += b[i * n + j] * z[j];
    assert_at_most(fabs(sum - y[i]), FLT_EPSILON * s->c.size.n_edge * scale * largest(n, z));
  }
  if (s->c.size.order <= KG_MANY_ORDER_MAX) {
    double *many = solve(s, device, y, KG_VECTORS);
    for (size_t i = 0; i < n * KG_VECTORS; ++i)
      assert_true(many[i] == ldexp(z[i / KG_VECTORS], (int)(i % KG_VECTORS)));
    free(many);
  }
  free(pair), free(b), free(y), free(z);
}

static void a_step_with_pairs_solves_for_both_edges(void **state)
{
  (void)state;
  for_smoother(KEDGE_SMOOTHER_LINE, check_solve, 9, 1.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_are_mutual_and_strongly_coupled),
      cmocka_unit_test(a_step_with_pairs_solves_for_both_edges),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
