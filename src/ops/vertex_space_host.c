// The ends are sorted by counting: unknowns are their own digits.
#include <string.h>

#include "core/context.h"
#include "ops/vertex_space.h"

kedge_status kg_vertex_space_work_bytes_host(kedge_context *ctx, const kg_trace_counts *count,
                                             int32_t n_vertices, size_t *bytes)
{
  (void)ctx, (void)count;
  *bytes = kg_rounded((size_t)n_vertices * sizeof(int32_t));
  return KEDGE_OK;
}

/// row[vertex]: its unknown, or -1. Returns how many there are.
static int32_t number_vertices(const kg_vertex_space_args *a, int32_t *row)
{
  const kg_trace_counts *count = &a->batch.count;
  memset(row, 0, (size_t)a->n_vertices * sizeof *row);
  for (int32_t edge = count->n_free; edge < count->n_edges; ++edge) {
    int32_t vertex[2];
    kg_edge_vertices(&a->batch.arrays, edge, vertex);
    row[vertex[0]] = row[vertex[1]] = -1;
  }
  int32_t n = 0;
  for (int32_t v = 0; v < a->n_vertices; ++v)
    if (row[v] == 0) row[v] = n++;
  return n;
}

kedge_status kg_vertex_space_fill_host(kedge_context *ctx, const kg_vertex_space_args *a)
{
  (void)ctx;
  kg_vertex_space *s = a->space;
  int32_t *const row = a->work;
  const int32_t n_free = a->batch.count.n_free;
  s->n_rows = number_vertices(a, row);
  int32_t *const next = s->begin + 1;  // where the next end of a row goes; then, where the row ends
  memset(s->begin, 0, ((size_t)s->n_rows + 1) * sizeof *s->begin);
  for (int32_t edge = 0; edge < n_free; ++edge) {
    int32_t vertex[2];
    kg_edge_vertices(&a->batch.arrays, edge, vertex);
    for (int end = 0; end < 2; ++end) {
      const int32_t r = row[vertex[end]];
      s->edge_row[2 * (int64_t)edge + end] = r;
      if (r >= 0) ++next[r];
    }
  }
  for (int32_t r = 0, place = 0; r < s->n_rows; ++r) {
    const int32_t length = next[r];
    next[r] = place;
    place += length;
  }
  for (int32_t edge = 0; edge < n_free; ++edge)
    for (int end = 0; end < 2; ++end) {
      const int32_t r = s->edge_row[2 * (int64_t)edge + end];
      if (r >= 0) s->ends[next[r]++] = edge << 1 | end;
    }
  return KEDGE_OK;
}
