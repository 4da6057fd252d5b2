// Values at nodes, or means over elements, computed on the device from the modes that lie there.
// The sums are those of kg_field_at() and kg_field_mean() on the host. Only the resulting values
// are copied to the host, not the modes.
#include <stdlib.h>

#include "device/context.h"
#include "device/fetch.h"
#include "solution/values.h"
#include "space/caller_order.h"

kg_held_field kg_held_of(kedge_field field)
{
  if (field == KEDGE_FIELD_U_STAR) return KG_HELD_U_STAR;
  return field == KEDGE_FIELD_U ? KG_HELD_U : KG_HELD_FLUX;
}

kg_node_values_args kg_node_args(const kedge_solution *s, int batch, kedge_field field, int order,
                                 const int32_t *origin)
{
  const kg_results *const r = &s->batch[batch];
  const bool both = s->mesh->n_blocks > 1, is_star = field == KEDGE_FIELD_U_STAR;
  const int n_modes = is_star ? r->size.n_star : r->size.n_modes;
  kg_node_values_args a = {
      .n_elements = r->n_elements,
      .n_nodes = r->cell->n_modes(order),
      .n_modes = n_modes,
      .n_star = r->size.n_star,
      .rows = kg_held_of(field) == KG_HELD_FLUX ? r->size.dimension * n_modes : n_modes,
      .first_row = field == KEDGE_FIELD_QY   ? n_modes
                   : field == KEDGE_FIELD_QZ ? 2 * n_modes
                                             : 0,
      .origin = origin + r->first_element,
      .quadrilaterals = both ? origin + s->mesh->n_elements + r->first_element : NULL,
      .n_fewest = r->cell->n_modes(order)};
  if (both) {
    a.n_fewest = kg_triangle.n_modes(order);
    a.n_more = kg_quadrilateral.n_modes(order) - a.n_fewest;
  }
  return a;
}

kedge_status kg_node_table(const kedge_solution *s, int batch, int order, double *table)
{
  const kg_results *const r = &s->batch[batch];
  if (order == KG_MEANS) {
    const double mode = kg_constant_mode(r->cell);
    return kg_copy_in(s->ctx, table, &mode, sizeof mode);
  }
  kg_cell_points nodes;
  double *values;
  KG_TRY(kg_cell_nodes_create(s->ctx, r->cell, s->size.order, s->mesh->geometry, order, &values,
                              &nodes));
  const size_t n = (size_t)nodes.n * (size_t)r->size.n_star;
  const kedge_status status = kg_copy_in(s->ctx, table, nodes.value, n * sizeof *table);
  free(values);
  return status;
}

/// Return whether values of a field follow from its modes alone, without coefficients or geometry.
/// That is not so for sigma and, on elements integrated by quadrature, for q and for all means.
static bool follow_from_modes(const kedge_solution *s, kedge_field field, int order)
{
  const bool is_scalar = field == KEDGE_FIELD_U || field == KEDGE_FIELD_U_STAR;
  bool follow =
      is_scalar || field == KEDGE_FIELD_QX || field == KEDGE_FIELD_QY || field == KEDGE_FIELD_QZ;
  if (kg_mesh_in_space(s->mesh) && order != KG_MEANS) return false;  // nodes may be mirrored
  for (int b = 0; b < s->n_batches; ++b)
    follow = follow && (!s->batch[b].by_quadrature || (is_scalar && order != KG_MEANS));
  return follow;
}

/// The work of a call: the caller's order of elements, tables of the batches, and the values.
typedef struct work {
  kg_buffer origin, table, values;
} work;

static kedge_status make(const kedge_solution *s, kedge_field field, int order, work *w,
                         double *values)
{
  kedge_context *const ctx = s->ctx;
  size_t n_values = 0, of_tables = 0;
  for (int b = 0; b < s->n_batches; ++b) {
    const kg_results *const r = &s->batch[b];
    const size_t n_nodes = (size_t)r->cell->n_modes(order);
    n_values += n_nodes * (size_t)r->n_elements;
    of_tables += n_nodes * (size_t)r->size.n_star;
  }
  KG_TRY(kg_caller_order_upload(ctx, s->mesh, &w->origin));
  KG_TRY(kg_alloc(ctx, of_tables, sizeof(double), &w->table));
  KG_TRY(kg_alloc(ctx, n_values, sizeof(double), &w->values));
  double *table = w->table.data;
  for (int b = 0; b < s->n_batches; ++b) {
    kg_node_values_args a = kg_node_args(s, b, field, order, w->origin.data);
    if (order == KG_MEANS) a.n_modes = 1;
    a.from = kg_solution_there(s, kg_held_of(field), b);
    a.basis = table;
    a.to = w->values.data;
    KG_TRY(kg_node_table(s, b, order, table));
    KG_TRY(kg_node_values(ctx, &a));
    table += (size_t)a.n_nodes * (size_t)a.n_star;
  }
  return kg_copy_out(ctx, values, w->values.data, n_values * sizeof *values);
}

/// Threads that read solutions of one context take turns.
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

kedge_status kg_values_there(const kedge_solution *solution, kedge_field field, int order,
                             double *values, bool *made)
{
  kedge_solution *const s = (kedge_solution *)solution;
  *made = s->place == KG_ON_DEVICE && !kg_holds(s, KG_HELD_MEANS) &&
          !s->held[kg_held_of(field)].is_current && follow_from_modes(s, field, order);
  if (!*made) return KEDGE_OK;
  work w = {0};
  pthread_mutex_lock(&reading);
  const int before = kg_visit(s->ctx);
  const kedge_status status = make(s, field, order, &w, values);
  kg_free(s->ctx, &w.origin);
  kg_free(s->ctx, &w.table);
  kg_free(s->ctx, &w.values);
  kg_leave(s->ctx, before);
  pthread_mutex_unlock(&reading);
  *made = status != KEDGE_ERR_MEMORY;
  if (*made) return status;
  s->ctx->error[0] = '\0';  // without room there, the modes are brought
  return KEDGE_OK;
}
