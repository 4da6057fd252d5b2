// trace_arrays_cuda.cu: number the trace and list the halo (trace_arrays.h).
//
// Map     A warp is a patch. It walks the patch's edges, then in a second kernel its groups, 32 at
//         a time and in order; votes say how many lanes before this one take a number of the same
//         kind. A lane writes what belongs to its edge or its element.
// Cost    Of an edge 21 bytes, of a triangle 88, all in whole lines or, for what is read of the
//         edges of an element, near each other.
#include "device/cuda_rt.h"
#include "ops/numbering/trace_arrays.h"

namespace
{
constexpr int BLOCK = 128, WARPS = BLOCK / 32;
constexpr unsigned ALL = 0xffffffffu;

/// The patch of this warp; the grid may be larger than the patches.
__device__ __forceinline__ int32_t patch_of_warp()
{
  return (int32_t)(blockIdx.x * WARPS + threadIdx.x / 32);
}

__global__ void __launch_bounds__(BLOCK)
    number_trace_kernel(const __grid_constant__ kg_trace_arrays_args a)
{
  const int32_t p = patch_of_warp();
  if (p >= a.count.n_patches) return;
  const int lane = threadIdx.x % 32;
  const unsigned before = (1u << lane) - 1;
  kg_patch_edges edges = kg_edges_of_patch(&a, p);
  for (int32_t tile = edges.begin; tile < edges.end; tile += 32) {
    const int32_t edge = tile + lane;
    const int section = edge < edges.end ? a.mesh.edge_section[edge] : KG_SECTION_COUNT;
    int32_t trace = 0;
#pragma unroll
    for (int s = 0; s < KG_SECTION_COUNT; ++s) {
      const unsigned same = __ballot_sync(ALL, section == s);
      if (section == s) trace = edges.next[s] + __popc(same & before);
      edges.next[s] += __popc(same);
    }
    if (edge < edges.end) kg_number_edge(&a, edge, trace);
  }
}

__global__ void __launch_bounds__(BLOCK)
    fill_patches_kernel(const __grid_constant__ kg_trace_arrays_args a)
{
  const int32_t p = patch_of_warp();
  if (p >= a.count.n_patches) return;
  const int lane = threadIdx.x % 32;
  const unsigned before = (1u << lane) - 1;
  const kg_lane_batch *batch = kg_batch_of_patch(&a.batches, p);
  const int k = (int)(batch - a.batches.batch);
  int32_t begin, end, next = a.lanes[k].side_codes ? a.patch_halo[p] : 0;
  kg_patch_range(&a.batches, batch, p, &begin, &end);
  for (int32_t group = begin; group < end; group += KG_LANES) {
    const int32_t e = group + lane;
    kg_patch_element element = {};
    if (e < end) element = kg_element_of_patch(&a, batch, e);
    int32_t entry = next;
#pragma unroll
    for (int l = 0; l < KG_FACETS_MAX; ++l) {
      const unsigned in_halo = __ballot_sync(ALL, element.in_halo[l]);
      entry += __popc(in_halo & before);
      next += __popc(in_halo);
    }
    if (e < end) kg_put_element(&a, k, p, e, &element, entry);
  }
}

/// Block = batch: fewer lanes than one patch has are empty.
__global__ void pad_kernel(const __grid_constant__ kg_trace_arrays_args a)
{
  const kg_lane_batch &batch = a.batches.batch[blockIdx.x];
  const int32_t lane = batch.n_elements + (int32_t)threadIdx.x;
  if (lane < batch.n_groups * KG_LANES) kg_pad_lane(&a, (int)blockIdx.x, lane);
}
}  // namespace

extern "C" kedge_status kg_trace_arrays_fill_cuda(kedge_context *ctx,
                                                  const kg_trace_arrays_args *args)
{
  const unsigned grid = ((unsigned)args->count.n_patches + WARPS - 1) / WARPS;
  const cudaStream_t stream = kg_cuda_stream(ctx);
  number_trace_kernel<<<grid, BLOCK, 0, stream>>>(*args);
  KG_TRY(kg_cuda_launched(ctx, "numbering the trace"));
  fill_patches_kernel<<<grid, BLOCK, 0, stream>>>(*args);
  KG_TRY(kg_cuda_launched(ctx, "listing the sides of the patches"));
  pad_kernel<<<(unsigned)args->batches.n, KG_LANES * KG_PATCH_GROUPS_MAX, 0, stream>>>(*args);
  return kg_cuda_launched(ctx, "filling the empty lanes");
}
