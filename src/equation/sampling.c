#include "equation/sampling.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "basis/roughness.h"
#include "device/loop.h"
#include "core/memory.h"
#include "problem/located.h"

/// The factors of the modes in rows of the rule, and the polynomials of highest degree.
static void fill_factors(int order, int rows, double *along, double *across, double *top)
{
  double a[KG_POINT_ROWS_MAX], b[KG_POINT_ROWS_MAX], weight[KG_POINT_ROWS_MAX];
  const int n_star = kg_triangle_modes(order + 1);
  kg_gauss_jacobi(rows, 0, a, weight);
  kg_roughness_top(rows, a, weight, top);
  kg_gauss_jacobi(rows, 1, b, weight);
  kg_roughness_top(rows, b, weight, top + rows);
  for (int k = 0; k < rows; ++k)
    kg_dubiner_factors(order + 1, a[k], b[k], along + k * (order + 2), across + k * n_star);
}

kedge_status kg_sampling_create(kedge_context *ctx, int order, int rows, kg_sampling *out)
{
  *out = (kg_sampling){0};
  kg_triangle_rule rule;
  KG_TRY(kg_triangle_rule_create(ctx, 2 * (rows - 1), &rule));
  const kg_sizes size = kg_sizes_of(order);
  const int n = kg_points_count(rows), n_star = size.n_star;
  double *memory;
  const kedge_status status =
      kg_host_calloc(ctx, 3 * (size_t)n + kg_points_table(size, rows), sizeof *memory, &memory);
  if (status == KEDGE_OK) {
    *out = (kg_sampling){n, rows, order, memory, memory + n, memory + 2 * n, memory + 3 * n};
    memcpy(out->r, rule.r, (size_t)rule.n * sizeof *rule.r);
    memcpy(out->s, rule.s, (size_t)rule.n * sizeof *rule.s);
    memcpy(out->weight, rule.w, (size_t)rule.n * sizeof *rule.w);
    for (int k = 0; k < KG_POINT_CORNERS; ++k) {
      out->r[rule.n + k] = k == 1 ? 1.0 : -1.0;
      out->s[rule.n + k] = k == 2 ? 1.0 : -1.0;
    }
    for (int q = 0; q < n; ++q)
      kg_dubiner(order + 1, out->r[q], out->s[q], out->basis + q * n_star, NULL, NULL);
    const kg_points points = kg_points_at(size, rows, out->r, out->basis);
    fill_factors(order, rows, out->basis + (points.along - out->basis),
                 out->basis + (points.across - out->basis), out->basis + (points.top - out->basis));
  }
  kg_triangle_rule_free(&rule);
  return status;
}

void kg_sampling_free(kg_sampling *sampling)
{
  free(sampling->r);  // one piece of memory
  *sampling = (kg_sampling){0};
}

/// Compute a coordinate of the point (r, s) from the coordinates of a triangle's corners. The GPU's
/// interpreter does the same operations in the same order. Neither uses fused multiply-adds, so
/// that the points of host and GPU agree to the bit.
static inline double interpolate(double r, double s, double v0, double v1, double v2)
{
  const double b = 0.5 * (1.0 + r), c = 0.5 * (1.0 + s), a = 1.0 - b - c;
  return a * v0 + b * v1 + c * v2;
}

kg_places kg_triangle_places(const kg_points *points, const kedge_mesh *mesh)
{
  return (kg_places){.mesh = mesh,
                     .n_elements = mesh->block[0].n,
                     .n = points->n,
                     .n_rule = kg_points_of_rule(*points).n,
                     .r = points->r,
                     .s = points->s};
}

kg_places kg_cell_places(const kg_cell_points *points, int n_rule, const kedge_mesh *mesh)
{
  const kg_block *block = &mesh->block[mesh->n_blocks - 1];
  return (kg_places){.mesh = mesh,
                     .first_element = block->first,
                     .n_elements = block->n,
                     .n = points->n,
                     .n_rule = n_rule,
                     .r = points->r,
                     .s = points->s,
                     .t = points->t,
                     .map = points->map};
}

/// Corners of the elements of a group, [corner][lane]; of curved ones all nodes.
typedef struct group_corners {
  int n;
  double at[3][KG_NODES_MAX][KG_LANES];  ///< [coordinate]
} group_corners;

static int dimension_of(const kg_places *p)
{
  return kg_mesh_in_space(p->mesh) ? 3 : 2;
}

int32_t kg_lane_element(const kg_places *p, int64_t group, int lane)
{
  const int64_t e = group * KG_LANES + lane;
  return p->first_element + (int32_t)(e < p->n_elements ? e : p->n_elements - 1);
}

static group_corners corners_of(const kg_places *p, int64_t group)
{
  group_corners c;
  const kg_cell *cell = kg_block_of(p->mesh, p->first_element)->cell;
  const bool curved = p->mesh->nodes != NULL;
  const int d = dimension_of(p);
  c.n = curved ? cell->n_modes(p->mesh->geometry) : cell->n_vertices;
  for (int i = 0; i < KG_LANES; ++i) {
    const int32_t e = kg_lane_element(p, group, i);
    const int32_t *const vertex = kg_element_vertices(p->mesh, e);
    for (int l = 0; l < c.n; ++l) {
      const double *v = curved ? kg_element_nodes(p->mesh, e) + 2 * l
                               : p->mesh->vertices + (size_t)d * (size_t)vertex[l];
      for (int k = 0; k < d; ++k) c.at[k][l][i] = v[k];
    }
  }
  return c;
}

/// A coordinate of point q of all lanes, from that of the corners.
static void place_point(const kg_places *p, int64_t q, int n, double (*corner)[KG_LANES],
                        double *to)
{
  const double *const map = p->map ? p->map + (1 + dimension_of(p)) * q * n : NULL;
  for (int i = 0; !map && i < KG_LANES; ++i)
    to[i] = interpolate(p->r[q], p->s[q], corner[0][i], corner[1][i], corner[2][i]);
  for (int i = 0; map && i < KG_LANES; ++i) {
    to[i] = 0.0;
    for (int l = 0; l < n; ++l) to[i] += map[l] * corner[l][i];
  }
}

static void locate(const kg_located *at, size_t i, const kg_places *p, int32_t element, int q)
{
  const double place[3] = {p->r[q], p->s[q], p->t ? p->t[q] : 0.0};
  kg_locate_at(at, i, p->mesh, element, place);
}

/// What functions read of a point.
typedef enum asks { ASKS_NOTHING, ASKS_COORDINATES, ASKS_ELEMENT } asks;

static asks asks_of(const kg_sample_set *set)
{
  asks most = ASKS_NOTHING;
  for (int k = 0; k < set->n; ++k) {
    const kg_function *const f = set->functions[k];
    const bool is_expression = f->kind == KG_FUNCTION_EXPRESSION;
    if (f->kind == KG_FUNCTION_NONE || f->kind == KG_FUNCTION_CONSTANT) continue;
    if (!is_expression || kg_function_uses_region(f)) return ASKS_ELEMENT;
    most = ASKS_COORDINATES;
  }
  return most;
}

/// Points of one group: physical coordinates, [coordinate][point][lane], and what functions ask.
static void place_points(const kg_places *p, int32_t group, asks asked, double *x,
                         const kg_located *at)
{
  if (asked == ASKS_NOTHING) return;
  group_corners c = corners_of(p, group);
  for (int i = 0; asked == ASKS_ELEMENT && i < KG_LANES; ++i)
    for (int q = 0; q < p->n; ++q)
      locate(at, (size_t)(q * KG_LANES + i), p, kg_lane_element(p, group, i), q);
  for (int k = 0; k < dimension_of(p); ++k)
    for (int q = 0; q < p->n; ++q)
      place_point(p, q, c.n, c.at[k], x + (size_t)(k * p->n + q) * KG_LANES);
}

void kg_place_at(const kg_places *p, int32_t group, int q, int lane, double at[3])
{
  double x[KG_LANES];
  group_corners c = corners_of(p, group);
  at[2] = 0.0;
  for (int k = 0; k < dimension_of(p); ++k) {
    place_point(p, q, c.n, c.at[k], x);
    at[k] = x[lane];
  }
}

kedge_status kg_sample_refuse(kedge_context *ctx, kg_places places, int32_t first,
                              const kg_sample_set *set, int64_t index)
{
  const int64_t lane = index % KG_LANES, row = index / KG_LANES;
  const int64_t q = row % places.n, f = row / places.n % set->n;
  const int64_t group = first + row / places.n / set->n;
  double at[3], value;
  kg_place_at(&places, (int32_t)group, (int)q, (int)lane, at);
  const int32_t element = kg_lane_element(&places, group, (int)lane);
  const int32_t number = places.mesh->element_region[element];
  double memory[KG_LOCATED];
  const kg_located located = kg_located_in(memory, 1);
  locate(&located, 0, &places, element, (int)q);
  kedge_points point = kg_located_points(&located, places.mesh, 1, &at[0], &at[1]);
  if (kg_mesh_in_space(places.mesh)) point.z = &at[2];
  kg_function_evaluate(set->functions[f], &point, &value);
  if (isfinite(value)) return KEDGE_OK;
  char place[KG_PLACE_BYTES];
  const char *name = NULL;
  char z[40] = "";
  if (point.z) snprintf(z, sizeof z, ", z = %.6g", at[2]);
  snprintf(place, sizeof place, "%s", set->place);
  if (set->problem)
    kg_setting_place(&set->problem->settings,
                     kg_coefficient_setting(set->problem, places.mesh, number, set->keys[f], &name),
                     place);
  return KG_FAIL(
      ctx, KEDGE_ERR_INPUT,
      "%s%s%s%s%s is %g at x = %.6g, y = %.6g%s, in element %d (from 0); change it so that it is "
      "finite everywhere",
      place, set->names[f], name ? " in region '" : "", name ? name : "", name ? "'" : "",
      isnan(value) ? NAN : value, at[0], at[1], z, point.element[0]);  // some NaN print as -nan
}

kg_points kg_sampling_points(const kg_sampling *s)
{
  return kg_points_at(kg_sizes_of(s->order), s->rows, s->r, s->basis);
}

/// The index of the first value of a row that is not finite, unless `bad` is an earlier one.
static void look_for_bad(size_t n, const double *value, int64_t row, int64_t *bad)
{
  if (*bad >= 0 && *bad < row) return;
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(value[i])) {
      *bad = row + (int64_t)i;
      return;
    }
}

kedge_status kg_sample(kedge_context *ctx, kg_places places, int32_t first, int32_t count,
                       const kg_sample_set *set, double *values)
{
  const size_t n = (size_t)places.n * KG_LANES, rule = (size_t)places.n_rule * KG_LANES;
  const size_t work = (3 + KG_LOCATED) * n;
  double *coordinates;
  const asks asked = asks_of(set);
  const int threads = kg_loop_threads(ctx, count, 16 * (int64_t)n);
  for (int f = 0; f < set->n; ++f) KG_TRY(kg_function_bring(set->functions[f]));
  KG_TRY(kg_host_alloc(ctx, work * (size_t)threads, sizeof *coordinates, &coordinates));
  int64_t bad = -1;
#pragma omp parallel num_threads(threads)
  {
    double *x = coordinates + work * (size_t)omp_get_thread_num(), *y = x + n;
    const kg_located at = kg_located_in(x + 3 * n, n);
    kedge_points points = kg_located_points(&at, places.mesh, n, x, y);
    if (kg_mesh_in_space(places.mesh)) points.z = y + n;
    int64_t mine = -1;
#pragma omp for schedule(dynamic, 4)
    for (int32_t g = 0; g < count; ++g) {
      place_points(&places, first + g, asked, x, &at);
      for (int f = 0; f < set->n; ++f) {
        const size_t row = ((size_t)g * (size_t)set->n + (size_t)f) * n;
        kg_function_evaluate(set->functions[f], &points, values + row);
        look_for_bad(f == 0 ? n : rule, values + row, (int64_t)row, &mine);
      }
    }
#pragma omp critical
    if (mine >= 0 && (bad < 0 || mine < bad)) bad = mine;
  }
  free(coordinates);
  return bad < 0 ? KEDGE_OK : kg_sample_refuse(ctx, places, first, set, bad);
}
