#include <string.h>

#include "mesh/gmsh.h"

/// Make room for `more` elements more, of `width` corners; triangles that came before the first
/// quadrilateral move.
static kedge_status reserve_elements(kg_gmsh *g, int width, int64_t more)
{
  kg_raw_mesh *raw = g->raw;
  const int before = raw->width;
  if (width < before) width = before;
  if (width == before && more <= g->element_capacity - raw->n_elements) return KEDGE_OK;
  const int64_t capacity = kg_gmsh_capacity(g->element_capacity, raw->n_elements, more);
  KG_TRY(kg_gmsh_reserve(g, &raw->corners, (size_t)width * sizeof(int32_t), capacity));
  KG_TRY(kg_gmsh_reserve(g, &raw->regions, sizeof(int32_t), capacity));
  KG_TRY(kg_gmsh_reserve(g, &g->types, sizeof *g->types, capacity));
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
  int64_t of_tags = g->line_capacity;
  KG_TRY(kg_gmsh_grow(g, &raw->line_tags, sizeof(int32_t), raw->n_lines, more, &of_tags));
  return kg_gmsh_grow(g, &raw->lines, (size_t)raw->dimension * sizeof(int32_t), raw->n_lines, more,
                      &g->line_capacity);
}

static bool is_element(const kg_gmsh *g, const kg_gmsh_type *type)
{
  return kg_gmsh_dimension(type->kind) == g->raw->dimension;
}

/// Whether a type is one of facets, of which there are groups.
static bool is_facet(const kg_gmsh *g, const kg_gmsh_type *type)
{
  return kg_gmsh_dimension(type->kind) == g->raw->dimension - 1;
}

/// What a type is, as kg_gmsh_find_type(); faces that no straight tetrahedron has are refused too.
static kedge_status find_type(const kg_gmsh *g, int32_t type, kg_gmsh_type *out)
{
  KG_TRY(kg_gmsh_find_type(&g->scan, type, out));
  if (kg_gmsh_dimension(out->kind) != 2 || g->raw->dimension == 2 ||
      (out->kind == KG_GMSH_TRIANGLE && out->order == 1))
    return KEDGE_OK;
  return KG_SCAN_FAIL(&g->scan,
                      "here is a %s of order %d (type %d) in a mesh of tetrahedra, whose faces are "
                      "triangles of order 1; mesh with tetrahedra alone and Mesh.ElementOrder = 1",
                      out->cell->name, out->order, type);
}

static kedge_status reserve(kg_gmsh *g, const kg_gmsh_type *type, int64_t more)
{
  if (is_facet(g, type)) return reserve_lines(g, more);
  if (!is_element(g, type)) return KEDGE_OK;
  if (type->order > g->order) g->order = type->order;
  const int64_t between = more * (type->n_nodes - type->n_corners);  // the corners
  KG_TRY(kg_gmsh_grow(g, &g->between, sizeof *g->between, g->n_between, between,
                      &g->between_capacity));
  return reserve_elements(g, type->n_corners, more);
}

static kedge_status no_node(const kg_gmsh *g, int64_t tag)
{
  return KG_SCAN_FAIL(
      &g->scan,
      "an element uses node %lld, which does not exist; export the mesh again, with all nodes",
      (long long)tag);
}

/// The vertices of n nodes.
static kedge_status find_vertices(const kg_gmsh *g, int n, const int64_t *nodes, int32_t *v)
{
  for (int i = 0; i < n; ++i)
    if ((v[i] = kg_gmsh_vertex(&g->map, nodes[i])) < 0) return no_node(g, nodes[i]);
  return KEDGE_OK;
}

/// Two groups of elements have one in common, at a vertex.
static kedge_status add_overlap(kg_gmsh *g, int32_t first, int32_t other, int64_t vertex)
{
  kg_raw_mesh *raw = g->raw;
  const double *at = raw->vertices + 3 * vertex;
  kg_overlap overlap = {raw->dimension, first, other, {at[0], at[1], 0.0}, NULL};
  if (raw->dimension == 3) overlap.at[2] = at[2];
  return kg_overlaps_add(g->scan.ctx, &overlap, &raw->overlaps);
}

/// Whether an element is the one before it, in another physical group: formats before 4.0 have it
/// once in each.
static bool is_repeated(const kg_gmsh *g, int32_t number, const kg_gmsh_type *type,
                        int32_t physical, const int64_t *nodes)
{
  const kg_raw_mesh *raw = g->raw;
  const int64_t before = raw->n_elements - 1;
  if (g->version != KG_GMSH_22 || before < 0 || g->types[before] != number ||
      raw->regions[before] == physical)
    return false;
  for (int i = 0; i < type->n_corners; ++i)
    if (kg_raw_corners(raw, before)[i] != kg_gmsh_vertex(&g->map, nodes[i])) return false;
  return true;
}

/// Store an element for which there is room. Points, in space lines, facets without a group, and
/// nodes of lines between their ends, which are nodes of elements too, are of no use.
static kedge_status put_element(kg_gmsh *g, int32_t number, const kg_gmsh_type *type,
                                int32_t physical, const int64_t *nodes)
{
  kg_raw_mesh *raw = g->raw;
  const int d = raw->dimension;
  if (is_element(g, type) && is_repeated(g, number, type, physical, nodes)) {
    raw->n_shared += raw->n_elements != g->last_shared;
    g->last_shared = raw->n_elements;
    KG_TRY(add_overlap(g, raw->regions[raw->n_elements - 1], physical,
                       kg_gmsh_vertex(&g->map, nodes[0])));
  } else if (is_element(g, type)) {
    int32_t *v = raw->corners + raw->width * raw->n_elements;
    const int n_between = type->n_nodes - type->n_corners;
    v[raw->width - 1] = -1;  // of a triangle among quadrilaterals
    KG_TRY(find_vertices(g, type->n_corners, nodes, v));
    if (n_between > 0)
      KG_TRY(find_vertices(g, n_between, nodes + type->n_corners, g->between + g->n_between));
    g->n_between += n_between;
    g->types[raw->n_elements] = (uint8_t)number;
    if (raw->element_lines) raw->element_lines[raw->n_elements] = g->scan.line;
    raw->regions[raw->n_elements++] = physical;
  } else if (is_facet(g, type) && physical != 0) {
    KG_TRY(find_vertices(g, d, nodes, raw->lines + d * raw->n_lines));
    raw->line_tags[raw->n_lines++] = physical;
  }
  return KEDGE_OK;
}

/// Tags of elements of 2.2: physical group, entity, number of partitions, the first of these,
/// others.
enum { N_PARTITIONS_22 = 2, PARTITION_22, TAGS_22 };

static int32_t partition_22(const int32_t tags[TAGS_22])
{
  return tags[N_PARTITIONS_22] > 0 ? tags[PARTITION_22] : 0;
}

/// 2.2, text: (number, type, n_tags, tags, nodes); the first tag is the physical group.
static kedge_status read_line_22(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  int64_t number, n_tags, nodes[KG_NODES_MAX];
  int32_t type, tags[TAGS_22] = {0}, physical;
  kg_gmsh_type what;
  KG_TRY(kg_text_int(s, &number));
  KG_TRY(kg_scan_int32(s, &type));
  KG_TRY(kg_text_int(s, &n_tags));
  KG_TRY(find_type(g, type, &what));
  KG_TRY(kg_scan_plausible(s, n_tags, 2, "tags"));
  for (int64_t i = 0; i < n_tags && i < TAGS_22; ++i) KG_TRY(kg_scan_int32(s, &tags[i]));
  if (n_tags > TAGS_22) KG_TRY(kg_scan_skip(s, n_tags - TAGS_22, sizeof *tags));
  if (is_element(g, &what)) kg_gmsh_note_partition(g, partition_22(tags));
  const kg_scan line = *s;
  kedge_status status = KEDGE_OK;
  for (int i = 0; status == KEDGE_OK && i < what.n_nodes; ++i) status = kg_text_int(s, &nodes[i]);
  KG_TRY(kg_gmsh_check_nodes(&line, type, &what, status));
  KG_TRY(kg_gmsh_group(s, tags[0], &physical));
  KG_TRY(reserve(g, &what, 1));
  KG_TRY(put_element(g, type, &what, physical, nodes));
  return kg_gmsh_check_nodes(&line, type, &what, kg_text_line_end(s));
}

/// 2.2, binary: (type, n, n_tags), then n times (number, tags, nodes).
static kedge_status read_binary_22(kg_gmsh *g, int64_t n_left, int64_t *n_read)
{
  kg_scan *s = &g->scan;
  int32_t type, n, n_tags;
  kg_gmsh_type what;
  KG_TRY(kg_scan_int32(s, &type));
  KG_TRY(kg_scan_int32(s, &n));
  KG_TRY(kg_scan_int32(s, &n_tags));
  KG_TRY(find_type(g, type, &what));
  if (n < 1 || n > n_left)
    return KG_SCAN_FAIL(s,
                        "a block of %d elements does not fit the %lld elements that are left; the "
                        "file is damaged",
                        n, (long long)n_left);
  KG_TRY(kg_scan_plausible(s, n_tags, sizeof n, "tags"));
  const size_t bytes = sizeof n * (1 + (size_t)n_tags + (size_t)what.n_nodes);
  KG_TRY(kg_scan_plausible(s, n, bytes, "elements"));
  KG_TRY(reserve(g, &what, n));
  for (int32_t i = 0; i < n; ++i) {
    const char *record;
    int32_t tags[TAGS_22] = {0}, words[KG_NODES_MAX], physical;
    KG_TRY(kg_scan_bytes(s, bytes, &record));
    const size_t n_known = n_tags < TAGS_22 ? (size_t)n_tags : TAGS_22;
    memcpy(tags, record + sizeof *tags, n_known * sizeof *tags);
    memcpy(words, record + sizeof n * (1 + (size_t)n_tags), sizeof n * (size_t)what.n_nodes);
    if (is_element(g, &what)) kg_gmsh_note_partition(g, partition_22(tags));
    int64_t nodes[KG_NODES_MAX];
    for (int k = 0; k < what.n_nodes; ++k) nodes[k] = words[k];
    KG_TRY(kg_gmsh_group(s, tags[0], &physical));
    KG_TRY(put_element(g, type, &what, physical, nodes));
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

/// Tags of elements and nodes: of 4 bytes in 4.0, of 8 in 4.1.
static kedge_status read_tag(kg_gmsh *g, int64_t *tag)
{
  if (g->version == KG_GMSH_41) return kg_scan_int64(&g->scan, tag);
  int32_t short_tag;
  KG_TRY(kg_scan_int32(&g->scan, &short_tag));
  *tag = short_tag;
  return KEDGE_OK;
}

/// A facet in several groups is there once for each: which lie inside of the domain is not known
/// yet.
static kedge_status repeat_facet(kg_gmsh *g, const kg_entity *entity)
{
  kg_raw_mesh *raw = g->raw;
  KG_TRY(reserve_lines(g, entity->n_more + 1));  // and the next line of the block
  const int d = raw->dimension;
  const int32_t *line = raw->lines + d * (raw->n_lines - 1);
  for (int64_t i = 0; i < entity->n_more; ++i) {
    memcpy(raw->lines + d * raw->n_lines, line, (size_t)d * sizeof *line);
    raw->line_tags[raw->n_lines++] = g->more_groups[entity->more + i];
  }
  return KEDGE_OK;
}

/// The groups of an entity of elements that do not count, once.
static kedge_status share_elements(kg_gmsh *g, kg_entity *entity, int64_t node)
{
  int32_t vertex;
  KG_TRY(find_vertices(g, 1, &node, &vertex));
  for (int64_t i = 0; i < entity->n_more; ++i)
    KG_TRY(add_overlap(g, entity->physical, g->more_groups[entity->more + i], vertex));
  entity->is_shared = false;
  return KEDGE_OK;
}

/// A block: (dimension, entity, type, n), in 4.0 (entity, dimension, type, n), then n times
/// (number, nodes).
static kedge_status read_block(kg_gmsh *g, int64_t n_left, int64_t *n_read)
{
  kg_scan *s = &g->scan;
  const bool is_40 = g->version == KG_GMSH_40;
  int32_t dimension, entity, type;
  int64_t n;
  kg_gmsh_type what;
  KG_TRY(kg_scan_int32(s, is_40 ? &entity : &dimension));
  KG_TRY(kg_scan_int32(s, is_40 ? &dimension : &entity));
  KG_TRY(kg_scan_int32(s, &type));
  KG_TRY(kg_scan_int64(s, &n));
  KG_TRY(find_type(g, type, &what));
  if (n < 0 || n > n_left)
    return KG_SCAN_FAIL(
        s,
        "a block of %lld elements does not fit the %lld elements that are left; the "
        "file is damaged",
        (long long)n, (long long)n_left);
  const size_t tag_bytes = !s->binary ? 2 : is_40 ? sizeof(int32_t) : sizeof(int64_t);
  KG_TRY(kg_scan_plausible(s, n, tag_bytes * (1 + (size_t)what.n_nodes), "elements"));
  kg_entity *found = kg_gmsh_find_entity(g, dimension, entity);
  const bool is_ghost = found && found->is_ghost;
  if (!is_ghost) KG_TRY(reserve(g, &what, n));
  KG_TRY(kg_scan_record_end(s));
  const bool are_elements = is_element(g, &what);
  if (are_elements && is_ghost) g->raw->n_ghosts += n;
  if (are_elements && !is_ghost && n > 0) kg_gmsh_note_partition(g, found ? found->partition : 0);
  const int32_t physical = found ? found->physical : 0;
  const bool is_shared = found && found->n_more > 0;
  if (is_shared && are_elements) g->raw->n_shared += n;
  for (int64_t i = 0; i < n; ++i) {
    int64_t number, nodes[KG_NODES_MAX];
    KG_TRY(read_tag(g, &number));
    const kg_scan line = *s;
    kedge_status status = KEDGE_OK;
    for (int k = 0; status == KEDGE_OK && k < what.n_nodes; ++k) status = read_tag(g, &nodes[k]);
    KG_TRY(kg_gmsh_check_nodes(&line, type, &what, status));
    if (!is_ghost) KG_TRY(put_element(g, type, &what, physical, nodes));
    if (is_shared && physical != 0 && is_facet(g, &what)) KG_TRY(repeat_facet(g, found));
    if (is_shared && are_elements && found->is_shared) KG_TRY(share_elements(g, found, nodes[0]));
    KG_TRY(kg_gmsh_check_nodes(&line, type, &what, kg_scan_record_end(s)));
  }
  *n_read = n;
  return KEDGE_OK;
}

/// (blocks, elements, and in 4.1 smallest tag, largest tag), then the blocks.
static kedge_status read_blocks(kg_gmsh *g)
{
  kg_scan *s = &g->scan;
  int64_t n_blocks, n, n_read;
  KG_TRY(kg_scan_int64(s, &n_blocks));
  KG_TRY(kg_scan_int64(s, &n));
  if (g->version == KG_GMSH_41) KG_TRY(kg_scan_skip(s, 2, sizeof(int64_t)));
  KG_TRY(kg_scan_plausible(s, n_blocks, 8, "blocks"));
  KG_TRY(kg_scan_plausible(s, n, 4, "elements"));
  KG_TRY(kg_scan_record_end(s));
  kg_gmsh_sort_entities(g);
  for (int64_t k = 0; k < n_blocks; ++k) {
    KG_TRY(read_block(g, n, &n_read));
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
  KG_TRY(kg_gmsh_find_dimension(g));
  return g->version == KG_GMSH_22 ? read_22(g) : read_blocks(g);
}
