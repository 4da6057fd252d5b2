#include "diagnose/looks.h"

#include <math.h>

#include "problem/located.h"

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

static kg_located located_of(kg_looks *l)
{
  return (kg_located){l->region, l->r, l->s, NULL, l->element, l->place};
}

static kedge_points points_of(const kg_diagnosis *d, const kg_looks *l)
{
  kedge_points points = {.n = (size_t)l->n,
                         .x = l->x,
                         .y = l->y,
                         .region = l->region,
                         .mesh = d->mesh,
                         .element = l->element,
                         .place = l->place,
                         .r = l->r,
                         .s = l->s};
  if (l->on_sides) points.normal_x = l->normal_x, points.normal_y = l->normal_y;
  return points;
}

void kg_look_at_side(const kedge_mesh *mesh, kg_side side, bool opposite, kg_looks *to)
{
  const double t = opposite ? 0.4 : -0.4;
  double at[2], along[2];
  kg_side_point(mesh, side, t, at, along);
  const double dx = along[0], dy = along[1], length = hypot(dx, dy);
  const kg_located located = located_of(to);
  kg_locate_side(&located, (size_t)to->n, mesh, side, t);
  to->side[to->n] = side;
  to->t[to->n] = t;
  to->x[to->n] = at[0];
  to->y[to->n] = at[1];
  to->normal_x[to->n] = dy / length;
  to->normal_y[to->n++] = -dx / length;
}

void kg_look_inside(const kedge_mesh *mesh, kg_looks *to)
{
  static const double part[3] = {0.5, 0.3, 0.2};
  const int64_t stride = (mesh->n_elements + KG_LOOKS - 1) / KG_LOOKS;
  const kg_located located = located_of(to);
  to->n = 0;
  to->near = to->on_sides = false;
  for (int64_t e = 0; e < mesh->n_elements; e += stride, ++to->n) {
    to->x[to->n] = to->y[to->n] = 0.0;
    const bool triangle = kg_block_of(mesh, (int32_t)e)->cell == &kg_triangle;
    kg_locate(&located, (size_t)to->n, mesh, (int32_t)e, triangle ? -0.4 : 0.0, -0.6);
    for (int k = 0; k < 3; ++k) {
      const double *v = mesh->vertices + 2 * (int64_t)kg_element_vertices(mesh, (int32_t)e)[k];
      to->x[to->n] += part[k] * v[0];
      to->y[to->n] += part[k] * v[1];
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
    double middle[2] = {0.0, 0.0}, at[2] = {0.0, 0.0};
    for (int l = 0; l < cell->n_vertices; ++l)
      for (int k = 0; k < 2; ++k) {
        middle[k] += mesh->vertices[2 * (int64_t)v[l] + k] / cell->n_vertices;
        at[k] += cell->corner[l][k] / cell->n_vertices;
      }
    to->x[i] += part * (middle[0] - from->x[i]);
    to->y[i] += part * (middle[1] - from->y[i]);
    to->r[i] += part * (at[0] - from->r[i]);
    to->s[i] += part * (at[1] - from->s[i]);
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
  double twice[4 * KG_LOOKS];
  if (!at->on_sides) {
    kg_look(d, f, at, value);
    return;
  }
  move_inside(d->mesh, 2.0 * inside(at), at, &moved);
  kg_look(d, f, &moved, twice);
  move_inside(d->mesh, inside(at), at, &moved);
  kg_look(d, f, &moved, value);
  for (int i = 0; i < (f ? 1 : 4) * at->n; ++i) value[i] = 2.0 * value[i] - twice[i];
}

void kg_look_at_flux(const kg_diagnosis *d, const kg_looks *at, double flux[2][KG_LOOKS])
{
  double k[4 * KG_LOOKS];
  kg_look_from_inside(d, &d->problem->exact_dx, at, flux[0]);
  kg_look_from_inside(d, &d->problem->exact_dy, at, flux[1]);
  kg_look_from_inside(d, NULL, at, k);
  for (int i = 0; i < at->n; ++i) {
    const double u_x = flux[0][i], u_y = flux[1][i];
    flux[0][i] = kg_normal_flux(k + i, (size_t)at->n, u_x, u_y, 1.0, 0.0);
    flux[1][i] = kg_normal_flux(k + i, (size_t)at->n, u_x, u_y, 0.0, 1.0);
  }
}
