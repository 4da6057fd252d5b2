/// @file
/// Coefficients of operators by quadrature, and how their values at points lie.
#pragma once
#include "basis/cell_tables.h"
#include "ops/local/triangle/element.h"

/// The equation and its stabilization over a range. Diffusion and reaction are constant, or
/// constant in each element, or have values at the points that kg_cell_value_points() tells.
typedef struct kg_cell_material {
  double diffusion[3];  ///< xx, xy, yy; positive definite
  double reaction;      ///< 0 only where there is none: nothing else of it is read then
  double stabilization;
  kedge_scaling scaling;  ///< of the stabilization with the facet's length
  /// L of the stabilization n . kappa n / L, of which each facet takes the mean over its length;
  /// 0: the number above
  double length;
  /// [group of the range][function][point][lane]: xx, xy, yy, reaction, in place of the constants;
  /// or NULL. The reaction is not read behind the points of the matrices.
  const double *values;
  /// Constants of an element in their place: [material][4], xx, xy, yy, reaction, and the material
  /// by [group of the range][lane]; or NULL.
  const double *table;
  const int32_t *index;
  /// The flux s solves (G^-1 s, v) = (g, v) with the weak gradient g, where else it is the
  /// projection of G g.
  bool exact;
  /// The flux array has g too, the coefficients of the weak gradient in the flux functions, behind
  /// s: q is g, and u* follows it. Not with `exact`.
  bool keeps_gradient;
  double even;  ///< a number with this part of the trace is added to the diffusion of points; or 0
} kg_cell_material;

/// Rows of the flux array: s, or s and g.
KG_INLINE int kg_cell_flux_rows(int n_flux, bool keeps_gradient)
{
  return keeps_gradient ? 2 * n_flux : n_flux;
}

enum { KG_CELL_FUNCTIONS = 4 };  ///< of `values`

/// Points of `values`: those of the matrices; where the stabilization follows the diffusion also
/// those of the facets, which are kg_cell_points_and_facets() then.
KG_INLINE int kg_cell_value_points(const kg_cell_tables *t, const kg_cell_material *material)
{
  return t->points.n + (material->length > 0.0 ? t->size.n_facets * t->rows : 0);
}

/// The place of a row of an element in an array [group][rows][lane].
KG_INLINE int64_t kg_cell_at(int32_t e, int rows, int row)
{
  return ((int64_t)(e / KG_LANES) * rows + row) * KG_LANES + e % KG_LANES;
}

/// Diffusion and reaction of an element that are constant there: xx, xy, yy.
KG_INLINE const double *kg_cell_constant_diffusion(const kg_cell_material *material, int32_t e)
{
  return material->index ? material->table + 4 * (int64_t)material->index[e] : material->diffusion;
}
KG_INLINE double kg_cell_constant_reaction(const kg_cell_material *material, int32_t e)
{
  return material->index ? material->table[4 * (int64_t)material->index[e] + 3]
                         : material->reaction;
}

/// Diffusion at points of an element.
typedef struct kg_cell_diffusion {
  const double *constant;  ///< xx, xy, yy; read where there are no values
  const double *values;    ///< component c at point q is values[(c * points + q) * stride]; or NULL
  int points, stride;
} kg_cell_diffusion;

KG_INLINE kg_cell_diffusion kg_cell_diffusion_of(const kg_cell_tables *t,
                                                 const kg_cell_material *material, int32_t e)
{
  const int points = kg_cell_value_points(t, material);
  const kg_cell_diffusion out = {
      kg_cell_constant_diffusion(material, e),
      material->values ? material->values + kg_cell_at(e, KG_CELL_FUNCTIONS * points, 0) : NULL,
      points, KG_LANES};
  return out;
}

KG_INLINE void kg_cell_diffusion_at(const kg_cell_diffusion *d, int q, double kappa[3])
{
  for (int c = 0; c < 3; ++c)
    kappa[c] = d->values ? d->values[(int64_t)(c * d->points + q) * d->stride] : d->constant[c];
}

/// The reaction at point q of the rule of the local matrices.
KG_INLINE double kg_cell_reaction_at(const kg_cell_tables *t, const kg_cell_material *material,
                                     int32_t e, int q)
{
  const int points = kg_cell_value_points(t, material);
  return material->values ? material->values[kg_cell_at(e, KG_CELL_FUNCTIONS * points,
                                                        (KG_CELL_FUNCTIONS - 1) * points + q)]
                          : kg_cell_constant_reaction(material, e);
}
