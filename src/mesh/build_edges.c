// Edges without a hash table: two stable counting sorts bring the sides of an edge together, then
// one pass matches neighbours and one numbers edges by first appearance in side order. Every step
// is O(sides); vertices are numbered along the Hilbert curve, so the scattered accesses stay near.
#include <stdio.h>
#include <string.h>

#include "device/loop.h"
#include "core/memory.h"
#include "mesh/build.h"

static inline int32_t end_vertex(const kedge_mesh *mesh, kg_side side, bool higher)
{
  int32_t low, high;
  kg_side_vertices(mesh, side, &low, &high);
  return higher ? high : low;
}

static void list_sides(const kedge_mesh *mesh, kg_side *sides)
{
  for (int32_t e = 0; e < mesh->n_elements; ++e)
    for (int l = 0; l < kg_block_of(mesh, e)->cell->n_facets; ++l) *sides++ = kg_side_of(e, l);
}

/// Stable counting sort of sides by one of their vertices.
/// @param[out] first  [n_vertices + 2]: begin of each vertex in `to`; the last entry is scratch
static void sort_sides(const kedge_mesh *mesh, bool by_higher, const kg_side *from, kg_side *to,
                       uint32_t *first)
{
  const int64_t n = kg_mesh_sides(mesh);
  memset(first, 0, ((size_t)mesh->n_vertices + 2) * sizeof *first);
  uint32_t *next = first + 1;  // moves from the begin of a vertex to the begin of the following one
  for (int64_t i = 0; i < n; ++i) ++next[end_vertex(mesh, from[i], by_higher) + 1];
  for (int32_t v = 0; v < mesh->n_vertices; ++v) next[v + 1] += next[v];
  for (int64_t i = 0; i < n; ++i) to[next[end_vertex(mesh, from[i], by_higher)]++] = from[i];
}

static bool same_edge(const kedge_mesh *mesh, kg_side side, kg_side other)
{
  int32_t low, high, other_low, other_high;
  kg_side_vertices(mesh, side, &low, &high);
  kg_side_vertices(mesh, other, &other_low, &other_high);
  return low == other_low && high == other_high;
}

static int32_t begin_of(const kedge_mesh *mesh, kg_side side)
{
  return mesh->element_vertices[kg_side_place(mesh, side)];
}

/// Write the partner of every side, or KG_NO_SIDE, to side_edge.
/// @return the place in `sides` of the first side of an edge that cannot be; -1: none
static int64_t match_sides(kg_mesh_builder *b, int64_t *n_boundary)
{
  const kedge_mesh *mesh = b->mesh;
  const int64_t n = kg_mesh_sides(mesh);
  const kg_side *sides = b->sides;
  int64_t bad = INT64_MAX, lonely = 0;
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, n, 1)) \
    reduction(min : bad) reduction(+ : lonely)
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0 && same_edge(mesh, sides[i - 1], sides[i])) continue;
    const kg_side s = sides[i];
    if (i + 1 == n || !same_edge(mesh, s, sides[i + 1])) {
      mesh->side_edge[kg_side_place(mesh, s)] = KG_NO_SIDE;
      ++lonely;
      continue;
    }
    const kg_side t = sides[i + 1];
    mesh->side_edge[kg_side_place(mesh, s)] = t;
    mesh->side_edge[kg_side_place(mesh, t)] = s;
    // All elements run counterclockwise: neighbours run along their edge in opposite directions.
    const bool folded = begin_of(mesh, s) == begin_of(mesh, t);
    const bool third = i + 2 < n && same_edge(mesh, s, sides[i + 2]);
    if ((folded || third) && i < bad) bad = i;
  }
  *n_boundary = lonely;
  return bad == INT64_MAX ? -1 : bad;
}

bool kg_build_same_element(const kedge_mesh *mesh, kg_side side, kg_side other)
{
  const int32_t e = kg_side_element(side), f = kg_side_element(other);
  const int n = kg_block_of(mesh, e)->cell->n_vertices;
  const int32_t *v = kg_element_vertices(mesh, e), *w = kg_element_vertices(mesh, f);
  if (kg_block_of(mesh, f)->cell->n_vertices != n) return false;
  for (int i = 0; i < n; ++i) {
    int k = 0;
    while (k < n && w[k] != v[i]) ++k;
    if (k == n) return false;
  }
  return true;
}

/// Say what is wrong with the edge whose sides begin at sides[i].
static kedge_status refuse(const kg_mesh_builder *b, int64_t i)
{
  const kedge_mesh *mesh = b->mesh;
  const int64_t n = kg_mesh_sides(mesh);
  const kg_side *sides = b->sides;
  kg_side first = sides[i], second = sides[i + 1];
  int64_t count = 2;
  while (i + count < n && same_edge(mesh, first, sides[i + count])) ++count;
  char what[128] = "lie on the same side of their common edge (the mesh is folded)";
  if (count > 2)
    snprintf(what, sizeof what, "share an edge with a third %s, and an edge has two at most",
             kg_block_of(mesh, kg_side_element(sides[i + 2]))->cell->name);
  for (int64_t j = i; j < i + count; ++j) {
    for (int64_t k = j + 1; k < i + count; ++k) {
      if (!kg_build_same_element(mesh, sides[j], sides[k])) continue;
      first = sides[j];
      second = sides[k];
      snprintf(what, sizeof what, "are duplicates: they have the same vertices");
      j = k = i + count;
    }
  }
  const int64_t e = mesh->element_origin[kg_side_element(first)];
  const int64_t f = mesh->element_origin[kg_side_element(second)];
  char text[KG_ELEMENT_TEXT], other[KG_ELEMENT_TEXT];
  kg_build_describe(b, e < f ? e : f, text);
  kg_build_describe(b, e < f ? f : e, other);
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT, "%s: %s and %s %s; repair the mesh", b->source, text,
                 other, what);
}

static void number_edges(kedge_mesh *mesh)
{
  uint32_t n = 0, *place = mesh->side_edge;
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const int n_facets = kg_block_of(mesh, e)->cell->n_facets;
    for (int l = 0; l < n_facets; ++l, ++place) {
      const kg_side side = kg_side_of(e, l), partner = *place;
      uint32_t edge, reversed = 0;
      if (mesh->dimension == 2) {
        int32_t ends[2];
        kg_side_ends(mesh, side, ends);
        reversed = ends[0] > ends[1];
      }
      if (partner > side) {  // KG_NO_SIDE too
        edge = n++;
        mesh->edge_sides[2 * (int64_t)edge] = side;
        mesh->edge_sides[2 * (int64_t)edge + 1] = partner;
      } else {
        edge = (uint32_t)kg_side_edge(mesh, partner);  // numbered before
      }
      *place = edge << 1 | reversed;
    }
  }
}

kedge_status kg_build_number_edges(kg_mesh_builder *b, int64_t n_boundary)
{
  kedge_mesh *mesh = b->mesh;
  const int64_t n_edges = (kg_mesh_sides(mesh) + n_boundary) / 2;
  KG_REQUIRE(b->ctx, n_edges <= INT32_MAX, KEDGE_ERR_INPUT,
             "%s: %lld %s are more than kedge can number (%d); use a smaller mesh", b->source,
             (long long)n_edges, mesh->dimension == 3 ? "faces" : "edges", INT32_MAX);
  mesh->n_edges = (int32_t)n_edges;
  mesh->n_boundary_edges = (int32_t)n_boundary;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n_edges, 2 * sizeof *mesh->edge_sides, &mesh->edge_sides));
  number_edges(mesh);
  return KEDGE_OK;
}

kedge_status kg_build_edges(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  if (mesh->dimension == 3) return kg_space_facets(b);
  const int64_t n = kg_mesh_sides(mesh);
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof *b->sides, &b->sides));
  KG_TRY(
      kg_host_alloc(b->ctx, (size_t)mesh->n_vertices + 2, sizeof *b->first_side, &b->first_side));
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof *mesh->side_edge, &mesh->side_edge));
  kg_side *by_higher = mesh->side_edge;  // not needed yet
  list_sides(mesh, b->sides);
  sort_sides(mesh, true, b->sides, by_higher, b->first_side);
  sort_sides(mesh, false, by_higher, b->sides, b->first_side);

  int64_t n_boundary;
  const int64_t bad = match_sides(b, &n_boundary);
  if (bad >= 0) return refuse(b, bad);
  return kg_build_number_edges(b, n_boundary);
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
  uint32_t begin = b->first_side[lower], end = b->first_side[lower + 1];
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    int32_t low, high;
    kg_side_vertices(mesh, b->sides[middle], &low, &high);
    if (high == higher) return kg_side_edge(mesh, b->sides[middle]);
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
  for (int64_t i = 0; i < raw->n_lines; ++i)
    b->line_edge[i] = raw->dimension == 3 ? kg_space_find_facet(b, raw->lines + 3 * i)
                                          : find_edge(b, raw->lines + 2 * i);
  return KEDGE_OK;
}
