/// @file
/// Runge-Kutta schemes of steps in time. All are diagonally implicit with one number gamma on the
/// diagonal, so that the stages of a step have the same matrix, and stiffly accurate: the last
/// stage is the end of the step.
///
///   base_i = u + dt sum_{j < i} a_ij k_j,   u_i solves the stage,
///   k_i = (u_i - base_i) / (gamma dt)
#pragma once
#include <stdbool.h>

enum { KG_STAGES_MAX = 6 };

typedef struct kg_tableau {
  const char *name;
  int order;
  int n_stages;
  /// The first stage is no solve: its k is the last one of the step before.
  bool explicit_first;
  double gamma;
  double c[KG_STAGES_MAX];
  double a[KG_STAGES_MAX][KG_STAGES_MAX];  ///< below the diagonal
  /// By which k make the difference from a scheme of the order below, embedded in this one: what
  /// steps adapt to. All 0: there is none.
  double error[KG_STAGES_MAX];
  /// The scheme of a step that has no k to begin with, of the same gamma; NULL: this one.
  const struct kg_tableau *first;
} kg_tableau;

extern const kg_tableau kg_tableau_euler;
/// The trapezoidal rule, then a backward difference: Bank et al., IEEE Trans. Electron Devices 32
/// (1985) 1992; as a Runge-Kutta scheme Hosea and Shampine, Appl. Numer. Math. 20 (1996) 21. Its
/// first step is SDIRK2: Alexander, SIAM J. Numer. Anal. 14 (1977) 1006.
extern const kg_tableau kg_tableau_trbdf2;
/// The implicit part of ARK4(3)6L[2]SA: Kennedy and Carpenter, Appl. Numer. Math. 44 (2003) 139.
/// Its first step is SDIRK4: Hairer and Wanner, Solving Ordinary Differential Equations II, table
/// IV.6.5.
extern const kg_tableau kg_tableau_esdirk4;

/// How many stages of a scheme are solves.
static inline int kg_tableau_solves(const kg_tableau *scheme)
{
  return scheme->n_stages - scheme->explicit_first;
}
