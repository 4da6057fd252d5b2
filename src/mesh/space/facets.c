// Facets of tetrahedra: two radix sorts bring the sides of a facet together, then neighbours are
// matched and facets numbered as edges are in the plane (build_edges.c).
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "mesh/build.h"
#include "mesh/radix.h"

static void put_in_order(int32_t *a, int32_t *b)
{
  const int32_t lower = *a < *b ? *a : *b, higher = *a < *b ? *b : *a;
  *a = lower;
  *b = higher;
}

static void sort_three(int32_t v[3])
{
  put_in_order(&v[0], &v[1]);
  put_in_order(&v[1], &v[2]);
  put_in_order(&v[0], &v[1]);
}

/// The vertices of a side by their numbers.
static void vertices_of(const kedge_mesh *mesh, kg_side side, int32_t v[3])
{
  kg_side_corners(mesh, side, v);
  sort_three(v);
}

static bool same_facet(const kedge_mesh *mesh, kg_side side, kg_side other)
{
  int32_t v[3], w[3];
  vertices_of(mesh, side, v);
  vertices_of(mesh, other, w);
  return v[0] == w[0] && v[1] == w[1] && v[2] == w[2];
}

/// Fill `sides` and `first_side` of the builder.
static kedge_status sort_sides(kg_mesh_builder *b)
{
  const kedge_mesh *mesh = b->mesh;
  const int64_t n = kg_mesh_sides(mesh);
  kg_pair *pairs;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof *pairs, &pairs));
  // The sorts are stable: by both higher vertices first, then by the lowest.
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, n, 1))
  for (int64_t i = 0; i < n; ++i) {
    const kg_side side = kg_side_of((int32_t)(i / 4), (int)(i % 4));
    int32_t v[3];
    vertices_of(mesh, side, v);
    pairs[i] = (kg_pair){(uint64_t)(uint32_t)v[1] << 32 | (uint32_t)v[2], side};
  }
  kedge_status status = kg_radix_sort(b->ctx, &pairs, (size_t)n, 64);
  if (status != KEDGE_OK) goto done;
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, n, 1))
  for (int64_t i = 0; i < n; ++i) {
    int32_t v[3];
    vertices_of(mesh, (kg_side)pairs[i].value, v);
    pairs[i].key = (uint64_t)v[0];
  }
  status = kg_radix_sort(b->ctx, &pairs, (size_t)n, 32);
  if (status != KEDGE_OK) goto done;
  int32_t next = 0;
  for (int64_t i = 0; i < n; ++i) {
    b->sides[i] = (kg_side)pairs[i].value;
    while (next <= (int32_t)pairs[i].key) b->first_side[next++] = (uint32_t)i;
  }
  while (next <= mesh->n_vertices) b->first_side[next++] = (uint32_t)n;
done:
  free(pairs);
  return status;
}

/// Write the partner of every side, or KG_NO_SIDE, to side_edge.
/// @return the place in `sides` of the first side of a facet that cannot be; -1: none
static int64_t match_sides(kg_mesh_builder *b, int64_t *n_boundary)
{
  const kedge_mesh *mesh = b->mesh;
  const int64_t n = kg_mesh_sides(mesh);
  const kg_side *sides = b->sides;
  int64_t bad = INT64_MAX, lonely = 0;
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, n, 1)) \
    reduction(min : bad) reduction(+ : lonely)
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0 && same_facet(mesh, sides[i - 1], sides[i])) continue;
    const kg_side s = sides[i];
    if (i + 1 == n || !same_facet(mesh, s, sides[i + 1])) {
      mesh->side_edge[kg_side_place(mesh, s)] = KG_NO_SIDE;
      ++lonely;
      continue;
    }
    const kg_side t = sides[i + 1];
    mesh->side_edge[kg_side_place(mesh, s)] = t;
    mesh->side_edge[kg_side_place(mesh, t)] = s;
    const bool folded = kg_space_is_above(mesh, s) == kg_space_is_above(mesh, t);
    const bool third = i + 2 < n && same_facet(mesh, s, sides[i + 2]);
    if ((folded || third) && i < bad) bad = i;
  }
  *n_boundary = lonely;
  return bad == INT64_MAX ? -1 : bad;
}

/// Say what is wrong with the facet whose sides begin at sides[i].
static kedge_status refuse(const kg_mesh_builder *b, int64_t i)
{
  const kedge_mesh *mesh = b->mesh;
  const int64_t n = kg_mesh_sides(mesh);
  const kg_side *sides = b->sides;
  kg_side first = sides[i], second = sides[i + 1];
  int64_t count = 2;
  while (i + count < n && same_facet(mesh, first, sides[i + count])) ++count;
  const char *what = count > 2 ? "share a face with a third tetrahedron, and a face has two at most"
                               : "lie on the same side of their common face (the mesh is folded)";
  for (int64_t j = i; j < i + count; ++j)
    for (int64_t k = j + 1; k < i + count; ++k)
      if (kg_build_same_element(mesh, sides[j], sides[k])) {
        first = sides[j];
        second = sides[k];
        what = "are duplicates: they have the same vertices";
        j = k = i + count;
      }
  const int64_t e = mesh->element_origin[kg_side_element(first)];
  const int64_t f = mesh->element_origin[kg_side_element(second)];
  char text[KG_ELEMENT_TEXT], other[KG_ELEMENT_TEXT];
  kg_build_describe(b, e < f ? e : f, text);
  kg_build_describe(b, e < f ? f : e, other);
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT, "%s: %s and %s %s; repair the mesh", b->source, text,
                 other, what);
}

kedge_status kg_space_facets(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const size_t n = (size_t)kg_mesh_sides(mesh);
  int64_t n_boundary;
  KG_TRY(kg_host_alloc(b->ctx, n, sizeof *b->sides, &b->sides));
  KG_TRY(
      kg_host_alloc(b->ctx, (size_t)mesh->n_vertices + 1, sizeof *b->first_side, &b->first_side));
  KG_TRY(kg_host_alloc(b->ctx, n, sizeof *mesh->side_edge, &mesh->side_edge));
  KG_TRY(sort_sides(b));
  const int64_t bad = match_sides(b, &n_boundary);
  return bad < 0 ? kg_build_number_edges(b, n_boundary) : refuse(b, bad);
}

int32_t kg_space_find_facet(const kg_mesh_builder *b, const int32_t line[3])
{
  const kedge_mesh *mesh = b->mesh;
  int32_t v[3];
  for (int i = 0; i < 3; ++i) {
    if (line[i] < 0 || line[i] >= b->raw->n_vertices) return -1;
    v[i] = b->vertex_number[line[i]];
    if (v[i] < 0) return -1;
  }
  sort_three(v);
  uint32_t begin = b->first_side[v[0]], end = b->first_side[v[0] + 1];
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    int32_t w[3];
    vertices_of(mesh, b->sides[middle], w);
    if (w[1] == v[1] && w[2] == v[2]) return kg_side_edge(mesh, b->sides[middle]);
    if (w[1] < v[1] || (w[1] == v[1] && w[2] < v[2]))
      begin = middle + 1;
    else
      end = middle;
  }
  return -1;
}
