/// @file
/// The inside of a mesh. Elements lie along a Hilbert curve; vertices and edges are numbered by
/// first appearance in that order, so neighbours in the plane are neighbours in memory.
///
/// A *side* is an edge as one element sees it (mesh/side.h); sides run counterclockwise. The *edge*
/// runs from its lower to its higher vertex number; a side is reversed when it runs the other way.
///
/// Elements of one shape follow each other: they are a *block*. Arrays of one number a side are
/// packed: those of an element one after the other, as many as it has.
///
/// A mesh of tetrahedra has facets where these comments and names say edge, and they are triangles.
/// The corners of an element ascend by their place (space/order.c); side l is the facet opposite
/// corner l, its corners in the same order, which neighbours agree on: no side is ever reversed.
///
/// Curved elements have maps of one order, `geometry`, for the whole mesh. Their nodes are kept
/// element by element, corners among them; neighbours have the same nodes on their edge. A mesh
/// whose nodes are those of straight elements has none, and geometry order 1.
#pragma once
#include <math.h>

#include "basis/cell.h"
#include "core/error.h"
#include "kedge/mesh.h"
#include "mesh/side.h"
KEDGE_BEGIN_DECLS

typedef struct kg_group {
  char *name;  ///< owned; the tag as text when the file names none
  int32_t tag;
  int dimension;         ///< that of the mesh: of elements; one less: of edges
  int64_t count;         ///< boundary edges or elements
  double measure;        ///< of these
  int64_t n_inner;       ///< edges inside the domain, which take no condition
  double inner_measure;  ///< of these
  int64_t coincident;    ///< boundary edges that lie on another one, of whatever group
} kg_group;

/// Two groups of a file that have a line or a surface in common, which belongs to the first.
typedef struct kg_overlap {
  int dimension;  ///< as of kg_group
  int32_t first, other;
  double at[3];  ///< a corner of one of them in the file; z is 0 in the plane
  char *name;    ///< of `other`, in a mesh; owned
} kg_overlap;

typedef struct kg_overlaps {
  int64_t n, capacity;
  kg_overlap *item;
} kg_overlaps;

/// Add an overlap; its name is NULL. The same two groups may be there more than once then.
kedge_status kg_overlaps_add(kedge_context *ctx, const kg_overlap *overlap, kg_overlaps *to);
/// Sort overlaps without names and leave each pair of groups once.
void kg_overlaps_unite(kg_overlaps *overlaps);
void kg_overlaps_free(kg_overlaps *overlaps);  ///< frees what it points to and zeroes it

/// A boundary edge that lies on another one.
typedef struct kg_touch {
  int32_t edge, other;
  bool apart;    ///< they are of parts that do not hang together
  double at[3];  ///< a place of both; z is 0 in the plane
} kg_touch;

/// The meshes that a mesh was refined from, the last one first.
typedef struct kg_mesh_levels {
  int n;
  int32_t count[KEDGE_REFINE_MAX];  ///< vertices
  int32_t *
      vertex;  ///< [level][vertex]: its number among those of the mesh refined from this, ascending
} kg_mesh_levels;

enum { KG_BLOCKS_MAX = 2 };  ///< shapes

/// Elements of one shape, first .. first + n - 1.
typedef struct kg_block {
  const kg_cell *cell;
  int32_t first, n;
  int64_t first_side;  ///< place of side 0 of its first element in packed arrays
} kg_block;

struct kedge_mesh {
  int dimension;  ///< 2, or 3: all elements are tetrahedra, in one block
  int n_blocks;
  kg_block block[KG_BLOCKS_MAX];
  int32_t n_vertices, n_elements, n_edges, n_boundary_edges;
  int geometry;               ///< order of the maps of elements; 1: straight
  int flattened;              ///< the higher order that the maps had before; 0: none
  bool is_polygon;            ///< nobody gave an order of maps, and its boundary was to be curved
  double *vertices;           ///< [vertex][dimension]
  double *nodes;              ///< kg_element_nodes() of all elements; NULL where straight
  int32_t *element_vertices;  ///< packed: where each side begins; counterclockwise. Of tetrahedra
                              ///< the corners, ascending by place
  int32_t *element_region;    ///< [element], tag
  uint32_t *side_edge;        ///< packed: edge << 1 | reversed
  kg_side *edge_sides;        ///< [edge][2]: lower first; second KG_NO_SIDE on the boundary
  int32_t *edge_group;        ///< [edge]: index g into groups (of edges); inside the domain -1,
                              ///< or kg_inner_group(g) where a line of that group lies
  int32_t n_group_edges;      ///< edges that have a group
  int32_t *group_edges;       ///< those on the boundary, ascending, then those inside the domain
  int32_t *element_origin;    ///< [element]: the caller's element number
  int32_t *vertex_origin;     ///< [vertex]: the caller's vertex number
  int n_groups;
  kg_group *groups;      ///< those of edges first; "default" only when an edge is in it
  kg_overlaps overlaps;  ///< of groups of the file
  int64_t n_touches;
  kg_touch *touches;  ///< of all edges that lie on others, ascending
  kedge_mesh_info info;
  /// The largest |sum (d / |d|)^2| of a triangle, with its sides d as complex numbers: 0
  /// equilateral, 1 right-angled, up to 3 the nearer all sides are to one line
  double alignment;
  double seconds;         ///< spent reading or generating and building, for the report
  kg_mesh_levels levels;  ///< of kedge_mesh_refine()
  char *lost[2];          ///< of edges, of elements: a group that the file names, where none of its
                          ///< lines, or elements, has a group; NULL: not so; owned
  char *source;           ///< file name or generator words, for messages; owned
};

/// Turn a group, or a tag, into the mark of an edge inside the domain, and back: it is its own
/// inverse.
static inline int32_t kg_inner_group(int32_t group)
{
  return -2 - group;
}
/// The group of an edge inside the domain or on the boundary, of its entry in edge_group; -1: none.
static inline int32_t kg_group_of_edge(int32_t entry)
{
  return entry < -1 ? kg_inner_group(entry) : entry;
}

/// Whether it is one of space, of tetrahedra; else it is one of the plane.
static inline bool kg_mesh_in_space(const kedge_mesh *mesh)
{
  return mesh->dimension == 3;
}

/// Whether a group of a mesh is one of edges, on the boundary or inside the domain; else it is a
/// region.
static inline bool kg_is_edge_group(const kedge_mesh *mesh, const kg_group *group)
{
  return group->dimension < mesh->dimension;
}

/// The length of a square, or of a cube, as large as the domain.
static inline double kg_mesh_length(const kedge_mesh *mesh)
{
  return kg_mesh_in_space(mesh) ? cbrt(mesh->info.area) : sqrt(mesh->info.area);
}

static inline const kg_block *kg_block_of(const kedge_mesh *mesh, int32_t element)
{
  const kg_block *block = mesh->block;
  while (element - block->first >= block->n) ++block;
  return block;
}
/// Sides of all elements: the length of packed arrays.
static inline int64_t kg_mesh_sides(const kedge_mesh *mesh)
{
  const kg_block *last = &mesh->block[mesh->n_blocks - 1];
  return last->first_side + (int64_t)last->n * last->cell->n_facets;
}
/// The place of an element's side 0 in packed arrays; below, the place of any side.
static inline int64_t kg_element_place(const kedge_mesh *mesh, int32_t element)
{
  const kg_block *block = kg_block_of(mesh, element);
  return block->first_side + (int64_t)(element - block->first) * block->cell->n_facets;
}
static inline int64_t kg_side_place(const kedge_mesh *mesh, kg_side side)
{
  return kg_element_place(mesh, kg_side_element(side)) + kg_side_facet(side);
}
/// The vertices of an element, as many as it has facets.
static inline const int32_t *kg_element_vertices(const kedge_mesh *mesh, int32_t element)
{
  return mesh->element_vertices + kg_element_place(mesh, element);
}
/// A point of a straight tetrahedron, from that of the reference tetrahedron.
static inline void kg_tetrahedron_point(const kedge_mesh *mesh, int32_t element, const double at[3],
                                        double x[3])
{
  const int32_t *const v = kg_element_vertices(mesh, element);
  const double share[4] = {-0.5 * (1.0 + at[0] + at[1] + at[2]), 0.5 * (1.0 + at[0]),
                           0.5 * (1.0 + at[1]), 0.5 * (1.0 + at[2])};
  for (int k = 0; k < 3; ++k) {
    x[k] = 0.0;
    for (int c = 0; c < 4; ++c) x[k] += share[c] * mesh->vertices[3 * (int64_t)v[c] + k];
  }
}
/// The mean of an element's corners. @param[out] at  [dimension]
static inline void kg_element_middle(const kedge_mesh *mesh, int32_t element, double *at)
{
  const int n = kg_block_of(mesh, element)->cell->n_vertices, dimension = mesh->dimension;
  const int32_t *const v = kg_element_vertices(mesh, element);
  for (int k = 0; k < dimension; ++k) {
    at[k] = 0.0;
    for (int l = 0; l < n; ++l) at[k] += mesh->vertices[dimension * (int64_t)v[l] + k];
    at[k] /= n;
  }
}
/// Nodes of an element's map, [node][2] in the order of kg_cell.nodes, the corners first; of curved
/// meshes alone.
static inline const double *kg_element_nodes(const kedge_mesh *mesh, int32_t element)
{
  const kg_block *block = kg_block_of(mesh, element);
  const int64_t before = (int64_t)block->first * mesh->block[0].cell->n_modes(mesh->geometry);
  const int64_t own = (int64_t)(element - block->first) * block->cell->n_modes(mesh->geometry);
  return mesh->nodes + 2 * (before + own);
}
/// The edges of an element's sides: edge << 1 | reversed.
static inline const uint32_t *kg_element_edges(const kedge_mesh *mesh, int32_t element)
{
  return mesh->side_edge + kg_element_place(mesh, element);
}
static inline int32_t kg_side_edge(const kedge_mesh *mesh, kg_side side)
{
  return (int32_t)(mesh->side_edge[kg_side_place(mesh, side)] >> 1);
}
/// The vertices of a side, those of the shape of facets; in the plane where it begins and ends.
static inline void kg_side_corners(const kedge_mesh *mesh, kg_side side, int32_t *vertex)
{
  const kg_cell *cell = kg_block_of(mesh, kg_side_element(side))->cell;
  const int *const corner = cell->facet_corner[kg_side_facet(side)];
  const int32_t *v = kg_element_vertices(mesh, kg_side_element(side));
  for (int i = 0; i < cell->facet->n_vertices; ++i) vertex[i] = v[corner[i]];
}
double kg_space_volume(const kedge_mesh *mesh, int32_t element);
/// The area of a facet of a mesh in space.
double kg_space_area(const kedge_mesh *mesh, int32_t facet);
/// On which side of a facet, seen along its corners, its element lies, in space.
bool kg_space_is_above(const kedge_mesh *mesh, kg_side side);
/// A point of a side, t from -1 where it begins to 1, and the derivatives of x and y by t.
void kg_side_point(const kedge_mesh *mesh, kg_side side, double t, double at[2], double along[2]);
/// The vertices where a side begins and ends, in the plane.
static inline void kg_side_ends(const kedge_mesh *mesh, kg_side side, int32_t ends[2])
{
  const int l = kg_side_facet(side), n = kg_block_of(mesh, kg_side_element(side))->cell->n_facets;
  const int32_t *v = kg_element_vertices(mesh, kg_side_element(side));
  ends[0] = v[l];
  ends[1] = v[kg_next_facet(n, l)];
}
/// The vertices of a side, the one of lower number first: an edge runs from it to the other. This
/// is decided here alone.
static inline void kg_side_vertices(const kedge_mesh *mesh, kg_side side, int32_t *lower,
                                    int32_t *higher)
{
  int32_t v[2];
  kg_side_ends(mesh, side, v);
  *lower = v[0] < v[1] ? v[0] : v[1];
  *higher = v[0] < v[1] ? v[1] : v[0];
}
/// Whether the caller numbers the vertices of an edge in the other order than the mesh does. Faces
/// go by the places of their corners, whatever their numbers are.
static inline bool kg_edge_is_turned(const kedge_mesh *mesh, int32_t edge)
{
  int32_t low, high;
  if (kg_mesh_in_space(mesh)) return false;
  kg_side_vertices(mesh, mesh->edge_sides[2 * (int64_t)edge], &low, &high);
  return mesh->vertex_origin[low] > mesh->vertex_origin[high];
}
static inline int32_t kg_mesh_quadrilaterals(const kedge_mesh *mesh)
{
  const kg_block *last = &mesh->block[mesh->n_blocks - 1];
  return last->cell == &kg_quadrilateral ? last->n : 0;
}
/// Corners of an element, at most.
static inline int kg_mesh_width(const kedge_mesh *mesh)
{
  return mesh->block[mesh->n_blocks - 1].cell->n_vertices;
}
/// Name the elements of a mesh: "triangle", "quadrilateral", "tetrahedron", or "element" where
/// there are two shapes.
static inline const char *kg_mesh_shape(const kedge_mesh *mesh)
{
  return mesh->n_blocks > 1 ? "element" : mesh->block[0].cell->name;
}
/// As kg_mesh_shape(), of n elements: "tetrahedra".
static inline const char *kg_mesh_shapes(const kedge_mesh *mesh, int64_t n)
{
  if (n == 1) return kg_mesh_shape(mesh);
  return mesh->n_blocks > 1 ? "elements" : mesh->block[0].cell->plural;
}
/// Refuse a mesh of tetrahedra. `what` is for plane meshes alone: "refinement".
kedge_status kg_mesh_check_plane(kedge_context *ctx, const kedge_mesh *mesh, const char *what);
/// Refuse points of so many coordinates on a mesh that has other ones. `call` is of the API; that
/// of points in space ends in _space.
kedge_status kg_mesh_check_points(kedge_context *ctx, const kedge_mesh *mesh, int dimension,
                                  const char *call);
/// The first overlap in which a group does not count; NULL: none. As in kg_group_named(), a name is
/// a number only where no group has it.
const kg_overlap *kg_overlap_named(const kedge_mesh *mesh, int dimension, const char *name);
int64_t kg_mesh_inner_edges(const kedge_mesh *mesh);  ///< inside the domain, with a group

/// A mesh as a reader or generator delivers it: caller's numbering, unchecked.
typedef struct kg_raw_mesh {
  int dimension;  ///< 2, or 3: of tetrahedra
  int64_t n_vertices, n_elements, n_lines;
  double *vertices;   ///< [n_vertices][dimension]
  int width;          ///< of corners: 3, or 4 where there are quadrilaterals or tetrahedra
  int32_t *corners;   ///< [n_elements][width]: vertices; the fourth of a triangle is -1
  int geometry;       ///< order of the maps of elements; read where there are nodes
  int flattened;      ///< as in kedge_mesh
  bool is_polygon;    ///< likewise
  double *nodes;      ///< [n_elements][kg_raw_stride()][2] as kg_element_nodes(); NULL: straight
  int64_t n_between;  ///< vertices that are nodes between corners, and nothing else, or are joined
  int32_t *regions;   ///< [n_elements]
  int64_t n_shared;   ///< elements in several regions, of which the first is here
  char *lost[2];      ///< as in kedge_mesh; owned
  int64_t n_ghosts;
  int32_t partition, n_partitions;     ///< as in kedge_mesh_info
  int64_t n_shared_lines, n_periodic;  ///< as in kedge_mesh_info: those that are no longer lines
                                       ///< here, and curves
  int64_t n_joined;                    ///< vertices that are joined to others, and no longer here
  kg_overlaps overlaps;
  int32_t *lines;          ///< [n_lines][dimension]: facets, of which there are groups
  int32_t *line_tags;      ///< [n_lines]
  int64_t *element_lines;  ///< [n_elements]: line of the file each element came from; NULL: unknown
  int n_names;
  struct kg_raw_name {
    int dimension;
    int32_t tag;
    char *name;
  } * names;
} kg_raw_mesh;

/// The vertices of an element, and its shape.
static inline const int32_t *kg_raw_corners(const kg_raw_mesh *raw, int64_t element)
{
  return raw->corners + raw->width * element;
}
static inline const kg_cell *kg_raw_cell(const kg_raw_mesh *raw, int64_t element)
{
  if (raw->dimension == 3) return &kg_tetrahedron;
  const bool is_triangle = raw->width == 3 || kg_raw_corners(raw, element)[3] == -1;
  return is_triangle ? &kg_triangle : &kg_quadrilateral;
}

/// Nodes from one element to the next: those of the shape of most nodes.
static inline int kg_raw_stride(const kg_raw_mesh *raw)
{
  return (raw->width == 3 ? &kg_triangle : &kg_quadrilateral)->n_modes(raw->geometry);
}
static inline double *kg_raw_nodes(const kg_raw_mesh *raw, int64_t element)
{
  return raw->nodes + 2 * kg_raw_stride(raw) * element;
}

void kg_raw_mesh_free(kg_raw_mesh *raw);  ///< frees what it points to and zeroes it

/// Refuse to make a mesh that memory would not hold: an allocation that is too large succeeds on
/// Linux, and the process is killed when it writes there.
/// @param[in] source      what it is made of, for the sentence
/// @param[in] cell        shape of its elements; that of more sides where there are both
/// @param[in] geometry    order of the maps of its elements
/// @param[in] raw_exists  its raw mesh is in memory already
kedge_status kg_mesh_check_memory(kedge_context *ctx, const char *source, const kg_cell *cell,
                                  int geometry, int64_t n_elements, bool raw_exists);
/// Allocate arrays for these counts (names excepted); on failure nothing is held.
/// @param[in] width  corners an element
kedge_status kg_raw_mesh_alloc(kedge_context *ctx, int dimension, int64_t n_vertices,
                               int64_t n_elements, int width, int64_t n_lines, kg_raw_mesh *out);
/// Allocate nodes of an order, where they are not straight.
kedge_status kg_raw_mesh_alloc_nodes(kedge_context *ctx, int geometry, kg_raw_mesh *raw);
/// Nodes of order `geometry` of all elements, from those that they have or from their corners.
kedge_status kg_raw_mesh_set_geometry(kedge_context *ctx, int geometry, kg_raw_mesh *raw);
/// Append a copy of `name`; `length` bytes of it.
kedge_status kg_raw_mesh_name(kedge_context *ctx, kg_raw_mesh *raw, int dimension, int32_t tag,
                              const char *name, size_t length);
/// The first name of a tag; NULL: none.
const char *kg_raw_mesh_name_of(const kg_raw_mesh *raw, int dimension, int32_t tag);
/// Append what a mesh knows of its groups beside lines and regions: names, except those that are
/// just numbers, overlaps, and how many lines and elements of the file are shared or periodic.
kedge_status kg_raw_mesh_names(kedge_context *ctx, kg_raw_mesh *raw, const kedge_mesh *mesh);

/// The mesh in the caller's numbering, gaps of unused vertices closed. Every boundary edge is a
/// line, of tag 0 where it has no group of the caller; so is every edge of a group in the domain.
kedge_status kg_mesh_to_raw(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out);
/// rank[v]: place of vertex v in the caller's numbering, gaps closed; the caller frees it.
kedge_status kg_mesh_vertex_ranks(kedge_context *ctx, const kedge_mesh *mesh, int32_t **rank);

/// Check, turn, order and connect. `source` goes into messages ("plate.msh"). A mesh whose nodes
/// are within 1e-10 of an element's size where those of the straight element are is straight.
/// Does not take ownership of raw. On the CUDA backend the GPU orders and connects meshes of
/// KG_GPU_ELEMENTS triangles and more, if it has the memory; the mesh is the same, bit for bit.
/// Meshes with quadrilaterals, curves or tetrahedra are the host's.
kedge_status kg_mesh_build(kedge_context *ctx, const kg_raw_mesh *raw, const char *source,
                           kedge_mesh **out);
/// Builds a mesh on host or GPU as `on_gpu` says; true is for the CUDA backend, at any number of
/// triangles.
kedge_status kg_mesh_build_on(kedge_context *ctx, const kg_raw_mesh *raw, const char *source,
                              bool on_gpu, kedge_mesh **out);
/// Fewer triangles than these take a host of 16 cores less than 10 ms.
enum { KG_GPU_ELEMENTS = 100000 };

/// kedge_mesh_generate() with elements of order `geometry`, 1 .. KG_GEOMETRY_MAX, where the domain
/// has curves: rings in polar coordinates, disks at their boundary. Others are straight. 0: 1, and
/// that the domain is a polygon then is a finding.
kedge_status kg_mesh_generate(kedge_context *ctx, const char *words, int geometry,
                              kedge_mesh **out);

struct kg_function;  ///< expression/function.h
/// Move all nodes of a plane mesh: the caller's vertices, and nodes of order `geometry` of its
/// elements as they are, go to (x, y) of their place.
/// @param[in] geometry  1 .. KG_GEOMETRY_MAX; 0: that of the mesh
/// @param[in] x, y      NULL, both: nodes stay, and the mesh gets another geometry order
/// @retval KEDGE_ERR_INPUT  the map is not finite or turns an element over; the sentence says where
kedge_status kg_mesh_map(kedge_context *ctx, const kedge_mesh *mesh, int geometry,
                         const struct kg_function *x, const struct kg_function *y,
                         kedge_mesh **out);

/// Move the vertices of a mesh of tetrahedra, which stay straight, to x, y and z of their place.
/// @param[in] geometry  1, or 0: that faces of the boundary are plane is a finding where it bends
/// @param[in] map       [3]
/// @retval KEDGE_ERR_INPUT  as above
kedge_status kg_space_map(kedge_context *ctx, const kedge_mesh *mesh, int geometry,
                          const struct kg_function *map, kedge_mesh **out);

/// Connected parts: elements hang together by common edges; a common vertex does not do.
/// @param[out] part     [element]: its part, numbered by their first elements; the caller frees it
/// @param[out] n_parts  how many there are
kedge_status kg_mesh_parts(kedge_context *ctx, const kedge_mesh *mesh, int32_t **part,
                           int32_t *n_parts);

/// The Gmsh reader, from memory (so that a fuzzer can call it).
kedge_status kg_gmsh_parse(kedge_context *ctx, const char *name, const void *data, size_t bytes,
                           kg_raw_mesh *out);

KEDGE_END_DECLS
