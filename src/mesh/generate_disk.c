// The unit disk in layers: layer k has 6 k vertices on the circle of radius k / n, in six sectors.
#include <math.h>
#include <string.h>

#include "device/loop.h"
#include "mesh/generate.h"
#include "mesh/nodes.h"

/// Number of vertex s of a layer, counted around.
static int32_t vertex_of(int64_t layer, int64_t s)
{
  if (layer == 0) return 0;
  return (int32_t)(1 + 3 * layer * (layer - 1) + s % (6 * layer));
}

/// Point s of a layer, where fractions lie between.
static void place(int64_t n, int64_t layer, double s, double xy[2])
{
  const double radius = (double)layer / (double)n;
  const double angle = layer ? acos(-1.0) * s / (3.0 * (double)layer) : 0.0;
  xy[0] = radius * cos(angle);
  xy[1] = radius * sin(angle);
}

/// The triangles between a layer and the one before it: in every sector `layer` that have an edge
/// on it, and between these those that have one on the layer before.
static void put_layer(int64_t layer, kg_raw_mesh *raw)
{
  int32_t *v = raw->corners + 3 * 6 * (layer - 1) * (layer - 1);
  for (int64_t sector = 0; sector < 6; ++sector) {
    const int64_t inner = sector * (layer - 1), outer = sector * layer;
    for (int64_t t = 0; t < layer; ++t) {
      *v++ = vertex_of(layer - 1, inner + t);
      *v++ = vertex_of(layer, outer + t);
      *v++ = vertex_of(layer, outer + t + 1);
      if (t + 1 == layer) continue;
      *v++ = vertex_of(layer - 1, inner + t);
      *v++ = vertex_of(layer, outer + t + 1);
      *v++ = vertex_of(layer - 1, inner + t + 1);
    }
  }
}

kedge_status kg_form_disk(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw)
{
  static const char *const names[] = {"boundary"};
  const int64_t n = args->n;
  KG_TRY(kg_raw_mesh_alloc(ctx, 2, 1 + 3 * n * (n + 1), 6 * n * n, 3, 6 * n, raw));
  raw->n_lines = 0;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t layer = 0; layer <= n; ++layer) {
    for (int64_t s = 0; s < (layer ? 6 * layer : 1); ++s)
      place(n, layer, (double)s, raw->vertices + 2 * (int64_t)vertex_of(layer, s));
    if (layer > 0) put_layer(layer, raw);
  }
  for (int64_t e = 0; e < raw->n_elements; ++e) raw->regions[e] = KG_FORM_REGION;
  for (int64_t s = 0; s < 6 * n; ++s) kg_form_line(raw, vertex_of(n, s), vertex_of(n, s + 1), 1);
  return kg_form_names(ctx, raw, names, 1);
}

void kg_bend_disk(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw)
{
  const int64_t n = args->n;
  const int32_t first = vertex_of(n, 0);
  const int g = raw->geometry;
  kg_node_matrix inside;
  kg_node_matrix_gmsh(&kg_triangle, g, false, g, &inside);
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t e = 6 * (n - 1) * (n - 1); e < raw->n_elements; ++e) {
    const int32_t *v = kg_raw_corners(raw, e);
    if (v[1] < first || v[2] < first) continue;  // its edge from corner 1 to 2 is inside
    double rim[2 * KG_NODES_MAX], *nodes = kg_raw_nodes(raw, e);
    memcpy(rim, nodes, 3 * (size_t)g * 2 * sizeof *rim);  // in triangles Gmsh's order is kedge's
    for (int k = 1; k < g; ++k)
      place(n, n, (double)(v[1] - first) + (double)k / g, rim + 2 * (3 + g - 1 + k - 1));
    kg_nodes_make(&inside, rim, nodes);
  }
}
