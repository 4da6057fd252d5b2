#include "ops/numbering/fault.h"

#include "device/context.h"
#include "ops/numbering/facet_corners.h"

static kedge_status put_vertex(kedge_context *ctx, const kg_trace_arrays *arrays, kg_side side,
                               int corner, int dimension, double *at)
{
  const int64_t place = kg_facet_at(arrays, kg_side_element(side), corner);
  int32_t vertex;
  KG_TRY(kg_copy_out(ctx, &vertex, arrays->vertex + place, sizeof vertex));
  return kg_copy_out(ctx, at, arrays->vertices + dimension * (int64_t)vertex,
                     (size_t)dimension * sizeof *at);
}

kedge_status kg_fault_end(kedge_context *ctx, const kg_trace_arrays *arrays, kg_side side, int end,
                          double at[2])
{
  const int n = kg_facets_of_lane(arrays, kg_side_element(side)), l = kg_side_facet(side);
  return put_vertex(ctx, arrays, side, end ? kg_next_facet(n, l) : l, 2, at);
}

kedge_status kg_fault_corner(kedge_context *ctx, const kg_trace_arrays *arrays, kg_side side,
                             int corner, double at[3])
{
  return put_vertex(ctx, arrays, side, kg_facet_corner(kg_side_facet(side), corner), 3, at);
}
