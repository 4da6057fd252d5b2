// build_edges_cuda.cu: sides matched into edges, edges by first appearance, lines and parts.
//
// A side's key is its lower and its higher vertex; the stable radix sort brings the sides of an
// edge together, the lower one first. The sides that are first of their edge, counted up to each,
// number the edges. Lines look their vertices up among the sorted keys. Parts: elements hang under
// lower ones (parts.c), here by compare-and-swap; which trees grow varies, the number of roots does
// not. Kernels have one thread a side, a line or an element.
#include "mesh/build_cuda.cuh"

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

using namespace kg_build;

namespace
{
/// The number in packed arrays of the side that begins where this one ends.
__device__ __forceinline__ int32_t next_side(int32_t side)
{
  return side % 3 == 2 ? side - 2 : side + 1;
}

/// The vertices of a side, lower number first.
__device__ __forceinline__ void side_vertices(const int32_t *element_vertices, int32_t side,
                                              int32_t *lower, int32_t *higher)
{
  const int32_t a = element_vertices[side], b = element_vertices[next_side(side)];
  *lower = min(a, b);
  *higher = max(a, b);
}

__device__ __forceinline__ kg_side side_of(uint32_t number)
{
  return kg_side_of((int32_t)(number / 3), (int)(number % 3));
}

int bits_of(int32_t n)
{
  int bits = 1;
  while (bits < 31 && n >> bits) ++bits;
  return bits;
}

__device__ __forceinline__ uint64_t key_of(int32_t lower, int32_t higher, int bits)
{
  return (uint64_t)lower << bits | (uint64_t)higher;
}

__global__ void __launch_bounds__(BLOCK) list_sides_kernel(const Work w, int bits)
{
  const int64_t s = kg_thread_number();
  if (s >= w.n_sides) return;
  int32_t lower, higher;
  side_vertices(w.element_vertices, (int32_t)s, &lower, &higher);
  w.key[0][s] = key_of(lower, higher, bits);
  w.value[0][s] = (int32_t)s;
}

/// Thread = place among the sorted sides; the first place of an edge matches its first two sides.
__global__ void __launch_bounds__(BLOCK)
    match_kernel(const Work w, const uint64_t *key, const int32_t *side)
{
  const int64_t i = kg_thread_number();
  if (i >= w.n_sides) return;
  const int32_t s = side[i];
  if (i > 0 && key[i - 1] == key[i]) {
    if (i == 1 || key[i - 2] != key[i]) return;
    w.partner[s] = NO_PARTNER;  // a third side, which is refused
    w.findings->faults = 1;
    return;
  }
  if (i + 1 == w.n_sides || key[i + 1] != key[i]) {
    w.partner[s] = NO_PARTNER;
    return;
  }
  const int32_t t = side[i + 1];
  w.partner[s] = (uint32_t)t;
  w.partner[t] = (uint32_t)s;
  // Neighbours run along their edge in opposite directions.
  const bool folded = w.element_vertices[s] == w.element_vertices[t];
  if (folded) w.findings->faults = 1;
}

struct IsFirst {
  const uint32_t *partner;
  __device__ int32_t operator()(int32_t s) const
  {
    return partner[s] > (uint32_t)s;
  }
};

/// rank[s]: edges that appear up to side s.
cudaError_t count_first(void *scratch, size_t *bytes, const Work &w, cudaStream_t stream)
{
  const auto first =
      thrust::make_transform_iterator(thrust::counting_iterator<int32_t>(0), IsFirst{w.partner});
  return cub::DeviceScan::InclusiveSum(scratch, *bytes, first, w.rank, w.n_sides, stream);
}

__global__ void __launch_bounds__(BLOCK) number_edges_kernel(const Work w)
{
  const int64_t s = kg_thread_number();
  if (s >= w.n_sides) return;
  const uint32_t partner = w.partner[s];
  const bool first = partner > (uint32_t)s;
  const int32_t edge = w.rank[first ? s : partner] - 1;
  const int32_t a = w.element_vertices[s];
  const int32_t b = w.element_vertices[next_side((int32_t)s)];
  w.side_edge[s] = (uint32_t)edge << 1 | (a > b);
  if (first)
    ((uint2 *)w.edge_sides)[edge] =
        make_uint2(side_of((uint32_t)s), partner == NO_PARTNER ? KG_NO_SIDE : side_of(partner));
}

/// Thread = line: its edge, by bisection.
__global__ void __launch_bounds__(BLOCK)
    find_lines_kernel(const Work w, const uint64_t *key, const int32_t *side, int bits)
{
  const int64_t i = kg_thread_number();
  if (i >= w.n_lines) return;
  int32_t v[2];
  bool exists = true;
  for (int k = 0; k < 2; ++k) {
    const int32_t raw = w.lines[2 * i + k];
    v[k] = raw < 0 || raw >= w.n_raw_vertices ? -1 : w.vertex_number[raw];
    exists = exists && v[k] >= 0;
  }
  w.line_edge[i] = -1;
  if (!exists) return;
  const uint64_t wanted = key_of(min(v[0], v[1]), max(v[0], v[1]), bits);
  int32_t begin = 0, end = w.n_sides;
  while (begin < end) {
    const int32_t middle = begin + (end - begin) / 2;
    if (key[middle] < wanted)
      begin = middle + 1;
    else
      end = middle;
  }
  if (begin < w.n_sides && key[begin] == wanted)
    w.line_edge[i] = (int32_t)(w.side_edge[side[begin]] >> 1);
}

/// The root of e. Paths are shortened on the way: only what is no root is written, so no tree is
/// lost.
__device__ int32_t root_of(int32_t *parent, int32_t e)
{
  int32_t up = __ldcg(parent + e);
  while (up != e) {
    const int32_t next = __ldcg(parent + up);
    if (next != up) __stcg(parent + e, next);
    e = up;
    up = next;
  }
  return e;
}

/// Every element under its lowest neighbour, where that is lower.
__global__ void __launch_bounds__(BLOCK) plant_kernel(const Work w, int32_t *parent)
{
  const int64_t e = kg_thread_number();
  if (e >= w.n_elements) return;
  int32_t lowest = (int32_t)e;
  for (int l = 0; l < 3; ++l) {
    const uint32_t partner = w.partner[3 * e + l];
    if (partner != NO_PARTNER) lowest = min(lowest, (int32_t)(partner / 3));
  }
  parent[e] = lowest;
}

__global__ void __launch_bounds__(BLOCK) join_kernel(const Work w, int32_t *parent)
{
  const int64_t s = kg_thread_number();
  if (s >= w.n_sides || w.partner[s] >= (uint32_t)s) return;  // each edge once
  int32_t a = root_of(parent, (int32_t)(s / 3)), b = root_of(parent, (int32_t)(w.partner[s] / 3));
  while (a != b) {
    const int32_t high = max(a, b), low = min(a, b);
    const int32_t found = atomicCAS(parent + high, high, low);
    if (found == high) break;
    a = root_of(parent, found);
    b = root_of(parent, low);
  }
}

__global__ void __launch_bounds__(BLOCK) count_roots_kernel(const Work w, const int32_t *parent)
{
  const int64_t e = kg_thread_number();
  const bool root = e < w.n_elements && parent[e] == e;
  const unsigned roots = __popc(__ballot_sync(0xffffffffu, root));
  if (threadIdx.x % 32 == 0 && roots) atomicAdd(&w.findings->n_parts, (int)roots);
}

kedge_status count_parts(kedge_context *ctx, const Work &w)
{
  int32_t *const parent = w.rank;  // edges have their numbers
  KG_TRY(kg_launch_each<BLOCK>(ctx, "hanging elements under neighbours", w.n_elements, plant_kernel,
                               w, parent));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "joining parts", w.n_sides, join_kernel, w, parent));
  return kg_launch_each<BLOCK>(ctx, "counting parts", w.n_elements, count_roots_kernel, w, parent);
}

/// Numbers of edges, once sides are matched; *sound: there is nothing to refuse.
kedge_status number_edges(kedge_context *ctx, Work *w, bool *sound)
{
  size_t bytes = w->scratch_bytes;
  KG_TRY(kg_cuda_check(ctx, count_first(w->scratch, &bytes, *w, kg_cuda_stream(ctx)),
                       "counting the edges"));
  int32_t faults;
  KG_TRY(kg_copy_out(ctx, &faults, &w->findings->faults, sizeof faults));
  KG_TRY(kg_copy_out(ctx, &w->n_edges, w->rank + w->n_sides - 1, sizeof w->n_edges));
  *sound = faults == 0;
  if (!*sound) return KEDGE_OK;
  return kg_launch_each<BLOCK>(ctx, "numbering the edges", w->n_sides, number_edges_kernel, *w);
}
}  // namespace

kedge_status kg_build::edges_scratch(kedge_context *ctx, int32_t n_sides, size_t *bytes)
{
  Work none = {};
  none.n_sides = n_sides;
  cub::DoubleBuffer<uint64_t> key(nullptr, nullptr);
  cub::DoubleBuffer<int32_t> value(nullptr, nullptr);
  size_t sorting = 0, counting = 0;
  KG_TRY(kg_cuda_check(ctx, sort(nullptr, &sorting, n_sides, 62, &key, &value, nullptr),
                       "sizing the sort of the sides"));
  KG_TRY(kg_cuda_check(ctx, count_first(nullptr, &counting, none, nullptr),
                       "sizing the scan of the edges"));
  *bytes = sorting > counting ? sorting : counting;
  return KEDGE_OK;
}

kedge_status kg_build::connect(kedge_context *ctx, Work *w, bool *sound)
{
  const int bits = bits_of(w->n_vertices);
  KG_TRY(kg_launch_each<BLOCK>(ctx, "listing the sides", w->n_sides, list_sides_kernel, *w, bits));
  cub::DoubleBuffer<uint64_t> key(w->key[0], w->key[1]);
  cub::DoubleBuffer<int32_t> side(w->value[0], w->value[1]);
  size_t bytes = w->scratch_bytes;
  KG_TRY(kg_cuda_check(
      ctx, sort(w->scratch, &bytes, w->n_sides, 2 * bits, &key, &side, kg_cuda_stream(ctx)),
      "sorting the sides by their vertices"));
  w->side_edge = (uint32_t *)side.Alternate();
  w->edge_sides = (kg_side *)key.Alternate();
  KG_TRY(kg_launch_each<BLOCK>(ctx, "matching the sides", w->n_sides, match_kernel, *w,
                               key.Current(), side.Current()));
  KG_TRY(number_edges(ctx, w, sound));
  if (!*sound) return KEDGE_OK;
  KG_TRY(kg_launch_each<BLOCK>(ctx, "finding the lines", w->n_lines, find_lines_kernel, *w,
                               key.Current(), side.Current(), bits));
  return count_parts(ctx, *w);
}
