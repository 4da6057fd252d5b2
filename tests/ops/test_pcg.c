// The vector passes of conjugate gradients with a preconditioner against plain loops, in double
// precision, with z in single precision (mixed) and with all but x in it (single).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "compare.h"
#include "context.h"
#include "ops/vector/cg_vectors.h"

enum form { IN_DOUBLE, MIXED, IN_SINGLE, FORMS };
enum vector { X, Z, R, P, AP, HALO, VECTORS };

/// Vectors in device memory, and the same numbers on the host.
typedef struct vectors {
  op_case c;
  size_t n;
  enum form form;
  kg_open open;
  void *device[VECTORS];
  double *host[VECTORS];
  kg_cg_vectors_args args;
} vectors;

static kg_number number_of(enum form form, enum vector vector)
{
  const bool is_single = vector == Z ? form != IN_DOUBLE : form == IN_SINGLE && vector != X;
  return is_single ? KG_SINGLE : KG_DOUBLE;
}

static size_t length(const vectors *v, enum vector vector)
{
  return vector == HALO ? (size_t)v->open.n : v->n;
}

/// Random numbers that their type holds, and a copy in device memory.
static void make_vector(vectors *v, enum vector vector)
{
  const size_t n = length(v, vector);
  double *values = case_randoms(vector + 1, n);
  v->host[vector] = values;
  if (number_of(v->form, vector) == KG_DOUBLE) {
    v->device[vector] = case_input(&v->c, values, n);
    return;
  }
  float *rounded = calloc(n + 2, sizeof *rounded);
  assert_non_null(rounded);
  for (size_t i = 0; i < n; ++i) values[i] = rounded[i] = (float)values[i];
  v->device[vector] = case_input(&v->c, (double *)rounded, (n + 1) / 2);
  free(rounded);
}

static void create(vectors *v, size_t n, enum form form, kg_open open, kg_cg_state state)
{
  *v = (vectors){.n = n, .form = form, .open = open};
  case_create(&v->c, ctx, 2, 1, CASE_NEUMANN, (kg_material){1.0, 0.0, 1.0, KEDGE_SCALING_ONE});
  for (int i = 0; i < VECTORS; ++i) make_vector(v, (enum vector)i);
  v->open.halo = v->device[HALO];
  v->args = (kg_cg_vectors_args){.n = (int64_t)n,
                                 .x = v->device[X],
                                 .open = v->open,
                                 .partial = case_output(&v->c, 2 * KG_PIECES),
                                 .state = case_upload(&v->c, &state, 1, sizeof state)};
  if (form == IN_DOUBLE)
    v->args.z = v->device[Z];
  else
    v->args.z_single = v->device[Z];
  if (form == IN_SINGLE) {
    v->args.r_single = v->device[R];
    v->args.p_single = v->device[P];
    v->args.ap_single = v->device[AP];
  } else {
    v->args.r = v->device[R];
    v->args.p = v->device[P];
    v->args.ap = v->device[AP];
  }
}

static void destroy(vectors *v)
{
  for (int i = 0; i < VECTORS; ++i) free(v->host[i]);
  case_destroy(&v->c);
}

/// What a vector holds now, to be freed.
static double *fetch(vectors *v, enum vector vector)
{
  const size_t n = length(v, vector);
  double *found = case_fetch(&v->c, v->device[vector]);
  if (number_of(v->form, vector) == KG_DOUBLE) return found;
  double *values = malloc((n + 1) * sizeof *values);
  assert_non_null(values);
  for (size_t i = 0; i < n; ++i) values[i] = ((float *)found)[i];
  free(found);
  return values;
}

static kg_cg_state fetch_state(const vectors *v)
{
  kg_cg_state state;
  must(ctx, kg_copy_out(ctx, &state, v->args.state, sizeof state));
  return state;
}

static void assert_untouched(vectors *v, enum vector vector)
{
  double *now = fetch(v, vector);
  assert_memory_equal(now, v->host[vector], length(v, vector) * sizeof *now);
  free(now);
}

/// Rounding of a sum of `terms` numbers of a vector, relative to its largest partial sums.
static double rounding_in(const vectors *v, enum vector vector, double terms)
{
  return rounding(terms) *
         (number_of(v->form, vector) == KG_SINGLE ? FLT_EPSILON / DBL_EPSILON : 1.0);
}

/// A p with its halo.
static long double closed(const vectors *v, size_t i)
{
  const int64_t at = (int64_t)i - v->open.first;
  const bool is_open = at >= 0 && at < v->open.n;
  return (long double)v->host[AP][i] + (is_open ? v->host[HALO][at] : 0.0);
}

static kg_cg_state a_state(enum form form)
{
  return (kg_cg_state){.p_ap = 1.7,
                       .rz = 0.6,
                       .rz_next = 0.4,
                       .rr = 3.0,
                       .target = -1.0,  // a sum over no rows is not below it
                       .iterations = 3,
                       .max_iterations = 10,
                       .steps = 3,
                       .exponent = form == IN_SINGLE ? 7 : 0};
}

typedef void pass_check(vectors *v, const kg_cg_state *before);

/// Sizes about pairs of rows and blocks; no open row, some that begin and end inside a pair, all.
static void for_all(enum form last,
                    kedge_status (*pass)(kedge_context *, const kg_cg_vectors_args *),
                    pass_check *check)
{
  const size_t sizes[] = {0, 1, 2, 511, 1023, 1025, 5003};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k)
    for (int form = 0; form <= (int)last; ++form)
      for (int i = 0; i < 3; ++i) {
        const int64_t n = (int64_t)sizes[k];
        const kg_open some = {.first = n / 4 * 2 + 1, .n = n / 3}, all = {.first = 0, .n = n};
        const kg_open open = i == 0 ? (kg_open){0} : i == 1 ? some : all;
        const kg_cg_state before = a_state((enum form)form);
        vectors v, again;
        create(&v, sizes[k], (enum form)form, open, before);
        create(&again, sizes[k], (enum form)form, open, before);
        must(ctx, pass(ctx, &v.args));
        must(ctx, pass(ctx, &again.args));
        check(&v, &before);
        const kg_cg_state state = fetch_state(&v), repeated = fetch_state(&again);
        assert_memory_equal(&state, &repeated, sizeof state);
        const enum vector results[] = {X, R, P};
        for (int j = 0; j < 3; ++j) {
          double *values = fetch(&v, results[j]), *others = fetch(&again, results[j]);
          assert_memory_equal(values, others, v.n * sizeof *values);
          free(values);
          free(others);
        }
        destroy(&v);
        destroy(&again);
      }
}

static void check_p(vectors *v, double beta)
{
  double *p = fetch(v, P);
  for (size_t i = 0; i < v->n; ++i) {
    const double z = v->host[Z][i], before = v->host[P][i];
    assert_at_most(fabsl(p[i] - (z + (long double)beta * before)),
                   rounding_in(v, P, 2) * (fabs(z) + fabs(beta * before)));
  }
  free(p);
}

static void check_direction(vectors *v, const kg_cg_state *before)
{
  check_p(v, before->rz_next / before->rz);
  assert_untouched(v, X);
  assert_untouched(v, R);
  kg_cg_state expected = *before;
  expected.rz = before->rz_next;
  const kg_cg_state state = fetch_state(v);
  assert_memory_equal(&state, &expected, sizeof state);
}

static void the_direction_adds_a_part_of_the_one_before(void **state)
{
  (void)state;
  for_all(IN_SINGLE, kg_pcg_direction, check_direction);
}

static void the_first_direction_is_the_preconditioned_residual(void **state)
{
  (void)state;
  for (int form = 0; form < FORMS; ++form) {
    vectors v;
    kg_cg_state first = a_state((enum form)form);
    first.rz = 0.0;
    create(&v, 1023, (enum form)form, (kg_open){0}, first);
    must(ctx, kg_pcg_direction(ctx, &v.args));
    double *p = fetch(&v, P);
    assert_memory_equal(p, v.host[Z], v.n * sizeof *p);
    free(p);
    assert_true(fetch_state(&v).rz == first.rz_next);
    destroy(&v);
  }
}

static void check_update(vectors *v, const kg_cg_state *before)
{
  const long double alpha = (long double)before->rz / before->p_ap;
  const long double by = ldexpl(alpha, -before->exponent);
  double *x = fetch(v, X), *r = fetch(v, R);
  long double rr = 0.0;
  for (size_t i = 0; i < v->n; ++i) {
    const long double step = by * v->host[P][i], change = alpha * closed(v, i);
    const long double expected = v->host[R][i] - change;
    assert_at_most(fabsl(x[i] - (v->host[X][i] + step)),
                   rounding(2) * (fabs(v->host[X][i]) + fabsl(step)));
    assert_at_most(fabsl(r[i] - expected),
                   rounding_in(v, R, 3) * (fabs(v->host[R][i]) + fabsl(alpha) * 2.0));
    rr += expected * expected;
  }
  free(x);
  free(r);
  assert_untouched(v, P);
  const double sum = (double)ldexpl(rr, -2 * before->exponent);
  const kg_cg_state state = fetch_state(v);
  assert_close(1, &state.rr, &sum, rounding_in(v, R, (double)v->n));
  kg_cg_state expected = *before;
  expected.rr = state.rr;
  expected.iterations = expected.steps = before->iterations + 1;
  assert_memory_equal(&state, &expected, sizeof state);
}

static void the_update_moves_x_and_the_residual_along_the_direction(void **state)
{
  (void)state;
  for_all(IN_SINGLE, kg_pcg_update, check_update);
}

static void nothing_is_touched_after_a_stop(void **state)
{
  (void)state;
  for (int form = 0; form < FORMS; ++form) {
    vectors v;
    kg_cg_state stopped = a_state((enum form)form);
    stopped.stop = KG_CG_CONVERGED;
    create(&v, 1025, (enum form)form, (kg_open){.first = 3, .n = 10}, stopped);
    must(ctx, kg_pcg_direction(ctx, &v.args));
    must(ctx, kg_pcg_update(ctx, &v.args));
    for (int i = 0; i < VECTORS; ++i) assert_untouched(&v, (enum vector)i);
    const kg_cg_state after = fetch_state(&v);
    assert_memory_equal(&after, &stopped, sizeof after);
    destroy(&v);
  }
}

/// Nothing moves but the stop.
static void check_stop(kg_cg_state before,
                       kedge_status (*pass)(kedge_context *, const kg_cg_vectors_args *),
                       enum kg_cg_stop expected)
{
  vectors v;
  create(&v, 1025, IN_DOUBLE, (kg_open){0}, before);
  must(ctx, pass(ctx, &v.args));
  for (int i = 0; i < VECTORS; ++i) assert_untouched(&v, (enum vector)i);
  const kg_cg_state after = fetch_state(&v);
  before.stop = expected;
  assert_memory_equal(&after, &before, sizeof after);
  destroy(&v);
}

static void a_sum_that_is_not_positive_stops_the_pass_that_reads_it(void **state)
{
  (void)state;
  const double bad[] = {-1.0, 0.0, NAN, INFINITY};
  for (int i = 0; i < 4; ++i) {
    kg_cg_state before = a_state(IN_DOUBLE);
    before.rz_next = bad[i];
    check_stop(before, kg_pcg_direction, i < 2 ? KG_CG_PRECONDITIONER : KG_CG_NOT_FINITE);
    before = a_state(IN_DOUBLE);
    before.p_ap = bad[i];
    check_stop(before, kg_pcg_update, i < 2 ? KG_CG_INDEFINITE : KG_CG_NOT_FINITE);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_direction_adds_a_part_of_the_one_before),
      cmocka_unit_test(the_first_direction_is_the_preconditioned_residual),
      cmocka_unit_test(the_update_moves_x_and_the_residual_along_the_direction),
      cmocka_unit_test(nothing_is_touched_after_a_stop),
      cmocka_unit_test(a_sum_that_is_not_positive_stops_the_pass_that_reads_it),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
