/// @file
/// Reference matrices of straight tetrahedra: everything of their local matrices, of the local
/// solve and of u* that does not depend on the element.
///
/// phi: orthonormal modes (N of order P, N* of order P + 1), psi: orthonormal modes of a facet (m),
/// n = 4 m; D_a = (phi_i, d_a phi_j), a = r, s, t; F_l = <phi_i, psi_j> on facet l, F the four side
/// by side. Upper triangles hold entry (i, j), j >= i, row by row: kg_upper_entry().
#pragma once
#include "basis/cell.h"
#include "core/error.h"
#include "core/inline.h"
KEDGE_BEGIN_DECLS

/// The place of entry (i, j), i <= j < width, where row i of a matrix begins at its diagonal.
KG_INLINE int kg_upper_entry(int width, int i, int j)
{
  return i * width - i * (i + 1) / 2 + j;
}

/// Pairs of r, s, t: rr, rs, rt, ss, st, tt.
enum { KG_SPACE_PAIRS = 6 };

/// Pointers into one array of doubles, in host or in device memory.
typedef struct kg_tetrahedron_reference {
  kg_cell_sizes size;
  /// Upper N x N: D_a D_b^T of equal a and b, D_a D_b^T + D_b D_a^T of others
  const double *stiffness[KG_SPACE_PAIRS];
  const double *facet_mass[4];  ///< upper N x N: F_l F_l^T
  const double *lift;           ///< [N][n]: F
  const double *lift_d[3];      ///< [N][n]: D_a F
  const double *trace_mass;     ///< packed lower n x n (kg_packed_entry()): F^T F
  /// [N*][N]: (d_a phi_i, phi_j), of which the first N rows are D_a^T
  const double *gradient[3];
  /// Upper, of the N* - 1 modes but the constant: (d_a phi_i, d_b phi_j), and for different a and b
  /// (d_b phi_i, d_a phi_j) added
  const double *star[KG_SPACE_PAIRS];
} kg_tetrahedron_reference;

/// The length of the array behind it, in doubles. @param[in] order  1 .. KG_SPACE_ORDER_MAX
size_t kg_tetrahedron_reference_count(int order);
/// Point into a copy, at `base`, of the array.
kg_tetrahedron_reference kg_tetrahedron_reference_at(int order, const double *base);
/// Made in long double and rounded once.
/// @param[out] values  owned by the caller (free), kg_tetrahedron_reference_count() doubles
kedge_status kg_tetrahedron_reference_create(kedge_context *ctx, int order, double **values);

KEDGE_END_DECLS
