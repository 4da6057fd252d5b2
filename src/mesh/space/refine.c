// Tetrahedra split into eight.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/loop.h"
#include "mesh/build.h"
#include "mesh/radix.h"

/// Edges of a tetrahedron: those of corners 01, 02, 03, 12, 13, 23.
enum { EDGES = 6, CHILDREN = 8, FACET_CHILDREN = 4 };
static const int end_of[EDGES][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
static const int edge_of[4][4] = {{-1, 0, 1, 2}, {0, -1, 3, 4}, {1, 3, -1, 5}, {2, 4, 5, -1}};

/// Corners of a tetrahedron are 0 to 3, the midpoint of edge k is 4 + k. Four children are at the
/// corners, the others share the octahedron in the middle.
static const int at_corners[4][4] = {{0, 4, 5, 6}, {4, 1, 7, 8}, {5, 7, 2, 9}, {6, 8, 9, 3}};

/// A way to cut the octahedron: along the diagonal between the midpoints of two opposite edges.
typedef struct cut {
  int pair[2][2];  ///< the corners of these edges
  int parts[4][4];
} cut;
static const cut cuts[] = {
    {{{0, 2}, {1, 3}}, {{4, 5, 6, 8}, {4, 5, 7, 8}, {5, 6, 8, 9}, {5, 7, 8, 9}}},
    {{{0, 1}, {2, 3}}, {{4, 5, 6, 9}, {4, 5, 7, 9}, {4, 6, 8, 9}, {4, 7, 8, 9}}},
    {{{0, 3}, {1, 2}}, {{4, 5, 6, 7}, {4, 6, 7, 8}, {5, 6, 7, 9}, {6, 7, 8, 9}}},
};

/// What a diagonal must be shorter by to count as shorter: rounding of coordinates does not decide.
#define SHORTER (1.0 - 1e-6)

static double length_of(const cut *c, const double *const p[4])
{
  double step[3];
  for (int k = 0; k < 3; ++k)
    step[k] = 0.5 * p[c->pair[0][0]][k] + 0.5 * p[c->pair[0][1]][k] -
              (0.5 * p[c->pair[1][0]][k] + 0.5 * p[c->pair[1][1]][k]);
  return hypot(hypot(step[0], step[1]), step[2]);
}

/// The cut along the shortest diagonal: other children may be far flatter than their parent. Of
/// equal ones it is the first: corners lie in the order of their places (order.c), by which parts
/// of a cube (cube.c) become those of a finer one, and elements that are translated are cut alike.
/// The diagonal lies inside the element, and neighbours fit by any.
static const cut *choose_cut(const kedge_mesh *mesh, const int32_t *v)
{
  const double *p[4];
  for (int i = 0; i < 4; ++i) p[i] = mesh->vertices + 3 * (int64_t)v[i];
  const cut *best = cuts;
  double least = length_of(best, p);
  for (const cut *c = cuts + 1; c < cuts + sizeof cuts / sizeof *cuts; ++c) {
    const double length = length_of(c, p);
    if (!(length < SHORTER * least)) continue;
    best = c;
    least = length;
  }
  return best;
}

/// All edges of a mesh by their ends.
typedef struct edges {
  int32_t n;
  kg_pair *pairs;  ///< [edge]: key: lower end << 32 | higher end
  int32_t *of;     ///< [element][EDGES]
} edges;

static void free_edges(edges *e)
{
  free(e->pairs);
  free(e->of);
}

static kedge_status find_edges(kedge_context *ctx, const kedge_mesh *mesh, edges *out)
{
  const int64_t n = EDGES * (int64_t)mesh->n_elements;
  *out = (edges){0};
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *out->pairs, &out->pairs));
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *out->of, &out->of));
#pragma omp parallel for num_threads(kg_loop_threads(ctx, n, 1))
  for (int64_t i = 0; i < n; ++i) {
    const int32_t *v = kg_element_vertices(mesh, (int32_t)(i / EDGES));
    const uint32_t a = (uint32_t)v[end_of[i % EDGES][0]], b = (uint32_t)v[end_of[i % EDGES][1]];
    out->pairs[i] = (kg_pair){(uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), i};
  }
  KG_TRY(kg_radix_sort(ctx, &out->pairs, (size_t)n, 64));
  for (int64_t i = 0; i < n; ++i) {
    const kg_pair pair = out->pairs[i];
    if (i == 0 || pair.key != out->pairs[out->n - 1].key) out->pairs[out->n++] = pair;
    out->of[pair.value] = out->n - 1;
  }
  return KEDGE_OK;
}

/// Vertices keep their place; the midpoint of edge k is vertex n_vertices + k.
static void split_vertices(const kedge_context *ctx, const kedge_mesh *mesh, const edges *e,
                           const int32_t *rank, kg_raw_mesh *out)
{
#pragma omp parallel for num_threads(kg_loop_threads(ctx, mesh->n_vertices, 1))
  for (int64_t v = 0; v < mesh->n_vertices; ++v)
    memcpy(out->vertices + 3 * (int64_t)rank[v], mesh->vertices + 3 * v, 3 * sizeof(double));
  double *middle = out->vertices + 3 * (int64_t)mesh->n_vertices;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, e->n, 1))
  for (int64_t k = 0; k < e->n; ++k) {
    const double *p = mesh->vertices + 3 * (int64_t)(e->pairs[k].key >> 32);
    const double *q = mesh->vertices + 3 * (int64_t)(e->pairs[k].key & UINT32_MAX);
    for (int i = 0; i < 3; ++i) middle[3 * k + i] = 0.5 * p[i] + 0.5 * q[i];
  }
}

/// The caller's element e becomes 8 e .. 8 e + 7.
static void split_elements(const kedge_context *ctx, const kedge_mesh *mesh, const edges *e,
                           const int32_t *rank, kg_raw_mesh *out)
{
#pragma omp parallel for num_threads(kg_loop_threads(ctx, mesh->n_elements, 1))
  for (int32_t element = 0; element < mesh->n_elements; ++element) {
    const int64_t first = CHILDREN * (int64_t)mesh->element_origin[element];
    const int32_t *v = kg_element_vertices(mesh, element);
    int32_t node[4 + EDGES];
    for (int i = 0; i < 4; ++i) node[i] = rank[v[i]];
    for (int k = 0; k < EDGES; ++k)
      node[4 + k] = mesh->n_vertices + e->of[EDGES * (int64_t)element + k];
    const cut *const inner = choose_cut(mesh, v);
    for (int child = 0; child < CHILDREN; ++child) {
      const int *const of = child < 4 ? at_corners[child] : inner->parts[child - 4];
      for (int i = 0; i < 4; ++i) out->corners[4 * (first + child) + i] = node[of[i]];
      out->regions[first + child] = mesh->element_region[element];
    }
  }
}

/// Facets of a group become four: their corners, then the middle.
static void split_facets(const kedge_mesh *mesh, const edges *e, const int32_t *rank,
                         kg_raw_mesh *out)
{
  for (int32_t facet = 0; facet < mesh->n_edges; ++facet) {
    const int32_t g = kg_group_of_edge(mesh->edge_group[facet]);
    if (g < 0 || mesh->groups[g].tag == 0) continue;
    const kg_side side = mesh->edge_sides[2 * (int64_t)facet];
    const int32_t element = kg_side_element(side);
    const int *c = kg_tetrahedron.facet_corner[kg_side_facet(side)];
    int32_t v[3], middle[3];  // opposite each corner
    for (int i = 0; i < 3; ++i) {
      const int edge = edge_of[c[(i + 1) % 3]][c[(i + 2) % 3]];
      v[i] = rank[kg_element_vertices(mesh, element)[c[i]]];
      middle[i] = mesh->n_vertices + e->of[EDGES * (int64_t)element + edge];
    }
    const int32_t parts[FACET_CHILDREN][3] = {{v[0], middle[2], middle[1]},
                                              {middle[2], v[1], middle[0]},
                                              {middle[1], middle[0], v[2]},
                                              {middle[0], middle[1], middle[2]}};
    memcpy(out->lines + 3 * out->n_lines, parts, sizeof parts);
    for (int k = 0; k < FACET_CHILDREN; ++k) out->line_tags[out->n_lines++] = mesh->groups[g].tag;
  }
}

kedge_status kg_space_split(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out)
{
  edges e;
  int32_t *rank = NULL;
  const int64_t n_facets = mesh->n_boundary_edges + kg_mesh_inner_edges(mesh);
  *out = (kg_raw_mesh){0};
  kedge_status status = find_edges(ctx, mesh, &e);
  if (status == KEDGE_OK)
    status =
        kg_raw_mesh_alloc(ctx, 3, (int64_t)mesh->n_vertices + e.n,
                          CHILDREN * (int64_t)mesh->n_elements, 4, FACET_CHILDREN * n_facets, out);
  if (status == KEDGE_OK) status = kg_mesh_vertex_ranks(ctx, mesh, &rank);
  if (status == KEDGE_OK) status = kg_raw_mesh_names(ctx, out, mesh);
  if (status == KEDGE_OK) {
    out->n_lines = 0;
    split_vertices(ctx, mesh, &e, rank, out);
    split_elements(ctx, mesh, &e, rank, out);
    split_facets(mesh, &e, rank, out);
  }
  free_edges(&e);
  free(rank);
  if (status != KEDGE_OK) kg_raw_mesh_free(out);
  return status;
}
