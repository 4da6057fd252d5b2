/// @file
/// The steps of kg_mesh_build(), in their order. "Raw" numbers are the caller's.
#pragma once
#include "mesh/mesh.h"
#include "mesh/nodes.h"
#include "mesh/triangle.h"
KEDGE_BEGIN_DECLS

typedef struct kg_mesh_builder {
  kedge_context *ctx;
  const kg_raw_mesh *raw;
  const char *source;
  kedge_mesh *mesh;
  kg_curve *curves;        ///< of both shapes; NULL: the mesh is straight
  bool *clockwise;         ///< [raw element]
  int32_t *vertex_number;  ///< [raw vertex]: number in the mesh, -1 where unused
  kg_side *sides;          ///< all sides by their vertices, the lowest first, then by number
  uint32_t *first_side;    ///< [vertex + 1]: where the sides of each lowest vertex begin in `sides`
  int32_t *line_edge;      ///< [raw line]: edge of its vertices, -1: there is none
  int32_t n_inner;         ///< edges that have a line inside the domain
  int32_t n_parts;         ///< of the domain; 0: not counted yet
} kg_mesh_builder;

/// Refuse bad vertex numbers, coordinates and elements without area or volume; find the clockwise
/// ones.
kedge_status kg_build_check(kg_mesh_builder *b);
/// Whether nodes are those of straight elements, to rounding.
bool kg_build_is_straight(const kg_raw_mesh *raw);
/// Refuse neighbours whose nodes on their edge differ.
kedge_status kg_build_fit(const kg_mesh_builder *b);
/// @param[in] raw_element  one whose map turns over
kedge_status kg_build_refuse_turned(const kg_mesh_builder *b, int64_t raw_element);
/// The nodes of all elements, turned as these are.
kedge_status kg_build_nodes(kg_mesh_builder *b);
/// Area and length, along curves too.
double kg_build_area(const kg_mesh_builder *b, int32_t element);
double kg_build_length(const kg_mesh_builder *b, int32_t edge);

/// Match sides into edges; refuse duplicates, folds and edges with three elements.
kedge_status kg_build_edges(kg_mesh_builder *b);
/// Replace the partners in side_edge, or KG_NO_SIDE, by edges, numbered by first appearance in side
/// order, and list their sides.
kedge_status kg_build_number_edges(kg_mesh_builder *b, int64_t n_boundary);
/// Whether the elements of two sides have the same vertices.
bool kg_build_same_element(const kedge_mesh *mesh, kg_side side, kg_side other);
/// Match lines and edges.
kedge_status kg_build_lines(kg_mesh_builder *b);

/// Builds a mesh on the GPU up to its lines, to the same bits as the host; the parts are counted
/// too.
/// @param[out] done  false: nothing has been made, because there is something to refuse, which the
///                   host's steps put into words, or because the GPU has too little memory
kedge_status kg_build_cuda(kg_mesh_builder *b, bool *done);

/// Boundary groups from lines, regions, their names and measures.
kedge_status kg_build_groups(kg_mesh_builder *b);
/// Refuse hanging nodes between boundary edges without a group.
kedge_status kg_build_hanging(kg_mesh_builder *b);
/// Find boundary edges that lie on others or overlap (mesh/touch/touch.c).
kedge_status kg_build_touch(kg_mesh_builder *b);
/// Everything of kedge_mesh_info that is not known yet.
kedge_status kg_build_info(kg_mesh_builder *b);

// Tetrahedra (space/).

/// Coordinates beyond this overflow in a volume.
#define KG_SPACE_COORDINATE_MAX 1e100
/// Look at one tetrahedron: flat is one of six volumes of at most KG_FLATNESS times the cube of its
/// largest extent along an axis.
kg_fault kg_space_examine(const kg_raw_mesh *raw, const int32_t *v);
/// The block, the elements along the curve, their corners in caller's numbers.
kedge_status kg_space_order(kg_mesh_builder *b);
/// kg_build_edges() in space.
kedge_status kg_space_facets(kg_mesh_builder *b);
/// The facet of three raw vertices, -1: there is none.
int32_t kg_space_find_facet(const kg_mesh_builder *b, const int32_t line[3]);
/// Refuse faces without a group that lie on others with other corners.
kedge_status kg_space_hanging(kg_mesh_builder *b);
/// kg_build_touch() in space: faces that have all corners in common places (touch.c).
kedge_status kg_space_touch(kg_mesh_builder *b);
/// Six times the signed volume of a tetrahedron, over the cube of its extent along an axis.
double kg_space_determinant(const double *vertices, const int32_t *v);
/// On which side of a facet, seen along its corners, its element lies.
bool kg_space_is_above(const kedge_mesh *mesh, kg_side side);
/// Turn the elements of kg_mesh_to_raw() so that determinants are positive, and its facets of the
/// boundary so that their corners run counterclockwise from outside, as other programs have them.
void kg_space_turn_outward(const kedge_mesh *mesh, kg_raw_mesh *raw);
typedef struct kg_space_shape {
  double quality;        ///< 3 r_in / r_out
  double max_cotangent;  ///< of the smallest angle between two facets
} kg_space_shape;
/// Split every element into eight at the midpoints of its edges.
kedge_status kg_space_split(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out);
kg_space_shape kg_space_shape_of(const kedge_mesh *mesh, int32_t element);

enum { KG_ELEMENT_TEXT = 384 };
/// How messages call a raw element: where it stands, and its corners.
void kg_build_describe(const kg_mesh_builder *b, int64_t raw_element, char text[KG_ELEMENT_TEXT]);

KEDGE_END_DECLS
