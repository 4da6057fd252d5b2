/// @file
/// Sums of a few vectors with factors: what a step in time makes of its stages.
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

enum { KG_COMBINED_MAX = 8 };  ///< vectors

typedef struct kg_combine_args {
  int64_t n;
  int n_terms;
  const double *from[KG_COMBINED_MAX];  ///< [n] each
  double factor[KG_COMBINED_MAX];
  double *to;  ///< [n]; it may be one of them
} kg_combine_args;

/// to = factor_0 from_0 + factor_1 from_1 + ..., in this order.
KG_DECLARE_OPERATOR(kg_combine, kg_combine_args);
kg_cost kg_combine_cost(const kg_combine_args *args);

KG_INLINE void kg_combine_one(const kg_combine_args *a, int64_t i)
{
  double sum = 0.0;
  for (int k = 0; k < a->n_terms; ++k) sum += a->factor[k] * a->from[k][i];
  a->to[i] = sum;
}

KEDGE_END_DECLS
