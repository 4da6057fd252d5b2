/// @file
/// hwloc: where threads and pinned memory go. Decisions are pure functions of a topology.
#pragma once
#include <hwloc.h>
#include "kedge/machine.h"

/// Load this machine's topology, with the allowed CPU set (cgroups, Slurm) applied.
/// Returns 0, or -1 when hwloc fails.
int kg_topology_load(hwloc_topology_t *out);

/// The CPU set for `rank` of `n_ranks` processes on this node: one logical CPU (the first) of every
/// allowed core, of those near the GPU when `gpu_cpuset` (may be NULL) meets the allowed set, shared
/// out among the ranks in contiguous pieces; never empty. The caller frees the result.
hwloc_bitmap_t kg_topology_place(hwloc_topology_t topology, hwloc_const_bitmap_t gpu_cpuset,
                                 int rank, int n_ranks);
