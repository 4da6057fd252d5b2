#include "device/topology.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/memory.h"

/// Add the processors of all OpenMP places to a set. If OMP_PROC_BIND is set, OpenMP has narrowed
/// this thread's mask to one place before main() ran; the user's mask is the union of all places.
static void add_openmp_places(hwloc_bitmap_t set)
{
  for (int place = 0; place < omp_get_num_places(); ++place) {
    const int n = omp_get_place_num_procs(place);
    int *cpus = malloc(sizeof *cpus * (size_t)(n > 0 ? n : 1));
    if (!cpus) return;
    omp_get_place_proc_ids(place, cpus);
    for (int i = 0; i < n; ++i) hwloc_bitmap_set(set, (unsigned)cpus[i]);
    free(cpus);
  }
}

/// Intersect the allowed set of the topology with the affinity mask of the calling thread.
static int apply_affinity(hwloc_topology_t topology)
{
  // A topology from HWLOC_SYNTHETIC or HWLOC_XMLFILE describes another machine than the mask.
  if (!hwloc_topology_is_thissystem(topology)) return 0;
  hwloc_bitmap_t mask = hwloc_bitmap_alloc();
  if (!mask) return -1;
  int result = 0;
  if (hwloc_get_cpubind(topology, mask, HWLOC_CPUBIND_THREAD) == 0) {
    if (omp_get_proc_bind() != omp_proc_bind_false) add_openmp_places(mask);
    hwloc_bitmap_and(mask, mask, hwloc_topology_get_allowed_cpuset(topology));
    if (!hwloc_bitmap_iszero(mask))
      result = hwloc_topology_allow(topology, mask, NULL, HWLOC_ALLOW_FLAG_CUSTOM);
  }
  hwloc_bitmap_free(mask);
  return result;
}

int kg_topology_load(hwloc_topology_t *out)
{
  *out = NULL;
  hwloc_topology_t topology;
  if (!kg_has_reserve()) return -1;
  if (hwloc_topology_init(&topology) != 0) return -1;
  // Disallowed parts stay in, so that `kedge info` shows the machine and what is allowed of it.
  if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc_topology_load(topology) != 0 || apply_affinity(topology) != 0) {
    hwloc_topology_destroy(topology);
    return -1;
  }
  *out = topology;
  return 0;
}

/// The first CPU of every core among those that are in both sets; NULL: no memory.
static hwloc_bitmap_t first_cpus(hwloc_topology_t topology, hwloc_const_bitmap_t a,
                                 hwloc_const_bitmap_t b)
{
  hwloc_bitmap_t cpus = hwloc_bitmap_dup(a);
  if (!cpus) return NULL;
  hwloc_bitmap_and(cpus, cpus, b);
  hwloc_bitmap_singlify_per_core(topology, cpus, 0);
  return cpus;
}

int kg_topology_core_count(hwloc_topology_t topology, hwloc_const_bitmap_t set)
{
  hwloc_bitmap_t cpus = first_cpus(topology, hwloc_topology_get_topology_cpuset(topology), set);
  const int n = cpus ? hwloc_bitmap_weight(cpus) : 0;
  hwloc_bitmap_free(cpus);
  return n;
}

hwloc_bitmap_t kg_topology_place(hwloc_topology_t topology, hwloc_const_bitmap_t gpu_cpuset)
{
  hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology);
  const bool near = gpu_cpuset && hwloc_bitmap_intersects(allowed, gpu_cpuset);
  return first_cpus(topology, allowed, near ? gpu_cpuset : allowed);
}

void kg_topology_cpu_name(hwloc_topology_t topology, char *name, size_t size)
{
  hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
  struct utsname system;
  if (!model && uname(&system) == 0) model = system.machine;
  snprintf(name, size, "%s", model ? model : "unknown CPU");
  // Model names are padded with blanks.
  size_t n = strlen(name);
  while (n > 0 && name[n - 1] == ' ') name[--n] = '\0';
}

#ifndef KEDGE_WITH_CUDA
int kg_topology_gpu_cpuset(hwloc_topology_t topology, int device, hwloc_bitmap_t set)
{
  (void)topology, (void)device, (void)set;
  return -1;
}
#endif
