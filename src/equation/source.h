/// @file
/// The source of the equation as load vectors. They are integrated by the rule of
/// equation/sampler.h or by one that the problem sets ([equation] quadrature). Where they change
/// with more points, the elements are cut into parts and integrated again (integrals/refined.h).
#pragma once
#include "diagnose/diagnose.h"
#include "equation/sampler.h"
#include "integrals/refined.h"

typedef struct kg_source_arrays {
  uint8_t *rough;  ///< [lane]: of loads
  double *values;  ///< of a chunk: [group][point of the rule][lane]; or NULL
} kg_source_arrays;

/// The source of a solve. Before kg_source_open() all members are zero but the borrowed
/// `coefficients` and `arrays`. The struct must not be moved afterwards: its sampler holds pointers
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
/// Set the source function of a solve, unless it is set. Nothing is compiled yet.
/// @param[in] is_given  the source is given by the caller of the solve, not by the problem
/// @param[in] origin    NULL, or: the source is an array on the device, and origin[element], on the
///                      device too, is the index of an element in it
void kg_source_open(kg_source *source, const kg_resolved *resolved, bool is_given,
                    const int32_t *origin);
/// Free what the source owns; the borrowed pointers stay set.
void kg_source_close(kg_source *source);

/// Return whether the source must be checked for load vectors that change with more quadrature
/// points. If so, compute the load vectors of all elements once, between kg_source_look() and
/// kg_source_refine(), before they are used.
bool kg_source_moves(const kg_source *source);
void kg_source_look(kg_source *source);
/// Integrate the source by parts of elements where its load vectors have been found rough. From now
/// on kg_source_loads() returns these load vectors.
/// @param[in,out] left  the remaining errors of the integrals, which findings in the report use
kedge_status kg_source_refine(kg_source *source, kg_loads_left *left);
/// Check whether the quadrature rule that the problem sets, if it does, has enough points.
kedge_status kg_source_judge(const kg_source *source, kg_loads_left *left);
/// Compute the load vectors of groups [first, first + count) of a batch.
/// @param[in] values  work memory for values of the source, at least for one group
/// @param[out] load   [group][N][lane]
/// @retval KEDGE_ERR_INPUT  a value of the source is not finite
kedge_status kg_source_loads(kg_source *source, int batch, int32_t first, int32_t count,
                             kg_buffer values, double *load);
/// Replace the load vectors of elements whose source was integrated by parts.
kedge_status kg_source_patch(const kg_source *source, int batch, int32_t first, int32_t count,
                             double *load);
