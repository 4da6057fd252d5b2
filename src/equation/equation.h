/// @file
/// The equation on a mesh: its coefficients, scale and stabilization, and the form that makes its
/// local matrices. What of it a caller may give anew for each solve is not read here.
#pragma once
#include "ops/form/form.h"
#include "ops/local/quadrature/strength.h"
#include "ops/local/triangle/element_materials.h"
#include "problem/problem.h"

/// Const once it is made.
typedef struct kg_equation {
  const kedge_problem *problem;
  const kedge_mesh *mesh;
  kg_resolved resolved;
  const kg_form *form;
  /// The equation is multiplied by a power of four that brings its numbers near 1
  /// (docs/math.md#units): diffusion, reaction and stabilization here, right-hand sides by `scale`.
  kg_material material;        ///< of the most diffusion and reaction that is met
  kg_coefficient coefficient;  ///< without tables by element and values at points
  double scale;
  kg_strength strength[KG_CELL_KINDS];  ///< of a tensor, of elements by quadrature; else zeros
} kg_equation;

/// Resolve the problem of an equation on a mesh, and scale it.
/// @param[in,out] equation  has its problem; kg_resolved_free() it, also after a failure
/// @retval KEDGE_ERR_INPUT  kg_problem_resolve(), kg_fields_check()
kedge_status kg_equation_make(kedge_context *ctx, const kedge_mesh *mesh, kg_equation *equation);

/// How the mass matrix of the flux is inverted on the elements of a shape, also for
/// `inverse = auto` (docs/math.md#strong-tensors). @param[in] is_affine  so are all quadrilaterals
int kg_equation_inverse(const kg_equation *equation, const kg_cell *cell, bool is_affine);

/// What all materials share. @param[in] length  L of the stabilization n . diffusion n / L; 0: that
/// of the equation
kg_material_rule kg_equation_rule(const kg_equation *equation, double length);

/// L of the stabilization diffusion / L; 0: the problem gives a stabilization without one.
double kg_stabilization_length(const kg_equation *equation);

/// h^2: a square of two triangles of mean area.
static inline double kg_mean_square(const kedge_mesh *mesh)
{
  return 2.0 * mesh->info.area / (double)mesh->n_elements;
}
