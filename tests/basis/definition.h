/// @file
/// What matrices of the reference triangle are by definition, for tests of basis/reference.h.
/// Include after cmocka.h.
#pragma once
#include "basis/polynomials.h"
#include "basis/reference.h"
#include "compare.h"
#include "kedge/base.h"

enum {
  ORDER = KEDGE_ORDER_MAX,
  STAR = (ORDER + 2) * (ORDER + 3) / 2,
  TRACE = 3 * (ORDER + 1),
};

/// Integrals by definition; full matrices.
typedef struct definition {
  int N, S, m, n;
  double tolerance;                       ///< of an entry
  double dr[STAR][STAR], ds[STAR][STAR];  ///< (phi_i, d phi_j)
  double stiff[3][STAR][STAR];            ///< (d_a phi_i, d_b phi_j): rr, rs + sr, ss
  double lift[STAR][TRACE];               ///< <phi_i, psi_j>
  double edge_mass[3][STAR][STAR];        ///< <phi_i, phi_j>_l
} definition;

#define assert_entry(value, exact) assert_at_most(fabs((value) - (exact)), d->tolerance)

/// Run a check of the reference matrices of every order.
void for_all_orders(void (*check)(const kg_reference *, const definition *));

/// The degree of a mode of the triangle, and that along the base.
int degree_of(int mode);
int along(int mode);
