/// @file
/// The equation on a mesh: its coefficients, scale and stabilization, and the form that computes
/// its local matrices. Source and boundary values, which may be new in each solve, are not read.
#pragma once
#include <math.h>

#include "ops/form/form.h"
#include "ops/local/quadrature/strength.h"
#include "ops/local/tetrahedron/space_materials.h"
#include "problem/problem.h"

/// Const once it is made.
typedef struct kg_equation {
  const kedge_problem *problem;
  const kedge_mesh *mesh;
  kg_resolved resolved;
  const kg_form *form;
  /// The solver multiplies the equation by `scale`, a power of four that brings its numbers near 1
  /// (docs/math.md#units). The coefficients below are scaled already; right-hand sides are not.
  kg_material material;        ///< of the most diffusion and reaction that is met
  kg_coefficient coefficient;  ///< without tables by element and values at points
  double scale;
  kg_strength strength[KG_CELL_KINDS];  ///< of a tensor, of elements by quadrature; else zeros
} kg_equation;

/// Resolve the problem of an equation on a mesh, and choose the scale.
/// @param[in,out] equation  `problem` is set by the caller, who also calls kg_resolved_free() on
///                          `resolved`, even after a failure
/// @retval KEDGE_ERR_INPUT  kg_problem_resolve() or kg_fields_check() has failed
kedge_status kg_equation_make(kedge_context *ctx, const kedge_mesh *mesh, kg_equation *equation);

/// Return how the mass matrix of the flux is inverted on elements of a shape: KG_INVERSE_ADJUSTED,
/// KG_INVERSE_EXACT or KG_INVERSE_GRADIENT. For `inverse = auto` the choice is made here
/// (docs/math.md#strong-tensors).
/// @param[in] is_affine  all quadrilaterals of the mesh are parallelograms
int kg_equation_inverse(const kg_equation *equation, const kg_cell *cell, bool is_affine);

/// Return the parameters that are the same for all materials.
/// @param[in] length  L of the stabilization n . diffusion n / L; 0: the equation's stabilization
kg_material_rule kg_equation_rule(const kg_equation *equation, double length);

/// L of the stabilization diffusion / L; 0: the problem gives a stabilization without one.
double kg_stabilization_length(const kg_equation *equation);

/// h^2: a square of two triangles of mean area, or a face of a cube of six tetrahedra of mean
/// volume.
static inline double kg_mean_square(const kedge_mesh *mesh)
{
  if (kg_mesh_in_space(mesh))
    return pow(6.0 * mesh->info.area / (double)mesh->n_elements, 2.0 / 3.0);
  return 2.0 * mesh->info.area / (double)mesh->n_elements;
}
