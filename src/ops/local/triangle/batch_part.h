/// @file
/// Consecutive patches of a batch as a batch of their own, for operators that go through elements
/// or patches: those then take the patches chunk by chunk, or kg_local by kg_local.
#pragma once
#include <assert.h>

#include "ops/local/local.h"

/// Lanes first_lane .. first_lane + n_lanes, of one shape, of which the first n_elements have an
/// element; they begin with a patch. Elements are numbered from the first lane on, so arrays of
/// elements that an operator gets beside the batch begin there too; edges and halo entries keep
/// their numbers. `edge_sides` names elements by their old numbers and is left out.
static inline kg_batch kg_batch_of_lanes(const kg_batch *batch, int32_t first_lane, int32_t n_lanes,
                                         int32_t n_elements)
{
  const kg_trace_arrays *all = &batch->arrays;
  kg_batch part = *batch;
  kg_trace_counts *n = &part.count;
  const int32_t patch_lanes = n->patch_groups * KG_LANES, patch = first_lane / patch_lanes;
  const kg_lane_run run = kg_run_of_lane(&all->lanes, first_lane);
  const int64_t sides = kg_facet_at(all, first_lane, 0);
  assert(first_lane % patch_lanes == 0 && n_lanes % KG_LANES == 0 && n_elements <= n_lanes);
  n->n_elements = n_elements;
  n->n_groups = n_lanes / KG_LANES;
  n->lanes = kg_lanes_of_one_shape(run.cell, run.n_facets, n_lanes);
  n->n_patches = (n_lanes + patch_lanes - 1) / patch_lanes;
  n->n_sides = (int64_t)run.n_facets * n_elements;
  part.arrays.lanes = n->lanes;
  part.arrays.vertex += sides;
  if (part.arrays.side_edge) part.arrays.side_edge += sides;
  if (part.arrays.side_codes) {  // the product by patches is there
    part.arrays.side_codes += kg_codes_at(all, first_lane);
    part.arrays.patch_edge += patch;
    part.arrays.patch_halo += patch;
  }
  part.arrays.edge_sides = NULL;
  return part;
}

/// Patches first .. first + n_patches of a batch of one kg_lane_batch.
static inline kg_batch kg_batch_part(const kg_batch *batch, int32_t first, int32_t n_patches)
{
  const int32_t group = first * batch->count.patch_groups;
  const int32_t most = n_patches * batch->count.patch_groups;
  const int32_t left = batch->count.n_groups - group, n_left = batch->count.n_elements;
  if (left <= most)
    return kg_batch_of_lanes(batch, group * KG_LANES, left * KG_LANES, n_left - group * KG_LANES);
  return kg_batch_of_lanes(batch, group * KG_LANES, most * KG_LANES, most * KG_LANES);
}

/// The lanes of one of the K^e of a batch.
static inline kg_batch kg_batch_of_local(const kg_batch *batch, const kg_local *local)
{
  return kg_batch_of_lanes(batch, local->first_lane, local->n_lanes, local->n_elements);
}
