// The points of an integral: where they are, and the values of names there.
#include "basis/polynomials.h"
#include "ops/local/quadrature/elements.h"
#include "ops/local/triangle/element.h"
#include "solution/integral.h"

enum { PART = 128 };  // points whose fields are evaluated together

int kg_integral_points_each(const kedge_integral *in)
{
  return in->on_lines ? in->rule.rows : in->rule.rows * in->rule.rows;
}

/// @param[in] i  of the list of the integral
static void add_fields(const kg_integral_reading *r, const kg_cell_points *points, int32_t element,
                       int32_t i, kg_integral_points *p)
{
  const int32_t place = r->integral->side ? r->integral->elements.place[i] : i;
  for (int f = 0; f < KG_NAMES_OF_FIELDS; ++f) {
    const double *const *const of = r->held[kg_held_of((kedge_field)f)].of;
    for (int first = 0; r->fields >> f & 1 && first < points->n; first += PART) {
      const int left = points->n - first;
      const kg_cell_points part = kg_points_part(points, first, left < PART ? left : PART);
      double *const values = p->name[f] + p->n + (size_t)first;
      if (of)
        kg_field_of(r->solution, &part, (kedge_field)f, element, of[place], values);
      else
        kg_field_at(r->solution, &part, (kedge_field)f, element, values);
    }
  }
}

static void add_element(const kg_integral_reading *r, int32_t i, kg_integral_points *p)
{
  const kedge_integral *const in = r->integral;
  const kedge_mesh *const mesh = in->mesh;
  const int32_t element = in->element ? in->element[i] : i;
  const int k = kg_cell_index(kg_block_of(mesh, element)->cell);
  const kg_cell_points *const points = &in->rule.points.points[k];
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  kg_nodes_of(mesh, element, x, y);
  for (int q = 0; q < points->n; ++q) {
    const kg_cell_place place = kg_cell_place_at(points, q, x, y);
    const size_t at = p->n + (size_t)q;
    p->x[at] = place.x;
    p->y[at] = place.y;
    p->weight[at] = points->weight[q] * place.jacobian;
    kg_locate(&p->at, at, mesh, element, points->r[q], points->s[q]);
  }
  add_fields(r, points, element, i, p);
  p->n += (size_t)points->n;
}

/// tau |l| / 2 of a side, as kg_cell_tau() has it.
static double half_tau(const kedge_solution *s, kg_side side)
{
  const kg_stabilization *const tau = &s->stabilization;
  double t[KG_QUADRATURE_MAX], w[KG_QUADRATURE_MAX], x[KG_QUADRATURE_MAX], y[KG_QUADRATURE_MAX];
  double along[KG_QUADRATURE_MAX][2], kappa[4 * KG_QUADRATURE_MAX];
  double memory[KG_LOCATED * KG_QUADRATURE_MAX], length = 0.0, integral = 0.0;
  const int n = tau->rows;
  const kg_located located = kg_located_in(memory, KG_QUADRATURE_MAX);
  kg_gauss_jacobi(n, 0, t, w);
  for (int q = 0; q < n; ++q) {
    double at[2];
    kg_side_point(s->mesh, side, t[q], at, along[q]);
    x[q] = at[0];
    y[q] = at[1];
    length += w[q] * hypot(along[q][0], along[q][1]);
    kg_locate_side(&located, (size_t)q, s->mesh, side, t[q]);
  }
  if (!(tau->length > 0.0)) return 0.5 * tau->number * kg_tau_scale(tau->scaling, length * length);
  const kedge_points points = kg_located_points(&located, s->mesh, (size_t)n, x, y);
  kg_coefficients_evaluate(&s->equation, &points, kappa);
  for (int q = 0; q < n; ++q) {
    const double dx = along[q][0], dy = along[q][1];
    integral += w[q] *
                (dy * dy * kappa[q] - 2.0 * dx * dy * kappa[n + q] + dx * dx * kappa[2 * n + q]) /
                hypot(dx, dy);
  }
  return 0.5 * integral / tau->length;
}

/// The trace, and the flux from u, sigma and normals that are there.
/// @param[in] length  [point]: of the side, by t
static void add_flux(const kg_integral_reading *r, int32_t i, const double *length,
                     kg_integral_points *p)
{
  const kedge_integral *const in = r->integral;
  const kedge_solution *const s = r->solution;
  const kg_side side = in->side[i];
  const int m = s->m;
  const double *const modes = r->trace.of[in->edges.place[i]];
  const bool with_flux = in->names >> KG_NAME_FLUX & 1;
  const double tau = with_flux ? half_tau(s, side) : 0.0;
  int32_t ends[2];
  kg_side_ends(s->mesh, side, ends);
  for (int q = 0; q < in->rule.rows; ++q) {
    const size_t at = p->n + (size_t)q;
    double psi[KEDGE_ORDER_MAX + 1], trace = 0.0;
    kg_legendre(m - 1, ends[0] > ends[1] ? -in->rule.t[q] : in->rule.t[q], psi);
    for (int k = 0; k < m; ++k) trace += psi[k] * modes[k];
    p->name[KG_NAME_TRACE][at] = trace;
    if (!with_flux) continue;
    p->name[KG_NAME_FLUX][at] = p->name[KEDGE_FIELD_SIGMA_X][at] * p->name[KG_NAME_NORMAL_X][at] +
                                p->name[KEDGE_FIELD_SIGMA_Y][at] * p->name[KG_NAME_NORMAL_Y][at] -
                                tau / length[q] * (p->name[KEDGE_FIELD_U][at] - trace);
  }
}

static void add_side(const kg_integral_reading *r, int32_t i, kg_integral_points *p)
{
  const kg_integral_rule *const rule = &r->integral->rule;
  const kedge_mesh *const mesh = r->integral->mesh;
  const kg_side side = r->integral->side[i];
  const int32_t element = kg_side_element(side);
  const int n = rule->rows, l = kg_side_facet(side);
  const kg_cell *const cell = kg_block_of(mesh, element)->cell;
  const kg_cell_points points =
      kg_points_part(&rule->points.points[kg_cell_index(cell)], n * n + l * n, n);
  double x[KG_NODES_MAX], y[KG_NODES_MAX], length[KG_GAUSS_MAX];
  long double ignored[2], step[2];
  kg_cell_facet_point(cell, l, 0.0, ignored, step);
  kg_nodes_of(mesh, element, x, y);
  for (int q = 0; q < n; ++q) {
    const kg_cell_place place = kg_cell_place_at(&points, q, x, y);
    const double dx = place.x_r * (double)step[0] + place.x_s * (double)step[1];
    const double dy = place.y_r * (double)step[0] + place.y_s * (double)step[1];
    const size_t at = p->n + (size_t)q;
    length[q] = hypot(dx, dy);
    p->x[at] = place.x;
    p->y[at] = place.y;
    p->weight[at] = rule->weight[q] * length[q];
    p->name[KG_NAME_NORMAL_X][at] = dy / length[q];
    p->name[KG_NAME_NORMAL_Y][at] = -dx / length[q];
    kg_locate(&p->at, at, mesh, element, points.r[q], points.s[q]);
  }
  add_fields(r, &points, element, i, p);
  if (r->trace.of) add_flux(r, i, length, p);
  p->n += (size_t)n;
}

void kg_integral_points_add(const kg_integral_reading *r, int32_t i, kg_integral_points *points)
{
  if (r->integral->side)
    add_side(r, i, points);
  else
    add_element(r, i, points);
}
