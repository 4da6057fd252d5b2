/// @file
/// What this machine has: CPU topology and GPUs, as hwloc and CUDA see them.
#pragma once
#include "kedge/base.h"
KEDGE_BEGIN_DECLS

#define KEDGE_GPU_MAX 32

typedef struct kedge_gpu_info {
  char name[128];
  int64_t total_bytes, free_bytes;
  int multiprocessors;
  int capability_major, capability_minor;
  char near_cores[256];  ///< allowed logical CPUs next to it, a list as "0-15,32"; "" unknown
  int numa_node;         ///< -1 unknown
} kedge_gpu_info;

typedef struct kedge_machine_info {
  char cpu[128];
  int packages, numa_nodes, cores, logical_cpus;
  int allowed_cores, allowed_cpus;  ///< inside the CPU set this process may use (Slurm, taskset)
  char allowed_list[256];           ///< "0-1,4"
  int64_t memory_bytes;             ///< of the machine
  int64_t memory_free_bytes;        ///< this process can still allocate, its cgroup permitting
  bool built_with_cuda;
  char cuda_architectures[128];   ///< of the build; "" without CUDA
  int cuda_runtime, cuda_driver;  ///< 13000 for 13.0; 0: none
  char cuda_problem[256];         ///< why no GPU is usable; "" when one is
  int n_gpus;
  kedge_gpu_info gpus[KEDGE_GPU_MAX];
} kedge_machine_info;

/// Look at the machine. Never fails for lack of a GPU.
KEDGE_API kedge_status kedge_machine_get_info(kedge_machine_info *info);

KEDGE_END_DECLS
