#include "elliptic/elliptic.h"

#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"
#include "ops/local/quadrature/robin.h"
#include "integrals/boundary.h"

static size_t value_count(const kg_shape *s)
{
  return (size_t)s->n_robin * (size_t)s->boundary_rows;
}

static size_t psi_count(const kg_shape *s)
{
  return s->n_robin > 0 ? (size_t)(s->boundary_rows * s->size.n_edge) : 0;
}

void kg_robin_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const unsigned local = KG_IN(LOCAL);
  kg_plan_array(plan, "Robin sides", (size_t)s->n_robin, sizeof *a->robin_side, local,
                &a->robin_side);
  kg_plan_array(plan, "Robin modes", psi_count(s), sizeof(double), local, &a->robin_psi);
  kg_plan_array(plan, "Robin coefficients", value_count(s), sizeof(double), local,
                &a->robin_coefficient);
}

int64_t kg_robin_host_bytes(const kg_shape *s)
{
  // Coefficients and ds/dt; numbers of edges and sides.
  const size_t bytes = (2 * value_count(s) + psi_count(s)) * sizeof(double) +
                       2 * (size_t)s->n_robin * sizeof(int32_t);
  return (int64_t)bytes;
}

/// Add sides [first, end), those that are of a batch. Edges of section 3 ascend with the patches,
/// and so their elements' batches do.
static kedge_status add_to_batch(kg_elliptic *p, int batch, int32_t first, int32_t end)
{
  const kg_arrays *a = &p->arrays;
  const kg_local local = kg_elliptic_locals(p).local[batch];
  assert(local.layout == KG_LAYOUT_PACKED && local.number == KG_DOUBLE);
  const kg_cell_robin_args args = {
      .size = p->shape.batch[batch].size,
      .n_sides = end - first,
      .side = a->robin_side + first,
      .rows = p->shape.boundary_rows,
      .psi = a->robin_psi,
      .coefficient = a->robin_coefficient + p->shape.boundary_rows * (size_t)first,
      .local = local.data};
  if (end == first) return KEDGE_OK;
  kg_run_cost(&p->run, kg_cell_robin_cost(args.size, args.rows, args.n_sides), 1.0);
  return kg_cell_robin(p->ctx, &args);
}

/// @param[in] sides  of the mesh; become those of the batches
static kedge_status add(kg_elliptic *p, kg_side *sides)
{
  const int32_t n = p->shape.n_robin;
  int32_t end[KG_BATCHES_MAX], i = 0;
  for (int b = 0; b < p->shape.n_batches; end[b++] = i) {
    const kg_lane_batch *lanes = &p->shape.batch[b].lanes;
    for (; i < n && kg_side_element(sides[i]) < lanes->first_element + lanes->n_elements; ++i)
      sides[i] = (kg_side)((kg_side_element(sides[i]) - lanes->first_element) * KG_FACETS_MAX +
                           kg_side_facet(sides[i]));
  }
  KG_TRY(kg_copy_in(p->ctx, p->arrays.robin_side, sides, (size_t)n * sizeof *sides));
  for (int b = 0; b < p->shape.n_batches; ++b)
    KG_TRY(add_to_batch(p, b, b > 0 ? end[b - 1] : 0, end[b]));
  return KEDGE_OK;
}

kedge_status kg_robin_add(kg_elliptic *p)
{
  const kg_shape *s = &p->shape;
  kg_robin_samples samples = {0};
  if (s->n_robin == 0) return KEDGE_OK;
  kedge_status status = kg_host_alloc(p->ctx, value_count(s), sizeof(double), &samples.coefficient);
  if (status == KEDGE_OK)
    status = kg_host_alloc(p->ctx, psi_count(s), sizeof(double), &samples.psi);
  if (status == KEDGE_OK)
    status = kg_host_alloc(p->ctx, (size_t)s->n_robin, sizeof(kg_side), &samples.side);
  if (status == KEDGE_OK)
    status = kg_sample_robin(p->ctx, p->mesh, &p->space.layout, p->equation.problem,
                             &p->equation.resolved, p->equation.scale, &samples);
  p->equation.robin = samples.range;
  kg_boundary_note(p, &samples.moves);
  if (status == KEDGE_OK)
    status = kg_copy_in(p->ctx, p->arrays.robin_psi, samples.psi, psi_count(s) * sizeof(double));
  if (status == KEDGE_OK)
    status = kg_copy_in(p->ctx, p->arrays.robin_coefficient, samples.coefficient,
                        value_count(s) * sizeof(double));
  if (status == KEDGE_OK) status = add(p, samples.side);
  free(samples.side);
  free(samples.psi);
  free(samples.coefficient);
  return status;
}
