#include "dense.h"

#include <math.h>
#include <stdlib.h>

#include "basis/edge_place.h"
#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "compare.h"

enum {
  STAR = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 3) / 2,
  POINTS = KEDGE_ORDER_MAX + 3,
  MODES = KEDGE_ORDER_MAX + 1
};

static double *zeros(size_t count)
{
  double *values = calloc(count, sizeof *values);
  assert_non_null(values);
  return values;
}

static double row_norm(int n, const double *a)
{
  double most = 0.0;
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int j = 0; j < n; ++j) sum += fabs(a[i * n + j]);
    most = fmax(most, sum);
  }
  return most;
}

/// Exchange rows `from` and `to`, then clear column `pivot` in all other rows.
static void eliminate(int n, int pivot, int from, double *a, double *inverse)
{
  for (int j = 0; j < n && from != pivot; ++j) {
    const double left = a[pivot * n + j], right = inverse[pivot * n + j];
    a[pivot * n + j] = a[from * n + j];
    a[from * n + j] = left;
    inverse[pivot * n + j] = inverse[from * n + j];
    inverse[from * n + j] = right;
  }
  const double scale = 1.0 / a[pivot * n + pivot];
  for (int j = 0; j < n; ++j) {
    a[pivot * n + j] *= scale;
    inverse[pivot * n + j] *= scale;
  }
  for (int i = 0; i < n; ++i) {
    const double factor = a[i * n + pivot];
    if (i == pivot || factor == 0.0) continue;
    for (int j = 0; j < n; ++j) {
      a[i * n + j] -= factor * a[pivot * n + j];
      inverse[i * n + j] -= factor * inverse[pivot * n + j];
    }
  }
}

double dense_invert(int n, double *a)
{
  const double norm = row_norm(n, a);
  double *inverse = zeros((size_t)n * (size_t)n);
  for (int i = 0; i < n; ++i) inverse[i * n + i] = 1.0;
  for (int pivot = 0; pivot < n; ++pivot) {
    int best = pivot;
    for (int i = pivot + 1; i < n; ++i)
      if (fabs(a[i * n + pivot]) > fabs(a[best * n + pivot])) best = i;
    eliminate(n, pivot, best, a, inverse);
  }
  for (int i = 0; i < n * n; ++i) a[i] = inverse[i];
  free(inverse);
  return norm * row_norm(n, a);
}

/// Derivatives of the affine map: d[k][0] = d x_k / dr, d[k][1] = d x_k / ds. Returns det.
static double map_of(const double (*corner)[2], double d[2][2])
{
  for (int k = 0; k < 2; ++k) {
    d[k][0] = 0.5 * (corner[1][k] - corner[0][k]);
    d[k][1] = 0.5 * (corner[2][k] - corner[0][k]);
  }
  return d[0][0] * d[1][1] - d[0][1] * d[1][0];
}

/// Basis and physical gradient at a reference point.
static void basis_at(int order, const double (*corner)[2], double r, double s, double *phi,
                     double *phi_x, double *phi_y)
{
  double d[2][2], by_r[STAR], by_s[STAR];
  const double det = map_of(corner, d);
  kg_dubiner(order, r, s, phi, by_r, by_s);
  for (int i = 0; i < kg_triangle_modes(order); ++i) {
    phi_x[i] = (d[1][1] * by_r[i] - d[1][0] * by_s[i]) / det;
    phi_y[i] = (d[0][0] * by_s[i] - d[0][1] * by_r[i]) / det;
  }
}

/// (kappa q, grad w) + (reaction u, w), and (q, v) + (u, div v).
static void integrate_inside(dense_element *d, int order, const double (*corner)[2],
                             kg_material material, double *a)
{
  const int N = d->N, ld = 3 * N;
  double map[2][2], phi[STAR], gradient[2][STAR];
  const double det = map_of(corner, map);
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, 2 * order + 1, &rule), KEDGE_OK);
  for (int q = 0; q < rule.n; ++q) {
    basis_at(order, corner, rule.r[q], rule.s[q], phi, gradient[0], gradient[1]);
    const double w = rule.w[q] * det;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        a[i * ld + j] += w * material.reaction * phi[j] * phi[i];
        for (int k = 0; k < 2; ++k) {
          const int row = (k + 1) * N;
          a[i * ld + row + j] += w * material.diffusion * phi[j] * gradient[k][i];
          a[(row + i) * ld + row + j] += w * phi[j] * phi[i];
          a[(row + i) * ld + j] += w * phi[j] * gradient[k][i];
        }
      }
  }
  kg_triangle_rule_free(&rule);
}

/// A point of an edge: everything that enters the integrals.
typedef struct edge_point {
  double weight, tau, kappa, normal[2];
  double phi[STAR], psi[MODES];
} edge_point;

/// -<q^ . n, w> with q^ . n = kappa q . n - tau (u - lambda); -<lambda, v . n>; and <q^ . n, mu>.
static void add_edge_point(dense_element *d, int first, int m, const edge_point *p, double *a)
{
  const int N = d->N, n = d->n, ld = 3 * N;
  for (int i = 0; i < N; ++i) {
    const double wi = p->weight * p->phi[i];
    for (int j = 0; j < N; ++j) {
      a[i * ld + j] += wi * p->tau * p->phi[j];
      for (int k = 0; k < 2; ++k)
        a[i * ld + (k + 1) * N + j] -= wi * p->kappa * p->normal[k] * p->phi[j];
    }
    for (int j = 0; j < m; ++j) {
      d->b[i * n + first + j] -= wi * p->tau * p->psi[j];
      for (int k = 0; k < 2; ++k) {
        d->b[((k + 1) * N + i) * n + first + j] -= wi * p->normal[k] * p->psi[j];
        d->c[(first + j) * ld + (k + 1) * N + i] += wi * p->kappa * p->normal[k] * p->psi[j];
      }
      d->c[(first + j) * ld + i] -= wi * p->tau * p->psi[j];
    }
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      d->g[(first + i) * n + first + j] += p->weight * p->tau * p->psi[i] * p->psi[j];
}

static double tau_of(kg_material material, double length)
{
  switch (material.scaling) {
    case KEDGE_SCALING_H:
      return material.stabilization * length;
    case KEDGE_SCALING_INVERSE_H:
      return material.stabilization / length;
    default:
      return material.stabilization;
  }
}

static void integrate_edge(dense_element *d, int order, const double (*corner)[2],
                           kg_material material, int l, bool reversed, double *a)
{
  const double *from = corner[l], *to = corner[(l + 1) % 3];
  const double length = hypot(to[0] - from[0], to[1] - from[1]);
  edge_point p = {.tau = tau_of(material, length),
                  .kappa = material.diffusion,
                  .normal = {(to[1] - from[1]) / length, (from[0] - to[0]) / length}};
  double t[POINTS], w[POINTS], ignored[2][STAR], r, s;
  kg_gauss_jacobi(order + 2, 0, t, w);
  for (int q = 0; q < order + 2; ++q) {
    place_on_edge(l, t[q], &r, &s);
    basis_at(order, corner, r, s, p.phi, ignored[0], ignored[1]);
    kg_legendre(order, reversed ? -t[q] : t[q], p.psi);
    p.weight = 0.5 * length * w[q];
    add_edge_point(d, l * (order + 1), order + 1, &p, a);
  }
}

void dense_create(dense_element *d, int order, const double (*corner)[2], kg_material material,
                  const bool reversed[3])
{
  const int N = kg_triangle_modes(order), n = 3 * (order + 1);
  *d = (dense_element){.N = N, .n = n};
  d->inverse = zeros(9 * (size_t)N * (size_t)N);
  d->b = zeros(3 * (size_t)N * (size_t)n);
  d->c = zeros(3 * (size_t)N * (size_t)n);
  d->g = zeros((size_t)n * (size_t)n);
  integrate_inside(d, order, corner, material, d->inverse);
  for (int l = 0; l < 3; ++l)
    integrate_edge(d, order, corner, material, l, reversed[l], d->inverse);
  d->condition = dense_invert(3 * N, d->inverse);
}

void dense_free(dense_element *d)
{
  free(d->inverse);
  free(d->b);
  free(d->c);
  free(d->g);
  *d = (dense_element){0};
}

/// y [rows] = a [rows][cols] x.
static void multiply(int rows, int cols, const double *a, const double *x, double *y)
{
  for (int i = 0; i < rows; ++i) {
    y[i] = 0.0;
    for (int j = 0; j < cols; ++j) y[i] += a[i * cols + j] * x[j];
  }
}

void dense_local(const dense_element *d, double *k)
{
  const int M = 3 * d->N;
  double column[3 * STAR], solved[3 * STAR], flux[3 * MODES];
  for (int j = 0; j < d->n; ++j) {
    for (int i = 0; i < M; ++i) column[i] = d->b[i * d->n + j];
    multiply(M, M, d->inverse, column, solved);
    multiply(d->n, M, d->c, solved, flux);
    for (int i = 0; i < d->n; ++i) k[i * d->n + j] = d->g[i * d->n + j] - flux[i];
  }
}

void dense_solve(const dense_element *d, const double *load, const double *lambda, double *solution)
{
  const int M = 3 * d->N;
  double right[3 * STAR];
  multiply(M, d->n, d->b, lambda, right);
  for (int i = 0; i < M; ++i) right[i] = (i < d->N ? load[i] : 0.0) - right[i];
  multiply(M, M, d->inverse, right, solution);
}

void dense_condensed(const dense_element *d, const double *load, double *f)
{
  const double none[3 * MODES] = {0};
  double solution[3 * STAR];
  dense_solve(d, load, none, solution);
  multiply(d->n, 3 * d->N, d->c, solution, f);
  for (int i = 0; i < d->n; ++i) f[i] = -f[i];
}

double dense_star(int order, const double (*corner)[2], const double *solution, double *star)
{
  const int N = kg_triangle_modes(order), S = kg_triangle_modes(order + 1);
  double map[2][2], phi[STAR], gradient[2][STAR], right[STAR] = {0};
  const double det = map_of(corner, map);
  double *a = zeros((size_t)S * (size_t)S);
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, 2 * order + 2, &rule), KEDGE_OK);
  for (int q = 0; q < rule.n; ++q) {
    basis_at(order + 1, corner, rule.r[q], rule.s[q], phi, gradient[0], gradient[1]);
    const double w = rule.w[q] * det;
    double u = 0.0, flux[2] = {0};
    for (int i = 0; i < N; ++i) {
      u += solution[i] * phi[i];
      for (int k = 0; k < 2; ++k) flux[k] += solution[(k + 1) * N + i] * phi[i];
    }
    // The constant tests nothing: its row says that the means agree.
    right[0] += w * u;
    for (int j = 0; j < S; ++j) a[j] += w * phi[j];
    for (int i = 1; i < S; ++i) {
      right[i] += w * (flux[0] * gradient[0][i] + flux[1] * gradient[1][i]);
      for (int j = 0; j < S; ++j)
        a[i * S + j] += w * (gradient[0][i] * gradient[0][j] + gradient[1][i] * gradient[1][j]);
    }
  }
  kg_triangle_rule_free(&rule);
  const double condition = dense_invert(S, a);
  multiply(S, S, a, right, star);
  free(a);
  return condition;
}
