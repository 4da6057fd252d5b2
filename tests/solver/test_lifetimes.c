// Solutions on the device: what brings them, who may read them, and how long they live.
#include <pthread.h>

#include "compare.h"
#include "repeated.h"
#include "solution/solution.h"

/// What is read of a solution element by element.
static double *read_elements(const bench *b, const kedge_solution *s, size_t *count)
{
  const size_t n = (size_t)b->mesh->n_elements;
  double *const values = malloc((*count = n * (KEDGE_FIELD_COUNT_PLANE + 1)) * sizeof *values);
  assert_non_null(values);
  for (int f = 0; f < KEDGE_FIELD_COUNT_PLANE; ++f)
    must(b->ctx, kedge_solution_means(s, (kedge_field)f, values + (size_t)f * n));
  must(b->ctx, kedge_solution_indicator(s, values + KEDGE_FIELD_COUNT_PLANE * n));
  return values;
}

static void assert_same_elements(const bench *b, const kedge_solution *x, const kedge_solution *y)
{
  size_t n;
  double *const of_x = read_elements(b, x, &n), *const of_y = read_elements(b, y, &n);
  assert_memory_equal(of_x, of_y, n * sizeof *of_x);
  free(of_x);
  free(of_y);
}

/// u* at the middles of elements, without a sentence.
static kedge_status read_points(const kedge_solution *s, double *values)
{
  const size_t n = (size_t)s->mesh->n_elements;
  double *const zero = calloc(n, sizeof *zero);
  int32_t *const place = malloc(n * sizeof *place);
  for (size_t e = 0; e < n; ++e) place[e] = (int32_t)e;
  const kedge_points points = {.n = n, .mesh = s->mesh, .place = place, .r = zero, .s = zero};
  const kedge_status status = kedge_solution_at(s, KEDGE_FIELD_U_STAR, &points, values);
  free(zero);
  free(place);
  return status;
}

/// Nothing is on the host before it is read; means come first, from the constant modes.
static void what_is_read_is_what_a_solve_brings(void **state)
{
  (void)state;
  const bool is_apart = test_backend() != KEDGE_BACKEND_HOST;
  for (int i = 0; i < SAMPLES; i += test_is_quick() ? 4 : 1) {
    bench b = bench_of(&samples[i]);
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[i], 1), *again = NULL;
    for (int turn = 0; turn < 2; ++turn) {
      solve_again(b.ctx, b.solver, 1, &again);
      assert_int_equal(again->place, KG_ON_DEVICE);
      for (int f = 0; f < KG_HELD_FIELDS; ++f)
        assert_int_equal(again->held[f].is_current, kg_holds(again, f) && !is_apart);
      assert_same_elements(&b, again, fresh);
      assert_same_solve(b.ctx, again, fresh);
    }
    kedge_solution_destroy(fresh);
    kedge_solution_destroy(again);
    bench_free(&b);
  }
}

static void solutions_outlive_updates_and_their_solver(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; i += 4) {
    bench b = bench_of(&samples[i]);
    kedge_solution *fresh[2] = {NULL}, *again[2] = {NULL};
    for (int k = 0; k < 2; ++k) {
      must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &fresh[k]));
      must(b.ctx, kedge_solver_solve(b.solver, NULL, &again[k]));
      must(b.ctx, kedge_problem_set(b.problem, "equation", "reaction", k ? "1" : "2*x"));
      must(b.ctx, kedge_problem_set(b.problem, "boundary top", "type", "dirichlet"));
      must(b.ctx, kedge_solver_update(b.solver));
    }
    kedge_solver_destroy(b.solver);
    b.solver = NULL;
    for (int k = 0; k < 2; ++k) {
      assert_same_solve(b.ctx, again[k], fresh[k]);
      assert_same_elements(&b, again[k], fresh[k]);
      kedge_solution_destroy(again[k]);
      kedge_solution_destroy(fresh[k]);
    }
    assert_int_equal(b.ctx->bytes_in_use, 0);
    bench_free(&b);
  }
}

typedef struct reader {
  const kedge_solution *solution;
  double *values;
  kedge_status status;
} reader;

static void *read_at(void *user)
{
  reader *const r = user;
  r->status = read_points(r->solution, r->values);
  return NULL;
}

static void a_solution_is_read_by_threads_at_once(void **state)
{
  (void)state;
  enum { READERS = 4 };
  bench b = bench_of(&samples[2]);
  const size_t bytes = (size_t)b.mesh->n_elements * sizeof(double);
  kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[2], 1), *again = NULL;
  double *const expected = malloc(bytes);
  must(b.ctx, read_points(fresh, expected));
  for (int turn = 0; turn < 5; ++turn) {
    pthread_t threads[READERS];
    reader readers[READERS];
    solve_again(b.ctx, b.solver, 1, &again);
    for (int i = 0; i < READERS; ++i) {
      readers[i] = (reader){again, malloc(bytes), KEDGE_OK};
      assert_int_equal(pthread_create(&threads[i], NULL, read_at, &readers[i]), 0);
    }
    for (int i = 0; i < READERS; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < READERS; ++i) {
      assert_int_equal(readers[i].status, KEDGE_OK);
      assert_memory_equal(readers[i].values, expected, bytes);
      free(readers[i].values);
    }
  }
  free(expected);
  kedge_solution_destroy(fresh);
  kedge_solution_destroy(again);
  bench_free(&b);
}

/// A source that nobody has brought.
static void by_another(void *user, const kedge_points *points, double *value)
{
  if (kedge_solution_at(user, KEDGE_FIELD_U_STAR, points, value) != KEDGE_OK) abort();
}

typedef struct onlooker {
  kedge_context *ctx;
  const kedge_solution *solution;
  double *values;
} onlooker;

static bool look(void *user, const kedge_progress *progress)
{
  (void)progress;
  onlooker *const o = user;
  return kedge_solution_values(o->solution, KEDGE_FIELD_U, 2, o->values) == KEDGE_OK;
}

/// Check that both solutions are the same to rounding.
static void assert_alike(kedge_context *ctx, const kedge_solution *a, const kedge_solution *b)
{
  fields x = fields_of(ctx, a), y = fields_of(ctx, b);
  assert_at_most(fields_distance(&x, &y), 1e-11);
  fields_free(&x);
  fields_free(&y);
}

/// Functions bring at their first call. kedge_by_solution() is brought before, unless it is the
/// source and the device can read it there.
static void functions_that_a_solve_calls_read_solutions(void **state)
{
  (void)state;
  for (int i = 0; i < 2; ++i) {
    bench b = bench_of(&samples[2]);
    kedge_solution *of_host = solve_fresh(b.ctx, b.mesh, &samples[2], 0), *there = NULL;
    kedge_solution *expected = NULL, *made = NULL;
    onlooker o = {b.ctx, NULL, malloc(6 * (size_t)b.mesh->n_elements * sizeof(double))};
    solve_again(b.ctx, b.solver, 0, &there);
    kedge_data data = KEDGE_DATA_INIT;
    data.source_function = i ? by_another : kedge_by_solution;
    data.source_user = of_host;
    must(b.ctx, kedge_solver_solve(b.solver, &data, &expected));
    data.source_user = there;
    o.solution = there;
    kedge_context_set_progress(b.ctx, look, &o);
    must(b.ctx, kedge_solver_solve(b.solver, &data, &made));
    kedge_context_set_progress(b.ctx, NULL, NULL);
    const bool stays = i == 0 && b.ctx->backend != KEDGE_BACKEND_HOST;
    assert_int_equal(there->held[KG_HELD_U_STAR].is_current, !stays);
    if (stays)
      assert_alike(b.ctx, made, expected);
    else
      assert_same_solve(b.ctx, made, expected);
    kedge_solution *const all[] = {of_host, there, expected, made};
    for (int k = 0; k < 4; ++k) kedge_solution_destroy(all[k]);
    free(o.values);
    bench_free(&b);
  }
}

static void live_solutions_take_what_is_predicted(void **state)
{
  (void)state;
  enum { LIVE = 3 };
  for (int i = 0; i < SAMPLES; i += test_is_quick() ? 6 : 2) {
    bench b = bench_of(&samples[i]);
    const int64_t set_up = b.ctx->bytes_in_use, each = solution_bytes(&b);
    kedge_solution *live[LIVE + 1] = {NULL};
    for (int n = 0; n <= LIVE; n += n < 1 ? 1 : 2) {
      for (int k = 0; k < n; ++k) solve_again(b.ctx, b.solver, k % DATA, &live[k]);
      for (int turn = 0; turn < 2; ++turn) {
        kedge_report report = KEDGE_REPORT_INIT;
        solve_again(b.ctx, b.solver, turn, &live[n]);
        must(b.ctx, kedge_solution_report(live[n], &report));
        assert_int_equal(report.peak_device_bytes, set_up + each);
        assert_int_equal(report.predicted_device_bytes, set_up + each);
        assert_int_equal(b.ctx->bytes_in_use, set_up + (n + 1) * each);
      }
      must(b.ctx, kedge_solver_update(b.solver));
      assert_int_equal(b.ctx->bytes_in_use, set_up + (n + 1) * each);
      for (int k = 0; k <= n; ++k) {
        kedge_solution_destroy(live[k]);
        live[k] = NULL;
      }
      assert_int_equal(b.ctx->bytes_in_use, set_up);
    }
    bench_free(&b);
  }
}

static void solves_with_and_without_reading_leave_no_memory(void **state)
{
  (void)state;
  const int solves = test_is_quick() ? 20 : 200;
  bench b = bench_of(&samples[0]);
  const int64_t set_up = b.ctx->bytes_in_use;
  for (int k = 0; k < solves; ++k) {
    kedge_solution *s = NULL;
    solve_again(b.ctx, b.solver, k % DATA, &s);
    if (k % 3 == 1) {
      fields f = fields_of(b.ctx, s);
      fields_free(&f);
    }
    kedge_solution_destroy(s);
    assert_int_equal(b.ctx->bytes_in_use, set_up);
  }
  bench_free(&b);
}

static const kg_backend_table *plenty;
static bool says_free;
static int64_t of_a_set_up;

static int64_t say_free(kedge_context *context)
{
  return says_free ? plenty->free_bytes(context) : of_a_set_up;
}

static kedge_status refuse_memory(kedge_context *context, size_t bytes, void **out)
{
  (void)out;
  return KG_FAIL(context, KEDGE_ERR_MEMORY, "no room for %zu bytes", bytes);
}

/// No more is said to be free than another set-up takes, or more when it is not.
static void without_room_on_the_device_results_go_to_the_host(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; i += 3) {
    bench b = bench_of(&samples[i]);
    const int64_t set_up = of_a_set_up = b.ctx->bytes_in_use;
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[i], 1);
    plenty = b.ctx->table;
    kg_backend_table table = *plenty;
    table.free_bytes = say_free;
    table.alloc = refuse_memory;
    for (int turn = 0; turn < 2; ++turn) {
      kedge_solution *again = NULL;
      kedge_report report = KEDGE_REPORT_INIT;
      says_free = turn == 1;
      b.ctx->table = &table;
      for (int k = 0; k < 2; ++k) solve_again(b.ctx, b.solver, k, &again);
      b.ctx->table = plenty;
      assert_int_equal(again->place, KG_ON_HOST);
      assert_same_solve(b.ctx, again, fresh);
      assert_same_elements(&b, again, fresh);
      must(b.ctx, kedge_solution_report(again, &report));
      assert_int_equal(report.peak_device_bytes, set_up);
      assert_int_equal(report.predicted_device_bytes, set_up);
      assert_int_equal(report.solution_bytes, 0);
      kedge_solution_destroy(again);
    }
    kedge_solution_destroy(fresh);
    bench_free(&b);
  }
}

/// Without memory for the values there, the modes are brought.
static void without_room_for_values_modes_are_brought(void **state)
{
  (void)state;
  bench b = bench_of(&samples[0]);
  kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[0], 1), *again = NULL;
  solve_again(b.ctx, b.solver, 1, &again);
  const kg_backend_table *const before = b.ctx->table;
  kg_backend_table table = *before;
  table.alloc = refuse_memory;
  b.ctx->table = &table;
  assert_same_solve(b.ctx, again, fresh);
  assert_same_elements(&b, again, fresh);
  b.ctx->table = before;
  kedge_solution_destroy(fresh);
  kedge_solution_destroy(again);
  bench_free(&b);
}

static void a_cancelled_solve_leaves_other_solutions(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; i += 6) {
    bench b = bench_of(&samples[i]);
    kedge_solution *fresh = solve_fresh(b.ctx, b.mesh, &samples[i], 1), *kept = NULL, *next = NULL;
    solve_again(b.ctx, b.solver, 1, &kept);
    const int64_t held = b.ctx->bytes_in_use;
    patience p = {.most = 1};
    kedge_context_set_progress(b.ctx, be_patient, &p);
    for (;; ++p.most, p.calls = 0) {
      const kedge_status status = kedge_solver_solve(b.solver, NULL, &next);
      if (status == KEDGE_OK) break;
      assert_int_equal(status, KEDGE_ERR_CANCELLED);
      assert_int_equal(b.ctx->bytes_in_use, held);
    }
    kedge_context_set_progress(b.ctx, NULL, NULL);
    assert_true(p.most > 6);
    assert_same_solve(b.ctx, kept, fresh);
    kedge_solution_destroy(next);
    kedge_solution_destroy(kept);
    kedge_solution_destroy(fresh);
    bench_free(&b);
  }
}

/// A trace on the device, one on the host, and one that moves with its solution to other memory.
static void a_solve_starts_from_a_trace_wherever_it_lies(void **state)
{
  (void)state;
  static const int chosen[] = {0, 3, 11, 13};
  for (int i = 0; i < 4; ++i) {
    bench b = bench_of(&samples[chosen[i]]);
    kedge_solution *of_host = NULL, *there = NULL, *from_host = NULL, *from_there = NULL;
    must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &of_host));
    must(b.ctx, kedge_solver_solve(b.solver, NULL, &there));
    kedge_data data = KEDGE_DATA_INIT;
    data.source = "1.01";
    data.start = of_host;
    must(b.ctx, kedge_solver_solve(b.solver, &data, &from_host));
    data.start = there;
    must(b.ctx, kedge_solver_solve(b.solver, &data, &from_there));
    assert_same_solve(b.ctx, from_there, from_host);
    must(b.ctx, kedge_problem_set(b.problem, "space", "inverse", "gradient"));
    must(b.ctx, kedge_problem_set(b.problem, "equation", "diffusion", "2, 0.1, 1"));
    must(b.ctx, kedge_solver_update(b.solver));
    data.start = of_host;
    must(b.ctx, kedge_solver_solve(b.solver, &data, &from_host));
    data.start = there;
    must(b.ctx, kedge_solver_solve(b.solver, &data, &there));
    assert_same_solve(b.ctx, there, from_host);
    kedge_solution *const all[] = {of_host, there, from_host, from_there};
    for (int k = 0; k < 4; ++k) kedge_solution_destroy(all[k]);
    bench_free(&b);
  }
}

static void a_report_alone_is_that_of_the_solve(void **state)
{
  (void)state;
  for (int i = 0; i < SAMPLES; i += test_is_quick() ? 4 : 1) {
    bench b = bench_of(&samples[i]);
    const size_t n = (size_t)b.mesh->n_elements * 100;
    kedge_solution *whole = NULL, *alone = NULL;
    kedge_report of_whole = KEDGE_REPORT_INIT, of_alone = KEDGE_REPORT_INIT;
    must(b.ctx, kedge_solve(b.ctx, b.mesh, b.problem, &whole));
    must(b.ctx, kedge_solve_report(b.ctx, b.mesh, b.problem, &alone));
    must(b.ctx, kedge_solution_report(whole, &of_whole));
    must(b.ctx, kedge_solution_report(alone, &of_alone));
    assert_string_equal(of_alone.solver_note, of_whole.solver_note);
    assert_string_equal(of_alone.evaluation, of_whole.evaluation);
    assert_int_equal(of_alone.iterations, of_whole.iterations);
    assert_int_equal(of_alone.peak_device_bytes, of_whole.peak_device_bytes);
    assert_memory_equal(&of_alone.u_l2, &of_whole.u_l2, 4 * sizeof(double));
    double *const values = malloc(n * sizeof *values);
    kedge_errors errors = KEDGE_ERRORS_INIT;
    const kedge_status refused[] = {
        kedge_solution_values(alone, KEDGE_FIELD_U, 1, values),
        kedge_solution_means(alone, KEDGE_FIELD_U, values),
        kedge_solution_indicator(alone, values),
        kedge_solution_trace(alone, NULL, values),
        kedge_solution_write(alone, "nothing.vtkhdf"),
        read_points(alone, values),
        kedge_solver_solve(b.solver, NULL, &alone)};  // which destroys it
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k)
      assert_int_equal(refused[k], KEDGE_ERR_ARG);
    if (of_whole.has_exact) {
      must(b.ctx, kedge_solve_report(b.ctx, b.mesh, b.problem, &alone));
      assert_int_equal(kedge_solution_errors(alone, b.problem, 0, &errors), KEDGE_ERR_ARG);
      assert_non_null(strstr(kedge_context_error(b.ctx), "was made for its report"));
    }
    free(values);
    kedge_solution_destroy(alone);
    kedge_solution_destroy(whole);
    bench_free(&b);
  }
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_read_is_what_a_solve_brings),
      cmocka_unit_test(solutions_outlive_updates_and_their_solver),
      cmocka_unit_test(a_solution_is_read_by_threads_at_once),
      cmocka_unit_test(functions_that_a_solve_calls_read_solutions),
      cmocka_unit_test(live_solutions_take_what_is_predicted),
      cmocka_unit_test(solves_with_and_without_reading_leave_no_memory),
      cmocka_unit_test(without_room_on_the_device_results_go_to_the_host),
      cmocka_unit_test(without_room_for_values_modes_are_brought),
      cmocka_unit_test(a_cancelled_solve_leaves_other_solutions),
      cmocka_unit_test(a_solve_starts_from_a_trace_wherever_it_lies),
      cmocka_unit_test(a_report_alone_is_that_of_the_solve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
