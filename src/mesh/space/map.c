// Moving the vertices of a mesh of tetrahedra.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "device/loop.h"
#include "expression/function.h"
#include "mesh/build.h"

enum { CHUNK = 64 };  ///< vertices that are moved together

static void move_chunk(const kg_function *map, int n, const double *from, double *to)
{
  double place[3][CHUNK], moved[CHUNK];
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) place[k][i] = from[3 * i + k];
  const kedge_points points = {.n = (size_t)n, .x = place[0], .y = place[1], .z = place[2]};
  for (int k = 0; k < 3; ++k) {
    kg_function_evaluate(&map[k], &points, moved);
    for (int i = 0; i < n; ++i) to[3 * i + k] = moved[i];
  }
}

/// @return the first vertex whose place is none; -1: all are sound
static int64_t move_vertices(kedge_context *ctx, const kg_raw_mesh *raw, const kg_function *map,
                             double *moved)
{
  const int64_t n = raw->n_vertices;
  int64_t bad = INT64_MAX;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, n, 1)) reduction(min : bad)
  for (int64_t first = 0; first < n; first += CHUNK) {
    const int count = n - first < CHUNK ? (int)(n - first) : CHUNK;
    move_chunk(map, count, raw->vertices + 3 * first, moved + 3 * first);
    for (int64_t i = 3 * first; i < 3 * (first + count); ++i)
      if (!(fabs(moved[i]) <= KG_SPACE_COORDINATE_MAX) && i / 3 < bad) bad = i / 3;
  }
  return bad == INT64_MAX ? -1 : bad;
}

/// @return the first element that turns over or loses its volume; -1: none does
static int64_t find_turned(kedge_context *ctx, const kg_raw_mesh *raw, const double *moved)
{
  int64_t bad = INT64_MAX;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1)) reduction(min : bad)
  for (int64_t e = 0; e < raw->n_elements; ++e) {
    const int32_t *v = kg_raw_corners(raw, e);
    const double before = kg_space_determinant(raw->vertices, v);
    const double after = kg_space_determinant(moved, v);
    if (!(fabs(after) > KG_FLATNESS && before * after > 0.0) && e < bad) bad = e;
  }
  return bad == INT64_MAX ? -1 : bad;
}

static kedge_status move(kedge_context *ctx, const char *source, const kg_function *map,
                         kg_raw_mesh *raw)
{
  double *moved;
  KG_TRY(kg_host_alloc(ctx, (size_t)raw->n_vertices, 3 * sizeof *moved, &moved));
  kedge_status status = KEDGE_OK;
  const int64_t lost = move_vertices(ctx, raw, map, moved);
  const int64_t turned = lost < 0 ? find_turned(ctx, raw, moved) : -1;
  if (lost >= 0) {
    const double *p = raw->vertices + 3 * lost, *q = moved + 3 * lost;
    status = KG_FAIL(ctx, KEDGE_ERR_INPUT,
                     "%s: the map takes (%.9g, %.9g, %.9g) to (%g, %g, %g); coordinates must be "
                     "finite and below 1e100",
                     source, p[0], p[1], p[2], q[0], q[1], q[2]);
  } else if (turned >= 0) {
    const double *p = raw->vertices + 3 * (int64_t)kg_raw_corners(raw, turned)[0];
    status = KG_FAIL(ctx, KEDGE_ERR_INPUT,
                     "%s: the map folds or flattens a tetrahedron with a corner at (%.9g, %.9g, "
                     "%.9g): the determinant of the map must be positive everywhere; where it "
                     "mirrors, swap two of X, Y and Z, and where it bends much, take a finer mesh",
                     source, p[0], p[1], p[2]);
  }
  if (status == KEDGE_OK) memcpy(raw->vertices, moved, (size_t)raw->n_vertices * 3 * sizeof *moved);
  free(moved);
  return status;
}

/// How far the points of a face are moved off the plane through its corners, over its longest side.
static double bend_of(const kg_function *map, const double *const corner[3])
{
  enum {
    N = 4,
    POINTS = (N + 1) * (N + 2) / 2
  };  // the first, the one after N and the last: corners
  double at[3 * POINTS], moved[3 * POINTS], side[3][3], normal[3], longest = 0.0, most = 0.0;
  int n = 0;
  for (int j = 0; j <= N; ++j)
    for (int i = 0; i <= N - j; ++i, ++n)
      for (int k = 0; k < 3; ++k)
        at[3 * n + k] = ((N - i - j) * corner[0][k] + i * corner[1][k] + j * corner[2][k]) / N;
  move_chunk(map, POINTS, at, moved);
  const double *const p[] = {moved, moved + 3 * N, moved + 3 * (POINTS - 1)};
  for (int l = 0; l < 3; ++l) {
    for (int k = 0; k < 3; ++k) side[l][k] = p[(l + 1) % 3][k] - p[l][k];
    longest = fmax(longest, hypot(hypot(side[l][0], side[l][1]), side[l][2]));
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    normal[k] = side[0][i] / longest * (side[1][j] / longest) -
                side[0][j] / longest * (side[1][i] / longest);
  }
  const double area = hypot(hypot(normal[0], normal[1]), normal[2]);
  for (int i = 0; i < POINTS; ++i) {
    double off = 0.0;
    for (int k = 0; k < 3; ++k) off += normal[k] / area * ((moved[3 * i + k] - p[0][k]) / longest);
    most = fmax(most, fabs(off));
  }
  return most;
}

/// Whether a map bends a face of the boundary by more than rounding does.
static bool bends_boundary(const kedge_mesh *mesh, const kg_function *map)
{
  for (int32_t facet = 0; facet < mesh->n_edges; ++facet) {
    const double *corner[3];
    int32_t v[3];
    if (mesh->edge_sides[2 * (int64_t)facet + 1] != KG_NO_SIDE) continue;
    kg_side_corners(mesh, mesh->edge_sides[2 * (int64_t)facet], v);
    for (int k = 0; k < 3; ++k) corner[k] = mesh->vertices + 3 * (int64_t)v[k];
    if (bend_of(map, corner) > 1e-6) return true;
  }
  return false;
}

kedge_status kg_space_map(kedge_context *ctx, const kedge_mesh *mesh, int geometry,
                          const kg_function *map, kedge_mesh **out)
{
  const double began = kg_seconds();
  const size_t size = strlen(mesh->source) + 16;
  char *source;
  kg_raw_mesh raw;
  *out = NULL;
  KG_TRY(kg_mesh_check_memory(ctx, mesh->source, &kg_tetrahedron, 1, mesh->n_elements, false));
  KG_TRY(kg_host_alloc(ctx, size, 1, &source));
  snprintf(source, size, "%s, mapped", mesh->source);
  kedge_status status = kg_mesh_to_raw(ctx, mesh, &raw);
  if (status == KEDGE_OK) {
    status = move(ctx, mesh->source, map, &raw);
    if (status == KEDGE_OK && geometry == 0) raw.is_polygon = bends_boundary(mesh, map);
    if (status == KEDGE_OK) status = kg_mesh_build(ctx, &raw, source, out);
    kg_raw_mesh_free(&raw);
  }
  free(source);
  if (status == KEDGE_OK) (*out)->seconds = mesh->seconds + kg_seconds() - began;
  return status;
}
