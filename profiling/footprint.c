#include "footprint.h"

#include <math.h>

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

footprint footprint_of(const kg_shape *given, footprint_form form, double matrix_bytes,
                       double free_bytes)
{
  kg_shape shape = *given;
  shape.keeps_load = false;  // the least that a solve needs
  static const kedge_operator kinds[] = {KEDGE_OPERATOR_MATRIX_FREE,
                                         KEDGE_OPERATOR_MATRIX_FREE_PLAIN, KEDGE_OPERATOR_ELL,
                                         KEDGE_OPERATOR_ELL};
  shape.operator_kind = kinds[form];
  kg_shape growing = shape;  // without the arrays of a chunk, whose size does not follow the mesh
  growing.chunk_groups = 0;
  footprint out = {0.0, INFINITY};
  for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage) {
    const double all = stage_bytes(stage, &shape, form, matrix_bytes);
    const double grows = stage_bytes(stage, &growing, form, matrix_bytes);
    const double per_element = grows / shape.count.n_elements;
    out.peak_bytes = fmax(out.peak_bytes, all);
    if (grows > 0.0)
      out.largest_elements =
          fmin(out.largest_elements, fmax(0.0, (free_bytes - (all - grows)) / per_element));
  }
  return out;
}
