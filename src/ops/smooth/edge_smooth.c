#include "ops/smooth/edge_smooth.h"

#include <assert.h>

#include "device/context.h"

kedge_status kg_edge_smooth(kedge_context *ctx, const kg_edge_smooth_args *args)
{
  assert(!args->correction.coarse || args->correction.rows.value ||
         kg_vertex_fluxes_are_known(&args->correction.space.mesh));
  return KG_IMPLEMENTATION_OF_NUMBER(ctx, args->number, kg_edge_smooth_host, kg_edge_smooth_cuda)(
      ctx, args);
}

/// A step from a z that is not zero, without d: B^-1, r, A z, z in, z out.
kg_cost kg_edge_smooth_cost(int m, const kg_trace_counts *count, kg_block_form form,
                            kg_number number)
{
  const double rows = (double)m * count->n_free;
  const double block = (double)kg_block_number_bytes(form);
  const double vector = (double)kg_number_bytes(number);
  return (kg_cost){.bytes = rows * (block * (m + 1) / 2 + vector * 4), .flops = rows * (2 * m + 3)};
}
