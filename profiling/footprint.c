#include "elliptic/stages.h"
#include "footprint.h"

#include <math.h>

#include "ops/assembled/ell.h"
#include "elliptic/memory.h"

/// Bytes of a solve with another matrix in place of ELL.
static double assembled_bytes(const kg_shape *shape, double matrix_bytes)
{
  const kg_ell_matrix matrix = kg_ell_shape(shape->m, &shape->count);
  const double n = (double)matrix.width * (double)matrix.stride;
  const double ell = n * (double)(sizeof *matrix.column + sizeof *matrix.value);
  kg_plan plan;
  kg_arrays arrays;
  double most = 0.0;
  kg_memory_plan(shape, &plan, &arrays);
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage) {
    const bool lives = stage == KG_STAGE_ASSEMBLY || stage == KG_STAGE_TRACE_SOLVE;
    const double bytes = (double)kg_stage_bytes(&plan, stage);
    most = fmax(most, lives ? bytes + matrix_bytes - ell : bytes);
  }
  return most;
}

footprint footprint_of(const kg_shape *given, bool reduces, footprint_form form,
                       double matrix_bytes, double free_bytes)
{
  static const kedge_operator kinds[] = {KEDGE_OPERATOR_MATRIX_FREE,
                                         KEDGE_OPERATOR_MATRIX_FREE_PLAIN, KEDGE_OPERATOR_ELL,
                                         KEDGE_OPERATOR_ELL};
  kg_shape shape = *given;
  shape.choice.loads_stay = false;  // the least that a solve needs
  shape.choice.apart = false;
  shape.choice.linear = kinds[form];
  shape.choice.layout =
      reduces && form == FOOTPRINT_MATRIX_FREE ? KG_LAYOUT_REDUCED : KG_LAYOUT_PACKED;
  const double peak = form == FOOTPRINT_ASSEMBLED ? assembled_bytes(&shape, matrix_bytes)
                                                  : (double)kg_peak_bytes(&shape);
  return (footprint){peak, floor(free_bytes / peak * shape.count.n_elements)};
}
