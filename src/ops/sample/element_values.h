/// @file
/// Values at points of a function that is constant in each element, from an array in the caller's
/// order of elements.
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_element_values_args {
  int64_t n_elements;     ///< from the first on: lanes behind them repeat the last one
  int64_t n_groups;       ///< from that of the first element on
  int n_points;           ///< of an element
  const int32_t *origin;  ///< [element]: its number in the caller's order
  const double *from;     ///< [element of the caller]
  double *values;         ///< [group][point][lane]
} kg_element_values_args;

KG_DECLARE_OPERATOR(kg_element_values, kg_element_values_args);

KG_INLINE void kg_element_value(const kg_element_values_args *a, int64_t i)
{
  const int64_t e = i / ((int64_t)a->n_points * KG_LANES) * KG_LANES + i % KG_LANES;
  a->values[i] = a->from[a->origin[e < a->n_elements ? e : a->n_elements - 1]];
}

static inline int64_t kg_element_values_count(const kg_element_values_args *a)
{
  return a->n_groups * a->n_points * KG_LANES;
}

KEDGE_END_DECLS
