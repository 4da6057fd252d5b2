// Values at nodes in device memory.
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "ops/waves/points.h"
#include "waves/waves.h"

/// Where the values of elements go, and which nodes they have.
static kedge_status upload_places(kg_waves *w)
{
  const int32_t n = w->mesh->n_elements;
  int32_t *to;
  if (w->to.data) return KEDGE_OK;
  KG_TRY(kg_host_alloc(w->ctx, (size_t)n, sizeof *to, &to));
  for (int32_t e = 0; e < n; ++e)
    to[e] = w->mesh->element_origin[e] << 1 | kg_waves_is_turned(w->mesh, e);
  const kedge_status status = kg_upload(w->ctx, to, (size_t)n, sizeof *to, &w->to);
  free(to);
  return status;
}

/// Rows of both sets of nodes of an order.
static kedge_status upload_rows(kg_waves *w, int order)
{
  const kg_cell *const cell = w->nodal.cell;
  const int n = cell->n_modes(order), d = cell->dimension;
  double *at, *row;
  if (w->nodes_order == order) return KEDGE_OK;
  w->nodes_order = 0;
  kg_free(w->ctx, &w->nodes);
  KG_TRY(kg_host_alloc(w->ctx, (size_t)(n * (d + 2 * w->nodal.n)), sizeof *at, &at));
  row = at + n * d;
  for (int set = 0; set < 2; ++set) {
    kg_waves_nodes_of(cell, order, set == 1 && d == 3, at);
    for (int q = 0; q < n; ++q) {
      double place[3] = {0.0};
      for (int k = 0; k < d; ++k) place[k] = at[k * n + q];
      kg_waves_row(w, place, row + (size_t)(set * n + q) * (size_t)w->nodal.n);
    }
  }
  const kedge_status status =
      kg_upload(w->ctx, row, (size_t)(2 * n * w->nodal.n), sizeof *row, &w->nodes);
  free(at);
  if (status == KEDGE_OK) w->nodes_order = order;
  return status;
}

kedge_status kg_waves_values_there(kg_waves *w, int field, int order, double *values)
{
  KG_TRY(upload_places(w));
  KG_TRY(upload_rows(w, order));
  return kg_wave_nodes(w->ctx, &(kg_wave_nodes_args){.state = w->args,
                                                     .n_elements = w->mesh->n_elements,
                                                     .n_points = w->nodal.cell->n_modes(order),
                                                     .field = field,
                                                     .row = w->nodes.data,
                                                     .to = w->to.data,
                                                     .value = values});
}
