// The findings of a solve, and what they are made of (diagnose/diagnose.h).
#include <math.h>

#include "elliptic/elliptic.h"

double kg_stabilization_ratio(const kg_elliptic *p)
{
  const kg_material *k = &p->equation.material;
  const double h = sqrt(kg_mean_square(p->mesh));
  const double scale[] = {
      [KEDGE_SCALING_ONE] = 1.0, [KEDGE_SCALING_H] = h, [KEDGE_SCALING_INVERSE_H] = 1.0 / h};
  const double tau = k->stabilization * scale[k->scaling];
  return tau * h / (k->diffusion + k->reaction * h * h);
}

/// Whether findings about a topic know meshes of tetrahedra: how strong a tensor is, and how norms
/// move with more points, is found in the plane alone.
static bool is_of_space(kg_topic topic)
{
  return topic != KG_ABOUT_TENSOR && topic != KG_ABOUT_NORMS;
}

kedge_status kg_elliptic_diagnose(kg_elliptic *p, kg_topic topic)
{
  if (kg_mesh_in_space(p->mesh) && !is_of_space(topic)) return KEDGE_OK;
  const kg_trace_counts *n = &p->shape.count;
  const kg_choice *c = &p->shape.choice;
  kg_diagnosis d = {
      .ctx = p->ctx,
      .mesh = p->mesh,
      .problem = p->equation.problem,
      .resolved = p->data.resolved,
      .layout = &p->space.cut->layout,
      .boundary = p->boundary,
      .n_boundary = (size_t)(n->n_edges - n->n_free + n->n_neumann) * (size_t)p->shape.m,
      .material = p->equation.material,
      .strength = p->equation.strength,
      .scale = p->equation.scale,
      .square = kg_mean_square(p->mesh),
      .robin = p->robin,
      .loads_left = p->loads_left,
      .stabilization_ratio = kg_stabilization_ratio(p),
      .report = &p->run.solution->report,
      .fields = &p->fields,
      .lost = p->lost,
      .gradient = &p->gradient,
      .failure = p->remainder.failure,
      .lost_error = p->lost_error,
      .keeps_means = c->wants_means,
      .is_stretched = p->mesh->info.min_angle < KG_LINE_ANGLE,
      .has_plain_cycle = c->precond != KG_JACOBI && c->steps > 0 &&
                         !kg_smoother_has_lines(c->smoother) &&
                         kg_all_lanes_are(&n->lanes, KG_TRIANGLES),
      .integrates = kg_shape_has_quadrature(&p->shape) ||
                    (kg_mesh_in_space(p->mesh) && p->shape.choice.varies),
      .is_compact = c->iterates == KG_SINGLE,
      .takes_data = p->repeats,
      .note = p->run.solution->note,
      .room = sizeof p->run.solution->note};
  for (int i = 0; i < p->shape.n_batches; ++i)
    if (p->shape.batch[i].keeps_gradient)
      d.keeps_gradient[kg_cell_index(p->shape.batch[i].cell)] = true;
  for (int k = 0; k < KG_NORMS; ++k) d.norm_moves[k] = p->norm_moves[k];
  return kg_diagnose(&d, topic);
}
