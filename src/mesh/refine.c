#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "device/loop.h"
#include "core/memory.h"
#include "mesh/build.h"
#include "mesh/nodes.h"

_Static_assert(1LL << 2 * KEDGE_REFINE_MAX <= KG_ELEMENTS_MAX &&
                   4LL << 2 * KEDGE_REFINE_MAX > KG_ELEMENTS_MAX,
               "one triangle can be refined that often and no oftener");

/// Vertices keep their place; the midpoint of edge k is vertex n_vertices + k. Behind those are the
/// centres of quadrilaterals.
static void split_vertices(const kedge_context *ctx, const kedge_mesh *mesh, const int32_t *rank,
                           kg_raw_mesh *out)
{
#pragma omp parallel for num_threads(kg_loop_threads(ctx, mesh->n_vertices, 1))
  for (int64_t v = 0; v < mesh->n_vertices; ++v)
    memcpy(out->vertices + 2 * (int64_t)rank[v], mesh->vertices + 2 * v, 2 * sizeof(double));
  if (mesh->nodes) return;  // kg_refine_curves() places the others
  double *middle = out->vertices + 2 * (int64_t)mesh->n_vertices;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, mesh->n_edges, 1))
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) {
    int32_t ends[2];
    kg_side_ends(mesh, mesh->edge_sides[2 * edge], ends);
    const double *p = mesh->vertices + 2 * (int64_t)ends[0];
    const double *q = mesh->vertices + 2 * (int64_t)ends[1];
    middle[2 * edge] = 0.5 * p[0] + 0.5 * q[0];
    middle[2 * edge + 1] = 0.5 * p[1] + 0.5 * q[1];
  }
  const int32_t n = kg_mesh_quadrilaterals(mesh), first = mesh->n_elements - n;
  double *centre = middle + 2 * (int64_t)mesh->n_edges;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, n, 1))
  for (int32_t i = 0; i < n; ++i) {
    const int32_t *v = kg_element_vertices(mesh, first + i);
    for (int k = 0; k < 2; ++k) {
      const double *x = mesh->vertices + k;
      centre[2 * (int64_t)i + k] = 0.25 * x[2 * (int64_t)v[0]] + 0.25 * x[2 * (int64_t)v[1]] +
                                   0.25 * x[2 * (int64_t)v[2]] + 0.25 * x[2 * (int64_t)v[3]];
    }
  }
}

static void split_triangle(const int32_t *corner, const int32_t *middle, int width, int32_t *out)
{
  const int32_t children[4][3] = {
      {corner[0], middle[0], middle[2]},
      {middle[0], corner[1], middle[1]},
      {middle[2], middle[1], corner[2]},
      {middle[0], middle[1], middle[2]},
  };
  for (int k = 0; k < 4; ++k, out += width) {
    out[width - 1] = -1;  // of a triangle among quadrilaterals
    memcpy(out, children[k], sizeof *children);
  }
}

static void split_quadrilateral(const int32_t *corner, const int32_t *middle, int32_t centre,
                                int32_t *out)
{
  for (int k = 0; k < 4; ++k, out += 4) {
    const int32_t child[4] = {corner[k], middle[k], centre, middle[(k + 3) % 4]};
    memcpy(out, child, sizeof child);
  }
}

/// The caller's element e becomes 4 e .. 4 e + 3: its corners, then the middle of a triangle.
static void split_elements(const kedge_context *ctx, const kedge_mesh *mesh, const int32_t *rank,
                           kg_raw_mesh *out)
{
  const int32_t n_triangles = mesh->n_elements - kg_mesh_quadrilaterals(mesh);
#pragma omp parallel for num_threads(kg_loop_threads(ctx, mesh->n_elements, 1))
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int64_t first = 4 * (int64_t)mesh->element_origin[e];
    const int n = kg_block_of(mesh, e)->cell->n_vertices;
    int32_t corner[4], middle[4], *children = out->corners + out->width * first;
    for (int i = 0; i < n; ++i) {
      corner[i] = rank[kg_element_vertices(mesh, e)[i]];
      middle[i] = mesh->n_vertices + (int32_t)(kg_element_edges(mesh, e)[i] >> 1);
    }
    const int32_t centre = mesh->n_vertices + mesh->n_edges + e - n_triangles;
    if (n == 3)
      split_triangle(corner, middle, out->width, children);
    else
      split_quadrilateral(corner, middle, centre, children);
    for (int k = 0; k < 4; ++k) out->regions[first + k] = mesh->element_region[e];
  }
}

static void split_lines(const kedge_mesh *mesh, const int32_t *rank, kg_raw_mesh *out)
{
  int64_t n = 0;
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    const int32_t g = kg_group_of_edge(mesh->edge_group[edge]);
    if (g < 0 || mesh->groups[g].tag == 0) continue;
    int32_t ends[2];
    kg_side_ends(mesh, mesh->edge_sides[2 * (int64_t)edge], ends);
    for (int k = 0; k < 2; ++k) {
      out->lines[2 * n] = rank[ends[k]];
      out->lines[2 * n + 1] = mesh->n_vertices + edge;
      out->line_tags[n++] = mesh->groups[g].tag;
    }
  }
  out->n_lines = n;
}

static kedge_status split(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out)
{
  int32_t *rank;
  if (mesh->dimension == 3) return kg_space_split(ctx, mesh, out);
  const int64_t n_lines = mesh->n_boundary_edges + kg_mesh_inner_edges(mesh);
  KG_TRY(kg_raw_mesh_alloc(ctx, 2,
                           (int64_t)mesh->n_vertices + mesh->n_edges + kg_mesh_quadrilaterals(mesh),
                           4 * (int64_t)mesh->n_elements, kg_mesh_width(mesh), 2 * n_lines, out));
  kedge_status status = kg_mesh_vertex_ranks(ctx, mesh, &rank);
  if (status == KEDGE_OK) status = kg_raw_mesh_names(ctx, out, mesh);
  if (status == KEDGE_OK) {
    split_vertices(ctx, mesh, rank, out);
    split_elements(ctx, mesh, rank, out);
    split_lines(mesh, rank, out);
    if (mesh->nodes) status = kg_refine_curves(ctx, mesh, out);
  }
  free(rank);
  if (status != KEDGE_OK) kg_raw_mesh_free(out);
  return status;
}

/// Numbers of midpoints and elements must stay inside int32_t; kg_mesh_build() checks the rest.
static kedge_status check(kedge_context *ctx, const kedge_mesh *mesh, int times)
{
  KG_REQUIRE(ctx, times >= 0, KEDGE_ERR_ARG, "cannot refine a mesh %d times", times);
  const int64_t most = KG_ELEMENTS_MAX;
  const int bits = mesh->dimension * times;
  KG_REQUIRE(ctx, times <= KEDGE_REFINE_MAX && mesh->n_elements <= most >> bits, KEDGE_ERR_INPUT,
             "%s: %d %s refined %d time%s are more than kedge can number (%lld); refine less",
             mesh->source, mesh->n_elements, kg_mesh_shapes(mesh, mesh->n_elements), times,
             times == 1 ? "" : "s", (long long)most);
  return kg_mesh_check_memory(ctx, mesh->source, mesh->block[mesh->n_blocks - 1].cell,
                              mesh->geometry, (int64_t)mesh->n_elements << bits, false);
}

/// The vertices of the meshes before, which multigrid knows of triangles alone: split_vertices()
/// has left them their numbers, the first ones.
/// @param[in] counts  [n]: vertices of these meshes, the coarsest first
static kedge_status find_levels(kedge_context *ctx, const int32_t *counts, int n, kedge_mesh *mesh)
{
  kg_mesh_levels *levels = &mesh->levels;
  int32_t *origin;  // [vertex of a level]
  size_t total = 0;
  for (int k = 0; k < n; ++k) total += (size_t)counts[k];
  KG_TRY(kg_host_alloc(ctx, total, sizeof *levels->vertex, &levels->vertex));
  KG_TRY(kg_host_alloc(ctx, (size_t)counts[n - 1], sizeof *origin, &origin));
  const int32_t *from = mesh->vertex_origin;
  int32_t *to = levels->vertex, n_finer = mesh->n_vertices;
  for (levels->n = 0; levels->n < n; ++levels->n) {
    int32_t found = 0;
    for (int32_t v = 0; v < n_finer; ++v)
      if (from[v] < counts[n - 1 - levels->n]) {
        origin[found] = from[v];
        to[found++] = v;
      }
    levels->count[levels->n] = n_finer = found;
    from = origin;
    to += found;
  }
  free(origin);
  return KEDGE_OK;
}

kedge_status kedge_mesh_refine(kedge_context *ctx, const kedge_mesh *mesh, int times,
                               kedge_mesh **out)
{
  const double began = kg_seconds();
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_mesh_refine: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh, KEDGE_ERR_ARG, "kedge_mesh_refine: ctx or mesh is NULL");
  KG_TRY(check(ctx, mesh, times));
  const size_t size = strlen(mesh->source) + 32;
  char *source;
  KG_TRY(kg_host_alloc(ctx, size, 1, &source));
  if (times == 0)
    snprintf(source, size, "%s", mesh->source);
  else if (times == 1)
    snprintf(source, size, "%s, refined once", mesh->source);
  else
    snprintf(source, size, "%s, refined %d times", mesh->source, times);

  int32_t counts[KEDGE_REFINE_MAX];  // vertices of the meshes refined
  kedge_mesh *level = NULL;
  kedge_status status = KEDGE_OK;
  for (int k = 0; status == KEDGE_OK && k < (times ? times : 1); ++k) {
    const kedge_mesh *from = level ? level : mesh;
    kg_raw_mesh raw;
    counts[k] = from->n_vertices;
    status = times ? split(ctx, from, &raw) : kg_mesh_to_raw(ctx, from, &raw);
    kedge_mesh_destroy(level);
    level = NULL;
    if (status != KEDGE_OK) break;
    status = kg_mesh_build(ctx, &raw, source, &level);
    kg_raw_mesh_free(&raw);
  }
  free(source);
  if (status == KEDGE_OK && times > 0 && mesh->dimension == 2 && kg_mesh_quadrilaterals(mesh) == 0)
    status = find_levels(ctx, counts, times, level);
  if (status == KEDGE_OK) {
    level->seconds = mesh->seconds + kg_seconds() - began;
    *out = level;
  } else {
    kedge_mesh_destroy(level);
  }
  return status;
}
