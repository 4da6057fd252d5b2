/// @file
/// Statically condensed continuous elements of -div grad u + u on King's triangles.
///
/// Modes of a triangle: interior ones first, the product of the three barycentric coordinates l0 l1
/// l2 with Dubiner modes; then the vertices; then P - 1 on each edge from vertex l to l + 1, l_a
/// l_b with the derivative of a Legendre polynomial in l_b - l_a, odd ones signed by the direction
/// from the vertex with the lower number.
#pragma once
#include "kedge/kedge.h"

enum {
  CONT_ORDER_MAX = 9,
  CONT_MODES = (CONT_ORDER_MAX + 1) * (CONT_ORDER_MAX + 2) / 2,
  CONT_LANES = 8,  ///< triangles that the host eliminates together
  CONT_ROWS = (CONT_MODES + 1) * (CONT_MODES + 2) / 2,
};

/// What does not depend on the triangle. Packed: entry (i, j), j <= i, at i (i + 1) / 2 + j.
typedef struct cont_reference {
  int order, n_modes, n_inner, n_outer;  ///< modes; of the interior; of the boundary, 3 P
  double stiffness[3][CONT_ROWS];        ///< packed: (r, r), (r, s) + (s, r), (s, s) derivatives
  double mass[CONT_ROWS];                ///< packed
} cont_reference;

/// phi[i]: the modes at a point; gradients may be NULL, both or none.
void cont_modes(int order, double r, double s, double *phi, double *phi_r, double *phi_s);
kedge_status cont_make_reference(kedge_context *ctx, int order, cont_reference *out);

/// The factors of the reference matrices for a triangle with these corners: three of the stiffness,
/// then that of the mass: half the area, as that of the reference triangle is 2.
void cont_factors(const double x[3], const double y[3], double factor[4]);

/// The matrix and load of CONT_LANES triangles, the interior eliminated in place: a Cholesky
/// factorization of the first n_inner rows with the load as row n_modes. What is left below and
/// right of them is the condensed matrix, and in the last row the condensed load.
/// @param[in]  factor  [4][lane]
/// @param[in]  load    [mode][lane]
/// @param[out] rows    [packed][lane], n_modes + 1 rows
void cont_eliminate(const cont_reference *ref, const double factor[4][CONT_LANES],
                    const double load[][CONT_LANES], double rows[][CONT_LANES]);
/// The interior from the boundary: u[0 .. n_inner) of each lane.
void cont_substitute(const cont_reference *ref, double rows[][CONT_LANES], double u[][CONT_LANES]);

/// Unknowns of n x n squares, u = 0 on the boundary: vertices, then edges with P - 1 each.
typedef struct cont_space {
  int squares, order;
  int n_triangles, n_unknowns;
} cont_space;
cont_space cont_make_space(int squares, int order);
/// Unknown of each outer mode, -1 on the boundary of the square, and the sign of its mode.
void cont_unknowns(const cont_space *space, int triangle, int32_t *unknown, double *sign);

/// The condensed system in compressed rows.
typedef struct cont_system {
  int32_t n;
  int64_t *begin;  ///< [n + 1]
  int32_t *column;
  double *value, *b;
} cont_system;
/// @param[in] local  [triangle][packed outer]
/// @param[in] load   [triangle][outer]
kedge_status cont_assemble(kedge_context *ctx, const cont_space *space, int n_outer,
                           const double *local, const double *load, cont_system *out);
void cont_free(cont_system *system);
/// Conjugate gradients with Jacobi from x = 0; returns iterations.
int cont_solve(const cont_system *system, double tolerance, int most, double *x, double *residual);
