#include "mesh/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "mesh/nodes.h"

void kg_raw_mesh_free(kg_raw_mesh *raw)
{
  for (int i = 0; i < raw->n_names; ++i) free(raw->names[i].name);
  kg_overlaps_free(&raw->overlaps);
  for (int d = 0; d < 2; ++d) free(raw->lost[d]);
  free(raw->names);
  free(raw->vertices);
  free(raw->corners);
  free(raw->nodes);
  free(raw->regions);
  free(raw->lines);
  free(raw->line_tags);
  free(raw->element_lines);
  *raw = (kg_raw_mesh){0};
}

enum {
  // Host memory a triangle at the highest, raw mesh and all: the resident memory of `kedge plan` on
  // `square 1000` and on `square 2000`, less that on `square 10`.
  ELEMENT_BYTES = 102,
  // kg_mesh_build() takes ELEMENT_BYTES less those of the raw mesh, on files of `square 1000`.
  BUILD_BYTES = 82,
  // Host memory a quadrilateral at the highest: the resident memory of `kedge mesh info` on files
  // of `quads 1000` (on files of `square 1000` it is 103 bytes a triangle). For kg_mesh_build()
  // corners, region and vertex of each quadrilateral in the raw mesh, 36 bytes, are subtracted.
  QUADRILATERAL_BYTES = 144,
  QUADRILATERAL_BUILD = 108,
  // Likewise a tetrahedron, of `cube 80`, and less corners, region and vertex, 24 bytes.
  TETRAHEDRON_BYTES = 182,
  TETRAHEDRON_BUILD = 158,
};

kedge_status kg_mesh_check_memory(kedge_context *ctx, const char *source, const kg_cell *cell,
                                  int geometry, int64_t n_elements, bool raw_exists)
{
  static const int64_t bytes[KG_CELL_KINDS][2] = {{ELEMENT_BYTES, BUILD_BYTES},
                                                  {QUADRILATERAL_BYTES, QUADRILATERAL_BUILD},
                                                  {TETRAHEDRON_BYTES, TETRAHEDRON_BUILD}};
  const int64_t each = bytes[kg_cell_index(cell)][raw_exists];
  const int n_nodes = geometry > 1 ? cell->n_modes(geometry) * (raw_exists ? 1 : 2) : 0;
  const double need = (double)(each + n_nodes * (int64_t)(2 * sizeof(double))) * (double)n_elements;
  const double available = (double)kg_memory_available("");
  KG_REQUIRE(ctx, need <= available, KEDGE_ERR_MEMORY,
             "%s: to make a mesh of %lld %s takes %.2f GB of host memory and %.2f GB are free; "
             "use a smaller mesh",
             source, (long long)n_elements, cell->plural, 1e-9 * need, 1e-9 * available);
  return KEDGE_OK;
}

kedge_status kg_raw_mesh_alloc(kedge_context *ctx, int dimension, int64_t n_vertices,
                               int64_t n_elements, int width, int64_t n_lines, kg_raw_mesh *out)
{
  *out = (kg_raw_mesh){.dimension = dimension,
                       .n_vertices = n_vertices,
                       .n_elements = n_elements,
                       .n_lines = n_lines,
                       .width = width,
                       .geometry = 1};
  const struct {
    int64_t count;
    size_t size;
    void *to;
  } arrays[] = {
      {n_vertices, (size_t)dimension * sizeof(double), &out->vertices},
      {n_elements, (size_t)width * sizeof(int32_t), &out->corners},
      {n_elements, sizeof(int32_t), &out->regions},
      {n_lines, (size_t)dimension * sizeof(int32_t), &out->lines},
      {n_lines, sizeof(int32_t), &out->line_tags},
  };
  kedge_status status = KEDGE_OK;
  for (size_t i = 0; status == KEDGE_OK && i < sizeof arrays / sizeof *arrays; ++i)
    status = kg_host_alloc(ctx, (size_t)arrays[i].count, arrays[i].size, arrays[i].to);
  if (status != KEDGE_OK) kg_raw_mesh_free(out);
  return status;
}

kedge_status kg_raw_mesh_alloc_nodes(kedge_context *ctx, int geometry, kg_raw_mesh *raw)
{
  raw->geometry = geometry;
  return kg_host_alloc(ctx, (size_t)raw->n_elements * (size_t)kg_raw_stride(raw),
                       2 * sizeof(double), &raw->nodes);
}

kedge_status kg_raw_mesh_set_geometry(kedge_context *ctx, int geometry, kg_raw_mesh *raw)
{
  const int before = raw->nodes ? raw->geometry : 1;
  kg_raw_mesh from = *raw;
  kg_node_matrix triangle, quadrilateral;
  kg_node_matrix_raise(&kg_triangle, before, geometry, &triangle);
  kg_node_matrix_raise(&kg_quadrilateral, before, geometry, &quadrilateral);
  raw->nodes = NULL;
  const kedge_status status = kg_raw_mesh_alloc_nodes(ctx, geometry, raw);
  for (int64_t e = 0; status == KEDGE_OK && e < raw->n_elements; ++e) {
    const kg_cell *cell = kg_raw_cell(raw, e);
    const int32_t *v = kg_raw_corners(raw, e);
    double corner[KG_FACETS_MAX][2];
    for (int i = 0; i < cell->n_vertices && !from.nodes; ++i)
      memcpy(corner[i], raw->vertices + 2 * (int64_t)v[i], sizeof corner[i]);
    kg_nodes_make(cell == &kg_triangle ? &triangle : &quadrilateral,
                  from.nodes ? kg_raw_nodes(&from, e) : corner[0], kg_raw_nodes(raw, e));
  }
  free(from.nodes);
  return status;
}

/// The order of overlaps: by the groups, then by the place.
static int compare_overlaps(const void *x, const void *y)
{
  const kg_overlap *a = x, *b = y;
  if (a->dimension != b->dimension) return a->dimension < b->dimension ? -1 : 1;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  if (a->other != b->other) return a->other < b->other ? -1 : 1;
  if (a->at[0] != b->at[0]) return a->at[0] < b->at[0] ? -1 : 1;
  return (a->at[1] > b->at[1]) - (a->at[1] < b->at[1]);
}

static bool is_same(const kg_overlap *a, const kg_overlap *b)
{
  return a->dimension == b->dimension && a->first == b->first && a->other == b->other;
}

void kg_overlaps_unite(kg_overlaps *overlaps)
{
  kg_overlap *const item = overlaps->item;
  int64_t n = 0;
  if (overlaps->n > 1) qsort(item, (size_t)overlaps->n, sizeof *item, compare_overlaps);
  for (int64_t i = 0; i < overlaps->n; ++i)
    if (i == 0 || !is_same(&item[i], &item[n - 1])) item[n++] = item[i];
  overlaps->n = n;
}

kedge_status kg_overlaps_add(kedge_context *ctx, const kg_overlap *overlap, kg_overlaps *to)
{
  if (to->n > 0 && is_same(&to->item[to->n - 1], overlap)) return KEDGE_OK;
  const bool is_full = to->n == to->capacity;
  if (is_full) kg_overlaps_unite(to);
  if (is_full && to->n >= to->capacity / 2) {  // sorting again will take as many calls as the last
    const int64_t capacity = to->capacity ? 2 * to->capacity : 16;
    kg_overlap *item = realloc(to->item, (size_t)capacity * sizeof *item);
    KG_REQUIRE(ctx, item, KEDGE_ERR_MEMORY, "no host memory for %lld overlaps of physical groups",
               (long long)capacity);
    to->item = item;
    to->capacity = capacity;
  }
  to->item[to->n] = *overlap;
  to->item[to->n++].name = NULL;
  return KEDGE_OK;
}

void kg_overlaps_free(kg_overlaps *overlaps)
{
  for (int64_t i = 0; i < overlaps->n; ++i) free(overlaps->item[i].name);
  free(overlaps->item);
  *overlaps = (kg_overlaps){0};
}

const kg_overlap *kg_overlap_named(const kedge_mesh *mesh, int dimension, const char *name)
{
  const kg_overlaps *const all = &mesh->overlaps;
  for (int64_t i = 0; i < all->n; ++i) {
    const kg_overlap *o = &all->item[i];
    if (o->dimension == dimension && o->name && strcmp(name, o->name) == 0) return o;
  }
  for (int g = 0; g < mesh->n_groups; ++g) {
    const kg_group *group = &mesh->groups[g];
    char number[16];
    snprintf(number, sizeof number, "%d", group->tag);
    if (group->dimension == dimension && group->count > 0 && strcmp(group->name, name) == 0 &&
        strcmp(group->name, number) != 0)
      return NULL;
  }
  for (int64_t i = 0; i < all->n; ++i) {
    const kg_overlap *o = &all->item[i];
    char number[16];
    snprintf(number, sizeof number, "%d", o->other);
    if (o->dimension == dimension && strcmp(name, number) == 0) return o;
  }
  return NULL;
}

const char *kg_raw_mesh_name_of(const kg_raw_mesh *raw, int dimension, int32_t tag)
{
  for (int i = 0; tag != 0 && i < raw->n_names; ++i)
    if (raw->names[i].dimension == dimension && raw->names[i].tag == tag) return raw->names[i].name;
  return NULL;
}

kedge_status kg_raw_mesh_name(kedge_context *ctx, kg_raw_mesh *raw, int dimension, int32_t tag,
                              const char *name, size_t length)
{
  const size_t n = (size_t)raw->n_names;
  if ((n & (n - 1)) == 0) {  // full at every power of two
    struct kg_raw_name *names = realloc(raw->names, (n ? 2 * n : 1) * sizeof *names);
    KG_REQUIRE(ctx, names, KEDGE_ERR_MEMORY, "no host memory for %zu group names", n + 1);
    raw->names = names;
  }
  struct kg_raw_name *to = &raw->names[n];
  *to = (struct kg_raw_name){.dimension = dimension, .tag = tag};
  KG_TRY(kg_copy_text(ctx, name, length, &to->name));
  ++raw->n_names;
  return KEDGE_OK;
}

kedge_status kg_raw_mesh_names(kedge_context *ctx, kg_raw_mesh *raw, const kedge_mesh *mesh)
{
  for (int i = 0; i < mesh->n_groups; ++i) {
    const kg_group *group = &mesh->groups[i];
    char number[16];
    snprintf(number, sizeof number, "%d", group->tag);
    if (group->tag == 0 || strcmp(group->name, number) == 0) continue;
    KG_TRY(
        kg_raw_mesh_name(ctx, raw, group->dimension, group->tag, group->name, strlen(group->name)));
  }
  for (int64_t i = 0; i < mesh->overlaps.n; ++i) {
    const kg_overlap *overlap = &mesh->overlaps.item[i];
    KG_TRY(kg_overlaps_add(ctx, overlap, &raw->overlaps));
    if (overlap->name && !kg_raw_mesh_name_of(raw, overlap->dimension, overlap->other))
      KG_TRY(kg_raw_mesh_name(ctx, raw, overlap->dimension, overlap->other, overlap->name,
                              strlen(overlap->name)));
  }
  for (int d = 0; d < 2; ++d)
    if (mesh->lost[d])
      KG_TRY(kg_copy_text(ctx, mesh->lost[d], strlen(mesh->lost[d]), &raw->lost[d]));
  raw->n_ghosts = mesh->info.ghost_elements;
  raw->partition = mesh->info.partition;
  raw->n_partitions = mesh->info.partitions;
  raw->flattened = mesh->flattened;
  raw->is_polygon = mesh->is_polygon;
  raw->n_periodic = mesh->info.periodic_lines;
  raw->n_joined = mesh->info.joined_vertices;
  raw->n_shared = mesh->info.shared_elements;
  raw->n_shared_lines = mesh->info.shared_lines;
  return KEDGE_OK;
}

kedge_status kg_mesh_vertex_ranks(kedge_context *ctx, const kedge_mesh *mesh, int32_t **rank)
{
  *rank = NULL;
  int32_t largest = 0;
  for (int32_t v = 0; v < mesh->n_vertices; ++v)
    if (mesh->vertex_origin[v] > largest) largest = mesh->vertex_origin[v];
  int32_t *vertex_at;  // [caller's number]: vertex, -1 in gaps
  KG_TRY(kg_host_alloc(ctx, (size_t)largest + 1, sizeof *vertex_at, &vertex_at));
  const kedge_status status = kg_host_alloc(ctx, (size_t)mesh->n_vertices, sizeof **rank, rank);
  if (status == KEDGE_OK) {
    memset(vertex_at, 0xff, ((size_t)largest + 1) * sizeof *vertex_at);
    for (int32_t v = 0; v < mesh->n_vertices; ++v) vertex_at[mesh->vertex_origin[v]] = v;
    int32_t next = 0;
    for (int64_t i = 0; i <= largest; ++i)
      if (vertex_at[i] >= 0) (*rank)[vertex_at[i]] = next++;
  }
  free(vertex_at);
  return status;
}

/// Boundary edges, and those of a group, as lines along their elements.
static void lines_of(const kedge_mesh *mesh, const int32_t *rank, kg_raw_mesh *out)
{
  int64_t n = 0;
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) {
    const int32_t g = kg_group_of_edge(mesh->edge_group[edge]);
    if (g < 0) continue;
    int32_t v[3];
    kg_side_corners(mesh, mesh->edge_sides[2 * edge], v);
    for (int k = 0; k < mesh->dimension; ++k) out->lines[mesh->dimension * n + k] = rank[v[k]];
    out->line_tags[n++] = mesh->groups[g].tag;
  }
}

kedge_status kg_mesh_to_raw(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out)
{
  const int64_t dimension = mesh->dimension;
  int32_t *rank;
  KG_TRY(kg_raw_mesh_alloc(ctx, mesh->dimension, mesh->n_vertices, mesh->n_elements,
                           kg_mesh_width(mesh), mesh->n_boundary_edges + kg_mesh_inner_edges(mesh),
                           out));
  kedge_status status = kg_mesh_vertex_ranks(ctx, mesh, &rank);
  if (status == KEDGE_OK) status = kg_raw_mesh_names(ctx, out, mesh);
  if (status == KEDGE_OK && mesh->nodes) status = kg_raw_mesh_alloc_nodes(ctx, mesh->geometry, out);
  if (status != KEDGE_OK) goto done;
  for (int64_t v = 0; v < mesh->n_vertices; ++v)
    memcpy(out->vertices + dimension * rank[v], mesh->vertices + dimension * v,
           (size_t)dimension * sizeof(double));
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int64_t to = mesh->element_origin[e];
    const int32_t *v = kg_element_vertices(mesh, e);
    const int n = kg_block_of(mesh, e)->cell->n_vertices;
    for (int i = 0; i < out->width; ++i)
      out->corners[out->width * to + i] = i < n ? rank[v[i]] : -1;
    out->regions[to] = mesh->element_region[e];
    if (mesh->nodes)
      memcpy(kg_raw_nodes(out, to), kg_element_nodes(mesh, e),
             (size_t)kg_block_of(mesh, e)->cell->n_modes(mesh->geometry) * 2 * sizeof(double));
  }
  lines_of(mesh, rank, out);
done:
  free(rank);
  if (status != KEDGE_OK) kg_raw_mesh_free(out);
  return status;
}
