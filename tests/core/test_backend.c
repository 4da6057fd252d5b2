// The table of every backend: allocation, copies, zeros, accounting.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "cmocka_all.h"
#include "device/context.h"
#ifdef KEDGE_WITH_CUDA
#include "device/cuda_rt.h"
#endif

static kedge_context *ctx;

static int open_default(void **state)
{
  (void)state;
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = test_backend();
  return kedge_context_create(&options, &ctx) == KEDGE_OK ? 0 : -1;
}

static int close_default(void **state)
{
  (void)state;
  const kedge_status status = kg_sync(ctx);
  kedge_context_destroy(ctx);
  return status == KEDGE_OK ? 0 : -1;
}

static void copies_carry_every_byte(void **state)
{
  (void)state;
  // The last fills the buffers of a GPU's copies three times and more, of 8 MiB each.
  const size_t counts[] = {1, 31, 32, 33, 1000, 65537, 3 * 1048576 + 5};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
    const size_t n = counts[c];
    double *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    for (size_t i = 0; i < n; ++i) in[i] = 1.0 / (double)(i + 1);
    kg_buffer a, b;
    assert_int_equal(kg_upload(ctx, in, n, sizeof *in, &a), KEDGE_OK);
    assert_int_equal(kg_alloc(ctx, n, sizeof *in, &b), KEDGE_OK);
    assert_int_equal(kg_copy(ctx, b.data, a.data, n * sizeof *in), KEDGE_OK);
    assert_int_equal(kg_copy_out(ctx, out, b.data, n * sizeof *in), KEDGE_OK);
    assert_memory_equal(in, out, n * sizeof *in);
    for (size_t i = 0; i < n; ++i) in[i] = (double)i;
    assert_int_equal(kg_copy_in(ctx, a.data, in, n * sizeof *in), KEDGE_OK);
    assert_int_equal(kg_copy_out(ctx, out, a.data, n * sizeof *in), KEDGE_OK);
    assert_memory_equal(in, out, n * sizeof *in);
    kg_free(ctx, &a);
    kg_free(ctx, &b);
    free(in);
    free(out);
  }
}

static void zero_fills_what_was_asked_and_no_more(void **state)
{
  (void)state;
  enum { N = 77 };
  double in[N], out[N];
  for (int i = 0; i < N; ++i) in[i] = 3.0;
  kg_buffer a;
  assert_int_equal(kg_upload(ctx, in, N, sizeof *in, &a), KEDGE_OK);
  assert_int_equal(kg_zero(ctx, a.data, (N - 1) * sizeof *in), KEDGE_OK);
  assert_int_equal(kg_copy_out(ctx, out, a.data, sizeof out), KEDGE_OK);
  for (int i = 0; i < N - 1; ++i) assert_true(out[i] == 0.0);
  assert_true(out[N - 1] == 3.0);
  kg_free(ctx, &a);
}

static void copies_of_nothing_succeed(void **state)
{
  (void)state;
  assert_int_equal(kg_copy_in(ctx, NULL, NULL, 0), KEDGE_OK);
  assert_int_equal(kg_copy_out(ctx, NULL, NULL, 0), KEDGE_OK);
  assert_int_equal(kg_copy(ctx, NULL, NULL, 0), KEDGE_OK);
  assert_int_equal(kg_zero(ctx, NULL, 0), KEDGE_OK);
}

static void bytes_in_use_are_accounted(void **state)
{
  (void)state;
  const int64_t before = ctx->bytes_in_use;
  kg_buffer a, b, c;
  assert_int_equal(kg_alloc(ctx, 100, 8, &a), KEDGE_OK);
  assert_int_equal(kg_alloc(ctx, 1, 1, &b), KEDGE_OK);
  assert_int_equal(kg_alloc(ctx, 0, 8, &c), KEDGE_OK);
  assert_non_null(c.data);
  const int64_t held = 1024 + KG_ALIGNMENT + KG_ALIGNMENT;  // 800, 1 and 0 bytes, rounded up
  assert_int_equal(ctx->bytes_in_use, before + held);
  assert_true(ctx->bytes_peak >= ctx->bytes_in_use);
  kg_free(ctx, &a);
  kg_free(ctx, &b);
  kg_free(ctx, &c);
  assert_int_equal(ctx->bytes_in_use, before);
  assert_true(ctx->bytes_peak >= before + held);
  kg_free(ctx, &a);  // a freed buffer is an empty buffer
  assert_int_equal(ctx->bytes_in_use, before);
}

static void sizes_that_overflow_are_refused(void **state)
{
  (void)state;
  kg_buffer a;
  assert_int_equal(kg_alloc(ctx, SIZE_MAX / 4, 8, &a), KEDGE_ERR_MEMORY);
  assert_null(a.data);
  assert_non_null(strstr(kedge_context_error(ctx), "fits no memory"));
  assert_int_equal(kg_alloc(ctx, SIZE_MAX / 32, 8, &a), KEDGE_ERR_MEMORY);
  assert_null(a.data);
  assert_true(strlen(kedge_context_error(ctx)) > 10);
}

static void free_memory_is_known(void **state)
{
  (void)state;
  assert_true(kg_free_bytes(ctx) > 1 << 20);
}

/// Arrays of the pool of a GPU, which keeps what they leave, and one too large for it. Under
/// compute-sanitizer, where tests are quick, the tool takes memory of the GPU beside each array.
static void released_gpu_memory_counts_as_free(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_CUDA || test_is_quick()) skip();
  const int64_t sizes[] = {1 << 20, 100 << 20, 300 << 20}, before = kg_free_bytes(ctx);
  for (int i = 0; i < 3; ++i) {
    kg_buffer a;
    assert_int_equal(kg_alloc(ctx, (size_t)sizes[i], 1, &a), KEDGE_OK);
    assert_in_range(before - kg_free_bytes(ctx), sizes[i], sizes[i] + (4 << 20));
    kg_free(ctx, &a);
    assert_true(llabs(before - kg_free_bytes(ctx)) <= 4 << 20);
  }
}

static void a_gpu_without_room_says_so_and_goes_on(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_CUDA) skip();
  kg_buffer a;
  const size_t too_much = (size_t)kg_free_bytes(ctx) + ((size_t)1 << 30);
  assert_int_equal(kg_alloc(ctx, too_much, 1, &a), KEDGE_ERR_MEMORY);
  assert_non_null(strstr(kedge_context_error(ctx), "the GPU has no room for "));
  assert_int_equal(kg_alloc(ctx, 1000, 1, &a), KEDGE_OK);
  kg_free(ctx, &a);
  assert_int_equal(kg_sync(ctx), KEDGE_OK);
}

static void fresh_shadow_memory_is_nan(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_SHADOW) skip();
  enum { N = 33 };
  kg_buffer a;
  assert_int_equal(kg_alloc(ctx, N, sizeof(double), &a), KEDGE_OK);
  double values[N];
  assert_int_equal(kg_copy_out(ctx, values, a.data, sizeof values), KEDGE_OK);
  for (int i = 0; i < N; ++i) assert_true(isnan(values[i]));
  kg_free(ctx, &a);
}

/// What the next kg_sync() says when one byte at `offset` of an array was written before it was
/// freed.
static kedge_status sync_after_write(ptrdiff_t offset)
{
  kg_buffer a;
  assert_int_equal(kg_alloc(ctx, 10, sizeof(double), &a), KEDGE_OK);
  ((volatile char *)a.data)[offset] = 1;
  kg_free(ctx, &a);
  return kg_sync(ctx);
}

static void writes_beside_shadow_arrays_are_reported_once(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_SHADOW) skip();
  assert_int_equal(sync_after_write(0), KEDGE_OK);
  assert_int_equal(sync_after_write(KG_ALIGNMENT - 1), KEDGE_OK);
  const ptrdiff_t beside[] = {-1, KG_ALIGNMENT};
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(sync_after_write(beside[i]), KEDGE_ERR_INTERNAL);
    assert_non_null(strstr(kedge_context_error(ctx),
                           "arrays in device memory with writes beside "
                           "them: 1"));
    assert_int_equal(kg_sync(ctx), KEDGE_OK);
  }
}

enum { SHIFTED = 16 };

/// A list in device memory that moves by one place each time; its first number says "stop".
typedef struct shifting {
  int32_t *list, *copy;
} shifting;

static kedge_status shift(void *user)
{
  const shifting *s = user;
  KG_TRY(kg_copy(ctx, s->copy, s->list + 1, (SHIFTED - 1) * sizeof *s->list));
  return kg_copy(ctx, s->list, s->copy, (SHIFTED - 1) * sizeof *s->list);
}

static void check_repetition(void)
{
  int32_t list[SHIFTED] = {0}, first;
  for (int i = 8; i < SHIFTED; ++i) list[i] = i;
  kg_buffer a, b;
  assert_int_equal(kg_upload(ctx, list, SHIFTED, sizeof *list, &a), KEDGE_OK);
  assert_int_equal(kg_alloc(ctx, SHIFTED, sizeof *list, &b), KEDGE_OK);
  shifting s = {a.data, b.data};
  kg_repeat repeat = {.stop = s.list};
  const int times[] = {1, 3, 3};
  for (int i = 0; i < 3; ++i)
    assert_int_equal(kg_repeat_run(ctx, &repeat, times[i], shift, &s), KEDGE_OK);
  assert_int_equal(kg_copy_out(ctx, list, s.list, sizeof list), KEDGE_OK);
  assert_int_equal(list[0], 0);
  assert_int_equal(list[1], 8);  // after seven times
#ifdef KEDGE_WITH_CUDA
  // Debug builds record nothing.
  if (repeat.recording) assert_int_equal(repeat.watches, kg_cuda(ctx)->loops);
#endif
  if (ctx->backend != KEDGE_BACKEND_CUDA || repeat.watches) {
    assert_int_equal(kg_repeat_run(ctx, &repeat, 5, shift, &s), KEDGE_OK);
    assert_int_equal(kg_copy_out(ctx, &first, s.list, sizeof first), KEDGE_OK);
    assert_int_equal(first, 8);
  }
  kg_repeat_free(ctx, &repeat);
  kg_free(ctx, &b);
  kg_free(ctx, &a);
}

static void work_is_repeated_so_many_times_or_until_it_is_done(void **state)
{
  (void)state;
  check_repetition();
}

#ifdef KEDGE_WITH_CUDA
static void more_shared_memory_than_a_gpu_has_is_refused_with_what_to_do(void **state)
{
  (void)state;
  if (ctx->backend != KEDGE_BACKEND_CUDA) skip();
  const size_t limit = (size_t)kg_cuda(ctx)->shared_limit;
  assert_int_equal(kg_cuda_ask_for_shared(ctx, NULL, limit + 1, "a kernel"), KEDGE_ERR_UNSUPPORTED);
  assert_non_null(strstr(kedge_context_error(ctx), "a kernel needs "));
  assert_non_null(strstr(kedge_context_error(ctx), "take a lower order or backend = host"));
}

/// Graphs repeat without loops where the driver has no conditional nodes.
static void graphs_without_loops_repeat_too(void **state)
{
  (void)state;
  if (ctx->backend != KEDGE_BACKEND_CUDA) skip();
  kg_cuda_state *cuda = kg_cuda(ctx);
  const bool loops = cuda->loops;
  cuda->loops = false;
  check_repetition();
  cuda->loops = loops;
}

static kedge_context *open_with_blocks(kedge_backend backend, const char *blocks)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = backend;
  kedge_context *opened = NULL;
  const char *const before = getenv("KEDGE_BLOCKS");
  char *const kept = before ? strdup(before) : NULL;
  setenv("KEDGE_BLOCKS", blocks, 1);
  if (kedge_context_create(&options, &opened) != KEDGE_OK) assert_null(opened);
  if (kept)
    setenv("KEDGE_BLOCKS", kept, 1);
  else
    unsetenv("KEDGE_BLOCKS");
  free(kept);
  return opened;
}

static void blocks_that_go_round_are_as_few_as_the_environment_says(void **state)
{
  (void)state;
  if (ctx->backend != KEDGE_BACKEND_CUDA) skip();
  kedge_context *few = open_with_blocks(KEDGE_BACKEND_CUDA, "3");
  kedge_context *all = open_with_blocks(KEDGE_BACKEND_CUDA, "");
  assert_int_equal(kg_cuda_blocks(few, 1000, 1), 3);
  assert_int_equal(kg_cuda_blocks(few, 2, 1), 2);
  assert_int_equal(kg_cuda_blocks(few, 0, 1), 1);
  assert_int_equal(kg_cuda_blocks(all, 1000000, 4), 4 * kg_cuda(all)->multiprocessors);
  kedge_context_destroy(all);
  kedge_context_destroy(few);
}

static void a_number_of_blocks_that_is_none_is_refused(void **state)
{
  (void)state;
  if (ctx->backend != KEDGE_BACKEND_CUDA) skip();
  const char *const wrong[] = {"0", "-1", "two", "2x", "99999999999999999999"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    const kedge_backend backends[] = {KEDGE_BACKEND_CUDA, KEDGE_BACKEND_AUTO};
    for (int k = 0; k < 2; ++k) {
      assert_null(open_with_blocks(backends[k], wrong[i]));
      assert_non_null(strstr(kedge_context_error(NULL), "KEDGE_BLOCKS"));
      assert_non_null(strstr(kedge_context_error(NULL), wrong[i]));
    }
  }
}
#endif

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_carry_every_byte),
      cmocka_unit_test(zero_fills_what_was_asked_and_no_more),
      cmocka_unit_test(copies_of_nothing_succeed),
      cmocka_unit_test(bytes_in_use_are_accounted),
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(free_memory_is_known),
      cmocka_unit_test(released_gpu_memory_counts_as_free),
      cmocka_unit_test(a_gpu_without_room_says_so_and_goes_on),
      cmocka_unit_test(fresh_shadow_memory_is_nan),
      cmocka_unit_test(writes_beside_shadow_arrays_are_reported_once),
      cmocka_unit_test(work_is_repeated_so_many_times_or_until_it_is_done),
#ifdef KEDGE_WITH_CUDA
      cmocka_unit_test(more_shared_memory_than_a_gpu_has_is_refused_with_what_to_do),
      cmocka_unit_test(graphs_without_loops_repeat_too),
      cmocka_unit_test(blocks_that_go_round_are_as_few_as_the_environment_says),
      cmocka_unit_test(a_number_of_blocks_that_is_none_is_refused),
#endif
  };
  return cmocka_run_group_tests(tests, open_default, close_default);
}
