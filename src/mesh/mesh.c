#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/sized.h"

/// Arrays of the caller, of the plane or of space, and what the API calls them.
typedef struct given {
  const char *function, *elements, *lines, *line_tags;
  int dimension;
  kedge_mesh_arrays arrays;
  const int *name_dimensions;  ///< NULL: all names are of lines
} given;

/// Borrow the caller's arrays as a raw mesh; only the list of names is allocated.
static kedge_status raw_from_arrays(kedge_context *ctx, const given *from, kg_raw_mesh *raw)
{
  const kedge_mesh_arrays *const a = &from->arrays;
  *raw = (kg_raw_mesh){
      .dimension = from->dimension,
      .n_vertices = a->n_vertices,
      .n_elements = a->n_triangles,
      .n_lines = a->n_lines,
      .vertices = (double *)a->vertices,
      .width = from->dimension + 1,
      .corners = (int32_t *)a->triangles,
      .regions = (int32_t *)a->regions,
      .lines = (int32_t *)a->lines,
      .line_tags = (int32_t *)a->line_tags,
  };
  for (int i = 0; i < a->n_names; ++i) {
    const int d = from->name_dimensions ? from->name_dimensions[i] : from->dimension - 1;
    KG_TRY(kg_raw_mesh_name(ctx, raw, d, abs(a->name_tags[i]), a->names[i], strlen(a->names[i])));
  }
  return KEDGE_OK;
}

static void free_names(kg_raw_mesh *raw)
{
  kg_raw_mesh names = {.n_names = raw->n_names, .names = raw->names};
  kg_raw_mesh_free(&names);
}

/// Tags without their signs, which are orientations, as in files.
/// @param[in,out] tags  the caller's, NULL: none; where one is negative it becomes *copy
/// @param[out]    copy  the caller frees it
static kedge_status unsigned_tags(kedge_context *ctx, const char *function, const char *what,
                                  int64_t n, int32_t **tags, int32_t **copy)
{
  bool is_signed = false;
  for (int64_t i = 0; *tags && i < n; ++i) {
    KG_REQUIRE(ctx, (*tags)[i] > INT32_MIN, KEDGE_ERR_ARG, "%s: %s[%lld] is %d, which is no tag",
               function, what, (long long)i, (*tags)[i]);
    is_signed = is_signed || (*tags)[i] < 0;
  }
  if (!is_signed) return KEDGE_OK;
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof **copy, copy));
  for (int64_t i = 0; i < n; ++i) (*copy)[i] = abs((*tags)[i]);
  *tags = *copy;
  return KEDGE_OK;
}

static kedge_status check_names(kedge_context *ctx, const given *from)
{
  const kedge_mesh_arrays *const a = &from->arrays;
  KG_REQUIRE(ctx, (a->names && a->name_tags) || a->n_names == 0, KEDGE_ERR_ARG,
             "%s: names or name_tags is NULL although n_names is not 0", from->function);
  for (int i = 0; i < a->n_names; ++i) {
    KG_REQUIRE(ctx, a->names[i] && *a->names[i], KEDGE_ERR_ARG, "%s: names[%d] is NULL or empty",
               from->function, i);
    KG_REQUIRE(ctx, !a->names[i][strcspn(a->names[i], "\"\r\n")], KEDGE_ERR_ARG,
               "%s: names[%d] holds a quotation mark or a line end", from->function, i);
    KG_REQUIRE(ctx, a->name_tags[i] != 0 && a->name_tags[i] > INT32_MIN, KEDGE_ERR_ARG,
               "%s: name_tags[%d] is %d, which is no group", from->function, i, a->name_tags[i]);
    const int d = from->name_dimensions ? from->name_dimensions[i] : from->dimension;
    KG_REQUIRE(ctx, d == from->dimension - 1 || d == from->dimension, KEDGE_ERR_ARG,
               "%s: name_dimensions[%d] is %d, and groups are of dimension %d or %d",
               from->function, i, d, from->dimension - 1, from->dimension);
  }
  return KEDGE_OK;
}

static kedge_status check_arrays(kedge_context *ctx, const given *from)
{
  const kedge_mesh_arrays *const a = &from->arrays;
  KG_REQUIRE(ctx, a->n_vertices >= 0 && a->n_triangles >= 0 && a->n_lines >= 0 && a->n_names >= 0,
             KEDGE_ERR_ARG, "%s: a count is negative", from->function);
  KG_REQUIRE(
      ctx,
      a->n_vertices <= INT32_MAX && a->n_triangles <= KG_ELEMENTS_MAX && a->n_lines <= INT32_MAX,
      KEDGE_ERR_INPUT,
      "arrays: %lld vertices, %lld %s and %lld %s are more than kedge can number "
      "(%d, %d and %d)",
      (long long)a->n_vertices, (long long)a->n_triangles, from->elements, (long long)a->n_lines,
      from->lines, INT32_MAX, KG_ELEMENTS_MAX, INT32_MAX);
  KG_REQUIRE(ctx, (a->vertices || a->n_vertices == 0) && (a->triangles || a->n_triangles == 0),
             KEDGE_ERR_ARG, "%s: vertices or %s is NULL", from->function, from->elements);
  KG_REQUIRE(ctx, (a->lines && a->line_tags) || a->n_lines == 0, KEDGE_ERR_ARG,
             "%s: %s or %s is NULL although n_%s is not 0", from->function, from->lines,
             from->line_tags, from->lines);
  return check_names(ctx, from);
}

static kedge_status create(kedge_context *ctx, const given *from, kedge_mesh **out)
{
  const double began = kg_seconds();
  KG_TRY(check_arrays(ctx, from));
  kg_raw_mesh raw;
  int32_t *line_tags = NULL, *regions = NULL;
  kedge_status status = raw_from_arrays(ctx, from, &raw);
  if (status == KEDGE_OK)
    status = unsigned_tags(ctx, from->function, from->line_tags, raw.n_lines, &raw.line_tags,
                           &line_tags);
  if (status == KEDGE_OK)
    status = unsigned_tags(ctx, from->function, "regions", raw.n_elements, &raw.regions, &regions);
  if (status == KEDGE_OK) status = kg_mesh_build(ctx, &raw, "arrays", out);
  free(line_tags);
  free(regions);
  free_names(&raw);
  if (status == KEDGE_OK) (*out)->seconds = kg_seconds() - began;
  return status;
}

kedge_status kedge_mesh_create(kedge_context *ctx, const kedge_mesh_arrays *arrays,
                               kedge_mesh **out)
{
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_mesh_create: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && arrays, KEDGE_ERR_ARG, "kedge_mesh_create: ctx or arrays is NULL");
  const given from = {"kedge_mesh_create", "triangles", "lines", "line_tags", 2, *arrays, NULL};
  return create(ctx, &from, out);
}

kedge_status kedge_mesh_create_space(kedge_context *ctx, const kedge_space_arrays *arrays,
                                     kedge_mesh **out)
{
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_mesh_create_space: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && arrays, KEDGE_ERR_ARG, "kedge_mesh_create_space: ctx or arrays is NULL");
  kedge_space_arrays a = KEDGE_SPACE_ARRAYS_INIT;
  KG_TRY(kg_check_sized(ctx, "KEDGE_SPACE_ARRAYS_INIT", arrays->size));
  kg_copy_sized(arrays, &a);
  const given from = {
      .function = "kedge_mesh_create_space",
      .elements = "tetrahedra",
      .lines = "triangles",
      .line_tags = "triangle_tags",
      .dimension = 3,
      .arrays = {a.n_vertices, a.vertices, a.n_tetrahedra, a.tetrahedra, a.regions, a.n_triangles,
                 a.triangles, a.triangle_tags, a.n_names, a.name_tags, a.names},
      .name_dimensions = a.name_dimensions};
  return create(ctx, &from, out);
}

/// Parse a file only where there is room for its raw mesh, which takes about as many bytes as the
/// file.
static kedge_status parse(kedge_context *ctx, const char *path, const char *data, size_t bytes,
                          kg_raw_mesh *out)
{
  const int64_t available = kg_memory_available("");
  KG_REQUIRE(ctx, bytes <= (size_t)available, KEDGE_ERR_MEMORY,
             "%s: to make a mesh of a file of %.2f GB takes as much host memory again and %.2f GB "
             "are free; use a smaller mesh",
             path, 1e-9 * (double)bytes, 1e-9 * (double)available);
  return kg_gmsh_parse(ctx, path, data, bytes, out);
}

kedge_status kedge_mesh_read(kedge_context *ctx, const char *path, kedge_mesh **out)
{
  const double began = kg_seconds();
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_mesh_read: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && path, KEDGE_ERR_ARG, "kedge_mesh_read: ctx or path is NULL");
  char *data;
  size_t bytes;
  kg_raw_mesh raw;
  KG_TRY(kg_file_read(ctx, path, &data, &bytes));
  kedge_status status = parse(ctx, path, data, bytes, &raw);
  free(data);
  KG_TRY(status);
  status = kg_mesh_build(ctx, &raw, path, out);
  kg_raw_mesh_free(&raw);
  if (status == KEDGE_OK) (*out)->seconds = kg_seconds() - began;
  return status;
}

void kedge_mesh_destroy(kedge_mesh *mesh)
{
  if (!mesh) return;
  for (int i = 0; i < mesh->n_groups; ++i) free(mesh->groups[i].name);
  free(mesh->groups);
  kg_overlaps_free(&mesh->overlaps);
  free(mesh->touches);
  free(mesh->vertices);
  free(mesh->nodes);
  free(mesh->element_vertices);
  free(mesh->element_region);
  free(mesh->side_edge);
  free(mesh->edge_sides);
  free(mesh->edge_group);
  free(mesh->group_edges);
  free(mesh->element_origin);
  free(mesh->vertex_origin);
  free(mesh->levels.vertex);
  for (int d = 0; d < 2; ++d) free(mesh->lost[d]);
  free(mesh->source);
  free(mesh);
}

kedge_status kg_mesh_check_plane(kedge_context *ctx, const kedge_mesh *mesh, const char *what)
{
  KG_REQUIRE(ctx, mesh->dimension == 2, KEDGE_ERR_INPUT,
             "%s is a mesh of tetrahedra, and %s is for plane meshes so far", mesh->source, what);
  return KEDGE_OK;
}

kedge_status kg_mesh_check_points(kedge_context *ctx, const kedge_mesh *mesh, int dimension,
                                  const char *call)
{
  const int plane = (int)(strlen(call) - (dimension == 3 ? strlen("_space") : 0));
  KG_REQUIRE(ctx, mesh->dimension == dimension, KEDGE_ERR_INPUT,
             dimension == 2
                 ? "%s: %s is a mesh of tetrahedra, and a point has x, y, z: call %.*s_space"
                 : "%s: %s is a mesh of the plane, and a point has x, y: call %.*s",
             call, mesh->source, plane, call);
  return KEDGE_OK;
}

int64_t kg_mesh_inner_edges(const kedge_mesh *mesh)
{
  int64_t n = 0;
  for (int i = 0; i < mesh->n_groups; ++i) n += mesh->groups[i].n_inner;
  return n;
}

kedge_status kedge_mesh_get_info(const kedge_mesh *mesh, kedge_mesh_info *info)
{
  KG_TRY(kg_check_sized(NULL, "KEDGE_MESH_INFO_INIT", info->size));
  kg_copy_sized(&mesh->info, info);
  return KEDGE_OK;
}

int kedge_mesh_group_count(const kedge_mesh *mesh)
{
  return mesh->n_groups;
}

kedge_status kedge_mesh_get_group(const kedge_mesh *mesh, int index, kedge_mesh_group *group)
{
  KG_TRY(kg_check_sized(NULL, "KEDGE_MESH_GROUP_INIT", group->size));
  KG_REQUIRE(NULL, index >= 0 && index < mesh->n_groups, KEDGE_ERR_ARG,
             "kedge_mesh_get_group: there is no group %d of %d", index, mesh->n_groups);
  const kg_group *from = &mesh->groups[index];
  const kedge_mesh_group known = {
      .size = sizeof known,
      .name = from->name,
      .tag = from->tag,
      .dimension = from->dimension,
      .count = from->count,
      .measure = from->measure,
      .n_inner = from->n_inner,
      .inner_measure = from->inner_measure,
  };
  kg_copy_sized(&known, group);
  return KEDGE_OK;
}

static int nodes_of(const kedge_mesh *mesh, int32_t element)
{
  return kg_block_of(mesh, element)->cell->n_modes(mesh->geometry);
}

kedge_status kedge_mesh_offsets(const kedge_mesh *mesh, int64_t *offsets)
{
  offsets[0] = 0;
  for (int32_t e = 0; e < mesh->n_elements; ++e)
    offsets[mesh->element_origin[e] + 1] = nodes_of(mesh, e);
  for (int32_t e = 0; e < mesh->n_elements; ++e) offsets[e + 1] += offsets[e];
  return KEDGE_OK;
}

kedge_status kedge_mesh_nodes(const kedge_mesh *mesh, double *xy)
{
  const int64_t d = mesh->dimension;
  int64_t *offsets;
  KG_TRY(kg_host_alloc(NULL, (size_t)mesh->n_elements + 1, sizeof *offsets, &offsets));
  KG_TRY(kedge_mesh_offsets(mesh, offsets));
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    double *const to = xy + d * offsets[mesh->element_origin[e]];
    const int n = nodes_of(mesh, e);
    if (mesh->nodes) {
      memcpy(to, kg_element_nodes(mesh, e), 2 * (size_t)n * sizeof *to);
      continue;
    }
    const int32_t *const v = kg_element_vertices(mesh, e);
    for (int l = 0; l < n; ++l)
      memcpy(to + d * l, mesh->vertices + d * v[l], (size_t)d * sizeof *to);
  }
  free(offsets);
  return KEDGE_OK;
}

kedge_status kedge_mesh_corners(const kedge_mesh *mesh, int32_t *corners)
{
  int32_t *element;
  KG_TRY(kg_host_alloc(NULL, (size_t)mesh->n_elements, sizeof *element, &element));
  for (int32_t e = 0; e < mesh->n_elements; ++e) element[mesh->element_origin[e]] = e;
  for (int32_t i = 0; i < mesh->n_elements; ++i) {
    const int32_t *const v = kg_element_vertices(mesh, element[i]);
    for (int l = 0; l < kg_block_of(mesh, element[i])->cell->n_vertices; ++l)
      *corners++ = mesh->vertex_origin[v[l]];
  }
  free(element);
  return KEDGE_OK;
}

kedge_status kedge_mesh_regions(const kedge_mesh *mesh, int32_t *regions)
{
  for (int32_t e = 0; e < mesh->n_elements; ++e)
    regions[mesh->element_origin[e]] = mesh->element_region[e];
  return KEDGE_OK;
}

kedge_status kedge_mesh_boundary(const kedge_mesh *mesh, int32_t *elements, int32_t *sides,
                                 int32_t *groups)
{
  int64_t n = 0;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side side = mesh->edge_sides[2 * (int64_t)edge];
    if (mesh->edge_sides[2 * (int64_t)edge + 1] != KG_NO_SIDE) continue;
    elements[n] = mesh->element_origin[kg_side_element(side)];
    sides[n] = kg_side_facet(side);
    groups[n++] = mesh->edge_group[edge];
  }
  return KEDGE_OK;
}

void kg_side_point(const kedge_mesh *mesh, kg_side side, double t, double at[2], double along[2])
{
  const int32_t element = kg_side_element(side);
  const kg_cell *cell = kg_block_of(mesh, element)->cell;
  if (!mesh->nodes) {
    int32_t ends[2];
    kg_side_ends(mesh, side, ends);
    for (int k = 0; k < 2; ++k) {
      const double a = mesh->vertices[2 * (int64_t)ends[0] + k];
      const double b = mesh->vertices[2 * (int64_t)ends[1] + k];
      at[k] = 0.5 * ((1.0 - t) * a + (1.0 + t) * b);
      along[k] = 0.5 * (b - a);
    }
    return;
  }
  const double *const node = kg_element_nodes(mesh, element);
  const int n = cell->n_modes(mesh->geometry);
  long double shape[3 * KG_NODES_MAX], place[2], step[2];
  kg_cell_facet_point(cell, kg_side_facet(side), t, place, step);
  cell->map(mesh->geometry, place, shape);
  for (int k = 0; k < 2; ++k) {
    at[k] = along[k] = 0.0;
    for (int i = 0; i < n; ++i) {
      at[k] += (double)shape[i] * node[2 * i + k];
      along[k] += (double)(shape[n + i] * step[0] + shape[2 * n + i] * step[1]) * node[2 * i + k];
    }
  }
}
