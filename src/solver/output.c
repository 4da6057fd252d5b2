#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "core/context.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "io/vtkhdf.h"
#include "solver/pipeline.h"
#include "solver/solution.h"

enum { CHUNK_ELEMENTS = 16384 };
_Static_assert(KG_VTKHDF_ORDER_MAX <= KEDGE_ORDER_MAX + 1, "arrays of KG_NODES_MAX hold a cell");

/// Work of one writer.
typedef struct writer {
  const kedge_solution *s;
  int n_nodes;
  double *low, *high;  ///< basis at the nodes, orders P and P + 1
  double *values;      ///< [CHUNK_ELEMENTS][n_nodes][3]
  int32_t *regions;    ///< [CHUNK_ELEMENTS]
  double r[KG_NODES_MAX], t[KG_NODES_MAX];
} writer;

/// Elements are written in the caller's order, so that cell i of the file is element i of the mesh
/// file.
static void fill_points(const writer *w, const int32_t *element, int32_t count)
{
#pragma omp parallel for schedule(static) num_threads(w->s->ctx->threads)
  for (int32_t i = 0; i < count; ++i) {
    double *xyz = w->values + 3 * (size_t)i * (size_t)w->n_nodes;
    kg_element_points(w->s->mesh, element[i], w->n_nodes, w->r, w->t, 3, xyz);
    for (int node = 0; node < w->n_nodes; ++node) xyz[3 * node + 2] = 0.0;
  }
}

static void fill_scalar(const writer *w, kedge_field field, const int32_t *element, int32_t count)
{
  const double *basis = field == KEDGE_FIELD_U_STAR ? w->high : w->low;
#pragma omp parallel for schedule(static) num_threads(w->s->ctx->threads)
  for (int32_t i = 0; i < count; ++i)
    kg_solution_element(w->s, field, element[i], w->n_nodes, basis,
                        w->values + (size_t)i * (size_t)w->n_nodes);
}

static void fill_flux(const writer *w, const int32_t *element, int32_t count)
{
#pragma omp parallel for schedule(static) num_threads(w->s->ctx->threads)
  for (int32_t i = 0; i < count; ++i) {
    double x[KG_NODES_MAX], y[KG_NODES_MAX];
    kg_solution_element(w->s, KEDGE_FIELD_QX, element[i], w->n_nodes, w->low, x);
    kg_solution_element(w->s, KEDGE_FIELD_QY, element[i], w->n_nodes, w->low, y);
    double *q = w->values + 3 * (size_t)i * (size_t)w->n_nodes;
    for (int node = 0; node < w->n_nodes; ++node) {
      q[3 * node] = x[node];
      q[3 * node + 1] = y[node];
      q[3 * node + 2] = 0.0;
    }
  }
}

static kedge_status write_chunk(const writer *w, kg_vtkhdf *file, int64_t first, int32_t count,
                                const int32_t *element)
{
  fill_points(w, element, count);
  KG_TRY(kg_vtkhdf_write_points(file, first, count, w->values));
  fill_scalar(w, KEDGE_FIELD_U, element, count);
  KG_TRY(kg_vtkhdf_write(file, "u", first, count, w->values));
  fill_scalar(w, KEDGE_FIELD_U_STAR, element, count);
  KG_TRY(kg_vtkhdf_write(file, "u_star", first, count, w->values));
  fill_flux(w, element, count);
  KG_TRY(kg_vtkhdf_write(file, "q", first, count, w->values));
  for (int32_t i = 0; i < count; ++i) {
    w->regions[i] = w->s->mesh->element_region[element[i]];
    w->values[i] = w->s->indicator[element[i]];
  }
  KG_TRY(kg_vtkhdf_write(file, "region", first, count, w->regions));
  return kg_vtkhdf_write(file, "error_indicator", first, count, w->values);
}

static kedge_status write_all(const writer *w, kg_vtkhdf *file, const int32_t *element)
{
  KG_TRY(kg_vtkhdf_point_field(file, "u", 1));
  KG_TRY(kg_vtkhdf_point_field(file, "u_star", 1));
  KG_TRY(kg_vtkhdf_point_field(file, "q", 3));
  KG_TRY(kg_vtkhdf_cell_field(file, "region", true));
  KG_TRY(kg_vtkhdf_cell_field(file, "error_indicator", false));
  KG_TRY(kg_vtkhdf_number(file, "converged", w->s->report.converged));
  KG_TRY(kg_vtkhdf_number(file, "relative_residual", w->s->report.relative_residual));
  const int64_t n = w->s->mesh->n_elements;
  for (int64_t first = 0; first < n; first += CHUNK_ELEMENTS) {
    const int32_t count = n - first < CHUNK_ELEMENTS ? (int32_t)(n - first) : CHUNK_ELEMENTS;
    KG_TRY(write_chunk(w, file, first, count, element + first));
  }
  return KEDGE_OK;
}

static kedge_status allocate(writer *w, int32_t **element)
{
  const kedge_solution *s = w->s;
  const size_t nodes = (size_t)w->n_nodes, d = sizeof(double);
  KG_TRY(kg_host_alloc(s->ctx, nodes * (size_t)s->size.n_modes, d, &w->low));
  KG_TRY(kg_host_alloc(s->ctx, nodes * (size_t)s->size.n_star, d, &w->high));
  KG_TRY(kg_host_alloc(s->ctx, 3 * nodes * CHUNK_ELEMENTS, d, &w->values));
  KG_TRY(kg_host_alloc(s->ctx, CHUNK_ELEMENTS, sizeof(int32_t), &w->regions));
  return kg_host_alloc(s->ctx, (size_t)s->mesh->n_elements, sizeof(int32_t), element);
}

static kedge_status write_file(const kedge_solution *s, const char *path)
{
  const int order =
      s->size.order + 1 < KG_VTKHDF_ORDER_MAX ? s->size.order + 1 : KG_VTKHDF_ORDER_MAX;
  writer w = {.s = s, .n_nodes = kg_triangle_modes(order)};
  int32_t *element = NULL;  // in the caller's order
  kg_vtkhdf *file = NULL;
  kedge_status status = allocate(&w, &element);
  if (status != KEDGE_OK) goto done;
  kg_lagrange_nodes(order, w.r, w.t);
  kg_node_basis(order, s->size.order, w.low);
  kg_node_basis(order, s->size.order + 1, w.high);
  for (int32_t e = 0; e < s->mesh->n_elements; ++e) element[s->mesh->element_origin[e]] = e;
  status =
      kg_vtkhdf_create(s->ctx, path, order, &(kg_vtkhdf_cells){.n = s->mesh->n_elements}, &file);
  if (status == KEDGE_OK) status = write_all(&w, file, element);
  if (status == KEDGE_OK) {
    status = kg_vtkhdf_finish(file);
    file = NULL;
  }
done:
  kg_vtkhdf_abandon(file);
  free(w.low);
  free(w.high);
  free(w.values);
  free(w.regions);
  free(element);
  return status;
}

static bool ends_in(const char *path, const char *ending)
{
  const size_t length = strlen(path), n = strlen(ending);
  return length > n && strcmp(path + length - n, ending) == 0;
}

kedge_status kedge_solution_write(kedge_solution *s, const char *path)
{
  KG_REQUIRE(NULL, s != NULL, KEDGE_ERR_ARG, "kedge_solution_write: the solution is NULL");
  KG_REQUIRE(s->ctx, path != NULL, KEDGE_ERR_ARG, "kedge_solution_write: path is NULL");
  KG_REQUIRE(s->ctx, ends_in(path, ".vtkhdf") || ends_in(path, ".hdf"), KEDGE_ERR_ARG,
             "cannot write the output %s: its name must end in .vtkhdf or .hdf, by which programs "
             "know what it holds",
             path);
  const double began = kg_seconds();
  KG_TRY(kg_progress(s->ctx, &(kedge_progress){.stage = kedge_stage_name(KEDGE_STAGE_OUTPUT)}));
  kg_range_push("output", s->mesh->n_elements, s->report.element_unknowns);
  const kedge_status status = s->constant ? kg_output_cells(s, path) : write_file(s, path);
  kg_range_pop();
  KG_TRY(status);
  kedge_stage_report *stage = &s->report.stages[KEDGE_STAGE_OUTPUT];
  stage->seconds += kg_seconds() - began;
  // The file is there, whatever the progress function answers.
  (void)kg_progress(s->ctx, &(kedge_progress){.stage = kedge_stage_name(KEDGE_STAGE_OUTPUT),
                                              .finished = true,
                                              .seconds = stage->seconds});
  return KEDGE_OK;
}
