// Moving the nodes of a mesh.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "device/loop.h"
#include "expression/function.h"
#include "mesh/nodes.h"
#include "mesh/triangle.h"

typedef struct mover {
  kedge_context *ctx;
  const kg_function *x, *y;
  const char *source;
  const kg_curve *curves;
  kg_raw_mesh *raw;
} mover;

/// Move n <= KG_NODES_MAX places. @return whether all that comes out can be coordinates
static bool move_places(const mover *m, int n, const double *xy, double *moved)
{
  double from[2][KG_NODES_MAX], to[2][KG_NODES_MAX];
  bool sound = true;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 2; ++k) from[k][i] = xy[2 * i + k];
  const kedge_points points = {.n = (size_t)n, .x = from[0], .y = from[1]};
  kg_function_evaluate(m->x, &points, to[0]);
  kg_function_evaluate(m->y, &points, to[1]);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 2; ++k) {
      moved[2 * i + k] = to[k][i];
      sound = sound && kg_is_coordinate(to[k][i]);
    }
  return sound;
}

/// The least determinant of the map of an element that was moved, over its mean without sign: not
/// positive where it turns over.
static double least_determinant(const kg_curve *curve, const double *moved, int *where)
{
  double least;
  return kg_curve_area(curve, moved, &least, where) > 0.0 ? least : -fabs(least);
}

/// Move the nodes of an element, or leave it as it is where the map is not sound.
static bool move_element(const mover *m, int64_t e)
{
  const kg_curve *curve = kg_curve_of(m->curves, kg_raw_cell(m->raw, e));
  double *nodes = kg_raw_nodes(m->raw, e), moved[2 * KG_NODES_MAX];
  int where;
  if (!move_places(m, curve->n_nodes, nodes, moved) ||
      !(least_determinant(curve, moved, &where) > KG_FLATNESS))
    return false;
  memcpy(nodes, moved, 2 * (size_t)curve->n_nodes * sizeof *nodes);
  return true;
}

/// Say where the map of an element that was left is not sound.
static kedge_status refuse(const mover *m, int64_t e)
{
  const kg_curve *curve = kg_curve_of(m->curves, kg_raw_cell(m->raw, e));
  const double *nodes = kg_raw_nodes(m->raw, e);
  double moved[2 * KG_NODES_MAX], x = 0.0, y = 0.0;
  for (int k = 0; k < curve->n_nodes; ++k)
    if (!move_places(m, 1, nodes + 2 * k, moved))
      return KG_FAIL(m->ctx, KEDGE_ERR_INPUT,
                     "%s: the map takes (%.9g, %.9g) to (%g, %g); coordinates must be finite and "
                     "below 1e150",
                     m->source, nodes[2 * k], nodes[2 * k + 1], moved[0], moved[1]);
  int where;
  (void)move_places(m, curve->n_nodes, nodes, moved);
  (void)least_determinant(curve, moved, &where);
  for (int k = 0; k < curve->n_nodes; ++k) {
    x += curve->value[where][k] * nodes[2 * k];
    y += curve->value[where][k] * nodes[2 * k + 1];
  }
  return KG_FAIL(m->ctx, KEDGE_ERR_INPUT,
                 "%s: the map folds or flattens a %s at its point (%.9g, %.9g): the determinant of "
                 "the map must be positive everywhere; where it mirrors, swap X and Y, and where "
                 "it bends much, take a finer mesh",
                 m->source, curve->cell->name, x, y);
}

static kedge_status move_elements(const mover *m)
{
  int64_t bad = INT64_MAX;
#pragma omp parallel for num_threads(kg_loop_threads(m->ctx, m->raw->n_elements, 1)) \
    reduction(min                                                                    \
              : bad)
  for (int64_t e = 0; e < m->raw->n_elements; ++e)
    if (!move_element(m, e) && e < bad) bad = e;
  return bad == INT64_MAX ? KEDGE_OK : refuse(m, bad);
}

/// Vertices by themselves: elements that share one get it to the bit. What is not sound has been
/// refused with an element.
static void move_vertices(const mover *m)
{
#pragma omp parallel for num_threads(kg_loop_threads(m->ctx, m->raw->n_vertices, 1))
  for (int64_t v = 0; v < m->raw->n_vertices; ++v) {
    double moved[2];
    (void)move_places(m, 1, m->raw->vertices + 2 * v, moved);
    memcpy(m->raw->vertices + 2 * v, moved, sizeof moved);
  }
}

static kedge_status move(kedge_context *ctx, const kg_function *x, const kg_function *y,
                         const char *source, kg_raw_mesh *raw)
{
  kg_curve *curves;
  KG_TRY(kg_curves_create(ctx, raw->geometry, &curves));
  const mover m = {ctx, x, y, source, curves, raw};
  const kedge_status status = move_elements(&m);
  if (status == KEDGE_OK) move_vertices(&m);
  free(curves);
  return status;
}

/// How far the points of a straight edge are moved off the line between its ends, over its length.
static double bend_of(const mover *m, const double a[2], const double b[2])
{
  enum { N = 5, LAST = 2 * (N - 1) };
  double at[2 * N], moved[2 * N], most = 0.0;
  for (int i = 0; i < 2 * N; ++i) at[i] = a[i % 2] + (b[i % 2] - a[i % 2]) * (i / 2) / (N - 1);
  (void)move_places(m, N, at, moved);
  const double dx = moved[LAST] - moved[0], dy = moved[LAST + 1] - moved[1];
  for (int i = 2; i < LAST; i += 2)
    most = fmax(most, fabs(dx * (moved[i + 1] - moved[1]) - dy * (moved[i] - moved[0])));
  return most / (dx * dx + dy * dy);
}

/// Whether a map bends a boundary edge of a straight mesh by more than rounding does.
static bool bends_boundary(const mover *m, const kedge_mesh *mesh)
{
  for (int32_t edge = 0; edge < mesh->n_edges; ++edge) {
    if (mesh->edge_sides[2 * (int64_t)edge + 1] != KG_NO_SIDE) continue;
    int32_t end[2];
    kg_side_ends(mesh, mesh->edge_sides[2 * (int64_t)edge], end);
    if (bend_of(m, mesh->vertices + 2 * (int64_t)end[0], mesh->vertices + 2 * (int64_t)end[1]) >
        1e-6)
      return true;
  }
  return false;
}

kedge_status kg_mesh_map(kedge_context *ctx, const kedge_mesh *mesh, int geometry,
                         const kg_function *x, const kg_function *y, kedge_mesh **out)
{
  const double began = kg_seconds();
  *out = NULL;
  KG_TRY(kg_mesh_check_plane(ctx, mesh, "an order of curves"));
  const bool is_left_out = geometry == 0;
  if (is_left_out) geometry = mesh->geometry;
  const size_t size = strlen(mesh->source) + 16;
  char *source;
  kg_raw_mesh raw;
  KG_TRY(kg_mesh_check_memory(ctx, mesh->source, mesh->block[mesh->n_blocks - 1].cell, geometry,
                              mesh->n_elements, false));
  KG_TRY(kg_host_alloc(ctx, size, 1, &source));
  snprintf(source, size, "%s%s", mesh->source, x ? ", mapped" : "");
  kedge_status status = kg_mesh_to_raw(ctx, mesh, &raw);
  if (status == KEDGE_OK) {
    status = kg_raw_mesh_set_geometry(ctx, geometry, &raw);
    if (geometry < mesh->geometry) raw.flattened = mesh->geometry;
    if (status == KEDGE_OK && x) status = move(ctx, x, y, mesh->source, &raw);
    if (status == KEDGE_OK && x && is_left_out && geometry == 1 && !raw.is_polygon)
      raw.is_polygon = bends_boundary(&(mover){.ctx = ctx, .x = x, .y = y}, mesh);
    if (status == KEDGE_OK) status = kg_mesh_build(ctx, &raw, source, out);
    kg_raw_mesh_free(&raw);
  }
  free(source);
  if (status == KEDGE_OK) (*out)->seconds = mesh->seconds + kg_seconds() - began;
  return status;
}
