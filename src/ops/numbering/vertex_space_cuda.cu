// vertex_space_cuda.cu: the ends of edges, or the corners of facets, at each vertex
// (vertex_space.h).
//
// Vertices of Dirichlet edges are marked. The ends of edges, keyed by their vertex, are sorted; the
// sort is stable, so that those of a vertex stay in the order of their edges. Kernels have one
// thread an edge or an end. Ends at marked vertices get the last key and stay behind begin[n_rows].
// In space the array of keys is then work, in which the rows of the coarse matrix are counted.
#define CCCL_DISABLE_NVTX  // CUB's own ranges would lie between those of kedge
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "device/cuda_each.cuh"
#include "ops/numbering/vertex_space.h"

namespace
{
constexpr int BLOCK = 256;

/// The work memory: is_fixed[vertex], two arrays of keys and one of ends, then CUB's scratch. A
/// pass of the sort moves keys and ends from one of their two arrays to the other.
struct WorkShape {
  int32_t n_vertices, n_ends;
  int bits;  // of a key
  size_t vertex_array, end_array, scratch;

  size_t total() const
  {
    return vertex_array + 3 * end_array + scratch;
  }
};

using Both = cub::DoubleBuffer<int32_t>;

/// Sorts the ends of edges by vertices; without scratch, says how many bytes of scratch that takes.
cudaError_t sort(const WorkShape &w, void *scratch, size_t &bytes, Both &key, Both &end,
                 cudaStream_t stream)
{
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, key, end, w.n_ends, 0, w.bits, stream);
}

/// Adds up lengths of rows, in place; without scratch likewise.
cudaError_t scan(void *scratch, size_t &bytes, int32_t *length, int32_t n_rows, cudaStream_t stream)
{
  return cub::DeviceScan::InclusiveSum(scratch, bytes, length, length, n_rows, stream);
}

kedge_status work_shape(kedge_context *ctx, const kg_trace_counts *count, int32_t n_vertices,
                        WorkShape *out)
{
  WorkShape w = {n_vertices, kg_facet_ends(&count->lanes) * count->n_free, 1, 0, 0, 0};
  while (w.bits < 31 && n_vertices >> w.bits) ++w.bits;
  w.vertex_array = kg_rounded((size_t)n_vertices);
  w.end_array = kg_rounded((size_t)w.n_ends * sizeof(int32_t));
  size_t sorting = 0;
  Both none;
  KG_TRY(kg_cuda_check(ctx, sort(w, nullptr, sorting, none, none, nullptr),
                       "sizing the sort of the ends of edges"));
  size_t scanning = 0;
  if (kg_vertex_rows_differ(&count->lanes))
    KG_TRY(kg_cuda_check(ctx, scan(nullptr, scanning, nullptr, n_vertices, nullptr),
                         "sizing the scan of the rows of vertices"));
  w.scratch = kg_rounded(sorting > scanning ? sorting : scanning);
  *out = w;
  return KEDGE_OK;
}

/// The vertices of an edge, or of a facet.
template <int ENDS>
__device__ __forceinline__ void vertices_of(const kg_trace_arrays *arrays, int64_t edge,
                                            int32_t (&vertex)[ENDS])
{
  if constexpr (ENDS == KG_CORNERS)
    kg_facet_vertices(arrays, (int32_t)edge, vertex);
  else
    kg_edge_vertices(arrays, (int32_t)edge, vertex);
}

/// Thread = Dirichlet edge. All that write a word write the same.
template <int ENDS>
__global__ void __launch_bounds__(BLOCK) fix_kernel(const kg_vertex_space_args a, uint8_t *is_fixed)
{
  const int64_t edge = a.batch.count.n_free + kg_thread_number();
  if (edge >= a.batch.count.n_edges) return;
  int32_t vertex[ENDS];
  vertices_of(&a.batch.arrays, edge, vertex);
  for (int k = 0; k < ENDS; ++k) is_fixed[vertex[k]] = 1;
}

/// Thread = free edge: its ends with their keys.
template <int ENDS>
__global__ void __launch_bounds__(BLOCK)
    list_ends_kernel(const kg_vertex_space_args a, const uint8_t *is_fixed, int32_t *key,
                     int32_t *end)
{
  const int64_t edge = kg_thread_number();
  if (edge >= a.batch.count.n_free) return;
  int32_t vertex[ENDS];
  vertices_of(&a.batch.arrays, edge, vertex);
  for (int k = 0; k < ENDS; ++k) {
    key[ENDS * edge + k] = is_fixed[vertex[k]] ? a.n_vertices : vertex[k];
    end[ENDS * edge + k] = ENDS * (int32_t)edge + k;
  }
}

/// Thread = place among the sorted ends, and one behind: where rows begin.
__global__ void __launch_bounds__(BLOCK)
    find_rows_kernel(const int32_t *key, int32_t n_ends, int32_t n_rows, int32_t *begin)
{
  const int64_t i = kg_thread_number();
  if (i > n_ends) return;
  const int32_t last = i < n_ends ? key[i] : n_rows;
  for (int32_t row = i > 0 ? key[i - 1] + 1 : 0; row <= last; ++row) begin[row] = (int32_t)i;
}

/// Thread = unknown: the length of its row, to where the row ends.
__global__ void __launch_bounds__(BLOCK) measure_rows_kernel(const kg_vertex_space s)
{
  const int64_t i = kg_thread_number();
  if (i == 0) s.row[0] = 0;
  if (i < s.n_rows) s.row[i + 1] = kg_vertex_row_length(&s, (int32_t)i);
}

/// Likewise in space. @param column  work: [end]
__global__ void __launch_bounds__(BLOCK)
    measure_corner_rows_kernel(const kg_vertex_space s, int32_t *column)
{
  const int64_t i = kg_thread_number();
  if (i == 0) s.row[0] = 0;
  if (i < s.n_rows) s.row[i + 1] = kg_corner_columns(&s, (int32_t)i, column + s.begin[i]);
}

/// Find where the rows of the coarse matrix begin. @param column  work, in space: [end]
kedge_status find_entries(kedge_context *ctx, const kg_trace_counts *count, kg_vertex_space *s,
                          void *scratch, size_t bytes, int32_t *column)
{
  s->n_entries = s->n_ends;
  if (!kg_vertex_rows_differ(&count->lanes)) {
    s->row = s->begin;
    return KEDGE_OK;
  }
  if (kg_lanes_in_space(&count->lanes))
    KG_TRY(kg_launch_each<BLOCK>(ctx, "measuring the rows of vertices in space", s->n_rows,
                                 measure_corner_rows_kernel, *s, column));
  else
    KG_TRY(kg_launch_each<BLOCK>(ctx, "measuring the rows of vertices", s->n_rows,
                                 measure_rows_kernel, *s));
  KG_TRY(kg_cuda_check(ctx, scan(scratch, bytes, s->row + 1, s->n_rows, kg_cuda_stream(ctx)),
                       "adding up the rows of vertices"));
  return kg_copy_out(ctx, &s->n_entries, s->row + s->n_rows, sizeof s->n_entries);
}
}  // namespace

extern "C" kedge_status kg_vertex_space_work_bytes_cuda(kedge_context *ctx,
                                                        const kg_trace_counts *count,
                                                        int32_t n_vertices, size_t *bytes)
{
  WorkShape w;
  KG_TRY(work_shape(ctx, count, n_vertices, &w));
  *bytes = w.total();
  return KEDGE_OK;
}

namespace
{
/// Mark vertices and list the ends of edges with their keys.
template <int ENDS>
kedge_status list_ends(kedge_context *ctx, const kg_vertex_space_args &a, int32_t *key,
                       int32_t *end)
{
  const kg_trace_counts *count = &a.batch.count;
  uint8_t *const is_fixed = (uint8_t *)a.work;
  KG_TRY(kg_zero(ctx, is_fixed, (size_t)a.n_vertices));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "fixing the vertices of Dirichlet edges",
                               count->n_edges - count->n_free, fix_kernel<ENDS>, a, is_fixed));
  return kg_launch_each<BLOCK>(ctx, "listing the ends of edges", count->n_free,
                               list_ends_kernel<ENDS>, a, is_fixed, key, end);
}
}  // namespace

extern "C" kedge_status kg_vertex_space_fill_cuda(kedge_context *ctx, const kg_vertex_space_args *a)
{
  const kg_trace_counts *count = &a->batch.count;
  const cudaStream_t stream = kg_cuda_stream(ctx);
  WorkShape w;
  KG_TRY(work_shape(ctx, count, a->n_vertices, &w));
  char *const ends = (char *)a->work + w.vertex_array;
  void *const scratch = ends + 3 * w.end_array;
  size_t bytes = w.scratch;
  kg_vertex_space *s = a->space;
  Both key((int32_t *)ends, (int32_t *)(ends + w.end_array));
  Both end((int32_t *)(ends + 2 * w.end_array), s->ends);
  s->mesh = a->batch.arrays;
  s->n_rows = a->n_vertices;
  s->n_ends = 0;
  if (count->n_free == 0) {  // every vertex is one of a Dirichlet edge
    KG_TRY(kg_zero(ctx, s->begin, ((size_t)s->n_rows + 1) * sizeof *s->begin));
    return find_entries(ctx, count, s, scratch, bytes, key.Current());
  }
  if (kg_lanes_in_space(&count->lanes))
    KG_TRY(list_ends<KG_CORNERS>(ctx, *a, key.Current(), end.Current()));
  else
    KG_TRY(list_ends<2>(ctx, *a, key.Current(), end.Current()));
  KG_TRY(
      kg_cuda_check(ctx, sort(w, scratch, bytes, key, end, stream), "sorting the ends of edges"));
  if (end.Current() != s->ends)
    KG_TRY(kg_copy(ctx, s->ends, end.Current(), (size_t)w.n_ends * sizeof *s->ends));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "finding the ends of each vertex", (int64_t)w.n_ends + 1,
                               find_rows_kernel, key.Current(), w.n_ends, s->n_rows, s->begin));
  KG_TRY(kg_copy_out(ctx, &s->n_ends, s->begin + s->n_rows, sizeof s->n_ends));
  return find_entries(ctx, count, s, scratch, w.scratch, key.Current());
}
