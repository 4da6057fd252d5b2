#include <math.h>
#include <stdlib.h>

#include "device/loop.h"
#include "core/memory.h"
#include "mesh/build.h"

/// Sums are taken over blocks of this many elements, then over blocks: the same bits for any number
/// of threads.
enum { BLOCK = 4096 };

/// The part of kedge_mesh_info that a block of elements adds; in the end, that of the whole mesh.
typedef struct summary {
  double area, quality;                                   // sums
  double min_area, max_area, min_quality, max_cotangent;  // of the smallest angle
  double alignment;                                       // squared
  double min_jacobian;
  double low[3], high[3];
} summary;

static const summary empty = {.min_area = INFINITY,
                              .min_quality = INFINITY,
                              .max_cotangent = -INFINITY,
                              .min_jacobian = INFINITY,
                              .low = {INFINITY, INFINITY, INFINITY},
                              .high = {-INFINITY, -INFINITY, -INFINITY}};

static void add_place(summary *s, int dimension, const double *at)
{
  for (int i = 0; i < dimension; ++i) {
    s->low[i] = fmin(s->low[i], at[i]);
    s->high[i] = fmax(s->high[i], at[i]);
  }
}

/// @param[in] straight  else the area is that of the corners alone
static void add_values(summary *s, double area, double quality, bool straight)
{
  s->quality += quality;
  s->min_quality = fmin(s->min_quality, quality);
  if (!straight) return;
  s->area += area;
  s->min_area = fmin(s->min_area, area);
  s->max_area = fmax(s->max_area, area);
}

static void add_triangle(summary *s, const double x[3], const double y[3], bool straight)
{
  double side[3], dx[3], dy[3];
  const double area = 0.5 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]));
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double wx = x[k] - x[i], wy = y[k] - y[i];
    dx[i] = x[j] - x[i];
    dy[i] = y[j] - y[i];
    side[i] = sqrt(dx[i] * dx[i] + dy[i] * dy[i]);
    s->max_cotangent = fmax(s->max_cotangent, (dx[i] * wx + dy[i] * wy) / (2 * area));
  }
  // 2 r_in / r_out with r_in = 2 A / (a + b + c), r_out = a b c / (4 A); equal to 16 A^2 over the
  // product of these four lengths.
  const double quality =
      4 * area / (side[0] * side[1]) * (4 * area / (side[2] * (side[0] + side[1] + side[2])));
  add_values(s, area, quality, straight);
  if (straight) s->min_jacobian = fmin(s->min_jacobian, 1.0);
  s->alignment = fmax(s->alignment, kg_alignment_squared(dx, dy));
}

/// J in the corners of a straight quadrilateral, over its mean; J is linear between them.
static double smallest_jacobian(const double x[4], const double y[4], double area)
{
  double least = INFINITY;
  for (int i = 0; i < 4; ++i) {
    const int j = (i + 1) % 4, k = (i + 3) % 4;
    least = fmin(least, (x[j] - x[i]) * (y[k] - y[i]) - (y[j] - y[i]) * (x[k] - x[i]));
  }
  return least / area;
}

/// The quality is the least over the corners of 2 (a x b) / (a . a + b . b), a and b the sides that
/// meet there.
static void add_quadrilateral(summary *s, const double x[4], const double y[4], bool straight)
{
  double quality = INFINITY;
  for (int i = 0; i < 4; ++i) {
    const int j = (i + 1) % 4, k = (i + 3) % 4;
    const double ax = x[j] - x[i], ay = y[j] - y[i], bx = x[k] - x[i], by = y[k] - y[i];
    const double cross = ax * by - ay * bx;
    quality = fmin(quality, 2 * cross / (ax * ax + ay * ay + bx * bx + by * by));
    s->max_cotangent = fmax(s->max_cotangent, (ax * bx + ay * by) / cross);
  }
  const double area = 0.5 * ((x[2] - x[0]) * (y[3] - y[1]) - (y[2] - y[0]) * (x[3] - x[1]));
  add_values(s, area, quality, straight);
  if (straight) s->min_jacobian = fmin(s->min_jacobian, smallest_jacobian(x, y, area));
}

/// Curved elements have the angles and the quality of their corners.
static void add_curve(summary *s, const kg_mesh_builder *b, int32_t e)
{
  const kg_curve *curve = kg_curve_of(b->curves, kg_block_of(b->mesh, e)->cell);
  const double *nodes = kg_element_nodes(b->mesh, e);
  double smallest;
  const double area = kg_curve_area(curve, nodes, &smallest, NULL);
  s->area += area;
  s->min_area = fmin(s->min_area, area);
  s->max_area = fmax(s->max_area, area);
  s->min_jacobian = fmin(s->min_jacobian, smallest);
  for (int k = 0; k < curve->n_nodes; ++k) add_place(s, 2, nodes + 2 * k);
}

static void add_tetrahedron(summary *s, const kedge_mesh *mesh, int32_t e)
{
  const kg_space_shape shape = kg_space_shape_of(mesh, e);
  const int32_t *v = kg_element_vertices(mesh, e);
  add_values(s, kg_space_volume(mesh, e), shape.quality, true);
  s->max_cotangent = fmax(s->max_cotangent, shape.max_cotangent);
  s->min_jacobian = fmin(s->min_jacobian, 1.0);
  for (int i = 0; i < 4; ++i) add_place(s, 3, mesh->vertices + 3 * (int64_t)v[i]);
}

static void add_element(summary *s, const kg_mesh_builder *b, int32_t e)
{
  const kedge_mesh *mesh = b->mesh;
  if (mesh->dimension == 3) {
    add_tetrahedron(s, mesh, e);
    return;
  }
  const int n = kg_block_of(mesh, e)->cell->n_vertices;
  const int32_t *v = kg_element_vertices(mesh, e);
  double x[4], y[4];
  for (int i = 0; i < n; ++i) {
    const double *p = mesh->vertices + 2 * (int64_t)v[i];
    x[i] = p[0];
    y[i] = p[1];
    add_place(s, 2, p);
  }
  if (n == 3)
    add_triangle(s, x, y, !b->curves);
  else
    add_quadrilateral(s, x, y, !b->curves);
  if (b->curves) add_curve(s, b, e);
}

static void add_summary(summary *s, const summary *part)
{
  s->area += part->area;
  s->quality += part->quality;
  s->min_jacobian = fmin(s->min_jacobian, part->min_jacobian);
  s->min_area = fmin(s->min_area, part->min_area);
  s->max_area = fmax(s->max_area, part->max_area);
  s->min_quality = fmin(s->min_quality, part->min_quality);
  s->max_cotangent = fmax(s->max_cotangent, part->max_cotangent);
  s->alignment = fmax(s->alignment, part->alignment);
  add_place(s, 3, part->low);
  add_place(s, 3, part->high);
}

static kedge_status count_parts(kg_mesh_builder *b)
{
  if (b->n_parts == 0) {
    int32_t *part;
    KG_TRY(kg_mesh_parts(b->ctx, b->mesh, &part, &b->n_parts));
    free(part);
  }
  b->mesh->info.parts = b->n_parts;
  return KEDGE_OK;
}

kedge_status kg_build_info(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const int n_blocks = (mesh->n_elements - 1) / BLOCK + 1;
  summary *blocks;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n_blocks, sizeof *blocks, &blocks));
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, mesh->n_elements, 1))
  for (int k = 0; k < n_blocks; ++k) {
    const int64_t begin = (int64_t)k * BLOCK;
    const int64_t end = begin + BLOCK < mesh->n_elements ? begin + BLOCK : mesh->n_elements;
    summary block = empty;
    for (int64_t e = begin; e < end; ++e) add_element(&block, b, (int32_t)e);
    blocks[k] = block;
  }
  summary total = empty;
  for (int k = 0; k < n_blocks; ++k) add_summary(&total, &blocks[k]);
  free(blocks);

  kedge_mesh_info *info = &mesh->info;  // counts of turned, unused, interior are there already
  info->size = sizeof *info;
  info->elements = mesh->n_elements;
  info->shared_lines += b->raw->n_shared_lines;
  info->periodic_lines = b->raw->n_periodic;
  info->ghost_elements = b->raw->n_ghosts;
  info->partition = b->raw->partition;
  info->partitions = b->raw->n_partitions;
  info->shared_elements = b->raw->n_shared;
  info->geometry = mesh->geometry;
  info->min_jacobian = total.min_jacobian;
  info->quadrilaterals = kg_mesh_quadrilaterals(mesh);
  info->edges = mesh->n_edges;
  info->vertices = mesh->n_vertices;
  info->boundary_edges = mesh->n_boundary_edges;
  info->area = total.area;
  info->min_area = total.min_area;
  info->max_area = total.max_area;
  info->min_quality = total.min_quality;
  info->mean_quality = total.quality / mesh->n_elements;
  info->min_angle = atan2(1, total.max_cotangent) * (180 / acos(-1.0));
  info->dimension = mesh->dimension;
  for (int i = 0; i < mesh->dimension; ++i) {
    info->low[i] = total.low[i];
    info->high[i] = total.high[i];
    if (i == 2) continue;
    info->box[i] = total.low[i];
    info->box[i + 2] = total.high[i];
  }
  mesh->alignment = sqrt(total.alignment);
  info->joined_vertices = b->raw->n_joined;
  KG_TRY(count_parts(b));
  return mesh->dimension == 3 ? kg_space_touch(b) : kg_build_touch(b);
}
