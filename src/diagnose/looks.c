#include "diagnose/looks.h"

#include <math.h>
#include <string.h>

#include "basis/polynomials.h"
#include "problem/face_points.h"

/// How far inside of an element functions are looked at, as a part of the way to its middle: far
/// more than vertices and formulas round, and what is left by a straight line through two such
/// points is 1e-10 of what is curved.
#define INSIDE 1e-5
/// How much nearer to sides a second look comes. What shrinks on the way has become less than the
/// next number by then: roots of orders up to 16 have.
#define NEARER 0.01
#define SHRUNK 0.75

static double inside(const kg_looks *at)
{
  return at->near ? NEARER * INSIDE : INSIDE;
}

double kg_settled(double far, double near)
{
  return fabs(near) >= SHRUNK * fabs(far) ? near : 0.0;
}

kg_located kg_looks_located(kg_looks *l)
{
  return (kg_located){l->region, l->in[0], l->in[1], l->in[2], l->element, l->place};
}

void kg_look_place(const kg_looks *at, int i, double x[3])
{
  for (int k = 0; k < 3; ++k) x[k] = at->x[k][i];
}

void kg_look_normal(const kg_looks *at, int i, double normal[3])
{
  for (int k = 0; k < 3; ++k) normal[k] = at->normal[k][i];
}

static kedge_points points_of(const kg_diagnosis *d, const kg_looks *l)
{
  const bool in_space = kg_mesh_in_space(d->mesh);
  kedge_points points = {.n = (size_t)l->n,
                         .x = l->x[0],
                         .y = l->x[1],
                         .z = in_space ? l->x[2] : NULL,
                         .region = l->region,
                         .mesh = d->mesh,
                         .element = l->element,
                         .place = l->place,
                         .r = l->in[0],
                         .s = l->in[1],
                         .third = in_space ? l->in[2] : NULL};
  if (!l->on_sides) return points;
  points.normal_x = l->normal[0];
  points.normal_y = l->normal[1];
  if (in_space) points.normal_z = l->normal[2];
  return points;
}

/// Both elements of a face have its corners in the same order.
static void look_at_face(const kedge_mesh *mesh, kg_side side, kg_looks *to)
{
  const long double on[2] = {-0.4L, -0.6L};
  const kg_located located = kg_looks_located(to);
  long double wide[3];
  double at[3], x[3], normal[3];
  kg_cell_on_facet(&kg_tetrahedron, kg_side_facet(side), on, wide);
  kg_round_all(3, wide, at);
  kg_tetrahedron_point(mesh, kg_side_element(side), at, x);
  kg_face_normal(mesh, side, normal);
  kg_locate_at(&located, (size_t)to->n, mesh, kg_side_element(side), at);
  for (int k = 0; k < 3; ++k) {
    to->x[k][to->n] = x[k];
    to->normal[k][to->n] = normal[k];
  }
  to->side[to->n++] = side;
}

void kg_look_at_side(const kedge_mesh *mesh, kg_side side, bool opposite, kg_looks *to)
{
  const double t = opposite ? 0.4 : -0.4;
  double at[2], along[2];
  if (kg_mesh_in_space(mesh)) {
    look_at_face(mesh, side, to);
    return;
  }
  kg_side_point(mesh, side, t, at, along);
  const double dx = along[0], dy = along[1], length = hypot(dx, dy);
  const kg_located located = kg_looks_located(to);
  kg_locate_side(&located, (size_t)to->n, mesh, side, t);
  to->side[to->n] = side;
  to->x[0][to->n] = at[0];
  to->x[1][to->n] = at[1];
  to->x[2][to->n] = 0.0;
  to->normal[0][to->n] = dy / length;
  to->normal[1][to->n] = -dx / length;
  to->normal[2][to->n++] = 0.0;
}

void kg_look_inside(const kedge_mesh *mesh, kg_looks *to)
{
  static const double in_plane[4] = {0.5, 0.3, 0.2, 0.0}, in_space[4] = {0.4, 0.3, 0.2, 0.1};
  const int dimension = mesh->dimension;
  const double *const part = dimension == 3 ? in_space : in_plane;
  const int64_t stride = (mesh->n_elements + KG_LOOKS - 1) / KG_LOOKS;
  const kg_located located = kg_looks_located(to);
  to->n = 0;
  to->near = to->on_sides = false;
  for (int64_t e = 0; e < mesh->n_elements; e += stride, ++to->n) {
    const bool square = kg_block_of(mesh, (int32_t)e)->cell == &kg_quadrilateral;
    const double at[3] = {square ? 0.0 : -0.4, -0.6, -0.8};
    kg_locate_at(&located, (size_t)to->n, mesh, (int32_t)e, at);
    for (int i = 0; i < 3; ++i) to->x[i][to->n] = 0.0;
    for (int k = 0; k <= dimension; ++k) {
      const int32_t v = kg_element_vertices(mesh, (int32_t)e)[k];
      for (int i = 0; i < dimension; ++i)
        to->x[i][to->n] += part[k] * mesh->vertices[dimension * (int64_t)v + i];
    }
  }
}

/// Move points of sides to the middles of their elements, by a part of the way.
static void move_inside(const kedge_mesh *mesh, double part, const kg_looks *from, kg_looks *to)
{
  *to = *from;
  for (int i = 0; i < from->n; ++i) {
    const int32_t e = from->place[i];
    const kg_cell *const cell = kg_block_of(mesh, e)->cell;
    const int32_t *const v = kg_element_vertices(mesh, e);
    const int dimension = mesh->dimension;
    double middle[3] = {0.0}, at[3] = {0.0};
    for (int l = 0; l < cell->n_vertices; ++l)
      for (int k = 0; k < dimension; ++k) {
        middle[k] += mesh->vertices[dimension * (int64_t)v[l] + k] / cell->n_vertices;
        at[k] += cell->corner[l][k] / cell->n_vertices;
      }
    for (int k = 0; k < dimension; ++k) {
      to->x[k][i] += part * (middle[k] - from->x[k][i]);
      to->in[k][i] += part * (at[k] - from->in[k][i]);
    }
  }
}

void kg_look(const kg_diagnosis *d, const kg_function *f, const kg_looks *at, double *value)
{
  const kedge_points points = points_of(d, at);
  if (f)
    kg_function_evaluate(f, &points, value);
  else
    kg_coefficients_evaluate(&d->resolved->equation, &points, value);
}

void kg_look_from_inside(const kg_diagnosis *d, const kg_function *f, const kg_looks *at,
                         double *value)
{
  kg_looks moved;
  double twice[KG_COEFFICIENTS_MAX * KG_LOOKS];
  const int n = f ? 1 : kg_coefficients_numbers(&d->resolved->equation);
  if (!at->on_sides) {
    kg_look(d, f, at, value);
    return;
  }
  move_inside(d->mesh, 2.0 * inside(at), at, &moved);
  kg_look(d, f, &moved, twice);
  move_inside(d->mesh, inside(at), at, &moved);
  kg_look(d, f, &moved, value);
  for (int i = 0; i < n * at->n; ++i) value[i] = 2.0 * value[i] - twice[i];
}

void kg_look_at_flux(const kg_diagnosis *d, const kg_looks *at, double flux[3][KG_LOOKS])
{
  static const double axis[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const kg_function *const slopes[3] = {&d->problem->exact_dx, &d->problem->exact_dy,
                                        &d->problem->exact_dz};
  const int dimension = d->mesh->dimension;
  double k[KG_COEFFICIENTS_MAX * KG_LOOKS];
  memset(flux[2], 0, sizeof flux[2]);
  for (int l = 0; l < dimension; ++l) kg_look_from_inside(d, slopes[l], at, flux[l]);
  kg_look_from_inside(d, NULL, at, k);
  for (int i = 0; i < at->n; ++i) {
    const double slope[3] = {flux[0][i], flux[1][i], flux[2][i]};
    for (int l = 0; l < dimension; ++l)
      flux[l][i] = kg_flux_along(dimension, k + i, (size_t)at->n, slope, axis[l]);
  }
}

void kg_look_flux_jump(const kg_looks *at, double (*flux)[3][KG_LOOKS], double *by)
{
  for (int i = 0; i < at->n; ++i) {
    by[i] = (flux[0][0][i] - flux[1][0][i]) * at->normal[0][i];
    for (int k = 1; k < 3; ++k) by[i] += (flux[0][k][i] - flux[1][k][i]) * at->normal[k][i];
  }
}
