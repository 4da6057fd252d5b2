/// @file
/// Nodes of the maps of elements, equispaced on the reference element and in the order of
/// kg_cell.nodes, and what meshes do with them: take them from Gmsh's sets, raise their order,
/// evaluate maps, look for places where a map turns over.
#pragma once
#include "basis/cell.h"
#include "mesh/mesh.h"
KEDGE_BEGIN_DECLS

/// Places from nodes: place i is the sum over k of value[i * columns + k] times node k.
typedef struct kg_node_matrix {
  int rows, columns;
  double value[KG_NODES_MAX * KG_NODES_MAX];
} kg_node_matrix;

/// The map of order `geometry` at n <= KG_NODES_MAX points (r, s). At a node it is that node.
void kg_node_matrix_at(const kg_cell *cell, int geometry, int n, const double *r, const double *s,
                       kg_node_matrix *out);
/// Nodes of order `to` of the map of order `from`.
void kg_node_matrix_raise(const kg_cell *cell, int from, int to, kg_node_matrix *out);
/// Nodes of order `geometry` from a node set of Gmsh. Serendipity sets lack the nodes inside: in
/// quadrilaterals these are blended from opposite sides, which is the interpolation of the set. In
/// triangles the distance of every edge from its chord, d(t) = t (1 - t) g(t) with the share t of
/// the way from corner a to b, goes on inside as L_a L_b g((1 + L_b - L_a) / 2): the one way of
/// polynomials of the set's order that treats edges alike and keeps those of order 2 as they are.
/// @param[in] complete  false: a serendipity set
void kg_node_matrix_gmsh(const kg_cell *cell, int order, bool complete, int geometry,
                         kg_node_matrix *out);
int kg_gmsh_node_count(const kg_cell *cell, int order, bool complete);
/// The nodes of an element in the order of Gmsh's complete set: the number of each in kedge's.
void kg_gmsh_node_order(const kg_cell *cell, int order, int *node);
/// @param[in] from  [columns][2]  @param[out] to  [rows][2], not `from`
void kg_nodes_make(const kg_node_matrix *matrix, const double *from, double *to);

/// The nodes of order `geometry` on facet l, geometry + 1 of them, along it.
void kg_facet_nodes(const kg_cell *cell, int geometry, int l, int *node);
/// The nodes of an element that is turned, (r, s) -> (s, r): the number of each before.
void kg_turned_nodes(const kg_cell *cell, int geometry, int *node);

enum {
  KG_CURVE_ROWS = 12,  ///< Gauss points of an edge for its length, and a direction where J is small
  KG_CURVE_POINTS = (KG_GEOMETRY_MAX + 2) * (KG_GEOMETRY_MAX + 2) + KG_FACETS_MAX +
                    KG_CURVE_ROWS * (KG_CURVE_ROWS + KG_FACETS_MAX),
};

/// What a mesh of one geometry order asks of its elements of one shape.
typedef struct kg_curve {
  const kg_cell *cell;
  int geometry, n_nodes;
  int n;      ///< Gauss points, (geometry + 2)^2; then come the corners
  int n_all;  ///< with those of a finer rule and of edges behind the corners, for J alone
  double weight[KG_CURVE_POINTS];
  double value[KG_CURVE_POINTS][KG_NODES_MAX];
  double slope[KG_CURVE_POINTS][2][KG_NODES_MAX];
  double length_weight[KG_CURVE_ROWS];
  double along[KG_FACETS_MAX][KG_CURVE_ROWS][KG_NODES_MAX];  ///< derivative along each facet
  int facet_node[KG_FACETS_MAX][KG_GEOMETRY_MAX + 1];        ///< kg_facet_nodes()
  int turned[KG_NODES_MAX];                                  ///< kg_turned_nodes()
} kg_curve;

/// Both shapes, triangles first. @param[out] out  [KG_BLOCKS_MAX], the caller frees it
kedge_status kg_curves_create(kedge_context *ctx, int geometry, kg_curve **out);
static inline const kg_curve *kg_curve_of(const kg_curve *curves, const kg_cell *cell)
{
  return &curves[cell == &kg_quadrilateral];
}
/// J at a point of the rule. @param[in] nodes  [node][2]
double kg_curve_jacobian(const kg_curve *curve, int point, const double *nodes);
/// The area of an element, negative where it runs clockwise.
/// @param[out] smallest  the least J over its mean, both as they are: at the points of the rule and
///                       the corners, and where it is below a half there, at all points; or NULL
/// @param[out] where     the point of that; or NULL
double kg_curve_area(const kg_curve *curve, const double *nodes, double *smallest, int *where);
double kg_curve_length(const kg_curve *curve, int facet, const double *nodes);

/// Compute nodes and vertices of a curved mesh that is refined. Element e of the caller is cut into
/// parts 4 e to 4 e + 3, whose corner numbers are set in `out`. Written are the nodes of all parts
/// and the new vertices: the middles of all edges, then the middles of all quadrilaterals.
kedge_status kg_refine_curves(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out);

KEDGE_END_DECLS
