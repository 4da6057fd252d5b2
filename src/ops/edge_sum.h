/// @file
/// Sum an element quantity onto the trace: y_f = sum of its one or two sides' rows, in a fixed
/// order. Serves the right-hand side (rows of F^e) and the Jacobi diagonal (diagonal entries of
/// K^e).
#pragma once
#include <math.h>

#include "ops/local_entry.h"
KEDGE_BEGIN_DECLS

typedef struct kg_edge_sum_args {
  kg_batch batch;
  const double *rows;  ///< [group][n][lane]; or K^e, packed or reduced
  bool diagonal;  ///< take those on the diagonal of K^e, and store 1 / sum; NaN: it is not positive
  bool reduced;   ///< K^e are (ops/local_reduced.h)
  double *y;      ///< [free trace edge][mode]
} kg_edge_sum_args;

KG_DECLARE_OPERATOR(kg_edge_sum, kg_edge_sum_args);
kg_cost kg_edge_sum_cost(kg_sizes size, int64_t n_free);

/// What a side adds in mode k. Shared by host and GPU.
KG_INLINE double kg_edge_sum_value(const kg_edge_sum_args *args, kg_side side, int k)
{
  const kg_sizes size = args->batch.reference.size;
  const int32_t e = kg_side_element(side);
  const int l = kg_side_facet(side);
  if (args->diagonal) {
    const kg_local local = {args->rows, KG_DOUBLE,
                            args->reduced ? KG_LOCAL_REDUCED : KG_LOCAL_PACKED,
                            args->batch.arrays.side_edge};
    const kg_local_element element = kg_local_element_of(&local, size.n_edge, e);
    return kg_local_entry(&element, l, k, l, k);
  }
  const int64_t row = (int64_t)(e / KG_LANES) * size.n_trace + l * size.n_edge + k;
  return args->rows[row * KG_LANES + e % KG_LANES];
}

/// What is stored of the sum.
KG_INLINE double kg_edge_sum_result(const kg_edge_sum_args *args, double sum)
{
  if (!args->diagonal) return sum;
  return sum > 0.0 ? 1.0 / sum : (double)NAN;
}

KEDGE_END_DECLS
