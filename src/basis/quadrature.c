#include "basis/quadrature.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "basis/polynomials.h"
#include "core/memory.h"

/// Value and derivative of the (unnormalised) Jacobi polynomial P_n^(alpha,0) at x, -1 < x < 1.
static void jacobi(int n, int alpha, long double x, long double *value, long double *slope)
{
  const long double a = alpha;
  long double previous = 1.0L, p = 0.5L * (a + (a + 2.0L) * x);
  if (n == 0) p = 1.0L, previous = 0.0L;
  for (int k = 1; k < n; ++k) {
    double c[4];
    kg_jacobi_recurrence(k, alpha, c);
    const long double next = ((c[1] + c[2] * x) * p - c[3] * previous) / c[0];
    previous = p;
    p = next;
  }
  const long double c = 2.0L * n + a;
  *value = p;
  *slope = (n * (a - c * x) * p + 2.0L * n * (n + a) * previous) / (c * (1.0L - x * x));
}

void kg_wide_gauss_jacobi(int n, int alpha, long double *x, long double *w)
{
  for (int i = 0; i < n; ++i) {
    // Newton from a Chebyshev point, with the roots already found divided out.
    long double z = -cos(M_PI * (2.0 * i + 1.0) / (2.0 * n));
    if (i > 0) z = 0.5L * (z + x[i - 1]);
    long double p, dp;
    for (int step = 0; step < 100; ++step) {
      long double deflation = 0.0L;
      for (int j = 0; j < i; ++j) deflation += 1.0L / (z - x[j]);
      jacobi(n, alpha, z, &p, &dp);
      const long double delta = -p / (dp - deflation * p);
      z += delta;
      if (fabsl(delta) < 2.0L * LDBL_EPSILON) break;
    }
    jacobi(n, alpha, z, &p, &dp);
    x[i] = z;
    // For beta = 0 and integer alpha the general weight reduces to this.
    w[i] = ldexpl(1.0L, alpha + 1) / ((1.0L - z * z) * dp * dp);
  }
}

void kg_gauss_jacobi(int n, int alpha, double *x, double *w)
{
  long double wide[2][KG_GAUSS_MAX];
  assert(n <= KG_GAUSS_MAX);
  kg_wide_gauss_jacobi(n, alpha, wide[0], wide[1]);
  kg_round_all(n, wide[0], x);
  kg_round_all(n, wide[1], w);
}

kedge_status kg_triangle_rule_create(kedge_context *ctx, int degree, kg_triangle_rule *out)
{
  *out = (kg_triangle_rule){0};
  const int n = degree / 2 + 1;
  double *memory;
  KG_TRY(kg_host_alloc(ctx, 3 * (size_t)n * n + 4 * (size_t)n, sizeof *memory, &memory));
  *out = (kg_triangle_rule){.n = n * n, .r = memory, .s = memory + n * n, .w = memory + 2 * n * n};
  double *a = memory + 3 * n * n, *wa = a + n, *b = a + 2 * n, *wb = a + 3 * n;
  kg_gauss_jacobi(n, 0, a, wa);
  kg_gauss_jacobi(n, 1, b, wb);
  // r = (1+a)(1-b)/2 - 1, s = b, with Jacobian (1-b)/2.
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const int q = j * n + i;
      out->r[q] = 0.5 * (1.0 + a[i]) * (1.0 - b[j]) - 1.0;
      out->s[q] = b[j];
      out->w[q] = 0.5 * wa[i] * wb[j];
    }
  return KEDGE_OK;
}

void kg_triangle_rule_free(kg_triangle_rule *rule)
{
  free(rule->r);  // one piece of memory
  *rule = (kg_triangle_rule){0};
}
