// The host puts the ends of edges, or the corners of facets, into rows, one for each vertex, by a
// counting sort.
#include "ops/numbering/vertex_space.h"

#include <string.h>

#include "device/loop.h"

kedge_status kg_vertex_space_work_bytes_host(kedge_context *ctx, const kg_trace_counts *count,
                                             int32_t n_vertices, size_t *bytes)
{
  (void)ctx;
  *bytes = kg_rounded((size_t)n_vertices);
  if (kg_lanes_in_space(&count->lanes))
    *bytes += KG_CORNERS * (size_t)count->n_free * sizeof(int32_t);
  return KEDGE_OK;
}

#define INLINE __attribute__((always_inline)) static inline

/// The vertices at the n ends of an edge, or corners of a facet.
INLINE void vertices_of(const kg_trace_arrays *arrays, int n, int32_t edge, int32_t *vertex)
{
  if (n == KG_CORNERS)
    kg_facet_vertices(arrays, edge, vertex);
  else
    kg_edge_vertices(arrays, edge, vertex);
}

INLINE void mark_fixed(const kg_vertex_space_args *a, int n, uint8_t *is_fixed)
{
  const kg_trace_counts *count = &a->batch.count;
  memset(is_fixed, 0, (size_t)a->n_vertices);
  for (int32_t edge = count->n_free; edge < count->n_edges; ++edge) {
    int32_t vertex[KG_CORNERS];
    vertices_of(&a->batch.arrays, n, edge, vertex);
    for (int end = 0; end < n; ++end) is_fixed[vertex[end]] = 1;
  }
}

/// Where rows of the coarse matrix begin. @param[out] column  work, in space: [end]
static void find_rows(kedge_context *ctx, kg_vertex_space *s, int32_t *column)
{
  const bool in_space = kg_lanes_in_space(&s->mesh.lanes);
  s->row[0] = 0;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, s->n_rows, 256))
  for (int32_t v = 0; v < s->n_rows; ++v)
    s->row[v + 1] =
        in_space ? kg_corner_columns(s, v, column + s->begin[v]) : kg_vertex_row_length(s, v);
  for (int32_t v = 0; v < s->n_rows; ++v) s->row[v + 1] += s->row[v];
  s->n_entries = s->row[s->n_rows];
}

/// The ends at each vertex, of n an edge. @param[out] is_fixed  work: [vertex]
INLINE void sort_ends(const kg_vertex_space_args *a, int n, uint8_t *is_fixed)
{
  kg_vertex_space *s = a->space;
  const int32_t n_free = a->batch.count.n_free;
  mark_fixed(a, n, is_fixed);
  int32_t *const next = s->begin + 1;  // where the next end of a row goes; then, where the row ends
  memset(s->begin, 0, ((size_t)s->n_rows + 1) * sizeof *s->begin);
  for (int32_t edge = 0; edge < n_free; ++edge) {
    int32_t vertex[KG_CORNERS];
    vertices_of(&a->batch.arrays, n, edge, vertex);
    for (int end = 0; end < n; ++end) next[vertex[end]] += !is_fixed[vertex[end]];
  }
  s->n_ends = 0;
  for (int32_t v = 0; v < s->n_rows; ++v) {
    const int32_t length = next[v];
    next[v] = s->n_ends;
    s->n_ends += length;
  }
  for (int32_t edge = 0; edge < n_free; ++edge) {
    int32_t vertex[KG_CORNERS];
    vertices_of(&a->batch.arrays, n, edge, vertex);
    for (int end = 0; end < n; ++end)
      if (!is_fixed[vertex[end]]) s->ends[next[vertex[end]]++] = n * edge + end;
  }
}

kedge_status kg_vertex_space_fill_host(kedge_context *ctx, const kg_vertex_space_args *a)
{
  kg_vertex_space *s = a->space;
  s->mesh = a->batch.arrays;
  s->n_rows = a->n_vertices;
  if (kg_facet_ends(&s->mesh.lanes) == KG_CORNERS)
    sort_ends(a, KG_CORNERS, a->work);
  else
    sort_ends(a, 2, a->work);
  s->n_entries = s->n_ends;
  if (!kg_vertex_rows_differ(&a->batch.count.lanes)) {
    s->row = s->begin;
    return KEDGE_OK;
  }
  find_rows(ctx, s, (int32_t *)((char *)a->work + kg_rounded((size_t)a->n_vertices)));
  return KEDGE_OK;
}

kedge_status kg_vertex_space_work_bytes(kedge_context *ctx, const kg_trace_counts *count,
                                        int32_t n_vertices, size_t *bytes)
{
  return KG_IMPLEMENTATION(ctx, kg_vertex_space_work_bytes_host, kg_vertex_space_work_bytes_cuda)(
      ctx, count, n_vertices, bytes);
}

kedge_status kg_vertex_space_fill(kedge_context *ctx, const kg_vertex_space_args *args)
{
  size_t needed;
  const kg_trace_counts *count = &args->batch.count;
  const int ends = kg_facet_ends(&count->lanes);
  KG_REQUIRE(ctx, (int64_t)ends * count->n_free <= INT32_MAX, KEDGE_ERR_UNSUPPORTED,
             "multigrid has at most %d facets with unknowns, and this mesh has %d: take a coarser "
             "mesh, or " KG_WITHOUT_MULTIGRID,
             INT32_MAX / ends, count->n_free);
  KG_TRY(kg_vertex_space_work_bytes(ctx, &args->batch.count, args->n_vertices, &needed));
  KG_REQUIRE(ctx, args->work_bytes >= needed, KEDGE_ERR_INTERNAL,
             "the vertex space got %zu bytes of work memory and needs %zu", args->work_bytes,
             needed);
  return KG_IMPLEMENTATION(ctx, kg_vertex_space_fill_host, kg_vertex_space_fill_cuda)(ctx, args);
}

/// An edge: its first side and vertices read, its ends with their keys moved by every pass of a
/// radix sort by eight bits at a time. A vertex: its mark and first end.
kg_cost kg_vertex_space_cost(const kg_trace_counts *count, int32_t n_vertices)
{
  int passes = 1;
  while (passes < 4 && n_vertices >> 8 * passes) ++passes;
  const double ends = kg_facet_ends(&count->lanes);
  return (kg_cost){.bytes = (4.0 + ends * (6.0 + 16.0 * passes + 4.0)) * count->n_free +
                            8.0 * n_vertices};
}
