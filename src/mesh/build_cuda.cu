// build_cuda.cu: a mesh built by the GPU. The caller's vertices and triangles go up, the finished
// arrays come down; what the steps make in between stays there. The host puts refusals into words
// and makes what is small: groups, lengths and areas.
#include "core/memory.h"
#include "core/nvtx.h"
#include "mesh/build_cuda.cuh"

using namespace kg_build;

namespace
{
/// The next piece of memory, after the bytes of it that are taken; they grow. NULL in a memory that
/// is NULL: with it, a function that places its arrays says how much they need.
template <class T>
void take(char *memory, size_t *bytes, size_t count, T **out)
{
  *out = memory ? (T *)(memory + *bytes) : nullptr;
  *bytes += kg_rounded(count * sizeof(T));
}

kedge_status upload(kedge_context *ctx, const kg_raw_mesh *raw, const Work &w)
{
  const size_t n = (size_t)raw->n_elements, n_vertices = (size_t)raw->n_vertices;
  KG_TRY(kg_copy_in(ctx, w.raw_vertices, raw->vertices, 2 * n_vertices * sizeof(double)));
  KG_TRY(kg_copy_in(ctx, w.raw_triangles, raw->corners, 3 * n * sizeof(int32_t)));
  KG_TRY(kg_copy_in(ctx, w.lines, raw->lines, 2 * (size_t)raw->n_lines * sizeof(int32_t)));
  return kg_zero(ctx, w.findings, sizeof *w.findings);
}

/// Host memory for an array, and its values.
template <class T>
kedge_status download(kedge_context *ctx, const T *device, size_t count, T **out)
{
  KG_TRY(kg_host_alloc(ctx, count, sizeof(T), out));
  return kg_copy_out(ctx, *out, device, count * sizeof(T));
}

kedge_status download_all(kg_mesh_builder *b, const Work &w)
{
  kedge_context *ctx = b->ctx;
  kedge_mesh *mesh = b->mesh;
  const size_t n = (size_t)w.n_elements, n_vertices = (size_t)w.n_vertices;
  Findings found;
  KG_TRY(kg_copy_out(ctx, &found, w.findings, sizeof found));
  KG_TRY(download(ctx, w.vertices, 2 * n_vertices, &mesh->vertices));
  KG_TRY(download(ctx, w.vertex_origin, n_vertices, &mesh->vertex_origin));
  KG_TRY(download(ctx, w.element_origin, n, &mesh->element_origin));
  KG_TRY(download(ctx, w.element_vertices, 3 * n, &mesh->element_vertices));
  KG_TRY(download(ctx, w.side_edge, 3 * n, &mesh->side_edge));
  KG_TRY(download(ctx, w.edge_sides, 2 * (size_t)w.n_edges, &mesh->edge_sides));
  KG_TRY(download(ctx, w.line_edge, (size_t)w.n_lines, &b->line_edge));
  KG_TRY(kg_sync(ctx));
  mesh->n_elements = w.n_elements;
  mesh->n_blocks = 1;
  mesh->block[0] = {&kg_triangle, 0, w.n_elements, 0};
  mesh->n_vertices = w.n_vertices;
  mesh->n_edges = w.n_edges;
  mesh->n_boundary_edges = (int32_t)(2 * (int64_t)w.n_edges - w.n_sides);
  mesh->info.turned_elements = (int64_t)found.turned;
  mesh->info.unused_vertices = w.n_raw_vertices - w.n_vertices;
  b->n_parts = found.n_parts;
  return KEDGE_OK;
}

kedge_status is_sound(kedge_context *ctx, const Work &w, bool *sound)
{
  Findings found;
  KG_TRY(kg_copy_out(ctx, &found, w.findings, sizeof found));
  *sound = found.faults == 0;
  return KEDGE_OK;
}

/// Triangles alone, and counts below which numbers fit; the host's steps take or refuse the rest.
bool can_build(const kg_raw_mesh *raw)
{
  return raw->width == 3 && raw->n_elements > 0 && raw->n_elements <= KG_ELEMENTS_MAX &&
         3 * raw->n_elements <= INT32_MAX && raw->n_vertices <= INT32_MAX &&
         raw->n_lines <= INT32_MAX;
}

/// The steps, each in a range of its own; *done stays false when one finds a fault.
kedge_status run_steps(kg_mesh_builder *b, Work *w, bool *done)
{
  kedge_context *ctx = b->ctx;
  bool sound;
  KG_TRY(upload(ctx, b->raw, *w));
  KG_TRY(check(ctx, *w));
  KG_TRY(is_sound(ctx, *w, &sound));
  if (!sound) return KEDGE_OK;
  kg_range_push("mesh_order", w->n_elements, 0);
  kedge_status status = order(ctx, w);
  kg_range_pop();
  KG_TRY(status);
  kg_range_push("mesh_edges", w->n_elements, 0);
  status = connect(ctx, w, &sound);
  kg_range_pop();
  KG_TRY(status);
  if (!sound) return KEDGE_OK;
  kg_range_push("mesh_copy", w->n_elements, 0);
  status = download_all(b, *w);
  kg_range_pop();
  *done = status == KEDGE_OK;
  return status;
}
}  // namespace

kedge_status kg_build::lay_out(kedge_context *ctx, const kg_raw_mesh *raw, char *memory, Work *w,
                               size_t *bytes)
{
  const size_t n = (size_t)raw->n_elements, n_sides = 3 * n, n_vertices = (size_t)raw->n_vertices;
  *w = Work{};
  w->n_raw_vertices = raw->n_vertices;
  w->n_lines = raw->n_lines;
  w->n_elements = (int32_t)raw->n_elements;
  w->n_sides = 3 * w->n_elements;
  size_t ordering, connecting;
  KG_TRY(order_scratch(ctx, w->n_elements, &ordering));
  KG_TRY(edges_scratch(ctx, w->n_sides, &connecting));
  w->scratch_bytes = ordering > connecting ? ordering : connecting;
  *bytes = 0;
  take(memory, bytes, 2 * n_vertices, &w->raw_vertices);
  take(memory, bytes, n_sides, &w->raw_triangles);
  take(memory, bytes, n_vertices, &w->vertex_first);
  take(memory, bytes, n_vertices, &w->vertex_number);
  take(memory, bytes, 2 * n_vertices, &w->vertices);
  take(memory, bytes, n_vertices, &w->vertex_origin);
  take(memory, bytes, n, &w->element_origin);
  take(memory, bytes, n_sides, &w->element_vertices);
  for (int i = 0; i < 2; ++i) {
    take(memory, bytes, n_sides, &w->key[i]);
    take(memory, bytes, n_sides, &w->value[i]);
  }
  take(memory, bytes, n_sides, &w->partner);
  take(memory, bytes, 2 * (size_t)raw->n_lines, &w->lines);
  take(memory, bytes, (size_t)raw->n_lines, &w->line_edge);
  take(memory, bytes, 1, &w->findings);
  take(memory, bytes, w->scratch_bytes, (char **)&w->scratch);
  w->rank = w->raw_triangles;
  return KEDGE_OK;
}

extern "C" kedge_status kg_build_cuda(kg_mesh_builder *b, bool *done)
{
  kedge_context *ctx = b->ctx;
  *done = false;
  if (!can_build(b->raw)) return KEDGE_OK;
  KG_TRY(kg_enter(ctx));
  Work w;
  size_t bytes;
  KG_TRY(lay_out(ctx, b->raw, nullptr, &w, &bytes));
  if ((int64_t)bytes > kg_free_bytes(ctx)) return KEDGE_OK;
  kg_buffer memory = {};
  kedge_status status = kg_alloc(ctx, bytes, 1, &memory);
  if (status == KEDGE_ERR_MEMORY) return KEDGE_OK;  // others took what was free
  KG_TRY(status);
  status = lay_out(ctx, b->raw, (char *)memory.data, &w, &bytes);
  if (status == KEDGE_OK) status = run_steps(b, &w, done);
  kg_free(ctx, &memory);
  return status != KEDGE_OK ? status : kg_sync(ctx);
}
