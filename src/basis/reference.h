/// @file
/// Reference matrices: everything of a local matrix that does not depend on the element
/// (docs/math.md#reference-matrices).
///
/// phi: orthonormal Dubiner basis (N modes), psi: orthonormal Legendre basis (m = P+1 modes of an
/// edge), n = 3 m. Packed lower triangles hold entry (i, j), j <= i, at i (i+1) / 2 + j.
#pragma once
#include "core/error.h"
#include "core/inline.h"
KEDGE_BEGIN_DECLS

/// The place of entry (i, j) or (j, i) in a packed lower triangle.
KG_INLINE int kg_packed_entry(int i, int j)
{
  return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

/// Sizes that follow from the order.
typedef struct kg_sizes {
  int order;
  int n_modes;     ///< N
  int n_edge;      ///< m
  int n_trace;     ///< n = 3 m
  int n_star;      ///< N*: modes of order P + 1
  int n_rotation;  ///< K = P (P+1) / 2: modes of degree below P; and vector fields of order P
                   ///< orthogonal to all gradients
  int n_packed;    ///< n (n + 1) / 2: entries of a packed K^e
} kg_sizes;

kg_sizes kg_sizes_of(int order);

enum {
  KG_CONDENSED_TERMS = 6,
  KG_CONDENSED_MODES_MAX = KEDGE_ORDER_MAX * (KEDGE_ORDER_MAX + 1) / 2  ///< of degree below P
};

/// Pointers into one array of doubles, in host or in device memory.
typedef struct kg_reference {
  kg_sizes size;
  const double *
      stiffness[3];  ///< packed N x N: Dr Dr^T, Dr Ds^T + Ds Dr^T, Ds Ds^T; Dr = (phi_i, d_r phi_j)
  const double *edge_mass[3];  ///< packed N x N: <phi_i, phi_j> on reference edge l
  /// Packed K x K, for the K modes of degree below P: B_0 B_1^T + B_1 B_0^T and
  /// B_1 B_2^T + B_2 B_1^T, B_l being edge_mass[l] between them (rows) and the modes of degree P
  const double *eliminated[2];
  /// [K][n]: B_k F_pl, F_pl the rows of degree P of F_l; columns of edge l have k = l+1 in one and
  /// k = l+2 in the other, modulo 3. Those of edges 0, 1, 2 of the other are those of edges 0, 2, 1
  /// of the one, with the sign (-1)^(i+j), i the degree of the mode along the base, j of psi_j
  const double *eliminated_lift[2];
  const double *lift;        ///< [N][n]: F = <phi_i, psi_j>, the three edges side by side
  const double *lift_r;      ///< [N][n]: Dr F
  const double *lift_s;      ///< [N][n]: Ds F
  const double *trace_mass;  ///< packed n x n: F^T F
  const double *trace_top;   ///< packed n x n: F_p^T F_p, of the modes of degree P alone
  const double *gradient_r;  ///< [N][N]: row i, column j: (phi_j, d_r phi_i), that is Dr^T
  const double *gradient_s;
  const double *rotation[2];  ///< [N][K]: those fields, by component (basis/potential.h)
  const double
      *rotation_mass[2];       ///< packed K x K: T_1 T_1^T, T_1 T_2^T + T_2 T_1^T; T_c = rotation^T
  const double *potential[2];  ///< [N][N* - 1]: what takes a gradient to its potential
  // Tiles of the local matrices on tensor cores (basis/local_tiles.h), and those of reduced ones,
  // are one piece:
  const double *operator_tiles;  ///< stiffness 0 and 2, edge_mass 0 and 1, which suffice (math.md)
  const double *lift_tiles;      ///< lift, lift_r, lift_s
  const double *trace_tiles;     ///< trace_mass
  // Tiles for products with vectors of a group (ops/local/triangle/group_product.cuh): [tile row,
  // an even number of them][tile column][matrix][64].
  const double *derivative_tiles;    ///< Dr, Ds
  const double *gradient_tiles;      ///< Dr^T, Ds^T
  const double *rotation_tiles;      ///< T_1, T_2
  const double *rotation_row_tiles;  ///< T_1^T, T_2^T
  const double *potential_tiles;     ///< transposes of potential[0..1]
  /// Terms of the local solve of a GPU (ops/local/triangle/local_condensed.cuh): packed, of the K
  /// modes of degree below P, those even along the base first: entries of stiffness 1, edge_mass 1,
  /// eliminated 0, stiffness 2, edge_mass 0, eliminated 1 side by side
  const double *condensed_terms;
} kg_reference;

/// Number of doubles behind a kg_reference of this order.
size_t kg_reference_count(int order);
/// Point a kg_reference into a copy, at `base`, of an order's array.
kg_reference kg_reference_at(int order, const double *base);
/// Compute the array.
/// @param[out] values  owned by the caller (free), kg_reference_count(order) doubles
kedge_status kg_reference_create(kedge_context *ctx, int order, double **values);

/// The array, made once for a context, which owns it. @param[in] ctx  not NULL
kedge_status kg_reference_of(kedge_context *ctx, int order, const double **values);

KEDGE_END_DECLS
