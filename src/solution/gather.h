/// @file
/// Parts of a field of a solution in host memory: what a few elements, or edges, have of it.
#pragma once
#include "solution/solution.h"

/// Zero-initialised: nothing.
typedef struct kg_gathered {
  /// [n]: where the coefficients of each element begin, KG_LANES from one another, or the modes of
  /// the trace of each edge, one behind the other; borrowed from `copy` or the solution
  const double **of;
  double *copy;  ///< of parts that were brought from the device; NULL: none
} kg_gathered;

/// Gather a field, which the solution holds. From the device only these parts are copied, unless
/// they are most of it; then all of it is brought, and stays for whoever reads it next.
/// @param[in]  number  [n] ascending, each may be there several times: elements of the mesh or, of
///                     KG_HELD_TRACE, trace edges
/// @param[out] out     kg_gathered_free(), also after a failure
kedge_status kg_gather(const kedge_solution *solution, kg_held_field field, int64_t n,
                       const int32_t *number, kg_gathered *out);
void kg_gathered_free(kg_gathered *gathered);
