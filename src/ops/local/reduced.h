/// @file
/// K^e of pure diffusion without what is known of it: its products with linear functions
/// (docs/math.md#reduced). Products read 0.43 (P = 1) to 0.82 (P = 9) of the numbers of packed K^e.
///
/// Let v be the linear function with the means of x on the three edges, x = v + w. K^e v is zero
/// but in mode 0, where it is a flux: a symmetric 3 x 3 matrix g of the means, whose rows add up to
/// zero. w has no mode 0, so K^e w needs the rows and columns of modes 1 ... P alone; its mode 0
/// follows from mode 1, because linear functions do not see K^e w. With l + 1, l - 1 modulo 3,
/// s_l = 1, or -1 where the side runs against its edge, and c = 1 / sqrt 3:
///
///     w_l1 = x_l1 - c s_l (x_l+1,0 - x_l-1,0),   w_li = x_li for i > 1
///     y_li = (K^e w)_li for i > 0
///     y_l0 = sum_k g_lk (x_k0 - x_l0) + c (s_l+1 y_l+1,1 - s_l-1 y_l-1,1)
///
/// An element has the rows g_01, g_02, g_12 and then the lower triangle of K^e for the unknowns (0,
/// 1), (1, 1), (2, 1), (0, 2) ... (0, P), (1, 2) ... (2, P), row by row as in a packed K^e:
///
///     [group][3 + 3 P (3 P + 1) / 2][lane]
///
/// The three diagonal entries of mode 1, which are positive, have the sign s_l. Empty lanes are 0.
/// Differences come first, so that in single precision constants and linear functions stay as they
/// are. kg_local_matrices() makes them at once: W has no columns for mode 0, and F^e there comes
/// from the other modes, because the function p_l with x_l0 = 1 is its own local solution, so that
///
///     p_l . F^e = (f, p_l),   p_l = sum_i <phi_i, psi_0>_l / 3 phi_i   (i < 3).
///
/// Reduced K^e have every entry of K^e. With K_w, the matrix of modes 1 to P that they hold, E:
/// x -> w and the fluxes g of mode 0,
///
///     K^e = E^T K_w E + G,   G_lk = g_lk,  G_ll = -g_l,l+1 - g_l,l-1
///
/// so an entry of one mode 0 is a sum of two numbers, mode 1 of the other two edges, and an entry
/// of two is one of four and a flux.
#pragma once
#include "ops/local/local.h"
KEDGE_BEGIN_DECLS

enum { KG_REDUCED_FIRST = 9 };  ///< rows up to the 3 x 3 matrix of mode 1

#define KG_REDUCED_SLOPE 0.57735026918962576451  ///< c

/// The unknown of K^e that is number i of the reduced ones, of m modes an edge.
KG_INLINE int kg_reduced_unknown(int m, int i)
{
  return i < 3 ? i * m + 1 : (i - 3) / (m - 2) * m + 2 + (i - 3) % (m - 2);
}

/// Mode i > 0 of side l has this reduced number, with m modes an edge.
KG_INLINE int kg_reduced_number(int m, int l, int i)
{
  return i == 1 ? l : 3 + l * (m - 2) + i - 2;
}

/// The row that has entry (a, b) of K^e; negative: none has.
KG_INLINE int kg_reduced_row(int m, int a, int b)
{
  const int l = a / m, k = b / m, i = a - l * m, j = b - k * m;
  if (i == 0 || j == 0) return -1;
  return KG_REDUCED_FLUX + kg_packed_entry(kg_reduced_number(m, l, i), kg_reduced_number(m, k, j));
}

/// Row l < 3, a flux: which of kg_element.trace it is.
KG_INLINE int kg_reduced_trace(int row)
{
  return row == 0 ? 1 : row + 2;
}

/// F^e in mode 0 of edge l of an element of m modes an edge.
/// @param[in] lift   of the reference matrices
/// @param[in] load   f^e; the next mode is KG_LANES numbers on
/// @param[in] first  F^e in mode 1 of the three edges, times s_0, s_1, s_2
KG_INLINE double kg_reduced_mean(const double *lift, int m, int l, const double *load,
                                 const double first[3])
{
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) sum += lift[i * 3 * m + l * m] * load[i * KG_LANES];
  return sum * (1.0 / 3.0) + KG_REDUCED_SLOPE * (first[(l + 1) % 3] - first[(l + 2) % 3]);
}

/// s_l. Not from the diagonal entry of mode 1 that has its sign: one that rounding made negative
/// has the other, and must not pass for a positive one.
KG_INLINE double kg_local_sign(const kg_local_element *e, int l)
{
  return e->side_edge[e->side + (int64_t)l * KG_LANES] & 1u ? -1.0 : 1.0;
}

/// Entry of K_w: mode i of side l, mode j of side k; neither is 0.
KG_INLINE double kg_local_inner(const kg_local_element *e, int l, int i, int k, int j)
{
  const int entry = kg_packed_entry(kg_reduced_number(e->m, l, i), kg_reduced_number(e->m, k, j));
  const double value = kg_local_row(e, KG_REDUCED_FLUX + entry);
  return l == k && i == 1 && j == 1 ? kg_local_sign(e, l) * value : value;
}

/// Mode 0 of side l adds this to mode 1 of side k.
KG_INLINE double kg_local_slope(const kg_local_element *e, int l, int k)
{
  const double slope = kg_local_sign(e, k) * KG_REDUCED_SLOPE;
  return k == (l + 1) % 3 ? slope : -slope;
}

/// Entry of E^T K_w: mode i of side l, mode j of side k; j is not 0.
KG_INLINE double kg_local_outer(const kg_local_element *e, int l, int i, int k, int j)
{
  if (i > 0) return kg_local_inner(e, l, i, k, j);
  const int next = (l + 1) % 3, before = (l + 2) % 3;
  return kg_local_slope(e, l, next) * kg_local_inner(e, next, 1, k, j) +
         kg_local_slope(e, l, before) * kg_local_inner(e, before, 1, k, j);
}

/// G_lk.
KG_INLINE double kg_local_flux(const kg_local_element *e, int l, int k)
{
  const int next = (l + 1) % 3, before = (l + 2) % 3;  // row of g_lk: l + k - 1
  if (l != k) return kg_local_row(e, l + k - 1);
  return -kg_local_row(e, l + next - 1) - kg_local_row(e, l + before - 1);
}

KG_INLINE double kg_local_from_reduced(const kg_local_element *e, int l, int i, int k, int j)
{
  if (j > 0) return kg_local_outer(e, l, i, k, j);
  if (i > 0) return kg_local_outer(e, k, j, l, i);
  const int next = (k + 1) % 3, before = (k + 2) % 3;
  return kg_local_slope(e, k, next) * kg_local_outer(e, l, 0, next, 1) +
         kg_local_slope(e, k, before) * kg_local_outer(e, l, 0, before, 1) + kg_local_flux(e, l, k);
}

KEDGE_END_DECLS
