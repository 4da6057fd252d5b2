#include "equation/mass.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/loop.h"

enum { GROUPS = 64 };  ///< at a time

/// Points of the elements of a batch, and values of a function there, of some groups.
typedef struct sampled {
  const kg_rules *rules;
  const kg_shape_batch *batch;
  kg_cell_points points;  ///< in `tables`
  double *tables;
  double *values;  ///< [group][point][lane]
} sampled;

/// Whether J mass is no number in elements of a batch.
static bool has_points(const kg_shape *s, int batch, bool varies, bool is_affine)
{
  const kg_shape_batch *const b = &s->batch[batch];
  return varies || b->n_nodes > 0 || (b->cell == &kg_quadrilateral && !is_affine);
}

static int rows_of(const kg_shape *s, int batch, bool varies, bool is_affine)
{
  return has_points(s, batch, varies, is_affine) ? s->rows : 1;
}

static kedge_status open_points(const kg_rules *rules, int batch, int rows, sampled *out)
{
  const kg_shape *const s = rules->shape;
  const kg_shape_batch *const b = &s->batch[batch];
  *out = (sampled){.rules = rules, .batch = b};
  KG_TRY(kg_cell_points_create(rules->ctx, b->cell, s->size.order, s->geometry, rows,
                               KG_BEHIND_NOTHING, &out->tables));
  out->points =
      kg_cell_points_at(b->cell, s->size.order, s->geometry, rows, KG_BEHIND_NOTHING, out->tables);
  return kg_host_alloc(rules->ctx, (size_t)GROUPS * KG_LANES * (size_t)out->points.n,
                       sizeof *out->values, &out->values);
}

static void close_points(sampled *s)
{
  free(s->tables);
  free(s->values);
}

static kg_places places_of(const sampled *s)
{
  kg_places places = kg_cell_places(&s->points, s->points.n, s->rules->mesh);
  places.first_element = s->batch->lanes.first_element;
  places.n_elements = s->batch->lanes.n_elements;
  return places;
}

/// Nodes of the map of an element, [node][dimension].
static void nodes_of(const kedge_mesh *mesh, int32_t element, int n, double *at)
{
  const int d = mesh->dimension;
  const int32_t *const vertex = kg_element_vertices(mesh, element);
  if (mesh->nodes) {
    memcpy(at, kg_element_nodes(mesh, element), 2 * (size_t)n * sizeof *at);
    return;
  }
  for (int v = 0; v < n; ++v)
    memcpy(at + d * v, mesh->vertices + (int64_t)d * vertex[v], (size_t)d * sizeof *at);
}

/// J at point q. Tetrahedra may be mirrored.
static double jacobian(const kg_cell_points *points, int q, const double *node)
{
  const int d = points->size.dimension, n = points->n_nodes;
  const double *const map = points->map + (size_t)(1 + d) * (size_t)(q * n);
  double f[3][3] = {{0.0}};
  for (int k = 0; k < d; ++k)
    for (int a = 0; a < d; ++a)
      for (int v = 0; v < n; ++v) f[k][a] += map[(1 + a) * n + v] * node[d * v + k];
  if (d == 2) return f[0][0] * f[1][1] - f[0][1] * f[1][0];
  return fabs(f[0][0] * (f[1][1] * f[2][2] - f[1][2] * f[2][1]) -
              f[0][1] * (f[1][0] * f[2][2] - f[1][2] * f[2][0]) +
              f[0][2] * (f[1][0] * f[2][1] - f[1][1] * f[2][0]));
}

/// Groups that are handled at once.
static int32_t count_of(const sampled *s, int32_t first)
{
  const int32_t left = (s->batch->lanes.n_elements + KG_LANES - 1) / KG_LANES - first;
  return left < GROUPS ? left : GROUPS;
}

static int64_t at_point(const sampled *s, int32_t lane, int q)
{
  return kg_mass_at(lane, s->points.n) + (int64_t)q * KG_LANES;
}

/// Refuse the first mass that is not positive.
static kedge_status check(const sampled *s, const kg_equation *equation, int32_t first,
                          int32_t count)
{
  const kg_places places = places_of(s);
  for (int32_t lane = 0; lane < count * KG_LANES; ++lane)
    for (int q = 0; q < s->points.n; ++q) {
      const double value = s->values[at_point(s, lane, q)];
      if (value > 0.0) continue;
      kg_spot spot = {.element =
                          kg_lane_element(&places, first + lane / KG_LANES, lane % KG_LANES)};
      kg_place_at(&places, first + lane / KG_LANES, q, lane % KG_LANES, spot.at);
      return kg_mass_refuse(s->rules->ctx, equation->problem, equation->mesh,
                            equation->mesh->element_region[spot.element], &spot, value);
    }
  return KEDGE_OK;
}

/// Values of the mass become weights.
static void weigh(const sampled *s, bool has_weights, int32_t first, int32_t count)
{
  const kg_places places = places_of(s);
  const int32_t lanes = count * KG_LANES;
#pragma omp parallel for num_threads(kg_loop_threads(s->rules->ctx, lanes, 16 * s->points.n))
  for (int32_t lane = 0; lane < lanes; ++lane) {
    double node[3 * KG_NODES_MAX];
    nodes_of(places.mesh, kg_lane_element(&places, first + lane / KG_LANES, lane % KG_LANES),
             s->points.n_nodes, node);
    for (int q = 0; q < s->points.n; ++q)
      s->values[at_point(s, lane, q)] *=
          jacobian(&s->points, q, node) * (has_weights ? s->points.weight[q] : 1.0);
  }
}

/// Weights of a batch, in device memory.
static kedge_status make_batch(const sampled *s, const kg_equation *equation, const kg_function *f,
                               bool with_points, double *to)
{
  static const char *const name = "mass", *const key = "mass";
  const kg_sample_set set = {1, &f, &name, "", equation->problem, &key};
  const int32_t groups = (s->batch->lanes.n_elements + KG_LANES - 1) / KG_LANES;
  for (int32_t first = 0; first < groups; first += GROUPS) {
    const int32_t count = count_of(s, first);
    const size_t group = (size_t)s->points.n * KG_LANES;
    KG_TRY(kg_sample(s->rules->ctx, places_of(s), first, count, &set, s->values));
    KG_TRY(check(s, equation, first, count));
    weigh(s, with_points, first, count);
    KG_TRY(kg_copy_in(s->rules->ctx, to + group * (size_t)first, s->values,
                      group * (size_t)count * sizeof *to));
  }
  return KEDGE_OK;
}

/// Numbers of the weights, and of the values at points, of the first n batches.
static void count_numbers(const kg_shape *s, bool varies, bool is_affine, int n, size_t *weights,
                          size_t *values)
{
  *weights = *values = 0;
  for (int i = 0; i < n; ++i) {
    const kg_shape_batch *const b = &s->batch[i];
    const size_t points = (size_t)kg_cell_rule_points(b->cell, rows_of(s, i, varies, is_affine));
    *weights += points * KG_LANES * (size_t)b->lanes.n_groups;
    if (has_points(s, i, varies, is_affine)) *values += points * (size_t)b->size.n_star;
  }
}

int64_t kg_mass_bytes(const kg_shape *s, const kg_function *f, bool is_affine)
{
  size_t weights, values;
  count_numbers(s, kg_function_varies(f), is_affine, s->n_batches, &weights, &values);
  return (int64_t)(kg_rounded(weights * sizeof(double)) + kg_rounded(values * sizeof(double)));
}

/// Have a buffer of so many numbers.
static kedge_status have(kedge_context *ctx, size_t numbers, kg_buffer *buffer)
{
  if (buffer->bytes == kg_rounded(numbers * sizeof(double))) return KEDGE_OK;
  kg_free(ctx, buffer);
  return numbers > 0 ? kg_alloc(ctx, numbers, sizeof(double), buffer) : KEDGE_OK;
}

kedge_status kg_mass_make(const kg_rules *rules, const kg_equation *equation, const kg_function *f,
                          bool is_affine, kg_mass *mass)
{
  const kg_shape *const shape = rules->shape;
  const bool varies = kg_function_varies(f);
  size_t weights, values;
  count_numbers(shape, varies, is_affine, shape->n_batches, &weights, &values);
  KG_TRY(have(rules->ctx, weights, &mass->weight));
  KG_TRY(have(rules->ctx, values, &mass->value));
  for (int i = 0; i < shape->n_batches; ++i) {
    const kg_shape_batch *const b = &shape->batch[i];
    const bool with_points = has_points(shape, i, varies, is_affine);
    sampled s;
    count_numbers(shape, varies, is_affine, i, &weights, &values);
    double *const weight = (double *)mass->weight.data + weights;
    double *const value = with_points ? (double *)mass->value.data + values : NULL;
    kedge_status status = open_points(rules, i, rows_of(shape, i, varies, is_affine), &s);
    if (status == KEDGE_OK) status = make_batch(&s, equation, f, with_points, weight);
    if (status == KEDGE_OK && with_points)
      status = kg_copy_in(rules->ctx, value, s.points.value,
                          (size_t)s.points.n * (size_t)b->size.n_star * sizeof *value);
    mass->batch[i] = (kg_mass_args){.n_elements = b->lanes.n_elements,
                                    .n_modes = b->size.n_modes,
                                    .n_points = with_points ? s.points.n : 0,
                                    .weight = weight,
                                    .value = value,
                                    .stride = b->size.n_star,
                                    .constant = sqrt(b->cell->measure)};
    close_points(&s);
    KG_TRY(status);
  }
  return KEDGE_OK;
}

void kg_mass_free(kedge_context *ctx, kg_mass *mass)
{
  kg_free(ctx, &mass->weight);
  kg_free(ctx, &mass->value);
}

kedge_status kg_mass_add_all(const kg_rules *rules, const kg_mass *mass, double factor,
                             const double *u, double *load)
{
  for (int i = 0; i < rules->shape->n_batches; ++i) {
    const size_t first = kg_shape_numbers(rules->shape, KG_ROWS_MODES, i);
    kg_mass_args args = mass->batch[i];
    args.factor = factor;
    args.u = u + first;
    args.load = load + first;
    kg_run_cost(rules->run, kg_mass_cost(&args), 1.0);
    KG_TRY(kg_mass_add(rules->ctx, &args));
  }
  return KEDGE_OK;
}

kedge_status kg_mass_integrals(const kg_rules *rules, const kg_mass *mass, const double *u,
                               double *to)
{
  for (int i = 0; i < rules->shape->n_batches; ++i) {
    kg_mass_args args = mass->batch[i];
    args.u = u + kg_shape_numbers(rules->shape, KG_ROWS_MODES, i);
    args.load = to + (int64_t)rules->shape->batch[i].lanes.first_group * KG_LANES;
    KG_TRY(kg_mass_integral(rules->ctx, &args));
  }
  return KEDGE_OK;
}

kedge_status kg_mass_norms(const kg_rules *rules, const kg_mass *mass, const double *u, double *to)
{
  for (int i = 0; i < rules->shape->n_batches; ++i) {
    kg_mass_args args = mass->batch[i];
    args.u = u + kg_shape_numbers(rules->shape, KG_ROWS_MODES, i);
    args.load = to + (int64_t)rules->shape->batch[i].lanes.first_group * KG_LANES;
    KG_TRY(kg_mass_norm(rules->ctx, &args));
  }
  return KEDGE_OK;
}

/// Solve A x = b, A symmetric and positive definite, packed by its lower triangle. Both are
/// overwritten, b by x.
static void solve_packed(int n, double *a, double *b)
{
  for (int i = 0; i < n; ++i) {
    double *const row = a + i * (i + 1) / 2;
    for (int j = 0; j <= i; ++j) {
      const double *const other = a + j * (j + 1) / 2;
      for (int k = 0; k < j; ++k) row[j] -= row[k] * other[k];
      row[j] = j < i ? row[j] / other[j] : sqrt(row[j]);
    }
    for (int k = 0; k < i; ++k) b[i] -= row[k] * b[k];
    b[i] /= row[i];
  }
  for (int i = n - 1; i >= 0; --i) {
    b[i] /= a[i * (i + 1) / 2 + i];
    for (int k = 0; k < i; ++k) b[k] -= a[i * (i + 1) / 2 + k] * b[i];
  }
}

/// The projection in an element, whose values are there. @param[in] matrix  work, packed N x N
static void project_element(const sampled *s, int32_t element, int32_t lane, double *matrix,
                            double *u)
{
  const kg_cell_points *const points = &s->points;
  const int N = points->size.n_modes, packed = N * (N + 1) / 2;
  double node[3 * KG_NODES_MAX], sum[KG_MASS_MODES_MAX] = {0.0};
  nodes_of(s->rules->mesh, element, points->n_nodes, node);
  memset(matrix, 0, (size_t)packed * sizeof *matrix);
  for (int q = 0; q < points->n; ++q) {
    const double *const phi = points->value + (size_t)q * (size_t)points->size.n_star;
    const double w = points->weight[q] * jacobian(points, q, node);
    const double f = s->values[at_point(s, lane, q)];
    for (int i = 0; i < N; ++i) {
      sum[i] += w * phi[i] * f;
      for (int j = 0; j <= i; ++j) matrix[i * (i + 1) / 2 + j] += w * phi[i] * phi[j];
    }
  }
  solve_packed(N, matrix, sum);
  for (int i = 0; i < N; ++i) u[i * KG_LANES] = sum[i];
}

static kedge_status project_batch(const sampled *s, const kg_sample_set *set, double *u)
{
  enum { PACKED = KG_MASS_MODES_MAX * (KG_MASS_MODES_MAX + 1) / 2 };
  const int32_t n = s->batch->lanes.n_elements, groups = (n + KG_LANES - 1) / KG_LANES;
  const int N = s->batch->size.n_modes;
  double *scratch;
  KG_TRY(kg_host_alloc(s->rules->ctx, (size_t)s->rules->ctx->threads * PACKED, sizeof *scratch,
                       &scratch));
  kedge_status status = KEDGE_OK;
  for (int32_t first = 0; status == KEDGE_OK && first < groups; first += GROUPS) {
    const int32_t count = count_of(s, first), left = n - first * KG_LANES;
    const int32_t lanes = count * KG_LANES < left ? count * KG_LANES : left;
    status = kg_sample(s->rules->ctx, places_of(s), first, count, set, s->values);
    if (status != KEDGE_OK) break;
#pragma omp parallel for num_threads(kg_loop_threads(s->rules->ctx, lanes, N *N * s->points.n))
    for (int32_t lane = 0; lane < lanes; ++lane) {
      const int32_t e = first * KG_LANES + lane;
      project_element(s, s->batch->lanes.first_element + e, lane,
                      scratch + (size_t)omp_get_thread_num() * PACKED, u + kg_mass_at(e, N));
    }
  }
  free(scratch);
  return status;
}

kedge_status kg_project(const kg_rules *rules, const kg_function *f, const char *name,
                        const char *place, double *u)
{
  const kg_shape *const shape = rules->shape;
  const kg_sample_set set = {1, &f, &name, place, NULL, NULL};
  memset(u, 0, kg_shape_numbers(shape, KG_ROWS_MODES, shape->n_batches) * sizeof *u);
  for (int i = 0; i < shape->n_batches; ++i) {
    sampled s;
    kedge_status status = open_points(rules, i, kg_cell_sample_rows(shape->size.order), &s);
    if (status == KEDGE_OK)
      status = project_batch(&s, &set, u + kg_shape_numbers(shape, KG_ROWS_MODES, i));
    close_points(&s);
    KG_TRY(status);
  }
  return KEDGE_OK;
}
