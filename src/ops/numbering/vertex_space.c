#include "ops/numbering/vertex_space.h"

#include "device/context.h"

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
