/// @file
/// Coefficients that are constant in each element: one material, or a table by region and the place
/// of each element in it, as the fast kernels of triangles take them
/// (ops/local/triangle/element.h) and the operators by quadrature
/// (ops/local/quadrature/coefficients.h).
#pragma once
#include "elliptic/elliptic.h"
KEDGE_BEGIN_DECLS

/// A material of the scaled equation.
/// @param[in] value   diffusion xx, xy, yy, positive definite, and reaction
/// @param[in] length  L of the stabilization n . diffusion n / L; 0: that of the equation
kg_material kg_material_of(const kg_elliptic *p, const double value[4], double length);

void kg_materials_declare(kg_plan *plan, const kg_shape *shape, kg_arrays *arrays);
/// Bring table and places to the device; p->coefficient has them then.
kedge_status kg_materials_put(kg_elliptic *p);
/// The coefficients of groups of a batch, from group `first` on, without values at points.
kg_coefficient kg_materials_from(const kg_elliptic *p, int batch, int32_t first);

KEDGE_END_DECLS
