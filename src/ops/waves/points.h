/// @file
/// Fields of a state of waves at points of elements:
///
///   value[p][f] = sum_j row[p][j] u[element[p]][f][j]
#pragma once
#include "ops/waves/stage.h"
KEDGE_BEGIN_DECLS

typedef struct kg_wave_points_args {
  kg_wave_args state;  ///< of which u and its layout are read
  int64_t n;
  const int32_t *element;  ///< [n]
  const double *row;       ///< [n][nodes of an element]
  double *value;           ///< [n][field]
} kg_wave_points_args;

KG_DECLARE_OPERATOR_OF_NUMBERS(kg_wave_points, kg_wave_points_args);

/// Number i of the values.
KG_INLINE void kg_wave_point(const kg_wave_points_args *a, int64_t i)
{
  const kg_wave_args *const s = &a->state;
  const int64_t point = i / s->n_fields;
  const double *const row = a->row + point * s->n;
  double sum = 0.0;
  for (int j = 0; j < s->n; ++j)
    sum += row[j] * (double)s->u[kg_wave_place(s, a->element[point], (int)(i % s->n_fields), j)];
  a->value[i] = sum;
}

KEDGE_END_DECLS
