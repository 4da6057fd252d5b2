/// @file
/// Gauss rules on [-1,1] and on the reference triangle {r, s >= -1, r + s <= 0}.
#pragma once
#include "core/error.h"

/// Gauss-Jacobi: exact for (1-x)^alpha times polynomials of degree <= 2 n - 1, alpha 0, 1 or 2.
/// Computed in long double and rounded, or not.
/// @param[in]  n     at most KG_GAUSS_MAX
/// @param[out] x, w  [n] points, increasing, and weights
void kg_gauss_jacobi(int n, int alpha, double *x, double *w);
void kg_wide_gauss_jacobi(int n, int alpha, long double *x, long double *w);

enum { KG_GAUSS_MAX = 40 };

typedef struct kg_triangle_rule {
  int n;              ///< points
  double *r, *s, *w;  ///< [n]; all points inside, all weights positive; sum of weights 2
} kg_triangle_rule;

/// Collapsed product rule, exact for polynomials of total degree <= degree.
kedge_status kg_triangle_rule_create(kedge_context *ctx, int degree, kg_triangle_rule *out);
void kg_triangle_rule_free(kg_triangle_rule *rule);
