#include "solver/sampling.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "core/context.h"
#include "core/memory.h"

static int count_points(int order)
{
  return kg_rule_points(order) + KG_POINT_CORNERS;
}

/// The factors of the modes in rows of the rule.
static void fill_factors(int order, double *along, double *across)
{
  double a[KG_POINT_ROWS_MAX], b[KG_POINT_ROWS_MAX], weight[KG_POINT_ROWS_MAX];
  const int rows = kg_point_rows(order), n_star = kg_triangle_modes(order + 1);
  kg_gauss_jacobi(rows, 0, a, weight);
  kg_gauss_jacobi(rows, 1, b, weight);
  for (int k = 0; k < rows; ++k)
    kg_dubiner_factors(order + 1, a[k], b[k], along + k * (order + 2), across + k * n_star);
}

kedge_status kg_sampling_create(kedge_context *ctx, int order, kg_sampling *out)
{
  *out = (kg_sampling){0};
  kg_triangle_rule rule;
  KG_TRY(kg_triangle_rule_create(ctx, 2 * (kg_point_rows(order) - 1), &rule));
  const kg_sizes size = kg_sizes_of(order);
  const int n = count_points(order), n_star = size.n_star;
  double *memory;
  const kedge_status status =
      kg_host_calloc(ctx, 3 * (size_t)n + kg_points_table(size, n), sizeof *memory, &memory);
  if (status == KEDGE_OK) {
    *out = (kg_sampling){n, order, memory, memory + n, memory + 2 * n, memory + 3 * n};
    memcpy(out->r, rule.r, (size_t)rule.n * sizeof *rule.r);
    memcpy(out->s, rule.s, (size_t)rule.n * sizeof *rule.s);
    memcpy(out->weight, rule.w, (size_t)rule.n * sizeof *rule.w);
    for (int k = 0; k < KG_POINT_CORNERS; ++k) {
      out->r[rule.n + k] = k == 1 ? 1.0 : -1.0;
      out->s[rule.n + k] = k == 2 ? 1.0 : -1.0;
    }
    for (int q = 0; q < n; ++q)
      kg_dubiner(order + 1, out->r[q], out->s[q], out->basis + q * n_star, NULL, NULL);
    const kg_points points = kg_points_at(size, n, out->r, out->basis);
    fill_factors(order, out->basis + (points.along - out->basis),
                 out->basis + (points.across - out->basis));
  }
  kg_triangle_rule_free(&rule);
  return status;
}

void kg_sampling_free(kg_sampling *sampling)
{
  free(sampling->r);  // one piece of memory
  *sampling = (kg_sampling){0};
}

/// A coordinate of the point (r, s) from those of the corners. The GPU's interpreter does the same
/// in the same order, and neither uses fused multiply-adds: their points agree to the bit.
static inline double interpolate(double r, double s, double v0, double v1, double v2)
{
  const double b = 0.5 * (1.0 + r), c = 0.5 * (1.0 + s), a = 1.0 - b - c;
  return a * v0 + b * v1 + c * v2;
}

/// Corner l of the triangle in a lane; empty lanes repeat the last triangle.
static const double *corner_of(const kedge_mesh *mesh, int64_t group, int64_t lane, int l)
{
  int64_t e = group * KG_LANES + lane;
  if (e >= mesh->n_elements) e = mesh->n_elements - 1;
  return mesh->vertices + 2 * (size_t)kg_element_vertices(mesh, (int32_t)e)[l];
}

/// Physical coordinates [point][lane] of one group.
static void place_points(const kg_points *points, const kedge_mesh *mesh, int32_t group, double *x,
                         double *y)
{
  double corner_x[3][KG_LANES], corner_y[3][KG_LANES];
  for (int l = 0; l < 3; ++l)
    for (int i = 0; i < KG_LANES; ++i) {
      const double *v = corner_of(mesh, group, i, l);
      corner_x[l][i] = v[0];
      corner_y[l][i] = v[1];
    }
  for (int q = 0; q < points->n; ++q) {
    const double r = points->r[q], s = points->s[q];
    for (int i = 0; i < KG_LANES; ++i) {
      x[q * KG_LANES + i] = interpolate(r, s, corner_x[0][i], corner_x[1][i], corner_x[2][i]);
      y[q * KG_LANES + i] = interpolate(r, s, corner_y[0][i], corner_y[1][i], corner_y[2][i]);
    }
  }
}

kedge_status kg_sample_refuse(kedge_context *ctx, const kg_points *points, const kedge_mesh *mesh,
                              int32_t first, const kg_sample_set *set, int64_t index)
{
  const int64_t lane = index % KG_LANES, row = index / KG_LANES;
  const int64_t q = row % points->n, f = row / points->n % set->n;
  const int64_t group = first + row / points->n / set->n;
  double x[3], y[3];
  for (int l = 0; l < 3; ++l) {
    const double *v = corner_of(mesh, group, lane, l);
    x[l] = v[0];
    y[l] = v[1];
  }
  const double r = points->r[q], s = points->s[q];
  const double at_x = interpolate(r, s, x[0], x[1], x[2]);
  const double at_y = interpolate(r, s, y[0], y[1], y[2]);
  double value;
  kg_function_evaluate(set->functions[f], &(kedge_points){.n = 1, .x = &at_x, .y = &at_y}, &value);
  KG_REQUIRE(ctx, isfinite(value), KEDGE_ERR_INPUT,
             "%s%s is %g at x = %.6g, y = %.6g, inside the mesh; change the expression so that it "
             "is finite everywhere",
             set->place, set->names[f], isnan(value) ? NAN : value, at_x,
             at_y);  // some NaN print as -nan
  return KEDGE_OK;
}

kg_sample_points kg_sampling_points(const kg_sampling *s)
{
  return (kg_sample_points){s->order, kg_points_at(kg_sizes_of(s->order), s->n, s->r, s->basis)};
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

kedge_status kg_sample(kedge_context *ctx, const kg_points *points, const kedge_mesh *mesh,
                       int32_t first, int32_t count, const kg_sample_set *set, double *values)
{
  const size_t n = (size_t)points->n * KG_LANES,
               rule = (size_t)kg_points_of_rule(*points).n * KG_LANES;
  double *places;
  KG_TRY(kg_host_alloc(ctx, 2 * n * (size_t)ctx->threads, sizeof *places, &places));
  int64_t bad = -1;
#pragma omp parallel num_threads(ctx->threads)
  {
    double *x = places + 2 * n * (size_t)omp_get_thread_num(), *y = x + n;
    int64_t mine = -1;
#pragma omp for schedule(dynamic, 4)
    for (int32_t g = 0; g < count; ++g) {
      place_points(points, mesh, first + g, x, y);
      for (int f = 0; f < set->n; ++f) {
        const size_t row = ((size_t)g * (size_t)set->n + (size_t)f) * n;
        kg_function_evaluate(set->functions[f], &(kedge_points){.n = n, .x = x, .y = y},
                             values + row);
        look_for_bad(f == 0 ? n : rule, values + row, (int64_t)row, &mine);
      }
    }
#pragma omp critical
    if (mine >= 0 && (bad < 0 || mine < bad)) bad = mine;
  }
  free(places);
  return bad < 0 ? KEDGE_OK : kg_sample_refuse(ctx, points, mesh, first, set, bad);
}
