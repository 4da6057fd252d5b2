/// @file
/// The inside of a mesh. Elements lie along a Hilbert curve; vertices and edges are numbered by
/// first appearance in that order, so neighbours in the plane are neighbours in memory.
///
/// A *side* is an edge as one element sees it: side s = 3 e + l, local edge l runs from local
/// vertex l to local vertex (l + 1) % 3, counterclockwise. The *edge* runs from its lower to its
/// higher vertex number; a side is reversed when it runs the other way.
#pragma once
#include "core/error.h"
#include "kedge/mesh.h"
KEDGE_BEGIN_DECLS

typedef struct kg_group {
  char *name;  ///< owned; the tag as text when the file names none
  int32_t tag;
  int dimension;         ///< 1 or 2
  int64_t count;         ///< boundary edges or elements
  double measure;        ///< of these
  int64_t n_inner;       ///< edges inside the domain, which take no condition
  double inner_measure;  ///< of these
  int64_t coincident;    ///< boundary edges that lie on another one, of whatever group
} kg_group;

/// The meshes that a mesh was refined from, the last one first.
typedef struct kg_mesh_levels {
  int n;
  int32_t count[KEDGE_REFINE_MAX];  ///< vertices
  int32_t *
      vertex;  ///< [level][vertex]: its number among those of the mesh refined from this, ascending
} kg_mesh_levels;

struct kedge_mesh {
  int32_t n_vertices, n_elements, n_edges, n_boundary_edges;
  double *vertices;           ///< [vertex][2]
  int32_t *element_vertices;  ///< [element][3], counterclockwise
  int32_t *element_region;    ///< [element], tag
  uint32_t *side_edge;        ///< [side]: edge << 1 | reversed
  int32_t *edge_sides;        ///< [edge][2]: sides, lower first; second is -1 on the boundary
  int32_t *edge_group;        ///< [edge]: index g into groups (dimension 1); inside the domain -1,
                              ///< or kg_inner_group(g) where a line of that group lies
  int32_t *element_origin;    ///< [element]: the caller's element number
  int32_t *vertex_origin;     ///< [vertex]: the caller's vertex number
  int n_groups;
  kg_group *groups;  ///< dimension 1 first; "default" only when an edge is in it
  kedge_mesh_info info;
  /// The largest |sum (d / |d|)^2| of an element, with its sides d as complex numbers: 0
  /// equilateral, 1 right-angled, up to 3 the nearer all sides are to one line
  double alignment;
  double seconds;         ///< spent reading or generating and building, for the report
  kg_mesh_levels levels;  ///< of kedge_mesh_refine()
  char *source;           ///< file name or generator words, for messages; owned
};

/// What marks an edge inside the domain with a group, or a tag; its own inverse.
static inline int32_t kg_inner_group(int32_t group)
{
  return -2 - group;
}
/// The group of an edge inside the domain or on the boundary, of its entry in edge_group; -1: none.
static inline int32_t kg_group_of_edge(int32_t entry)
{
  return entry < -1 ? kg_inner_group(entry) : entry;
}
int64_t kg_mesh_inner_edges(const kedge_mesh *mesh);  ///< inside the domain, with a group

/// A mesh as a reader or generator delivers it: caller's numbering, unchecked.
typedef struct kg_raw_mesh {
  int64_t n_vertices, n_elements, n_lines;
  double *vertices;        ///< [n_vertices][2]
  int32_t *triangles;      ///< [n_elements][3]
  int32_t *regions;        ///< [n_elements]
  int32_t *lines;          ///< [n_lines][2]
  int32_t *line_tags;      ///< [n_lines]
  int64_t *element_lines;  ///< [n_elements]: line of the file each element came from; NULL: unknown
  int n_names;
  struct kg_raw_name {
    int dimension;
    int32_t tag;
    char *name;
  } * names;
} kg_raw_mesh;

void kg_raw_mesh_free(kg_raw_mesh *raw);  ///< frees what it points to and zeroes it

/// Check, turn, order and connect. `source` goes into messages ("plate.msh").
/// Does not take ownership of raw. On the CUDA backend the GPU orders and connects meshes of
/// KG_GPU_ELEMENTS triangles and more, if it has the memory; the mesh is the same, bit for bit.
kedge_status kg_mesh_build(kedge_context *ctx, const kg_raw_mesh *raw, const char *source,
                           kedge_mesh **out);
/// Builds a mesh on host or GPU as `on_gpu` says; true is for the CUDA backend, at any size.
kedge_status kg_mesh_build_on(kedge_context *ctx, const kg_raw_mesh *raw, const char *source,
                              bool on_gpu, kedge_mesh **out);
/// Fewer triangles than these take a host of 16 cores less than 10 ms.
enum { KG_GPU_ELEMENTS = 100000 };

/// The Gmsh reader, from memory (so that a fuzzer can call it).
kedge_status kg_gmsh_parse(kedge_context *ctx, const char *name, const void *data, size_t bytes,
                           kg_raw_mesh *out);

KEDGE_END_DECLS
