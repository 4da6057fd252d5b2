/// @file
/// hwloc: where threads and pinned memory go. Decisions are pure functions of a topology.
#pragma once
#include <hwloc.h>
#include "kedge/machine.h"

/// Load this machine's topology. Its allowed CPU set (hwloc_topology_get_allowed_cpuset()) is what
/// the calling thread may use: cgroups and the affinity mask of Slurm, mpirun or taskset.
/// Returns 0, or -1 when hwloc fails.
int kg_topology_load(hwloc_topology_t *out);

/// One logical CPU (the first) of every allowed core, of those near the GPU when `gpu_cpuset` (may
/// be NULL) meets the allowed set; never empty. The caller frees the result.
hwloc_bitmap_t kg_topology_place(hwloc_topology_t topology, hwloc_const_bitmap_t gpu_cpuset);

/// Cores of which at least one logical CPU is in `set`. Machines whose cores hwloc cannot see (some
/// virtual machines) count every CPU as a core, here and above.
int kg_topology_core_count(hwloc_topology_t topology, hwloc_const_bitmap_t set);

/// Model name of the CPU, or its architecture where there is none.
void kg_topology_cpu_name(hwloc_topology_t topology, char *name, size_t size);

/// The logical CPUs next to a CUDA device, allowed or not.
/// Returns 0, or -1 when that is unknown: no such GPU, or built without CUDA.
int kg_topology_gpu_cpuset(hwloc_topology_t topology, int device, hwloc_bitmap_t set);

/// Fill the CUDA part of `info`; a machine without a usable GPU gets a phrase that says why.
void kg_machine_describe_gpus(hwloc_topology_t topology, kedge_machine_info *info);
