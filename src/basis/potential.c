// A gradient of an even function has an odd first and an even second component, that of an odd one
// the reverse, even and odd along the base: fields are two *classes* of N coefficients that have
// nothing to do with each other.
//
// With the gradients of a class as the columns of a matrix, N x S, and its QR factorisation by
// Householder's reflections: the last columns of Q are the fields orthogonal to gradients, and R^-1
// Q^T takes a gradient to its potential. Those fields are then rotated among themselves until their
// first components are orthogonal, and so their second ones, by Jacobi's rotations of two columns.
#include "basis/potential.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "core/memory.h"

enum { SWEEPS = 40 };  ///< far more than it takes

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

/// Rotate the columns of x [rows][cols] from `first` on so that their parts in the first `top` rows
/// are orthogonal.
static void diagonalize(int rows, int top, int cols, int first, double *x)
{
  bool done = false;
  for (int sweep = 0; !done && sweep < SWEEPS; ++sweep) {
    done = true;
    for (int i = first; i < cols; ++i)
      for (int j = i + 1; j < cols; ++j) {
        double ii = 0.0, ij = 0.0, jj = 0.0;
        for (int k = 0; k < top; ++k) {
          ii += x[k * cols + i] * x[k * cols + i];
          ij += x[k * cols + i] * x[k * cols + j];
          jj += x[k * cols + j] * x[k * cols + j];
        }
        if (fabs(ij) <= DBL_EPSILON) continue;  // columns have length 1
        done = false;
        const double half = 0.5 * (jj - ii) / ij;
        const double t = copysign(1.0, half) / (fabs(half) + sqrt(1.0 + half * half));
        const double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
        for (int k = 0; k < rows; ++k) {
          const double a = x[k * cols + i], b = x[k * cols + j];
          x[k * cols + i] = c * a - s * b;
          x[k * cols + j] = s * a + c * b;
        }
      }
  }
}

/// The modes before `count` of this parity along the base. Returns how many.
static int modes_of_parity(int count, int parity, int *modes)
{
  int found = 0;
  for (int degree = 0, mode = 0; mode < count; ++degree)
    for (int along = 0; along <= degree && mode < count; ++along, ++mode)
      if (along % 2 == parity) modes[found++] = mode;
  return found;
}

/// The arguments of kg_potential_create().
typedef struct potential_job {
  int N, S, K;
  const double *gradient_r, *gradient_s;
  double *const *rotation, *const *potential;
} potential_job;

/// Component c of gradient i at mode j.
static double component(const potential_job *job, int c, int i, int j)
{
  const double by_r = job->gradient_r[i * job->N + j], by_s = job->gradient_s[i * job->N + j];
  return c == 0 ? by_r : (2.0 * by_s - by_r) / sqrt(3.0);
}

/// The class of potentials of this parity. Its rotations are put into columns from `first` on.
/// @param work  4 N^2 doubles. @param modes  of the rows, then of the potentials: N + N* places
/// @return how many rotations there are
static int make_class(const potential_job *job, int parity, int first, double *work, int *modes)
{
  const int N = job->N, K = job->K;
  const int top = modes_of_parity(N, 1 - parity, modes);  // rows of component 0
  modes_of_parity(N, parity, modes + top);
  int *of = modes + N, columns = modes_of_parity(job->S + 1, parity, of);
  if (parity == 0) {  // the constant has no gradient
    ++of;
    --columns;
  }
  double *a = work, *q = a + N * N, *v = q + N * N, *x = v + N * N;
  for (int row = 0; row < N; ++row)
    for (int i = 0; i < columns; ++i)
      a[row * columns + i] = component(job, row >= top, of[i], modes[row]);
  factor(N, columns, a, q, v);
  diagonalize(N, top, N, columns, q);
  for (int row = 0; row < N; ++row) {
    const int c = row >= top, j = modes[row];
    for (int i = columns; i < N; ++i)
      job->rotation[c][j * K + first + i - columns] = q[row * N + i];
    for (int i = 0; i < columns; ++i) x[i] = q[row * N + i];
    solve_upper(columns, a, x);
    for (int i = 0; i < columns; ++i) job->potential[c][j * job->S + of[i] - 1] = x[i];
  }
  return N - columns;
}

kedge_status kg_potential_create(kedge_context *ctx, int order, const double *gradient_r,
                                 const double *gradient_s, double *const rotation[2],
                                 double *const potential[2])
{
  const int N = kg_triangle_modes(order), S = kg_triangle_modes(order + 1) - 1, K = 2 * N - S;
  const potential_job job = {N, S, K, gradient_r, gradient_s, rotation, potential};
  double *work;
  int *modes;
  KG_TRY(kg_host_alloc(ctx, 4 * (size_t)N * (size_t)N, sizeof *work, &work));
  kedge_status status = kg_host_alloc(ctx, (size_t)(N + S + 1), sizeof *modes, &modes);
  if (status == KEDGE_OK) {
    for (int c = 0; c < 2; ++c) {
      memset(rotation[c], 0, sizeof(double) * (size_t)(N * K));
      memset(potential[c], 0, sizeof(double) * (size_t)(N * S));
    }
    const int odd = make_class(&job, 1, 0, work, modes);
    make_class(&job, 0, odd, work, modes);
    free(modes);
  }
  free(work);
  return status;
}
