// The reduced output: the elements of the mesh with shared vertices, and numbers for each.
#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "solution/values.h"
#include "solution/write.h"

enum { CHUNK = 1 << 16 };  // of points or cells

/// Work of one writer.
typedef struct writer {
  const kedge_solution *s;
  kg_vtkhdf *file;
  int32_t *element;        ///< [cell of the file], which is in the caller's order
  bool *is_quadrilateral;  ///< [cell of the file]
  double *values;          ///< [CHUNK][3]
  int32_t *numbers;        ///< [CHUNK][KG_FACETS_MAX]
} writer;

/// Vertices keep the mesh's order, in which those of neighbouring elements are near each other.
static kedge_status write_points(const writer *w)
{
  const kedge_mesh *mesh = w->s->mesh;
  const int dimension = mesh->dimension;
  for (int64_t first = 0; first < mesh->n_vertices; first += CHUNK) {
    const int64_t rest = mesh->n_vertices - first, count = rest < CHUNK ? rest : CHUNK;
    const double *const from = mesh->vertices + dimension * first;
    for (int64_t i = 0; i < count; ++i)
      for (int k = 0; k < 3; ++k)
        w->values[3 * i + k] = k < dimension ? from[dimension * i + k] : 0.0;
    KG_TRY(kg_vtkhdf_write_points(w->file, first, count, w->values));
  }
  return KEDGE_OK;
}

static void fill_means(const writer *w, const int32_t *element, int64_t count)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(w->s->ctx, count, 32))
  for (int64_t i = 0; i < count; ++i)
    w->values[i] = kg_field_mean(w->s, NULL, KEDGE_FIELD_U, element[i]);
}

/// @param[in] of  the components of a vector
static void fill_vector(const writer *w, const kedge_field of[3], const int32_t *element,
                        int64_t count)
{
  const int dimension = w->s->mesh->dimension;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(w->s->ctx, count, 64))
  for (int64_t i = 0; i < count; ++i)
    for (int k = 0; k < 3; ++k)
      w->values[3 * i + k] = k < dimension ? kg_field_mean(w->s, NULL, of[k], element[i]) : 0.0;
}

static void fill_corners(const writer *w, const int32_t *element, int64_t count)
{
  int32_t *corner = w->numbers;
  for (int64_t i = 0; i < count; ++i) {
    const kg_cell *const cell = kg_block_of(w->s->mesh, element[i])->cell;
    const int32_t *const v = kg_element_vertices(w->s->mesh, element[i]);
    const bool turned = cell == &kg_tetrahedron && kg_is_mirrored(w->s->mesh, element[i]);
    for (int l = 0; l < cell->n_vertices; ++l) *corner++ = v[turned && l > 1 ? 5 - l : l];
  }
}

static void fill_rest(const writer *w, const int32_t *element, int64_t count)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(w->s->ctx, count, 32))
  for (int64_t i = 0; i < count; ++i) {
    w->numbers[i] = w->s->mesh->element_region[element[i]];
    w->values[i] = kg_indicator_of(w->s, element[i]);
  }
}

static kedge_status write_cells(const writer *w)
{
  static const kedge_field q[] = {KEDGE_FIELD_QX, KEDGE_FIELD_QY, KEDGE_FIELD_QZ};
  static const kedge_field sigma[] = {KEDGE_FIELD_SIGMA_X, KEDGE_FIELD_SIGMA_Y,
                                      KEDGE_FIELD_SIGMA_Z};
  const int64_t n = w->s->mesh->n_elements;
  for (int64_t first = 0; first < n; first += CHUNK) {
    const int64_t count = n - first < CHUNK ? n - first : CHUNK;
    const int32_t *element = w->element + first;
    fill_corners(w, element, count);
    KG_TRY(kg_vtkhdf_write_corners(w->file, first, count, w->numbers));
    fill_means(w, element, count);
    KG_TRY(kg_vtkhdf_write(w->file, "u", first, count, w->values));
    fill_vector(w, q, element, count);
    KG_TRY(kg_vtkhdf_write(w->file, "q", first, count, w->values));
    fill_vector(w, sigma, element, count);
    KG_TRY(kg_vtkhdf_write(w->file, "sigma", first, count, w->values));
    fill_rest(w, element, count);
    KG_TRY(kg_vtkhdf_write(w->file, "region", first, count, w->numbers));
    KG_TRY(kg_vtkhdf_write(w->file, "error_indicator", first, count, w->values));
  }
  return KEDGE_OK;
}

static kedge_status write_all(const writer *w)
{
  kg_vtkhdf_cell_field(w->file, "u", KG_ITEM_F64, 1);
  kg_vtkhdf_cell_field(w->file, "q", KG_ITEM_F64, 3);
  kg_vtkhdf_cell_field(w->file, "sigma", KG_ITEM_F64, 3);
  kg_vtkhdf_cell_field(w->file, "region", KG_ITEM_I32, 1);
  kg_vtkhdf_cell_field(w->file, "error_indicator", KG_ITEM_F64, 1);
  kg_vtkhdf_number(w->file, "order", w->s->report.order);
  kg_vtkhdf_number(w->file, "converged", w->s->report.converged);
  kg_vtkhdf_number(w->file, "relative_residual", w->s->report.relative_residual);
  KG_TRY(write_points(w));
  return write_cells(w);
}

kedge_status kg_output_cells(const kedge_solution *s, const char *path)
{
  const kedge_mesh *mesh = s->mesh;
  const size_t n = (size_t)mesh->n_elements;
  writer w = {.s = s};
  kedge_status status = kg_host_alloc(s->ctx, n, sizeof *w.element, &w.element);
  if (status == KEDGE_OK)
    status = kg_host_alloc(s->ctx, n, sizeof *w.is_quadrilateral, &w.is_quadrilateral);
  if (status == KEDGE_OK) status = kg_host_alloc(s->ctx, CHUNK, 3 * sizeof *w.values, &w.values);
  if (status == KEDGE_OK)
    status = kg_host_alloc(s->ctx, CHUNK, KG_FACETS_MAX * sizeof *w.numbers, &w.numbers);
  if (status == KEDGE_OK) {
    const kg_vtkhdf_cells cells = kg_output_order(mesh, w.element, w.is_quadrilateral);
    status = kg_vtkhdf_create_shared(s->ctx, path, &cells, mesh->n_vertices, &w.file);
  }
  if (status == KEDGE_OK) status = write_all(&w);
  if (status == KEDGE_OK)
    status = kg_vtkhdf_finish(w.file);
  else
    kg_vtkhdf_abandon(w.file);
  free(w.element);
  free(w.is_quadrilateral);
  free(w.values);
  free(w.numbers);
  return status;
}
