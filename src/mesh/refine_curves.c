// The parts of curved elements: their nodes lie on the curves of the elements that they are of.
#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "mesh/nodes.h"

/// The corners (r, s) of a part, in the order of its vertices: parts of quadrilaterals begin in the
/// corner that they share with the whole, the fourth of a triangle is its middle.
static void part_corners(const kg_cell *cell, int part, double corner[KG_FACETS_MAX][2])
{
  const int n = cell->n_vertices;
  const bool is_middle = part == n;
  for (int i = 0; i < n; ++i) {
    const int k = n == 4 ? (part + i) % n : i;
    const double *at = cell->corner[k];
    const double *to = cell->corner[is_middle ? (k + 1) % n : part];
    for (int j = 0; j < 2; ++j) corner[i][j] = 0.5 * (at[j] + to[j]);
  }
}

/// The nodes of each part from those of the whole.
static void part_matrices(const kg_cell *cell, int geometry, kg_node_matrix out[4])
{
  kg_node_matrix straight;
  kg_node_matrix_raise(cell, 1, geometry, &straight);
  for (int part = 0; part < 4; ++part) {
    double corner[KG_FACETS_MAX][2], node[KG_NODES_MAX][2], r[KG_NODES_MAX], s[KG_NODES_MAX];
    part_corners(cell, part, corner);
    kg_nodes_make(&straight, corner[0], node[0]);
    for (int k = 0; k < straight.rows; ++k) {
      r[k] = node[k][0];
      s[k] = node[k][1];
    }
    kg_node_matrix_at(cell, geometry, straight.rows, r, s, &out[part]);
  }
}

/// A vertex is where the part that has it as its corner says.
static void place(kg_raw_mesh *out, int64_t vertex, int64_t part, int corner)
{
  const double *from = kg_raw_nodes(out, part) + 2 * corner;
  out->vertices[2 * vertex] = from[0];
  out->vertices[2 * vertex + 1] = from[1];
}

/// The first of the two elements at an edge places the vertex in its middle.
static void place_vertices(const kedge_mesh *mesh, kg_raw_mesh *out)
{
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side side = mesh->edge_sides[2 * (int64_t)edge];
    const int32_t e = kg_side_element(side);
    const int l = kg_side_facet(side);
    const int corner = kg_block_of(mesh, e)->cell == &kg_triangle ? (l + 1) % 3 : 1;
    place(out, (int64_t)mesh->n_vertices + edge, 4 * (int64_t)mesh->element_origin[e] + l, corner);
  }
  const int32_t n_triangles = mesh->n_elements - kg_mesh_quadrilaterals(mesh);
  const int64_t first = (int64_t)mesh->n_vertices + mesh->n_edges;
  for (int32_t e = n_triangles; e < mesh->n_elements; ++e)
    place(out, first + e - n_triangles, 4 * (int64_t)mesh->element_origin[e], 2);
}

kedge_status kg_refine_curves(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out)
{
  KG_TRY(kg_raw_mesh_alloc_nodes(ctx, mesh->geometry, out));
  kg_node_matrix(*parts)[4];  // [triangle, quadrilateral][part]
  KG_TRY(kg_host_alloc(ctx, 2, sizeof *parts, &parts));
  part_matrices(&kg_triangle, mesh->geometry, parts[0]);
  part_matrices(&kg_quadrilateral, mesh->geometry, parts[1]);
#pragma omp parallel for num_threads(kg_loop_threads(ctx, mesh->n_elements, 1))
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const kg_node_matrix *matrix = parts[kg_block_of(mesh, e)->cell == &kg_quadrilateral];
    const int64_t first = 4 * (int64_t)mesh->element_origin[e];
    for (int part = 0; part < 4; ++part)
      kg_nodes_make(&matrix[part], kg_element_nodes(mesh, e), kg_raw_nodes(out, first + part));
  }
  free(parts);
  place_vertices(mesh, out);
  return KEDGE_OK;
}
