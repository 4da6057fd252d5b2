// Threads are tried before OpenMP makes them: where one cannot be had the process goes on.
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "device/loop.h"
#include "kedge/context.h"
#include "wrap.h"

static int left = 1 << 20;  ///< threads that can still be made
static int asked;
static size_t stack;  ///< of the thread that was asked for last

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
     void *user)
{
  ++asked;
  if (attributes) pthread_attr_getstacksize(attributes, &stack);
  return left-- > 0 ? REAL(pthread_create)(thread, attributes, run, user) : EAGAIN;
}

static int threads_of_process(void)
{
  int n = 0;
  DIR *const folder = opendir("/proc/self/task");
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) n += entry->d_name[0] != '.';
  closedir(folder);
  return n;
}

static kedge_status create(int threads, kedge_context **out)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_HOST;
  options.threads = threads;
  return kedge_context_create(&options, out);
}

static void a_context_without_its_threads_is_refused(void **state)
{
  (void)state;
  const int before = threads_of_process();
  for (left = 0; left < 3;) {
    const int room = left;
    kedge_context *ctx;
    assert_int_equal(create(4, &ctx), KEDGE_ERR_MEMORY);
    assert_null(ctx);
    assert_non_null(strstr(kedge_context_error(NULL), "4 threads cannot be started: Resource "));
    assert_int_equal(threads_of_process(), before);
    left = room + 1;
  }
}

static void threads_that_were_tried_are_there(void **state)
{
  (void)state;
  kedge_context *ctx, *again;
  left = 6;  // three for the context, and three before its first loop
  assert_int_equal(create(4, &ctx), KEDGE_OK);
  assert_int_equal(kg_loop_threads(ctx, 1 << 20, 1), 4);
  assert_int_equal(kg_loop_threads(ctx, 1, 1), 1);
  asked = 0;
  assert_int_equal(create(4, &again), KEDGE_OK);
  assert_int_equal(asked, 0);
  kedge_context_destroy(again);
  kedge_context_destroy(ctx);
}

static void *count_threads(void *user)
{
  static int threads[2];
  for (int i = 0; i < 2; ++i) threads[i] = kg_loop_threads(user, 1 << 20, 1);
  return threads;
}

static void a_loop_of_another_thread_takes_one_where_it_cannot_have_more(void **state)
{
  (void)state;
  kedge_context *ctx;
  left = 1 << 20;
  assert_int_equal(create(3, &ctx), KEDGE_OK);
  for (int room = 1; room < 4; room += 2) {
    pthread_t thread;
    void *threads;
    left = room;  // the first is this one
    asked = 0;
    assert_int_equal(pthread_create(&thread, NULL, count_threads, ctx), 0);
    assert_int_equal(pthread_join(thread, &threads), 0);
    assert_int_equal(((int *)threads)[0], room < 3 ? 1 : 3);
    assert_int_equal(((int *)threads)[1], room < 3 ? 1 : 3);
    assert_int_equal(asked, room < 3 ? 2 : 3);  // not again by the second loop
  }
  kedge_context_destroy(ctx);
}

static void threads_are_tried_with_the_stacks_of_openmp(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    size_t bytes;
  } sizes[] = {{"300", 300 << 10}, {"1000000B", 1000000}, {"2 m", 2 << 20}, {"1G", 1 << 30}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    kedge_context *ctx;
    setenv("OMP_STACKSIZE", sizes[i].text, true);
    left = 0;
    assert_int_equal(create(8, &ctx), KEDGE_ERR_MEMORY);  // more than OpenMP has by now
    assert_int_equal(stack, sizes[i].bytes);
  }
  unsetenv("OMP_STACKSIZE");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_context_without_its_threads_is_refused),
      cmocka_unit_test(threads_that_were_tried_are_there),
      cmocka_unit_test(a_loop_of_another_thread_takes_one_where_it_cannot_have_more),
      cmocka_unit_test(threads_are_tried_with_the_stacks_of_openmp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
