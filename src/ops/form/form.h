/// @file
/// Forms: what an equation makes of each element. A form takes a range of elements of one shape and
/// gives their local matrices, and later their solution; which kernels do that, by shape, nobody
/// above knows.
#pragma once
#include "ops/local/triangle/element.h"
#include "ops/local/local.h"
#include "ops/local/quadrature/elements.h"
#include "ops/local/tetrahedron/tetrahedra.h"
KEDGE_BEGIN_DECLS

/// A range of whole groups of elements of one shape and order. All arrays of the range, here and in
/// the arguments of a form, begin at its first group. Owns nothing.
typedef struct kg_elements {
  const kg_cell *cell;
  kg_cell_sizes size;
  int32_t n_elements;
  bool by_quadrature;  ///< else straight triangles with constant coefficients, or tetrahedra
  /// Elements by quadrature that need none for matrices and solutions: parallelograms with the
  /// adjusted flux and coefficients that are constant in each element.
  bool are_parallelograms;
  kg_batch batch;            ///< of straight triangles
  kg_cells cells;            ///< of elements by quadrature
  kg_tetrahedra tetrahedra;  ///< where the cell is the tetrahedron
} kg_elements;

/// Groups that have an element.
KG_INLINE int32_t kg_elements_groups(const kg_elements *elements)
{
  return (elements->n_elements + KG_LANES - 1) / KG_LANES;
}
/// [group][facet][lane]: trace facet << 1 | reversed.
KG_INLINE const uint32_t *kg_elements_sides(const kg_elements *elements)
{
  if (elements->size.dimension == 3) return elements->tetrahedra.side_edge;
  return elements->by_quadrature ? elements->cells.side_edge : elements->batch.arrays.side_edge;
}
/// Groups first_group, first_group + 1, ... of a range, of those that have an element: n_groups or
/// as many as there are, as a range of its own.
kg_elements kg_elements_part(const kg_elements *elements, int32_t first_group, int32_t n_groups);

/// The coefficients of a range of elements, as its operators take them.
typedef struct kg_coefficient {
  kg_materials constant;     ///< of the kernels of triangles
  kg_space_materials space;  ///< of those of tetrahedra
  kg_cell_material cells;    ///< of operators by quadrature
} kg_coefficient;

typedef struct kg_form {
  bool symmetric;  ///< K^e
  bool reduces;    ///< makes REDUCED K^e of triangles where nothing reacts
  /// K^e, PACKED or as the batch allows it, and F^e from the load vectors.
  /// @param[in]  load       [group][N][lane]: (f, phi_i)
  /// @param[in]  local      where K^e go, in double precision; 0 in empty lanes
  /// @param[out] condensed  [group][n][lane]; 0 in empty lanes
  kedge_status (*make)(kedge_context *ctx, const kg_elements *elements,
                       const kg_coefficient *coefficient, const double *load, kg_local local,
                       double *condensed);
  /// The solution of the elements from that of the trace.
  /// @param[in]  trace  [trace facet][mode]
  /// @param[out] u      [group][N][lane]
  /// @param[out] flux   [group][S][lane]: of triangles q_x, then q_y, in the modes of u, of
  ///                    tetrahedra also q_z; of elements by quadrature the coefficients of sigma
  ///                    (ops/local/quadrature/recover.h)
  kedge_status (*recover)(kedge_context *ctx, const kg_elements *elements,
                          const kg_coefficient *coefficient, const double *load,
                          const double *trace, double *u, double *flux);
  /// Its u alone. @param[out] work  as long as `flux`: holds anything
  kedge_status (*modes)(kedge_context *ctx, const kg_elements *elements,
                        const kg_coefficient *coefficient, const double *load, const double *trace,
                        double *u, double *work);
  /// The solution of an order more from both.
  /// @param[out] u_star     [group][N*][lane]
  /// @param[out] indicator  [group][lane]: ||u* - u|| of the element
  kedge_status (*postprocess)(kedge_context *ctx, const kg_elements *elements,
                              const kg_coefficient *coefficient, const double *u,
                              const double *flux, double *u_star, double *indicator);
  /// Means over the elements.
  /// @param[out] constant  [group][means][lane]: coefficients of the constant mode of functions
  ///                       that have the means of u, q_x and q_y, and no other mode: 3; of
  ///                       elements by quadrature also of sigma_x and sigma_y (KG_CELL_MEANS), of
  ///                       tetrahedra of q_z, and of sigma (kg_tetrahedron_means_count())
  kedge_status (*means)(kedge_context *ctx, const kg_elements *elements,
                        const kg_coefficient *coefficient, const double *u, const double *flux,
                        double *constant);
  kg_cost (*make_cost)(const kg_elements *elements, kg_layout layout);
  kg_cost (*recover_cost)(const kg_elements *elements);
  kg_cost (*postprocess_cost)(const kg_elements *elements);
  kg_cost (*means_cost)(const kg_elements *elements);
} kg_form;

/// -div (diffusion grad u) + reaction u = f (docs/math.md).
extern const kg_form kg_form_elliptic;

KEDGE_END_DECLS
