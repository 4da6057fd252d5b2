// Look at the fields of a solution, chunk by chunk, and judge the sums of them.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "ops/local/tetrahedron/field_sums.h"
#include "elliptic/recover/recover.h"

size_t kg_fields_values(const kg_shape *s, int kind)
{
  for (int i = 0; i < s->n_batches; ++i) {
    const kg_shape_batch *b = &s->batch[i];
    if (kg_cell_index(b->cell) == kind)
      return (size_t)(2 * b->size.n_facets + 1) * (size_t)b->size.n_star;
  }
  return 0;
}

kedge_status kg_fields_begin(kg_elliptic *p)
{
  for (int k = 0; k < KG_CELL_KINDS; ++k) {
    double value[KG_FIELD_POINTS * (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 2)];
    if (!p->arrays.field_points[k]) continue;
    kg_field_points(kg_cell_list[k], p->shape.size.order, value);
    KG_TRY(kg_copy_in(p->ctx, p->arrays.field_points[k], value,
                      kg_fields_values(&p->shape, k) * sizeof *value));
  }
  return KEDGE_OK;
}

kedge_status kg_fields_add(kg_elliptic *p, const kg_chunk *c)
{
  const kg_elements part = kg_elements_part(&p->elements[c->batch], c->first, c->n);
  const kg_arrays *a = &p->arrays;
  const kg_shape_batch *b = &p->shape.batch[c->batch];
  const kg_field_sums_args args = {
      .n_facets = b->size.n_facets,
      .n_modes = b->size.n_modes,
      .n_star = b->size.n_star,
      .n_points = 2 * b->size.n_facets + 1,
      .value = a->field_points[kg_cell_index(b->cell)],
      .n_elements = part.n_elements,
      .first_element = b->lanes.first_element + c->first * KG_LANES,
      .vertices = a->space.vertices,
      .vertex = part.by_quadrature ? part.cells.vertex : part.batch.arrays.vertex,
      .u = p->made[KG_HELD_U],
      .u_star = p->made[KG_HELD_U_STAR],
      .flux = p->made[KG_HELD_FLUX],
      .material = c->coefficient.cells,
      .by_quadrature = part.by_quadrature,
      .cells = part.cells,
      .n_means = kg_batch_rows(b, KG_ROWS_MEANS),
      .means = kg_only_sizes(p) ? NULL : p->made[KG_HELD_MEANS],
      .begins = c->batch == 0 && c->first == 0,
      .n_pieces = kg_field_pieces(p->shape.count.n_groups),
      .sums = a->field_sums};
  if (kg_mesh_in_space(p->mesh)) {
    const kg_space_field_sums_args of_tetrahedra = {part.tetrahedra, c->coefficient.space, args};
    kg_run_cost(&p->run, kg_space_field_sums_cost(&of_tetrahedra), 1.0);
    return kg_space_field_sums_add(p->ctx, &of_tetrahedra);
  }
  kg_run_cost(&p->run, kg_field_sums_cost(&args), 1.0);
  return kg_field_sums_add(p->ctx, &args);
}

/// Return whether sigma is finite in an element, if the diffusion is the largest of the mesh.
/// @param[in] times  factor from the batch's flux coefficients to sigma
static bool has_flux(const kg_results *r, int32_t element, double times)
{
  const int rows = (int)kg_held_rows(r, KG_HELD_FLUX);
  double zero = 0.0;
  for (int k = 0; k < r->size.n_flux; ++k)
    zero += 0.0 * (times * r->flux[kg_cell_at(element - r->first_element, rows, k)]);
  return zero == 0.0;
}

/// Find the first element where sigma exceeds the range of double precision although u and q do
/// not, because it has the scale of the diffusion. The range of u* tells whether that is possible.
static kedge_status find_lost_flux(kg_elliptic *p, int32_t *found)
{
  const kg_field_sums *const f = &p->fields;
  const double h = sqrt(kg_mean_square(p->mesh));
  const double d = p->equation.material.diffusion / p->equation.scale;
  const double most = fmax(fabs(f->star_least), fabs(f->star_most));
  *found = -1;
  if (isfinite(1e9 * most * d / h)) return KEDGE_OK;
  for (kg_chunk c = {0}; *found < 0 && kg_next_chunk(p, p->shape.choice.recover_groups, &c);) {
    const kg_results *const r = &p->run.solution->batch[c.batch];
    const double times = r->by_quadrature ? 1.0 / (h * p->equation.scale) : d;
    const int32_t first = c.first * KG_LANES, end = first + c.n * KG_LANES;
    KG_TRY(kg_chunk_bring(p, c));
    for (int32_t i = first; *found < 0 && i < end && i < r->n_elements; ++i)
      if (!has_flux(r, r->first_element + i, times)) *found = r->first_element + i;
  }
  return KEDGE_OK;
}

/// Name the field that is not finite, if one is, and say where.
static kedge_status find_lost_field(kg_elliptic *p, kg_lost_field *lost)
{
  const kg_field_sums *const f = &p->fields;
  const bool means = p->shape.choice.wants_means;
  *lost = (kg_lost_field){NULL, -1};
  if (f->bad_mean >= 0) {
    *lost = (kg_lost_field){"the mean of q or sigma", f->bad_mean};
  } else if (f->bad_star < 0 && !means) {
    KG_TRY(find_lost_flux(p, &lost->element));
    if (lost->element >= 0) lost->field = "sigma";
  } else if (f->bad_star >= 0) {
    const kg_results *const r = kg_results_of(p->run.solution, f->bad_star);
    const char *const flux = r->by_quadrature ? "sigma" : "q";
    *lost = (kg_lost_field){"the error indicator", f->bad_star};
    if (means) return KEDGE_OK;
    KG_TRY(kg_chunk_bring(
        p, kg_chunk_of(p, r->first_group + (f->bad_star - r->first_element) / KG_LANES)));
    lost->field = has_flux(r, f->bad_star, 1.0) ? "u*" : flux;
  }
  return KEDGE_OK;
}

kedge_status kg_fields_judge(kg_elliptic *p)
{
  const size_t n = (size_t)kg_field_pieces(p->shape.count.n_groups);
  kg_field_sums *pieces;
  p->fields = p->remainder.size = kg_no_field_sums();
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *pieces, &pieces));
  const kedge_status status = kg_copy_out(p->ctx, pieces, p->arrays.field_sums, n * sizeof *pieces);
  kg_field_sums *const sum = &p->remainder.size;
  *sum = kg_no_field_sums();
  for (size_t i = 0; status == KEDGE_OK && i < n; ++i) kg_field_sums_join(&pieces[i], sum);
  free(pieces);
  if (status != KEDGE_OK || kg_only_sizes(p)) return status;
  p->fields = *sum;
  KG_TRY(find_lost_field(p, &p->lost));
  KG_TRY(kg_elliptic_diagnose(p, KG_ABOUT_LOSS));
  return kg_elliptic_diagnose(p, KG_ABOUT_FIELDS);
}
