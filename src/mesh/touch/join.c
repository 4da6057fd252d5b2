// Vertices of the boundary that are near each other become one. They are sorted into squares of the
// distance: who is near to a vertex is in its square or in one of the eight around it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "mesh/build.h"

/// Vertices in a square, at most: no input takes quadratic time. As many corners of elements may
/// meet in one place.
enum { CROWD = 1000 };

/// A vertex of the boundary.
typedef struct place {
  double square[2];
  double at[2];
  int32_t vertex;
} place;

typedef struct joiner {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  double distance;
  kg_raw_mesh *raw;  ///< of the mesh; vertices are its own
  int32_t n;
  place *places;    ///< of the boundary, by their squares
  int32_t *parent;  ///< [raw vertex]: the tree of what is joined, the first of them at its root
} joiner;

static int32_t root_of(int32_t *parent, int32_t v)
{
  while (parent[v] != v) {
    parent[v] = parent[parent[v]];
    v = parent[v];
  }
  return v;
}

static int compare_squares(const double a[2], const double b[2])
{
  for (int k = 0; k < 2; ++k)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}

static int compare_places(const void *a, const void *b)
{
  const place *p = a, *q = b;
  const int order = compare_squares(p->square, q->square);
  return order ? order : (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/// The vertices of lines that have boundary edges; kg_mesh_to_raw() makes a line of each.
static kedge_status list_places(joiner *j)
{
  const kedge_mesh *mesh = j->mesh;
  int32_t *rank;
  bool *listed;
  KG_TRY(kg_mesh_vertex_ranks(j->ctx, mesh, &rank));
  kedge_status status =
      kg_host_alloc(j->ctx, 2 * (size_t)mesh->n_boundary_edges, sizeof *j->places, &j->places);
  if (status == KEDGE_OK)
    status = kg_host_calloc(j->ctx, (size_t)mesh->n_vertices, sizeof *listed, &listed);
  if (status == KEDGE_OK) {
    for (int64_t i = 0; i < 2 * (int64_t)mesh->n_edges; ++i) {
      int32_t ends[2];
      if (mesh->edge_sides[i | 1] != KG_NO_SIDE) continue;
      kg_side_ends(mesh, mesh->edge_sides[i & ~(int64_t)1], ends);
      const int32_t v = ends[i & 1];
      const double *at = mesh->vertices + 2 * (int64_t)v;
      if (listed[v]) continue;
      listed[v] = true;
      j->places[j->n++] = (place){
          {floor(at[0] / j->distance), floor(at[1] / j->distance)}, {at[0], at[1]}, rank[v]};
    }
    free(listed);
    qsort(j->places, (size_t)j->n, sizeof *j->places, compare_places);
  }
  free(rank);
  return status;
}

/// The first place of a square, or of one behind it.
static int32_t first_in(const joiner *j, const double square[2])
{
  int32_t begin = 0, end = j->n;
  while (begin < end) {
    const int32_t middle = begin + (end - begin) / 2;
    if (compare_squares(j->places[middle].square, square) < 0)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// Join a place with those of a square.
static kedge_status join_with(joiner *j, const place *p, const double square[2])
{
  int count = 0;
  for (int32_t i = first_in(j, square);
       i < j->n && compare_squares(j->places[i].square, square) == 0; ++i) {
    const place *q = &j->places[i];
    KG_REQUIRE(j->ctx, ++count <= CROWD, KEDGE_ERR_INPUT,
               "%s: more than %d vertices of the boundary lie within %g of (%.9g, %.9g); take a "
               "smaller distance to join vertices",
               j->mesh->source, CROWD, j->distance, p->at[0], p->at[1]);
    if (!(hypot(p->at[0] - q->at[0], p->at[1] - q->at[1]) <= j->distance)) continue;
    const int32_t a = root_of(j->parent, p->vertex), b = root_of(j->parent, q->vertex);
    j->parent[a > b ? a : b] = a < b ? a : b;
  }
  return KEDGE_OK;
}

/// Squares so far from 0 that the next one has the same number are compared twice, which is
/// harmless.
static kedge_status find_near(joiner *j)
{
  for (int32_t i = 0; i < j->n; ++i)
    for (int k = 0; k < 9; ++k) {
      const place *p = &j->places[i];
      const double square[2] = {p->square[0] + k / 3 - 1, p->square[1] + k % 3 - 1};
      KG_TRY(join_with(j, p, square));
    }
  return KEDGE_OK;
}

/// Number corners and lines anew. @retval KEDGE_ERR_INPUT  an element loses an edge
static kedge_status renumber(joiner *j)
{
  kg_raw_mesh *raw = j->raw;
  for (int64_t v = 0; v < raw->n_vertices; ++v) {
    const int32_t root = root_of(j->parent, (int32_t)v);
    raw->n_joined += root != v;
    raw->n_between += root != v;
  }
  for (int64_t e = 0; e < raw->n_elements; ++e) {
    int32_t *v = raw->corners + raw->width * e;
    const int n = kg_raw_cell(raw, e)->n_vertices;
    for (int i = 0; i < n; ++i) {
      const double *at = raw->vertices + 2 * (int64_t)v[i];
      const int32_t root = root_of(j->parent, v[i]);
      for (int k = 0; k < i; ++k)
        KG_REQUIRE(j->ctx, v[k] != root, KEDGE_ERR_INPUT,
                   "%s: to join vertices within %g joins two corners of %s %lld (from 0), one at "
                   "(%.9g, %.9g); take a smaller distance",
                   j->mesh->source, j->distance, kg_raw_cell(raw, e)->name, (long long)e, at[0],
                   at[1]);
      v[i] = root;
    }
  }
  for (int64_t i = 0; i < 2 * raw->n_lines; ++i) raw->lines[i] = root_of(j->parent, raw->lines[i]);
  return KEDGE_OK;
}

/// A side of the boundary between vertices as they are joined, the lower one first.
typedef struct bank {
  int32_t ends[2];
  int64_t element;
  int facet;
} bank;

static int compare_banks(const void *a, const void *b)
{
  const bank *p = a, *q = b;
  for (int k = 0; k < 2; ++k)
    if (p->ends[k] != q->ends[k]) return p->ends[k] < q->ends[k] ? -1 : 1;
  return (p->element > q->element) - (p->element < q->element);
}

/// Nodes of a side of one element become those of the other, where they are near; others are
/// refused when the mesh is built. Both run counterclockwise, so against each other.
static void fit(const joiner *j, const bank *a, const bank *b)
{
  const int g = j->raw->geometry;
  int from[KG_GEOMETRY_MAX + 1], to[KG_GEOMETRY_MAX + 1];
  kg_facet_nodes(kg_raw_cell(j->raw, a->element), g, a->facet, from);
  kg_facet_nodes(kg_raw_cell(j->raw, b->element), g, b->facet, to);
  for (int k = 1; k < g; ++k) {
    const double *p = kg_raw_nodes(j->raw, a->element) + 2 * from[k];
    double *q = kg_raw_nodes(j->raw, b->element) + 2 * to[g - k];
    if (hypot(p[0] - q[0], p[1] - q[1]) <= j->distance) memcpy(q, p, 2 * sizeof *q);
  }
}

/// Corners, and the nodes of edges that have become one.
static kedge_status fit_nodes(const joiner *j)
{
  const kedge_mesh *mesh = j->mesh;
  kg_raw_mesh *raw = j->raw;
  bank *banks;
  int32_t n = 0;
  KG_TRY(kg_host_alloc(j->ctx, (size_t)mesh->n_boundary_edges, sizeof *banks, &banks));
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side side = mesh->edge_sides[2 * edge];
    if (mesh->edge_sides[2 * edge + 1] != KG_NO_SIDE) continue;
    const int64_t e = mesh->element_origin[kg_side_element(side)];
    const int l = kg_side_facet(side);
    const int32_t *v = kg_raw_corners(raw, e);
    const int32_t a = v[l], b = v[kg_next_facet(kg_raw_cell(raw, e)->n_facets, l)];
    banks[n++] = (bank){{a < b ? a : b, a < b ? b : a}, e, l};
  }
  qsort(banks, (size_t)n, sizeof *banks, compare_banks);
  for (int32_t i = 1; i < n; ++i)
    if (memcmp(banks[i].ends, banks[i - 1].ends, sizeof banks[i].ends) == 0)
      fit(j, &banks[i - 1], &banks[i]);
  free(banks);
  for (int64_t e = 0; e < raw->n_elements; ++e)
    for (int i = 0; i < kg_raw_cell(raw, e)->n_vertices; ++i)
      memcpy(kg_raw_nodes(raw, e) + 2 * i, raw->vertices + 2 * (int64_t)kg_raw_corners(raw, e)[i],
             2 * sizeof(double));
  return KEDGE_OK;
}

static kedge_status join(joiner *j, kedge_mesh **out)
{
  kg_raw_mesh *raw = j->raw;
  KG_TRY(kg_host_alloc(j->ctx, (size_t)raw->n_vertices, sizeof *j->parent, &j->parent));
  for (int32_t v = 0; v < (int32_t)raw->n_vertices; ++v) j->parent[v] = v;
  KG_TRY(list_places(j));
  KG_TRY(find_near(j));
  KG_TRY(renumber(j));
  if (raw->nodes) KG_TRY(fit_nodes(j));
  KG_TRY(kg_mesh_build(j->ctx, raw, j->mesh->source, out));
  if ((*out)->info.turned_elements == 0) return KEDGE_OK;
  kedge_mesh_destroy(*out);
  *out = NULL;
  return KG_FAIL(j->ctx, KEDGE_ERR_INPUT,
                 "%s: to join vertices within %g turns an element over; take a smaller distance",
                 j->mesh->source, j->distance);
}

kedge_status kedge_mesh_join(kedge_context *ctx, const kedge_mesh *mesh, double distance,
                             kedge_mesh **out)
{
  const double began = kg_seconds();
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_mesh_join: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh, KEDGE_ERR_ARG, "kedge_mesh_join: ctx or mesh is NULL");
  KG_TRY(kg_mesh_check_plane(ctx, mesh, "the joining of vertices"));
  KG_REQUIRE(ctx, distance > 0.0 && isfinite(distance), KEDGE_ERR_ARG,
             "the distance of vertices to join must be positive, not %g", distance);
  kg_raw_mesh raw;
  KG_TRY(kg_mesh_check_memory(ctx, mesh->source, mesh->block[mesh->n_blocks - 1].cell,
                              mesh->geometry, mesh->n_elements, false));
  KG_TRY(kg_mesh_to_raw(ctx, mesh, &raw));
  joiner j = {.ctx = ctx, .mesh = mesh, .distance = distance, .raw = &raw};
  const kedge_status status = join(&j, out);
  free(j.places);
  free(j.parent);
  kg_raw_mesh_free(&raw);
  if (status != KEDGE_OK) return status;
  (*out)->info.turned_elements = mesh->info.turned_elements;
  (*out)->info.unused_vertices = mesh->info.unused_vertices;
  (*out)->seconds = mesh->seconds + kg_seconds() - began;
  return KEDGE_OK;
}
