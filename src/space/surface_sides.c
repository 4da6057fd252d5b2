#include "space/surface_sides.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"

/// An edge of a face. The corners of a face are a cycle, which both its sides see alike.
typedef struct rim {
  int32_t group, low, high;  ///< vertices
  int32_t at;                ///< 3 * face of the list + edge
  bool falls;                ///< the cycle goes from `high` to `low`
} rim;

static int compare_rims(const void *a, const void *b)
{
  const rim *const x = a, *const y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

enum { NONE = -1 };

/// The faces that are followed.
typedef struct surfaces {
  const kedge_mesh *mesh;
  const int32_t *faces;
  kg_side *sides;
  int32_t
      *partner;     ///< [3 * face + edge]: the face beyond << 1 | its cycle goes the same way along
                    ///< the edge; NONE: the surface ends there
  bool *is_done;    ///< [face]
  bool *is_turned;  ///< [face]: n is against the normal of its cycle
  int32_t *stack;   ///< [face]: those of a surface, in the order in which they are found
} surfaces;

static void corners_of(const surfaces *s, int32_t face, int32_t corner[3])
{
  kg_side_corners(s->mesh, s->mesh->edge_sides[2 * (int64_t)s->faces[face]], corner);
}

/// Link the edges at which two faces of a group meet.
static void link_rims(const surfaces *s, rim *rims, int32_t n)
{
  qsort(rims, (size_t)n, sizeof *rims, compare_rims);
  for (int32_t i = 0, next; i < n; i = next) {
    for (next = i + 1; next < n && rims[next].group == rims[i].group &&
                       rims[next].low == rims[i].low && rims[next].high == rims[i].high;)
      ++next;
    const bool same = next - i == 2 && rims[i].falls == rims[i + 1].falls;
    for (int32_t k = i; k < next; ++k) {
      const rim *const other = &rims[k == i ? next - 1 : i];
      s->partner[rims[k].at] = next - i == 2 ? other->at / 3 << 1 | same : NONE;
    }
  }
}

/// Turn the faces of a surface alike. @return how many it has, in `stack`
static int32_t collect(const surfaces *s, int32_t first, bool *is_closed)
{
  int32_t n = 0;
  *is_closed = true;
  s->is_done[first] = true;
  s->stack[n++] = first;
  for (int32_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) {
      const int32_t face = s->stack[i], partner = s->partner[3 * face + k];
      if (partner == NONE) *is_closed = false;
      if (partner == NONE || s->is_done[partner >> 1]) continue;
      s->is_done[partner >> 1] = true;
      s->is_turned[partner >> 1] = s->is_turned[face] != (partner & 1);
      s->stack[n++] = partner >> 1;
    }
  return n;
}

/// Add twice the area of a face, as a vector along n, and six times the volume of the tetrahedron
/// that it makes with a point.
static void add_face(const surfaces *s, int32_t face, const double *point, double area[3],
                     double *volume)
{
  int32_t v[3];
  double to[3][3], normal[3];
  corners_of(s, face, v);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) to[i][k] = s->mesh->vertices[3 * (int64_t)v[i] + k] - point[k];
  for (int k = 0; k < 3; ++k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    normal[k] = (to[1][a] - to[0][a]) * (to[2][b] - to[0][b]) -
                (to[1][b] - to[0][b]) * (to[2][a] - to[0][a]);
  }
  for (int k = 0; k < 3; ++k) {
    const double along = s->is_turned[face] ? -normal[k] : normal[k];
    area[k] += along;
    *volume += to[0][k] * along;
  }
}

/// Whether n of a surface is to point the other way.
static bool points_back(bool is_closed, double volume, const double area[3])
{
  const double little = 1e-9 * hypot(hypot(area[0], area[1]), area[2]);
  int k = 0;
  if (is_closed) return volume < 0.0;
  while (k < 2 && !(fabs(area[k]) > little)) ++k;
  return area[k] < 0.0;
}

/// Choose the sides of the faces of a surface, which begins with one of them.
static void follow(const surfaces *s, int32_t first)
{
  bool is_closed;
  int32_t v[3];
  double area[3] = {0.0, 0.0, 0.0}, volume = 0.0;
  const int32_t n = collect(s, first, &is_closed);
  corners_of(s, first, v);
  const double *const point = s->mesh->vertices + 3 * (int64_t)v[0];
  for (int32_t i = 0; i < n; ++i) add_face(s, s->stack[i], point, area, &volume);
  const bool back = points_back(is_closed, volume, area);
  for (int32_t i = 0; i < n; ++i) {
    const int32_t face = s->stack[i];
    const kg_side *const both = s->mesh->edge_sides + 2 * (int64_t)s->faces[face];
    // n along the normal of the cycle points out of the element that is not above.
    const bool above = s->is_turned[face] != back;
    s->sides[face] = both[kg_space_is_above(s->mesh, both[0]) != above];
  }
}

kedge_status kg_surface_sides(kedge_context *ctx, const kedge_mesh *mesh, int32_t n,
                              const bool *is_inside, const int32_t *faces, kg_side *sides)
{
  surfaces s = {.mesh = mesh, .faces = faces, .sides = sides};
  const size_t count = (size_t)n;
  rim *rims = NULL;
  int32_t n_rims = 0;
  kedge_status status = kg_host_alloc(ctx, 3 * count, sizeof *rims, &rims);
  if (status == KEDGE_OK) status = kg_host_alloc(ctx, 3 * count, sizeof *s.partner, &s.partner);
  if (status == KEDGE_OK) status = kg_host_alloc(ctx, count, sizeof *s.stack, &s.stack);
  if (status == KEDGE_OK) status = kg_host_calloc(ctx, count, sizeof *s.is_done, &s.is_done);
  if (status == KEDGE_OK) status = kg_host_calloc(ctx, count, sizeof *s.is_turned, &s.is_turned);
  for (int32_t i = 0; status == KEDGE_OK && i < n; ++i) {
    int32_t v[3];
    s.is_done[i] = !is_inside[i];
    if (!is_inside[i]) continue;
    corners_of(&s, i, v);
    for (int k = 0; k < 3; ++k) {
      const int32_t from = v[k], to = v[(k + 1) % 3];
      rims[n_rims++] = (rim){kg_group_of_edge(mesh->edge_group[faces[i]]), from < to ? from : to,
                             from < to ? to : from, 3 * i + k, from > to};
    }
  }
  if (status == KEDGE_OK) {
    link_rims(&s, rims, n_rims);
    for (int32_t i = 0; i < n; ++i)
      if (!s.is_done[i]) follow(&s, i);
  }
  free(rims);
  free(s.partner);
  free(s.stack);
  free(s.is_done);
  free(s.is_turned);
  return status;
}
