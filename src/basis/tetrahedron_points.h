/// @file
/// Tables of tetrahedra at the points of a rule, for coefficients that vary inside elements. Names
/// are those of tetrahedron_reference.h.
#pragma once
#include "basis/tetrahedron_reference.h"
KEDGE_BEGIN_DECLS

/// Pointers into one array of doubles, in host or in device memory.
typedef struct kg_tetrahedron_points {
  int n;                 ///< 0: there are none
  const double *weight;  ///< [point]
  const double *value;   ///< [point][N]: phi
  const double *weak;    ///< [point][3][N]: the functions of modes D_a^T of each mode of u
  const double *trace;   ///< [point][n]: those of modes F of each mode of the trace
  const double *star;    ///< [point][3][N* - 1]: derivatives of the modes of u* but the constant
} kg_tetrahedron_points;

/// The length of the array behind it, in doubles. @param[in] rows  points a direction
size_t kg_tetrahedron_points_count(int order, int rows);
/// Point into a copy, at `base`, of the array.
kg_tetrahedron_points kg_tetrahedron_points_at(int order, int rows, const double *base);
/// @param[out] values  [kg_tetrahedron_points_count()]
kedge_status kg_tetrahedron_points_fill(kedge_context *ctx, int order, int rows, double *values);

KEDGE_END_DECLS
