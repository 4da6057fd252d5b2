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

kedge_status kg_space_map(kedge_context *ctx, const kedge_mesh *mesh, const kg_function *map,
                          kedge_mesh **out)
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
    if (status == KEDGE_OK) status = kg_mesh_build(ctx, &raw, source, out);
    kg_raw_mesh_free(&raw);
  }
  free(source);
  if (status == KEDGE_OK) (*out)->seconds = mesh->seconds + kg_seconds() - began;
  return status;
}
