/// @file
/// The source of the equation as load vectors: by the rule of equation/sampler.h, by a rule that
/// the problem asks for ([equation] quadrature), or, of elements whose loads move with more points,
/// by parts (integrals/refined.h).
#pragma once
#include "diagnose/diagnose.h"
#include "equation/sampler.h"
#include "integrals/refined.h"

typedef struct kg_source_arrays {
  uint8_t *rough;  ///< [lane]: of loads
  double *values;  ///< of a chunk: [group][point of the rule][lane]; or NULL
} kg_source_arrays;

/// All zeros but for what it borrows until it is opened. It must not be moved: its sampler points
/// into it.
typedef struct kg_source {
  kg_coefficient_values *coefficients;
  const kg_source_arrays *arrays;
  const kg_resolved *resolved;  ///< whose source it is
  const kg_function *function;  ///< of kind KG_FUNCTION_NONE: zero
  const char *name;
  char place[KG_PLACE_BYTES];
  kg_sampler sampler;  ///< its host memory counts in predictions while load vectors are made
  kg_refined refined;  ///< elements that have loads by parts
} kg_source;

void kg_source_declare(kg_plan *plan, const kg_shape *shape, kg_source_arrays *arrays);
/// Take the source of a solve, unless that was done. Nothing is compiled yet.
/// @param[in] is_given  the caller of the solve gives it, not the problem
/// @param[in] origin    [element] on the device: it is an array there; or NULL
void kg_source_open(kg_source *source, const kg_resolved *resolved, bool is_given,
                    const int32_t *origin);
/// What is borrowed stays.
void kg_source_close(kg_source *source);

/// Whether loads have to be looked at before they are used: between kg_source_look() and
/// kg_source_refine(), those of all elements are made, once.
bool kg_source_moves(const kg_source *source);
void kg_source_look(kg_source *source);
/// Integrate by parts where loads are rough. Those of kg_source_loads() have it from here on.
/// @param[in,out] left  what is left of the source, for findings
kedge_status kg_source_refine(kg_source *source, kg_loads_left *left);
/// See whether the rule that the problem asks for, if it does, has points enough.
kedge_status kg_source_judge(const kg_source *source, kg_loads_left *left);
/// Load vectors of groups [first, first + count) of a batch.
/// @param[in] values  work: room for values of the source, of one group at least
/// @param[out] load   [group of these][N][lane]
/// @retval KEDGE_ERR_INPUT  a value is not finite
kedge_status kg_source_loads(kg_source *source, int batch, int32_t first, int32_t count,
                             kg_buffer values, double *load);
/// Put those that were integrated by parts in the places of others.
kedge_status kg_source_patch(const kg_source *source, int batch, int32_t first, int32_t count,
                             double *load);
