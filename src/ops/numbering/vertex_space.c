// The host puts the ends of edges into rows, one for each vertex, by a counting sort.
#include "ops/numbering/vertex_space.h"

#include <string.h>

#include "device/context.h"

kedge_status kg_vertex_space_work_bytes_host(kedge_context *ctx, const kg_trace_counts *count,
                                             int32_t n_vertices, size_t *bytes)
{
  (void)ctx, (void)count;
  *bytes = kg_rounded((size_t)n_vertices);
  return KEDGE_OK;
}

static void mark_fixed(const kg_vertex_space_args *a, uint8_t *is_fixed)
{
  const kg_trace_counts *count = &a->batch.count;
  memset(is_fixed, 0, (size_t)a->n_vertices);
  for (int32_t edge = count->n_free; edge < count->n_edges; ++edge) {
    int32_t vertex[2];
    kg_edge_vertices(&a->batch.arrays, edge, vertex);
    is_fixed[vertex[0]] = is_fixed[vertex[1]] = 1;
  }
}

kedge_status kg_vertex_space_fill_host(kedge_context *ctx, const kg_vertex_space_args *a)
{
  (void)ctx;
  kg_vertex_space *s = a->space;
  uint8_t *const is_fixed = a->work;
  const int32_t n_free = a->batch.count.n_free;
  s->mesh = a->batch.arrays;
  s->n_rows = a->n_vertices;
  mark_fixed(a, is_fixed);
  int32_t *const next = s->begin + 1;  // where the next end of a row goes; then, where the row ends
  memset(s->begin, 0, ((size_t)s->n_rows + 1) * sizeof *s->begin);
  for (int32_t edge = 0; edge < n_free; ++edge) {
    int32_t vertex[2];
    kg_edge_vertices(&a->batch.arrays, edge, vertex);
    for (int end = 0; end < 2; ++end) next[vertex[end]] += !is_fixed[vertex[end]];
  }
  s->n_ends = 0;
  for (int32_t v = 0; v < s->n_rows; ++v) {
    const int32_t length = next[v];
    next[v] = s->n_ends;
    s->n_ends += length;
  }
  for (int32_t edge = 0; edge < n_free; ++edge) {
    int32_t vertex[2];
    kg_edge_vertices(&a->batch.arrays, edge, vertex);
    for (int end = 0; end < 2; ++end)
      if (!is_fixed[vertex[end]]) s->ends[next[vertex[end]]++] = edge << 1 | end;
  }
  s->n_entries = s->n_ends;
  if (!kg_has_lanes_of(&a->batch.count.lanes, KG_QUADRILATERALS)) {
    s->row = s->begin;
    return KEDGE_OK;
  }
  s->row[0] = 0;
  for (int32_t v = 0; v < s->n_rows; ++v) s->row[v + 1] = s->row[v] + kg_vertex_row_length(s, v);
  s->n_entries = s->row[s->n_rows];
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
  KG_TRY(kg_vertex_space_work_bytes(ctx, &args->batch.count, args->n_vertices, &needed));
  KG_REQUIRE(ctx, args->work_bytes >= needed, KEDGE_ERR_INTERNAL,
             "the vertex space got %zu bytes of work memory and needs %zu", args->work_bytes,
             needed);
  return KG_IMPLEMENTATION(ctx, kg_vertex_space_fill_host, kg_vertex_space_fill_cuda)(ctx, args);
}

/// An edge: its first side and vertices read, two ends with their keys moved by every pass of a
/// radix sort by eight bits at a time. A vertex: its mark and first end.
kg_cost kg_vertex_space_cost(const kg_trace_counts *count, int32_t n_vertices)
{
  int passes = 1;
  while (passes < 4 && n_vertices >> 8 * passes) ++passes;
  return (kg_cost){.bytes = (16.0 + 2 * 16.0 * passes + 8.0) * count->n_free + 8.0 * n_vertices};
}
