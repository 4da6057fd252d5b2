// The points of an integral: where they are, and the values of names there.
#include "basis/polynomials.h"
#include "ops/local/quadrature/elements.h"
#include "ops/local/triangle/element.h"
#include "problem/face_points.h"
#include "solution/integral.h"

enum { PART = 128 };  // points whose fields are evaluated together

int kg_integral_points_each(const kedge_integral *in)
{
  const kg_cell *const cell = in->mesh->block[0].cell;
  return kg_cell_rule_points(in->on_lines ? cell->facet : cell, in->rule.rows);
}

/// A field at points of an element.
/// @param[in] i  of the list of the integral
static void evaluate(const kg_integral_reading *r, const kg_cell_points *points, kedge_field field,
                     int32_t element, int32_t i, double *values)
{
  const int32_t place = r->integral->side ? r->integral->elements.place[i] : i;
  const double *const *const of = r->held[kg_held_of(field)].of;
  for (int first = 0; first < points->n; first += PART) {
    const int left = points->n - first;
    const kg_cell_points part = kg_points_part(points, first, left < PART ? left : PART);
    if (of)
      kg_field_of(r->solution, &part, field, element, of[place], values + first);
    else
      kg_field_at(r->solution, &part, field, element, values + first);
  }
}

/// @param[in] i  of the list of the integral
static void add_fields(const kg_integral_reading *r, const kg_cell_points *points, int32_t element,
                       int32_t i, kg_integral_points *p)
{
  for (int f = 0; f < KG_NAMES_OF_FIELDS; ++f)
    if (r->fields >> f & 1) evaluate(r, points, (kedge_field)f, element, i, p->name[f] + p->n);
}

/// Where points of a tetrahedron are.
static void put_places(const kedge_mesh *mesh, const kg_cell_points *points, int32_t element,
                       kg_integral_points *p)
{
  for (int q = 0; q < points->n; ++q) {
    const double at[3] = {points->r[q], points->s[q], points->t[q]};
    double x[3];
    kg_tetrahedron_point(mesh, element, at, x);
    for (int d = 0; d < 3; ++d) p->x[d][p->n + (size_t)q] = x[d];
    kg_locate_at(&p->at, p->n + (size_t)q, mesh, element, at);
  }
}

static void add_tetrahedron(const kg_integral_reading *r, int32_t i, kg_integral_points *p)
{
  const kedge_integral *const in = r->integral;
  const kg_cell_points *const points = &in->rule.points.points[kg_cell_index(&kg_tetrahedron)];
  const int32_t element = in->element ? in->element[i] : i;
  const double jacobian = kg_space_volume(in->mesh, element) / kg_tetrahedron.measure;
  put_places(in->mesh, points, element, p);
  for (int q = 0; q < points->n; ++q) p->weight[p->n + (size_t)q] = points->weight[q] * jacobian;
  add_fields(r, points, element, i, p);
  p->n += (size_t)points->n;
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
    p->x[0][at] = place.x;
    p->x[1][at] = place.y;
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
    p->x[0][at] = place.x;
    p->x[1][at] = place.y;
    p->weight[at] = rule->weight[q] * length[q];
    p->name[KG_NAME_NORMAL_X][at] = dy / length[q];
    p->name[KG_NAME_NORMAL_Y][at] = -dx / length[q];
    kg_locate(&p->at, at, mesh, element, points.r[q], points.s[q]);
  }
  add_fields(r, &points, element, i, p);
  if (r->trace.of) add_flux(r, i, length, p);
  p->n += (size_t)n;
}

/// tau of a face, as kg_tetrahedron_factors_of() has it.
static double tau_of_face(const kg_integral_reading *r, kg_side side, double area,
                          const double normal[3])
{
  const kedge_solution *const s = r->solution;
  const kg_stabilization *const tau = &s->stabilization;
  if (!(tau->length > 0.0))
    return tau->number * kg_tau_scale(tau->scaling, 2.0 * area) / sqrt(2.0 * area);
  const kg_cell_points *const rule =
      &r->integral->rule.method.points[kg_cell_index(&kg_tetrahedron)];
  const int32_t element = kg_side_element(side);
  const int n = kg_diffusion_varies(s) ? rule->n : 1;
  double sum = 0.0, measure = 0.0;
  for (int q = 0; q < n; ++q) {
    double turned[3];
    kg_diffusion_turn(s, element, (const double[]){rule->r[q], rule->s[q], rule->t[q]}, normal,
                      turned);
    measure += rule->weight[q];
    for (int k = 0; k < 3; ++k) sum += rule->weight[q] * turned[k] * normal[k];
  }
  return sum / (measure * tau->length);
}

/// sigma . n on a face. Where diffusion varies, it is of the projection of diffusion q to
/// polynomials, which the method has in the flux; else the names of sigma have it.
static void put_normal_flux(const kg_integral_reading *r, const kg_cell_points *points, int32_t i,
                            const double normal[3], kg_integral_points *p)
{
  static const kedge_field parts[3] = {KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y,
                                       KEDGE_FIELD_SIGMA_Z};
  const kg_cell_points *const rule =
      &r->integral->rule.method.points[kg_cell_index(&kg_tetrahedron)];
  const int32_t element = kg_side_element(r->integral->side[i]);
  const int N = points->size.n_modes, n_star = points->size.n_star;
  double *const to = p->name[KG_NAME_FLUX] + p->n, mode[KG_SPACE_MODES_MAX] = {0}, value[PART];
  const bool varies = kg_diffusion_varies(r->solution);
  for (int q = 0; q < points->n; ++q) to[q] = 0.0;
  for (int k = 0; k < 3; ++k) {
    for (int q = 0; q < points->n && !varies; ++q)
      to[q] += normal[k] * p->name[parts[k]][p->n + (size_t)q];
    for (int first = 0; varies && first < rule->n; first += PART) {
      const int left = rule->n - first;
      const kg_cell_points part = kg_points_part(rule, first, left < PART ? left : PART);
      evaluate(r, &part, parts[k], element, i, value);
      for (int q = 0; q < part.n; ++q)
        for (int j = 0; j < N; ++j)
          mode[j] += part.weight[q] * part.value[q * n_star + j] * normal[k] * value[q];
    }
  }
  for (int q = 0; varies && q < points->n; ++q)
    for (int j = 0; j < N; ++j) to[q] += points->value[q * n_star + j] * mode[j];
}

/// The trace, and the flux from u, sigma and the normal that are there.
static void add_flux_of_face(const kg_integral_reading *r, const kg_cell_points *points, int32_t i,
                             double area, const double normal[3], kg_integral_points *p)
{
  const kedge_integral *const in = r->integral;
  const int m = r->solution->m;
  const double *const modes = r->trace.of[in->edges.place[i]], *psi = in->rule.face + points->n;
  const bool with_flux = in->names >> KG_NAME_FLUX & 1;
  const double tau = with_flux ? tau_of_face(r, in->side[i], area, normal) : 0.0;
  if (with_flux) put_normal_flux(r, points, i, normal, p);
  for (int q = 0; q < points->n; ++q, psi += m) {
    const size_t at = p->n + (size_t)q;
    double trace = 0.0;
    for (int k = 0; k < m; ++k) trace += psi[k] * modes[k];
    p->name[KG_NAME_TRACE][at] = trace;
    if (with_flux) p->name[KG_NAME_FLUX][at] -= tau * (p->name[KEDGE_FIELD_U][at] - trace);
  }
}

static void add_face(const kg_integral_reading *r, int32_t i, kg_integral_points *p)
{
  const kg_integral_rule *const rule = &r->integral->rule;
  const kedge_mesh *const mesh = r->integral->mesh;
  const kg_side side = r->integral->side[i];
  const int32_t element = kg_side_element(side);
  const int n = kg_cell_rule_points(&kg_triangle, rule->rows);
  const int first = kg_cell_rule_points(&kg_tetrahedron, rule->rows) + kg_side_facet(side) * n;
  const kg_cell_points points =
      kg_points_part(&rule->points.points[kg_cell_index(&kg_tetrahedron)], first, n);
  double normal[3];
  const double jacobian = kg_face_normal(mesh, side, normal);
  put_places(mesh, &points, element, p);
  for (int q = 0; q < n; ++q) {
    p->weight[p->n + (size_t)q] = rule->face[q] * jacobian;
    for (int k = 0; k < 3; ++k) p->name[KG_NAME_NORMAL_X + k][p->n + (size_t)q] = normal[k];
  }
  add_fields(r, &points, element, i, p);
  if (r->trace.of) add_flux_of_face(r, &points, i, kg_triangle.measure * jacobian, normal, p);
  p->n += (size_t)n;
}

void kg_integral_points_add(const kg_integral_reading *r, int32_t i, kg_integral_points *points)
{
  const bool in_space = kg_mesh_in_space(r->integral->mesh);
  if (r->integral->side)
    (in_space ? add_face : add_side)(r, i, points);
  else
    (in_space ? add_tetrahedron : add_element)(r, i, points);
}
