#include "equation/robin.h"

#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"
#include "ops/local/quadrature/robin.h"

static size_t value_count(const kg_shape *s)
{
  return (size_t)s->n_robin * (size_t)s->boundary_points;
}

static size_t psi_count(const kg_shape *s)
{
  return s->n_robin > 0 ? (size_t)(s->boundary_points * s->m) : 0;
}

void kg_robin_declare(kg_plan *plan, const kg_shape *s, kg_robin_arrays *a)
{
  const unsigned local = KG_IN(LOCAL);
  kg_plan_array(plan, "Robin sides", (size_t)s->n_robin, sizeof *a->side, local, &a->side);
  kg_plan_array(plan, "Robin modes", psi_count(s), sizeof(double), local, &a->psi);
  kg_plan_array(plan, "Robin coefficients", value_count(s), sizeof(double), local, &a->coefficient);
}

int64_t kg_robin_host_bytes(const kg_shape *s)
{
  // Coefficients and ds/dt; numbers of edges and sides.
  const size_t bytes = (2 * value_count(s) + psi_count(s)) * sizeof(double) +
                       2 * (size_t)s->n_robin * sizeof(int32_t);
  return (int64_t)bytes;
}

/// Add the Robin terms of sides [first, end) to the local matrices of a batch. These sides are
/// consecutive, because edges with flux conditions (section 3 of the trace) are numbered in the
/// order of their patches, and so of their elements' batches.
static kedge_status add_to_batch(const kg_robin_args *r, int batch, int32_t first, int32_t end)
{
  const kg_rules *const rules = r->rules;
  const kg_shape *const s = rules->shape;
  const kg_local local = r->locals.local[batch];
  assert(local.layout == KG_LAYOUT_PACKED && local.number == KG_DOUBLE);
  const kg_cell_robin_args args = {
      .size = s->batch[batch].size,
      .n_sides = end - first,
      .side = r->arrays->side + first,
      .rows = s->boundary_points,
      .psi = r->arrays->psi,
      .coefficient = r->arrays->coefficient + s->boundary_points * (size_t)first,
      .local = local.data};
  if (end == first) return KEDGE_OK;
  kg_run_cost(rules->run, kg_cell_robin_cost(args.size, args.rows, args.n_sides), 1.0);
  return kg_cell_robin(rules->ctx, &args);
}

/// @param[in] sides  of the mesh; become those of the batches
static kedge_status add(const kg_robin_args *r, kg_side *sides)
{
  const kg_shape *const s = r->rules->shape;
  const int32_t n = s->n_robin;
  int32_t end[KG_BATCHES_MAX], i = 0;
  for (int b = 0; b < s->n_batches; end[b++] = i) {
    const kg_lane_batch *lanes = &s->batch[b].lanes;
    for (; i < n && kg_side_element(sides[i]) < lanes->first_element + lanes->n_elements; ++i)
      sides[i] = (kg_side)((kg_side_element(sides[i]) - lanes->first_element) * KG_FACETS_MAX +
                           kg_side_facet(sides[i]));
  }
  KG_TRY(kg_copy_in(r->rules->ctx, r->arrays->side, sides, (size_t)n * sizeof *sides));
  for (int b = 0; b < s->n_batches; ++b) KG_TRY(add_to_batch(r, b, b > 0 ? end[b - 1] : 0, end[b]));
  return KEDGE_OK;
}

kedge_status kg_robin_add(const kg_robin_args *r, kg_robin_range *range, kg_boundary_moves *moves)
{
  kedge_context *const ctx = r->rules->ctx;
  const kg_shape *s = r->rules->shape;
  const kg_equation *const e = r->equation;
  kg_robin_samples samples = {0};
  if (s->n_robin == 0) return KEDGE_OK;
  kedge_status status =
      kg_host_alloc(ctx, value_count(s) + psi_count(s), sizeof(double), &samples.coefficient);
  if (status == KEDGE_OK) samples.psi = samples.coefficient + value_count(s);
  if (status == KEDGE_OK)
    status = kg_host_alloc(ctx, (size_t)s->n_robin, sizeof(kg_side), &samples.side);
  if (status == KEDGE_OK)
    status = kg_sample_robin(ctx, e->mesh, r->layout, e->problem, &e->resolved, e->scale, &samples);
  *range = samples.range;
  *moves = samples.moves;
  if (status == KEDGE_OK)
    status = kg_copy_in(ctx, r->arrays->psi, samples.psi, psi_count(s) * sizeof(double));
  if (status == KEDGE_OK)
    status = kg_copy_in(ctx, r->arrays->coefficient, samples.coefficient,
                        value_count(s) * sizeof(double));
  if (status == KEDGE_OK) status = add(r, samples.side);
  free(samples.side);
  free(samples.coefficient);
  return status;
}
