/// @file
/// Integrals of a function times the modes of elements, by parts: load vectors, but for the scale.
#pragma once
#include "basis/cell.h"
#include "basis/quadrature.h"
#include "expression/function.h"
#include "integrals/refined.h"
#include "mesh/mesh.h"
#include "problem/problem.h"

/// The rule of a shape. @param rows  points a direction
typedef struct kg_part_rule {
  const kg_cell *cell;  ///< NULL: the mesh has none
  int rows, n_modes;
  int n;                     ///< points
  double *at[3], *weight;    ///< [n]: r, s, in space t
  double *top, *top_of_row;  ///< [rows]: kg_roughness_top()
  double *top_of_layer;      ///< [rows]: likewise, in space
} kg_part_rule;

/// Integrals of an element, at most.
enum { KG_INTEGRALS_MAX = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1) };

typedef struct kg_element_integrals {
  const kedge_mesh *mesh;
  const kg_function *function;  ///< brought to the host
  int order;
  kg_part_rule rule[KG_CELL_KINDS];
  /// [degree along r][degree along s] of modes of triangles: the three numbers of the recurrence of
  /// Jacobi polynomials that follow, and the norm. Modes of tetrahedra have the same along r and s
  double step[KEDGE_ORDER_MAX + 1][KEDGE_ORDER_MAX + 1][4];
  /// [degree along r and s][degree along t]: likewise of modes of tetrahedra
  double step_of_layer[KEDGE_ORDER_MAX + 1][KEDGE_ORDER_MAX + 1][3];
  double *memory;
} kg_element_integrals;

/// @param[in] rows  [shape]: points a direction, at most KG_GAUSS_MAX
kedge_status kg_element_integrals_open(kedge_context *ctx, const kedge_mesh *mesh,
                                       const kg_function *function, int order,
                                       const int rows[KG_CELL_KINDS], kg_element_integrals *out);
void kg_element_integrals_close(kg_element_integrals *of);
/// For kg_refine(): an item is an element. What is written of an element that has fewer modes than
/// another shape is 0 behind them.
kg_refining kg_element_refining(const kg_element_integrals *of);
/// What values that are derived from an exact solution may have of rounding, by its size in the
/// middles of some elements. @param[out] to  of u; of its flux
void kg_exact_rounding(const kedge_mesh *mesh, const kg_function *u,
                       const kg_coefficients *equation, double to[2]);
/// Integrals over an element, uncut. @param[out] sums  [modes]
/// @param[out] is_rough  kg_is_rough(); NULL: not asked
/// @return the absolute value's, which is not finite where a value is not
double kg_element_integral(const kg_element_integrals *of, int32_t element, double *sums,
                           bool *is_rough);
