// Host memory and pinned memory.
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "core/memory.h"
#include "core/pinned.h"

static void memory_is_aligned_to_cache_lines(void **state)
{
  (void)state;
  const size_t counts[] = {0, 1, 7, 8, 63, 64, 65, 100003};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    double *memory = NULL;
    assert_int_equal(kg_host_alloc(NULL, counts[i], sizeof *memory, &memory), KEDGE_OK);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 64, 0);
    memset(memory, 1, counts[i] * sizeof *memory);
    free(memory);
  }
}

static void calloc_fills_with_zeros(void **state)
{
  (void)state;
  unsigned char *memory = NULL;
  const size_t n = 12345;
  assert_int_equal(kg_host_calloc(NULL, n, 1, &memory), KEDGE_OK);
  for (size_t i = 0; i < n; ++i) assert_int_equal(memory[i], 0);
  free(memory);
}

static void sizes_that_overflow_are_refused(void **state)
{
  (void)state;
  int value = 0;
  void *memory = &value;
  assert_int_equal(kg_host_alloc(NULL, SIZE_MAX / 4, 8, &memory), KEDGE_ERR_MEMORY);
  assert_null(memory);
  assert_non_null(strstr(kedge_context_error(NULL), "no host memory for"));
  memory = &value;
  assert_int_equal(kg_host_alloc(NULL, SIZE_MAX - 10, 1, &memory), KEDGE_ERR_MEMORY);
  assert_null(memory);
  assert_int_equal(kg_host_calloc(NULL, SIZE_MAX / 4, 8, &memory), KEDGE_ERR_MEMORY);
}

static void pinned_memory_is_zero_and_given_back(void **state)
{
  (void)state;
  const size_t sizes[] = {0, 1, 4095, 4097, 1 << 20};
  // Device 0 may not exist: the memory is plain then.
  for (int gpu = -1; gpu <= 0; ++gpu)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
      kg_pinned memory;
      assert_int_equal(kg_pinned_alloc(NULL, gpu, sizes[i], &memory), KEDGE_OK);
      assert_true(memory.bytes >= sizes[i]);
      assert_int_equal((uintptr_t)memory.data % 4096, 0);
      for (size_t j = 0; j < sizes[i]; ++j) assert_int_equal(((char *)memory.data)[j], 0);
      if (gpu < 0) assert_false(memory.locked);
      memset(memory.data, 0x5a, sizes[i]);
      kg_pinned_free(&memory);
      assert_null(memory.data);
      kg_pinned_free(&memory);
    }
}

static void pinned_memory_beyond_the_machine_is_refused(void **state)
{
  (void)state;
  kg_pinned memory;
  assert_int_equal(kg_pinned_alloc(NULL, -1, SIZE_MAX / 2, &memory), KEDGE_ERR_MEMORY);
  assert_null(memory.data);
  assert_non_null(strstr(kedge_context_error(NULL), "staging buffer"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_aligned_to_cache_lines),
      cmocka_unit_test(calloc_fills_with_zeros),
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(pinned_memory_is_zero_and_given_back),
      cmocka_unit_test(pinned_memory_beyond_the_machine_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
