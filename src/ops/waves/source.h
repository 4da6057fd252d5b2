/// @file
/// What drives waves, of the elements that have a source s: behind the stage (ops/waves/stage.h)
///
///   residual += step factor s,   next += after step factor s
///
/// at every node of the first n_sources fields. The stage knows nothing of it.
#pragma once
#include "ops/waves/stage.h"
KEDGE_BEGIN_DECLS

typedef struct kg_wave_source_args {
  kg_wave_args stage;  ///< as it was for the stage
  int32_t n;           ///< elements with a source
  int n_sources;
  const int32_t *element;  ///< [n]
  const kg_real *factor;   ///< [n]: of the medium of each
  const kg_real *data;     ///< [n][n_sources][node]
} kg_wave_source_args;

KG_DECLARE_OPERATOR_OF_NUMBERS(kg_wave_source, kg_wave_source_args);
kg_cost kg_wave_source_cost(const kg_wave_source_args *args);

/// Number i of the data, [n][n_sources][node].
KG_INLINE void kg_wave_add_source(const kg_wave_source_args *a, int64_t i)
{
  const kg_wave_args *const s = &a->stage;
  const int node = (int)(i % s->n), field = (int)(i / s->n % a->n_sources);
  const int64_t which = i / ((int64_t)s->n * a->n_sources);
  const int32_t element = a->element[which];
  const kg_real more = (kg_real)s->step * (a->factor[which] * a->data[i]);
  s->residual[kg_wave_residual_place(s, element, field, node)] += more;
  s->next[kg_wave_place(s, element, field, node)] += (kg_real)s->after * more;
}

KEDGE_END_DECLS
