#include "basis/polynomials.h"

#include <math.h>

#include "kedge/base.h"

enum {
  MAX = KEDGE_ORDER_MAX + 2,  // post-processing uses order + 1
  LEGENDRE_MAX = 39           // of a rule of KG_GAUSS_MAX points
};

void kg_wide_legendre(int order, long double t, long double *psi)
{
  long double previous = 0.0L, p = 1.0L;
  for (int k = 0; k <= order; ++k) {
    psi[k] = sqrtl(k + 0.5L) * p;
    const long double next = ((2 * k + 1) * t * p - k * previous) / (k + 1);
    previous = p;
    p = next;
  }
}

void kg_wide_jacobi(int n, int alpha, long double x, long double *p, long double *dp)
{
  const long double a = alpha;
  long double plain[MAX + 1], slope[MAX + 1];
  plain[0] = 1.0L;
  slope[0] = 0.0L;
  if (n >= 1) {
    plain[1] = 0.5L * (a + (a + 2.0L) * x);
    slope[1] = 0.5L * (a + 2.0L);
  }
  for (int k = 1; k < n; ++k) {
    double c[4];
    kg_jacobi_recurrence(k, alpha, c);
    plain[k + 1] = ((c[1] + c[2] * x) * plain[k] - c[3] * plain[k - 1]) / c[0];
    if (dp)
      slope[k + 1] = ((c[1] + c[2] * x) * slope[k] + c[2] * plain[k] - c[3] * slope[k - 1]) / c[0];
  }
  const long double part = ldexpl(1.0L, -alpha - 1);
  for (int j = 0; j <= n; ++j) {
    const long double norm = sqrtl((2.0L * j + a + 1.0L) * part);
    p[j] = norm * plain[j];
    if (dp) dp[j] = norm * slope[j];
  }
}

/// phi_ij = sqrt(2) P_i(a) P_j^(2i+1,0)(b) (1-b)^i with a = 2 (1+r)/(1-s) - 1, b = s. The factors
/// (1-b)^i keep every term finite at the vertex s = 1.
void kg_wide_dubiner(int order, long double r, long double s, long double *phi, long double *phi_r,
                     long double *phi_s)
{
  const long double a = s < 1.0L ? 2.0L * (1.0L + r) / (1.0L - s) - 1.0L : -1.0L;
  long double pa[MAX + 1], da[MAX + 1], pb[MAX + 1], db[MAX + 1];
  kg_wide_jacobi(order, 0, a, pa, phi_r ? da : NULL);
  long double power = 1.0L, lower = 0.0L;  // ((1-b)/2)^i and ((1-b)/2)^(i-1)
  long double norm = sqrtl(2.0L);          // times 2^i
  for (int i = 0; i <= order; ++i) {
    kg_wide_jacobi(order - i, 2 * i + 1, s, pb, phi_r ? db : NULL);
    for (int j = 0; i + j <= order; ++j) {
      const int d = i + j, mode = d * (d + 1) / 2 + i;
      phi[mode] = norm * pa[i] * pb[j] * power;
      if (!phi_r) continue;
      phi_r[mode] = norm * da[i] * pb[j] * lower;
      phi_s[mode] = norm * (da[i] * pb[j] * 0.5L * (1.0L + a) * lower +
                            pa[i] * (db[j] * power - 0.5L * i * pb[j] * lower));
    }
    lower = power;
    power *= 0.5L * (1.0L - s);
    norm *= 2.0L;
  }
}

void kg_legendre(int order, double t, double *psi)
{
  long double wide[LEGENDRE_MAX + 1];
  kg_wide_legendre(order, t, wide);
  kg_round_all(order + 1, wide, psi);
}

void kg_dubiner(int order, double r, double s, double *phi, double *phi_r, double *phi_s)
{
  enum { MODES = (MAX + 1) * (MAX + 2) / 2 };
  long double wide[3][MODES];
  const int n = kg_triangle_modes(order);
  kg_wide_dubiner(order, r, s, wide[0], phi_r ? wide[1] : NULL, phi_r ? wide[2] : NULL);
  kg_round_all(n, wide[0], phi);
  if (!phi_r) return;
  kg_round_all(n, wide[1], phi_r);
  kg_round_all(n, wide[2], phi_s);
}

void kg_dubiner_factors(int order, double a, double b, double *along, double *across)
{
  long double value[MAX + 1];
  kg_wide_jacobi(order, 0, a, value, NULL);
  kg_round_all(order + 1, value, along);
  for (int i = 0; i <= order; ++i) {
    const long double norm = sqrtl(2.0L) * powl(1.0L - b, i);
    kg_wide_jacobi(order - i, 2 * i + 1, b, value, NULL);
    for (int j = 0; i + j <= order; ++j)
      across[(i + j) * (i + j + 1) / 2 + i] = (double)(norm * value[j]);
  }
}

/// The nodes of a ring, whose lowest corner has the integer coordinates (c, c) and whose edges have
/// `size` intervals, in a triangle whose edges have `order`. @return how many
static int lagrange_ring(int order, int size, int c, double *r, double *s)
{
  static const int corner[3][2] = {{0, 0}, {1, 0}, {0, 1}};
  double *const to[2] = {r, s};
  int n = 0;
  for (int v = 0; v < (size > 0 ? 3 : 1); ++v, ++n)
    for (int k = 0; k < 2; ++k) to[k][n] = 2.0 * (c + size * corner[v][k]) / order - 1.0;
  for (int edge = 0; edge < 3; ++edge)
    for (int step = 1; step < size; ++step, ++n)
      for (int k = 0; k < 2; ++k) {
        const int ends = (size - step) * corner[edge][k] + step * corner[(edge + 1) % 3][k];
        to[k][n] = 2.0 * (c + ends) / order - 1.0;
      }
  return n;
}

void kg_lagrange_nodes(int order, double *r, double *s)
{
  for (int c = 0, n = 0, size = order; size >= 0; ++c, size -= 3)
    n += lagrange_ring(order, size, c, r + n, s + n);
}
