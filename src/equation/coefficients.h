/// @file
/// Coefficients that vary, at the points of elements that are integrated by quadrature.
#pragma once
#include "equation/equation.h"
#include "equation/evaluation.h"
#include "equation/materials.h"

/// On the device, of a chunk; NULL: coefficients do not vary.
typedef struct kg_coefficient_arrays {
  double *values;     ///< kg_cell_material.values
  double *diffusion;  ///< where errors are sampled: [group][3][point][lane]
} kg_coefficient_arrays;

/// All zeros before the first values, but for what it borrows. It must not be moved: the
/// evaluations point into it.
typedef struct kg_coefficient_values {
  const kg_rules *rules;
  const kg_equation *equation;
  const kg_material_arrays *materials;
  const kg_function *functions[4];  ///< diffusion xx, xy, yy; reaction
  kg_evaluation all, diffusion;     ///< of all four, of the first three
  double *staging;                  ///< values of a chunk on the host, or NULL
} kg_coefficient_values;

void kg_coefficients_declare(kg_plan *plan, const kg_shape *shape, kg_coefficient_arrays *arrays);
void kg_coefficients_close(kg_coefficient_values *values);

/// The coefficients of groups [first, first + count) of a batch: where they vary, their values are
/// made now.
/// @param[in] to  room for them, which `out` then points into: KG_CELL_FUNCTIONS times
///                kg_shape_value_points() a lane
/// @retval KEDGE_ERR_INPUT  a value that is not finite, diffusion that is not positive definite, a
///         reaction that is negative: the sentence says where
kedge_status kg_coefficients_put(kg_coefficient_values *values, int batch, int32_t first,
                                 int32_t count, double *to, kg_coefficient *out);
/// Likewise diffusion alone, where errors are sampled, but for corners.
/// @param[out] to        [group of these][3][point][lane]
/// @param[out] n_points  of an element
kedge_status kg_coefficients_put_diffusion(kg_coefficient_values *values, int batch, int32_t first,
                                           int32_t count, double *to, int *n_points);
