/// @file
/// `side_edge` of kg_trace_arrays once more, from the arrays of the patches: a side's code says
/// which edge of its patch it is, and in the plane an edge runs from its lower to its higher
/// vertex. A solve with multigrid does without `side_edge` while it solves the trace system.
#pragma once
#include "ops/trace/trace_apply.h"
#include "ops/numbering/trace_arrays.h"
KEDGE_BEGIN_DECLS

typedef struct kg_trace_sides_args {
  kg_batch batch;       ///< vertex and the arrays of the patches are read
  uint32_t *side_edge;  ///< out: like side_edge of the batch
} kg_trace_sides_args;

KG_DECLARE_OPERATOR(kg_trace_sides, kg_trace_sides_args);
kg_cost kg_trace_sides_cost(const kg_trace_counts *count);

/// The trace edge that has a number in a patch: those inside come first, then its halo.
KG_INLINE int32_t kg_edge_of_patch(const kg_trace_arrays *arrays, int32_t patch, int32_t number)
{
  const int32_t first = arrays->patch_edge[patch];
  const int32_t n_inside = arrays->patch_edge[patch + 1] - first;
  if (number < n_inside) return first + number;
  return (int32_t)(arrays->halo_edge[arrays->patch_halo[patch] + (number - n_inside)] >> 1);
}

/// The sides of a lane; an empty one has the vertices and the codes of the last element.
KG_INLINE void kg_put_sides(const kg_trace_sides_args *a, int32_t lane)
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  const int32_t patch = lane / (a->batch.count.patch_groups * KG_LANES);
  const kg_lane_run run = kg_run_of_lane(&arrays->lanes, lane);
  const bool directed = kg_run_has_directions(run);
  const uint32_t *const codes = arrays->side_codes + kg_codes_at(arrays, lane);
  for (int l = 0; l < run.n_facets; ++l) {
    const int64_t from = kg_facet_at(arrays, lane, l);
    const int64_t to = kg_facet_at(arrays, lane, kg_next_facet(run.n_facets, l));
    const int code = kg_side_code_at(codes, run.n_facets, 0, l);
    const uint32_t edge = (uint32_t)kg_edge_of_patch(arrays, patch, code / 2);
    const bool reversed = directed && arrays->vertex[from] > arrays->vertex[to];
    a->side_edge[from] = edge << 1 | (uint32_t)reversed;
  }
}

KEDGE_END_DECLS
