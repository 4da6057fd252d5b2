// Products of the trace operator whose work overlaps: with the end of the kernel in front, and with
// the copies of what comes next. The same numbers, and nothing after a stop.
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "cmocka_all.h"
#include "context.h"
#include "ops/vector/round.h"
#include "ops/trace/trace_apply.h"

/// Triangles of five patches and more; in a hurry, of three and more.
static int few(void)
{
  return test_is_quick() ? 600 : 1200;
}

static int products_in_a_row(void)
{
  return test_is_quick() ? 2 : 12;
}

static int order_step(void)
{
  return test_is_quick() ? 4 : 1;
}

/// A system whose vectors are all rows, a sum and a stop.
typedef struct chain {
  op_case c;
  kg_trace_apply_args args;
  double *start;
  void *vectors[2];
  kg_buffer total, stop;
} chain;

static void chain_create(chain *s, int n_elements, int order, int32_t stop)
{
  case_create(&s->c, ctx, n_elements, order, CASE_NEUMANN,
              (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  const kg_trace_counts *n = &s->c.layout.count;
  const size_t packed = (size_t)n->n_groups * (size_t)s->c.size.n_packed * KG_LANES;
  const size_t rows = (size_t)n->n_edges * (size_t)s->c.size.n_edge;
  double *local = case_randoms(1, packed);
  s->start = case_randoms(2, rows);
  s->vectors[0] = case_input(&s->c, s->start, rows);
  s->vectors[1] = case_input(&s->c, s->start, rows);
  must(ctx, kg_alloc(ctx, 1, sizeof(double), &s->total));
  must(ctx, kg_upload(ctx, &stop, 1, sizeof stop, &s->stop));
  s->args = (kg_trace_apply_args){
      .batch = s->c.batch,
      .local = case_local(&s->c, KG_LAYOUT_PACKED, KG_DOUBLE, case_input(&s->c, local, packed)),
      .halo = case_output(&s->c, (size_t)n->n_shared * (size_t)s->c.size.n_edge),
      .pass = {.stop = s->stop.data,
               .sum = {case_output(&s->c, (size_t)n->n_patches), s->total.data, NULL}}};
  free(local);
}

static void chain_destroy(chain *s)
{
  free(s->start);
  kg_free(ctx, &s->total);
  kg_free(ctx, &s->stop);
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
  args.pass = (kg_pass){.after_vectors = chained};
  for (int i = 0; i < products_in_a_row(); ++i) {
    args.x = s->vectors[i % 2];
    args.y = s->vectors[(i + 1) % 2];
    must(ctx, kg_trace_apply(ctx, &args));
  }
  return case_fetch(&s->c, args.y);
}

static void products_of_products_are_the_same_however_they_begin(void **state)
{
  (void)state;
  for (int order = 1; order <= KEDGE_ORDER_MAX; order += order_step()) {
    chain plain, chained;
    chain_create(&plain, few(), order, 0);
    chain_create(&chained, few(), order, 0);
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
  for (int order = 1; order <= KEDGE_ORDER_MAX; order += order_step()) {
    chain s;
    chain_create(&s, few(), order, 1);
    kg_trace_apply_args args = s.args;
    args.x = s.vectors[0];
    args.y = s.vectors[1];
    args.pass.after_vectors = true;
    for (int i = 0; i < products_in_a_row(); ++i) must(ctx, kg_trace_apply(ctx, &args));
    double *y = case_fetch(&s.c, args.y);
    assert_memory_equal(y, s.start, chain_rows(&s) * sizeof *y);
    free(y);
    chain_destroy(&s);
  }
}

/// Products with the same numbers: x . y of all of them shall be the same, and so shall y, which
/// goes other ways, after the first and the last.
static void check_repeats(chain *s, kg_number number, kg_layout layout, int products)
{
  kg_trace_apply_args args = s->args;
  args.local = case_local(&s->c, layout, number, args.local.data);
  args.x = s->vectors[0];
  args.y = s->vectors[1];
  const size_t bytes = chain_rows(s) * kg_number_bytes(number);
  double first = 0.0, *y = NULL;
  for (int i = 0; i < products; ++i) {
    double dot;
    args.pass.after_vectors = i % 2;
    must(ctx, kg_trace_apply(ctx, &args));
    must(ctx, kg_copy_out(ctx, &dot, args.pass.sum.total, sizeof dot));
    must(ctx, kg_sync(ctx));
    if (i == 0) {
      first = dot;
      y = case_fetch(&s->c, args.y);
    }
    assert_true(first != 0.0);
    assert_memory_equal(&dot, &first, sizeof first);
  }
  double *last = case_fetch(&s->c, args.y);
  assert_memory_equal(last, y, bytes);
  free(last);
  free(y);
}

static void *rounded(chain *s, const void *from, size_t count)
{
  void *to = case_output(&s->c, (count + 1) / 2);
  must(ctx, kg_round(ctx, &(kg_round_args){.n = (int64_t)count, .from = from, .to = to}));
  return to;
}

/// Blocks that stay on their multiprocessor take one patch after the other, and K^e of the next one
/// comes while this one is computed. A number of K^e that is written over before it was read shows
/// in one product of four (P = 6) or of a hundred (P = 9) of large meshes.
static void products_of_more_patches_than_a_gpu_holds_at_once_repeat(void **state)
{
  (void)state;
  const bool on_gpu = test_backend() == KEDGE_BACKEND_CUDA && !test_is_quick();
  const bool many = on_gpu && !test_has_few_blocks();
  const int products = many ? 300 : on_gpu ? 2000 : test_is_quick() ? 2 : 3;
  for (int order = 1; order <= KEDGE_ORDER_MAX; order += order_step()) {
    chain s;
    chain_create(&s, !many ? few() : order <= 4 ? 150003 : 100003, order, 0);
    check_repeats(&s, KG_DOUBLE, KG_LAYOUT_PACKED, products);
    check_repeats(&s, KG_DOUBLE, KG_LAYOUT_REDUCED, products);
    const size_t lanes = (size_t)s.c.layout.count.n_groups * KG_LANES;
    s.args.local.data = rounded(&s, s.args.local.data, lanes * (size_t)s.c.size.n_packed);
    for (int i = 0; i < 2; ++i) s.vectors[i] = rounded(&s, s.vectors[i], chain_rows(&s));
    check_repeats(&s, KG_SINGLE, KG_LAYOUT_PACKED, products);
    check_repeats(&s, KG_SINGLE, KG_LAYOUT_REDUCED, products);
    chain_destroy(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_of_products_are_the_same_however_they_begin),
      cmocka_unit_test(a_product_that_has_begun_writes_nothing_after_a_stop),
      cmocka_unit_test(products_of_more_patches_than_a_gpu_holds_at_once_repeat),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
