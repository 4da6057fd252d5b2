// What a report says before the first stage.
#include <math.h>

#include "device/context.h"
#include "elliptic/elliptic.h"

static int64_t element_unknowns(const kg_shape *s)
{
  int64_t n = 0;
  for (const kg_shape_batch *b = s->batch; b < s->batch + s->n_batches; ++b)
    n += (int64_t)b->lanes.n_elements * b->size.n_modes;
  return n;
}

void kg_report_fill(kg_elliptic *p)
{
  kedge_solution *s = p->run.solution;
  const kedge_mesh *mesh = p->mesh;
  kedge_report *r = &s->report;
  const kg_locals locals = kg_shape_locals(&p->shape);
  const double mesh_seconds = r->stages[KG_STAGE_MESH].seconds;
  *r = (kedge_report){
      .size = sizeof *r,
      .dimension = mesh->dimension,
      .elements = mesh->n_elements,
      .edges = mesh->n_edges,
      .vertices = mesh->n_vertices,
      .boundary_edges = mesh->n_boundary_edges,
      .order = p->equation.problem->order,
      .trace_unknowns = (int64_t)p->shape.count.n_free * p->shape.m,
      .element_unknowns = element_unknowns(&p->shape),
      .backend = kedge_backend_name(p->ctx->backend),
      .device = p->ctx->device,
      .operator_name = kedge_operator_name(p->equation.problem->operator_kind),
      .preconditioner = kg_precond_name(p->shape.choice.precond),
      .precision = kedge_precision_name(p->equation.problem->precision),
      .smoother = "",
      .tolerance = p->equation.problem->tolerance,
      .solver_note = s->note,
      .evaluation = s->evaluation,
      .has_exact = p->shape.choice.wants_errors,
      .u_l2 = NAN,
      .u_linf = NAN,
      .q_l2 = NAN,
      .u_star_l2 = NAN,
      .sigma_l2 = NAN,
      .triangle_inverse = "",
      .quadrilateral_inverse = "",
      .iteration_u = NAN,
      .iteration_u_star = NAN,
      .iteration_q = NAN,
      .iteration_sigma = NAN,
      .conductance = NAN,
      .energy_conductance = NAN,
      .stabilization_length = kg_stabilization_length(&p->equation),
      .predicted_device_bytes = (int64_t)p->plan.bytes,
      .local_matrices_bytes = (int64_t)kg_locals_bytes(&locals),
  };
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_shape_batch *b = &p->shape.batch[i];
    if (!b->by_quadrature) continue;
    *(b->cell == &kg_triangle ? &r->triangle_inverse : &r->quadrilateral_inverse) =
        b->keeps_gradient ? "gradient"
        : b->exact        ? "exact"
                          : "adjusted";
  }
  r->n_stages = KG_STAGE_COUNT;
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
    r->stages[stage].name = kg_stage_name(stage);
  r->stages[KG_STAGE_MESH].seconds = mesh_seconds;
}
