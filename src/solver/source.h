/// @file
/// The source of the equation as load vectors, of as many groups as are wanted at a time.
#pragma once
#include "solver/sampler.h"

/// All zeros before the first load vectors, when it is compiled. It must not be moved: its sampler
/// points into it.
typedef struct kg_source {
  const kg_function *function;  ///< of kind KG_FUNCTION_NONE: zero
  const char *name;
  char place[KG_PLACE_BYTES];
  kg_sampler sampler;
} kg_source;

/// Load vectors of groups [first, first + count) of a batch, from the pipeline's source.
/// @param[in] values  work: room for values of the source, of one group at least
/// @param[out] load   [group of these][N][lane]
/// @retval KEDGE_ERR_INPUT  a value is not finite
kedge_status kg_source_loads(kg_pipeline *p, int batch, int32_t first, int32_t count,
                             kg_buffer values, double *load);
/// Release host memory that the prediction counts while load vectors are made.
void kg_source_rest(kg_source *source);
void kg_source_close(kg_source *source);
