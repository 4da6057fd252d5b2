// What an integral keeps for its evaluations, and what they read: its rule, lists of elements and
// trace edges, and the parts of fields that belong to them.
#include <stdlib.h>

#include "basis/polynomials.h"
#include "core/memory.h"
#include "device/context.h"
#include "ops/local/quadrature/elements.h"
#include "solution/integral.h"

enum { DEGREE_MAX = 1000 };

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
  const bool flux =
      name == KEDGE_FIELD_SIGMA_X || name == KEDGE_FIELD_SIGMA_Y || name == KEDGE_FIELD_SIGMA_Z;
  if (flux && kg_mesh_in_space(mesh)) return -1;  // diffusion q, where diffusion may vary
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
    if (node->op == KG_OP_X || node->op == KG_OP_Y || node->op == KG_OP_Z)
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

void kg_integral_rule_free(kg_integral_rule *rule)
{
  kg_element_points_free(&rule->points);
  kg_element_points_free(&rule->method);
  free(rule->face);
  *rule = (kg_integral_rule){0};
}

/// The weights of a face, and the modes of the trace at its points.
static kedge_status fill_face(kedge_context *ctx, int order, int rows, double **out)
{
  const int n = rows * rows, m = kg_triangle.n_modes(order);
  long double *on, psi[KG_SPACE_FACET_MAX];
  KG_TRY(kg_host_alloc(ctx, (size_t)n, 3 * sizeof *on, &on));
  const kedge_status status = kg_host_alloc(ctx, (size_t)n, (size_t)(1 + m) * sizeof **out, out);
  if (status == KEDGE_OK) {
    kg_triangle.rule(rows, (long double *const[]){on, on + n}, on + 2 * n);
    kg_round_all(n, on + 2 * n, *out);
    for (int q = 0; q < n; ++q) {
      kg_triangle.modes(order, (const long double[]){on[q], on[n + q]}, psi, NULL);
      kg_round_all(m, psi, *out + n + q * m);
    }
  }
  free(on);
  return status;
}

/// Have the rule for an order.
static kedge_status keep_rule(kedge_integral *in, int order)
{
  kg_integral_rule *const rule = &in->rule;
  if (rule->order == order) return KEDGE_OK;
  kg_integral_rule_free(rule);
  rule->rows = rows_of(in, order);
  kg_gauss_jacobi(rule->rows, 0, rule->t, rule->weight);
  KG_TRY(create_points(in, order, rule->rows, &rule->points));
  if (in->on_lines && kg_mesh_in_space(in->mesh))
    KG_TRY(fill_face(in->ctx, order, rule->rows, &rule->face));
  rule->order = order;
  return KEDGE_OK;
}

/// Have the rule of the method, where a flux in space asks for it.
static kedge_status keep_method(kedge_integral *in, const kedge_solution *s)
{
  kg_integral_rule *const rule = &in->rule;
  const int rows = s->stabilization.rows;
  if (!kg_mesh_in_space(in->mesh) || !(in->names >> KG_NAME_FLUX & 1) || rule->method_rows == rows)
    return KEDGE_OK;
  kg_element_points_free(&rule->method);
  rule->method_rows = 0;
  KG_TRY(kg_rule_create(s, rows, &rule->method));
  rule->method_rows = rows;
  return KEDGE_OK;
}

void kg_integral_read_free(kg_integral_read *read)
{
  free(read->number);
  free(read->place);
  *read = (kg_integral_read){0};
}

/// The number of a side, to sort.
typedef struct numbered {
  int32_t number, side;
} numbered;

static int compare(const void *a, const void *b)
{
  const numbered *const p = a, *const q = b;
  return p->number < q->number ? -1 : p->number > q->number;
}

/// Sort the numbers of sides, and name each once.
/// @param[in,out] all  [n]
static kedge_status name_once(kedge_context *ctx, int32_t n, numbered *all, kg_integral_read *out)
{
  kg_integral_read_free(out);
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *out->number, &out->number));
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *out->place, &out->place));
  qsort(all, (size_t)n, sizeof *all, compare);
  for (int32_t k = 0; k < n; ++k) {
    if (k == 0 || all[k].number != all[k - 1].number) out->number[out->n++] = all[k].number;
    out->place[all[k].side] = out->n - 1;
  }
  return KEDGE_OK;
}

kedge_status kg_integral_find_read(kedge_integral *in)
{
  numbered *all;
  KG_TRY(kg_host_alloc(in->ctx, (size_t)in->n, sizeof *all, &all));
  for (int32_t i = 0; i < in->n; ++i) all[i] = (numbered){kg_side_element(in->side[i]), i};
  const kedge_status status = name_once(in->ctx, in->n, all, &in->elements);
  free(all);
  return status;
}

/// Number the trace edges of all edges of the mesh: those of a section ascend with them.
static void number_trace(const kedge_solution *s, int32_t *trace)
{
  const kg_trace_layout *const layout = &s->cut->layout;
  int32_t next[KG_SECTION_COUNT];
  for (int k = 0; k < KG_SECTION_COUNT; ++k) next[k] = *kg_section_first(layout, (kg_section)k);
  for (int32_t edge = 0; edge < s->n_edges; ++edge)
    trace[edge] = next[layout->edge_section[edge]]++;
}

/// Have the trace edges of the sides, as the cut of a solution numbers them.
static kedge_status keep_edges(kedge_integral *in, const kedge_solution *s)
{
  if (in->cut == s->cut) return KEDGE_OK;  // the integral uses it, and so it is no later one
  numbered *all;
  int32_t *trace;
  KG_TRY(kg_host_alloc(in->ctx, (size_t)in->n, sizeof *all, &all));
  kedge_status status = kg_host_alloc(in->ctx, (size_t)s->n_edges, sizeof *trace, &trace);
  if (status == KEDGE_OK) {
    number_trace(s, trace);
    for (int32_t i = 0; i < in->n; ++i)
      all[i] = (numbered){trace[kg_side_edge(in->mesh, in->side[i])], i};
    free(trace);
    kg_layout_leave(&in->cut);
    status = name_once(in->ctx, in->n, all, &in->edges);
    if (status == KEDGE_OK) in->cut = kg_layout_use(s->cut);
  }
  free(all);
  return status;
}

/// Bring the fields, of all elements or of those of the integral.
static kedge_status bring_fields(kg_integral_reading *r)
{
  const kedge_integral *const in = r->integral;
  const kedge_solution *const s = r->solution;
  for (int f = 0; f < KG_NAMES_OF_FIELDS; ++f) {
    if (!(r->fields >> f & 1)) continue;
    const kg_held_field held = kg_held_of((kedge_field)f);
    if (!in->side && !in->element)
      KG_TRY(kg_field_prepare(s, (kedge_field)f));
    else if (!r->held[held].of)
      KG_TRY(kg_gather(s, held, in->side ? in->elements.n : in->n,
                       in->side ? in->elements.number : in->element, &r->held[held]));
    if (held == KG_HELD_FLUX) KG_TRY(kg_coefficients_bring(&s->equation));
  }
  return KEDGE_OK;
}

kedge_status kg_integral_reading_open(kedge_integral *in, const kedge_solution *s,
                                      kg_integral_reading *r)
{
  static_assert((int)KG_NAMES_OF_FIELDS == (int)KEDGE_FIELD_COUNT, "names of fields come first");
  unsigned flux = 1u << KEDGE_FIELD_U | 1u << KEDGE_FIELD_SIGMA_X | 1u << KEDGE_FIELD_SIGMA_Y;
  if (kg_mesh_in_space(in->mesh)) flux |= 1u << KEDGE_FIELD_SIGMA_Z;
  *r = (kg_integral_reading){.integral = in, .solution = s};
  r->fields = in->names & ((1u << KG_NAMES_OF_FIELDS) - 1);
  if (in->names >> KG_NAME_FLUX & 1) r->fields |= flux;
  KG_TRY(keep_rule(in, s ? s->size.order : KEDGE_ORDER_MIN));
  if (!s) return KEDGE_OK;
  const bool has_trace = in->names & KG_NAMES_OF_TRACE;
  if (has_trace) KG_TRY(keep_edges(in, s));
  kedge_status status = kg_integral_pass_on(in, s->ctx, keep_method(in, s));
  if (status == KEDGE_OK) status = bring_fields(r);
  if (status == KEDGE_OK && has_trace)
    status = kg_gather(s, KG_HELD_TRACE, in->edges.n, in->edges.number, &r->trace);
  return kg_integral_pass_on(in, s->ctx, status);
}

kedge_status kg_integral_pass_on(const kedge_integral *in, const kedge_context *from,
                                 kedge_status status)
{
  if (status == KEDGE_OK || from == in->ctx) return status;
  return KG_FAIL(in->ctx, status, "%s", kedge_context_error(from));
}

void kg_integral_reading_close(kg_integral_reading *r)
{
  for (int h = 0; h <= KG_HELD_U_STAR; ++h) kg_gathered_free(&r->held[h]);
  kg_gathered_free(&r->trace);
}
