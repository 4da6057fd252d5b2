#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "device/topology.h"

static void describe_cpus(hwloc_topology_t topology, kedge_machine_info *info)
{
  hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(topology);
  hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology);
  kg_topology_cpu_name(topology, info->cpu, sizeof info->cpu);
  info->packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
  info->numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  info->cores = kg_topology_core_count(topology, all);
  info->logical_cpus = hwloc_bitmap_weight(all);
  info->allowed_cores = kg_topology_core_count(topology, allowed);
  info->allowed_cpus = hwloc_bitmap_weight(allowed);
  hwloc_bitmap_list_snprintf(info->allowed_list, sizeof info->allowed_list, allowed);
  info->memory_free_bytes = kg_memory_available("");
  // NUMA nodes miss memory that a virtual machine got after its start, and all of it where there is
  // no /sys, as in a bare chroot.
  const int64_t pages = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  const int64_t nodes = (int64_t)hwloc_get_root_obj(topology)->total_memory;
  info->memory_bytes = pages > nodes ? pages : nodes;
}

kedge_status kedge_machine_get_info(kedge_machine_info *info)
{
  KG_REQUIRE(NULL, info != NULL, KEDGE_ERR_ARG, "kedge_machine_get_info: info is NULL");
  memset(info, 0, sizeof *info);
  hwloc_topology_t topology;
  KG_REQUIRE(NULL, kg_topology_load(&topology) == 0, KEDGE_ERR_MEMORY,
             "hwloc cannot read the topology of this machine");
  describe_cpus(topology, info);
  kg_machine_describe_gpus(topology, info);
  hwloc_topology_destroy(topology);
  return KEDGE_OK;
}

#ifndef KEDGE_WITH_CUDA
void kg_machine_describe_gpus(hwloc_topology_t topology, kedge_machine_info *info)
{
  (void)topology;
  snprintf(info->cuda_problem, sizeof info->cuda_problem,
           "this kedge was built without CUDA; where nvcc is, `./dev build` makes one with CUDA");
}
#endif
