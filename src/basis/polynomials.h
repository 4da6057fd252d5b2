/// @file
/// Orthonormal bases: Legendre on [-1,1], Dubiner on the reference triangle, and the nodes of
/// Lagrange elements.
///
/// The modes of the triangle are ordered by total degree d = 0, 1, ..., and within one degree by
/// the power i of the first (collapsed) direction: the basis of order P is the beginning of that of
/// order P + 1.
#pragma once

static inline int kg_triangle_modes(int order)
{
  return (order + 1) * (order + 2) / 2;
}

/// Coefficients of the recurrence P_k+1 = ((c[1] + c[2] x) P_k - c[3] P_k-1) / c[0] of the Jacobi
/// polynomials P_k^(alpha,0), k >= 1.
static inline void kg_jacobi_recurrence(int k, double alpha, double c[4])
{
  const double s = 2.0 * k + alpha;
  c[0] = 2.0 * (k + 1) * (k + alpha + 1.0) * s;
  c[1] = (s + 1.0) * alpha * alpha;
  c[2] = s * (s + 1.0) * (s + 2.0);
  c[3] = 2.0 * (k + alpha) * k * (s + 2.0);
}

/// Numbers of a table, once they are made.
static inline void kg_round_all(int n, const long double *wide, double *out)
{
  for (int i = 0; i < n; ++i) out[i] = (double)wide[i];
}

/// psi_k(t), k = 0..order, at most 39; computed in long double and rounded, or not.
void kg_legendre(int order, double t, double *psi);
void kg_wide_legendre(int order, long double t, long double *psi);

/// Orthonormal Jacobi polynomials P_j^(alpha,0)(x), j = 0..n <= KEDGE_ORDER_MAX + 2, and their
/// derivatives, unless dp is NULL.
void kg_wide_jacobi(int n, int alpha, long double x, long double *p, long double *dp);

/// phi_i(r, s), i < kg_triangle_modes(order); the gradient may be NULL (both or none).
void kg_dubiner(int order, double r, double s, double *phi, double *phi_r, double *phi_s);
void kg_wide_dubiner(int order, long double r, long double s, long double *phi, long double *phi_r,
                     long double *phi_s);

/// The modes as products: with a = 2 (1+r)/(1-s) - 1 and b = s, phi of mode (i, j) is along[i]
/// times across[mode].
/// @param[out] along   [order + 1]
/// @param[out] across  [kg_triangle_modes(order)]
void kg_dubiner_factors(int order, double a, double b, double *along, double *across);

/// Equispaced nodes of the Lagrange triangle of an order >= 1, in the order of Gmsh and VTK:
/// vertices, edges 0-1, 1-2, 2-0, then the interior as a triangle of order - 3.
/// @param[out] r, s  [kg_triangle_modes(order)]
void kg_lagrange_nodes(int order, double *r, double *s);
