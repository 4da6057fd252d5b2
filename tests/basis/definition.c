#include "definition.h"

#include <stdlib.h>

#include "basis/edge_place.h"
#include "basis/quadrature.h"

enum { EDGE_POINTS = ORDER + 3 };

static void integrate_inside(int order, definition *d)
{
  kg_triangle_rule rule;
  assert_int_equal(kg_triangle_rule_create(NULL, 2 * order + 7, &rule), KEDGE_OK);
  double f[STAR], r[STAR], s[STAR];
  for (int q = 0; q < rule.n; ++q) {
    kg_dubiner(order + 1, rule.r[q], rule.s[q], f, r, s);
    for (int i = 0; i < d->S; ++i)
      for (int j = 0; j < d->S; ++j) {
        d->dr[i][j] += rule.w[q] * f[i] * r[j];
        d->ds[i][j] += rule.w[q] * f[i] * s[j];
        d->stiff[0][i][j] += rule.w[q] * r[i] * r[j];
        d->stiff[1][i][j] += rule.w[q] * (r[i] * s[j] + s[i] * r[j]);
        d->stiff[2][i][j] += rule.w[q] * s[i] * s[j];
      }
  }
  kg_triangle_rule_free(&rule);
}

static void integrate_over_edges(int order, definition *d)
{
  double t[EDGE_POINTS], w[EDGE_POINTS], f[STAR], psi[ORDER + 1], r, s;
  kg_gauss_jacobi(EDGE_POINTS, 0, t, w);
  for (int l = 0; l < 3; ++l)
    for (int q = 0; q < EDGE_POINTS; ++q) {
      place_on_edge(l, t[q], &r, &s);
      kg_dubiner(order, r, s, f, NULL, NULL);
      kg_legendre(order, t[q], psi);
      for (int i = 0; i < d->N; ++i) {
        for (int j = 0; j < d->m; ++j) d->lift[i][l * d->m + j] += w[q] * f[i] * psi[j];
        for (int j = 0; j < d->N; ++j) d->edge_mass[l][i][j] += w[q] * f[i] * f[j];
      }
    }
}

/// Entries are sums over at most N modes or the rule's points of numbers that are at most about
/// the largest entry of the stiffness matrix.
static double entry_tolerance(const definition *d)
{
  double scale = 1.0;
  for (int k = 0; k < 3; ++k) scale = fmax(scale, largest(STAR * STAR, d->stiff[k][0]));
  return rounding(STAR) * scale;
}

static definition *define(int order)
{
  definition *d = calloc(1, sizeof *d);
  assert_non_null(d);
  d->N = kg_triangle_modes(order);
  d->S = kg_triangle_modes(order + 1);
  d->m = order + 1;
  d->n = 3 * d->m;
  integrate_inside(order, d);
  integrate_over_edges(order, d);
  d->tolerance = entry_tolerance(d);
  return d;
}

void for_all_orders(void (*check)(const kg_reference *, const definition *))
{
  for (int order = KEDGE_ORDER_MIN; order <= ORDER; ++order) {
    double *values;
    assert_int_equal(kg_reference_create(NULL, order, &values), KEDGE_OK);
    definition *d = define(order);
    const kg_reference ref = kg_reference_at(order, values);
    check(&ref, d);
    free(d);
    free(values);
  }
}

int degree_of(int mode)
{
  int degree = 0;
  while (kg_triangle_modes(degree) <= mode) ++degree;
  return degree;
}

int along(int mode)
{
  return mode - kg_triangle_modes(degree_of(mode) - 1);
}
