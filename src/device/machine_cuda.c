#include <cuda_runtime_api.h>
#include <hwloc/cudart.h>
#include <stdio.h>

#include "device/topology.h"

int kg_topology_gpu_cpuset(hwloc_topology_t topology, int device, hwloc_bitmap_t set)
{
  return hwloc_cudart_get_device_cpuset(topology, device, set);
}

static void describe_gpu(hwloc_topology_t topology, int device, kedge_gpu_info *gpu)
{
  gpu->numa_node = -1;
  struct cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return;
  snprintf(gpu->name, sizeof gpu->name, "%.*s", (int)sizeof gpu->name - 1, properties.name);
  gpu->multiprocessors = properties.multiProcessorCount;
  gpu->capability_major = properties.major;
  gpu->capability_minor = properties.minor;
  gpu->total_bytes = (int64_t)properties.totalGlobalMem;
  size_t free_bytes, total_bytes;
  if (cudaSetDevice(device) == cudaSuccess &&
      cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess)
    gpu->free_bytes = (int64_t)free_bytes;

  hwloc_bitmap_t near = hwloc_bitmap_alloc(), nodes = hwloc_bitmap_alloc();
  if (near && nodes && kg_topology_gpu_cpuset(topology, device, near) == 0) {
    hwloc_cpuset_to_nodeset(topology, near, nodes);
    // A GPU next to every node is a GPU whose place is unknown.
    if (hwloc_bitmap_weight(nodes) == 1) gpu->numa_node = hwloc_bitmap_first(nodes);
    hwloc_bitmap_and(near, near, hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_list_snprintf(gpu->near_cores, sizeof gpu->near_cores, near);
  }
  hwloc_bitmap_free(nodes);
  hwloc_bitmap_free(near);
}

void kg_machine_describe_gpus(hwloc_topology_t topology, kedge_machine_info *info)
{
  info->built_with_cuda = true;
  snprintf(info->cuda_architectures, sizeof info->cuda_architectures, "%s",
           KEDGE_CUDA_ARCHITECTURES);
  cudaRuntimeGetVersion(&info->cuda_runtime);
  cudaDriverGetVersion(&info->cuda_driver);
  int n = 0, current = 0;
  const cudaError_t error = cudaGetDeviceCount(&n);
  if (error != cudaSuccess || n == 0) {
    const char *text = error == cudaSuccess ? "no GPU is visible" : cudaGetErrorString(error);
    snprintf(info->cuda_problem, sizeof info->cuda_problem, "%s",
             info->cuda_driver == 0 ? "no NVIDIA driver is installed" : text);
    cudaGetLastError();  // later calls must not report this one
    return;
  }
  info->n_gpus = n < KEDGE_GPU_MAX ? n : KEDGE_GPU_MAX;
  const bool restore = cudaGetDevice(&current) == cudaSuccess;
  for (int i = 0; i < info->n_gpus; ++i) describe_gpu(topology, i, &info->gpus[i]);
  if (restore) cudaSetDevice(current);
  cudaGetLastError();  // of a GPU that is busy or full
}
