// Products of the trace operator that begin while the kernel in front ends: the same numbers, and
// nothing after a stop.
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "context.h"
#include "ops/trace_apply.h"

enum { PRODUCTS = 12 };

/// A system of five patches whose vectors are all rows, and a state of the iteration.
typedef struct chain {
  op_case c;
  kg_trace_apply_args args;
  double *start, *vectors[2];
  kg_buffer state;
} chain;

static void chain_create(chain *s, int order, enum kg_cg_stop stop)
{
  case_create(&s->c, ctx, 1200, order, CASE_NEUMANN, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  const kg_trace_counts *n = &s->c.layout.count;
  assert_true(n->n_patches >= 5);
  const size_t packed = (size_t)n->n_groups * (size_t)s->c.size.n_packed * KG_LANES;
  const size_t rows = (size_t)n->n_edges * (size_t)s->c.size.n_edge;
  double *local = case_randoms(1, packed);
  s->start = case_randoms(2, rows);
  s->vectors[0] = case_input(&s->c, s->start, rows);
  s->vectors[1] = case_input(&s->c, s->start, rows);
  const kg_cg_state state = {.stop = stop};
  case_must(ctx, kg_upload(ctx, &state, 1, sizeof state, &s->state));
  s->args = (kg_trace_apply_args){
      .batch = s->c.batch,
      .local = case_input(&s->c, local, packed),
      .halo = case_output(&s->c, (size_t)n->n_shared * (size_t)s->c.size.n_edge),
      .partial = case_output(&s->c, (size_t)n->n_patches),
      .state = s->state.data};
  free(local);
}

static void chain_destroy(chain *s)
{
  free(s->start);
  kg_free(ctx, &s->state);
  case_destroy(&s->c);
}

static size_t chain_rows(const chain *s)
{
  return (size_t)s->c.layout.count.n_edges * (size_t)s->c.size.n_edge;
}

/// Each product is of the one before; the last one, to be freed.
static double *multiply_on(chain *s, bool chained)
{
  kg_trace_apply_args args = s->args;
  args.state = NULL;
  args.chained = chained;
  for (int i = 0; i < PRODUCTS; ++i) {
    args.x = s->vectors[i % 2];
    args.y = s->vectors[(i + 1) % 2];
    case_must(ctx, kg_trace_apply(ctx, &args));
  }
  return case_fetch(&s->c, args.y);
}

static void products_of_products_are_the_same_however_they_begin(void **state)
{
  (void)state;
  for (int order = 1; order <= KEDGE_ORDER_MAX; ++order) {
    chain plain, chained;
    chain_create(&plain, order, KG_CG_RUNNING);
    chain_create(&chained, order, KG_CG_RUNNING);
    double *expected = multiply_on(&plain, false), *found = multiply_on(&chained, true);
    assert_memory_equal(found, expected, chain_rows(&plain) * sizeof *found);
    assert_memory_not_equal(found, plain.start, chain_rows(&plain) * sizeof *found);
    free(expected);
    free(found);
    chain_destroy(&plain);
    chain_destroy(&chained);
  }
}

static void a_product_that_has_begun_writes_nothing_after_a_stop(void **state)
{
  (void)state;
  for (int order = 1; order <= KEDGE_ORDER_MAX; ++order) {
    chain s;
    chain_create(&s, order, KG_CG_CONVERGED);
    kg_trace_apply_args args = s.args;
    args.x = s.vectors[0];
    args.y = s.vectors[1];
    args.chained = true;
    for (int i = 0; i < PRODUCTS; ++i) case_must(ctx, kg_trace_apply(ctx, &args));
    double *y = case_fetch(&s.c, args.y);
    assert_memory_equal(y, s.start, chain_rows(&s) * sizeof *y);
    free(y);
    chain_destroy(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_of_products_are_the_same_however_they_begin),
      cmocka_unit_test(a_product_that_has_begun_writes_nothing_after_a_stop),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
