// The first stage: mesh, tables and coefficients are brought to the device.
#include "elliptic/elliptic.h"

void kg_transfer_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const kg_choice *c = &s->choice;
  const size_t d = sizeof(double);
  const unsigned all = KG_FROM(TRANSFER, RECOVER), solve = KG_IN_SOLVE;
  const bool compact = c->iterates == KG_SINGLE;  // whose loads are a chunk's (elliptic/compact.h)
  unsigned edge_sides = KG_IN(TRANSFER) | KG_IN(LOCAL);
  if (c->precond != KG_JACOBI) edge_sides |= KG_FROM(ASSEMBLY, LEVELS);
  if (c->facet_sides_stay || c->linear == KEDGE_OPERATOR_MATRIX_FREE_PLAIN)
    edge_sides |= KG_FROM(ASSEMBLY, LEVELS) | solve;
  unsigned load = (c->repeats ? KG_IN(LOADS) : KG_IN(TRANSFER)) | KG_IN(LOCAL);
  if (c->repeats) load |= KG_IN(CONDENSE);
  if (c->loads_stay) load |= c->repeats ? KG_FROM(BOUND, RECOVER) : all;
  kg_space_declare(plan, &s->count, s->n_vertices,
                   &(kg_space_use){.dimension = s->batch[0].size.dimension,
                                   .making = KG_IN(TRANSFER),
                                   .all = all,
                                   .sides = c->sides_stay ? all : all & ~solve,
                                   .edge_sides = edge_sides,
                                   .has_patches = c->linear == KEDGE_OPERATOR_MATRIX_FREE,
                                   .has_regions = c->reads_regions},
                   &a->space);
  kg_plan_array(plan, "reference", kg_reference_count(s->size.order), d, all, &a->reference);
  kg_rules_declare(plan, s, &a->rules);
  kg_coefficients_declare(plan, s, &a->coefficients);
  kg_materials_declare(plan, s, &a->materials);
  kg_plan_array(plan, "load vectors",
                compact ? 0 : kg_shape_numbers(s, KG_ROWS_MODES, s->n_batches), d, load | KG_ANEW,
                &a->load);
  kg_source_declare(plan, s, &a->source);
}

kedge_status kg_stage_transfer(kg_elliptic *p)
{
  const int order = p->shape.size.order;
  const double *reference;
  KG_TRY(kg_elliptic_commit(p));
  if (!p->space.has_mesh) {
    kg_run_cost(&p->run, kg_trace_arrays_cost(&p->shape.count), 1.0);
    KG_TRY(kg_space_put(p->ctx, p->mesh, &p->space, &p->arrays.space));
    KG_TRY(kg_reference_of(p->ctx, order, &reference));
    KG_TRY(kg_copy_in(p->ctx, p->arrays.reference, reference,
                      kg_reference_count(order) * sizeof *reference));
    KG_TRY(kg_rules_put(&p->rules));
  }
  p->space.has_mesh = true;
  KG_TRY(kg_materials_put(p->ctx, &p->equation, &p->shape, &p->arrays.materials));
  return p->repeats ? KEDGE_OK : kg_stage_loads(p);
}
