// Host memory, pinned memory, and how much memory there is.
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cmocka_all.h"
#include "core/memory.h"
#include "device/pinned.h"

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
  assert_string_equal(kedge_context_error(NULL),
                      "no host memory for 36893 PB; use a smaller mesh or order");
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

/// A file of a fake machine; its folders are made.
static void put(const char *root, const char *path, const char *text)
{
  char full[512];
  snprintf(full, sizeof full, "%s%s", root, path);
  for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); ++slash) {
    *slash = '\0';
    mkdir(full, 0700);
    *slash = '/';
  }
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
  (void)status, (void)type, (void)ftw;
  return remove(path);
}

static void remove_machine(const char *root)
{
  assert_int_equal(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void make_machine(char *root, const char *groups)
{
  strcpy(root, "/tmp/kedge-machine-XXXXXX");
  assert_non_null(mkdtemp(root));
  put(root, "/proc/meminfo", "MemTotal:  9000 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n");
  put(root, "/proc/self/cgroup", groups);
}

static void the_machine_bounds_memory_without_groups(void **state)
{
  (void)state;
  char root[64];
  make_machine(root, "");
  assert_int_equal(kg_memory_available(root), 8000 * 1024);
  put(root, "/proc/self/cgroup", "4:memory:/job\n0::/\nnonsense\n");
  assert_int_equal(kg_memory_available(root), 8000 * 1024);
  remove_machine(root);
}

static void a_limit_anywhere_above_a_group_of_version_2_bounds_memory(void **state)
{
  (void)state;
  char root[64];
  make_machine(root, "0::/job/step\n");
  put(root, "/sys/fs/cgroup/job/step/memory.max", "max\n");
  put(root, "/sys/fs/cgroup/job/step/memory.current", "1000\n");
  assert_int_equal(kg_memory_available(root), 8000 * 1024);
  put(root, "/sys/fs/cgroup/job/memory.max", "500000\n");
  put(root, "/sys/fs/cgroup/job/memory.current", "120000\n");
  assert_int_equal(kg_memory_available(root), 380000);
  put(root, "/sys/fs/cgroup/job/memory.stat", "anon 5\nfile 900\ninactive_file 20000\n");
  assert_int_equal(kg_memory_available(root), 400000);
  put(root, "/sys/fs/cgroup/job/step/memory.max", "900\n");
  assert_int_equal(kg_memory_available(root), 0);
  remove_machine(root);
}

static void the_mount_bounds_memory_in_a_container(void **state)
{
  (void)state;
  char root[64];
  make_machine(root, "0::/docker/0123abcd\n");  // a folder of the machine outside
  put(root, "/sys/fs/cgroup/memory.max", "70000\n");
  put(root, "/sys/fs/cgroup/memory.current", "30000\n");
  assert_int_equal(kg_memory_available(root), 40000);
  remove_machine(root);
}

static void a_limit_of_version_1_bounds_memory(void **state)
{
  (void)state;
  char root[64];
  make_machine(root, "9:name=systemd:/\n4:cpu,memory:/slurm/job\n0::/\n");
  put(root, "/sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "600000\n");
  put(root, "/sys/fs/cgroup/memory/slurm/job/memory.usage_in_bytes", "100000\n");
  put(root, "/sys/fs/cgroup/memory/slurm/job/memory.stat", "cache 7\ntotal_inactive_file 1000\n");
  put(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put(root, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
  assert_int_equal(kg_memory_available(root), 501000);
  put(root, "/proc/self/cgroup", "4:memory_pressure:/slurm/job\n");
  assert_int_equal(kg_memory_available(root), 8000 * 1024);
  remove_machine(root);
}

/// @param[in] row  of /proc/self/status, what of the limit is used
static void check_limit(int resource, const char *row)
{
  struct rlimit before;
  char root[64], text[128];
  int64_t available[3];
  // KiB: nothing to speak of; 1000 less than 2^46 bytes; one more than that.
  const char *const used[] = {"1000", "68719475736", "68719476737"};
  make_machine(root, "");
  assert_int_equal(getrlimit(resource, &before), 0);
  const struct rlimit limit = {.rlim_cur = (rlim_t)1 << 46, .rlim_max = before.rlim_max};
  assert_int_equal(setrlimit(resource, &limit), 0);
  for (int i = 0; i < 3; ++i) {
    snprintf(text, sizeof text, "Name: kedge\n%s\t %s kB\n", row, used[i]);
    put(root, "/proc/self/status", text);
    available[i] = kg_memory_available(root);
  }
  assert_int_equal(setrlimit(resource, &before), 0);
  assert_int_equal(available[0], 8000 * 1024);
  assert_int_equal(available[1], 1000 * 1024);
  assert_int_equal(available[2], 0);
  remove_machine(root);
}

static void a_limit_of_the_process_bounds_memory(void **state)
{
  (void)state;
  check_limit(RLIMIT_AS, "VmSize:");
  check_limit(RLIMIT_DATA, "VmData:");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_aligned_to_cache_lines),
      cmocka_unit_test(calloc_fills_with_zeros),
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(pinned_memory_is_zero_and_given_back),
      cmocka_unit_test(pinned_memory_beyond_the_machine_is_refused),
      cmocka_unit_test(the_machine_bounds_memory_without_groups),
      cmocka_unit_test(a_limit_anywhere_above_a_group_of_version_2_bounds_memory),
      cmocka_unit_test(the_mount_bounds_memory_in_a_container),
      cmocka_unit_test(a_limit_of_version_1_bounds_memory),
      cmocka_unit_test(a_limit_of_the_process_bounds_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
