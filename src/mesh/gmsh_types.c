// Element types of Gmsh: what each is, and the nodes of the elements that are read.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "mesh/gmsh.h"
#include "mesh/nodes.h"

/// Types that are read, by order: complete sets of nodes, then serendipity sets from their first
/// order on, where they differ.
static const struct {
  kg_gmsh_kind kind;
  int first_order;
  bool complete;
  int type[KG_GEOMETRY_MAX];
} sets[] = {
    {KG_GMSH_POINT, 1, true, {15}},
    {KG_GMSH_LINE, 1, true, {1, 8, 26, 27, 28}},
    {KG_GMSH_TRIANGLE, 1, true, {2, 9, 21, 23, 25}},
    {KG_GMSH_TRIANGLE, 3, false, {20, 22, 24}},
    {KG_GMSH_QUADRILATERAL, 1, true, {3, 10, 36, 37, 38}},
    {KG_GMSH_QUADRILATERAL, 2, false, {16, 39, 40, 41}},
    {KG_GMSH_TETRAHEDRON, 1, true, {4}},
};

/// Types that are known and refused; ranges, inclusive.
static const struct {
  int16_t first, last;
  const char *what, *advice;
} families[] = {
#define HIGH  "kedge reads curves of order 1 to 5: mesh with Mesh.ElementOrder = 5"
#define SOLID "in space kedge reads tetrahedra: mesh the volume with these alone"
#define CURVE "in space kedge reads straight ones so far: mesh with Mesh.ElementOrder = 1"
    {5, 5, "hexahedron", SOLID},
    {6, 6, "prism", SOLID},
    {7, 7, "pyramid", SOLID},
    {11, 11, "curved tetrahedron", CURVE},
    {12, 12, "hexahedron", SOLID},
    {13, 13, "prism", SOLID},
    {14, 14, "pyramid", SOLID},
    {17, 17, "hexahedron", SOLID},
    {18, 18, "prism", SOLID},
    {19, 19, "pyramid", SOLID},
    {29, 33, "curved tetrahedron", CURVE},
    {34, 34, "polygon", "only triangles and quadrilaterals are supported"},
    {35, 35, "polyhedron", SOLID},
    {42, 46, "triangle of order 6 or more", HIGH},
    {47, 51, "quadrilateral of order 6 or more", HIGH},
    {52, 56, "triangle of order 6 or more", HIGH},
    {57, 61, "quadrilateral of order 6 or more", HIGH},
    {62, 66, "line of order 6 or more", HIGH},
    {71, 75, "curved tetrahedron", CURVE},
    {79, 83, "curved tetrahedron", CURVE},
    {87, 87, "curved tetrahedron", CURVE},
    {88, 88, "hexahedron", SOLID},
    {89, 91, "prism", SOLID},
    {92, 105, "hexahedron", SOLID},
    {106, 117, "prism", SOLID},
    {118, 132, "pyramid", SOLID},
};

kg_gmsh_type kg_gmsh_describe(int32_t type)
{
  static const int corners[] = {1, 2, 3, 4, 4};
  static const kg_cell *const cells[] = {NULL, NULL, &kg_triangle, &kg_quadrilateral,
                                         &kg_tetrahedron};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i)
    for (int k = 0; k < KG_GEOMETRY_MAX && sets[i].type[k]; ++k) {
      if (sets[i].type[k] != type) continue;
      kg_gmsh_type t = {.kind = sets[i].kind,
                        .order = sets[i].first_order + k,
                        .complete = sets[i].complete,
                        .n_corners = corners[sets[i].kind]};
      t.cell = cells[t.kind];
      t.n_nodes = kg_gmsh_dimension(t.kind) == 2
                      ? kg_gmsh_node_count(t.cell, t.order, t.complete)
                      : t.n_corners + (t.kind == KG_GMSH_LINE ? t.order - 1 : 0);
      return t;
    }
  return (kg_gmsh_type){0};
}

int kg_gmsh_type_number(kg_gmsh_kind kind, int order)
{
  int i = 0;
  while (sets[i].kind != kind) ++i;  // complete sets come first
  return sets[i].type[order - 1];
}

kedge_status kg_gmsh_find_type(const kg_scan *s, int32_t type, kg_gmsh_type *out)
{
  *out = kg_gmsh_describe(type);
  if (out->order > 0) return KEDGE_OK;
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i)
    if (type >= families[i].first && type <= families[i].last)
      return KG_SCAN_FAIL(s, "here is a %s (type %d); %s", families[i].what, type,
                          families[i].advice);
  return KG_SCAN_FAIL(s,
                      "element type %d is unknown; kedge reads triangles, quadrilaterals and "
                      "tetrahedra: mesh without others",
                      type);
}

kedge_status kg_gmsh_check_nodes(const kg_scan *nodes, int32_t type, const kg_gmsh_type *what,
                                 kedge_status status)
{
  static const char *const names[] = {"point", "line", "triangle", "quadrilateral", "tetrahedron"};
  if (status == KEDGE_OK || nodes->binary) return status;
  kg_scan s = *nodes;
  const char *text, *end;
  size_t length;
  int n = 0;
  kg_text_rest(&s, &text, &length);
  for (end = text + length; text < end; ++n) {
    while (text < end && (*text == ' ' || *text == '\t')) ++text;
    while (text < end && *text != ' ' && *text != '\t') ++text;
  }
  if (n == what->n_nodes) return status;
  return KG_SCAN_FAIL(nodes,
                      "here is a %s of order %d (type %d) with %d nodes, and Gmsh's has %d; "
                      "export the mesh again",
                      names[what->kind], what->order, type, n, what->n_nodes);
}

/// Vertices that are nodes between corners, and no corner of an element.
static kedge_status count_between(const kg_gmsh *g)
{
  kg_raw_mesh *raw = g->raw;
  char *is_between;
  KG_TRY(kg_host_calloc(g->scan.ctx, (size_t)raw->n_vertices, 1, &is_between));
  for (int64_t i = 0; i < g->n_between; ++i) is_between[g->between[i]] = 1;
  for (int64_t i = 0; i < raw->width * raw->n_elements; ++i)
    if (raw->corners[i] >= 0) is_between[raw->corners[i]] = 0;
  raw->n_between = 0;
  for (int64_t v = 0; v < raw->n_vertices; ++v) raw->n_between += is_between[v];
  free(is_between);
  return KEDGE_OK;
}

/// Make the nodes of all elements: of the highest order, in the order of kedge.
static void make_nodes(const kg_gmsh *g)
{
  const kg_raw_mesh *raw = g->raw;
  kg_node_matrix matrix = {0};
  const int32_t *between = g->between;
  uint8_t last = 0;  // its matrix is there
  kg_gmsh_type type = {0};
  for (int64_t e = 0; e < raw->n_elements; ++e) {
    if (g->types[e] != last) {
      last = g->types[e];
      type = kg_gmsh_describe(last);
      kg_node_matrix_gmsh(type.cell, type.order, type.complete, raw->geometry, &matrix);
    }
    double nodes[2 * KG_NODES_MAX];
    for (int k = 0; k < type.n_nodes; ++k) {
      const int64_t v = k < type.n_corners ? kg_raw_corners(raw, e)[k] : *between++;
      memcpy(nodes + 2 * k, raw->vertices + 2 * v, 2 * sizeof(double));
    }
    kg_nodes_make(&matrix, nodes, kg_raw_nodes(raw, e));
  }
}

kedge_status kg_gmsh_geometry(kg_gmsh *g)
{
  if (g->order <= 1) return KEDGE_OK;
  kg_raw_mesh *raw = g->raw;
  const kg_cell *cell = raw->width == 3 ? &kg_triangle : &kg_quadrilateral;
  KG_TRY(count_between(g));
  KG_TRY(kg_mesh_check_memory(g->scan.ctx, g->scan.name, cell, g->order, raw->n_elements, false));
  KG_TRY(kg_raw_mesh_alloc_nodes(g->scan.ctx, g->order, raw));
  make_nodes(g);
  return KEDGE_OK;
}
