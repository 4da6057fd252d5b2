// trace_arrays_cuda.cu: number the trace and list the halo (trace_arrays.h).
//
// Map     A warp is a patch. It walks the patch's edges, then in a second kernel its groups, 32 at
//         a time and in order; votes say how many lanes before this one take a number of the same
//         kind. A lane writes what belongs to its edge or its element.
// Cost    Of an edge 21 bytes, of a triangle 88, all in whole lines or, for what is read of the
//         edges of an element, near each other.
#include "device/cuda_each.cuh"
#include "ops/numbering/trace_arrays.h"

namespace
{
constexpr int BLOCK = 128;
constexpr unsigned ALL = 0xffffffffu;

__global__ void __launch_bounds__(BLOCK)
    number_trace_kernel(const __grid_constant__ kg_trace_arrays_args a)
{
  const int32_t p = (int32_t)(kg_thread_number() / 32);
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
  const int32_t p = (int32_t)(kg_thread_number() / 32);
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
  const int64_t n = 32 * (int64_t)args->count.n_patches;
  KG_TRY(kg_launch_each<BLOCK>(ctx, "numbering the trace", n, number_trace_kernel, *args));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "listing the sides of the patches", n, fill_patches_kernel,
                               *args));
  return kg_launch(ctx, "filling the empty lanes", (unsigned)args->batches.n,
                   KG_LANES * KG_PATCH_GROUPS_MAX, 0, pad_kernel, *args);
}
