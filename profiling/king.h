/// @file
/// The experiment of King 2014 for the programs that go beside kedge: his problem, mesh, quadrature
/// and solution.
#pragma once
#include "kedge/kedge.h"

enum {
  KING_MODES = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 2) / 2,
  KING_LINE = KEDGE_ORDER_MAX + 2,  ///< points along a collapsed square
};

/// u = sin(2 pi x) sin(2 pi y), and the source of -div grad u + u.
double king_u(double x, double y);
double king_source(double x, double y);

/// The problem of that source and solution, which is given on the boundary; tau = 1. The caller
/// destroys it.
kedge_problem *king_problem(kedge_context *ctx, int order);

/// Triangle 2 (j n + i) + k of square (i, j) of n x n squares is (a, b, c) or (a, c, d), where a,
/// b, c, d are the corners of the square, counterclockwise from its lower left one.
void king_corners(int squares, int triangle, double x[3], double y[3]);
/// Corner k is vertex out[k], vertices counted row by row.
void king_vertices(int squares, int triangle, int32_t out[3]);
/// A coordinate of the point (r, s) of the reference triangle.
double king_mapped(const double corner[3], double r, double s);
/// The caller destroys it.
kedge_status king_mesh(kedge_context *ctx, int squares, kedge_mesh **out);

/// His rule on the reference triangle {r, s >= -1, r + s <= 0}: on the collapsed square P + 2
/// Gauss-Lobatto points along, P + 1 Gauss-Radau points of the weight 1 - t across.
typedef struct king_rule {
  int n;
  double r[KING_LINE * KING_LINE], s[KING_LINE * KING_LINE];
  double w[KING_LINE * KING_LINE];                ///< sum 2
  double phi[KING_LINE * KING_LINE][KING_MODES];  ///< orthonormal modes of the order, at the points
} king_rule;
void king_make_rule(int order, king_rule *out);

/// Inverse of an n x n matrix, which is lost; by elimination with pivots.
void king_invert(int n, double a[KING_MODES][KING_MODES], double inverse[KING_MODES][KING_MODES]);
