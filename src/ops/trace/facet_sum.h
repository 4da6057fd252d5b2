/// @file
/// Sums onto the trace: an edge adds what its one or two elements have for its unknowns, the lower
/// side first. Two operators: the right-hand side b from F^e, and the inverse diagonal of A from
/// K^e, which is the Jacobi preconditioner.
#pragma once
#include <math.h>

#include "ops/local/entry.h"
KEDGE_BEGIN_DECLS

typedef struct kg_facet_loads_args {
  kg_batch batch;
  const double *condensed;  ///< [group][n][lane]: F^e of all lanes
  double *b;                ///< out: [free trace edge][mode]
} kg_facet_loads_args;

typedef struct kg_facet_diagonal_args {
  kg_batch batch;
  kg_locals locals;
  double *inverse;  ///< out: [free trace edge][mode]; NaN where the diagonal is not positive
} kg_facet_diagonal_args;

KG_DECLARE_OPERATOR(kg_facet_loads, kg_facet_loads_args);
KG_DECLARE_OPERATOR(kg_facet_diagonal, kg_facet_diagonal_args);
/// The cost of one facet sum: a number a side and mode, sides of edges, and the result.
kg_cost kg_facet_sum_cost(int m, int64_t n_free);

/// A side adds this to b in mode k.
KG_INLINE double kg_facet_load(const kg_facet_loads_args *a, kg_side side, int k)
{
  const int32_t e = kg_side_element(side);
  return a->condensed[kg_facet_row(&a->batch.arrays, a->batch.m, e, kg_side_facet(side), k)];
}

/// A side adds this to the diagonal in mode k.
KG_INLINE double kg_facet_diagonal_entry(const kg_facet_diagonal_args *a, kg_side side, int k)
{
  const kg_local_element element =
      kg_local_element_of(&a->locals, a->batch.m, kg_side_element(side));
  const int l = kg_side_facet(side);
  return kg_local_entry(&element, l, k, l, k);
}

/// Mode k of the edge with these sides.
KG_INLINE double kg_facet_loads_row(const kg_facet_loads_args *a, const kg_side *sides, int k)
{
  const double sum = kg_facet_load(a, sides[0], k);
  return sides[1] != KG_NO_SIDE ? sum + kg_facet_load(a, sides[1], k) : sum;
}

KG_INLINE double kg_facet_diagonal_row(const kg_facet_diagonal_args *a, const kg_side *sides, int k)
{
  double sum = kg_facet_diagonal_entry(a, sides[0], k);
  if (sides[1] != KG_NO_SIDE) sum += kg_facet_diagonal_entry(a, sides[1], k);
  return sum > 0.0 ? 1.0 / sum : (double)NAN;
}

KEDGE_END_DECLS
