// The trace operator against a dense assembly, edge sums against loops, and the passes of conjugate
// gradients against plain vectors.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "operations.h"
#include "ops/vector/cg_vectors.h"
#include "ops/trace/trace_apply.h"

typedef void case_check(op_case *c, const op_data *data);

static void for_cases(case_check *check)
{
  const int sizes[] = {1, 2, 33, 129, 257};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary)
      for (int order = 1; order <= (sizes[i] < 100 ? 5 : 2); ++order) {
        op_case c;
        op_data data;
        case_create(&c, ctx, sizes[i], order, (enum case_boundary)boundary,
                    (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
        op_run_all(&c, &data);
        check(&c, &data);
        op_free(&data);
        case_destroy(&c);
      }
}

/// Row of the trace vector of mode `a` of an element: from the mesh's edges alone.
static int64_t trace_row(const op_case *c, int32_t e, int a)
{
  const int m = c->size.n_edge;
  const int32_t edge = (int32_t)(c->mesh->side_edge[3 * e + a / m] >> 1);
  int32_t trace = 0;
  while (c->layout.mesh_edge[trace] != edge) ++trace;
  return (int64_t)trace * m + a % m;
}

/// Entry (a, b) of the packed K^e.
static double local_entry(const op_case *c, const op_data *data, int32_t e, int a, int b)
{
  const int k = a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a;
  return data
      ->array[OP_LOCAL][((int64_t)(e / KG_LANES) * c->size.n_packed + k) * KG_LANES + e % KG_LANES];
}

/// y += |K| |x| or K x of one element.
static void multiply_element(const op_case *c, const op_data *data, int32_t e, const double *x,
                             double *y, double *size)
{
  int64_t row[3 * (KEDGE_ORDER_MAX + 1)];
  const int n = c->size.n_trace;
  for (int a = 0; a < n; ++a) row[a] = trace_row(c, e, a);
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) {
      const double term = local_entry(c, data, e, a, b) * x[row[b]];
      y[row[a]] += term;
      size[row[a]] += fabs(term);
    }
}

static void check_product(op_case *c, const op_data *data)
{
  const size_t rows = op_count(c, OP_TRACE), n_free = op_count(c, OP_PRODUCT);
  double *y = calloc(rows + 1, sizeof *y), *size = calloc(rows + 1, sizeof *size);
  assert_true(y && size);
  for (int32_t e = 0; e < c->mesh->n_elements; ++e)
    multiply_element(c, data, e, data->array[OP_TRACE], y, size);
  for (size_t i = 0; i < n_free; ++i)
    assert_at_most(fabs(data->array[OP_PRODUCT][i] - y[i]),
                   rounding(2 * c->size.n_trace) * size[i]);
  double energy = 0.0, scale = 0.0;
  // The operator's x . K x runs over all rows of x, Dirichlet rows too.
  for (size_t i = 0; i < rows; ++i) {
    energy += data->array[OP_TRACE][i] * y[i];
    scale += fabs(data->array[OP_TRACE][i]) * size[i];
  }
  assert_at_most(fabs(data->array[OP_PRODUCT_STATE][STATE_P_AP] - energy),
                 rounding((double)rows) * scale);
  free(y);
  free(size);
}

static void product_is_that_of_the_elements_matrices_summed_over_edges(void **state)
{
  (void)state;
  for_cases(check_product);
}

static void check_sums(op_case *c, const op_data *data)
{
  const size_t rows = op_count(c, OP_TRACE), n_free = op_count(c, OP_RHS);
  double *sum = calloc(rows + 1, sizeof *sum), *diagonal = calloc(rows + 1, sizeof *diagonal);
  assert_true(sum && diagonal);
  for (int32_t e = 0; e < c->mesh->n_elements; ++e)
    for (int a = 0; a < c->size.n_trace; ++a) {
      const int64_t row = trace_row(c, e, a);
      const int64_t at = ((int64_t)(e / KG_LANES) * c->size.n_trace + a) * KG_LANES + e % KG_LANES;
      sum[row] += data->array[OP_CONDENSED][at];
      diagonal[row] += local_entry(c, data, e, a, a);
    }
  for (size_t i = 0; i < n_free; ++i) {
    assert_true(data->array[OP_RHS][i] == sum[i]);  // a sum of at most two numbers
    assert_at_most(fabs(data->array[OP_INVERSE][i] * diagonal[i] - 1.0), rounding(1));
  }
  free(sum);
  free(diagonal);
}

static void facet_sums_add_the_rows_of_one_or_two_elements(void **state)
{
  (void)state;
  for_cases(check_sums);
}

/// r . r and r . z of a z that is D^-1 r.
static void check_sums_of(size_t n, const double *z, const double *inverse, const double *rr,
                          const double *rz)
{
  double expected_rr = 0.0, expected_rz = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const double r = z[i] / inverse[i];
    expected_rr += r * r;
    expected_rz += r * z[i];
  }
  assert_close(1, rr, &expected_rr, rounding((double)n));
  assert_close(1, rz, &expected_rz, rounding((double)n));
}

static void check_start(op_case *c, const op_data *data)
{
  const size_t n = op_count(c, OP_RHS);
  const double *z = data->array[OP_Z], *inverse = data->array[OP_INVERSE];
  const double *b = data->array[OP_RHS], *ax = data->array[OP_PRODUCT];
  for (size_t i = 0; i < n; ++i)
    assert_at_most(fabs(z[i] - inverse[i] * (b[i] - ax[i])),
                   rounding(2) * fabs(inverse[i]) * (fabs(b[i]) + fabs(ax[i])));
  assert_memory_equal(data->array[OP_P], z, n * sizeof *z);
  const double *state = data->array[OP_START_STATE];
  check_sums_of(n, z, inverse, &state[STATE_RR], &state[STATE_RZ]);
}

/// alpha of the update and of the direction after it.
static double step_length(const op_data *data)
{
  return data->array[OP_START_STATE][STATE_RZ] / data->array[OP_PRODUCT_STATE][STATE_P_AP];
}

static void check_update(op_case *c, const op_data *data)
{
  const size_t n = op_count(c, OP_RHS);
  const double *z = data->array[OP_Z], *z_next = data->array[OP_Z_NEXT];
  const double *ap = data->array[OP_PRODUCT], *inverse = data->array[OP_INVERSE];
  for (size_t i = 0; i < n; ++i) {
    const double change = step_length(data) * inverse[i] * ap[i];
    assert_at_most(fabs(z_next[i] - (z[i] - change)), rounding(3) * (fabs(z[i]) + fabs(change)));
  }
  const double *state = data->array[OP_UPDATE_STATE];
  check_sums_of(n, z_next, inverse, &state[STATE_RR], &state[STATE_RZ_NEXT]);
  assert_true(state[STATE_ITERATIONS] == 7.0 && state[STATE_STEPS] == 6.0);
}

static void check_open_product(op_case *c, const op_data *data)
{
  const size_t n = op_count(c, OP_PRODUCT), m = (size_t)c->size.n_edge;
  const size_t inside = (size_t)c->layout.count.n_interior * m, halo = op_count(c, OP_HALO);
  double *y = malloc((n + 1) * sizeof *y);
  assert_non_null(y);
  memcpy(y, data->array[OP_OPEN], n * sizeof *y);
  for (size_t i = 0; i < halo; ++i) y[inside + i] += data->array[OP_HALO][i];
  assert_memory_equal(y, data->array[OP_PRODUCT], n * sizeof *y);
  free(y);
}

static void an_open_product_and_its_halo_are_the_product(void **state)
{
  (void)state;
  for_cases(check_open_product);
}

static void check_open_update(op_case *c, const op_data *data)
{
  const size_t n = op_count(c, OP_RHS);
  assert_memory_equal(data->array[OP_Z_OPEN], data->array[OP_Z_NEXT], n * sizeof(double));
  const double *open = data->array[OP_OPEN_STATE], *closed = data->array[OP_UPDATE_STATE];
  assert_close(STATE_NUMBERS, open, closed, rounding((double)n));
}

static void check_direction(op_case *c, const op_data *data)
{
  const size_t n = op_count(c, OP_RHS), all = op_count(c, OP_TRACE);
  if (n == 0) return;  // rz = 0
  const double *update = data->array[OP_UPDATE_STATE], *state = data->array[OP_DIRECTION_STATE];
  const double *z = data->array[OP_Z_NEXT], *x = data->array[OP_TRACE], *p = data->array[OP_P];
  const double *x_next = data->array[OP_X_NEXT], *p_next = data->array[OP_P_NEXT];
  const double alpha = step_length(data), beta = update[STATE_RZ_NEXT] / update[STATE_RZ];
  for (size_t i = 0; i < n; ++i) {
    assert_at_most(fabs(x_next[i] - (x[i] + alpha * p[i])),
                   rounding(2) * (fabs(x[i]) + fabs(alpha * p[i])));
    assert_at_most(fabs(p_next[i] - (z[i] + beta * p[i])),
                   rounding(2) * (fabs(z[i]) + fabs(beta * p[i])));
  }
  assert_true(state[STATE_RZ] == update[STATE_RZ_NEXT]);
  assert_true(state[STATE_STEPS] == update[STATE_ITERATIONS]);
  assert_memory_equal(x_next + n, x + n, (all - n) * sizeof *x);
  assert_memory_equal(p_next + n, p + n, (all - n) * sizeof *p);
}

static void cg_starts_from_the_residual(void **state)
{
  (void)state;
  for_cases(check_start);
}

static void cg_updates_the_preconditioned_residual(void **state)
{
  (void)state;
  for_cases(check_update);
}

static void cg_adds_the_halo_to_the_rows_that_the_product_left_open(void **state)
{
  (void)state;
  for_cases(check_open_update);
}

static void cg_moves_x_takes_the_next_direction_and_leaves_dirichlet_rows_alone(void **state)
{
  (void)state;
  for_cases(check_direction);
}

/// Four rows of a CG update in device memory.
typedef struct update {
  op_case c;
  kg_cg_vectors_args args;
  kg_cg_state state;
} update;

static kg_cg_state *put_state(update *u)
{
  return case_upload(&u->c, &u->state, 1, sizeof u->state);
}

static void update_create(update *u, kg_cg_state state, const double *ap)
{
  const double ones[4] = {1, 1, 1, 1};
  case_create(&u->c, ctx, 2, 1, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  u->state = state;
  u->args = (kg_cg_vectors_args){.n = 4,
                                 .inverse = case_input(&u->c, ones, 4),
                                 .x = case_input(&u->c, ones, 4),
                                 .z = case_input(&u->c, ones, 4),
                                 .p = case_input(&u->c, ones, 4),
                                 .ap = case_input(&u->c, ap, 4),
                                 .partial = case_output(&u->c, 2 * KG_PIECES),
                                 .state = put_state(u)};
}

static void update_finish(update *u)
{
  must(ctx, kg_copy_out(ctx, &u->state, u->args.state, sizeof u->state));
  must(ctx, kg_sync(ctx));
  case_destroy(&u->c);
}

static void assert_stop(kg_cg_state before, const double *ap, enum kg_cg_stop expected)
{
  update u;
  update_create(&u, before, ap);
  must(ctx, kg_cg_update(ctx, &u.args));
  update_finish(&u);
  assert_int_equal(u.state.stop, expected);
  assert_int_equal(u.state.iterations, before.iterations + 1);
}

static void an_update_stops_at_the_target_the_limit_and_nan(void **state)
{
  (void)state;
  const double half[4] = {0.5, 0.5, 0.5, 0.5}, bad[4] = {0.5, NAN, 0.5, 0.5};
  const kg_cg_state s = {.p_ap = 2.0, .rz = 2.0, .iterations = 3, .max_iterations = 10};
  kg_cg_state near = s, last = s;  // after the update r = 1/2 and r . r = 1
  near.target = 1.0;
  last.iterations = 9;
  assert_stop(s, half, KG_CG_RUNNING);
  assert_stop(near, half, KG_CG_CONVERGED);
  assert_stop(last, half, KG_CG_LIMIT);
  assert_stop(near, bad, KG_CG_NOT_FINITE);
}

static void nothing_is_touched_after_a_stop(void **state)
{
  (void)state;
  const double half[4] = {0.5, 0.5, 0.5, 0.5}, ones[4] = {1, 1, 1, 1};
  update u;
  const kg_cg_state before = {
      .p_ap = 2.0, .rz = 2.0, .iterations = 3, .steps = 3, .stop = KG_CG_CONVERGED};
  update_create(&u, before, half);
  must(ctx, kg_cg_update(ctx, &u.args));
  must(ctx, kg_cg_direction(ctx, &u.args));
  double *const vectors[] = {u.args.x, u.args.z, u.args.p};
  for (int i = 0; i < 3; ++i) {
    double *now = case_fetch(&u.c, vectors[i]);
    assert_memory_equal(now, ones, sizeof ones);
    free(now);
  }
  update_finish(&u);
  assert_memory_equal(&u.state, &before, sizeof before);
}

static void x_takes_its_last_step_once_after_a_stop(void **state)
{
  (void)state;
  const double half[4] = {0.5, 0.5, 0.5, 0.5}, moved[4] = {3, 3, 3, 3};
  update u;
  const kg_cg_state before = {
      .p_ap = 1.0, .rz = 2.0, .iterations = 3, .steps = 2, .stop = KG_CG_LIMIT};
  update_create(&u, before, half);
  for (int i = 0; i < 2; ++i) {
    must(ctx, kg_cg_direction(ctx, &u.args));
    double *x = case_fetch(&u.c, u.args.x);
    assert_memory_equal(x, moved, sizeof moved);
    free(x);
  }
  update_finish(&u);
  assert_int_equal(u.state.steps, 3);
}

/// The stop that an update finds in p . A p; where there is one it touches nothing else.
static void check_sum(double p_ap, enum kg_cg_stop expected)
{
  const double half[4] = {0.5, 0.5, 0.5, 0.5}, ones[4] = {1, 1, 1, 1};
  const kg_cg_state before = {.p_ap = p_ap, .rz = 2.0, .iterations = 3, .max_iterations = 10};
  update u;
  update_create(&u, before, half);
  must(ctx, kg_cg_update(ctx, &u.args));
  double *z = case_fetch(&u.c, u.args.z);
  update_finish(&u);
  assert_int_equal(u.state.stop, expected);
  assert_int_equal(u.state.iterations, expected == KG_CG_RUNNING ? 4 : 3);
  assert_int_equal(memcmp(z, ones, sizeof ones) == 0, expected != KG_CG_RUNNING);
  free(z);
}

static void a_sum_that_is_not_positive_stops_the_update_that_reads_it(void **state)
{
  (void)state;
  check_sum(2.0, KG_CG_RUNNING);
  check_sum(-2.0, KG_CG_INDEFINITE);
  check_sum(0.0, KG_CG_INDEFINITE);
  check_sum(NAN, KG_CG_NOT_FINITE);
  check_sum(INFINITY, KG_CG_NOT_FINITE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(product_is_that_of_the_elements_matrices_summed_over_edges),
      cmocka_unit_test(facet_sums_add_the_rows_of_one_or_two_elements),
      cmocka_unit_test(cg_starts_from_the_residual),
      cmocka_unit_test(an_open_product_and_its_halo_are_the_product),
      cmocka_unit_test(cg_updates_the_preconditioned_residual),
      cmocka_unit_test(cg_adds_the_halo_to_the_rows_that_the_product_left_open),
      cmocka_unit_test(cg_moves_x_takes_the_next_direction_and_leaves_dirichlet_rows_alone),
      cmocka_unit_test(an_update_stops_at_the_target_the_limit_and_nan),
      cmocka_unit_test(nothing_is_touched_after_a_stop),
      cmocka_unit_test(x_takes_its_last_step_once_after_a_stop),
      cmocka_unit_test(a_sum_that_is_not_positive_stops_the_update_that_reads_it),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
