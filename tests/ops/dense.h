/// @file
/// One element by the book: the matrices of King 2014 (A, B, C, G) integrated one by one on the
/// triangle itself, A inverted as it is. Nothing here is shared with the operators but the bases.
#pragma once
#include <stdbool.h>

#include "ops/local/triangle/element.h"

/// Unknowns are u, q_x, q_y (3 N) and the trace of three edges in the edges' direction (n).
typedef struct dense_element {
  int N, n;
  double *inverse;   ///< [3 N][3 N]: A^-1
  double *b;         ///< [3 N][n]: how the trace enters the local problem
  double *c, *g;     ///< [n][3 N], [n][n]: the flux on the edges, of the unknowns and of the trace
  double condition;  ///< of A, in the maximum norm
} dense_element;

/// @param[in] corner    [3], counterclockwise
/// @param[in] reversed  local edge l runs against its trace edge
void dense_create(dense_element *d, int order, const double (*corner)[2], kg_material material,
                  const bool reversed[3]);
void dense_free(dense_element *d);

/// K = G - C A^-1 B, [n][n].
void dense_local(const dense_element *d, double *k);
/// F = -C A^-1 (f, 0, 0), [n].
void dense_condensed(const dense_element *d, const double *load, double *f);
/// (u, q_x, q_y) = A^-1 ((f, 0, 0) - B lambda), [3 N].
void dense_solve(const dense_element *d, const double *load, const double *lambda,
                 double *solution);

/// u* [N*] from (u, q_x, q_y); returns the condition number of its system.
double dense_star(int order, const double (*corner)[2], const double *solution, double *star);

/// a = a^-1, [n][n]; returns the condition number in the maximum norm.
double dense_invert(int n, double *a);
