#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "core/writable.h"
#include "device/context.h"
#include "device/loop.h"
#include "solution/values.h"
#include "solution/write.h"

enum { CHUNK_ELEMENTS = 16384 };
_Static_assert(KG_VTKHDF_ORDER_MAX <= KEDGE_ORDER_MAX + 1, "cells have nodes of their order");

/// Work of one writer.
typedef struct writer {
  const kedge_solution *s;
  kg_element_points nodes;
  int32_t *element;         ///< [cell of the file], which is in the caller's order
  bool *is_quadrilateral;   ///< [cell of the file]
  int64_t *first_node;      ///< [CHUNK_ELEMENTS]: of a cell, among those of the chunk
  double *values, *scalar;  ///< [node of the chunk][3], [node of the chunk]
  int32_t *regions;         ///< [CHUNK_ELEMENTS]
} writer;

static const kg_cell_points *nodes_of(const writer *w, int32_t element)
{
  return kg_points_of(w->s, &w->nodes, element);
}

static void count_nodes(const writer *w, const int32_t *element, int32_t count)
{
  int64_t n = 0;
  for (int32_t i = 0; i < count; ++i) {
    w->first_node[i] = n;
    n += nodes_of(w, element[i])->n;
  }
}

/// Write the coordinates of the nodes of some elements. Elements are written in the caller's order,
/// so that cell i of the file is element i of the mesh file.
static void fill_points(const writer *w, const int32_t *element, int32_t count)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(w->s->ctx, count, 16 * w->s->size.n_modes))
  for (int32_t i = 0; i < count; ++i) {
    const kg_cell_points *const nodes = nodes_of(w, element[i]);
    double *const xyz = w->values + 3 * w->first_node[i];
    kg_place_points(w->s, nodes, element[i], 3, xyz);
    for (int node = 0; !kg_mesh_in_space(w->s->mesh) && node < nodes->n; ++node)
      xyz[3 * node + 2] = 0.0;
  }
}

static void fill_scalar(const writer *w, kedge_field field, const int32_t *element, int32_t count)
{
#pragma omp parallel for schedule(static) num_threads( \
    kg_loop_threads(w->s->ctx, count, (int64_t)w->s->size.n_modes * w->s->size.n_modes))
  for (int32_t i = 0; i < count; ++i)
    kg_field_at(w->s, nodes_of(w, element[i]), field, element[i], w->scalar + w->first_node[i]);
}

/// @param[in] of  the components of a vector
static void fill_vector(const writer *w, const kedge_field of[3], const int32_t *element,
                        int32_t count)
{
  for (int component = 0; component < w->s->mesh->dimension; ++component) {
    fill_scalar(w, of[component], element, count);
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(w->s->ctx, count, 2 * w->s->size.n_modes))
    for (int32_t i = 0; i < count; ++i) {
      const double *const from = w->scalar + w->first_node[i];
      double *const q = w->values + 3 * w->first_node[i];
      for (int node = 0; node < nodes_of(w, element[i])->n; ++node) {
        q[3 * node + component] = from[node];
        if (component == 1) q[3 * node + 2] = 0.0;
      }
    }
  }
}

static kedge_status write_chunk(const writer *w, kg_vtkhdf *file, int64_t first, int32_t count)
{
  static const kedge_field q[] = {KEDGE_FIELD_QX, KEDGE_FIELD_QY, KEDGE_FIELD_QZ};
  static const kedge_field sigma[] = {KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y,
                                      KEDGE_FIELD_SIGMA_Z};
  const int32_t *const element = w->element + first;
  count_nodes(w, element, count);
  fill_points(w, element, count);
  KG_TRY(kg_vtkhdf_write_points(file, first, count, w->values));
  fill_scalar(w, KEDGE_FIELD_U, element, count);
  KG_TRY(kg_vtkhdf_write(file, "u", first, count, w->scalar));
  fill_scalar(w, KEDGE_FIELD_U_STAR, element, count);
  KG_TRY(kg_vtkhdf_write(file, "u_star", first, count, w->scalar));
  fill_vector(w, q, element, count);
  KG_TRY(kg_vtkhdf_write(file, "q", first, count, w->values));
  fill_vector(w, sigma, element, count);
  KG_TRY(kg_vtkhdf_write(file, "sigma", first, count, w->values));
  for (int32_t i = 0; i < count; ++i) {
    w->regions[i] = w->s->mesh->element_region[element[i]];
    w->scalar[i] = kg_indicator_of(w->s, element[i]);
  }
  KG_TRY(kg_vtkhdf_write(file, "region", first, count, w->regions));
  return kg_vtkhdf_write(file, "error_indicator", first, count, w->scalar);
}

static kedge_status write_all(const writer *w, kg_vtkhdf *file)
{
  kg_vtkhdf_point_field(file, "u", 1);
  kg_vtkhdf_point_field(file, "u_star", 1);
  kg_vtkhdf_point_field(file, "q", 3);
  kg_vtkhdf_point_field(file, "sigma", 3);
  kg_vtkhdf_cell_field(file, "region", KG_ITEM_I32, 1);
  kg_vtkhdf_cell_field(file, "error_indicator", KG_ITEM_F64, 1);
  kg_vtkhdf_number(file, "order", w->s->report.order);
  kg_vtkhdf_number(file, "converged", w->s->report.converged);
  kg_vtkhdf_number(file, "relative_residual", w->s->report.relative_residual);
  const int64_t n = w->s->mesh->n_elements;
  for (int64_t first = 0; first < n; first += CHUNK_ELEMENTS) {
    const int32_t count = n - first < CHUNK_ELEMENTS ? (int32_t)(n - first) : CHUNK_ELEMENTS;
    KG_TRY(write_chunk(w, file, first, count));
  }
  return KEDGE_OK;
}

static kedge_status allocate(writer *w, int order)
{
  const kedge_solution *s = w->s;
  const size_t n = (size_t)s->mesh->n_elements;
  const kg_cell *const most = s->mesh->block[s->mesh->n_blocks - 1].cell;
  const size_t nodes = (size_t)most->n_modes(order);
  KG_TRY(kg_nodes_create(s, order, &w->nodes));
  KG_TRY(kg_host_alloc(s->ctx, 3 * nodes * CHUNK_ELEMENTS, sizeof *w->values, &w->values));
  KG_TRY(kg_host_alloc(s->ctx, nodes * CHUNK_ELEMENTS, sizeof *w->scalar, &w->scalar));
  KG_TRY(kg_host_alloc(s->ctx, CHUNK_ELEMENTS, sizeof *w->first_node, &w->first_node));
  KG_TRY(kg_host_alloc(s->ctx, CHUNK_ELEMENTS, sizeof *w->regions, &w->regions));
  KG_TRY(kg_host_alloc(s->ctx, n, sizeof *w->is_quadrilateral, &w->is_quadrilateral));
  return kg_host_alloc(s->ctx, n, sizeof *w->element, &w->element);
}

kg_vtkhdf_cells kg_output_order(const kedge_mesh *mesh, int32_t *element, bool *is_quadrilateral)
{
  for (int b = 0; b < mesh->n_blocks; ++b) {
    const kg_block *const block = &mesh->block[b];
    for (int32_t e = block->first; e < block->first + block->n; ++e) {
      element[mesh->element_origin[e]] = e;
      is_quadrilateral[mesh->element_origin[e]] = block->cell == &kg_quadrilateral;
    }
  }
  return (kg_vtkhdf_cells){.n = mesh->n_elements,
                           .n_quadrilaterals = kg_mesh_quadrilaterals(mesh),
                           .is_quadrilateral = is_quadrilateral,
                           .tetrahedra = kg_mesh_in_space(mesh)};
}

static kedge_status write_file(const kedge_solution *s, const char *path)
{
  const int order =
      s->size.order + 1 < KG_VTKHDF_ORDER_MAX ? s->size.order + 1 : KG_VTKHDF_ORDER_MAX;
  writer w = {.s = s};
  kg_vtkhdf *file = NULL;
  kedge_status status = allocate(&w, order);
  if (status == KEDGE_OK) {
    const kg_vtkhdf_cells cells = kg_output_order(s->mesh, w.element, w.is_quadrilateral);
    status = kg_vtkhdf_create(s->ctx, path, order, &cells, &file);
  }
  if (status == KEDGE_OK) status = write_all(&w, file);
  if (status == KEDGE_OK)
    status = kg_vtkhdf_finish(file);
  else
    kg_vtkhdf_abandon(file);
  kg_element_points_free(&w.nodes);
  free(w.values);
  free(w.scalar);
  free(w.first_node);
  free(w.regions);
  free(w.is_quadrilateral);
  free(w.element);
  return status;
}

/// Write the file as a stage of the report.
static kedge_status write_stage(kedge_solution *s, const char *path)
{
  const double began = kg_seconds();
  kedge_stage_report *stage = &s->report.stages[s->report.n_stages - 1];  // the last of a method
  KG_TRY(kg_solution_check_kept(s, "kedge_solution_write"));
  KG_TRY(kg_coefficients_bring(&s->equation));
  KG_TRY(kg_progress(s->ctx, &(kedge_progress){.stage = stage->name}));
  kg_range_push("output", s->mesh->n_elements, s->report.element_unknowns);
  kedge_status status = kg_solution_bring(s, KG_HOLDS_MODES | KG_HOLDS_INDICATOR | KG_HOLDS_MEANS);
  if (status == KEDGE_OK)
    status = kg_holds(s, KG_HELD_MEANS) ? kg_output_cells(s, path) : write_file(s, path);
  kg_range_pop();
  KG_TRY(status);
  stage->seconds += kg_seconds() - began;
  // The file is there, whatever the progress function answers.
  (void)kg_progress(
      s->ctx, &(kedge_progress){.stage = stage->name, .finished = true, .seconds = stage->seconds});
  return KEDGE_OK;
}

kedge_status kedge_solution_write(kedge_solution *s, const char *path)
{
  KG_REQUIRE(NULL, s != NULL, KEDGE_ERR_ARG, "kedge_solution_write: the solution is NULL");
  KG_REQUIRE(s->ctx, path != NULL, KEDGE_ERR_ARG, "kedge_solution_write: path is NULL");
  kg_writable w = {.path = path, .what = "output"};
  KG_REQUIRE(s->ctx, kg_writable_named(&w, ".vtkhdf", ".hdf"), KEDGE_ERR_ARG, "%s", w.sentence);
  const kedge_status status = write_stage(s, path);
  const char *const error = status == KEDGE_OK ? "" : s->ctx->error;
  snprintf(s->output_error, sizeof s->output_error, "%s", error);
  s->report.output_error = s->output_error;
  return status;
}
