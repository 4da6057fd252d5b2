/// @file
/// The table of materials of elements whose coefficients lie in device memory, in the caller's
/// order, and where in it that of a lane is.
#pragma once
#include "ops/local/triangle/element.h"
#include "ops/ops.h"
#include "problem/elements.h"
KEDGE_BEGIN_DECLS

/// What all materials of an equation share.
typedef struct kg_material_rule {
  double scale;  ///< of the equation
  double stabilization;
  kedge_scaling scaling;
  double length;  ///< L of the stabilization n . diffusion n / L; 0: `stabilization`
} kg_material_rule;

/// The tensor `k` is diffusion C C^T (kg_material). The determinant loses no digit by cancellation.
KG_INLINE void kg_material_set_tensor(const double k[3], kg_material *out)
{
  const double square = k[1] * k[1], lost = fma(-k[1], k[1], square);
  const double determinant = fma(k[0], k[2], -square) + lost;
  out->is_tensor = true;
  out->diffusion = sqrt(fmax(determinant, DBL_MIN));
  out->root[2] = sqrt(k[2] / out->diffusion);
  out->root[1] = k[1] / out->diffusion / out->root[2];
  out->root[0] = 1.0 / out->root[2];
}

/// A material of the scaled equation. @param[in] value  diffusion xx, xy, yy, and reaction
KG_INLINE kg_material kg_material_by(const kg_material_rule *rule, const double value[4])
{
  const double k[3] = {rule->scale * value[0], rule->scale * value[1], rule->scale * value[2]};
  kg_material out;
  out.diffusion = k[0];
  out.reaction = rule->scale * value[3];
  out.stabilization = rule->stabilization;
  out.scaling = rule->scaling;
  out.is_tensor = out.by_normal = false;
  out.root[0] = out.root[2] = 1.0;
  out.root[1] = 0.0;
  if (k[1] != 0.0 || k[0] != k[2]) kg_material_set_tensor(k, &out);
  if (!(rule->length > 0.0)) return out;
  out.stabilization = out.diffusion / rule->length;
  out.by_normal = out.is_tensor;
  return out;
}

/// Lanes of a batch.
typedef struct kg_element_materials_args {
  int64_t n_lanes, n_elements;  ///< lanes behind the elements repeat the last one
  int32_t first_element;        ///< of the batch: elements have their places in the table
  kg_element_coefficients from;
  kg_material_rule rule;
  int32_t *index;      ///< [lane]: in, the caller's number of its element; out, the place
  kg_material *table;  ///< [element of the mesh], or NULL
  double *values;      ///< [element of the mesh][4]: of the scaled equation
} kg_element_materials_args;

KG_DECLARE_OPERATOR(kg_element_materials, kg_element_materials_args);

KG_INLINE void kg_element_material(const kg_element_materials_args *a, int64_t lane)
{
  const int64_t e = a->first_element + (lane < a->n_elements ? lane : a->n_elements - 1);
  if (lane < a->n_elements) {
    double value[KG_COEFFICIENTS_MAX];
    kg_coefficients_of(&a->from, a->index[lane], value);
    if (a->table) a->table[e] = kg_material_by(&a->rule, value);
    for (int k = 0; k < 4; ++k) a->values[4 * e + k] = a->rule.scale * value[k];
  }
  a->index[lane] = (int32_t)e;
}

KEDGE_END_DECLS
