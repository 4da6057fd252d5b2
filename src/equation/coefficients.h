/// @file
/// Values of varying coefficients at the points of elements that are integrated by quadrature.
#pragma once
#include "equation/equation.h"
#include "equation/evaluation.h"
#include "equation/materials.h"

/// On the device, of a chunk; NULL: coefficients do not vary.
typedef struct kg_coefficient_arrays {
  double *values;     ///< kg_cell_material.values, or kg_space_materials.values
  double *diffusion;  ///< where errors are sampled: [group][tensor][point][lane]
} kg_coefficient_arrays;

/// Varying coefficients and the state of their evaluation. Before the first use all members are
/// zero but `rules`, `equation` and `materials`, which the caller sets. The struct must not be
/// moved afterwards: `all` and `diffusion` hold pointers to its member `functions`.
typedef struct kg_coefficient_values {
  const kg_rules *rules;
  const kg_equation *equation;
  const kg_material_arrays *materials;
  const kg_function *functions[KG_COEFFICIENTS_MAX];  ///< diffusion, reaction
  kg_evaluation all, diffusion;                       ///< of all, of all but the last
  double *staging;                                    ///< values of a chunk on the host, or NULL
} kg_coefficient_values;

void kg_coefficients_declare(kg_plan *plan, const kg_shape *shape, kg_coefficient_arrays *arrays);
void kg_coefficients_close(kg_coefficient_values *values);

/// Return the coefficients for groups [first, first + count) of a batch. Coefficients that vary are
/// evaluated now; constant ones are in tables already.
/// @param[in] to  memory for the values, to which `out` then points: kg_shape_value_functions()
///                times kg_shape_value_points() numbers a lane
/// @retval KEDGE_ERR_INPUT  a value is not finite, the diffusion is not positive definite, or the
///                          reaction is negative; the error message says where
kedge_status kg_coefficients_put(kg_coefficient_values *values, int batch, int32_t first,
                                 int32_t count, double *to, kg_coefficient *out);
/// Evaluate the diffusion tensor in groups [first, first + count) of a batch, at the points where
/// errors are sampled, without corners. Values are multiplied by the scale of the equation.
/// @param[out] to        [group][tensor][point][lane]
/// @param[out] n_points  the number of points of an element
kedge_status kg_coefficients_put_diffusion(kg_coefficient_values *values, int batch, int32_t first,
                                           int32_t count, double *to, int *n_points);
