/// @file
/// Meshes of triangles and quadrilaterals, or of tetrahedra in space: from Gmsh files, arrays or
/// generators. Faces of tetrahedra are `edges` here, tagged triangles lines, volumes areas.
///
/// A mesh is immutable. kedge orders elements along a Hilbert curve inside; every array that the
/// public API takes or gives is in the caller's numbering (the order of the file or the arrays).
/// A context on a GPU lets it order and connect large meshes; the result is that of the host.
#pragma once
#include "kedge/context.h"
KEDGE_BEGIN_DECLS

#define KEDGE_REFINE_MAX 14  ///< a triangle split more often has more parts than can be numbered

typedef struct kedge_mesh kedge_mesh;

/// A mesh as plain arrays; everything is borrowed during the call only.
typedef struct kedge_mesh_arrays {
  int64_t n_vertices;
  const double *vertices;  ///< [vertex][2]: x, y; NaN and others where no triangle uses the vertex
  int64_t n_triangles;
  const int32_t *triangles;  ///< [triangle][3]: vertex numbers from 0; any orientation
  const int32_t *regions;  ///< [triangle]: region tags, 0: none; NULL: all 0. A negative tag is the
                           ///< positive one, as in files, where the sign is an orientation
  int64_t n_lines;         ///< tagged edges: boundary conditions are set by their tag or name
  const int32_t *lines;    ///< [line][2]: vertex numbers; lines inside the domain take no condition
  const int32_t *line_tags;  ///< [line]: likewise; 0: no group, as if the line were not there
  int n_names;               ///< names of line tags; a tag without one goes by its number, two tags
                             ///< of one name are one group
  const int32_t *name_tags;  ///< [name]
  const char *const *names;  ///< [name]
} kedge_mesh_arrays;

/// A mesh of tetrahedra likewise. Begin with KEDGE_SPACE_ARRAYS_INIT: later versions add members at
/// the end, and `size` says which of them the caller knows.
typedef struct kedge_space_arrays {
  size_t size;  ///< sizeof(kedge_space_arrays)
  int64_t n_vertices;
  const double *vertices;  ///< [vertex][3]
  int64_t n_tetrahedra;
  const int32_t *tetrahedra;  ///< [tetrahedron][4]: vertex numbers from 0, in any order
  const int32_t *regions;     ///< [tetrahedron]
  int64_t n_triangles;        ///< tagged faces
  const int32_t *triangles;   ///< [triangle][3]; those inside the domain take no condition
  const int32_t *triangle_tags;
  int n_names;
  const int32_t *name_tags;
  const char *const *names;
  const int *name_dimensions;  ///< [name]: 2 of triangles, 3 of regions; NULL: all are 2
} kedge_space_arrays;
#define KEDGE_SPACE_ARRAYS_INIT \
  {                             \
    sizeof(kedge_space_arrays)  \
  }

/// Begin with KEDGE_MESH_INFO_INIT: later versions add members at the end, and `size` says which of
/// them the caller knows.
typedef struct kedge_mesh_info {
  size_t size;  ///< sizeof(kedge_mesh_info)
  int64_t elements, edges, vertices, boundary_edges;
  int64_t quadrilaterals;   ///< of the elements; the others are triangles, or tetrahedra in space
  int geometry;             ///< order of the maps of elements, 1 to 5; 1: straight
  int64_t turned_elements;  ///< clockwise in the input, turned by kedge
  int64_t unused_vertices;  ///< in the input, dropped
  int64_t shared_elements;  ///< in several physical groups of a file, of which the first counts
  int64_t interior_lines;   ///< tagged lines inside the domain, which take no condition
  int64_t parts;            ///< of the domain, not connected by common edges; usually 1
  /// Boundary edges that lie on another, wholly or in part, to within rounding of a file: a slit,
  /// parts that are not joined; in space faces that have all three corners at the places of another
  int64_t coincident_edges;
  double area;  ///< sum over elements, along their curves
  double min_area, max_area;
  /// Triangles: 2 r_in / r_out, 1 equilateral. Quadrilaterals: the least over the corners of
  /// 2 a x b / (a . a + b . b), a and b the sides that meet there, 1 a square. Tetrahedra:
  /// 3 r_in / r_out, 1 regular. 0: degenerate
  double min_quality, mean_quality;
  double min_angle;  ///< degrees; of tetrahedra between two faces
  /// The least determinant J of an element's map over its mean: 1 where maps are affine
  double min_jacobian;
  double box[4];         ///< xmin, ymin, xmax, ymax
  int64_t shared_lines;  ///< as shared_elements, of tagged lines on the boundary
  /// Curves, in space surfaces, that a file identifies with others; to kedge they are boundary
  int64_t periodic_lines;
  double coincident_at[2];  ///< a point of a coincident edge, if there is one
  /// With that distance kedge_mesh_join() joins the coincident edges; 0: there are none, or
  /// vertices of one edge lie inside others, so that no vertices can be joined
  double join_distance;
  /// Boundary edges that cross others, or whose elements lie on other elements: area counts twice;
  /// in space coincident faces whose elements lie on one side of them
  int64_t overlapping_edges;
  double overlapping_at[2];  ///< a point of one
  int64_t joined_vertices;   ///< by kedge_mesh_join(): those that others took the place of
  int64_t ghost_elements;    ///< of other parts of a mesh that was partitioned, left out
  int partition;   ///< the part that the file holds, of a mesh that was split; 0: it is whole
  int partitions;  ///< how many parts there are; 0: not known, or it is whole
  int dimension;   ///< 2, or 3: all elements are tetrahedra
  double low[3], high[3];              ///< the box, in space too; z is 0 in the plane
  double coincident_z, overlapping_z;  ///< of coincident_at and overlapping_at, in space
} kedge_mesh_info;
#define KEDGE_MESH_INFO_INIT \
  {                          \
    sizeof(kedge_mesh_info)  \
  }

/// Begin with KEDGE_MESH_GROUP_INIT, as with kedge_mesh_info.
typedef struct kedge_mesh_group {
  size_t size;       ///< sizeof(kedge_mesh_group)
  const char *name;  ///< of the physical group, or its number as text; "default": edges without one
  int32_t tag;
  int dimension;    ///< that of the mesh: elements; one less: boundary edges
  int64_t count;    ///< boundary edges or elements; 0: a group of edges inside the domain alone
  double measure;   ///< length or area, in space area or volume
  int64_t n_inner;  ///< of boundary edges: edges inside the domain, which take no condition
  double inner_measure;  ///< length of these
} kedge_mesh_group;
#define KEDGE_MESH_GROUP_INIT \
  {                           \
    sizeof(kedge_mesh_group)  \
  }

/// Read a Gmsh .msh file, format 2, 2.1, 2.2, 4.0 or 4.1, ASCII or binary, with elements of order 1
/// to 5, serendipity ones too. Of several physical groups of one
/// entity, and of several names of one group, the first counts. Tagged lines inside the domain take
/// no condition; a tagged line that is no edge of any element is refused. A file with tetrahedra,
/// straight ones, is of space: its triangles are faces, and its lines and points are not read.
/// Straight quadrilaterals are convex. Elements of lower order than others of the mesh are raised
/// to theirs; a mesh whose elements of higher order are straight is one of straight elements.
/// @retval KEDGE_ERR_IO     the file cannot be opened or read
/// @retval KEDGE_ERR_INPUT  the file or the mesh in it is refused; the sentence names file and line
KEDGE_API kedge_status kedge_mesh_read(kedge_context *ctx, const char *path, kedge_mesh **out);

/// @retval KEDGE_ERR_INPUT  the mesh is refused (duplicate or degenerate elements, ...)
KEDGE_API kedge_status kedge_mesh_create(kedge_context *ctx, const kedge_mesh_arrays *arrays,
                                         kedge_mesh **out);

/// As kedge_mesh_create(), of tetrahedra.
/// @retval KEDGE_ERR_ARG  `size` was not set by KEDGE_SPACE_ARRAYS_INIT, as other wrong arguments
KEDGE_API kedge_status kedge_mesh_create_space(kedge_context *ctx, const kedge_space_arrays *arrays,
                                               kedge_mesh **out);

/// Generate a mesh from words: "square N" (the unit square, N x N squares split by a diagonal;
/// groups left, right, bottom, top), "quads N" (the same squares whole), "mixed N" (a checkerboard
/// of both), "lshape N [quads]" ((-1,1)^2 without its lower right quarter, 2N x 2N squares less a
/// quarter; group boundary), "ring N M [quads]" (radii 1 to 2, N layers, M sectors; groups inner,
/// outer), "disk N" (radius 1, N layers of triangles; group boundary), all with straight edges;
/// region "domain". "cube N": the unit cube, N x N x N cubes of six tetrahedra; groups x0, x1, y0,
/// y1, z0, z1; the same region. Others: KEDGE_ERR_INPUT.
KEDGE_API kedge_status kedge_mesh_generate(kedge_context *ctx, const char *words, kedge_mesh **out);

/// Split every element into four at the midpoints of its edges, a quadrilateral at its centre too,
/// on the curves of its map, `times` times, at most KEDGE_REFINE_MAX. Groups are inherited. The
/// caller's element e becomes 4 e .. 4 e + 3, of a triangle the last one in its middle. Multigrid
/// knows the meshes of triangles in between and is faster for it. Tetrahedra are split into eight,
/// 8 e .. 8 e + 7, those at the corners first, the others around the shortest of three diagonals.
/// @param[in]  mesh         borrowed, not changed
/// @retval KEDGE_ERR_INPUT  more elements than can be numbered
KEDGE_API kedge_status kedge_mesh_refine(kedge_context *ctx, const kedge_mesh *mesh, int times,
                                         kedge_mesh **out);

/// Join vertices of the boundary that are no farther apart than a distance, by chains too: the
/// first of them in the caller's numbering takes the place of the others. Edges that become one lie
/// inside the domain, where they keep the group of the first and take no condition; the nodes of
/// curved ones become those of one side. Elements stay in the caller's order.
/// @param[in]  mesh         borrowed, not changed
/// @param[in]  distance     positive
/// @retval KEDGE_ERR_ARG    it is not
/// @retval KEDGE_ERR_INPUT  an element would lose an edge or turn over, or what is joined is no
/// mesh;
///                          the sentence says where
KEDGE_API kedge_status kedge_mesh_join(kedge_context *ctx, const kedge_mesh *mesh, double distance,
                                       kedge_mesh **out);

/// Write Gmsh 4.1 (ASCII, or binary when asked) under a temporary name, then rename. Elements and
/// vertices are in the caller's order, groups of tag 0 have no physical one. May give KEDGE_ERR_IO.
KEDGE_API kedge_status kedge_mesh_write(kedge_context *ctx, const kedge_mesh *mesh,
                                        const char *path, bool binary);

KEDGE_API void kedge_mesh_destroy(kedge_mesh *mesh);  ///< NULL is allowed

// None of the arguments below is NULL.
/// @param[in,out] info  its `size` is read
/// @retval KEDGE_ERR_ARG  `size` was not set by KEDGE_MESH_INFO_INIT
KEDGE_API kedge_status kedge_mesh_get_info(const kedge_mesh *mesh, kedge_mesh_info *info);
KEDGE_API int kedge_mesh_group_count(const kedge_mesh *mesh);
/// @param[in] index  0 .. kedge_mesh_group_count() - 1; the name lives as long as the mesh
/// @param[in,out] group  its `size` is read
/// @retval KEDGE_ERR_ARG  `size` was not set by KEDGE_MESH_GROUP_INIT, or there is no such index
KEDGE_API kedge_status kedge_mesh_get_group(const kedge_mesh *mesh, int index,
                                            kedge_mesh_group *group);

/// Write where each element begins in arrays over the nodes of the maps, whose order is
/// info.geometry: as kedge_solution_offsets() of that order.
/// @param[out] offsets  [elements + 1]
KEDGE_API kedge_status kedge_mesh_offsets(const kedge_mesh *mesh, int64_t *offsets);
/// Write the nodes of the maps, the corners first and counterclockwise, then as
/// kedge_solution_nodes() has them. Those of tetrahedra ascend by x + 0.7549 y + 0.5698 z.
/// @param[out] xy  [element][node][dimension]
KEDGE_API kedge_status kedge_mesh_nodes(const kedge_mesh *mesh, double *xy);
/// Write the vertices of elements, counterclockwise as kedge_mesh_nodes() has the corners.
/// @param[out] corners  [element][3 of a triangle, else 4] the caller's numbers
KEDGE_API kedge_status kedge_mesh_corners(const kedge_mesh *mesh, int32_t *corners);
/// @param[out] regions  [element] tags, 0 where there is none
KEDGE_API kedge_status kedge_mesh_regions(const kedge_mesh *mesh, int32_t *regions);
/// Write the edges of the boundary as sides of their elements: side k goes from corner k to the
/// next one, and that of a tetrahedron is opposite corner k.
/// @param[out] elements, sides, groups  [boundary_edges]; groups are indices as of
///             kedge_mesh_get_group()
KEDGE_API kedge_status kedge_mesh_boundary(const kedge_mesh *mesh, int32_t *elements,
                                           int32_t *sides, int32_t *groups);

KEDGE_END_DECLS
