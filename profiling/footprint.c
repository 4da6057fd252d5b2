#include "footprint.h"

#include <math.h>

/// Arrays that a form does without, up to two.
static int replaced_arrays(footprint_form form, kg_array out[2])
{
  switch (form) {
    case FOOTPRINT_LOCAL:
      return out[0] = KG_ARRAY_LOCAL, 1;
    case FOOTPRINT_ASSEMBLED:
      return out[0] = KG_ARRAY_ELL_COLUMN, out[1] = KG_ARRAY_ELL_VALUE, 2;
    default:
      return 0;
  }
}

static double stage_bytes(kedge_stage stage, const kg_shape *shape, footprint_form form,
                          double matrix_bytes)
{
  kg_array replaced[2];
  const int n = replaced_arrays(form, replaced);
  double bytes = (double)kg_stage_bytes(stage, shape);
  if (n == 0 || !kg_array_lives(replaced[0], stage, shape)) return bytes;
  for (int i = 0; i < n; ++i) bytes -= (double)kg_rounded(kg_array_bytes(replaced[i], shape));
  return bytes + matrix_bytes;
}

footprint footprint_of(const kg_shape *given, footprint_form form, double matrix_bytes,
                       double free_bytes)
{
  kg_shape shape = *given;
  shape.keeps_load = false;  // the least that a solve needs
  shape.operator_kind = form == FOOTPRINT_ELL || form == FOOTPRINT_ASSEMBLED
                            ? KEDGE_OPERATOR_ELL
                            : KEDGE_OPERATOR_MATRIX_FREE;
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
