/// @file
/// Coefficients that are constant in each element: one material, or a table of materials and the
/// index of each element in it. The fast kernels of triangles (ops/local/triangle/element.h) and
/// the operators by quadrature (ops/local/quadrature/coefficients.h) read such tables.
#pragma once
#include "equation/equation.h"
#include "equation/shape.h"
KEDGE_BEGIN_DECLS

/// On the device; NULL: this solve does not have it.
typedef struct kg_material_arrays {
  kg_material *table;        ///< kg_materials.table
  double *values;            ///< kg_cell_material.table
  kg_space_material *space;  ///< kg_space_materials.table, in place of both
  int32_t *index;            ///< [group][lane]: the place of an element in the tables
} kg_material_arrays;

void kg_materials_declare(kg_plan *plan, const kg_shape *shape, kg_material_arrays *arrays);
/// Bring tables and places to the device.
kedge_status kg_materials_put(kedge_context *ctx, const kg_equation *equation,
                              const kg_shape *shape, const kg_material_arrays *arrays);
/// The coefficients of groups of a batch, from group `first` on, without values at points.
kg_coefficient kg_materials_from(const kg_equation *equation, const kg_shape *shape,
                                 const kg_material_arrays *arrays, int batch, int32_t first);

KEDGE_END_DECLS
