// Reduced K^e of pure diffusion (ops/local/reduced.h), as kg_local_matrices() makes them at once,
// against the packed ones that it makes.
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "operations.h"
#include "ops/trace/facet_sum.h"
#include "ops/local/entry.h"

static const kg_material diffusion = {0.7, 0.0, 1.3, KEDGE_SCALING_INVERSE_H};

/// Reduced matrices in host memory.
typedef struct reduced_matrices {
  double *local, *condensed, *inverse;  ///< the last: of the diagonal of A
} reduced_matrices;

/// The diagonal of A from its inverse, which Jacobi has; to be freed.
static double *diagonal_of(size_t n, const double *inverse)
{
  double *diagonal = malloc((n + 1) * sizeof *diagonal);
  assert_non_null(diagonal);
  for (size_t i = 0; i < n; ++i) diagonal[i] = 1.0 / inverse[i];
  return diagonal;
}

static reduced_matrices make(op_case *c, const op_data *data)
{
  double *condensed;
  const kg_local local = op_reduced(c, data, &condensed);
  double *inverse = case_output(c, op_count(c, OP_INVERSE));
  must(c->ctx,
       kg_facet_diagonal(c->ctx, &(kg_facet_diagonal_args){
                                     .batch = c->batch,
                                     .locals = kg_locals_of(local, c->batch.arrays.side_edge),
                                     .inverse = inverse}));
  const reduced_matrices made = {case_fetch(c, local.data), case_fetch(c, condensed),
                                 case_fetch(c, inverse)};
  case_release(c);
  return made;
}

static void reduced_matrices_free(reduced_matrices *made)
{
  free(made->local);
  free(made->condensed);
  free(made->inverse);
}

/// Every entry of K^e of every lane, from reduced ones; packed; to be freed.
static double *entries_of(const op_case *c, double *reduced)
{
  const int m = c->size.n_edge, n = c->size.n_trace;
  const kg_locals locals =
      kg_locals_of(case_local(c, KG_LAYOUT_REDUCED, KG_DOUBLE, reduced), c->layout.host.side_edge);
  double *found = calloc(op_count(c, OP_LOCAL), sizeof *found);
  assert_non_null(found);
  for (int32_t e = 0; e < c->batch.count.n_groups * KG_LANES; ++e) {
    const kg_local_element from = kg_local_element_of(&locals, m, e);
    double *to = found + (int64_t)(e / KG_LANES) * c->size.n_packed * KG_LANES + e % KG_LANES;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        to[kg_packed_entry(i, j) * KG_LANES] = kg_local_entry(&from, i / m, i % m, j / m, j % m);
  }
  return found;
}

/// Two thirds of the entries of mode 0, and F^e there, are sums of others.
static void check(op_case *c, const op_data *data)
{
  const double bound = 2 * rounding(c->size.n_trace);
  reduced_matrices made = make(c, data), again = make(c, data);
  assert_memory_equal(made.local, again.local, op_reduced_count(c) * sizeof *made.local);
  assert_memory_equal(made.condensed, again.condensed,
                      op_count(c, OP_CONDENSED) * sizeof *made.condensed);
  double *entries = entries_of(c, made.local);
  assert_close(op_count(c, OP_LOCAL), entries, data->array[OP_LOCAL], bound);
  assert_close(op_count(c, OP_CONDENSED), made.condensed, data->array[OP_CONDENSED], bound);
  const size_t n_free = op_count(c, OP_INVERSE);
  double *diagonal = diagonal_of(n_free, made.inverse);
  double *expected = diagonal_of(n_free, data->array[OP_INVERSE]);
  assert_close(n_free, diagonal, expected, bound);
  free(diagonal), free(expected);
  free(entries);
  reduced_matrices_free(&made);
  reduced_matrices_free(&again);
}

/// Checks matrices of a GPU with the least shared memory of those that are supported.
static void check_with_99_KiB(op_case *c, const op_data *data)
{
  const int had = case_limit_shared(ctx, 99 << 10);
  check(c, data);
  case_limit_shared(ctx, had);
}

static void gpus_with_99_KiB_of_shared_memory_give_them_too(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_CUDA) skip();
  for (int order = 3; order <= KEDGE_ORDER_MAX; ++order)
    op_with(ctx, 70, order, CASE_MIXED, diffusion, check_with_99_KiB);
}

static void every_order_has_the_entries_of_packed_matrices_their_loads_and_diagonal(void **state)
{
  (void)state;
  op_with_every_order(ctx, diffusion, check);
}

static void any_stabilization_gives_them(void **state)
{
  (void)state;
  const kg_material materials[] = {{2.0, 0.0, 50.0, KEDGE_SCALING_ONE},
                                   {1.0, 0.0, 0.1, KEDGE_SCALING_H}};
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; order += 3)
    for (int i = 0; i < 2; ++i) op_with(ctx, 40, order, CASE_MIXED, materials[i], check);
}

static void sizes_about_groups_give_them_too(void **state)
{
  (void)state;
  const int sizes[] = {1, 257, 2, 31, 33, 127, 1000};
  const size_t n = test_is_quick() ? 2 : sizeof sizes / sizeof *sizes;
  for (size_t i = 0; i < n; ++i)
    for (int order = KEDGE_ORDER_MIN; order <= 8; ++order)
      op_with(ctx, sizes[i], order, CASE_MIXED, diffusion, check);
}

/// The test makes the diagonal entry of mode 1 of side 0 of an element negative.
static void a_diagonal_that_is_not_positive_has_no_inverse(void **state)
{
  (void)state;
  op_case c;
  op_data data;
  case_create(&c, ctx, 33, 2, CASE_NEUMANN, diffusion);
  op_run_all(&c, &data);
  for (int32_t e = 20; e < 26; ++e) {
    kg_local local = op_reduced(&c, &data, NULL);
    double *host = case_fetch(&c, local.data);
    host[KG_REDUCED_FLUX * KG_LANES + e] *= -1e3;
    local.data = case_input(&c, host, op_reduced_count(&c));
    double *inverse = case_output(&c, op_count(&c, OP_INVERSE));
    must(ctx, kg_facet_diagonal(ctx, &(kg_facet_diagonal_args){
                                         .batch = c.batch,
                                         .locals = kg_locals_of(local, c.batch.arrays.side_edge),
                                         .inverse = inverse}));
    double *found = case_fetch(&c, inverse);
    const size_t edge = c.layout.host.side_edge[kg_lane_side(3, e, 0)] >> 1;
    assert_true(isnan(found[edge * (size_t)c.size.n_edge + 1]));
    free(found);
    free(host);
    case_release(&c);
  }
  op_free(&data);
  case_destroy(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_order_has_the_entries_of_packed_matrices_their_loads_and_diagonal),
      cmocka_unit_test(any_stabilization_gives_them),
      cmocka_unit_test(sizes_about_groups_give_them_too),
      cmocka_unit_test(gpus_with_99_KiB_of_shared_memory_give_them_too),
      cmocka_unit_test(a_diagonal_that_is_not_positive_has_no_inverse),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
