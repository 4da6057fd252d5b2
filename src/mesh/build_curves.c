// What building a mesh does with the nodes of curved elements.
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "device/loop.h"
#include "mesh/build.h"

/// Nodes nearer than this share of an element's longest side are in one place.
static const double SAME_PLACE = 1e-10;

static double squared_size(const kg_raw_mesh *raw, int64_t e)
{
  const int32_t *v = kg_raw_corners(raw, e);
  double size = 0.0;
  for (int n = kg_raw_cell(raw, e)->n_vertices, i = 0; i < n; ++i)
    size = fmax(size, kg_distance_squared(raw->vertices + 2 * (int64_t)v[i],
                                          raw->vertices + 2 * (int64_t)v[(i + 1) % n]));
  return size;
}

static bool is_straight(const kg_raw_mesh *raw, const kg_node_matrix *straight, int64_t e)
{
  const int32_t *v = kg_raw_corners(raw, e);
  const double *nodes = kg_raw_nodes(raw, e), size = squared_size(raw, e);
  double corner[KG_FACETS_MAX][2], expected[2 * KG_NODES_MAX];
  for (int i = 0; i < kg_raw_cell(raw, e)->n_vertices; ++i)
    memcpy(corner[i], raw->vertices + 2 * (int64_t)v[i], sizeof corner[i]);
  kg_nodes_make(straight, corner[0], expected);
  for (int k = 0; k < straight->rows; ++k)
    if (!(kg_distance_squared(nodes + 2 * k, expected + 2 * k) <= SAME_PLACE * SAME_PLACE * size))
      return false;
  return true;
}

bool kg_build_is_straight(const kg_raw_mesh *raw)
{
  kg_node_matrix triangle, quadrilateral;
  kg_node_matrix_raise(&kg_triangle, 1, raw->geometry, &triangle);
  kg_node_matrix_raise(&kg_quadrilateral, 1, raw->geometry, &quadrilateral);
  for (int64_t e = 0; e < raw->n_elements; ++e)
    if (!is_straight(raw, kg_raw_cell(raw, e) == &kg_triangle ? &triangle : &quadrilateral, e))
      return false;
  return true;
}

/// Corners are the vertices to the bit, whatever made the nodes.
kedge_status kg_build_nodes(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  size_t n = 0;
  for (int k = 0; k < mesh->n_blocks; ++k)
    n += (size_t)mesh->block[k].n * (size_t)mesh->block[k].cell->n_modes(mesh->geometry);
  KG_TRY(kg_host_alloc(b->ctx, n, 2 * sizeof(double), &mesh->nodes));
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, mesh->n_elements, 1))
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int64_t origin = mesh->element_origin[e];
    const kg_curve *curve = kg_curve_of(b->curves, kg_block_of(mesh, e)->cell);
    const double *from = kg_raw_nodes(b->raw, origin);
    double *to = mesh->nodes + (kg_element_nodes(mesh, e) - mesh->nodes);
    for (int k = 0; k < curve->n_nodes; ++k) {
      const int source = b->clockwise[origin] ? curve->turned[k] : k;
      memcpy(to + 2 * k, from + 2 * source, 2 * sizeof(double));
    }
    for (int i = 0; i < curve->cell->n_vertices; ++i)
      memcpy(to + 2 * i, mesh->vertices + 2 * (int64_t)kg_element_vertices(mesh, e)[i],
             2 * sizeof(double));
  }
  return KEDGE_OK;
}

/// Node k of a side, counted along it.
static const double *node_of_side(const kg_mesh_builder *b, kg_side side, int k)
{
  const int32_t e = kg_side_element(side);
  const kg_curve *curve = kg_curve_of(b->curves, kg_block_of(b->mesh, e)->cell);
  return kg_element_nodes(b->mesh, e) + 2 * curve->facet_node[kg_side_facet(side)][k];
}

/// The first node, along its first side, at which the elements of an edge are apart; 0: there is
/// none.
static int gap_of(const kg_mesh_builder *b, int32_t edge)
{
  const int g = b->mesh->geometry;
  const kg_side *sides = b->mesh->edge_sides + 2 * (int64_t)edge;
  if (sides[1] == KG_NO_SIDE) return 0;
  const double size =
      kg_distance_squared(node_of_side(b, sides[0], 0), node_of_side(b, sides[0], g));
  for (int k = 1; k < g; ++k) {
    const double *p = node_of_side(b, sides[0], k), *q = node_of_side(b, sides[1], g - k);
    // Ends may be nearer to each other than nodes between them, so rounding of these counts too.
    const double rounding = 1e-15 * (fabs(p[0]) + fabs(p[1]));
    if (sqrt(kg_distance_squared(p, q)) > SAME_PLACE * sqrt(size) + rounding) return k;
  }
  return 0;
}

kedge_status kg_build_fit(const kg_mesh_builder *b)
{
  const kedge_mesh *mesh = b->mesh;
  int32_t bad = INT32_MAX;
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, mesh->n_edges, 1)) reduction(min : bad)
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge)
    if (gap_of(b, edge) > 0 && edge < bad) bad = edge;
  if (bad == INT32_MAX) return KEDGE_OK;
  const kg_side *sides = mesh->edge_sides + 2 * (int64_t)bad;
  const int k = gap_of(b, bad);
  const double *p = node_of_side(b, sides[0], k),
               *q = node_of_side(b, sides[1], mesh->geometry - k);
  char text[KG_ELEMENT_TEXT], other[KG_ELEMENT_TEXT];
  kg_build_describe(b, mesh->element_origin[kg_side_element(sides[0])], text);
  kg_build_describe(b, mesh->element_origin[kg_side_element(sides[1])], other);
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT,
                 "%s: %s and %s do not fit together: on their common edge one has a node at (%.9g, "
                 "%.9g) and the other at (%.9g, %.9g); are their nodes in the order of Gmsh? Else "
                 "mesh both with one Mesh.ElementOrder",
                 b->source, text, other, p[0], p[1], q[0], q[1]);
}

double kg_build_area(const kg_mesh_builder *b, int32_t element)
{
  const kg_curve *curve = kg_curve_of(b->curves, kg_block_of(b->mesh, element)->cell);
  return kg_curve_area(curve, kg_element_nodes(b->mesh, element), NULL, NULL);
}

double kg_build_length(const kg_mesh_builder *b, int32_t edge)
{
  const kg_side side = b->mesh->edge_sides[2 * (int64_t)edge];
  const int32_t e = kg_side_element(side);
  const kg_curve *curve = kg_curve_of(b->curves, kg_block_of(b->mesh, e)->cell);
  return kg_curve_length(curve, kg_side_facet(side), kg_element_nodes(b->mesh, e));
}

kedge_status kg_build_refuse_turned(const kg_mesh_builder *b, int64_t raw_element)
{
  const kg_raw_mesh *raw = b->raw;
  const kg_curve *curve = kg_curve_of(b->curves, kg_raw_cell(raw, raw_element));
  const double *nodes = kg_raw_nodes(raw, raw_element);
  double smallest, x = 0.0, y = 0.0;
  int where;
  char text[KG_ELEMENT_TEXT];
  (void)kg_curve_area(curve, nodes, &smallest, &where);
  for (int k = 0; k < curve->n_nodes; ++k) {
    x += curve->value[where][k] * nodes[2 * k];
    y += curve->value[where][k] * nodes[2 * k + 1];
  }
  kg_build_describe(b, raw_element, text);
  return KG_FAIL(
      b->ctx, KEDGE_ERR_INPUT,
      "%s: %s turns over at (%.9g, %.9g), where the determinant of its map is %.3g of "
      "its mean; mesh finer along the curve, or with Mesh.HighOrderOptimize = 2; or are its "
      "nodes not in the order of Gmsh?",
      b->source, text, x, y, smallest);
}
