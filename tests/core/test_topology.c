// Where threads go, decided on machines that hwloc makes up.
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "device/topology.h"
#include "kedge/context.h"

/// Two packages of 8 cores, two logical CPUs a core: core c has CPUs 2 c and 2 c + 1.
static const char two_packages[] = "pack:2 [numa(memory=64GB)] l3:1 core:8 pu:2";

/// A made-up machine of which only the CPUs in the list `allowed` (NULL: all) may be used.
static hwloc_topology_t make_topology(const char *description, const char *allowed)
{
  hwloc_topology_t topology;
  assert_int_equal(hwloc_topology_init(&topology), 0);
  assert_int_equal(hwloc_topology_set_synthetic(topology, description), 0);
  assert_int_equal(hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED), 0);
  assert_int_equal(hwloc_topology_load(topology), 0);
  if (allowed) {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    hwloc_bitmap_list_sscanf(set, allowed);
    assert_int_equal(hwloc_topology_allow(topology, set, NULL, HWLOC_ALLOW_FLAG_CUSTOM), 0);
    hwloc_bitmap_free(set);
  }
  return topology;
}

typedef struct placement_case {
  const char *description, *allowed, *near;
  const char *expected;
} placement_case;

static void check_placement(const placement_case *c)
{
  hwloc_topology_t topology = make_topology(c->description, c->allowed);
  hwloc_bitmap_t near = hwloc_bitmap_alloc();
  if (c->near) hwloc_bitmap_list_sscanf(near, c->near);
  hwloc_bitmap_t place = kg_topology_place(topology, c->near ? near : NULL);
  assert_non_null(place);
  char list[256];
  hwloc_bitmap_list_snprintf(list, sizeof list, place);
  assert_string_equal(list, c->expected);
  hwloc_bitmap_free(place);
  hwloc_bitmap_free(near);
  hwloc_topology_destroy(topology);
}

static void every_allowed_core_gives_its_first_allowed_cpu(void **state)
{
  (void)state;
  const placement_case cases[] = {
      {"pack:1 core:4 pu:2", NULL, NULL, "0,2,4,6"},
      {"pack:1 core:4 pu:2", "2-5", NULL, "2,4"},
      {"pack:1 core:4 pu:2", "1,3,6-7", NULL, "1,3,6"},
      {"pack:1 core:1 pu:1", NULL, NULL, "0"},
      {"pack:1 core:4 pu:4", "15", NULL, "15"},
      {"numa:1 pu:3", NULL, NULL, "0-2"},  // no cores to be seen: as in some containers
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) check_placement(&cases[i]);
}

static void cores_near_the_gpu_are_preferred(void **state)
{
  (void)state;
  const placement_case cases[] = {
      {two_packages, NULL, "16-31", "16,18,20,22,24,26,28,30"},
      {two_packages, "12-19", "16-31", "16,18"},
      {two_packages, NULL, "5", "5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) check_placement(&cases[i]);
}

static void a_gpu_outside_the_allowed_set_is_ignored(void **state)
{
  (void)state;
  const placement_case cases[] = {
      {two_packages, "0-7", "16-31", "0,2,4,6"},
      {two_packages, "0-7", "40-47", "0,2,4,6"},
      {two_packages, "0-7", "", "0,2,4,6"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) check_placement(&cases[i]);
}

static void cores_are_counted_once(void **state)
{
  (void)state;
  hwloc_topology_t topology = make_topology(two_packages, NULL);
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  const struct {
    const char *list;
    int cores;
  } cases[] = {{"0-31", 16}, {"0-1", 1}, {"1-2", 2}, {"31", 1}, {"", 0}, {"64", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    hwloc_bitmap_list_sscanf(set, cases[i].list);
    assert_int_equal(kg_topology_core_count(topology, set), cases[i].cores);
  }
  hwloc_bitmap_free(set);
  hwloc_topology_destroy(topology);
}

static void machine_info_describes_a_made_up_machine(void **state)
{
  (void)state;
  setenv("HWLOC_SYNTHETIC", two_packages, 1);
  kedge_machine_info info;
  const kedge_status status = kedge_machine_get_info(&info);
  unsetenv("HWLOC_SYNTHETIC");
  assert_int_equal(status, KEDGE_OK);
  assert_int_equal(info.packages, 2);
  assert_int_equal(info.numa_nodes, 2);
  assert_int_equal(info.cores, 16);
  assert_int_equal(info.logical_cpus, 32);
  assert_int_equal(info.allowed_cores, 16);
  assert_int_equal(info.allowed_cpus, 32);
  assert_string_equal(info.allowed_list, "0-31");
  assert_true(info.memory_bytes > 100000000000 && info.memory_bytes < 140000000000);
}

static void machine_info_describes_this_machine(void **state)
{
  (void)state;
  kedge_machine_info info;
  assert_int_equal(kedge_machine_get_info(&info), KEDGE_OK);
  cpu_set_t mask;
  assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
  assert_int_equal(info.allowed_cpus, CPU_COUNT(&mask));
  assert_in_range(info.allowed_cores, 1, info.allowed_cpus);
  assert_in_range(info.allowed_cores, 1, info.cores);
  assert_in_range(info.allowed_cpus, 1, info.logical_cpus);
  assert_true(info.memory_bytes > 1 << 20);
  assert_true(strlen(info.cpu) > 0);
  // Either a GPU can be used, or there is a reason why not.
  assert_true((info.n_gpus > 0) == (info.cuda_problem[0] == '\0'));
  for (int i = 0; i < info.n_gpus; ++i) {
    assert_true(strlen(info.gpus[i].name) > 0);
    assert_true(info.gpus[i].multiprocessors > 0);
    assert_in_range(info.gpus[i].free_bytes, 1, info.gpus[i].total_bytes);
  }
#ifndef KEDGE_WITH_CUDA
  assert_false(info.built_with_cuda);
  assert_string_equal(
      info.cuda_problem,
      "this kedge was built without CUDA; where nvcc is, `./dev build` makes one with CUDA");
#endif
}

static void machine_info_without_a_place_to_put_it_is_refused(void **state)
{
  (void)state;
  assert_int_equal(kedge_machine_get_info(NULL), KEDGE_ERR_ARG);
  assert_non_null(strstr(kedge_context_error(NULL), "info is NULL"));
}

static void the_affinity_mask_is_the_allowed_set(void **state)
{
  (void)state;
  cpu_set_t mask, one;
  assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    kedge_machine_info info;
    const kedge_status status = kedge_machine_get_info(&info);
    sched_setaffinity(0, sizeof mask, &mask);
    assert_int_equal(status, KEDGE_OK);
    assert_int_equal(info.allowed_cpus, 1);
    assert_int_equal(info.allowed_cores, 1);
    assert_int_equal(atoi(info.allowed_list), cpu);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allowed_core_gives_its_first_allowed_cpu),
      cmocka_unit_test(cores_near_the_gpu_are_preferred),
      cmocka_unit_test(a_gpu_outside_the_allowed_set_is_ignored),
      cmocka_unit_test(cores_are_counted_once),
      cmocka_unit_test(machine_info_describes_a_made_up_machine),
      cmocka_unit_test(machine_info_describes_this_machine),
      cmocka_unit_test(machine_info_without_a_place_to_put_it_is_refused),
      cmocka_unit_test(the_affinity_mask_is_the_allowed_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
