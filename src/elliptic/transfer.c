// The first stage: mesh, tables and coefficients are brought to the device.
#include "elliptic/cells.h"
#include "elliptic/materials.h"
#include "ops/sample/points.h"

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
  const unsigned sampled = c->repeats ? KG_IN(LOADS) : KG_IN(TRANSFER);
  unsigned load = sampled | KG_IN(LOCAL), values = compact ? 0 : sampled;
  if (c->repeats) load |= KG_IN(CONDENSE);
  if (c->loads_stay) load |= c->repeats ? KG_FROM(BOUND, RECOVER) : all;
  if (!c->loads_stay) values |= KG_IN(RECOVER);
  kg_space_declare(plan, &s->count, s->n_vertices,
                   &(kg_space_use){.making = KG_IN(TRANSFER),
                                   .all = all,
                                   .sides = c->sides_stay ? all : all & ~solve,
                                   .edge_sides = edge_sides,
                                   .has_patches = c->linear == KEDGE_OPERATOR_MATRIX_FREE,
                                   .has_regions = c->reads_regions},
                   &a->space);
  kg_plan_array(plan, "reference", kg_reference_count(s->size.order), d, all, &a->reference);
  const int rows[KG_SAMPLE_KINDS] = {kg_point_rows(s->size.order), s->fast_exact_rows};
  for (int k = 0; k < KG_SAMPLE_KINDS; ++k) {
    kg_plan_array(plan, "points", 3 * (size_t)kg_points_count(rows[k]), d, all, &a->point_rule[k]);
    kg_plan_array(plan, "modes at points", kg_points_table(s->size, rows[k]), d, all,
                  &a->point_basis[k]);
  }
  kg_cells_declare(plan, s, a);
  kg_materials_declare(plan, s, a);
  kg_plan_array(plan, "load vectors",
                compact ? 0 : kg_shape_numbers(s, KG_ROWS_MODES, s->n_batches), d, load | KG_ANEW,
                &a->load);
  kg_plan_array(plan, "rough loads", (size_t)s->count.n_groups * KG_LANES, 1, sampled, &a->rough);
  kg_plan_array(plan, "values of the source",
                values ? (size_t)kg_shape_source_points(s) * kg_shape_chunk_lanes(s) : 0, d, values,
                &a->source_values);
}

static kedge_status put_reference(kg_elliptic *p)
{
  const double *reference;
  const kg_shape *s = &p->shape;
  const kg_arrays *a = &p->arrays;
  const size_t d = sizeof(double);
  for (int k = 0; k < KG_SAMPLE_KINDS; ++k) {
    const kg_sampling *from = &p->sampling[k];
    KG_TRY(kg_copy_in(p->ctx, a->point_rule[k], from->r, 3 * (size_t)from->n * d));
    KG_TRY(kg_copy_in(p->ctx, a->point_basis[k], from->basis,
                      kg_points_table(s->size, from->rows) * d));
  }
  KG_TRY(kg_reference_of(p->ctx, p->shape.size.order, &reference));
  return kg_copy_in(p->ctx, a->reference, reference, kg_reference_count(s->size.order) * d);
}

kedge_status kg_stage_transfer(kg_elliptic *p)
{
  KG_TRY(kg_elliptic_commit(p));
  if (!p->space.has_mesh) {
    kg_run_cost(&p->run, kg_trace_arrays_cost(&p->space.layout.count), 1.0);
    KG_TRY(kg_space_put(p->ctx, p->mesh, &p->space, &p->arrays.space));
    KG_TRY(put_reference(p));
    KG_TRY(kg_cells_put(p));
  }
  p->space.has_mesh = true;
  KG_TRY(kg_materials_put(p));
  return p->repeats ? KEDGE_OK : kg_stage_loads(p);
}
