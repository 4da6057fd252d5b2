#include "device/pinned.h"

#include <string.h>
#include <sys/mman.h>

#include "core/number.h"
#include "device/topology.h"

#ifdef KEDGE_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

/// Ask for pages on the NUMA nodes next to the GPU; they are chosen when they are touched.
static void place_near(int gpu, void *data, size_t bytes)
{
  hwloc_topology_t topology;
  if (kg_topology_load(&topology) != 0) return;
  hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
  if (cpus && kg_topology_gpu_cpuset(topology, gpu, cpus) == 0)
    hwloc_set_area_membind(topology, data, bytes, cpus, HWLOC_MEMBIND_BIND, 0);
  hwloc_bitmap_free(cpus);
  hwloc_topology_destroy(topology);
}

kedge_status kg_pinned_alloc(kedge_context *ctx, int gpu, size_t bytes, kg_pinned *out)
{
  *out = (kg_pinned){0};
  if (bytes == 0) bytes = 1;
  // mmap() in place of hwloc_alloc_membind(): its memory can be given back without the topology.
  void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char text[16];
  KG_REQUIRE(ctx, data != MAP_FAILED, KEDGE_ERR_MEMORY, "no host memory for a staging buffer of %s",
             kg_bytes_text((double)bytes, text));
  if (gpu >= 0) place_near(gpu, data, bytes);
  memset(data, 0, bytes);
  *out = (kg_pinned){.data = data, .bytes = bytes};
#ifdef KEDGE_WITH_CUDA
  out->locked = gpu >= 0 && cudaHostRegister(data, bytes, cudaHostRegisterPortable) == cudaSuccess;
  if (!out->locked) cudaGetLastError();  // later calls must not report this one
#endif
  return KEDGE_OK;
}

void kg_pinned_free(kg_pinned *memory)
{
  if (memory->data == NULL) return;
#ifdef KEDGE_WITH_CUDA
  if (memory->locked) cudaHostUnregister(memory->data);
#endif
  munmap(memory->data, memory->bytes);
  *memory = (kg_pinned){0};
}
