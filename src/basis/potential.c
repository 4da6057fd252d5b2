// With the gradients of phi*_1, phi*_2, ... as the columns of a matrix [p_1; p_2], 2N x S, and its
// QR factorisation by Householder's reflections: the last columns of Q are the fields orthogonal to
// gradients, and R^-1 Q^T takes a gradient to its potential.
#include "basis/potential.h"

#include <math.h>
#include <stdlib.h>

#include "basis/polynomials.h"
#include "core/memory.h"

/// x -= 2 v (v . x) for columns first.. of x [rows][cols]; v [rows] of length 1, zero before `top`.
static void reflect(int rows, int cols, int first, int top, const double *v, double *x)
{
  for (int c = first; c < cols; ++c) {
    double dot = 0.0;
    for (int i = top; i < rows; ++i) dot += v[i] * x[i * cols + c];
    for (int i = top; i < rows; ++i) x[i * cols + c] -= 2.0 * dot * v[i];
  }
}

/// The reflection that clears column k of a [rows][cols] below its diagonal, into v [rows].
static void make_reflection(int rows, int cols, int k, const double *a, double *v)
{
  double norm = 0.0, length = 0.0;
  for (int i = 0; i < rows; ++i) v[i] = i < k ? 0.0 : a[i * cols + k];
  for (int i = k; i < rows; ++i) norm += v[i] * v[i];
  v[k] += copysign(sqrt(norm), v[k]);
  for (int i = k; i < rows; ++i) length += v[i] * v[i];
  length = sqrt(length);
  for (int i = k; i < rows; ++i) v[i] /= length;
}

/// a [n][S] becomes R, q [n][n] becomes Q; v [S][n] takes the reflections.
static void factor(int n, int S, double *a, double *q, double *v)
{
  for (int k = 0; k < S; ++k) {
    make_reflection(n, S, k, a, v + k * n);
    reflect(n, S, k, k, v + k * n, a);
  }
  for (int i = 0; i < n * n; ++i) q[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
  for (int k = S - 1; k >= 0; --k) reflect(n, n, 0, k, v + k * n, q);
}

/// x = R^-1 x.
static void solve_upper(int S, const double *r, double *x)
{
  for (int i = S - 1; i >= 0; --i) {
    for (int j = i + 1; j < S; ++j) x[i] -= r[i * S + j] * x[j];
    x[i] /= r[i * S + i];
  }
}

kedge_status kg_potential_create(kedge_context *ctx, int order, const double *gradient_r,
                                 const double *gradient_s, double *const rotation[2],
                                 double *const potential[2])
{
  const int N = kg_triangle_modes(order), S = kg_triangle_modes(order + 1) - 1, n = 2 * N;
  const int K = n - S;
  double *a;
  KG_TRY(kg_host_alloc(ctx, (size_t)n * (size_t)(S + n + S), sizeof *a, &a));
  double *q = a + n * S;
  const double per_root = 1.0 / sqrt(3.0);
  for (int i = 0; i < S; ++i)
    for (int j = 0; j < N; ++j) {
      const double by_r = gradient_r[(i + 1) * N + j], by_s = gradient_s[(i + 1) * N + j];
      a[j * S + i] = by_r;
      a[(N + j) * S + i] = per_root * (2.0 * by_s - by_r);
    }
  factor(n, S, a, q, q + n * n);
  for (int row = 0; row < n; ++row) {
    const int c = row / N, j = row % N;
    for (int i = 0; i < K; ++i) rotation[c][j * K + i] = q[row * n + S + i];
    for (int i = 0; i < S; ++i) potential[c][j * S + i] = q[row * n + i];
    solve_upper(S, a, potential[c] + j * S);
  }
  free(a);
  return KEDGE_OK;
}
