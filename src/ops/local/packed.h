/// @file
/// Packed K^e: the lower triangle, row by row,
///
///     [group][n (n+1) / 2][lane]
///
/// with entry (i, j), j <= i, in row i (i+1) / 2 + j. Empty lanes are 0.
#pragma once
#include "ops/local/local.h"
KEDGE_BEGIN_DECLS

/// Where entry (i, j) or (j, i) lies, from where entry (0, 0) does.
KG_INLINE int64_t kg_local_at(int i, int j)
{
  return (int64_t)kg_packed_entry(i, j) * KG_LANES;
}

/// Entry (0, 0) of lane i of `local`, in double precision.
KG_INLINE const double *kg_packed_lane(const kg_local *local, int32_t i)
{
  return (const double *)local->data + (int64_t)(i / KG_LANES) * local->rows * KG_LANES +
         i % KG_LANES;
}

KEDGE_END_DECLS
