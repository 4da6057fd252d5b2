// The ranges and the counter, as a tool sees them. ctest starts this program with the tool of
// nvtx_record.c loaded.
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "core/nvtx.h"
#include "nvtx_events.h"

enum { ROOM = 4096, THREADS = 4, REPEATS = 50 };
static nvtx_event events[ROOM];

static const char *record_path(void)
{
  const char *path = getenv("NVTX_RECORD");
  assert_non_null(path);
  return path;
}

static void ranges_carry_name_nesting_and_counts(void **state)
{
  (void)state;
  kg_range_push("outer", 200, 1500);
  kg_range_push("inner", 7, (int64_t)1 << 40);
  kg_range_pop();
  kg_range_push("inner", 8, 0);
  kg_range_pop();
  kg_range_pop();
  const int n = nvtx_read_events(record_path(), events, ROOM);
  assert_int_equal(n, 6);
  assert_int_equal(nvtx_count(events, n, NVTX_PUSH, "outer", ""), 1);
  assert_int_equal(nvtx_count(events, n, NVTX_PUSH, "inner", "outer"), 2);
  assert_int_equal(events[0].elements, 200);
  assert_int_equal(events[0].unknowns, 1500);
  assert_int_equal(events[1].depth, 1);
  assert_true(events[1].unknowns == (long long)1 << 40);
  for (int i = 1; i < n; ++i) assert_true(events[i].seconds >= events[i - 1].seconds);
}

static void the_residual_is_a_counter_with_every_digit(void **state)
{
  (void)state;
  const double values[] = {1.0, 0.1, 1.0 / 3.0, 4.9e-324, 0.0};
  const int before = nvtx_read_events(record_path(), events, ROOM);
  for (int i = 0; i < 5; ++i) kg_range_residual(values[i]);
  const int n = nvtx_read_events(record_path(), events, ROOM);
  assert_int_equal(n, before + 5);
  for (int i = 0; i < 5; ++i) {
    const nvtx_event *e = &events[before + i];
    // A mark where the toolkit knows no counters.
    assert_true(e->kind == NVTX_COUNTER || e->kind == NVTX_MARK);
    assert_string_equal(e->name, "relative_residual");
    assert_true(e->value == values[i]);
  }
}

static void *push_and_pop(void *user)
{
  (void)user;
  for (int i = 0; i < REPEATS; ++i) {
    kg_range_push("threaded", i, i);
    kg_range_pop();
  }
  return NULL;
}

static void threads_lose_no_event(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, push_and_pop, NULL), 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  const int n = nvtx_read_events(record_path(), events, ROOM);
  assert_int_equal(nvtx_count(events, n, NVTX_PUSH, "threaded", NULL), THREADS * REPEATS);
}

static void more_names_than_are_registered_still_arrive(void **state)
{
  (void)state;
  static char names[40][8];
  for (int i = 0; i < 40; ++i) {
    snprintf(names[i], sizeof names[i], "name%d", i);
    kg_range_push(names[i], i, 0);
    kg_range_pop();
  }
  const int n = nvtx_read_events(record_path(), events, ROOM);
  for (int i = 0; i < 40; ++i) assert_int_equal(nvtx_count(events, n, NVTX_PUSH, names[i], ""), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_carry_name_nesting_and_counts),
      cmocka_unit_test(the_residual_is_a_counter_with_every_digit),
      cmocka_unit_test(threads_lose_no_event),
      cmocka_unit_test(more_names_than_are_registered_still_arrive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
