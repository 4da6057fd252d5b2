/// @file
/// Load vectors of a range of elements get those that were integrated by parts.
#pragma once
#include "integrals/refined.h"

/// Load vectors of groups [first, first + count) of a batch, in memory of the backend.
typedef struct kg_patch {
  int32_t first_element, n_elements;  ///< of the batch
  int n_modes;                        ///< N
  int n_sums;                         ///< numbers of an element of what was integrated
  int32_t first, count;
  double scale;  ///< what was integrated is multiplied by it
  double *load;  ///< [group of these][N][lane]
} kg_patch;

/// Put those of the range in their places.
kedge_status kg_patch_loads(kedge_context *ctx, const kg_patch *to, const kg_refined *from);
