// The trace system restricted to a lower order: its matrices and vectors.
#include <stdlib.h>

#include "compare.h"
#include "context.h"
#include "operations.h"
#include "ops/order_transfer.h"
#include "ops/trace_apply.h"

/// y = A x, of host vectors and a matrix in device memory; y is to be freed.
static double *multiply(op_case *c, kg_sizes size, bool reduced, const double *local,
                        const double *x)
{
  const kg_trace_counts *n = &c->layout.count;
  const size_t m = (size_t)size.n_edge;
  kg_batch batch = c->batch;
  batch.reference.size = size;
  const kg_trace_apply_args args = {.batch = batch,
                                    .local = local,
                                    .reduced = reduced,
                                    .x = case_input(c, x, (size_t)n->n_edges * m),
                                    .y = case_output(c, (size_t)n->n_free * m),
                                    .halo = case_output(c, (size_t)n->n_shared * m),
                                    .partial = case_output(c, (size_t)n->n_patches)};
  must(c->ctx, kg_trace_apply(c->ctx, &args));
  return case_fetch(c, args.y);
}

/// The modes of a lower order in a vector of another, all others zero; to be freed.
static double *extended(int32_t n_edges, int m_from, int m_to, const double *from)
{
  double *to = calloc((size_t)n_edges * (size_t)m_to + 1, sizeof *to);
  assert_non_null(to);
  for (int32_t edge = 0; edge < n_edges; ++edge)
    for (int k = 0; k < m_from; ++k) to[edge * m_to + k] = from[edge * m_from + k];
  return to;
}

/// A' x' is what A makes of x' in the first modes of every edge. Both orders have patches of one
/// size, as a GPU has kernels for no other.
static void check_form(int n_elements, int order, int lower, bool reduced)
{
  op_case c;
  op_data data;
  const kg_material material = {1.3, reduced ? 0.0 : 0.7, 2.0, KEDGE_SCALING_ONE};
  case_create(&c, ctx, n_elements, order, CASE_MIXED, material);
  op_inputs(&c, &data);
  op_run_all(&c, &data);
  const kg_trace_counts *n = &c.layout.count;
  const kg_sizes size = kg_sizes_of(lower);
  const int m = size.n_edge, M = c.size.n_edge;
  const size_t rows_of_it = (size_t)(reduced ? kg_reduced_rows(size) : size.n_packed);
  const size_t count = rows_of_it * KG_LANES * (size_t)n->n_groups;
  double *local = reduced ? op_reduced(&c, &data, NULL)
                          : case_input(&c, data.array[OP_LOCAL], op_count(&c, OP_LOCAL));
  double *part = case_output(&c, count);
  const kg_order_local_args args = {.from_size = c.size,
                                    .to_size = size,
                                    .n_groups = n->n_groups,
                                    .reduced = reduced,
                                    .from = local,
                                    .to = part};
  must(ctx, kg_order_local(ctx, &args));

  double *x = case_randoms(2, (size_t)n->n_edges * (size_t)m);
  double *x_all = extended(n->n_edges, m, M, x);
  double *y = multiply(&c, size, reduced, part, x);
  double *y_all = multiply(&c, c.size, reduced, local, x_all);
  // Restriction of y_all - 0, and of 2 y_all - y_all.
  const size_t rows = (size_t)n->n_free * (size_t)M, few = (size_t)n->n_free * (size_t)m;
  double *twice = malloc((rows + 1) * sizeof *twice);
  assert_non_null(twice);
  for (size_t i = 0; i < rows; ++i) twice[i] = 2.0 * y_all[i];
  for (int k = 0; k < 2; ++k) {
    const kg_order_vector_args vector = {.n_edges = n->n_free,
                                         .m_from = M,
                                         .m_to = m,
                                         .from = case_input(&c, k == 0 ? y_all : twice, rows),
                                         .minus = k == 0 ? NULL : case_input(&c, y_all, rows),
                                         .to = case_output(&c, few)};
    must(ctx, kg_order_restrict(ctx, &vector));
    double *restricted = case_fetch(&c, vector.to);
    assert_close(few, y, restricted, (reduced ? 2 : 1) * rounding(2 * c.size.n_trace));
    free(restricted);
  }
  free(twice);
  free(y_all);
  free(y);
  free(x_all);
  free(x);
  op_free(&data);
  case_destroy(&c);
}

static void check_orders(int n_elements, int order, int lower)
{
  check_form(n_elements, order, lower, false);
  check_form(n_elements, order, lower, true);
}

static void the_lower_order_is_a_restriction_of_the_operator(void **state)
{
  (void)state;
  check_orders(33, 2, 1);
  check_orders(300, 4, 1);
  check_orders(300, 4, 2);
  if (test_is_quick()) return;
  check_orders(1, 3, 2);
  check_orders(257, 7, 5);
  check_orders(129, 9, 5);
  check_orders(257, 12, 11);
}

static void addition_changes_the_lower_modes_alone(void **state)
{
  (void)state;
  enum { EDGES = 1001 };
  op_case c;
  case_create(&c, ctx, 2, 1, CASE_NEUMANN, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
  for (int m = 2; m <= 13; ++m) {
    const size_t n = EDGES * 13, few = (size_t)(EDGES * m);
    double *to = case_randoms(1, n), *from = case_randoms(2, few);
    double *sum = extended(EDGES, m, 13, from);
    const kg_order_vector_args args = {.n_edges = EDGES,
                                       .m_from = m,
                                       .m_to = 13,
                                       .from = case_input(&c, from, few),
                                       .to = case_input(&c, to, n)};
    must(ctx, kg_order_add(ctx, &args));
    double *found = case_fetch(&c, args.to);
    for (size_t i = 0; i < n; ++i) assert_true(found[i] == to[i] + sum[i]);
    free(found);
    free(sum);
    free(from);
    free(to);
    case_release(&c);
  }
  case_destroy(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lower_order_is_a_restriction_of_the_operator),
      cmocka_unit_test(addition_changes_the_lower_modes_alone),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
