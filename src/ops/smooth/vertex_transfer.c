#include "ops/smooth/vertex_transfer.h"

#include <assert.h>

#include "device/context.h"

kedge_status kg_vertex_restrict(kedge_context *ctx, const kg_vertex_restrict_args *args)
{
  assert(!args->many || !kg_lanes_in_space(&args->space.mesh.lanes));
  return KG_IMPLEMENTATION_OF_NUMBER(ctx, args->number, kg_vertex_restrict_host,
                                     kg_vertex_restrict_cuda)(ctx, args);
}
kedge_status kg_vertex_prolong(kedge_context *ctx, const kg_vertex_prolong_args *args)
{
  assert(!args->correction.coarse || args->correction.rows.value ||
         kg_vertex_fluxes_are_known(&args->correction.space.mesh));
  return KG_IMPLEMENTATION_OF_NUMBER(ctx, args->number, kg_vertex_prolong_host,
                                     kg_vertex_prolong_cuda)(ctx, args);
}
kedge_status kg_vertex_spread(kedge_context *ctx, const kg_vertex_spread_args *args)
{
  assert(!kg_lanes_in_space(&args->space.mesh.lanes));
  return KG_IMPLEMENTATION_OF_NUMBER(ctx, args->number, kg_vertex_spread_host,
                                     kg_vertex_spread_cuda)(ctx, args);
}
KG_OPERATOR_OF_NUMBERS(kg_vertex_modes_restrict, kg_vertex_modes_restrict_args, args->number)

/// Restrict: two numbers of r and A z an edge, its two ends, the unknown. Prolong: two numbers of z
/// read and written an edge, its side and vertices, or its two ends, and its two unknowns.
kg_cost kg_vertex_transfer_cost(const kg_trace_counts *count, int32_t n_rows, kg_number number)
{
  if (kg_lanes_in_space(&count->lanes)) {  // three numbers, three corners
    const double numbers = 12.0 * (double)kg_number_bytes(number);
    return (kg_cost){.bytes = (numbers + 32.0) * count->n_free + (12.0 + 8.0) * n_rows,
                     .flops = (3 * 6.0 + 12.0) * count->n_free};
  }
  const double vectors = 8.0 * (double)kg_number_bytes(number);
  return (kg_cost){.bytes = (vectors + 16.0) * count->n_free + (12.0 + 8.0) * n_rows,
                   .flops = (2 * 4.0 + 6.0) * count->n_free + 3.0 * n_rows};
}

/// r and A z read, two parts of an edge written and read with the ends; the weight and value of a
/// vertex.
kg_cost kg_vertex_modes_restrict_cost(int m, const kg_trace_counts *count, int32_t n_rows,
                                      kg_number number)
{
  const double rows = (double)m * count->n_free;
  return (kg_cost){.bytes = 2.0 * (double)kg_number_bytes(number) * rows +
                            (32.0 + 8.0) * count->n_free + (4.0 + 16.0) * n_rows,
                   .flops = 2 * 3.0 * rows};
}
