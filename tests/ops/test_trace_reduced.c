// The trace operator with reduced K^e of pure diffusion against the one with packed K^e.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "operations.h"
#include "ops/local_reduced.h"
#include "ops/round.h"
#include "ops/trace_apply.h"

/// A product y = A x and x . y, in double precision whatever its numbers are.
typedef struct product {
  double *y, *bits;  ///< bits: y as it is in device memory
  double p_ap;
} product;

static const kg_material diffusion = {0.7, 0.0, 1.3, KEDGE_SCALING_INVERSE_H};

/// Device memory for numbers, full of NaN, between guards.
static void *output(op_case *c, kg_number number, size_t count)
{
  return case_output(c, number == KG_SINGLE ? (count + 1) / 2 : count);
}

static void *vector(op_case *c, kg_number number, const double *values, size_t count)
{
  double *from = case_input(c, values, count);
  if (number == KG_DOUBLE) return from;
  void *to = output(c, number, count);
  must(c->ctx, kg_round(c->ctx, &(kg_round_args){.n = (int64_t)count, .from = from, .to = to}));
  return to;
}

static void *reduced_local(op_case *c, const op_data *data, kg_number number)
{
  const size_t lanes = KG_LANES * (size_t)c->batch.count.n_groups;
  void *to = output(c, number, (size_t)kg_reduced_rows(c->size) * lanes);
  const kg_local_reduce_args args = {
      .batch = c->batch,
      .from = case_input(c, data->array[OP_LOCAL], op_count(c, OP_LOCAL)),
      .number = number,
      .to = to,
      .n_groups = c->batch.count.n_groups};
  must(c->ctx, kg_local_reduce(c->ctx, &args));
  return to;
}

static product multiply(op_case *c, const op_data *data, kg_number number, bool open)
{
  const kg_trace_counts *n = &c->layout.count;
  const size_t rows = op_count(c, OP_PRODUCT), n_halo = op_count(c, OP_HALO);
  const kg_cg_state running = {.stop = KG_CG_RUNNING};
  struct case_piece *piece = &c->pieces[c->n_pieces++];
  *piece = (struct case_piece){0};
  must(c->ctx, kg_upload(c->ctx, &running, 1, sizeof running, &piece->buffer));
  const kg_trace_apply_args args = {
      .batch = c->batch,
      .number = number,
      .local = reduced_local(c, data, number),
      .reduced = true,
      .x = vector(c, number, data->array[OP_TRACE], op_count(c, OP_TRACE)),
      .y = output(c, number, rows),
      .halo = output(c, number, n_halo),
      .open = open,
      .partial = case_output(c, (size_t)n->n_patches),
      .state = piece->buffer.data};
  must(c->ctx, kg_trace_apply(c->ctx, &args));
  kg_cg_state state;
  must(c->ctx, kg_copy_out(c->ctx, &state, args.state, sizeof state));
  must(c->ctx, kg_sync(c->ctx));
  product out = {
      .y = malloc((rows + 1) * sizeof *out.y), .bits = case_fetch(c, args.y), .p_ap = state.p_ap};
  double *halo = case_fetch(c, args.halo);
  assert_non_null(out.y);
  for (size_t i = 0; i < rows; ++i)
    out.y[i] = number == KG_SINGLE ? ((float *)out.bits)[i] : out.bits[i];
  const size_t inside = (size_t)n->n_interior * (size_t)c->size.n_edge;
  for (size_t i = 0; open && i < n_halo; ++i)
    out.y[inside + i] += number == KG_SINGLE ? ((float *)halo)[i] : halo[i];
  free(halo);
  case_release(c);
  return out;
}

static void product_free(product *p)
{
  free(p->y);
  free(p->bits);
}

static void check_number(op_case *c, const op_data *data, kg_number number)
{
  const size_t n = op_count(c, OP_PRODUCT);
  const double unit = number == KG_SINGLE ? FLT_EPSILON / DBL_EPSILON : 1.0;
  product closed = multiply(c, data, number, false), again = multiply(c, data, number, false);
  product open = multiply(c, data, number, true);
  assert_memory_equal(closed.bits, again.bits, n * kg_number_bytes(number));
  assert_memory_equal(&closed.p_ap, &again.p_ap, sizeof closed.p_ap);
  // Two thirds of the rows are sums of the others: their terms are counted twice.
  const double bound = 2 * unit * rounding(2 * c->size.n_trace);
  assert_close(n, closed.y, data->array[OP_PRODUCT], bound);
  assert_close(n, open.y, data->array[OP_PRODUCT], bound);
  assert_close(1, &closed.p_ap, &data->array[OP_PRODUCT_STATE][STATE_P_AP], bound);
  product_free(&closed);
  product_free(&again);
  product_free(&open);
}

static void check_size(int n_elements, int order, enum case_boundary boundary)
{
  op_case c;
  op_data data;
  case_create(&c, ctx, n_elements, order, boundary, diffusion);
  op_run_all(&c, &data);
  check_number(&c, &data, KG_DOUBLE);
  check_number(&c, &data, KG_SINGLE);
  op_free(&data);
  case_destroy(&c);
}

static void every_order_gives_the_product_of_packed_matrices(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    check_size(150, order, (enum case_boundary)(order % CASE_BOUNDARIES));
}

static void sizes_about_groups_and_patches_give_it_too(void **state)
{
  (void)state;
  const int sizes[] = {1, 257, 2, 31, 33, 127, 129, 255, 1000};
  const size_t n = test_is_quick() ? 2 : sizeof sizes / sizeof *sizes;
  for (size_t i = 0; i < n; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int order = 1; order <= 4; ++order)
        check_size(sizes[i], order, (enum case_boundary)boundary);
}

/// Blocks that stay on their multiprocessor take one patch after the other.
static void more_patches_than_a_gpu_holds_at_once_give_it_too(void **state)
{
  (void)state;
  const bool many = test_backend() == KEDGE_BACKEND_CUDA && !test_is_quick();
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order)
    check_size(!many ? 1003 : order <= 4 ? 202003 : 50003, order, CASE_MIXED);
}

/// Not only up to rounding of A: differences of equal means are taken before anything else.
static void constants_have_no_product_at_all(void **state)
{
  (void)state;
  for (int order = 1; order <= 9; order += 2)
    for (int number = KG_DOUBLE; number <= KG_SINGLE; ++number) {
      op_case c;
      op_data data;
      case_create(&c, ctx, 300, order, CASE_NEUMANN, diffusion);
      op_run_all(&c, &data);
      for (size_t i = 0; i < op_count(&c, OP_TRACE); ++i)
        data.array[OP_TRACE][i] = i % (size_t)c.size.n_edge == 0 ? 1.0 / 3.0 : 0.0;
      product p = multiply(&c, &data, (kg_number)number, false);
      for (size_t i = 0; i < op_count(&c, OP_PRODUCT); ++i) assert_true(p.y[i] == 0.0);
      assert_true(p.p_ap == 0.0);
      product_free(&p);
      op_free(&data);
      case_destroy(&c);
    }
}

/// The same bits, from group 0 on, in the memory of the packed ones.
static void matrices_are_reduced_in_place(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order) {
    op_case c;
    op_data data;
    case_create(&c, ctx, order <= 4 ? 3000 : 700, order, CASE_MIXED, diffusion);
    op_run_all(&c, &data);
    const size_t count =
        (size_t)kg_reduced_rows(c.size) * KG_LANES * (size_t)c.batch.count.n_groups;
    double *apart = reduced_local(&c, &data, KG_DOUBLE);
    double *local = case_input(&c, data.array[OP_LOCAL], op_count(&c, OP_LOCAL));
    must(ctx, kg_local_reduce_in_place(ctx, &c.batch, local));
    double *expected = case_fetch(&c, apart), *found = case_fetch(&c, local);
    assert_memory_equal(found, expected, count * sizeof *found);
    free(expected), free(found);
    op_free(&data);
    case_destroy(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_order_gives_the_product_of_packed_matrices),
      cmocka_unit_test(sizes_about_groups_and_patches_give_it_too),
      cmocka_unit_test(more_patches_than_a_gpu_holds_at_once_give_it_too),
      cmocka_unit_test(constants_have_no_product_at_all),
      cmocka_unit_test(matrices_are_reduced_in_place),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
