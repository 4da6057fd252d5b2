// The points of an integral: how many, where they are, and the values of names there.
#include <stdlib.h>

#include "basis/polynomials.h"
#include "core/memory.h"
#include "device/context.h"
#include "ops/local/quadrature/elements.h"
#include "ops/local/triangle/element.h"
#include "solution/integral.h"

enum { PART = 128, DEGREE_MAX = 1000 };  // points whose fields are evaluated together

/// The degree of an operation, from those of its operands; -1: it is no polynomial.
static int degree_of_operation(const kg_expression *e, const kg_node *node, const int16_t *degree)
{
  const int a = degree[node->child[0]], b = degree[node->child[1]], c = degree[node->child[2]];
  int32_t exponent;
  if (node->op == KG_OP_NEGATE) return a;
  if (node->op == KG_OP_ADD || node->op == KG_OP_SUBTRACT)
    return a < 0 || b < 0 ? -1 : a > b ? a : b;
  if (node->op == KG_OP_MULTIPLY) return a < 0 || b < 0 ? -1 : a + b;
  if (node->op == KG_OP_DIVIDE && b == 0) return a;
  if (node->op == KG_OP_CHOOSE && a == 0) return b < 0 || c < 0 ? -1 : b > c ? b : c;
  if (kg_node_integer_power(e->nodes, node, &exponent) && exponent >= 0)
    return a < 0 ? -1 : a * exponent;
  for (int k = 0; k < kg_ops_info[node->op].n_children; ++k)
    if (degree[node->child[k]] != 0) return -1;
  return 0;
}

/// The degree of a name as a polynomial of the reference element.
static int degree_of_name(const kedge_mesh *mesh, int order, int name)
{
  const bool affine = mesh->geometry == 1 && kg_mesh_quadrilaterals(mesh) == 0;
  const bool vector = name != KEDGE_FIELD_U && name != KEDGE_FIELD_U_STAR;
  if (name < KG_NAMES_OF_FIELDS) return affine || !vector ? order + 1 : -1;
  if (name == KG_NAME_TRACE || name == KG_NAME_FLUX) return order;
  return 0;  // normals of straight sides; on curves nothing is a polynomial
}

/// The degree of an integrand in the coordinates of the reference element; -1: it is no polynomial.
static int degree_of(const kedge_integral *integral, int order)
{
  int16_t degree[KG_EXPRESSION_NODES];
  const kg_expression *const e = integral->of;
  if (!e || (integral->on_lines && integral->mesh->geometry > 1)) return -1;
  for (int32_t i = 0; i < e->n_nodes; ++i) {
    const kg_node *const node = &e->nodes[i];
    int d = 0;
    if (node->op == KG_OP_X || node->op == KG_OP_Y)
      d = integral->mesh->geometry;
    else if (node->op == KG_OP_FIELD)
      d = degree_of_name(integral->mesh, order, (int)node->value);
    else if (kg_ops_info[node->op].n_children > 0)
      d = degree_of_operation(e, node, degree);
    degree[i] = (int16_t)(d > DEGREE_MAX ? DEGREE_MAX : d);
  }
  return degree[e->n_nodes - 1];
}

/// The map adds a degree of 2 g - 1 at most, and n points are exact up to 2 n - 1.
static int rows_of(const kedge_integral *integral, int order)
{
  if (integral->quadrature > 0) return integral->quadrature;
  const int degree = degree_of(integral, order), least = 2 * (order + 1);
  const int more = degree < 0 ? 2 : 0;
  const int rows = integral->mesh->geometry + ((degree > least ? degree : least) + 1) / 2 + more;
  return rows < KG_GAUSS_MAX ? rows : KG_GAUSS_MAX;
}

/// The points of the shapes of a mesh.
static kedge_status create_points(const kedge_integral *in, int order, int rows,
                                  kg_element_points *out)
{
  for (int b = 0; b < in->mesh->n_blocks; ++b) {
    const kg_cell *const cell = in->mesh->block[b].cell;
    const int k = kg_cell_index(cell), g = in->mesh->geometry;
    if (!in->on_lines) {
      KG_TRY(kg_cell_rule_create(in->ctx, cell, order, g, rows, &out->values[k], &out->points[k]));
      continue;
    }
    KG_TRY(kg_cell_points_create(in->ctx, cell, order, g, rows, KG_BEHIND_FACETS, &out->values[k]));
    out->points[k] = kg_cell_points_at(cell, order, g, rows, KG_BEHIND_FACETS, out->values[k]);
  }
  return KEDGE_OK;
}

/// Trace edges of a section ascend with those of the mesh.
static kedge_status number_trace(const kedge_solution *s, kedge_context *ctx, int32_t **out)
{
  const kg_trace_layout *const layout = &s->cut->layout;
  int32_t next[KG_SECTION_COUNT];
  KG_TRY(kg_host_alloc(ctx, (size_t)s->n_edges, sizeof **out, out));
  for (int k = 0; k < KG_SECTION_COUNT; ++k) next[k] = *kg_section_first(layout, (kg_section)k);
  for (int32_t edge = 0; edge < s->n_edges; ++edge)
    (*out)[edge] = next[layout->edge_section[edge]]++;
  return KEDGE_OK;
}

/// Bring fields, the trace, and what the stabilization follows.
static kedge_status bring(const kedge_solution *s, const kg_integral_rule *rule)
{
  for (int f = 0; f < KG_NAMES_OF_FIELDS; ++f)
    if (rule->fields >> f & 1) KG_TRY(kg_field_prepare(s, (kedge_field)f));
  return kg_solution_bring(s, rule->integral->names & KG_NAMES_OF_TRACE ? KG_HOLDS_TRACE : 0);
}

kedge_status kg_integral_rule_open(const kedge_integral *in, const kedge_solution *s,
                                   kg_integral_rule *rule)
{
  static_assert((int)KG_NAMES_OF_FIELDS == (int)KEDGE_FIELD_COUNT_PLANE,
                "names of fields come first");
  const int order = s ? s->size.order : KEDGE_ORDER_MIN;
  const unsigned flux = 1u << KEDGE_FIELD_U | 1u << KEDGE_FIELD_SIGMA_X | 1u << KEDGE_FIELD_SIGMA_Y;
  *rule = (kg_integral_rule){.integral = in, .solution = s, .rows = rows_of(in, order)};
  rule->fields = in->names & ((1u << KG_NAMES_OF_FIELDS) - 1);
  if (in->names >> KG_NAME_FLUX & 1) rule->fields |= flux;
  kg_gauss_jacobi(rule->rows, 0, rule->t, rule->weight);
  KG_TRY(create_points(in, order, rule->rows, &rule->points));
  if (!s) return KEDGE_OK;
  const kedge_status status = bring(s, rule);
  if (status != KEDGE_OK)
    return s->ctx == in->ctx ? status : KG_FAIL(in->ctx, status, "%s", kedge_context_error(s->ctx));
  return in->names & KG_NAMES_OF_TRACE ? number_trace(s, in->ctx, &rule->trace) : KEDGE_OK;
}

void kg_integral_rule_close(kg_integral_rule *rule)
{
  kg_element_points_free(&rule->points);
  free(rule->trace);
  *rule = (kg_integral_rule){0};
}

int kg_integral_points_each(const kg_integral_rule *rule)
{
  return rule->integral->on_lines ? rule->rows : rule->rows * rule->rows;
}

static void add_fields(const kg_integral_rule *rule, const kg_cell_points *points, int32_t element,
                       kg_integral_points *p)
{
  for (int f = 0; f < KG_NAMES_OF_FIELDS; ++f)
    for (int first = 0; rule->fields >> f & 1 && first < points->n; first += PART) {
      const int left = points->n - first;
      const kg_cell_points part = kg_points_part(points, first, left < PART ? left : PART);
      kg_field_at(rule->solution, &part, (kedge_field)f, element,
                  p->name[f] + p->n + (size_t)first);
    }
}

static void add_element(const kg_integral_rule *rule, int32_t element, kg_integral_points *p)
{
  const kedge_mesh *const mesh = rule->integral->mesh;
  const int k = kg_cell_index(kg_block_of(mesh, element)->cell);
  const kg_cell_points *const points = &rule->points.points[k];
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  kg_nodes_of(mesh, element, x, y);
  for (int q = 0; q < points->n; ++q) {
    const kg_cell_place place = kg_cell_place_at(points, q, x, y);
    const size_t i = p->n + (size_t)q;
    p->x[i] = place.x;
    p->y[i] = place.y;
    p->weight[i] = points->weight[q] * place.jacobian;
    kg_locate(&p->at, i, mesh, element, points->r[q], points->s[q]);
  }
  add_fields(rule, points, element, p);
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
static void add_flux(const kg_integral_rule *rule, kg_side side, const double *length,
                     kg_integral_points *p)
{
  const kedge_solution *const s = rule->solution;
  const int m = s->m;
  const int32_t edge = rule->trace[kg_side_edge(s->mesh, side)];
  const double *const modes = s->held[KG_HELD_TRACE].host + (int64_t)edge * m;
  const bool with_flux = rule->integral->names >> KG_NAME_FLUX & 1;
  const double tau = with_flux ? half_tau(s, side) : 0.0;
  int32_t ends[2];
  kg_side_ends(s->mesh, side, ends);
  for (int q = 0; q < rule->rows; ++q) {
    const size_t i = p->n + (size_t)q;
    double psi[KEDGE_ORDER_MAX + 1], trace = 0.0;
    kg_legendre(m - 1, ends[0] > ends[1] ? -rule->t[q] : rule->t[q], psi);
    for (int k = 0; k < m; ++k) trace += psi[k] * modes[k];
    p->name[KG_NAME_TRACE][i] = trace;
    if (!with_flux) continue;
    p->name[KG_NAME_FLUX][i] = p->name[KEDGE_FIELD_SIGMA_X][i] * p->name[KG_NAME_NORMAL_X][i] +
                               p->name[KEDGE_FIELD_SIGMA_Y][i] * p->name[KG_NAME_NORMAL_Y][i] -
                               tau / length[q] * (p->name[KEDGE_FIELD_U][i] - trace);
  }
}

static void add_side(const kg_integral_rule *rule, kg_side side, kg_integral_points *p)
{
  const kedge_mesh *const mesh = rule->integral->mesh;
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
    const size_t i = p->n + (size_t)q;
    length[q] = hypot(dx, dy);
    p->x[i] = place.x;
    p->y[i] = place.y;
    p->weight[i] = rule->weight[q] * length[q];
    p->name[KG_NAME_NORMAL_X][i] = dy / length[q];
    p->name[KG_NAME_NORMAL_Y][i] = -dx / length[q];
    kg_locate(&p->at, i, mesh, element, points.r[q], points.s[q]);
  }
  add_fields(rule, &points, element, p);
  if (rule->trace) add_flux(rule, side, length, p);
  p->n += (size_t)n;
}

void kg_integral_points_add(const kg_integral_rule *rule, int32_t i, kg_integral_points *points)
{
  const kedge_integral *const in = rule->integral;
  if (in->side)
    add_side(rule, in->side[i], points);
  else
    add_element(rule, in->element ? in->element[i] : i, points);
}
