/// @file
/// Tables of parallelograms, whose local matrices fall apart (docs/math.md#parallelograms).
///
/// A turn by 180 degrees maps a parallelogram on itself and leaves its constants as they are. Half
/// 0 has what it leaves alone, half 1 what it turns into its negative: of u the modes L_i(r) L_j(s)
/// with i + j even, or odd; of the trace sums, or differences, of the modes of opposite facets, by
/// sqrt(2): unknown k of 2 m is (lambda_k +- lambda_(2m + k)) / sqrt(2). In each half
///
///   [ Z^-1  -R ]
///   [ -R^T  S0 ] = G_rr T_0 + G_rs T_1 + G_ss T_2 + t_0 T_3 + t_1 T_4 + c J [ I 0; 0 0 ]
///
/// with t_l of facets l and l + 2, and with the derivatives of u* in place of the weak ones
/// G_rr T_0 + G_rs T_1 + G_ss T_2 for u*.
#pragma once
#include "basis/cell.h"
#include "core/inline.h"
KEDGE_BEGIN_DECLS

enum { KG_HALVES = 2, KG_HALF_TERMS = 5, KG_HALF_STAR_TERMS = 3 };

/// Terms of a matrix lie side by side, for each entry of its packed lower triangle.
typedef struct kg_halves {
  const double *root;              ///< [P + 2]: sqrt(2 k + 1)
  const double *sums[KG_HALVES];   ///< [entry][term]: modes of u, then the trace
  const double *stars[KG_HALVES];  ///< [entry][term]: modes of u* but the constant
} kg_halves;

/// The mode L_i(r) L_j(s).
typedef struct kg_half_mode {
  int i, j;
} kg_half_mode;

/// Modes of a half, of m x m.
KG_INLINE int kg_half_modes(int m, int half)
{
  return (m * m + 1 - half) / 2;
}

/// Mode a of a half, of m x m: those with even j come first, (0, 0) is the first of all.
KG_INLINE kg_half_mode kg_half_mode_at(int m, int half, int a)
{
  const int even = (m + 1 - half) / 2, first = even * ((m + 1) / 2);
  const int odd = m - even, b = a - first;
  if (a < first) {
    const kg_half_mode mode = {half + a % even * 2, a / even * 2};
    return mode;
  }
  const kg_half_mode mode = {1 - half + b % odd * 2, b / odd * 2 + 1};
  return mode;
}

/// The place of a mode among those of the shape (basis/cell.c).
KG_INLINE int kg_half_mode_number(kg_half_mode mode)
{
  const int i = mode.i, j = mode.j;
  return i < j ? j * j + i : i * i + i + j;
}

/// Place the tables of an order at `base`; with NULL only count. Returns the doubles.
size_t kg_halves_lay_out(int order, const double *base, kg_halves *halves);
void kg_halves_fill(int order, const kg_halves *halves);

KEDGE_END_DECLS
