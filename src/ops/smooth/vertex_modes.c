#include "ops/smooth/vertex_modes.h"

#include <math.h>

#include "device/loop.h"
#include "ops/numbering/fault.h"

void kg_vertex_mode_shape(int order, double *shape)
{
  const int count[2] = {order / 2, (order + 1) / 2};  // modes 1 to P of even and of odd k
  shape[0] = 0.0;
  for (int k = 1; k <= order; ++k) shape[k] = 1.0 / (count[k & 1] * sqrt(2.0 * (2 * k + 1)));
}

/// Fail for unknown i: say where its vertex lies, and what to do. The vertex is an end of its first
/// edge, so the first side of that edge begins or ends there.
static kedge_status refuse(kedge_context *ctx, const kg_vertex_modes_args *args, int32_t i)
{
  const kg_trace_arrays *arrays = &args->batch.arrays;
  int32_t first, end;
  kg_side side;
  uint32_t side_edge;
  double at[2];
  KG_TRY(kg_copy_out(ctx, &first, args->modes.space.begin + i, sizeof first));
  KG_TRY(kg_copy_out(ctx, &end, args->modes.space.ends + first, sizeof end));
  KG_TRY(kg_copy_out(ctx, &side, arrays->edge_sides + 2 * (int64_t)(end >> 1), sizeof side));
  KG_TRY(
      kg_copy_out(ctx, &side_edge, arrays->side_edge + kg_side_at(arrays, side), sizeof side_edge));
  const bool begins = (side_edge & 1u) == (uint32_t)(end & 1);
  KG_TRY(kg_fault_end(ctx, arrays, side, begins ? 0 : 1, at));
  return KG_FAIL(
      ctx, KEDGE_ERR_NUMERIC,
      "preconditioner = multigrid cannot smooth at the vertex (%g, %g): its mode has no "
      "positive energy of the trace operator in double precision; check the mesh there "
      "for nearly degenerate elements, choose a stabilization nearer to diffusion / h, or take "
      "smoothing_steps = 2 or " KG_WITHOUT_MULTIGRID,
      at[0], at[1]);
}

kedge_status kg_vertex_modes_fill_host(kedge_context *ctx, const kg_vertex_modes_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->batch.count.n_elements, 32))
  for (int32_t e = 0; e < a->batch.count.n_groups * KG_LANES; ++e) kg_vertex_mode_element(a, e);
  int32_t fault = *a->fault;
#pragma omp parallel for schedule(static)                                      \
    num_threads(kg_loop_threads(ctx, a->modes.space.n_rows, 16)) reduction(min \
                                                                           : fault)
  for (int32_t i = 0; i < a->modes.space.n_rows; ++i)
    if (!kg_vertex_mode_weigh(a, i) && i < fault) fault = i;
  *a->fault = fault;
  return KEDGE_OK;
}

kedge_status kg_vertex_modes_fill(kedge_context *ctx, const kg_vertex_modes_args *args)
{
  int32_t fault;
  KG_TRY(kg_fault_clear(ctx, args->fault));
  KG_TRY(KG_IMPLEMENTATION(ctx, kg_vertex_modes_fill_host, kg_vertex_modes_fill_cuda)(ctx, args));
  KG_TRY(kg_fault_read(ctx, args->fault, &fault));
  return fault == KG_NO_FAULT ? KEDGE_OK : refuse(ctx, args, fault);
}

/// An element: K^e without its modes 0, of the blocks on the diagonal both triangles; three corners
/// written, read by the vertices with the six ends of the sides. An edge: its ends and sides. A
/// vertex: its ends and its weight.
kg_cost kg_vertex_modes_cost(int m, const kg_trace_counts *count, int32_t n_vertices,
                             kg_number local)
{
  const double p = m - 1, entries = 3 * p * p + 3 * p * (p + 1) / 2;
  return (kg_cost){
      .bytes = ((double)kg_number_bytes(local) * entries + 2 * 24.0 + 12.0) * count->n_elements +
               (8.0 + 16.0) * count->n_free + 16.0 * n_vertices,
      .flops = 3.0 * 6 * p * p * count->n_elements};
}
