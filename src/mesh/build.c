#include "mesh/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/backend.h"
#include "device/loop.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "mesh/hilbert.h"
#include "mesh/radix.h"

/// Number vertices by first appearance in the element order and copy what is used.
static kedge_status number_vertices(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const kg_raw_mesh *raw = b->raw;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)raw->n_vertices, sizeof(int32_t), &b->vertex_number));
  for (int64_t v = 0; v < raw->n_vertices; ++v) b->vertex_number[v] = -1;
  int32_t n = 0;
  for (int64_t i = 0; i < kg_mesh_sides(mesh); ++i) {
    int32_t *number = &b->vertex_number[mesh->element_vertices[i]];
    if (*number < 0) *number = n++;
    mesh->element_vertices[i] = *number;
  }
  mesh->n_vertices = n;
  mesh->info.unused_vertices = raw->n_vertices - n - raw->n_between;
  const int64_t d = mesh->dimension;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, (size_t)d * sizeof(double), &mesh->vertices));
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof(int32_t), &mesh->vertex_origin));
  for (int64_t v = 0; v < raw->n_vertices; ++v) {
    const int64_t number = b->vertex_number[v];
    if (number < 0) continue;
    mesh->vertex_origin[number] = (int32_t)v;
    memcpy(mesh->vertices + d * number, raw->vertices + d * v, (size_t)d * sizeof(double));
  }
  return KEDGE_OK;
}

/// A block of each shape that occurs, with the elements of the caller in their order.
static void list_blocks(const kg_raw_mesh *raw, kedge_mesh *mesh)
{
  static const kg_cell *const cells[KG_BLOCKS_MAX] = {&kg_triangle, &kg_quadrilateral};
  int64_t first_side = 0;
  int32_t n = 0;
  for (int k = 0; k < KG_BLOCKS_MAX; ++k) {
    const int32_t first = n;
    for (int32_t e = 0; e < (int32_t)raw->n_elements; ++e)
      if (kg_raw_cell(raw, e) == cells[k]) mesh->element_origin[n++] = e;
    if (n == first) continue;
    mesh->block[mesh->n_blocks++] = (kg_block){cells[k], first, n - first, first_side};
    first_side += (int64_t)(n - first) * cells[k]->n_facets;
  }
  mesh->n_elements = n;
}

static void set_keys(kedge_context *ctx, const kg_raw_mesh *raw, int n_corners, int32_t n,
                     const int32_t *element, kg_pair *pairs)
{
  const double *vertices = raw->vertices;
  double xmin = INFINITY, ymin = INFINITY, xmax = -INFINITY, ymax = -INFINITY;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, n, 1)) reduction(min           \
                                                                           : xmin, ymin) \
    reduction(max                                                                        \
              : xmax, ymax)
  for (int32_t i = 0; i < n; ++i) {
    const int32_t *v = kg_raw_corners(raw, element[i]);
    const double x = kg_corner_sum(vertices, v, n_corners, 0);
    const double y = kg_corner_sum(vertices, v, n_corners, 1);
    xmin = fmin(xmin, x);
    xmax = fmax(xmax, x);
    ymin = fmin(ymin, y);
    ymax = fmax(ymax, y);
  }
  const kg_hilbert_box box = kg_hilbert_box_of(xmin, ymin, xmax, ymax);
#pragma omp parallel for num_threads(kg_loop_threads(ctx, n, 1))
  for (int32_t i = 0; i < n; ++i) {
    const int32_t *v = kg_raw_corners(raw, element[i]);
    pairs[i] = (kg_pair){kg_hilbert_cell(box, vertices, v, n_corners), element[i]};
  }
  // A loop of its own: it vectorises, where corners that follow no order would keep it from it.
#pragma omp parallel for simd num_threads(kg_loop_threads(ctx, n, 1))
  for (int32_t i = 0; i < n; ++i)
    pairs[i] = (kg_pair){kg_hilbert_key(pairs[i].key), pairs[i].value};
}

/// Order elements of one shape by the place of their centres on the Hilbert curve, ties by number.
/// @param[in,out] element  [n]: numbers of elements, ascending; then the element at each place
static kedge_status order_along_curve(kedge_context *ctx, const kg_raw_mesh *raw, int n_corners,
                                      int32_t n, int32_t *element)
{
  kg_pair *pairs;
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *pairs, &pairs));
  set_keys(ctx, raw, n_corners, n, element, pairs);
  const kedge_status status = kg_radix_sort(ctx, &pairs, (size_t)n, 2 * KG_HILBERT_LEVELS);
  for (int32_t i = 0; status == KEDGE_OK && i < n; ++i) element[i] = (int32_t)pairs[i].value;
  free(pairs);
  return status;
}

/// Elements of plane meshes along the Hilbert curve, their corners counterclockwise.
static kedge_status order_plane(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const kg_raw_mesh *raw = b->raw;
  list_blocks(raw, mesh);
  for (int k = 0; k < mesh->n_blocks; ++k) {
    const kg_block *block = &mesh->block[k];
    KG_TRY(order_along_curve(b->ctx, raw, block->cell->n_vertices, block->n,
                             mesh->element_origin + block->first));
  }
  KG_TRY(
      kg_host_alloc(b->ctx, (size_t)kg_mesh_sides(mesh), sizeof(int32_t), &mesh->element_vertices));
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, mesh->n_elements, 1))
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int64_t origin = mesh->element_origin[e];
    const int32_t *from = kg_raw_corners(raw, origin);
    int32_t *to = mesh->element_vertices + kg_element_place(mesh, e);
    const int n = kg_block_of(mesh, e)->cell->n_vertices;
    to[0] = from[0];
    for (int i = 1; i < n; ++i) to[i] = from[b->clockwise[origin] ? n - i : i];
  }
  return KEDGE_OK;
}

/// Elements along the curve, vertices by first appearance.
static kedge_status order(kg_mesh_builder *b)
{
  KG_TRY(
      kg_host_alloc(b->ctx, (size_t)b->raw->n_elements, sizeof(int32_t), &b->mesh->element_origin));
  KG_TRY(b->mesh->dimension == 3 ? kg_space_order(b) : order_plane(b));
  return number_vertices(b);
}

/// A step in a range of its own.
static kedge_status in_range(const char *name, kg_mesh_builder *b,
                             kedge_status (*step)(kg_mesh_builder *))
{
  kg_range_push(name, b->raw->n_elements, 0);
  const kedge_status status = step(b);
  kg_range_pop();
  return status;
}

/// Everything that depends on numbering, by the host.
static kedge_status connect(kg_mesh_builder *b)
{
  KG_TRY(kg_build_check(b));
  KG_TRY(in_range("mesh_order", b, order));
  KG_TRY(in_range("mesh_edges", b, kg_build_edges));
  if (b->curves) KG_TRY(kg_build_nodes(b));
  if (b->curves) KG_TRY(kg_build_fit(b));
  return kg_build_lines(b);
}

/// Region tags in the order of the elements.
static kedge_status copy_regions(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const int32_t *regions = b->raw->regions;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)mesh->n_elements, sizeof(int32_t), &mesh->element_region));
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, mesh->n_elements, 1))
  for (int32_t e = 0; e < mesh->n_elements; ++e)
    mesh->element_region[e] = regions ? regions[mesh->element_origin[e]] : 0;
  return KEDGE_OK;
}

static kedge_status build(kg_mesh_builder *b, bool on_gpu)
{
  static kedge_status (*const connect_on_gpu)(kg_mesh_builder *, bool *) =
      KG_IF_CUDA(kg_build_cuda);
  bool done = false;
  KG_TRY(kg_copy_text(b->ctx, b->source, strlen(b->source), &b->mesh->source));
  for (int d = 0; d < 2; ++d)
    if (b->raw->lost[d])
      KG_TRY(kg_copy_text(b->ctx, b->raw->lost[d], strlen(b->raw->lost[d]), &b->mesh->lost[d]));
  b->mesh->dimension = b->raw->dimension;
  b->mesh->geometry = b->raw->nodes ? b->raw->geometry : 1;
  b->mesh->flattened = b->raw->flattened;
  b->mesh->is_polygon = b->raw->is_polygon;
  if (b->raw->nodes) KG_TRY(kg_curves_create(b->ctx, b->mesh->geometry, &b->curves));
  if (on_gpu && !b->curves) KG_TRY(connect_on_gpu(b, &done));
  if (!done) KG_TRY(connect(b));
  KG_TRY(copy_regions(b));
  KG_TRY(in_range("mesh_groups", b, kg_build_groups));
  KG_TRY(b->mesh->dimension == 2 ? kg_build_hanging(b) : kg_space_hanging(b));
  return in_range("mesh_info", b, kg_build_info);
}

kedge_status kg_mesh_build_on(kedge_context *ctx, const kg_raw_mesh *raw, const char *source,
                              bool on_gpu, kedge_mesh **out)
{
  *out = NULL;
  KG_REQUIRE(ctx, raw->dimension == 2 || (raw->dimension == 3 && raw->width == 4 && !raw->nodes),
             KEDGE_ERR_INTERNAL, "%s: a mesh of dimension %d and %d corners", source,
             raw->dimension, raw->width);
  const kg_cell *cell = raw->dimension == 3 ? &kg_tetrahedron
                        : raw->width == 3   ? &kg_triangle
                                            : &kg_quadrilateral;
  kg_raw_mesh straight = *raw;
  straight.nodes = NULL;
  if (raw->nodes && kg_build_is_straight(raw)) raw = &straight;
  const int geometry = raw->nodes ? raw->geometry : 1;
  KG_TRY(kg_mesh_check_memory(ctx, source, cell, geometry, raw->n_elements, true));
  kg_mesh_builder b = {.ctx = ctx, .raw = raw, .source = source};
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *b.mesh, &b.mesh));
  const kedge_status status = build(&b, on_gpu);
  free(b.curves);
  free(b.clockwise);
  free(b.vertex_number);
  free(b.sides);
  free(b.first_side);
  free(b.line_edge);
  if (status == KEDGE_OK)
    *out = b.mesh;
  else
    kedge_mesh_destroy(b.mesh);
  return status;
}

kedge_status kg_mesh_build(kedge_context *ctx, const kg_raw_mesh *raw, const char *source,
                           kedge_mesh **out)
{
  const bool on_gpu =
      ctx->backend == KEDGE_BACKEND_CUDA && raw->width == 3 && raw->n_elements >= KG_GPU_ELEMENTS;
  return kg_mesh_build_on(ctx, raw, source, on_gpu, out);
}
