#include "mesh/build.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "mesh/hilbert.h"

/// Number vertices by first appearance in the element order and copy what is used.
static kedge_status number_vertices(kg_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const kg_raw_mesh *raw = b->raw;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)raw->n_vertices, sizeof(int32_t), &b->vertex_number));
  for (int64_t v = 0; v < raw->n_vertices; ++v) b->vertex_number[v] = -1;
  int32_t n = 0;
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_elements; ++i) {
    int32_t *number = &b->vertex_number[mesh->element_vertices[i]];
    if (*number < 0) *number = n++;
    mesh->element_vertices[i] = *number;
  }
  mesh->n_vertices = n;
  mesh->info.unused_vertices = raw->n_vertices - n;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, 2 * sizeof(double), &mesh->vertices));
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof(int32_t), &mesh->vertex_origin));
  for (int64_t v = 0; v < raw->n_vertices; ++v) {
    const int64_t number = b->vertex_number[v];
    if (number < 0) continue;
    mesh->vertex_origin[number] = (int32_t)v;
    mesh->vertices[2 * number] = raw->vertices[2 * v];
    mesh->vertices[2 * number + 1] = raw->vertices[2 * v + 1];
  }
  return KEDGE_OK;
}

kedge_status kg_build_order(kg_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const kg_raw_mesh *raw = b->raw;
  const int32_t n = (int32_t)raw->n_elements;
  mesh->n_elements = n;
  KG_TRY(kg_hilbert_order(b->ctx, raw->vertices, raw->triangles, n, &mesh->element_origin));
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, 3 * sizeof(int32_t), &mesh->element_vertices));
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof(int32_t), &mesh->element_region));
#pragma omp parallel for num_threads(b->ctx->threads)
  for (int32_t e = 0; e < n; ++e) {
    const int64_t origin = mesh->element_origin[e];
    const int32_t *from = raw->triangles + 3 * origin;
    int32_t *to = mesh->element_vertices + 3 * (int64_t)e;
    const int turn = b->clockwise[origin];
    to[0] = from[0];
    to[1] = from[1 + turn];
    to[2] = from[2 - turn];
    mesh->element_region[e] = raw->regions ? raw->regions[origin] : 0;
  }
  return number_vertices(b);
}

kedge_status kg_mesh_build(kedge_context *ctx, const kg_raw_mesh *raw, const char *source,
                           kedge_mesh **out)
{
  *out = NULL;
  kg_builder b = {.ctx = ctx, .raw = raw, .source = source};
  kedge_status status = kg_host_calloc(ctx, 1, sizeof *b.mesh, &b.mesh);
  if (status != KEDGE_OK) return status;
  const size_t source_size = strlen(source) + 1;
  status = kg_host_alloc(ctx, source_size, 1, &b.mesh->source);
  if (status != KEDGE_OK) goto done;
  memcpy(b.mesh->source, source, source_size);

  static kedge_status (*const steps[])(kg_builder *) = {
      kg_build_check, kg_build_order, kg_build_edges, kg_build_groups, kg_build_info,
  };
  for (size_t i = 0; status == KEDGE_OK && i < sizeof steps / sizeof *steps; ++i)
    status = steps[i](&b);
done:
  free(b.clockwise);
  free(b.vertex_number);
  free(b.sides);
  free(b.first_side);
  if (status == KEDGE_OK)
    *out = b.mesh;
  else
    kedge_mesh_destroy(b.mesh);
  return status;
}
