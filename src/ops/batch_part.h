/// @file
/// Consecutive patches of a batch as a batch of their own, for operators that go through elements
/// or patches: those then take the patches chunk by chunk.
#pragma once
#include "ops/ops.h"

/// Patches first .. first + n_patches. Elements are numbered from its first on, so arrays of
/// elements that an operator gets beside the batch begin there too; edges and halo entries keep
/// their numbers. `edge_sides` names elements by their old numbers and is left out.
static inline kg_batch kg_batch_part(const kg_batch *batch, int32_t first, int32_t n_patches)
{
  kg_batch part = *batch;
  kg_trace_counts *n = &part.count;
  const int32_t group = first * n->patch_groups, groups = n_patches * n->patch_groups;
  n->n_patches = n_patches;
  if (n->n_groups - group > groups) {
    n->n_groups = groups;
    n->n_elements = groups * KG_LANES;
  } else {
    n->n_groups -= group;
    n->n_elements -= group * KG_LANES;
  }
  const size_t lanes = (size_t)group * KG_LANES;
  const size_t sides = (size_t)part.arrays.n_facets * lanes;
  part.arrays.vertex += sides;
  if (part.arrays.side_edge) part.arrays.side_edge += sides;
  part.arrays.side_codes += (size_t)kg_code_words(part.arrays.n_facets) * lanes;
  part.arrays.patch_edge += first;
  part.arrays.patch_halo += first;
  part.arrays.edge_sides = NULL;
  return part;
}
