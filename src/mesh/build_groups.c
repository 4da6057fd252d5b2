// Groups of edges come from tagged lines, groups of elements from region tags. Names act: two line
// tags of the same name are one group, because boundary conditions are set by name. Groups of lines
// inside the domain are there to be named in messages.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/loop.h"
#include "core/memory.h"
#include "mesh/build.h"

static const char default_name[] = "default";

static int compare_tags(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/// The distinct values of tags[0..n), ascending; the caller frees *out.
static kedge_status distinct_tags(kedge_context *ctx, const int32_t *tags, int64_t n, int32_t **out,
                                  int *n_out)
{
  int64_t runs = 0;
  for (int64_t i = 0; i < n; ++i) runs += i == 0 || tags[i] != tags[i - 1];
  KG_TRY(kg_host_alloc(ctx, (size_t)runs, sizeof **out, out));
  int64_t k = 0;
  for (int64_t i = 0; i < n; ++i)
    if (i == 0 || tags[i] != tags[i - 1]) (*out)[k++] = tags[i];
  qsort(*out, (size_t)runs, sizeof **out, compare_tags);
  int64_t distinct = 0;
  for (int64_t i = 0; i < runs; ++i)
    if (i == 0 || (*out)[i] != (*out)[i - 1]) (*out)[distinct++] = (*out)[i];
  *n_out = (int)distinct;
  return KEDGE_OK;
}

/// Append a group named by the caller, or by its number.
static kedge_status add_group(kg_mesh_builder *b, int dimension, int32_t tag, const char *name)
{
  char number[16];
  snprintf(number, sizeof number, "%d", tag);
  if (!name) name = number;
  kg_group *group = &b->mesh->groups[b->mesh->n_groups];
  *group = (kg_group){.tag = tag, .dimension = dimension};
  KG_TRY(kg_copy_text(b->ctx, name, strlen(name), &group->name));
  ++b->mesh->n_groups;
  return KEDGE_OK;
}

static kedge_status refuse_line(const kg_mesh_builder *b, int64_t i)
{
  const kg_raw_mesh *raw = b->raw;
  const int d = raw->dimension;
  const char *name = kg_raw_mesh_name_of(raw, d - 1, raw->line_tags[i]);
  char where[192] = "";
  int n = 0;
  for (int k = 0; k < d; ++k) {
    const int32_t v = raw->lines[d * i + k];
    const char *const before = k == 0 ? "" : d == 3 ? ", " : " to ";
    if (v < 0 || v >= raw->n_vertices) {
      n += snprintf(where + n, sizeof where - (size_t)n, "%s(no vertex %d)", before, v);
      continue;
    }
    const double *p = raw->vertices + d * (int64_t)v;
    n += snprintf(where + n, sizeof where - (size_t)n, "%s(%.9g, %.9g", before, p[0], p[1]);
    n += d == 3 ? snprintf(where + n, sizeof where - (size_t)n, ", %.9g)", p[2])
                : snprintf(where + n, sizeof where - (size_t)n, ")");
  }
  if (d == 3)
    return KG_FAIL(b->ctx, KEDGE_ERR_INPUT,
                   "%s: the triangle of %s of boundary group %d%s%s%s is no face of any %s; join "
                   "the meshes at their interface or take the triangle out of the group",
                   b->source, where, raw->line_tags[i], name ? " \"" : "", name ? name : "",
                   name ? "\"" : "", kg_mesh_shape(b->mesh));
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT,
                 "%s: the line from %s of boundary group %d%s%s%s is no edge of any %s; join "
                 "the meshes at their interface or take the line out of the group",
                 b->source, where, raw->line_tags[i], name ? " \"" : "", name ? name : "",
                 name ? "\"" : "", kg_mesh_shape(b->mesh));
}

/// Mark boundary edges in edge_group with 0, the others with -1.
static kedge_status mark_boundary(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)mesh->n_edges, sizeof(int32_t), &mesh->edge_group));
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, mesh->n_edges, 1))
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge)
    mesh->edge_group[edge] = mesh->edge_sides[2 * (int64_t)edge + 1] == KG_NO_SIDE ? 0 : -1;
  return KEDGE_OK;
}

/// A line on an edge that another one has put into a group.
static kedge_status add_shared_line(const kg_mesh_builder *b, int64_t i, int32_t first)
{
  const int d = b->raw->dimension;
  const double *at = b->raw->vertices + d * (int64_t)b->raw->lines[d * i];
  kg_overlap overlap = {d - 1, first, b->raw->line_tags[i], {at[0], at[1], 0.0}, NULL};
  if (d == 3) overlap.at[2] = at[2];
  ++b->mesh->info.shared_lines;
  return kg_overlaps_add(b->ctx, &overlap, &b->mesh->overlaps);
}

/// Put the tag of the first line on each edge into edge_group, where groups will be (0: a boundary
/// edge without a line).
static kedge_status tag_edges(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const kg_raw_mesh *raw = b->raw;
  for (int64_t i = 0; i < raw->n_lines; ++i) {
    if (raw->line_tags[i] == 0) continue;
    const int64_t edge = b->line_edge[i];
    if (edge < 0) return refuse_line(b, i);
    int32_t *const group = &mesh->edge_group[edge];
    mesh->info.interior_lines += *group < 0;
    if (*group == -1) {
      *group = kg_inner_group(raw->line_tags[i]);
      ++b->n_inner;
    } else if (*group == 0) {
      *group = raw->line_tags[i];
    } else if (*group > 0 && *group != raw->line_tags[i]) {
      KG_TRY(add_shared_line(b, i, *group));
    }
  }
  return KEDGE_OK;
}

static kedge_status list_edges(kg_mesh_builder *b)
{
  const kedge_mesh *mesh = b->mesh;
  const size_t n = (size_t)mesh->n_boundary_edges + (size_t)b->n_inner;
  KG_TRY(kg_host_alloc(b->ctx, n, sizeof(int32_t), &b->mesh->group_edges));
  b->mesh->n_group_edges = (int32_t)n;
  int32_t *outer = mesh->group_edges, *inner = outer + mesh->n_boundary_edges;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge)
    if (mesh->edge_group[edge] >= 0)
      *outer++ = edge;
    else if (mesh->edge_group[edge] != -1)
      *inner++ = edge;
  return KEDGE_OK;
}

/// One group for each name or unnamed tag; `group_of[i]` is the group of tags[i], and the first
/// entry of tags may be 0, for edges without a line: they are the last group, never one with edges
/// whose group the caller called "default" too.
static kedge_status add_edge_groups(kg_mesh_builder *b, const int32_t *tags, int n_tags,
                                    int *group_of)
{
  kedge_mesh *mesh = b->mesh;
  const bool untagged = n_tags > 0 && tags[0] == 0;  // sorted, and goes last
  for (int k = untagged; k < n_tags + untagged; ++k) {
    const int i = k % n_tags;
    const bool rest = i == 0 && untagged;
    const char *name =
        rest ? default_name : kg_raw_mesh_name_of(b->raw, mesh->dimension - 1, tags[i]);
    int g = mesh->n_groups;
    for (int j = 0; name && !rest && j < mesh->n_groups; ++j)
      if (strcmp(mesh->groups[j].name, name) == 0) g = j;
    group_of[i] = g;
    if (g == mesh->n_groups) KG_TRY(add_group(b, mesh->dimension - 1, tags[i], name));
  }
  return KEDGE_OK;
}

static int position(const int32_t *tags, int n_tags, int32_t tag)
{
  const int32_t *found = bsearch(&tag, tags, (size_t)n_tags, sizeof tag, compare_tags);
  return (int)(found - tags);
}

/// Overlaps get the names of the groups that do not count in them. Tags of one name are one group:
/// it has no overlap with itself, and its number stands for all.
static kedge_status name_overlaps(const kg_mesh_builder *b, const int32_t *tags, int n_tags,
                                  const int *group_of)
{
  kg_overlaps *overlaps = &b->mesh->overlaps;
  for (int64_t i = 0; i < overlaps->n; ++i) {
    kg_overlap *o = &overlaps->item[i];
    if (o->dimension < b->mesh->dimension)
      o->first = b->mesh->groups[group_of[position(tags, n_tags, o->first)]].tag;
  }
  kg_overlaps_unite(overlaps);
  const int64_t n = overlaps->n;
  overlaps->n = 0;
  for (int64_t i = 0; i < n; ++i) {
    kg_overlap overlap = overlaps->item[i];
    const char *name = kg_raw_mesh_name_of(b->raw, overlap.dimension, overlap.other);
    const char *first = kg_raw_mesh_name_of(b->raw, overlap.dimension, overlap.first);
    if (name && first && strcmp(name, first) == 0) continue;
    if (name) KG_TRY(kg_copy_text(b->ctx, name, strlen(name), &overlap.name));
    overlaps->item[overlaps->n++] = overlap;
  }
  return KEDGE_OK;
}

/// Length of an edge, area of a facet in space.
static double edge_measure(const kg_mesh_builder *b, int32_t edge)
{
  const kedge_mesh *mesh = b->mesh;
  if (mesh->dimension == 3) return kg_space_area(mesh, edge);
  if (b->curves) return kg_build_length(b, edge);
  int32_t v, w;
  kg_side_vertices(mesh, mesh->edge_sides[2 * (int64_t)edge], &v, &w);
  const double *p = mesh->vertices + 2 * (int64_t)v, *q = mesh->vertices + 2 * (int64_t)w;
  return hypot(q[0] - p[0], q[1] - p[1]);
}

static void count_edges(const kg_mesh_builder *b, const int32_t *tags, int n_tags,
                        const int *group_of)
{
  kedge_mesh *mesh = b->mesh;
  for (int32_t i = 0; i < mesh->n_group_edges; ++i) {
    const int32_t edge = mesh->group_edges[i];
    const int g = group_of[position(tags, n_tags, kg_group_of_edge(mesh->edge_group[edge]))];
    kg_group *const group = &mesh->groups[g];
    const bool is_inner = mesh->edge_group[edge] < 0;
    mesh->edge_group[edge] = is_inner ? kg_inner_group(g) : g;
    ++*(is_inner ? &group->n_inner : &group->count);
    *(is_inner ? &group->inner_measure : &group->measure) += edge_measure(b, edge);
  }
}

/// Area, or volume in space.
static double element_measure(const kg_mesh_builder *b, int64_t e)
{
  const kedge_mesh *mesh = b->mesh;
  if (mesh->dimension == 3) return kg_space_volume(mesh, (int32_t)e);
  if (b->curves) return kg_build_area(b, (int32_t)e);
  const int32_t *v = kg_element_vertices(mesh, (int32_t)e);
  const double *p = mesh->vertices + 2 * (int64_t)v[0], *q = mesh->vertices + 2 * (int64_t)v[1],
               *r = mesh->vertices + 2 * (int64_t)v[2];
  if (kg_block_of(mesh, (int32_t)e)->cell == &kg_quadrilateral) {  // from its diagonals
    const double *s = mesh->vertices + 2 * (int64_t)v[3];
    return 0.5 * ((r[0] - p[0]) * (s[1] - q[1]) - (r[1] - p[1]) * (s[0] - q[0]));
  }
  return 0.5 * ((q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1]));
}

/// Consecutive elements of one region.
typedef struct region_run {
  int64_t begin, end;
  double measure;
} region_run;

/// The run that begins with an element and ends at `limit` at the latest.
static region_run run_from(const kg_mesh_builder *b, int64_t begin, int64_t limit)
{
  const kedge_mesh *mesh = b->mesh;
  region_run run = {begin, begin, 0};
  const int32_t tag = mesh->element_region[begin];
  for (; run.end < limit && mesh->element_region[run.end] == tag; ++run.end)
    run.measure += element_measure(b, run.end);
  return run;
}

/// Measures are summed in runs inside blocks of elements, then over runs: a plain sum over millions
/// of elements would lose digits, and blocks can be summed side by side. Most are one run.
static kedge_status count_regions(const kg_mesh_builder *b, const int32_t *tags, int n_tags,
                                  int first_group)
{
  enum { BLOCK = 4096 };
  const kedge_mesh *mesh = b->mesh;
  const int64_t n = mesh->n_elements, n_blocks = (n + BLOCK - 1) / BLOCK;
  region_run *runs;  // [block]: its first
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n_blocks, sizeof *runs, &runs));
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, n, 1))
  for (int64_t k = 0; k < n_blocks; ++k)
    runs[k] = run_from(b, k * BLOCK, k + 1 < n_blocks ? (k + 1) * BLOCK : n);
  for (int64_t k = 0; k < n_blocks; ++k) {
    const int64_t limit = k + 1 < n_blocks ? (k + 1) * BLOCK : n;
    for (region_run run = runs[k];; run = run_from(b, run.end, limit)) {
      kg_group *group =
          &mesh->groups[first_group + position(tags, n_tags, mesh->element_region[run.begin])];
      group->count += run.end - run.begin;
      group->measure += run.measure;
      if (run.end == limit) break;
    }
  }
  free(runs);
  return KEDGE_OK;
}

/// Copy the tags of the edges that are listed; the caller frees *out.
static kedge_status edge_tags(const kg_mesh_builder *b, int32_t **out)
{
  const kedge_mesh *mesh = b->mesh;
  const int32_t n = mesh->n_group_edges;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof **out, out));
  for (int32_t i = 0; i < n; ++i)
    (*out)[i] = kg_group_of_edge(mesh->edge_group[mesh->group_edges[i]]);
  return KEDGE_OK;
}

kedge_status kg_build_groups(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  int32_t *tags = NULL, *line_tags = NULL, *region_tags = NULL;
  int *group_of = NULL, n_line_tags = 0, n_region_tags = 0;
  kedge_status status = mark_boundary(b);
  for (int64_t i = 0; status == KEDGE_OK && i < b->raw->overlaps.n; ++i)
    status = kg_overlaps_add(b->ctx, &b->raw->overlaps.item[i], &mesh->overlaps);
  if (status == KEDGE_OK) status = tag_edges(b);
  if (status == KEDGE_OK) status = list_edges(b);
  if (status == KEDGE_OK) status = edge_tags(b, &tags);
  if (status == KEDGE_OK)
    status = distinct_tags(b->ctx, tags, mesh->n_group_edges, &line_tags, &n_line_tags);
  if (status == KEDGE_OK)
    status =
        distinct_tags(b->ctx, mesh->element_region, mesh->n_elements, &region_tags, &n_region_tags);
  if (status == KEDGE_OK)
    status = kg_host_calloc(b->ctx, (size_t)n_line_tags + (size_t)n_region_tags,
                            sizeof *mesh->groups, &mesh->groups);
  if (status == KEDGE_OK)
    status = kg_host_alloc(b->ctx, (size_t)n_line_tags, sizeof *group_of, &group_of);
  if (status == KEDGE_OK) status = add_edge_groups(b, line_tags, n_line_tags, group_of);
  if (status == KEDGE_OK) status = name_overlaps(b, line_tags, n_line_tags, group_of);
  if (status != KEDGE_OK) goto done;

  count_edges(b, line_tags, n_line_tags, group_of);
  const int first_region = mesh->n_groups;
  for (int i = 0; status == KEDGE_OK && i < n_region_tags; ++i)
    status = add_group(b, mesh->dimension, region_tags[i],
                       kg_raw_mesh_name_of(b->raw, mesh->dimension, region_tags[i]));
  if (status == KEDGE_OK) status = count_regions(b, region_tags, n_region_tags, first_region);
done:
  free(tags);
  free(line_tags);
  free(region_tags);
  free(group_of);
  return status;
}
