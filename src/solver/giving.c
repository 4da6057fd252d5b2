#include "solver/giving.h"

#include <stdlib.h>

#include "core/memory.h"
#include "solution/values.h"
#include "solver/unknowns.h"

/// Fail if a field cannot be evaluated on the device from its modes. u and u* always can. q can
/// only on straight triangles with constant coefficients: elsewhere the solve computes the modes of
/// the flux, and q follows from the flux and the diffusion at each point.
static kedge_status check(const kg_elliptic *p, const char *function, const kedge_device_values *of)
{
  const kedge_field field = of->field;
  const bool is_gradient = field == KEDGE_FIELD_QX || field == KEDGE_FIELD_QY;
  KG_REQUIRE(p->ctx, of->order >= 1 && of->order <= KEDGE_ORDER_MAX + 1, KEDGE_ERR_ARG,
             "%s: nodes of order %d: the order must be 1 to %d", function, of->order,
             KEDGE_ORDER_MAX + 1);
  KG_REQUIRE(p->ctx, of->values, KEDGE_ERR_ARG, "%s: an array for values on the device is NULL",
             function);
  KG_REQUIRE(
      p->ctx, is_gradient || field == KEDGE_FIELD_U || field == KEDGE_FIELD_U_STAR, KEDGE_ERR_ARG,
      "%s: values on the device are of u, qx, qy and u_star: make the flux of qx and qy", function);
  // In space nodes of elements whose corners are exchanged have a table of their own.
  KG_REQUIRE(p->ctx, !kg_mesh_in_space(p->mesh), KEDGE_ERR_UNSUPPORTED,
             "%s: values on the device are of plane meshes so far: take them from the solution",
             function);
  for (int i = 0; i < p->shape.n_batches; ++i)
    KG_REQUIRE(
        p->ctx, !is_gradient || !p->shape.batch[i].by_quadrature, KEDGE_ERR_UNSUPPORTED,
        "%s: qx and qy on the device are there for straight triangles with coefficients that "
        "are constant in each: take them from the solution",
        function);
  return kg_join(p->ctx, of->values);
}

static kedge_status put_all(kedge_solver *s, int n, const kedge_device_values *of)
{
  kg_elliptic *const p = s->elliptic;
  size_t doubles = 0;
  KG_TRY(kg_element_order_upload(s));
  KG_TRY(kg_host_calloc(p->ctx, (size_t)n, sizeof *s->given, &s->given));
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < p->shape.n_batches; ++i) {
      kg_node_values_args *const a = &s->given[k].of[i];
      *a = kg_node_args(p->run.solution, i, of[k].field, of[k].order, s->element_order.data);
      a->to = of[k].values;
      s->given[k].field = kg_held_of(of[k].field);
      doubles += (size_t)a->n_nodes * (size_t)a->n_star;
    }
  KG_TRY(kg_alloc(p->ctx, doubles, sizeof(double), &s->node_tables));
  double *next = s->node_tables.data;
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < p->shape.n_batches; ++i) {
      kg_node_values_args *const a = &s->given[k].of[i];
      KG_TRY(kg_node_table(p->run.solution, i, of[k].order, next));
      a->basis = next;
      next += (size_t)a->n_nodes * (size_t)a->n_star;
    }
  return KEDGE_OK;
}

kedge_status kg_giving_open(kedge_solver *s, const char *function, kg_data_made *made)
{
  const int n = made->n_device;
  const kedge_device_values *const of = made->device;
  kg_elliptic *const p = s->elliptic;
  KG_REQUIRE(p->ctx, n >= 0 && (n == 0 || of), KEDGE_ERR_ARG,
             "%s: %d values on the device without an array", function, n);
  if (n == 0) return KEDGE_OK;
  for (int k = 0; k < n; ++k) KG_TRY(check(p, function, &of[k]));
  KG_TRY(put_all(s, n, of));
  made->data.given = s->given;
  made->data.n_given = n;
  return KEDGE_OK;
}

void kg_giving_close(kedge_solver *s)
{
  free(s->given);
  s->given = NULL;
  kg_free(s->elliptic->ctx, &s->node_tables);
}
