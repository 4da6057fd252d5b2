/// @file
/// The table of materials of tetrahedra whose coefficients lie in device memory, as
/// kg_element_materials() makes that of triangles.
#pragma once
#include "ops/local/tetrahedron/tetrahedra.h"
#include "ops/local/triangle/element_materials.h"
KEDGE_BEGIN_DECLS

/// A material of the scaled equation. @param[in] value  diffusion, and reaction
KG_INLINE kg_space_material kg_space_material_by(const kg_material_rule *rule,
                                                 const double value[KG_COEFFICIENTS_MAX])
{
  kg_space_material out;
  for (int k = 0; k < KG_SPACE_PAIRS; ++k) out.diffusion[k] = rule->scale * value[k];
  out.reaction = rule->scale * value[KG_TENSOR_MAX];
  out.stabilization = rule->stabilization;
  out.scaling = rule->scaling;
  out.by_normal = rule->length > 0.0 && !kg_is_number(3, value);
  if (rule->length > 0.0)
    out.stabilization = (out.by_normal ? 1.0 : out.diffusion[0]) / rule->length;
  return out;
}

/// Lanes of a batch.
typedef struct kg_space_table_args {
  int64_t n_lanes, n_elements;  ///< lanes behind the elements repeat the last one
  int32_t first_element;        ///< of the batch: elements have their places in the table
  kg_element_coefficients from;
  kg_material_rule rule;
  int32_t *index;            ///< [lane]: in, the caller's number of its element; out, the place
  kg_space_material *table;  ///< [element of the mesh]
} kg_space_table_args;

KG_DECLARE_OPERATOR(kg_space_table, kg_space_table_args);

KG_INLINE void kg_space_table_put(const kg_space_table_args *a, int64_t lane)
{
  const int64_t e = a->first_element + (lane < a->n_elements ? lane : a->n_elements - 1);
  if (lane < a->n_elements) {
    double value[KG_COEFFICIENTS_MAX];
    kg_coefficients_of(&a->from, a->index[lane], value);
    a->table[e] = kg_space_material_by(&a->rule, value);
  }
  a->index[lane] = (int32_t)e;
}

KEDGE_END_DECLS
