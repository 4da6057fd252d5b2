// The file of a state.
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/writable.h"
#include "device/context.h"
#include "io/vtkhdf.h"
#include "waves/waves.h"

/// Arrays of all cells.
typedef struct arrays {
  double *xyz, *at, *values;
  int32_t *region;
} arrays;

static kedge_status write_all(kg_waves *w, kg_vtkhdf *file, int order, double t, const arrays *a)
{
  const kedge_mesh *const mesh = w->mesh;
  const int64_t cells = mesh->n_elements, n = cells * w->nodal.cell->n_modes(order);
  const int d = mesh->dimension;
  for (int f = 0; f < w->law->n_fields; ++f) kg_vtkhdf_point_field(file, w->law->fields[f], 1);
  kg_vtkhdf_cell_field(file, "region", KG_ITEM_I32, 1);
  kg_vtkhdf_number(file, "order", w->nodal.order);
  kg_vtkhdf_number(file, "t", t);
  KG_TRY(kg_waves_nodes(w, order, a->at));
  for (int64_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) a->xyz[3 * i + k] = k < d ? a->at[d * i + k] : 0.0;
  KG_TRY(kg_vtkhdf_write_points(file, 0, cells, a->xyz));
  for (int f = 0; f < w->law->n_fields; ++f) {
    KG_TRY(kg_waves_values(w, f, order, a->values));
    KG_TRY(kg_vtkhdf_write(file, w->law->fields[f], 0, cells, a->values));
  }
  for (int64_t e = 0; e < cells; ++e) a->region[mesh->element_origin[e]] = mesh->element_region[e];
  return kg_vtkhdf_write(file, "region", 0, cells, a->region);
}

static kedge_status allocate(const kg_waves *w, int order, arrays *a)
{
  const size_t cells = (size_t)w->mesh->n_elements, d = (size_t)w->mesh->dimension;
  const size_t n = cells * (size_t)w->nodal.cell->n_modes(order);
  KG_TRY(kg_host_alloc(w->ctx, 3 * n, sizeof *a->xyz, &a->xyz));
  KG_TRY(kg_host_alloc(w->ctx, d * n, sizeof *a->at, &a->at));
  KG_TRY(kg_host_alloc(w->ctx, n, sizeof *a->values, &a->values));
  return kg_host_alloc(w->ctx, cells, sizeof *a->region, &a->region);
}

kedge_status kg_waves_write(kg_waves *w, double t, const char *path)
{
  const int order = w->nodal.order;
  const kg_vtkhdf_cells cells = {.n = w->mesh->n_elements, .tetrahedra = kg_mesh_in_space(w->mesh)};
  kg_writable to = {.path = path, .what = "output"};
  arrays a = {0};
  kg_vtkhdf *file = NULL;
  KG_REQUIRE(w->ctx, kg_writable_named(&to, ".vtkhdf", ".hdf"), KEDGE_ERR_ARG, "%s", to.sentence);
  kedge_status status = allocate(w, order, &a);
  if (status == KEDGE_OK) status = kg_vtkhdf_create(w->ctx, path, order, &cells, &file);
  if (status == KEDGE_OK) status = write_all(w, file, order, t, &a);
  if (status == KEDGE_OK)
    status = kg_vtkhdf_finish(file);
  else
    kg_vtkhdf_abandon(file);
  free(a.xyz);
  free(a.at);
  free(a.values);
  free(a.region);
  return status;
}
