#include <stdlib.h>
#include <string.h>

#include "mesh/gmsh.h"

enum { POINT = 15, LINE = 1, TRIANGLE = 2, QUADRILATERAL = 3 };  // Gmsh's types of what is read

/// Types that are known and refused; ranges, inclusive.
static const struct family {
  int16_t first, last;
  const char *what, *advice;
} families[] = {
#define CURVED "curved elements are not supported yet: mesh with Mesh.ElementOrder = 1"
#define SOLID  "kedge solves in the plane: mesh a surface and save no volume elements"
    {4, 7, "3-D element", SOLID},
    {8, 8, "curved line", CURVED},
    {9, 9, "curved triangle", CURVED},
    {10, 10, "curved quadrilateral", CURVED},
    {11, 14, "3-D element", SOLID},
    {16, 16, "curved quadrilateral", CURVED},
    {17, 19, "3-D element", SOLID},
    {20, 25, "curved triangle", CURVED},
    {26, 28, "curved line", CURVED},
    {29, 33, "3-D element", SOLID},
    {34, 34, "polygon", "only triangles and quadrilaterals are supported"},
    {35, 35, "3-D element", SOLID},
    {36, 41, "curved quadrilateral", CURVED},
    {42, 46, "curved triangle", CURVED},
    {47, 51, "curved quadrilateral", CURVED},
    {52, 56, "curved triangle", CURVED},
    {57, 61, "curved quadrilateral", CURVED},
    {62, 66, "curved line", CURVED},
    {71, 75, "3-D element", SOLID},
    {79, 83, "3-D element", SOLID},
    {90, 132, "3-D element", SOLID},
};

/// Number of nodes of a type that is read, or a refusal of any other.
static kedge_status nodes_of_type(const kg_scan *s, int32_t type, int *n_nodes)
{
  static const int nodes[] = {[LINE] = 2, [TRIANGLE] = 3, [QUADRILATERAL] = 4};
  *n_nodes = type == POINT ? 1 : type >= LINE && type <= QUADRILATERAL ? nodes[type] : 0;
  if (*n_nodes > 0) return KEDGE_OK;
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i)
    if (type >= families[i].first && type <= families[i].last)
      return KG_SCAN_FAIL(s, "here is a %s (type %d); %s", families[i].what, type,
                          families[i].advice);
  return KG_SCAN_FAIL(s,
                      "element type %d is unknown; only triangles and quadrilaterals are "
                      "supported: mesh without others",
                      type);
}

/// Make room for `more` elements more, of `width` corners; triangles that came before the first
/// quadrilateral move.
static kedge_status reserve_elements(kg_gmsh *g, int width, int64_t more)
{
  kg_raw_mesh *raw = g->raw;
  const int before = raw->width;
  if (width < before) width = before;
  if (width == before && more <= g->element_capacity - raw->n_elements) return KEDGE_OK;
  int64_t capacity = g->element_capacity + g->element_capacity / 2;
  if (capacity < raw->n_elements + more) capacity = raw->n_elements + more;
  KG_TRY(kg_gmsh_reserve(g, &raw->corners, (size_t)width * sizeof(int32_t), capacity));
  KG_TRY(kg_gmsh_reserve(g, &raw->regions, sizeof(int32_t), capacity));
  if (!g->scan.binary) KG_TRY(kg_gmsh_reserve(g, &raw->element_lines, sizeof(int64_t), capacity));
  for (int64_t e = raw->n_elements - 1; before == 3 && width == 4 && e >= 0; --e) {
    raw->corners[4 * e + 3] = -1;
    for (int i = 2; i >= 0; --i) raw->corners[4 * e + i] = raw->corners[3 * e + i];
  }
  raw->width = width;
  g->element_capacity = capacity;
  return KEDGE_OK;
}

static kedge_status reserve_lines(kg_gmsh *g, int64_t more)
{
  kg_raw_mesh *raw = g->raw;
  if (more <= g->line_capacity - raw->n_lines) return KEDGE_OK;
  int64_t capacity = g->line_capacity + g->line_capacity / 2;
  if (capacity < raw->n_lines + more) capacity = raw->n_lines + more;
  KG_TRY(kg_gmsh_reserve(g, &raw->lines, 2 * sizeof(int32_t), capacity));
  KG_TRY(kg_gmsh_reserve(g, &raw->line_tags, sizeof(int32_t), capacity));
  g->line_capacity = capacity;
  return KEDGE_OK;
}

static kedge_status reserve(kg_gmsh *g, int32_t type, int64_t more)
{
  if (type == TRIANGLE || type == QUADRILATERAL)
    return reserve_elements(g, type == TRIANGLE ? 3 : 4, more);
  return type == LINE ? reserve_lines(g, more) : KEDGE_OK;
}

static kedge_status no_node(const kg_gmsh *g, int64_t tag)
{
  return KG_SCAN_FAIL(
      &g->scan,
      "an element uses node %lld, which does not exist; export the mesh again, with all nodes",
      (long long)tag);
}

/// Store an element for which there is room. Points and lines without a group are of no use.
static kedge_status put_element(kg_gmsh *g, int32_t type, int32_t physical, const int64_t *nodes)
{
  kg_raw_mesh *raw = g->raw;
  if (type == TRIANGLE || type == QUADRILATERAL) {
    int32_t *v = raw->corners + raw->width * raw->n_elements;
    v[raw->width - 1] = -1;  // of a triangle among quadrilaterals
    for (int i = 0; i < (type == TRIANGLE ? 3 : 4); ++i)
      if ((v[i] = kg_gmsh_vertex(&g->map, nodes[i])) < 0) return no_node(g, nodes[i]);
    if (raw->element_lines) raw->element_lines[raw->n_elements] = g->scan.line;
    raw->regions[raw->n_elements++] = physical;
  } else if (type == LINE && physical != 0) {
    int32_t *v = raw->lines + 2 * raw->n_lines;
    for (int i = 0; i < 2; ++i)
      if ((v[i] = kg_gmsh_vertex(&g->map, nodes[i])) < 0) return no_node(g, nodes[i]);
    raw->line_tags[raw->n_lines++] = physical;
  }
  return KEDGE_OK;
}

/// 2.2, text: (number, type, n_tags, tags, nodes); the first tag is the physical group.
static kedge_status read_line_22(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  int64_t number, n_tags, nodes[4];
  int32_t type, tag = 0, physical;
  int n_nodes;
  KG_TRY(kg_text_int(s, &number));
  KG_TRY(kg_scan_int32(s, &type));
  KG_TRY(kg_text_int(s, &n_tags));
  KG_TRY(nodes_of_type(s, type, &n_nodes));
  KG_TRY(kg_scan_plausible(s, n_tags, 2, "tags"));
  if (n_tags > 0) KG_TRY(kg_scan_int32(s, &tag));
  if (n_tags > 1) KG_TRY(kg_scan_skip(s, n_tags - 1, sizeof tag));
  for (int i = 0; i < n_nodes; ++i) KG_TRY(kg_text_int(s, &nodes[i]));
  KG_TRY(kg_gmsh_group(s, tag, &physical));
  KG_TRY(reserve(g, type, 1));
  KG_TRY(put_element(g, type, physical, nodes));
  return kg_text_line_end(s);
}

/// 2.2, binary: (type, n, n_tags), then n times (number, tags, nodes).
static kedge_status read_binary_22(kg_gmsh *g, int64_t n_left, int64_t *n_read)
{
  kg_scan *s = &g->scan;
  int32_t type, n, n_tags;
  int n_nodes;
  KG_TRY(kg_scan_int32(s, &type));
  KG_TRY(kg_scan_int32(s, &n));
  KG_TRY(kg_scan_int32(s, &n_tags));
  KG_TRY(nodes_of_type(s, type, &n_nodes));
  if (n < 1 || n > n_left)
    return KG_SCAN_FAIL(s,
                        "a block of %d elements does not fit the %lld elements that are left; the "
                        "file is damaged",
                        n, (long long)n_left);
  KG_TRY(kg_scan_plausible(s, n_tags, sizeof n, "tags"));
  const size_t bytes = sizeof n * (1 + (size_t)n_tags + (size_t)n_nodes);
  KG_TRY(kg_scan_plausible(s, n, bytes, "elements"));
  KG_TRY(reserve(g, type, n));
  for (int32_t i = 0; i < n; ++i) {
    const char *record;
    int32_t tag = 0, words[4], physical;
    KG_TRY(kg_scan_bytes(s, bytes, &record));
    if (n_tags > 0) memcpy(&tag, record + sizeof tag, sizeof tag);
    memcpy(words, record + sizeof tag * (1 + (size_t)n_tags), sizeof tag * (size_t)n_nodes);
    int64_t nodes[4] = {0};
    for (int k = 0; k < n_nodes; ++k) nodes[k] = words[k];
    KG_TRY(kg_gmsh_group(s, tag, &physical));
    KG_TRY(put_element(g, type, physical, nodes));
  }
  *n_read = n;
  return KEDGE_OK;
}

static kedge_status read_22(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  int64_t n;
  KG_TRY(kg_text_int(s, &n));
  KG_TRY(kg_scan_plausible(s, n, 8, "elements"));
  KG_TRY(kg_text_line_end(s));
  if (!s->binary) {
    for (int64_t i = 0; i < n; ++i) KG_TRY(read_line_22(g));
    return KEDGE_OK;
  }
  while (n > 0) {
    int64_t n_read;
    KG_TRY(read_binary_22(g, n, &n_read));
    n -= n_read;
  }
  return KEDGE_OK;
}

/// A block of 4.1: (dimension, entity, type, n), then n times (number, nodes).
static kedge_status read_block_41(kg_gmsh *g, int64_t n_left, int64_t *n_read)
{
  kg_scan *s = &g->scan;
  int32_t dimension, entity, type;
  int64_t n;
  int n_nodes;
  KG_TRY(kg_scan_int32(s, &dimension));
  KG_TRY(kg_scan_int32(s, &entity));
  KG_TRY(kg_scan_int32(s, &type));
  KG_TRY(kg_scan_int64(s, &n));
  KG_TRY(nodes_of_type(s, type, &n_nodes));
  if (n < 0 || n > n_left)
    return KG_SCAN_FAIL(
        s,
        "a block of %lld elements does not fit the %lld elements that are left; the "
        "file is damaged",
        (long long)n, (long long)n_left);
  const size_t least = s->binary ? 8 * (1 + (size_t)n_nodes) : 2 * (1 + (size_t)n_nodes);
  KG_TRY(kg_scan_plausible(s, n, least, "elements"));
  KG_TRY(reserve(g, type, n));
  KG_TRY(kg_scan_record_end(s));
  const int32_t physical = kg_gmsh_physical(g, dimension, entity);
  for (int64_t i = 0; i < n; ++i) {
    int64_t number, nodes[4];
    KG_TRY(kg_scan_int64(s, &number));
    for (int k = 0; k < n_nodes; ++k) KG_TRY(kg_scan_int64(s, &nodes[k]));
    KG_TRY(put_element(g, type, physical, nodes));
    KG_TRY(kg_scan_record_end(s));
  }
  *n_read = n;
  return KEDGE_OK;
}

/// 4.1: (blocks, elements, smallest tag, largest tag), then the blocks.
static kedge_status read_41(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  int64_t n_blocks, n, n_read;
  KG_TRY(kg_scan_int64(s, &n_blocks));
  KG_TRY(kg_scan_int64(s, &n));
  KG_TRY(kg_scan_skip(s, 2, sizeof(int64_t)));
  KG_TRY(kg_scan_plausible(s, n_blocks, 8, "blocks"));
  KG_TRY(kg_scan_plausible(s, n, 4, "elements"));
  KG_TRY(kg_scan_record_end(s));
  kg_gmsh_sort_entities(g);
  for (int64_t k = 0; k < n_blocks; ++k) {
    KG_TRY(read_block_41(g, n, &n_read));
    n -= n_read;
  }
  if (n != 0)
    return KG_SCAN_FAIL(s, "the blocks hold %lld elements less than announced; the file is damaged",
                        (long long)n);
  return KEDGE_OK;
}

kedge_status kg_gmsh_elements(kg_gmsh *g)
{
  if (!g->has_nodes)
    return KG_SCAN_FAIL(&g->scan, "$Elements comes before $Nodes; export the mesh again");
  if (g->has_elements)
    return KG_SCAN_FAIL(&g->scan, "there is a second section $Elements; the file is damaged");
  g->has_elements = true;
  return g->version == KG_GMSH_22 ? read_22(g) : read_41(g);
}
