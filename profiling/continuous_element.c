// The elements of continuous.h: modes, reference matrices, elimination of the interior.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "continuous.h"
#include "core/error.h"

/// A function of the reference triangle with its derivatives by r and s.
typedef struct jet {
  double v, r, s;
} jet;

static jet times(jet a, jet b)
{
  return (jet){a.v * b.v, a.r * b.v + a.v * b.r, a.s * b.v + a.v * b.s};
}

/// L_k+1' of the difference of two barycentric coordinates, k = 0 ... n - 1, by the recurrences of
/// Legendre polynomials and of their derivatives: L_k+1' = L_k-1' + (2 k + 1) L_k.
static void slopes(int n, jet t, jet *out)
{
  jet p0 = {1, 0, 0}, p1 = t, d0 = {0, 0, 0}, d1 = {1, 0, 0};
  for (int k = 0; k < n; ++k) {
    out[k] = d1;
    const jet tp = times(t, p1);
    const double a = (2.0 * k + 3) / (k + 2), b = (k + 1.0) / (k + 2), c = 2.0 * k + 3;
    const jet d2 = {d0.v + c * p1.v, d0.r + c * p1.r, d0.s + c * p1.s};
    const jet p2 = {a * tp.v - b * p0.v, a * tp.r - b * p0.r, a * tp.s - b * p0.s};
    p0 = p1;
    p1 = p2;
    d0 = d1;
    d1 = d2;
  }
}

void cont_modes(int order, double r, double s, double *phi, double *phi_r, double *phi_s)
{
  const jet corner[3] = {
      {-0.5 * (r + s), -0.5, -0.5}, {0.5 * (1 + r), 0.5, 0}, {0.5 * (1 + s), 0, 0.5}};
  const int n_inner = order > 2 ? kg_triangle_modes(order - 3) : 0;
  double d[CONT_MODES], d_r[CONT_MODES], d_s[CONT_MODES];
  jet mode[CONT_MODES], line[CONT_ORDER_MAX];
  int n = n_inner;
  if (n_inner) kg_dubiner(order - 3, r, s, d, d_r, d_s);
  for (int i = 0; i < n_inner; ++i)
    mode[i] = times(times(corner[0], corner[1]), times(corner[2], (jet){d[i], d_r[i], d_s[i]}));
  for (int l = 0; l < 3; ++l) mode[n++] = corner[l];
  for (int l = 0; l < 3; ++l) {
    const jet a = corner[l], b = corner[(l + 1) % 3];
    slopes(order - 1, (jet){b.v - a.v, b.r - a.r, b.s - a.s}, line);
    for (int k = 0; k < order - 1; ++k) mode[n++] = times(times(a, b), line[k]);
  }
  for (int i = 0; i < n; ++i) {
    phi[i] = mode[i].v;
    if (phi_r) phi_r[i] = mode[i].r;
    if (phi_s) phi_s[i] = mode[i].s;
  }
}

kedge_status cont_make_reference(kedge_context *ctx, int order, cont_reference *out)
{
  kg_triangle_rule rule;
  double phi[CONT_MODES], r[CONT_MODES], s[CONT_MODES];
  memset(out, 0, sizeof *out);
  out->order = order;
  out->n_modes = kg_triangle_modes(order);
  out->n_outer = 3 * order;
  out->n_inner = out->n_modes - out->n_outer;
  KG_TRY(kg_triangle_rule_create(ctx, 2 * order, &rule));
  for (int k = 0; k < rule.n; ++k) {
    cont_modes(order, rule.r[k], rule.s[k], phi, r, s);
    for (int i = 0, at = 0; i < out->n_modes; ++i)
      for (int j = 0; j <= i; ++j, ++at) {
        out->stiffness[0][at] += rule.w[k] * r[i] * r[j];
        out->stiffness[1][at] += rule.w[k] * (r[i] * s[j] + s[i] * r[j]);
        out->stiffness[2][at] += rule.w[k] * s[i] * s[j];
        out->mass[at] += rule.w[k] * phi[i] * phi[j];
      }
  }
  kg_triangle_rule_free(&rule);
  return KEDGE_OK;
}

void cont_factors(const double x[3], const double y[3], double factor[4])
{
  const double xr = 0.5 * (x[1] - x[0]), xs = 0.5 * (x[2] - x[0]);
  const double yr = 0.5 * (y[1] - y[0]), ys = 0.5 * (y[2] - y[0]);
  const double jacobian = xr * ys - xs * yr;
  factor[0] = (xs * xs + ys * ys) / jacobian;
  factor[1] = -(xr * xs + yr * ys) / jacobian;
  factor[2] = (xr * xr + yr * yr) / jacobian;
  factor[3] = jacobian;
}

/// sum[lane] -= row i . row j of their first n entries.
static inline void subtract(double sum[CONT_LANES], const double (*a)[CONT_LANES],
                            const double (*b)[CONT_LANES], int n)
{
  for (int k = 0; k < n; ++k)
#pragma omp simd
    for (int lane = 0; lane < CONT_LANES; ++lane) sum[lane] -= a[k][lane] * b[k][lane];
}

static void eliminate_row(int i, int n_inner, int n, double rows[][CONT_LANES])
{
  double(*row)[CONT_LANES] = rows + i * (i + 1) / 2;
  for (int j = 0; j <= (i < n ? i : n - 1); ++j) {
    const double(*other)[CONT_LANES] = rows + j * (j + 1) / 2;
    double sum[CONT_LANES];
    memcpy(sum, row[j], sizeof sum);
    subtract(sum, row, other, j < n_inner ? j : n_inner);
    if (j < n_inner && j == i)  // the reciprocal is what the rows below need
      for (int lane = 0; lane < CONT_LANES; ++lane) sum[lane] = 1 / sqrt(sum[lane]);
    else if (j < n_inner)
      for (int lane = 0; lane < CONT_LANES; ++lane) sum[lane] *= other[j][lane];
    memcpy(row[j], sum, sizeof sum);
  }
}

void cont_eliminate(const cont_reference *ref, const double factor[4][CONT_LANES],
                    const double load[][CONT_LANES], double rows[][CONT_LANES])
{
  const int n = ref->n_modes, packed = n * (n + 1) / 2;
  for (int at = 0; at < packed; ++at)
#pragma omp simd
    for (int lane = 0; lane < CONT_LANES; ++lane)
      rows[at][lane] = factor[0][lane] * ref->stiffness[0][at] +
                       factor[1][lane] * ref->stiffness[1][at] +
                       factor[2][lane] * ref->stiffness[2][at] + factor[3][lane] * ref->mass[at];
  memcpy(rows[packed], load, (size_t)n * sizeof *rows);
  for (int i = 0; i <= n; ++i) eliminate_row(i, ref->n_inner, n, rows);
}

void cont_substitute(const cont_reference *ref, double rows[][CONT_LANES], double u[][CONT_LANES])
{
  const int n = ref->n_modes, inner = ref->n_inner;
  for (int i = inner - 1; i >= 0; --i) {
    memcpy(u[i], rows[n * (n + 1) / 2 + i], sizeof u[i]);
    for (int j = i + 1; j < n; ++j)
      for (int lane = 0; lane < CONT_LANES; ++lane)
        u[i][lane] -= rows[j * (j + 1) / 2 + i][lane] * u[j][lane];
    for (int lane = 0; lane < CONT_LANES; ++lane) u[i][lane] *= rows[i * (i + 1) / 2 + i][lane];
  }
}
