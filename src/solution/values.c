#include "solution/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "problem/located.h"
#include "ops/local/quadrature/means.h"

enum {
  MODES_MAX = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1),
  STAR_MAX = KG_STAR_MAX,
  POINTS_MAX = (KEDGE_ORDER_MAX + 3) * (KEDGE_ORDER_MAX + 3),  // of a rule, or nodes of output
  FLUX_MAX = KG_FLUX_MAX
};

/// A vector that a field is a component of.
typedef enum vector { SCALAR, GRADIENT, FLUX } vector;

static vector vector_of(kedge_field field)
{
  static const vector of[KEDGE_FIELD_COUNT] = {
      [KEDGE_FIELD_QX] = GRADIENT,  [KEDGE_FIELD_QY] = GRADIENT,  [KEDGE_FIELD_QZ] = GRADIENT,
      [KEDGE_FIELD_SIGMA_X] = FLUX, [KEDGE_FIELD_SIGMA_Y] = FLUX, [KEDGE_FIELD_SIGMA_Z] = FLUX};
  return of[field];
}

static int component_of(kedge_field field)
{
  if (field == KEDGE_FIELD_QZ || field == KEDGE_FIELD_SIGMA_Z) return 2;
  return field == KEDGE_FIELD_QY || field == KEDGE_FIELD_SIGMA_Y;
}

/// @param[in] create  of a cell, an order, a geometry, and `which`
static kedge_status create_points(const kedge_solution *s, int which, kg_element_points *out,
                                  kedge_status (*create)(kedge_context *, const kg_cell *, int, int,
                                                         int, double **, kg_cell_points *))
{
  *out = (kg_element_points){0};
  for (int b = 0; b < s->mesh->n_blocks; ++b) {
    const kg_cell *const cell = s->mesh->block[b].cell;
    const int k = kg_cell_index(cell);
    KG_TRY(create(s->ctx, cell, s->size.order, s->mesh->geometry, which, &out->values[k],
                  &out->points[k]));
  }
  return KEDGE_OK;
}

/// The node of a tetrahedron that is at node q when the last two corners are exchanged.
static int mirror_of(const kg_cell_points *nodes, int q)
{
  int i = 0;
  while (nodes->r[i] != nodes->r[q] || nodes->s[i] != nodes->t[q] || nodes->t[i] != nodes->s[q])
    ++i;
  return i;
}

/// Copy rows of a table over the nodes.
static void mirror_rows(const kg_cell_points *nodes, int columns, const double *from, double *to)
{
  for (int q = 0; q < nodes->n; ++q)
    memcpy(to + q * columns, from + mirror_of(nodes, q) * columns, (size_t)columns * sizeof *to);
}

/// Nodes are given by tables over them: the evaluation of fields reads no other.
static kedge_status mirror_nodes(const kedge_solution *s, kg_element_points *out)
{
  const kg_cell_points *const nodes = &out->points[kg_cell_index(&kg_tetrahedron)];
  kg_cell_points *const to = &out->mirrored;
  const int n_star = nodes->size.n_star, n = nodes->n;
  KG_TRY(kg_host_alloc(s->ctx, (size_t)n * (size_t)(16 + n_star), sizeof(double),
                       &out->mirrored_values));
  *to = *nodes;
  to->map = out->mirrored_values;
  to->value = to->map + 16 * n;
  mirror_rows(nodes, 16, nodes->map, (double *)to->map);
  mirror_rows(nodes, n_star, nodes->value, (double *)to->value);
  return KEDGE_OK;
}

kedge_status kg_nodes_create(const kedge_solution *s, int order, kg_element_points *out)
{
  KG_TRY(create_points(s, order, out, kg_cell_nodes_create));
  return kg_mesh_in_space(s->mesh) ? mirror_nodes(s, out) : KEDGE_OK;
}

kedge_status kg_rule_create(const kedge_solution *s, int rows, kg_element_points *out)
{
  return create_points(s, rows, out, kg_cell_rule_create);
}

void kg_element_points_free(kg_element_points *points)
{
  for (int k = 0; k < KG_CELL_KINDS; ++k) free(points->values[k]);
  free(points->mirrored_values);
  *points = (kg_element_points){0};
}

bool kg_is_mirrored(const kedge_mesh *mesh, int32_t element)
{
  const int32_t *const v = kg_element_vertices(mesh, element);
  double d[3][3];
  for (int l = 0; l < 3; ++l)
    for (int k = 0; k < 3; ++k)
      d[l][k] = mesh->vertices[3 * (int64_t)v[l + 1] + k] - mesh->vertices[3 * (int64_t)v[0] + k];
  return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
             d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
             d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]) <
         0.0;
}

const kg_cell_points *kg_points_of(const kedge_solution *s, const kg_element_points *points,
                                   int32_t element)
{
  if (points->mirrored.n > 0 && kg_is_mirrored(s->mesh, element)) return &points->mirrored;
  return &points->points[kg_cell_index(kg_block_of(s->mesh, element)->cell)];
}

kg_cell_points kg_points_part(const kg_cell_points *points, int first, int n)
{
  kg_cell_points part = *points;
  part.n = n;
  part.r += first;
  part.s += first;
  if (part.t) part.t += first;
  part.weight += first;
  part.map += (1 + points->size.dimension) * first * points->n_nodes;
  part.value += first * points->size.n_star;
  part.flux += first * points->size.n_flux;
  return part;
}

int kg_nodes_of(const kedge_mesh *mesh, int32_t element, double x[KG_NODES_MAX],
                double y[KG_NODES_MAX])
{
  const kg_cell *cell = kg_block_of(mesh, element)->cell;
  const int32_t *const v = kg_element_vertices(mesh, element);
  const int n = mesh->nodes ? cell->n_modes(mesh->geometry) : cell->n_vertices;
  for (int l = 0; l < n; ++l) {
    const double *at =
        mesh->nodes ? kg_element_nodes(mesh, element) + 2 * l : mesh->vertices + 2 * (int64_t)v[l];
    x[l] = at[0];
    y[l] = at[1];
  }
  return n;
}

static double at_point(int n, const double *map, const double *x)
{
  double sum = map[0] * x[0] + map[1] * x[1] + map[2] * x[2];
  for (int l = 3; l < n; ++l) sum += map[l] * x[l];
  return sum;
}

/// Points of a straight tetrahedron.
static void place_in_space(const kedge_mesh *mesh, const kg_cell_points *points, int32_t element,
                           int stride, double *xyz)
{
  const int32_t *const v = kg_element_vertices(mesh, element);
  for (int q = 0; q < points->n; ++q)
    for (int k = 0; k < 3; ++k) {
      double sum = 0.0;
      for (int l = 0; l < 4; ++l)
        sum += points->map[16 * q + l] * mesh->vertices[3 * (int64_t)v[l] + k];
      xyz[stride * q + k] = sum;
    }
}

void kg_place_points(const kedge_solution *s, const kg_cell_points *points, int32_t element,
                     int stride, double *xy)
{
  if (kg_mesh_in_space(s->mesh)) {
    place_in_space(s->mesh, points, element, stride, xy);
    return;
  }
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  const int V = kg_nodes_of(s->mesh, element, x, y);
  for (int q = 0; q < points->n; ++q) {
    xy[stride * q] = at_point(V, points->map + 3 * q * V, x);
    xy[stride * q + 1] = at_point(V, points->map + 3 * q * V, y);
  }
}

/// Evaluate the diffusion tensor at the points of an element, times `s->scale`, the factor by which
/// the equation was multiplied before it was solved.
/// @param[out] value  [4][points->n]: xx, xy and yy, scaled; the reaction, not scaled
static kg_cell_diffusion diffusion_at(const kedge_solution *s, const kg_cell_points *points,
                                      int32_t element, double *value)
{
  double xy[2 * POINTS_MAX], x[POINTS_MAX], y[POINTS_MAX], memory[KG_LOCATED * POINTS_MAX];
  const int n = points->n;
  const kg_located at = kg_located_in(memory, POINTS_MAX);
  kg_place_points(s, points, element, 2, xy);
  for (int q = 0; q < n; ++q) {
    x[q] = xy[2 * q];
    y[q] = xy[2 * q + 1];
    kg_locate(&at, (size_t)q, s->mesh, element, points->r[q], points->s[q]);
  }
  const kedge_points located = kg_located_points(&at, s->mesh, (size_t)n, x, y);
  kg_coefficients_evaluate(&s->equation, &located, value);
  for (int i = 0; i < 3 * n; ++i) value[i] *= s->scale;
  return (kg_cell_diffusion){.values = value, .points = n, .stride = 1};
}

static const int space_row[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

bool kg_diffusion_varies(const kedge_solution *s)
{
  bool varies = false;
  for (int k = 0; k < s->equation.n_diffusion; ++k)
    varies = varies || kg_function_varies(&s->equation.diffusion[k]);
  return varies;
}

/// A row of the diffusion tensor of an element in which it is constant.
static void constant_diffusion(const kedge_solution *s, int32_t element, int row, double kappa[3])
{
  const bool in_space = kg_mesh_in_space(s->mesh);
  const double *at =
      s->mesh->vertices + s->mesh->dimension * (int64_t)kg_element_vertices(s->mesh, element)[0];
  static const double corner[3] = {-1.0, -1.0, -1.0};
  double value[KG_COEFFICIENTS_MAX], memory[KG_LOCATED];
  const kg_located located = kg_located_in(memory, 1);
  kg_locate_at(&located, 0, s->mesh, element, corner);
  kedge_points point = kg_located_points(&located, s->mesh, 1, at, at + 1);
  if (in_space) point.z = at + 2;
  kg_coefficients_evaluate(&s->equation, &point, value);
  for (int k = 0; k < 3; ++k)
    kappa[k] = in_space ? value[space_row[row][k]] : k < 2 ? value[row + k] : 0.0;
}

/// A component of sigma from the coefficients of the flux, or of q = grad u.
static void at_quadrature_points(const kedge_solution *s, const kg_cell_points *points,
                                 kedge_field field, int32_t element, const double *coefficients,
                                 double *values)
{
  const kg_results *const r = kg_results_of(s, element);
  const int S = r->size.n_flux;
  double kappa[4 * POINTS_MAX], x[KG_NODES_MAX], y[KG_NODES_MAX], flux[FLUX_MAX];
  const bool is_flux = vector_of(field) == FLUX, is_kept = !is_flux && r->keeps_gradient;
  const int component = component_of(field);
  kg_cell_diffusion diffusion = {0};
  if (!is_flux && !is_kept) diffusion = diffusion_at(s, points, element, kappa);
  const int V = kg_nodes_of(s->mesh, element, x, y);
  for (int i = 0; i < S; ++i) flux[i] = coefficients[(is_kept ? S + i : i) * KG_LANES];
  for (int q = 0; q < points->n; ++q) {
    const kg_cell_place at = kg_cell_place_of(V, points->map + 3 * q * V, 1, x, y);
    double along[2], sigma[2], gradient[2];
    kg_cell_flux_at(points, q, flux, along);
    if (is_kept) {
      kg_cell_gradient_at(&at, along[0], along[1], gradient);
      values[q] = gradient[component];
      continue;
    }
    kg_cell_flux_of(&at, along[0], along[1], sigma);
    values[q] = sigma[component] / s->scale;
    if (is_flux) continue;
    double here[3];
    kg_cell_diffusion_at(&diffusion, q, here);
    kg_cell_gradient_of(here, sigma, gradient);
    values[q] = gradient[component];
  }
}

static void modes_at(const kg_cell_points *points, int n_star, int modes, const double *from,
                     double factor, double *values)
{
  for (int q = 0; q < points->n; ++q) {
    double sum = 0.0;
    for (int k = 0; k < modes; ++k)
      sum = kg_add_product(points->value[q * n_star + k], from[k * KG_LANES], sum);
    values[q] += factor * sum;
  }
}

void kg_diffusion_turn(const kedge_solution *s, int32_t element, const double at[3],
                       const double from[3], double out[3])
{
  double value[KG_COEFFICIENTS_MAX], memory[KG_LOCATED], place[3];
  const kg_located located = kg_located_in(memory, 1);
  kg_tetrahedron_point(s->mesh, element, at, place);
  kg_locate_at(&located, 0, s->mesh, element, at);
  kedge_points point = kg_located_points(&located, s->mesh, 1, &place[0], &place[1]);
  point.z = &place[2];
  kg_coefficients_evaluate(&s->equation, &point, value);
  for (int i = 0; i < 3; ++i) {
    out[i] = 0.0;
    for (int k = 0; k < 3; ++k) out[i] += value[space_row[i][k]] * from[k];
  }
}

/// A component of sigma = K q at point i of a tetrahedron, where K varies. Tables of nodes may be
/// of others than their coordinates (kg_element_points), so that places come from the map.
/// @param[in] coefficients  of q
static double flux_in_space(const kedge_solution *s, const kg_cell_points *points, int32_t element,
                            int component, const double *coefficients, int i)
{
  const int N = points->size.n_modes;
  const double *const share = points->map + 16 * i, *const phi =
                                                        points->value + i * points->size.n_star;
  const double at[3] = {2.0 * share[1] - 1.0, 2.0 * share[2] - 1.0, 2.0 * share[3] - 1.0};
  double q[3] = {0.0, 0.0, 0.0}, sigma[3];
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < N; ++j)
      q[k] = kg_add_product(phi[j], coefficients[(k * N + j) * KG_LANES], q[k]);
  kg_diffusion_turn(s, element, at, q, sigma);
  return sigma[component];
}

kedge_status kg_field_prepare(const kedge_solution *s, kedge_field field)
{
  KG_TRY(kg_solution_bring(s, 1u << kg_held_of(field)));
  return vector_of(field) == SCALAR ? KEDGE_OK : kg_coefficients_bring(&s->equation);
}

void kg_field_at(const kedge_solution *s, const kg_cell_points *points, kedge_field field,
                 int32_t element, double *values)
{
  const kg_results *const r = kg_results_of(s, element);
  const kg_held_field held = kg_held_of(field);
  const double *const array = held == KG_HELD_U ? r->u : held == KG_HELD_FLUX ? r->flux : r->u_star;
  const int rows = (int)kg_held_rows(r, held);
  kg_field_of(s, points, field, element, array + kg_cell_at(element - r->first_element, rows, 0),
              values);
}

void kg_field_of(const kedge_solution *s, const kg_cell_points *points, kedge_field field,
                 int32_t element, const double *coefficients, double *values)
{
  const kg_results *const r = kg_results_of(s, element);
  const int N = r->size.n_modes, n_star = r->size.n_star;
  if (vector_of(field) != SCALAR && r->by_quadrature) {
    at_quadrature_points(s, points, field, element, coefficients, values);
    return;
  }
  for (int q = 0; q < points->n; ++q) values[q] = 0.0;
  if (vector_of(field) == FLUX && kg_mesh_in_space(s->mesh) && kg_diffusion_varies(s)) {
    for (int i = 0; i < points->n; ++i)
      values[i] = flux_in_space(s, points, element, component_of(field), coefficients, i);
    return;
  }
  if (vector_of(field) == FLUX) {
    double kappa[3];
    const double *const q = coefficients;
    constant_diffusion(s, element, component_of(field), kappa);
    for (int k = 0; k < r->size.dimension; ++k)
      modes_at(points, n_star, N, q + k * N * KG_LANES, kappa[k], values);
    return;
  }
  const int first = component_of(field) * N;
  modes_at(points, n_star, field == KEDGE_FIELD_U_STAR ? n_star : N,
           coefficients + first * KG_LANES, 1.0, values);
}

/// The place of a field among means of u, q and sigma.
static int place_of_mean(int dimension, kedge_field field)
{
  const int first[] = {[SCALAR] = 0, [GRADIENT] = 1, [FLUX] = 1 + dimension};
  return first[vector_of(field)] + component_of(field);
}

/// The mean of a field over an element by quadrature, from all its modes.
static double integrated_mean(const kedge_solution *s, const kg_cell_points *rule,
                              kedge_field field, int32_t element)
{
  const kg_results *const r = kg_results_of(s, element);
  const int N = r->size.n_modes, S = kg_cell_flux_rows(r->size.n_flux, r->keeps_gradient);
  const int32_t e = element - r->first_element;
  double kappa[4 * POINTS_MAX], x[KG_NODES_MAX], y[KG_NODES_MAX], u[MODES_MAX], flux[2 * FLUX_MAX],
      means[KG_CELL_MEANS];
  const kg_cell_diffusion diffusion = diffusion_at(s, rule, element, kappa);
  kg_nodes_of(s->mesh, element, x, y);
  for (int i = 0; i < N; ++i) u[i] = r->u[kg_cell_at(e, N, i)];
  for (int i = 0; i < S; ++i) flux[i] = r->flux[kg_cell_at(e, S, i)];
  kg_cell_means_of(rule, &diffusion, x, y, u, flux,
                   r->keeps_gradient ? flux + r->size.n_flux : NULL, (kg_team){0}, means);
  for (int k = 3; k < KG_CELL_MEANS; ++k) means[k] /= s->scale;
  return means[place_of_mean(2, field)];
}

double kg_field_mean(const kedge_solution *s, const kg_cell_points *rule, kedge_field field,
                     int32_t element)
{
  // u* has the mean of u. On triangles and tetrahedra the constant mode alone has a mean.
  const kg_results *const r = kg_results_of(s, element);
  const int component = component_of(field), N = r->size.n_modes;
  const int32_t e = element - r->first_element;
  const double mode = kg_constant_mode(r->cell);
  if (vector_of(field) == FLUX && r->size.dimension == 3 && !r->constant &&
      kg_diffusion_varies(s)) {
    double sum = 0.0;
    for (int i = 0; i < rule->n; ++i)
      sum += rule->weight[i] * flux_in_space(s, rule, element, component,
                                             r->flux + kg_cell_at(e, r->size.n_flux, 0), i);
    return sum / r->cell->measure;
  }
  const int place = place_of_mean(r->size.dimension, field);
  const bool is_kept = r->constant && place < r->n_means;
  if (vector_of(field) == FLUX && !r->by_quadrature && !is_kept) {
    double kappa[3];
    constant_diffusion(s, element, component, kappa);
    const double plane = kappa[0] * kg_field_mean(s, rule, KEDGE_FIELD_QX, element) +
                         kappa[1] * kg_field_mean(s, rule, KEDGE_FIELD_QY, element);
    return r->size.dimension == 2
               ? plane
               : plane + kappa[2] * kg_field_mean(s, rule, KEDGE_FIELD_QZ, element);
  }
  const double scale = vector_of(field) == FLUX ? s->scale : 1.0;
  if (r->constant) return mode * r->constant[kg_cell_at(e, r->n_means, place)] / scale;
  if (r->by_quadrature) return integrated_mean(s, rule, field, element);
  const double constant = vector_of(field) == GRADIENT
                              ? r->flux[kg_cell_at(e, r->size.n_flux, component * N)]
                              : r->u[kg_cell_at(e, N, 0)];
  return 0.0 + mode * constant;  // no -0, as sums of modes have none
}

// Solutions as data of other problems.

enum { TOGETHER = 512 };

void kg_point_tables_fill(const kedge_solution *solution, const kg_cell *cell, bool scalar,
                          const double *at, kg_point_tables *t)
{
  const int order = solution->size.order, geometry = solution->mesh->geometry;
  const kg_cell_sizes size = kg_cell_sizes_of(cell, order);
  const int n_nodes = cell->n_modes(geometry);
  long double map[3 * KG_NODES_MAX], value[STAR_MAX], flux[FLUX_MAX], wide[3] = {0};
  for (int k = 0; k < cell->dimension; ++k) wide[k] = t->at[k] = at[k];
  cell->modes(order + 1, wide, value, NULL);
  for (int i = 0; i < size.n_star; ++i) t->value[i] = (double)value[i];
  if (!scalar) {
    cell->map(geometry, wide, map);
    cell->flux(order, wide, flux, NULL);
    for (int i = 0; i < (1 + cell->dimension) * n_nodes; ++i) t->map[i] = (double)map[i];
    for (int i = 0; i < size.n_flux; ++i) t->flux[i] = (double)flux[i];
  }
  t->points = (kg_cell_points){.size = size,
                               .geometry = geometry,
                               .n_nodes = n_nodes,
                               .n = 1,
                               .r = &t->at[0],
                               .s = &t->at[1],
                               .t = cell->dimension == 3 ? &t->at[2] : NULL,
                               .map = t->map,
                               .value = t->value,
                               .flux = t->flux};
}

/// Whether points have the same place in the reference element.
static bool is_same_place(const kedge_points *points, size_t i, size_t k)
{
  return points->r[i] == points->r[k] && points->s[i] == points->s[k] &&
         (!points->third || points->third[i] == points->third[k]);
}

/// Evaluate a field at up to TOGETHER points, beginning with number `first`. The points may lie in
/// elements in any order. Points with the same place in the reference element are evaluated one
/// after the other, so that they share the tables of basis functions.
static void values_at(const kedge_solution *solution, kedge_field field, const kedge_points *points,
                      size_t first, double *value)
{
  const size_t end = first + TOGETHER < points->n ? first + TOGETHER : points->n;
  bool done[TOGETHER] = {false};
  kg_point_tables tables;
  for (size_t i = first; i < end; ++i) {
    if (done[i - first]) continue;
    const kg_cell *const cell = kg_block_of(solution->mesh, points->place[i])->cell;
    const double at[] = {points->r[i], points->s[i], points->third ? points->third[i] : 0.0};
    kg_point_tables_fill(solution, cell, vector_of(field) == SCALAR, at, &tables);
    for (size_t k = i; k < end; ++k) {
      if (done[k - first] || !is_same_place(points, i, k)) continue;
      if (kg_block_of(solution->mesh, points->place[k])->cell != cell) continue;
      kg_field_at(solution, &tables.points, field, points->place[k], &value[k]);
      done[k - first] = true;
    }
  }
}

kedge_status kedge_solution_at(const kedge_solution *solution, kedge_field field,
                               const kedge_points *points, double *value)
{
  if (!solution || !points || (!value && points->n > 0) || points->mesh != solution->mesh ||
      (unsigned)field >= (unsigned)kg_mesh_fields(solution->mesh) ||
      !kg_holds(solution, kg_held_of(field)))
    return KEDGE_ERR_ARG;
  KG_TRY(kg_field_prepare(solution, field));
  for (size_t first = 0; first < points->n; first += TOGETHER)
    values_at(solution, field, points, first, value);
  return KEDGE_OK;
}

void kedge_by_solution(void *user, const kedge_points *points, double *value)
{
  if (kedge_solution_at(user, KEDGE_FIELD_U_STAR, points, value) == KEDGE_OK) return;
  for (size_t i = 0; i < points->n; ++i) value[i] = NAN;
}

static bool is_solution(const kg_function *f)
{
  return f && f->kind == KG_FUNCTION_CALLER && f->function == kedge_by_solution;
}

const kedge_solution *kg_solution_of(const kg_function *function)
{
  return is_solution(function) ? function->user : NULL;
}

bool kg_function_may_move(const kg_function *f)
{
  if (!f) return false;
  if (f->kind == KG_FUNCTION_CALLER)
    return f->function != kedge_steady && !kg_function_by_element(f) && !kg_solution_of(f);
  bool any = kg_function_uses_t(f);
  for (int i = 0; i < f->n_regions; ++i) any = any || kg_function_may_move(&f->regions[i].function);
  return any;
}

bool kg_lies_with(const kedge_solution *solution, const kedge_context *ctx)
{
  return solution->place == KG_ON_DEVICE && solution->ctx == ctx &&
         ctx->backend != KEDGE_BACKEND_HOST;
}

/// @param[in] waits  a solution on the context's device may stay there
static kedge_status check_data(kedge_context *ctx, const kedge_mesh *mesh,
                               const kedge_solution *result, const kg_function *f, bool waits)
{
  for (int t = 0; f && t < f->n_regions; ++t)
    KG_TRY(check_data(ctx, mesh, result, &f->regions[t].function, false));
  if (!is_solution(f)) return KEDGE_OK;
  const kedge_solution *const solution = f->user;
  KG_REQUIRE(ctx, solution, KEDGE_ERR_ARG, "kedge_by_solution: the solution is NULL");
  KG_REQUIRE(ctx, solution->mesh == mesh, KEDGE_ERR_INPUT,
             "kedge_by_solution: the solution is of another mesh object; find its values at points "
             "yourself, in a function of x and y");
  KG_REQUIRE(
      ctx, !solution->only_report, KEDGE_ERR_INPUT,
      "kedge_by_solution: the solution was made for its report and has kept nothing else: solve "
      "for the fields too");
  KG_REQUIRE(ctx, kg_holds(solution, KG_HELD_U_STAR), KEDGE_ERR_INPUT,
             "kedge_by_solution: the solution has means alone, as its problem says [output] fields "
             "= cells; solve with fields = full");
  KG_REQUIRE(ctx, solution != result, KEDGE_ERR_ARG,
             "kedge_by_solution: the solution is also the one to overwrite; give another, or NULL");
  if (waits && kg_lies_with(solution, ctx)) return KEDGE_OK;
  const kedge_status status = kg_solution_bring(solution, KG_HOLDS_U_STAR);
  return status == KEDGE_OK || solution->ctx == ctx
             ? status
             : KG_FAIL(ctx, status, "%s", kedge_context_error(solution->ctx));
}

kedge_status kg_fields_check(kedge_context *ctx, const kedge_mesh *mesh, const kg_resolved *r,
                             const kedge_solution *result)
{
  const kg_coefficients *const c = &r->equation;
  KG_TRY(check_data(ctx, mesh, result, &c->source, true));
  for (int k = 0; k < KG_TENSOR_MAX; ++k)
    KG_TRY(check_data(ctx, mesh, result, &c->diffusion[k], false));
  KG_TRY(check_data(ctx, mesh, result, &c->reaction, false));
  for (int g = 0; g < mesh->n_groups; ++g) {
    KG_TRY(check_data(ctx, mesh, result, r->boundaries[g].value, false));
    KG_TRY(check_data(ctx, mesh, result, r->boundaries[g].coefficient, false));
  }
  return KEDGE_OK;
}
