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

/// A field at points of every element, of which there are two sets: value[to][q] = sum_j
/// row[set][q][j] u[element][field][j].
typedef struct kg_wave_nodes_args {
  kg_wave_args state;
  int32_t n_elements;
  int n_points, field;
  const double *row;  ///< [set][n_points][nodes of an element]
  const int32_t *to;  ///< [element]: its place among the values << 1 | its set
  double *value;      ///< [n_elements][n_points]
} kg_wave_nodes_args;

KG_DECLARE_OPERATOR_OF_NUMBERS(kg_wave_nodes, kg_wave_nodes_args);

/// Number i, in the order of the state.
KG_INLINE void kg_wave_node(const kg_wave_nodes_args *a, int64_t i)
{
  const kg_wave_args *const s = &a->state;
  const int32_t element = (int32_t)(i / a->n_points), to = a->to[element];
  const int q = (int)(i % a->n_points);
  const double *const row = a->row + ((to & 1) * a->n_points + q) * s->n;
  double sum = 0.0;
  for (int j = 0; j < s->n; ++j)
    sum += row[j] * (double)s->u[kg_wave_place(s, element, a->field, j)];
  a->value[(int64_t)(to >> 1) * a->n_points + q] = sum;
}

KEDGE_END_DECLS
