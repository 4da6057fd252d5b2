// Format 4.1, with complete sets of nodes where elements are curved. One node block, one curve, or
// surface in space, for each boundary group, one surface, or volume, for each region. Elements are
// written in runs of one region and
// shape, so that they keep their order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/number.h"
#include "core/target.h"
#include "mesh/build.h"
#include "mesh/gmsh.h"
#include "mesh/nodes.h"

typedef struct writer {
  FILE *stream;
  bool binary;
  const kedge_mesh *mesh;
  const kg_raw_mesh *raw;
  int n_groups[4];         ///< [dimension]
  int32_t *line_edge;      ///< [line]: its edge; of curved meshes
  int64_t n_nodes;         ///< vertices first, then nodes of edges, then those inside elements
  double *nodes;           ///< [node][dimension]; the vertices of `raw` where it is straight
  int line_width;          ///< nodes of a line, or of a face
  int element_width;       ///< most nodes of an element
  int32_t *line_nodes;     ///< [line][line_width], in the order of Gmsh
  int32_t *element_nodes;  ///< [element][element_width] likewise; the last of a triangle among
                           ///< quadrilaterals is -1
} writer;

static void put_int(const writer *w, int32_t value, char after)
{
  if (w->binary)
    fwrite(&value, sizeof value, 1, w->stream);
  else
    fprintf(w->stream, "%d%c", value, after);
}

static void put_count(const writer *w, int64_t value, char after)
{
  if (w->binary)
    fwrite(&value, sizeof value, 1, w->stream);
  else
    fprintf(w->stream, "%lld%c", (long long)value, after);
}

/// Text: as few digits as give the same number back.
static void put_double(const writer *w, double value, char after)
{
  if (w->binary) {
    fwrite(&value, sizeof value, 1, w->stream);
    return;
  }
  char text[32];
  kg_number_print(text, value);
  fprintf(w->stream, "%s%c", text, after);
}

static void end_section(const writer *w, const char *name)
{
  fprintf(w->stream, "%s$End%s\n", w->binary ? "\n" : "", name);
}

static void put_format(const writer *w)
{
  fprintf(w->stream, "$MeshFormat\n4.1 %d 8\n", w->binary);
  if (w->binary) put_int(w, 1, '\n');
  end_section(w, "MeshFormat");
}

static void put_names(const writer *w)
{
  if (w->raw->n_names == 0) return;
  fprintf(w->stream, "$PhysicalNames\n%d\n", w->raw->n_names);
  for (int i = 0; i < w->raw->n_names; ++i) {
    const struct kg_raw_name *name = &w->raw->names[i];
    fprintf(w->stream, "%d %d \"%s\"\n", name->dimension, name->tag, name->name);
  }
  fprintf(w->stream, "$EndPhysicalNames\n");
}

/// Order of the groups of a dimension: by tag, but facets without a group come last.
static uint32_t rank_of(const writer *w, int dimension, int32_t tag)
{
  return dimension < w->mesh->dimension ? (uint32_t)tag - 1 : (uint32_t)tag;
}

/// Entity of the group of a tag: numbered from 1 in its dimension.
static int entity_of(const writer *w, int dimension, int32_t tag)
{
  const bool of_facets = dimension < w->mesh->dimension;
  const kg_group *groups = w->mesh->groups + (of_facets ? 0 : w->n_groups[dimension - 1]);
  int begin = 0, end = w->n_groups[dimension];
  while (end - begin > 1) {
    const int middle = begin + (end - begin) / 2;
    if (rank_of(w, dimension, groups[middle].tag) <= rank_of(w, dimension, tag))
      begin = middle;
    else
      end = middle;
  }
  return begin + 1;
}

static void put_entity(const writer *w, const kg_group *group, int entity)
{
  const kedge_mesh_info *info = &w->mesh->info;
  put_int(w, entity, ' ');
  for (int k = 0; k < 3; ++k) put_double(w, info->low[k], ' ');
  for (int k = 0; k < 3; ++k) put_double(w, info->high[k], ' ');
  put_count(w, group->tag != 0, ' ');
  if (group->tag != 0) put_int(w, group->tag, ' ');
  put_count(w, 0, '\n');  // nothing is said about what bounds it
}

static void put_entities(const writer *w)
{
  const kg_group *group = w->mesh->groups;
  fprintf(w->stream, "$Entities\n");
  for (int d = 0; d < 4; ++d) put_count(w, w->n_groups[d], d < 3 ? ' ' : '\n');
  for (int d = w->mesh->dimension - 1; d <= w->mesh->dimension; ++d)
    for (int i = 0; i < w->n_groups[d]; ++i) put_entity(w, group++, i + 1);
  end_section(w, "Entities");
}

/// (dimension, entity, type or parametric, count): begins a block of nodes or elements.
static void put_block(const writer *w, int dimension, int entity, int third, int64_t n)
{
  put_int(w, dimension, ' ');
  put_int(w, entity, ' ');
  put_int(w, third, ' ');
  put_count(w, n, '\n');
}

static void put_totals(const writer *w, int64_t n_blocks, int64_t n)
{
  put_count(w, n_blocks, ' ');
  put_count(w, n, ' ');
  put_count(w, 1, ' ');
  put_count(w, n, '\n');
}

static void put_nodes(const writer *w)
{
  const int64_t n = w->n_nodes;
  fprintf(w->stream, "$Nodes\n");
  put_totals(w, 1, n);
  const int d = w->mesh->dimension;
  put_block(w, d, 1, 0, n);
  for (int64_t v = 0; v < n; ++v) put_count(w, v + 1, '\n');
  for (int64_t v = 0; v < n; ++v) {
    for (int k = 0; k < 3; ++k) put_double(w, k < d ? w->nodes[d * v + k] : 0, k < 2 ? ' ' : '\n');
  }
  end_section(w, "Nodes");
}

/// Facets or elements as the file has them.
typedef struct items {
  int dimension;
  int64_t n;
  const int32_t *tags, *vertices;
  int width;  ///< of vertices
} items;

static kg_gmsh_kind kind_of(const writer *w, const items *list, int64_t i)
{
  if (list->dimension == 1) return KG_GMSH_LINE;
  if (list->dimension == 3) return KG_GMSH_TETRAHEDRON;
  const bool is_triangle =
      list->width == 3 || w->raw->width == 3 || list->vertices[list->width * (i + 1) - 1] < 0;
  return is_triangle ? KG_GMSH_TRIANGLE : KG_GMSH_QUADRILATERAL;
}

static int nodes_of(const writer *w, const items *list, int64_t i)
{
  return kind_of(w, list, i) == KG_GMSH_TRIANGLE ? kg_triangle.n_modes(w->mesh->geometry)
                                                 : list->width;
}

/// End of the run of items of one tag and one type that begins at `begin`.
static int64_t run_end(const writer *w, const items *list, int64_t begin)
{
  int64_t end = begin + 1;
  while (end < list->n && list->tags[end] == list->tags[begin] &&
         kind_of(w, list, end) == kind_of(w, list, begin))
    ++end;
  return end;
}

static int64_t count_runs(const writer *w, const items *list)
{
  int64_t runs = 0;
  for (int64_t i = 0; i < list->n; i = run_end(w, list, i)) ++runs;
  return runs;
}

/// Write the items, numbered on from *number.
static void put_items(const writer *w, const items *list, int64_t *number)
{
  for (int64_t begin = 0, end; begin < list->n; begin = end) {
    end = run_end(w, list, begin);
    const int n_nodes = nodes_of(w, list, begin), d = list->dimension;
    const int type = kg_gmsh_type_number(kind_of(w, list, begin), w->mesh->geometry);
    put_block(w, d, entity_of(w, d, list->tags[begin]), type, end - begin);
    for (int64_t i = begin; i < end; ++i) {
      put_count(w, ++*number, ' ');
      for (int k = 0; k < n_nodes; ++k)
        put_count(w, (int64_t)list->vertices[list->width * i + k] + 1,
                  k == n_nodes - 1 ? '\n' : ' ');
    }
  }
}

static void put_elements(const writer *w)
{
  const kg_raw_mesh *raw = w->raw;
  const int d = raw->dimension;
  const items lines = {d - 1, raw->n_lines, raw->line_tags, w->line_nodes, w->line_width};
  const items elements = {d, raw->n_elements, raw->regions, w->element_nodes, w->element_width};
  int64_t number = 0;
  fprintf(w->stream, "$Elements\n");
  put_totals(w, count_runs(w, &lines) + count_runs(w, &elements), raw->n_lines + raw->n_elements);
  put_items(w, &lines, &number);
  put_items(w, &elements, &number);
  end_section(w, "Elements");
}

static void write_stream(FILE *stream, void *user)
{
  writer *w = user;
  w->stream = stream;
  put_format(w);
  put_names(w);
  put_entities(w);
  put_nodes(w);
  put_elements(w);
}

/// Numbers by which lines are sorted: the tag, three vertices, of which the third is 0 in the
/// plane, the edge.
enum { RECORD = 5 };

/// Boundary edges come in edge order; runs of one group make longer blocks.
static int compare_tags(const void *a, const void *b)
{
  const int32_t *p = a, *q = b;
  for (int i = 0; i < RECORD; ++i)
    if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
  return 0;
}

/// Sort lines, which are in the order of their edges, by (tag, vertices).
static kedge_status sort_lines(kedge_context *ctx, writer *w, kg_raw_mesh *raw)
{
  int32_t(*records)[RECORD];
  const int d = raw->dimension;
  KG_TRY(kg_host_alloc(ctx, (size_t)raw->n_lines, sizeof *w->line_edge, &w->line_edge));
  KG_TRY(kg_host_alloc(ctx, (size_t)raw->n_lines, sizeof *records, &records));
  int32_t edge = 0;
  for (int64_t i = 0; i < raw->n_lines; ++i, ++edge) {
    while (kg_group_of_edge(w->mesh->edge_group[edge]) < 0) ++edge;
    records[i][0] = raw->line_tags[i];
    records[i][3] = 0;
    memcpy(&records[i][1], raw->lines + d * i, (size_t)d * sizeof(int32_t));
    records[i][4] = edge;
  }
  qsort(records, (size_t)raw->n_lines, sizeof *records, compare_tags);
  for (int64_t i = 0; i < raw->n_lines; ++i) {
    raw->line_tags[i] = records[i][0];
    memcpy(raw->lines + d * i, &records[i][1], (size_t)d * sizeof(int32_t));
    w->line_edge[i] = records[i][4];
  }
  free(records);
  return KEDGE_OK;
}

/// Number of node k, 0 < k < geometry, of an edge, along its first side.
static int32_t node_of_edge(const writer *w, int32_t edge, int k)
{
  return w->mesh->n_vertices + edge * (w->mesh->geometry - 1) + k - 1;
}

/// Numbers of the nodes of an element, in the order of kedge. @param[in,out] next  inside elements
static void number_element(const writer *w, int32_t e, int32_t *next, int32_t *number)
{
  const kedge_mesh *mesh = w->mesh;
  const kg_cell *cell = kg_block_of(mesh, e)->cell;
  const int g = mesh->geometry, V = cell->n_vertices;
  memcpy(number, kg_raw_corners(w->raw, mesh->element_origin[e]), (size_t)V * sizeof *number);
  for (int k = V * g; k < cell->n_modes(g); ++k) number[k] = (*next)++;
  for (int l = 0; l < V; ++l) {
    int node[KG_GEOMETRY_MAX + 1];
    const int32_t edge = (int32_t)(kg_element_edges(mesh, e)[l] >> 1);
    const bool first = mesh->edge_sides[2 * (int64_t)edge] == kg_side_of(e, l);
    kg_facet_nodes(cell, g, l, node);
    for (int k = 1; k < g; ++k) number[node[k]] = node_of_edge(w, edge, first ? k : g - k);
  }
}

static void list_lines(const writer *w)
{
  const kg_raw_mesh *raw = w->raw;
  for (int64_t i = 0; i < raw->n_lines; ++i) {
    int32_t *to = w->line_nodes + w->line_width * i;
    memcpy(to, raw->lines + 2 * i, 2 * sizeof *to);
    for (int k = 1; k < w->mesh->geometry; ++k) to[k + 1] = node_of_edge(w, w->line_edge[i], k);
  }
}

/// @param[in] next  number of the first node inside an element
static void list_elements(const writer *w, int32_t next)
{
  const kedge_mesh *mesh = w->mesh;
  int order[KG_BLOCKS_MAX][KG_NODES_MAX];
  for (int b = 0; b < mesh->n_blocks; ++b)
    kg_gmsh_node_order(mesh->block[b].cell, mesh->geometry, order[b]);
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    int32_t number[KG_NODES_MAX];
    const kg_block *block = kg_block_of(mesh, e);
    int32_t *to = w->element_nodes + w->element_width * (int64_t)mesh->element_origin[e];
    number_element(w, e, &next, number);
    to[w->element_width - 1] = -1;  // of a triangle among quadrilaterals
    for (int k = 0; k < block->cell->n_modes(mesh->geometry); ++k) {
      memcpy(w->nodes + 2 * (int64_t)number[k], kg_element_nodes(mesh, e) + 2 * k,
             2 * sizeof(double));
      to[k] = number[order[block - mesh->block][k]];
    }
  }
}

/// Nodes of curved elements, once where neighbours share them, and the lists of all.
static kedge_status number_nodes(kedge_context *ctx, writer *w)
{
  const kedge_mesh *mesh = w->mesh;
  const int g = mesh->geometry;
  const int64_t on_edges = mesh->n_vertices + (int64_t)mesh->n_edges * (g - 1);
  int64_t n = on_edges;
  for (int b = 0; b < mesh->n_blocks; ++b) {
    const kg_cell *cell = mesh->block[b].cell;
    n += (int64_t)mesh->block[b].n * (cell->n_modes(g) - cell->n_vertices * g);
  }
  KG_REQUIRE(ctx, n <= INT32_MAX, KEDGE_ERR_INPUT,
             "%s: %lld nodes are more than kedge can number; refine less", mesh->source,
             (long long)n);
  w->n_nodes = n;
  w->line_width = g + 1;
  w->element_width = kg_raw_stride(w->raw);
  KG_TRY(kg_host_alloc(ctx, (size_t)n, 2 * sizeof(double), &w->nodes));
  KG_TRY(kg_host_alloc(ctx, (size_t)w->raw->n_lines * (size_t)w->line_width, sizeof(int32_t),
                       &w->line_nodes));
  KG_TRY(kg_host_alloc(ctx, (size_t)w->raw->n_elements * (size_t)w->element_width, sizeof(int32_t),
                       &w->element_nodes));
  list_lines(w);
  list_elements(w, (int32_t)on_edges);
  return KEDGE_OK;
}

kedge_status kedge_mesh_write(kedge_context *ctx, const kedge_mesh *mesh, const char *path,
                              bool binary)
{
  KG_REQUIRE(ctx, ctx && mesh && path, KEDGE_ERR_ARG,
             "kedge_mesh_write: ctx, mesh or path is NULL");
  kg_raw_mesh raw;
  KG_TRY(kg_mesh_to_raw(ctx, mesh, &raw));
  writer w = {.binary = binary,
              .mesh = mesh,
              .raw = &raw,
              .n_nodes = raw.n_vertices,
              .nodes = raw.vertices,
              .line_width = raw.dimension,
              .element_width = raw.width,
              .line_nodes = raw.lines,
              .element_nodes = raw.corners};
  for (int i = 0; i < mesh->n_groups; ++i) ++w.n_groups[mesh->groups[i].dimension];
  if (mesh->nodes) {  // number_nodes() makes them
    w.nodes = NULL;
    w.line_nodes = w.element_nodes = NULL;
  }
  if (mesh->dimension == 3) kg_space_turn_outward(mesh, &raw);
  kedge_status status = sort_lines(ctx, &w, &raw);
  if (status == KEDGE_OK && mesh->nodes) status = number_nodes(ctx, &w);
  if (status == KEDGE_OK) status = kg_target_stream(ctx, path, "mesh", write_stream, &w);
  if (mesh->nodes) {
    free(w.nodes);
    free(w.line_nodes);
    free(w.element_nodes);
  }
  free(w.line_edge);
  kg_raw_mesh_free(&raw);
  return status;
}
