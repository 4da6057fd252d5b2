/// @file
/// The parts of the reader of Gmsh files, one for each section.
#pragma once
#include "mesh/gmsh_scan.h"
#include "mesh/mesh.h"
#include "mesh/radix.h"

/// A map from node tags to vertex numbers: by subtraction where tags are consecutive, through an
/// array where they are compact, by bisection where they are sparse.
typedef struct kg_node_map {
  int64_t first, n;  ///< consecutive tags: first .. first + n - 1
  bool consecutive;
  int64_t span;     ///< of `dense`
  int32_t *dense;   ///< [tag - first]: vertex, -1: none; NULL: not compact
  kg_pair *sorted;  ///< [n]: (tag, vertex); NULL: not sparse
} kg_node_map;

typedef enum kg_gmsh_kind {
  KG_GMSH_POINT,
  KG_GMSH_LINE,
  KG_GMSH_TRIANGLE,
  KG_GMSH_QUADRILATERAL,
  KG_GMSH_TETRAHEDRON
} kg_gmsh_kind;

/// A type of elements that is read.
typedef struct kg_gmsh_type {
  kg_gmsh_kind kind;
  const kg_cell *cell;  ///< NULL: a point or a line
  int order;            ///< of its map
  bool complete;        ///< false: a serendipity set of nodes
  int n_corners, n_nodes;
} kg_gmsh_type;

/// An entity of formats 4.0 and 4.1 of dimension 1 to 3 and its first physical group, 0: none.
typedef struct kg_entity {
  int32_t dimension, tag, physical;
  int32_t partition;     ///< of a mesh that was partitioned; 0: none
  bool is_ghost;         ///< its elements are those of another part, beside this
  bool is_shared;        ///< its other groups are still to be put into overlaps of the mesh
  int64_t more, n_more;  ///< place in `more_groups` and number of these groups, which do not count
} kg_entity;

typedef struct kg_gmsh {
  kg_scan scan;
  enum { KG_GMSH_UNKNOWN, KG_GMSH_22, KG_GMSH_40, KG_GMSH_41 } version;
  kg_raw_mesh *raw;  ///< its vertices have three coordinates until all is read
  bool has_nodes, has_elements;
  int64_t *tags;  ///< [vertex], until the map is made
  kg_node_map map;
  int order;         ///< the highest of elements
  uint8_t *types;    ///< [element]: Gmsh's type
  int32_t *between;  ///< vertices behind the corners, element by element
  int64_t n_between, between_capacity;
  int32_t partition;    ///< of all elements so far; 0: there are none yet; -1: they differ, or none
  int64_t last_shared;  ///< elements there were when one was last found in several groups
  int32_t *more_groups;
  int64_t n_more, more_capacity;
  kg_entity *entities;
  int64_t n_entities, entity_capacity, element_capacity, line_capacity;
} kg_gmsh;

kedge_status kg_gmsh_entities(kg_gmsh *g);              ///< 4.0, 4.1
kedge_status kg_gmsh_partitioned_entities(kg_gmsh *g);  ///< 4.0, 4.1
kedge_status kg_gmsh_nodes(kg_gmsh *g);
kedge_status kg_gmsh_parametric_nodes(kg_gmsh *g);  ///< $ParametricNodes, in place of $Nodes
kedge_status kg_gmsh_elements(kg_gmsh *g);
/// Look through $Elements, whose first line is next: a mesh that has tetrahedra is of space, and
/// its triangles are faces. Refuse elements that are not read; anything else that is wrong is for
/// kg_gmsh_elements() to say.
kedge_status kg_gmsh_find_dimension(kg_gmsh *g);
/// Curves, of a mesh in space surfaces, that $Periodic, whose first line is next, identifies with
/// others; 0 too where the section is not understood, and in binary files of 4.0.
int64_t kg_gmsh_count_periodic(const kg_gmsh *g);
/// Nodes and geometry order of a mesh with curves, when all is read.
kedge_status kg_gmsh_geometry(kg_gmsh *g);
/// Gmsh's number of the complete set of nodes of an order.
int kg_gmsh_type_number(kg_gmsh_kind kind, int order);
/// What a type is; `order` 0: it is not read.
kg_gmsh_type kg_gmsh_describe(int32_t type);
/// What a type is, or a refusal of any that is not read.
kedge_status kg_gmsh_find_type(const kg_scan *s, int32_t type, kg_gmsh_type *out);

static inline int kg_gmsh_dimension(kg_gmsh_kind kind)
{
  return kind == KG_GMSH_TETRAHEDRON ? 3 : kind >= KG_GMSH_TRIANGLE ? 2 : kind == KG_GMSH_LINE;
}

/// Refuse an element in a text file with another number of nodes than Gmsh's.
/// @param[in] nodes   the scan where its nodes begin
/// @param[in] status  of reading it, which is returned where the number is right
kedge_status kg_gmsh_check_nodes(const kg_scan *nodes, int32_t type, const kg_gmsh_type *what,
                                 kedge_status status);

/// An entity, NULL if it is in no physical group; entities are in the order in which
/// kg_gmsh_sort_entities() left them.
kg_entity *kg_gmsh_find_entity(const kg_gmsh *g, int32_t dimension, int32_t tag);
void kg_gmsh_sort_entities(kg_gmsh *g);
/// Take note of the partition of elements; 0: none.
void kg_gmsh_note_partition(kg_gmsh *g, int32_t partition);
/// The physical group that a tag names.
kedge_status kg_gmsh_group(const kg_scan *s, int32_t tag, int32_t *physical);

/// Vertex of a node tag; -1: there is no such node.
static inline int32_t kg_gmsh_vertex(const kg_node_map *map, int64_t tag)
{
  const uint64_t place = (uint64_t)tag - (uint64_t)map->first;  // huge when tag < first
  if (map->consecutive) return place < (uint64_t)map->n ? (int32_t)place : -1;
  if (map->dense) return place < (uint64_t)map->span ? map->dense[place] : -1;
  int64_t begin = 0, end = map->n;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    const uint64_t key = map->sorted[middle].key;
    if (key == (uint64_t)tag) return (int32_t)map->sorted[middle].value;
    if (key < (uint64_t)tag)
      begin = middle + 1;
    else
      end = middle;
  }
  return -1;
}

/// Make room for `capacity` items of `size` bytes in an array whose address is `array`.
kedge_status kg_gmsh_reserve(kg_gmsh *g, void *array, size_t size, int64_t capacity);
/// The capacity of an array that grows for `more` items behind the n that it has.
static inline int64_t kg_gmsh_capacity(int64_t capacity, int64_t n, int64_t more)
{
  const int64_t half_more = capacity + capacity / 2;
  return half_more < n + more ? n + more : half_more;
}
/// Make room for `more` items behind the n of an array, as above.
kedge_status kg_gmsh_grow(kg_gmsh *g, void *array, size_t size, int64_t n, int64_t more,
                          int64_t *capacity);
