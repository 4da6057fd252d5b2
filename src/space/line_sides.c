#include "space/line_sides.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "space/surface_sides.h"

/// An end of an edge that lies inside one region.
typedef struct edge_end {
  int32_t group, vertex;
  int32_t at;  ///< 2 * edge of the list + end
} edge_end;

static int compare_ends(const void *a, const void *b)
{
  const edge_end *const x = a, *const y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (x->vertex != y->vertex) return x->vertex < y->vertex ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

/// The lines that are followed.
typedef struct lines {
  const kedge_mesh *mesh;
  const int32_t *edges;
  kg_side *sides;
  int32_t *partner;  ///< [end]: that of the next edge at its vertex; -1: the line ends there
  bool *is_done;     ///< [edge of the list]
} lines;

static int32_t vertex_of(const lines *l, int32_t end)
{
  int32_t ends[2];
  kg_side_ends(l->mesh, l->mesh->edge_sides[2 * (int64_t)l->edges[end / 2]], ends);
  return ends[end % 2];
}

/// Link the ends at vertices where two edges of a group meet.
static void link_ends(const lines *l, edge_end *ends, int32_t n)
{
  qsort(ends, (size_t)n, sizeof *ends, compare_ends);
  for (int32_t i = 0, next; i < n; i = next) {
    for (next = i + 1;
         next < n && ends[next].group == ends[i].group && ends[next].vertex == ends[i].vertex;)
      ++next;
    const bool is_pair = next - i == 2;
    for (int32_t k = i; k < next; ++k)
      l->partner[ends[k].at] = is_pair ? ends[k == i ? i + 1 : i].at : -1;
  }
}

/// The end at which the line of an edge begins: that of the edge itself where the line closes with
/// two edges at each vertex.
static int32_t beginning(const lines *l, int32_t edge)
{
  int32_t begin = 2 * edge;
  while (l->partner[begin] >= 0) {
    begin = l->partner[begin] ^ 1;
    if (begin == 2 * edge) break;
  }
  return begin;
}

/// Whether n, which is to the right of a line that was followed, is to point the other way.
static bool points_back(bool is_closed, double area, double dx, double dy)
{
  const double little = 1e-9 * fabs(dx);
  if (is_closed) return area < 0.0;
  return fabs(dy) > little ? dy < 0.0 : dx > 0.0;
}

/// Follow a line, and choose the sides of its edges.
static void follow(const lines *l, int32_t edge)
{
  const int32_t begin = beginning(l, edge);
  const double *const first = l->mesh->vertices + 2 * (int64_t)vertex_of(l, begin), *to = first;
  double area = 0.0;
  int32_t end = begin;
  do {
    const double *const from = to;
    to = l->mesh->vertices + 2 * (int64_t)vertex_of(l, end ^ 1);
    area += (from[0] - first[0]) * (to[1] - first[1]) - (to[0] - first[0]) * (from[1] - first[1]);
    end = l->partner[end ^ 1];
  } while (end >= 0 && end != begin);
  const bool back = points_back(to == first, area, to[0] - first[0], to[1] - first[1]);
  end = begin;
  do {
    // The first side of an edge runs from its end 0 to its end 1 with its element to the left.
    const int which = (end % 2 == 0) == back;
    l->sides[end / 2] = l->mesh->edge_sides[2 * (int64_t)l->edges[end / 2] + which];
    l->is_done[end / 2] = true;
    end = l->partner[end ^ 1];
  } while (end >= 0 && end != begin);
}

/// @param[out] inside  the edge lies inside one region
static kg_side side_of(const kedge_mesh *mesh, int32_t edge, bool *inside)
{
  const kg_side *const sides = mesh->edge_sides + 2 * (int64_t)edge;
  *inside = false;
  if (sides[1] == KG_NO_SIDE) return sides[0];
  const int32_t a = mesh->element_region[kg_side_element(sides[0])];
  const int32_t b = mesh->element_region[kg_side_element(sides[1])];
  *inside = a == b;
  return b < a ? sides[1] : sides[0];
}

/// kg_line_sides() in space, of faces.
static kedge_status sides_in_space(kedge_context *ctx, const kedge_mesh *mesh, int32_t n,
                                   const int32_t *faces, kg_side *sides)
{
  bool *is_inside, any = false;
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *is_inside, &is_inside));
  for (int32_t i = 0; i < n; ++i) {
    sides[i] = side_of(mesh, faces[i], &is_inside[i]);
    any = any || is_inside[i];
  }
  const kedge_status status =
      any ? kg_surface_sides(ctx, mesh, n, is_inside, faces, sides) : KEDGE_OK;
  free(is_inside);
  return status;
}

kedge_status kg_line_sides(kedge_context *ctx, const kedge_mesh *mesh, int32_t n,
                           const int32_t *edges, kg_side *sides)
{
  lines l = {.mesh = mesh, .edges = edges, .sides = sides};
  edge_end *ends = NULL;
  int32_t n_ends = 0;
  if (kg_mesh_in_space(mesh)) return sides_in_space(ctx, mesh, n, edges, sides);
  for (int32_t i = 0; i < n; ++i) {
    bool inside;
    sides[i] = side_of(mesh, edges[i], &inside);
    n_ends += 2 * inside;
  }
  if (n_ends == 0) return KEDGE_OK;
  kedge_status status = kg_host_alloc(ctx, (size_t)n_ends, sizeof *ends, &ends);
  if (status == KEDGE_OK)
    status = kg_host_calloc(ctx, 2 * (size_t)n, sizeof *l.partner, &l.partner);
  if (status == KEDGE_OK) status = kg_host_calloc(ctx, (size_t)n, sizeof *l.is_done, &l.is_done);
  n_ends = 0;
  for (int32_t i = 0; status == KEDGE_OK && i < n; ++i) {
    bool inside;
    side_of(mesh, edges[i], &inside);
    l.is_done[i] = !inside;
    for (int k = 0; inside && k < 2; ++k)
      ends[n_ends++] = (edge_end){kg_group_of_edge(mesh->edge_group[edges[i]]),
                                  vertex_of(&l, 2 * i + k), 2 * i + k};
  }
  if (status == KEDGE_OK) {
    link_ends(&l, ends, n_ends);
    for (int32_t i = 0; i < n; ++i)
      if (!l.is_done[i]) follow(&l, i);
  }
  free(ends);
  free(l.partner);
  free(l.is_done);
  return status;
}
