#include "solver/solution.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "core/context.h"
#include "core/memory.h"

void kedge_solution_destroy(kedge_solution *s)
{
  if (s == NULL) return;
  free(s->constant);
  free(s->u);
  free(s->flux);
  free(s->u_star);
  free(s->indicator);
  free(s->trace);
  kg_trace_layout_free(&s->layout);
  free(s);
}

void kg_note_add(kedge_solution *s, const char *format, ...)
{
  const size_t before = strlen(s->note), length = before > 0 ? before + 2 : 0;
  if (length >= sizeof s->note) return;
  if (before > 0) memcpy(s->note + before, "; ", 3);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(s->note + length, sizeof s->note - length, format, arguments);
  va_end(arguments);
}

void kedge_solution_report(const kedge_solution *solution, kedge_report *report)
{
  *report = solution->report;
}

int kedge_node_count(int order)
{
  return kg_triangle_modes(order);
}

/// What a call that fills `values` at nodes asks for.
static kedge_status check_order(const kedge_solution *s, int order, const double *values,
                                const char *call)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "%s: the solution is NULL", call);
  KG_REQUIRE(s->ctx, values, KEDGE_ERR_ARG, "%s: the array is NULL", call);
  KG_REQUIRE(s->ctx, order >= 1 && order <= KEDGE_ORDER_MAX + 1, KEDGE_ERR_ARG,
             "nodes of order %d: the order must be 1 to %d", order, KEDGE_ORDER_MAX + 1);
  return KEDGE_OK;
}

/// Checks that the solution has kept polynomials and trace.
static kedge_status check_full(const kedge_solution *s, const char *call)
{
  KG_REQUIRE(s->ctx, s->constant == NULL, KEDGE_ERR_ARG,
             "%s: the problem says [output] fields = cells, so only the means over the triangles "
             "were kept; read them with kedge_solution_means(), or solve with fields = full",
             call);
  return KEDGE_OK;
}

void kg_element_points(const kedge_mesh *mesh, int32_t element, int n, const double *r,
                       const double *t, int stride, double *xy)
{
  const int32_t *v = kg_element_vertices(mesh, element);
  for (int i = 0; i < n; ++i) {
    const double b = 0.5 * (1.0 + r[i]), c = 0.5 * (1.0 + t[i]), a = 1.0 - b - c;
    for (int k = 0; k < 2; ++k)
      xy[stride * i + k] = a * mesh->vertices[2 * (size_t)v[0] + k] +
                           b * mesh->vertices[2 * (size_t)v[1] + k] +
                           c * mesh->vertices[2 * (size_t)v[2] + k];
  }
}

kedge_status kedge_solution_nodes(const kedge_solution *s, int order, double *xy)
{
  KG_TRY(check_order(s, order, xy, "kedge_solution_nodes"));
  double r[KG_NODES_MAX], t[KG_NODES_MAX];
  kg_lagrange_nodes(order, r, t);
  const int n = kg_triangle_modes(order);
  const kedge_mesh *mesh = s->mesh;
#pragma omp parallel for schedule(static) num_threads(s->ctx->threads)
  for (int32_t e = 0; e < mesh->n_elements; ++e)
    kg_element_points(mesh, e, n, r, t, 2, xy + 2 * (size_t)n * (size_t)mesh->element_origin[e]);
  return KEDGE_OK;
}

void kg_node_basis(int order, int field_order, double *basis)
{
  double r[KG_NODES_MAX], t[KG_NODES_MAX];
  kg_lagrange_nodes(order, r, t);
  const int n = kg_triangle_modes(order), modes = kg_triangle_modes(field_order);
  for (int i = 0; i < n; ++i) kg_dubiner(field_order, r[i], t[i], basis + i * modes, NULL, NULL);
}

void kg_solution_element(const kedge_solution *s, kedge_field field, int32_t element, int n_nodes,
                         const double *basis, double *values)
{
  const int N = s->size.n_modes;
  const struct {
    const double *array;
    int rows, first, modes;
  } where[KEDGE_FIELD_COUNT] = {
      [KEDGE_FIELD_U] = {s->u, N, 0, N},
      [KEDGE_FIELD_QX] = {s->flux, 2 * N, 0, N},
      [KEDGE_FIELD_QY] = {s->flux, 2 * N, N, N},
      [KEDGE_FIELD_U_STAR] = {s->u_star, s->size.n_star, 0, s->size.n_star},
  };
  const int modes = where[field].modes;
  const double *from =
      where[field].array +
      ((size_t)(element / KG_LANES) * (size_t)where[field].rows + (size_t)where[field].first) *
          KG_LANES +
      element % KG_LANES;
  for (int i = 0; i < n_nodes; ++i) {
    double sum = 0.0;
    for (int k = 0; k < modes; ++k) sum += basis[i * modes + k] * from[(size_t)k * KG_LANES];
    values[i] = sum;
  }
}

kedge_status kedge_solution_values(const kedge_solution *s, kedge_field field, int order,
                                   double *values)
{
  KG_TRY(check_order(s, order, values, "kedge_solution_values"));
  KG_REQUIRE(s->ctx, (unsigned)field < KEDGE_FIELD_COUNT, KEDGE_ERR_ARG, "unknown field %d",
             (int)field);
  KG_TRY(check_full(s, "kedge_solution_values"));
  const int field_order = field == KEDGE_FIELD_U_STAR ? s->size.order + 1 : s->size.order;
  const int n = kg_triangle_modes(order);
  double *basis;
  KG_TRY(kg_host_alloc(s->ctx, (size_t)n * (size_t)kg_triangle_modes(field_order), sizeof *basis,
                       &basis));
  kg_node_basis(order, field_order, basis);
#pragma omp parallel for schedule(static) num_threads(s->ctx->threads)
  for (int32_t e = 0; e < s->mesh->n_elements; ++e)
    kg_solution_element(s, field, e, n, basis,
                        values + (size_t)n * (size_t)s->mesh->element_origin[e]);
  free(basis);
  return KEDGE_OK;
}

double kg_solution_mean(const kedge_solution *s, kedge_field field, int32_t element)
{
  // u* has the mean of u. The constant mode is 1/sqrt(2) everywhere.
  const bool is_q = field == KEDGE_FIELD_QX || field == KEDGE_FIELD_QY;
  const size_t component = field == KEDGE_FIELD_QY, N = (size_t)s->size.n_modes;
  const size_t group = (size_t)(element / KG_LANES), lane = (size_t)(element % KG_LANES);
  const double *row;
  if (s->constant)
    row = s->constant + (3 * group + is_q + component) * KG_LANES;
  else if (is_q)
    row = s->flux + (2 * group + component) * N * KG_LANES;
  else
    row = s->u + group * N * KG_LANES;
  return sqrt(0.5) * row[lane];
}

kedge_status kedge_solution_means(const kedge_solution *s, kedge_field field, double *values)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solution_means: the solution is NULL");
  KG_REQUIRE(s->ctx, values, KEDGE_ERR_ARG, "kedge_solution_means: the array is NULL");
  KG_REQUIRE(s->ctx, (unsigned)field < KEDGE_FIELD_COUNT, KEDGE_ERR_ARG, "unknown field %d",
             (int)field);
#pragma omp parallel for schedule(static) num_threads(s->ctx->threads)
  for (int32_t e = 0; e < s->mesh->n_elements; ++e)
    values[s->mesh->element_origin[e]] = kg_solution_mean(s, field, e);
  return KEDGE_OK;
}

kedge_status kedge_solution_trace(const kedge_solution *s, int32_t *edges, double *modes)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solution_trace: the solution is NULL");
  KG_TRY(check_full(s, "kedge_solution_trace"));
  const kedge_mesh *mesh = s->mesh;
  const int m = s->size.n_edge;
  int32_t next[KG_SECTION_COUNT];  // trace edges of a section ascend with those of the mesh
  for (int k = 0; k < KG_SECTION_COUNT; ++k) next[k] = *kg_section_first(&s->layout, (kg_section)k);
  for (size_t edge = 0; edge < (size_t)s->n_edges; ++edge) {
    const int32_t trace = next[s->layout.edge_section[edge]]++;
    int32_t low, high;
    kg_side_vertices(mesh, mesh->edge_sides[2 * edge], &low, &high);
    // From here on low < high in the mesh's numbering, which the caller's may turn around.
    const int32_t a = mesh->vertex_origin[low], b = mesh->vertex_origin[high];
    if (edges) {
      edges[2 * edge] = a < b ? a : b;
      edges[2 * edge + 1] = a < b ? b : a;
    }
    for (int k = 0; modes && k < m; ++k)
      modes[edge * (size_t)m + (size_t)k] =
          (a > b && k % 2 == 1 ? -1.0 : 1.0) * s->trace[(size_t)trace * (size_t)m + (size_t)k];
  }
  return KEDGE_OK;
}

kedge_status kedge_solution_indicator(const kedge_solution *s, double *values)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solution_indicator: the solution is NULL");
  KG_REQUIRE(s->ctx, values, KEDGE_ERR_ARG, "kedge_solution_indicator: the array is NULL");
  for (int32_t e = 0; e < s->mesh->n_elements; ++e)
    values[s->mesh->element_origin[e]] = s->indicator[e];
  return KEDGE_OK;
}
