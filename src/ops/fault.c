#include "ops/fault.h"

#include "core/context.h"

kedge_status kg_fault_corner(kedge_context *ctx, const kg_trace_arrays *arrays, int32_t e, int l,
                             double at[2])
{
  int32_t vertex;
  KG_TRY(kg_copy_out(ctx, &vertex, arrays->vertex + kg_lane_side(e, l), sizeof vertex));
  return kg_copy_out(ctx, at, arrays->vertices + 2 * (int64_t)vertex, 2 * sizeof *at);
}
