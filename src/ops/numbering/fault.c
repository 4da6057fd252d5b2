#include "ops/numbering/fault.h"

#include "device/context.h"

kedge_status kg_fault_end(kedge_context *ctx, const kg_trace_arrays *arrays, kg_side side, int end,
                          double at[2])
{
  const int32_t e = kg_side_element(side);
  const int l = kg_side_facet(side);
  const int corner = end ? kg_next_facet(kg_facets_of_lane(arrays, e), l) : l;
  int32_t vertex;
  KG_TRY(kg_copy_out(ctx, &vertex, arrays->vertex + kg_facet_at(arrays, e, corner), sizeof vertex));
  return kg_copy_out(ctx, at, arrays->vertices + 2 * (int64_t)vertex, 2 * sizeof *at);
}
