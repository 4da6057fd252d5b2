// Threads of the host loops on cores of this machine.
#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "device/context.h"
#include "device/topology.h"

enum { THREADS_MAX = 256 };

static const char *const variables[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                        "OMP_NUM_THREADS"};

/// The runner of the tests sets these; here they are set by hand.
static int clear_environment(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) unsetenv(variables[i]);
  return 0;
}

static kedge_context *open_context(int threads, bool bind)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_HOST;
  options.threads = threads;
  options.bind_threads = bind;
  kedge_context *ctx = NULL;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_OK);
  return ctx;
}

static int allowed_cores(void)
{
  kedge_machine_info info;
  assert_int_equal(kedge_machine_get_info(&info), KEDGE_OK);
  return info.allowed_cores;
}

static cpu_set_t own_mask(void)
{
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  return mask;
}

/// Masks of the threads of a parallel region, the caller's first.
static void read_masks(int threads, cpu_set_t masks[])
{
#pragma omp parallel num_threads(threads)
  masks[omp_get_thread_num()] = own_mask();
}

/// How many of the workers (all threads but the caller) are bound to one CPU.
static int count_bound_workers(int threads)
{
  cpu_set_t masks[THREADS_MAX];
  read_masks(threads, masks);
  int n = 0;
  for (int i = 1; i < threads; ++i) n += CPU_COUNT(&masks[i]) == 1;
  return n;
}

/// Cores to test with; skips the test when there is nothing to share out.
static int at_least_two_cores(void)
{
  const int n = allowed_cores();
  if (n < 2) skip();
  return n < THREADS_MAX ? n : THREADS_MAX;
}

static void one_thread_a_core_is_the_default(void **state)
{
  (void)state;
  kedge_context *ctx = open_context(0, true);
  assert_int_equal(ctx->threads, allowed_cores());
  kedge_context_destroy(ctx);
}

static void omp_num_threads_is_respected(void **state)
{
  (void)state;
  const int before = omp_get_max_threads();
  // The variable is read by OpenMP when a program starts; this is what it does with it.
  setenv("OMP_NUM_THREADS", "3", 1);
  omp_set_num_threads(3);
  kedge_context *ctx = open_context(0, true);
  assert_int_equal(ctx->threads, 3);
  kedge_context_destroy(ctx);
  omp_set_num_threads(before);
  unsetenv("OMP_NUM_THREADS");
}

static void openmp_is_not_asked_for_more_threads_than_an_option_may_ask_for(void **state)
{
  (void)state;
  const int before = omp_get_max_threads(), most = kedge_threads_max();
  setenv("OMP_NUM_THREADS", "1000000", 1);
  omp_set_num_threads(most + 1);
  kedge_context *ctx = open_context(0, true);
  assert_int_equal(ctx->threads, most);
  kedge_context_destroy(ctx);
  omp_set_num_threads(before);
  unsetenv("OMP_NUM_THREADS");
}

static void workers_get_a_core_each_and_lose_it_at_the_end(void **state)
{
  (void)state;
  const int n = at_least_two_cores();
  kedge_context *ctx = open_context(n, true);
  cpu_set_t masks[THREADS_MAX], both;
  read_masks(n, masks);
  for (int i = 1; i < n; ++i) {
    assert_int_equal(CPU_COUNT(&masks[i]), 1);
    for (int j = 1; j < i; ++j) {
      CPU_AND(&both, &masks[i], &masks[j]);
      assert_int_equal(CPU_COUNT(&both), 0);
    }
  }
  kedge_context_destroy(ctx);
  assert_int_equal(count_bound_workers(n), 0);
}

static void the_calling_thread_is_never_bound(void **state)
{
  (void)state;
  const cpu_set_t before = own_mask();
  kedge_context *ctx = open_context(0, true);
  const cpu_set_t during = own_mask();
  kedge_context_destroy(ctx);
  const cpu_set_t after = own_mask();
  assert_true(CPU_EQUAL(&before, &during));
  assert_true(CPU_EQUAL(&before, &after));
}

static void binding_can_be_declined(void **state)
{
  (void)state;
  const int n = at_least_two_cores();
  kedge_context *ctx = open_context(n, false);
  assert_int_equal(count_bound_workers(n), 0);
  kedge_context_destroy(ctx);
}

static void the_users_openmp_binding_wins(void **state)
{
  (void)state;
  const int n = at_least_two_cores();
  for (int i = 0; i < 3; ++i) {
    setenv(variables[i], "false", 1);
    kedge_context *ctx = open_context(n, true);
    assert_int_equal(count_bound_workers(n), 0);
    kedge_context_destroy(ctx);
    unsetenv(variables[i]);
  }
}

static void more_threads_than_cores_are_not_bound(void **state)
{
  (void)state;
  const int n = allowed_cores() + 1;
  if (n > THREADS_MAX) skip();
  kedge_context *ctx = open_context(n, true);
  assert_int_equal(ctx->threads, n);
  assert_int_equal(count_bound_workers(n), 0);
  kedge_context_destroy(ctx);
}

static void fewer_threads_than_cores_are_not_bound(void **state)
{
  (void)state;
  const int n = at_least_two_cores() - 1;
  if (n < 2) skip();  // the calling thread is never bound
  kedge_context *ctx = open_context(n, true);
  assert_int_equal(ctx->threads, n);
  assert_int_equal(count_bound_workers(n), 0);
  kedge_context_destroy(ctx);
}

static void the_second_context_leaves_the_cores_to_the_first(void **state)
{
  (void)state;
  const int n = at_least_two_cores();
  kedge_context *first = open_context(n, true);
  kedge_context *second = open_context(n, true);
  kedge_context_destroy(second);
  assert_int_equal(count_bound_workers(n), n - 1);
  kedge_context_destroy(first);
  assert_int_equal(count_bound_workers(n), 0);
  kedge_context *third = open_context(n, true);
  assert_int_equal(count_bound_workers(n), n - 1);
  kedge_context_destroy(third);
}

static void a_mask_of_one_cpu_means_one_thread(void **state)
{
  (void)state;
  const cpu_set_t before = own_mask();
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  kedge_context *ctx = open_context(0, true);
  const cpu_set_t during = own_mask();
  sched_setaffinity(0, sizeof before, &before);
  assert_int_equal(ctx->threads, 1);
  assert_true(CPU_EQUAL(&one, &during));
  assert_non_null(strstr(kedge_context_device(ctx), ", 1 thread"));
  kedge_context_destroy(ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_thread_a_core_is_the_default),
      cmocka_unit_test(omp_num_threads_is_respected),
      cmocka_unit_test(openmp_is_not_asked_for_more_threads_than_an_option_may_ask_for),
      cmocka_unit_test(workers_get_a_core_each_and_lose_it_at_the_end),
      cmocka_unit_test(the_calling_thread_is_never_bound),
      cmocka_unit_test(binding_can_be_declined),
      cmocka_unit_test(the_users_openmp_binding_wins),
      cmocka_unit_test(more_threads_than_cores_are_not_bound),
      cmocka_unit_test(fewer_threads_than_cores_are_not_bound),
      cmocka_unit_test(the_second_context_leaves_the_cores_to_the_first),
      cmocka_unit_test(a_mask_of_one_cpu_means_one_thread),
  };
  return cmocka_run_group_tests(tests, clear_environment, NULL);
}
