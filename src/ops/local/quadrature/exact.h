/// @file
/// The flux of material.exact: H = M^-1 with M_ij = sum_q w_q Phi_i^T G_q^-1 Phi_j, in scratch as a
/// packed lower triangle, in place of sum_q w_q Phi_i^T G_q Phi_j. The weak gradient of the
/// unknowns of u and trace has coefficients B = [-D^T | F~], so that the flux has the part B^T H B
/// in the matrices.
#pragma once
#include "ops/local/quadrature/geometry.h"

/// Doubles of scratch: H and three vectors of S.
KG_INLINE int kg_cell_exact_count(const kg_cell_tables *t, const kg_cell_material *material)
{
  const int S = t->size.n_flux;
  return material->exact ? S * (S + 1) / 2 + 3 * S : 0;
}

/// M, from the flux matrices of the points.
KG_INLINE void kg_cell_put_flux_mass(const kg_cell_points *points, const kg_cell_geometry *geometry,
                                     kg_team team, double *m)
{
  const int S = points->size.n_flux, half = S / 2;
  KG_TEAM_EACH(team, i, 0, S * (S + 1) / 2) m[i] = 0.0;
  kg_team_wait(team);
  for (int q = 0; q < points->n; ++q) {
    const double *const g = geometry->flux_matrix + 3 * q, *const flux = points->flux + q * S;
    const double w = points->weight[q], scale = w * w / (g[0] * g[2] - g[1] * g[1]);
    for (int i = 0; i < S; ++i) {
      const double value = scale * flux[i];
      const double by_r = value * (i < half ? g[2] : -g[1]), by_s = value * g[0];
      double *const row = m + i * (i + 1) / 2;
      KG_TEAM_EACH(team, j, 0, i < half ? i + 1 : half) row[j] += by_r * flux[j];
      KG_TEAM_EACH(team, j, half, i + 1) row[j] += by_s * flux[j];
    }
  }
}

/// m = m^-1, positive definite: unknown after unknown changes places with its right side. Waits
/// before and after. @param column  [n], scratch
KG_INLINE void kg_cell_invert(int n, kg_team team, double *column, double *m)
{
  for (int k = 0; k < n; ++k) {
    kg_team_wait(team);
    const double per_pivot = 1.0 / m[k * (k + 1) / 2 + k];
    KG_TEAM_EACH(team, i, 0, n) column[i] = m[i < k ? k * (k + 1) / 2 + i : i * (i + 1) / 2 + k];
    kg_team_wait(team);
    for (int i = 0; i < n; ++i) {
      double *const row = m + i * (i + 1) / 2;
      const double c = per_pivot * column[i];
      KG_TEAM_EACH(team, j, 0, i + 1) row[j] -= c * column[j];
    }
    kg_team_wait(team);
    KG_TEAM_EACH(team, i, 0, n)
    {
      m[i < k ? k * (k + 1) / 2 + i : i * (i + 1) / 2 + k] =
          i == k ? -per_pivot : per_pivot * column[i];
    }
  }
  kg_team_wait(team);
  KG_TEAM_EACH(team, i, 0, n * (n + 1) / 2) m[i] = -m[i];
  kg_team_wait(team);
}

/// H of an element whose geometry others may read.
KG_INLINE void kg_cell_exact_make(const kg_cell_tables *t, const kg_cell_geometry *geometry,
                                  kg_team team, double *h)
{
  const int S = t->size.n_flux;
  kg_cell_put_flux_mass(&t->points, geometry, team, h);
  kg_cell_invert(S, team, h + S * (S + 1) / 2, h);
}

/// out = H x, which the team may read after kg_team_wait(). Zeros of x cost nothing.
KG_INLINE void kg_cell_exact_multiply(int S, const double *h, const double *x, kg_team team,
                                      double *out)
{
  KG_TEAM_EACH(team, i, 0, S) out[i] = 0.0;
  for (int j = 0; j < S; ++j) {
    const double *const row = h + j * (j + 1) / 2;
    const double value = x[j];
    if (value == 0.0) continue;
    KG_TEAM_EACH(team, i, 0, S) out[i] += value * (i < j ? row[i] : h[i * (i + 1) / 2 + j]);
  }
}

/// The first `rows` rows of a += B^T H B. Waits before.
KG_INLINE void kg_cell_exact_add(const kg_cell_tables *t, double *h, int rows, kg_team team,
                                 double *a)
{
  const int S = t->size.n_flux, p = t->size.n_modes + t->size.n_trace;
  double *const x = h + S * (S + 1) / 2, *const y = x + S;
  for (int i = 0; i < rows; ++i) {
    double *const row = a + i * (i + 1) / 2;
    kg_team_wait(team);
    KG_TEAM_EACH(team, k, 0, S) x[k] = t->weak[k * p + i];
    kg_team_wait(team);
    kg_cell_exact_multiply(S, h, x, team, y);
    kg_team_wait(team);
    for (int k = 0; k < S; ++k) {
      const double *const weak = t->weak + k * p;
      const double value = y[k];
      KG_TEAM_EACH(team, j, 0, i + 1) row[j] += value * weak[j];
    }
  }
}

/// s += H B x, of the columns of B from `begin` to `end`. Waits before; s others may read after
/// kg_team_wait().
KG_INLINE void kg_cell_exact_flux(const kg_cell_tables *t, double *h, int begin, int end,
                                  const double *x, kg_team team, double *s)
{
  const int S = t->size.n_flux, p = t->size.n_modes + t->size.n_trace;
  double *const g = h + S * (S + 1) / 2, *const product = g + S;
  kg_team_wait(team);
  KG_TEAM_EACH(team, k, 0, S)
  {
    double sum = 0.0;
    for (int j = begin; j < end; ++j) sum += t->weak[k * p + j] * x[j - begin];
    g[k] = sum;
  }
  kg_team_wait(team);
  kg_cell_exact_multiply(S, h, g, team, product);
  KG_TEAM_EACH(team, k, 0, S) s[k] += product[k];
}
