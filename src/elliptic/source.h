/// @file
/// The source of the equation as load vectors: by the rule of elliptic/sampler.h, by a rule that
/// the problem asks for ([equation] quadrature), or, of elements whose loads move with more points,
/// by parts (integrals/refined.h).
#pragma once
#include "integrals/refined.h"
#include "elliptic/sampler.h"

/// All zeros before the first ones, when it is compiled. It must not be moved: its sampler points
/// into it.
typedef struct kg_source {
  const kg_function *function;  ///< of kind KG_FUNCTION_NONE: zero
  const char *name;
  char place[KG_PLACE_BYTES];
  kg_sampler sampler;
  kg_refined refined;  ///< elements that have loads by parts
} kg_source;

/// Whether loads have to be looked at before they are used: between begin and end, those of all
/// elements are made, once.
bool kg_source_moves(kg_elliptic *p);
void kg_source_look(kg_elliptic *p);
/// Integrate by parts where loads are rough. Those of kg_source_loads() have it from here on.
kedge_status kg_source_refine(kg_elliptic *p);
/// See whether the rule that the problem asks for, if it does, has points enough.
kedge_status kg_source_judge(kg_elliptic *p);
/// Load vectors of groups [first, first + count) of a batch, from the pipeline's source.
/// @param[in] values  work: room for values of the source, of one group at least
/// @param[out] load   [group of these][N][lane]
/// @retval KEDGE_ERR_INPUT  a value is not finite
kedge_status kg_source_loads(kg_elliptic *p, int batch, int32_t first, int32_t count,
                             kg_buffer values, double *load);
/// Put those that were integrated by parts in the places of others.
kedge_status kg_source_patch(kg_elliptic *p, int batch, int32_t first, int32_t count, double *load);
/// Release host memory that the prediction counts while load vectors are made.
void kg_source_rest(kg_source *source);
void kg_source_close(kg_source *source);
