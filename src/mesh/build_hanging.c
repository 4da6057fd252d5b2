// Hanging nodes: a vertex that lies on an edge of an element without being its corner. Sides do not
// match there, and the edges on both sides would pass for boundary. From an end that they share the
// whole edge and the first of its parts run in one direction, with the elements outside of the
// angle of zero between them.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "mesh/build.h"

/// The sine of an angle that is none: a mesh file may round coordinates to seven digits.
#define NO_ANGLE 1e-6

/// A boundary edge as one of its ends sees it.
typedef struct ray {
  int32_t vertex, edge;
  int32_t end, opposite;  ///< the other end; where the element's other edge at `vertex` ends
  double angle;
} ray;

static void from_to(const kedge_mesh *mesh, int32_t from, int32_t to, double d[2])
{
  for (int i = 0; i < 2; ++i)
    d[i] = mesh->vertices[2 * (int64_t)to + i] - mesh->vertices[2 * (int64_t)from + i];
}

static ray ray_of(const kedge_mesh *mesh, int32_t edge, int which)
{
  const kg_side side = mesh->edge_sides[2 * (int64_t)edge];
  const int32_t e = kg_side_element(side), *v = kg_element_vertices(mesh, e);
  const int n = kg_block_of(mesh, e)->cell->n_facets, l = kg_side_facet(side);
  const int32_t around[4] = {v[kg_facet_before(n, l)], v[l], v[kg_next_facet(n, l)],
                             v[kg_next_facet(n, kg_next_facet(n, l))]};
  ray r = {around[1 + which], edge, around[2 - which], around[3 * which], 0.0};
  double d[2];
  from_to(mesh, r.vertex, r.end, d);
  r.angle = atan2(d[1], d[0]);
  return r;
}

static int compare_rays(const void *a, const void *b)
{
  const ray *p = a, *q = b;
  if (p->vertex != q->vertex) return p->vertex < q->vertex ? -1 : 1;
  if (p->angle != q->angle) return p->angle < q->angle ? -1 : 1;
  return (p->edge > q->edge) - (p->edge < q->edge);
}

/// Whether two vertices lie in one direction from a third.
static bool is_one_direction(const kedge_mesh *mesh, int32_t from, int32_t a, int32_t b)
{
  double p[2], q[2];
  from_to(mesh, from, a, p);
  from_to(mesh, from, b, q);
  const double lengths = hypot(p[0], p[1]) * hypot(q[0], q[1]);
  return fabs(p[0] * q[1] - p[1] * q[0]) <= NO_ANGLE * lengths && p[0] * q[0] + p[1] * q[1] > 0.0;
}

/// An element as thin as that may lie between the two itself.
static bool is_thin(const kedge_mesh *mesh, const ray *r)
{
  return is_one_direction(mesh, r->vertex, r->end, r->opposite);
}

static double length_of(const kedge_mesh *mesh, const ray *r)
{
  double d[2];
  from_to(mesh, r->vertex, r->end, d);
  return hypot(d[0], d[1]);
}

static kedge_status check_pair(const kg_mesh_builder *b, const ray *p, const ray *q)
{
  const kedge_mesh *mesh = b->mesh;
  if (p->vertex != q->vertex || p->edge == q->edge) return KEDGE_OK;
  if (!is_one_direction(mesh, p->vertex, p->end, q->end)) return KEDGE_OK;
  if (is_thin(mesh, p) || is_thin(mesh, q)) return KEDGE_OK;
  const bool p_is_longer = length_of(mesh, p) > length_of(mesh, q);
  const ray *whole = p_is_longer ? p : q, *part = p_is_longer ? q : p;
  if (length_of(mesh, part) >= (1.0 - NO_ANGLE) * length_of(mesh, whole))
    return KEDGE_OK;  // a slit
  const double *at = mesh->vertices + 2 * (int64_t)part->end;
  char text[KG_ELEMENT_TEXT];
  const int32_t e = kg_side_element(mesh->edge_sides[2 * (int64_t)whole->edge]);
  kg_build_describe(b, mesh->element_origin[e], text);
  const char *const cell = kg_block_of(mesh, e)->cell->name;
  const bool joined = b->raw->n_joined > 0;
  return KG_FAIL(b->ctx, KEDGE_ERR_INPUT,
                 "%s: the vertex at (%.9g, %.9g) lies on an edge of %s, and is no corner of it (a "
                 "hanging node); split that %s%s",
                 b->source, at[0], at[1], text, cell,
                 joined ? " there before you join: vertices are joined to vertices, not to edges"
                        : ", or, if both sides are boundary, give their edges a physical group");
}

kedge_status kg_build_hanging(kg_mesh_builder *b)
{
  const kedge_mesh *mesh = b->mesh;
  size_t n = 0;
  ray *rays;
  KG_TRY(kg_host_alloc(b->ctx, 2 * (size_t)mesh->n_boundary_edges, sizeof *rays, &rays));
  for (int32_t i = 0; i < mesh->n_boundary_edges; ++i) {
    const int32_t edge = mesh->group_edges[i];
    if (mesh->groups[mesh->edge_group[edge]].tag != 0) continue;
    for (int which = 0; which < 2; ++which) rays[n++] = ray_of(mesh, edge, which);
  }
  qsort(rays, n, sizeof *rays, compare_rays);
  kedge_status status = KEDGE_OK;
  for (size_t i = 0, first = 0; i < n && status == KEDGE_OK; ++i) {
    const bool is_last = i + 1 == n || rays[i + 1].vertex != rays[i].vertex;
    status = check_pair(b, &rays[i], &rays[is_last ? first : i + 1]);  // angles are a circle
    if (is_last) first = i + 1;
  }
  free(rays);
  return status;
}
