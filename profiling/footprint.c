#include "footprint.h"

#include <math.h>

#include "solver/need.h"
#include "solver/places.h"

static double stage_bytes(kedge_stage stage, const kg_shape *shape, footprint_form form,
                          double matrix_bytes)
{
  const double bytes = (double)kg_stage_bytes(stage, shape);
  if (form != FOOTPRINT_ASSEMBLED || !kg_array_lives(KG_ARRAY_ELL_VALUE, stage, shape))
    return bytes;
  return bytes + matrix_bytes - (double)kg_rounded(kg_array_bytes(KG_ARRAY_ELL_COLUMN, shape)) -
         (double)kg_rounded(kg_array_bytes(KG_ARRAY_ELL_VALUE, shape));
}

static double peak_bytes(const kg_shape *shape, footprint_form form, double matrix_bytes)
{
  double most = 0.0;
  for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage)
    most = fmax(most, stage_bytes(stage, shape, form, matrix_bytes));
  return most;
}

footprint footprint_of(const kg_shape *given, footprint_form form, double matrix_bytes,
                       double free_bytes)
{
  kg_shape shape = *given;
  shape.choice.loads_stay = false;  // the least that a solve needs
  static const kedge_operator kinds[] = {KEDGE_OPERATOR_MATRIX_FREE,
                                         KEDGE_OPERATOR_MATRIX_FREE_PLAIN, KEDGE_OPERATOR_ELL,
                                         KEDGE_OPERATOR_ELL};
  shape.choice.linear = kinds[form];
  const double peak = peak_bytes(&shape, form, matrix_bytes);
  return (footprint){peak, floor(free_bytes / peak * shape.count.n_elements)};
}
