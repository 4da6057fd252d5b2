// Edges without a hash table: two stable counting sorts bring the sides of an edge together, then
// one pass matches neighbours and one numbers edges by first appearance in side order. Every step
// is O(sides); vertices are numbered along the Hilbert curve, so the scattered accesses stay near.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/loop.h"
#include "core/memory.h"
#include "mesh/build.h"

#define NO_PARTNER UINT32_MAX

static inline int32_t end_vertex(const kedge_mesh *mesh, int32_t side, bool higher)
{
  int32_t low, high;
  kg_side_vertices(mesh->element_vertices, side, &low, &high);
  return higher ? high : low;
}

/// Stable counting sort of sides by one of their vertices.
/// @param[in]  from   NULL: the sides in their order
/// @param[out] first  [n_vertices + 2]: begin of each vertex in `to`; the last entry is scratch
static void sort_sides(const kedge_mesh *mesh, bool by_higher, const int32_t *from, int32_t *to,
                       int32_t *first)
{
  const int32_t n = 3 * mesh->n_elements;
  memset(first, 0, ((size_t)mesh->n_vertices + 2) * sizeof *first);
  int32_t *next = first + 1;  // moves from the begin of a vertex to the begin of the following one
  for (int32_t i = 0; i < n; ++i) ++next[end_vertex(mesh, i, by_higher) + 1];
  for (int32_t v = 0; v < mesh->n_vertices; ++v) next[v + 1] += next[v];
  for (int32_t i = 0; i < n; ++i) {
    const int32_t side = from ? from[i] : i;
    to[next[end_vertex(mesh, side, by_higher)]++] = side;
  }
}

static bool same_edge(const kedge_mesh *mesh, int32_t side, int32_t other)
{
  int32_t low, high, other_low, other_high;
  kg_side_vertices(mesh->element_vertices, side, &low, &high);
  kg_side_vertices(mesh->element_vertices, other, &other_low, &other_high);
  return low == other_low && high == other_high;
}

/// Write the partner of every side, or NO_PARTNER, to side_edge.
/// @return the first side, in sorted order, of an edge that cannot be; -1: none
static int32_t match_sides(kg_mesh_builder *b, int32_t *n_boundary)
{
  const kedge_mesh *mesh = b->mesh;
  const int32_t n = 3 * mesh->n_elements, *sides = b->sides;
  int32_t bad = INT32_MAX, lonely = 0;
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, n)) \
    reduction(min : bad) reduction(+ : lonely)
  for (int32_t i = 0; i < n; ++i) {
    if (i > 0 && same_edge(mesh, sides[i - 1], sides[i])) continue;
    const int32_t s = sides[i];
    if (i + 1 == n || !same_edge(mesh, s, sides[i + 1])) {
      mesh->side_edge[s] = NO_PARTNER;
      ++lonely;
      continue;
    }
    const int32_t t = sides[i + 1];
    mesh->side_edge[s] = (uint32_t)t;
    mesh->side_edge[t] = (uint32_t)s;
    // All elements run counterclockwise: neighbours run along their edge in opposite directions.
    const bool folded = mesh->element_vertices[s] == mesh->element_vertices[t];
    const bool third = i + 2 < n && same_edge(mesh, s, sides[i + 2]);
    if ((folded || third) && i < bad) bad = i;
  }
  *n_boundary = lonely;
  return bad == INT32_MAX ? -1 : bad;
}

static bool same_element(const kedge_mesh *mesh, int32_t side, int32_t other)
{
  // The elements of both sides share two vertices; the third vertex is opposite to the side.
  const int32_t apex = mesh->element_vertices[side / 3 * 3 + (side + 2) % 3];
  return apex == mesh->element_vertices[other / 3 * 3 + (other + 2) % 3];
}

/// Say what is wrong with the edge whose sides begin at sides[i].
static kedge_status refuse(const kg_mesh_builder *b, int32_t i)
{
  const kedge_mesh *mesh = b->mesh;
  const int32_t n = 3 * mesh->n_elements, *sides = b->sides;
  int32_t count = 2, first = sides[i], second = sides[i + 1];
  while (i + count < n && same_edge(mesh, first, sides[i + count])) ++count;
  const char *what = count > 2 ? "share an edge with a third triangle, and an edge has two at most"
                               : "lie on the same side of their common edge (the mesh is folded)";
  for (int32_t j = i; j < i + count; ++j) {
    for (int32_t k = j + 1; k < i + count; ++k) {
      if (!same_element(mesh, sides[j], sides[k])) continue;
      first = sides[j];
      second = sides[k];
      what = "are duplicates: they have the same vertices";
      j = k = i + count;
    }
  }
  int64_t e = mesh->element_origin[first / 3], f = mesh->element_origin[second / 3];
  if (e > f) {
    const int64_t larger = e;
    e = f;
    f = larger;
  }
  char text[KG_ELEMENT_TEXT], other[KG_ELEMENT_TEXT];
  kg_build_describe(b, e, text);
  kg_build_describe(b, f, other);
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT, "%s: %s and %s %s; repair the mesh", b->source, text,
                 other, what);
}

/// Replace partners in side_edge by edges, numbered by first appearance in side order.
static void number_edges(kedge_mesh *mesh)
{
  int32_t n = 0;
  for (int32_t s = 0; s < 3 * mesh->n_elements; ++s) {
    const uint32_t partner = mesh->side_edge[s];
    const int32_t a = mesh->element_vertices[s];
    const int32_t next = mesh->element_vertices[kg_next_side(s)];
    uint32_t edge;
    if (partner == NO_PARTNER || partner > (uint32_t)s) {
      edge = (uint32_t)n++;
      mesh->edge_sides[2 * (int64_t)edge] = s;
      mesh->edge_sides[2 * (int64_t)edge + 1] = partner == NO_PARTNER ? -1 : (int32_t)partner;
    } else {
      edge = mesh->side_edge[partner] >> 1;  // numbered before: partner < s
    }
    mesh->side_edge[s] = edge << 1 | (a > next);
  }
}

kedge_status kg_build_edges(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const size_t n = 3 * (size_t)mesh->n_elements;
  KG_TRY(kg_host_alloc(b->ctx, n, sizeof(int32_t), &b->sides));
  KG_TRY(kg_host_alloc(b->ctx, (size_t)mesh->n_vertices + 2, sizeof(int32_t), &b->first_side));
  KG_TRY(kg_host_alloc(b->ctx, n, sizeof(uint32_t), &mesh->side_edge));
  int32_t *by_higher = (int32_t *)mesh->side_edge;  // not needed yet
  sort_sides(mesh, true, NULL, by_higher, b->first_side);
  sort_sides(mesh, false, by_higher, b->sides, b->first_side);

  const int32_t bad = match_sides(b, &mesh->n_boundary_edges);
  if (bad >= 0) return refuse(b, bad);
  mesh->n_edges = (int32_t)((n + (size_t)mesh->n_boundary_edges) / 2);
  KG_TRY(kg_host_alloc(b->ctx, (size_t)mesh->n_edges, 2 * sizeof(int32_t), &mesh->edge_sides));
  number_edges(mesh);
  return KEDGE_OK;
}

/// The edge between two raw vertices, or -1. The sides of a lower vertex are sorted by the higher.
static int32_t find_edge(const kg_mesh_builder *b, const int32_t line[2])
{
  const kedge_mesh *mesh = b->mesh;
  if (line[0] < 0 || line[0] >= b->raw->n_vertices || line[1] < 0 || line[1] >= b->raw->n_vertices)
    return -1;
  const int32_t v = b->vertex_number[line[0]], w = b->vertex_number[line[1]];
  if (v < 0 || w < 0) return -1;
  const int32_t lower = v < w ? v : w, higher = v < w ? w : v;
  int32_t begin = b->first_side[lower], end = b->first_side[lower + 1];
  while (begin < end) {
    const int32_t middle = begin + (end - begin) / 2;
    int32_t low, high;
    kg_side_vertices(mesh->element_vertices, b->sides[middle], &low, &high);
    if (high == higher) return (int32_t)(mesh->side_edge[b->sides[middle]] >> 1);
    if (high < higher)
      begin = middle + 1;
    else
      end = middle;
  }
  return -1;
}

kedge_status kg_build_lines(kg_mesh_builder *b)
{
  const kg_raw_mesh *raw = b->raw;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)raw->n_lines, sizeof(int32_t), &b->line_edge));
  for (int64_t i = 0; i < raw->n_lines; ++i) b->line_edge[i] = find_edge(b, raw->lines + 2 * i);
  return KEDGE_OK;
}
