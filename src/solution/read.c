#include <stdlib.h>

#include "basis/polynomials.h"
#include "device/loop.h"
#include "core/memory.h"
#include "core/sized.h"
#include "solution/numbers.h"
#include "solution/values.h"

kedge_status kg_solution_create(kedge_context *ctx, kedge_solution **out)
{
  KG_TRY(kg_host_calloc(ctx, 1, sizeof **out, out));
  (*out)->ctx = ctx;
  pthread_mutex_init(&(*out)->is_brought, NULL);
  return KEDGE_OK;
}

void kedge_solution_destroy(kedge_solution *s)
{
  if (s == NULL) return;
  kg_solution_free_fields(s);
  kg_layout_leave(&s->cut);
  kg_coefficients_free(&s->equation);
  kg_numbers_free(&s->numbers);
  pthread_mutex_destroy(&s->is_brought);
  free(s);
}

kedge_status kedge_solution_report(const kedge_solution *solution, kedge_report *report)
{
  KG_REQUIRE(NULL, solution && report, KEDGE_ERR_ARG,
             "kedge_solution_report: the solution or the report is NULL");
  KG_TRY(kg_check_sized(solution->ctx, "KEDGE_REPORT_INIT", report->size));
  kg_copy_sized(&solution->report, report);
  return KEDGE_OK;
}

int kedge_node_count(int order)
{
  return order >= 0 && order <= KEDGE_ORDER_MAX + 1 ? kg_triangle_modes(order) : 0;
}

/// Check the arguments of a call that fills `array` at nodes.
static kedge_status check_order(const kedge_solution *s, int order, const void *array,
                                const char *call)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "%s: the solution is NULL", call);
  KG_REQUIRE(s->ctx, array, KEDGE_ERR_ARG, "%s: the array is NULL", call);
  KG_REQUIRE(s->ctx, order >= 1 && order <= KEDGE_ORDER_MAX + 1, KEDGE_ERR_ARG,
             "nodes of order %d: the order must be 1 to %d", order, KEDGE_ORDER_MAX + 1);
  return KEDGE_OK;
}

static kedge_status check_field(const kedge_solution *s, kedge_field field)
{
  KG_REQUIRE(s->ctx, (unsigned)field < KEDGE_FIELD_COUNT, KEDGE_ERR_ARG, "unknown field %d",
             (int)field);
  KG_REQUIRE(s->ctx, field < KEDGE_FIELD_QZ || kg_mesh_in_space(s->mesh), KEDGE_ERR_ARG,
             "qz and sigma_z are fields of solutions in space, and the mesh is one of the plane");
  return KEDGE_OK;
}

kedge_status kg_solution_check_kept(const kedge_solution *s, const char *call)
{
  KG_REQUIRE(s->ctx, !s->only_report, KEDGE_ERR_ARG,
             "%s: the solution was made for its report and has kept nothing else: solve for the "
             "fields too",
             call);
  return KEDGE_OK;
}

kedge_status kg_solution_check_full(const kedge_solution *s, const char *call)
{
  KG_TRY(kg_solution_check_kept(s, call));
  KG_REQUIRE(s->ctx, !kg_holds(s, KG_HELD_MEANS), KEDGE_ERR_ARG,
             "%s: the problem says [output] fields = cells, so only the means over the elements "
             "were kept; read them with kedge_solution_means(), or solve with fields = full",
             call);
  return KEDGE_OK;
}

kedge_status kedge_solution_offsets(const kedge_solution *s, int order, int64_t *offsets)
{
  KG_TRY(check_order(s, order, offsets, "kedge_solution_offsets"));
  const kedge_mesh *mesh = s->mesh;
  offsets[0] = 0;
  for (int b = 0; b < mesh->n_blocks; ++b) {
    const kg_block *const block = &mesh->block[b];
    for (int32_t e = block->first; e < block->first + block->n; ++e)
      offsets[mesh->element_origin[e] + 1] = block->cell->n_modes(order);
  }
  for (int32_t e = 0; e < mesh->n_elements; ++e) offsets[e + 1] += offsets[e];
  return KEDGE_OK;
}

/// Work of a call at nodes.
typedef struct node_work {
  kg_element_points nodes;
  int64_t *offsets;  ///< NULL: all elements have as many nodes
} node_work;

static void node_work_free(node_work *w)
{
  kg_element_points_free(&w->nodes);
  free(w->offsets);
}

static kedge_status node_work_create(const kedge_solution *s, int order, node_work *w)
{
  *w = (node_work){0};
  kedge_status status = kg_nodes_create(s, order, &w->nodes);
  if (status == KEDGE_OK && s->mesh->n_blocks > 1) {
    status =
        kg_host_alloc(s->ctx, (size_t)s->mesh->n_elements + 1, sizeof *w->offsets, &w->offsets);
    if (status == KEDGE_OK) status = kedge_solution_offsets(s, order, w->offsets);
  }
  if (status != KEDGE_OK) node_work_free(w);
  return status;
}

/// The place of the first node of an element in the caller's arrays.
static int64_t first_node(const kedge_solution *s, const node_work *w, int32_t element)
{
  const int32_t origin = s->mesh->element_origin[element];
  if (w->offsets) return w->offsets[origin];
  return (int64_t)origin * kg_points_of(s, &w->nodes, element)->n;
}

kedge_status kedge_solution_nodes(const kedge_solution *s, int order, double *xy)
{
  node_work w;
  const int d = s ? s->mesh->dimension : 2;
  KG_TRY(check_order(s, order, xy, "kedge_solution_nodes"));
  KG_TRY(node_work_create(s, order, &w));
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(s->ctx, s->mesh->n_elements, 16 * s->size.n_modes))
  for (int32_t e = 0; e < s->mesh->n_elements; ++e)
    kg_place_points(s, kg_points_of(s, &w.nodes, e), e, d, xy + d * first_node(s, &w, e));
  node_work_free(&w);
  return KEDGE_OK;
}

/// Values from the modes in host memory.
static kedge_status values_here(const kedge_solution *s, kedge_field field, int order,
                                double *values)
{
  node_work w;
  KG_TRY(kg_field_prepare(s, field));
  KG_TRY(node_work_create(s, order, &w));
#pragma omp parallel for schedule(static) num_threads( \
    kg_loop_threads(s->ctx, s->mesh->n_elements, (int64_t)s->size.n_modes * s->size.n_modes))
  for (int32_t e = 0; e < s->mesh->n_elements; ++e)
    kg_field_at(s, kg_points_of(s, &w.nodes, e), field, e, values + first_node(s, &w, e));
  node_work_free(&w);
  return KEDGE_OK;
}

kedge_status kedge_solution_values(const kedge_solution *s, kedge_field field, int order,
                                   double *values)
{
  KG_TRY(check_order(s, order, values, "kedge_solution_values"));
  KG_TRY(check_field(s, field));
  KG_TRY(kg_solution_check_full(s, "kedge_solution_values"));
  bool made;
  KG_TRY(kg_values_there(s, field, order, values, &made));
  return made ? KEDGE_OK : values_here(s, field, order, values);
}

kedge_status kedge_solution_means(const kedge_solution *s, kedge_field field, double *values)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solution_means: the solution is NULL");
  KG_REQUIRE(s->ctx, values, KEDGE_ERR_ARG, "kedge_solution_means: the array is NULL");
  KG_TRY(check_field(s, field));
  KG_TRY(kg_solution_check_kept(s, "kedge_solution_means"));
  bool made;
  if (field == KEDGE_FIELD_U_STAR) field = KEDGE_FIELD_U;  // its mean is the same
  KG_TRY(kg_values_there(s, field, KG_MEANS, values, &made));
  if (made) return KEDGE_OK;
  KG_TRY(kg_solution_bring(s, KG_HOLDS_U | KG_HOLDS_FLUX | KG_HOLDS_MEANS));
  KG_TRY(kg_coefficients_bring(&s->equation));
  kg_element_points rule;
  const kedge_status status = kg_rule_create(s, kg_cell_rows(s->size.order), &rule);
  if (status == KEDGE_OK) {
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(s->ctx, s->mesh->n_elements, 16 * s->size.n_modes))
    for (int32_t e = 0; e < s->mesh->n_elements; ++e)
      values[s->mesh->element_origin[e]] = kg_field_mean(s, kg_points_of(s, &rule, e), field, e);
  }
  kg_element_points_free(&rule);
  return status;
}

/// The vertices of an edge by the caller's numbers, the lower one first; of a face in the order of
/// its corners.
static void write_vertices(const kedge_mesh *mesh, int32_t edge, int32_t *to)
{
  int32_t v[3];
  kg_side_corners(mesh, mesh->edge_sides[2 * (int64_t)edge], v);
  for (int k = 0; k < mesh->dimension; ++k) to[k] = mesh->vertex_origin[v[k]];
  if (kg_mesh_in_space(mesh) || to[0] < to[1]) return;
  const int32_t higher = to[0];
  to[0] = to[1];
  to[1] = higher;
}

kedge_status kedge_solution_trace(const kedge_solution *s, int32_t *edges, double *modes)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solution_trace: the solution is NULL");
  KG_TRY(kg_solution_check_full(s, "kedge_solution_trace"));
  if (modes) KG_TRY(kg_solution_bring(s, KG_HOLDS_TRACE));
  const kg_trace_layout *const layout = &s->cut->layout;
  const double *const of_trace = s->held[KG_HELD_TRACE].host;
  const size_t m = (size_t)s->m;
  int32_t next[KG_SECTION_COUNT];  // trace edges of a section ascend with those of the mesh
  for (int k = 0; k < KG_SECTION_COUNT; ++k) next[k] = *kg_section_first(layout, (kg_section)k);
  for (int32_t edge = 0; edge < s->n_edges; ++edge) {
    const int32_t trace = next[layout->edge_section[edge]]++;
    const bool turned = kg_edge_is_turned(s->mesh, edge);
    if (edges) write_vertices(s->mesh, edge, edges + (size_t)s->mesh->dimension * (size_t)edge);
    for (size_t k = 0; modes && k < m; ++k)
      modes[(size_t)edge * m + k] =
          (turned && k % 2 == 1 ? -1.0 : 1.0) * of_trace[(size_t)trace * m + k];
  }
  return KEDGE_OK;
}

kedge_status kedge_solution_indicator(const kedge_solution *s, double *values)
{
  KG_REQUIRE(NULL, s, KEDGE_ERR_ARG, "kedge_solution_indicator: the solution is NULL");
  KG_REQUIRE(s->ctx, values, KEDGE_ERR_ARG, "kedge_solution_indicator: the array is NULL");
  KG_TRY(kg_solution_check_kept(s, "kedge_solution_indicator"));
  KG_TRY(kg_solution_bring(s, KG_HOLDS_INDICATOR));
  for (int32_t e = 0; e < s->mesh->n_elements; ++e)
    values[s->mesh->element_origin[e]] = kg_indicator_of(s, e);
  return KEDGE_OK;
}
