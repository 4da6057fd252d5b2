// Contexts, status texts and the sentences of failures.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "device/context.h"
#include "device/loop.h"

static kedge_context *open_context(kedge_backend backend)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = backend;
  kedge_context *ctx = NULL;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_OK);
  assert_non_null(ctx);
  return ctx;
}

static void every_status_has_a_text_of_its_own(void **state)
{
  (void)state;
  for (int i = 0; i < KEDGE_STATUS_COUNT; ++i) {
    const char *text = kedge_status_text((kedge_status)i);
    assert_true(strlen(text) > 3);
    assert_true(text[strlen(text) - 1] != '.');
    for (int j = 0; j < i; ++j) assert_string_not_equal(text, kedge_status_text((kedge_status)j));
  }
  assert_string_equal(kedge_status_text(KEDGE_STATUS_COUNT), "unknown status code");
  assert_string_equal(kedge_status_text((kedge_status)-1), "unknown status code");
}

static void the_version_is_that_of_the_headers(void **state)
{
  (void)state;
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", KEDGE_VERSION_MAJOR, KEDGE_VERSION_MINOR,
           KEDGE_VERSION_PATCH);
  assert_string_equal(kedge_version(), version);
}

static void a_context_says_what_it_is(void **state)
{
  (void)state;
  const kedge_backend backends[] = {KEDGE_BACKEND_HOST, KEDGE_BACKEND_SHADOW};
  for (int i = 0; i < 2; ++i) {
    kedge_context *ctx = open_context(backends[i]);
    assert_int_equal(kedge_context_backend(ctx), backends[i]);
    assert_non_null(strstr(kedge_context_device(ctx), " thread"));
    assert_string_equal(kedge_context_reason(ctx), "asked for");
    assert_string_equal(kedge_context_error(ctx), "");
    kedge_context_destroy(ctx);
  }
}

static void no_options_mean_a_usable_backend(void **state)
{
  (void)state;
  kedge_context *ctx = NULL;
  assert_int_equal(kedge_context_create(NULL, &ctx), KEDGE_OK);
  assert_int_not_equal(kedge_context_backend(ctx), KEDGE_BACKEND_AUTO);
  assert_true(strlen(kedge_context_reason(ctx)) > 0);
  // The reason why there is no GPU is not left behind as an error.
  assert_string_equal(kedge_context_error(ctx), "");
  kedge_context_destroy(ctx);
}

static void the_number_of_threads_is_the_callers(void **state)
{
  (void)state;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_HOST;
  options.threads = 3;
  kedge_context *ctx;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_OK);
  assert_int_equal(ctx->threads, 3);
  assert_non_null(strstr(kedge_context_device(ctx), ", 3 threads"));
  kedge_context_destroy(ctx);
}

static void a_short_loop_does_not_wait_for_a_team(void **state)
{
  (void)state;
  const kedge_context ctx = {.threads = 5, .work_of_a_team = KG_WORK_OF_A_TEAM};
  assert_int_equal(kg_loop_threads(&ctx, 0, 100), 1);
  assert_int_equal(kg_loop_threads(&ctx, 19360, 1), 1);  // edges of 80 x 80 squares
  assert_int_equal(kg_loop_threads(&ctx, 1000000, 1), 5);
  assert_int_equal(kg_loop_threads(&ctx, 2047, 32), 1);  // rows of a sparse matrix
  assert_int_equal(kg_loop_threads(&ctx, 2048, 32), 5);
  assert_int_equal(kg_loop_threads(&ctx, INT32_MAX, 1 << 30), 5);
}

static void memory_of_a_loop_grows_and_stays_with_the_context(void **state)
{
  (void)state;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.threads = 3;
  kedge_context *ctx;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_OK);
  char *first, *again, *larger;
  assert_int_equal(kg_loop_scratch(ctx, 4096, &first), KEDGE_OK);
  assert_int_equal((uintptr_t)first % 64, 0);
  memset(first, 1, 3 * 4096);
  assert_int_equal(kg_loop_scratch(ctx, 64, &again), KEDGE_OK);
  assert_ptr_equal(again, first);
  assert_int_equal(kg_loop_scratch(ctx, 8192, &larger), KEDGE_OK);
  memset(larger, 1, 3 * 8192);
  assert_int_equal(kg_loop_scratch(ctx, SIZE_MAX / 8, &again), KEDGE_ERR_MEMORY);
  assert_int_equal(kg_loop_scratch(ctx, 64, &again), KEDGE_OK);
  memset(again, 1, 3 * 64);
  kedge_context_destroy(ctx);
}

static void wrong_options_are_refused(void **state)
{
  (void)state;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  kedge_context *ctx = (kedge_context *)&options;
  options.threads = -1;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_ERR_ARG);
  assert_null(ctx);
  assert_non_null(strstr(kedge_context_error(NULL), "negative thread count"));
  options.threads = kedge_threads_max() + 1;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(NULL), "4 for each logical CPU"));
  options.threads = 0;
  options.backend = KEDGE_BACKEND_COUNT;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(NULL), "unknown backend"));
  assert_int_equal(kedge_context_create(&options, NULL), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(NULL), "out is NULL"));
  kedge_context_destroy(NULL);
}

static void a_missing_gpu_is_refused_with_the_reason(void **state)
{
  (void)state;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_CUDA;
  kedge_context *ctx = NULL;
  const kedge_status status = kedge_context_create(&options, &ctx);
#ifdef KEDGE_WITH_CUDA
  if (status == KEDGE_OK) {
    kedge_context_destroy(ctx);
    skip();
  }
#else
  assert_non_null(strstr(kedge_context_error(NULL), "built without CUDA; where nvcc is"));
  assert_non_null(strstr(kedge_context_error(NULL), "cmake --preset cuda-release"));
#endif
  assert_int_equal(status, KEDGE_ERR_UNSUPPORTED);
  assert_null(ctx);
  assert_true(strlen(kedge_context_error(NULL)) > 10);
}

static void a_named_device_rules_out_the_host(void **state)
{
  (void)state;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.device = 1000;
  kedge_context *ctx = (kedge_context *)&options;
  assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_ERR_UNSUPPORTED);
  assert_null(ctx);
  assert_non_null(
      strstr(kedge_context_error(NULL), "CUDA device 1000 was asked for and cannot be used: "));
  const kedge_backend hosts[] = {KEDGE_BACKEND_HOST, KEDGE_BACKEND_SHADOW};
  for (int i = 0; i < 2; ++i) {
    options.backend = hosts[i];
    options.device = 0;
    assert_int_equal(kedge_context_create(&options, &ctx), KEDGE_ERR_ARG);
    assert_null(ctx);
    assert_non_null(strstr(kedge_context_error(NULL), "CUDA device 0 was asked for, and the "));
    assert_non_null(strstr(kedge_context_error(NULL), kedge_backend_name(hosts[i])));
  }
}

static void a_failure_keeps_one_sentence(void **state)
{
  (void)state;
  kedge_context *ctx = open_context(KEDGE_BACKEND_HOST);
  assert_int_equal(KG_FAIL(ctx, KEDGE_ERR_INPUT, "line %d: %s", 7, "no"), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(ctx), "line 7: no");
  assert_int_equal(KG_FAIL(ctx, KEDGE_ERR_INTERNAL, "broken"), KEDGE_ERR_INTERNAL);
  assert_non_null(strstr(kedge_context_error(ctx), "broken ("));
  assert_non_null(strstr(kedge_context_error(ctx), "please report this"));
  kedge_context_destroy(ctx);
}

static void a_long_sentence_is_cut(void **state)
{
  (void)state;
  kedge_context *ctx = open_context(KEDGE_BACKEND_HOST);
  const size_t size = 10 * sizeof ctx->error;
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, 'x', size - 1);
  text[size - 1] = '\0';
  for (int code = KEDGE_ERR_ARG; code <= KEDGE_ERR_INTERNAL; ++code) {
    assert_int_equal(KG_FAIL(ctx, (kedge_status)code, "%s", text), code);
    assert_int_equal(strlen(kedge_context_error(ctx)), sizeof ctx->error - 1);
  }
  free(text);
  kedge_context_destroy(ctx);
}

static void *fail_elsewhere(void *user)
{
  (void)user;
  KG_FAIL(NULL, KEDGE_ERR_ARG, "of the other thread");
  return NULL;
}

static void failures_without_context_stay_with_their_thread(void **state)
{
  (void)state;
  KG_FAIL(NULL, KEDGE_ERR_ARG, "of this thread");
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
  pthread_join(thread, NULL);
  assert_string_equal(kedge_context_error(NULL), "of this thread");
}

static bool count_progress(void *user, const kedge_progress *progress)
{
  *(int64_t *)user += progress->iteration;
  return true;
}

static void progress_goes_to_the_function_installed_last(void **state)
{
  (void)state;
  kedge_context *ctx = open_context(KEDGE_BACKEND_HOST);
  int64_t first = 0, second = 0;
  const kedge_progress progress = {.stage = "trace_solve", .iteration = 5};
  kg_progress(ctx, &progress);
  kedge_context_set_progress(ctx, count_progress, &first);
  kg_progress(ctx, &progress);
  kedge_context_set_progress(ctx, count_progress, &second);
  kg_progress(ctx, &progress);
  kedge_context_set_progress(ctx, NULL, NULL);
  kg_progress(ctx, &progress);
  assert_int_equal(first, 5);
  assert_int_equal(second, 5);
  kedge_context_destroy(ctx);
}

static void progress_within_the_interval_is_left_out(void **state)
{
  (void)state;
  kedge_context *ctx = open_context(KEDGE_BACKEND_HOST);
  int64_t told = 0;
  const kedge_progress progress = {.stage = "trace_solve", .iteration = 1};
  kedge_context_set_progress(ctx, count_progress, &told);
  kedge_context_set_progress_interval(ctx, 3600.0);
  for (int i = 0; i < 3; ++i) kg_progress(ctx, &progress);
  assert_true(told <= 1);  // 0 on a machine that started less than an hour ago
  kedge_context_set_progress_interval(ctx, 0.0);
  told = 0;
  for (int i = 0; i < 3; ++i) kg_progress(ctx, &progress);
  assert_int_equal(told, 3);
  kedge_context_destroy(ctx);
}

static void backends_have_names(void **state)
{
  (void)state;
  assert_string_equal(kedge_backend_name(KEDGE_BACKEND_AUTO), "auto");
  assert_string_equal(kedge_backend_name(KEDGE_BACKEND_HOST), "host");
  assert_string_equal(kedge_backend_name(KEDGE_BACKEND_SHADOW), "shadow");
  assert_string_equal(kedge_backend_name(KEDGE_BACKEND_CUDA), "cuda");
  assert_string_equal(kedge_backend_name(KEDGE_BACKEND_COUNT), "unknown");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_status_has_a_text_of_its_own),
      cmocka_unit_test(the_version_is_that_of_the_headers),
      cmocka_unit_test(a_context_says_what_it_is),
      cmocka_unit_test(no_options_mean_a_usable_backend),
      cmocka_unit_test(the_number_of_threads_is_the_callers),
      cmocka_unit_test(a_short_loop_does_not_wait_for_a_team),
      cmocka_unit_test(memory_of_a_loop_grows_and_stays_with_the_context),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(a_missing_gpu_is_refused_with_the_reason),
      cmocka_unit_test(a_named_device_rules_out_the_host),
      cmocka_unit_test(a_failure_keeps_one_sentence),
      cmocka_unit_test(a_long_sentence_is_cut),
      cmocka_unit_test(failures_without_context_stay_with_their_thread),
      cmocka_unit_test(progress_goes_to_the_function_installed_last),
      cmocka_unit_test(progress_within_the_interval_is_left_out),
      cmocka_unit_test(backends_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
