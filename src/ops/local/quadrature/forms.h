/// @file
/// Sums over the points of an element that make its matrices, and their elimination, by a team.
/// Matrices are packed lower triangles in scratch. Thread ownership: in row i, each thread has the
/// columns that KG_TEAM_EACH over 0 .. i gives it, in all functions that write without waiting.
#pragma once
#include "ops/local/quadrature/exact.h"

/// The first `rows` rows of a: sum_l of t_l <u - lambda, u - lambda>, unknowns of u first.
KG_INLINE void kg_cell_put_stabilization(const kg_cell_tables *t, const kg_cell_geometry *geometry,
                                         int rows, kg_team team, double *a)
{
  const int N = t->size.n_modes, m = t->size.n_facet, V = t->size.n_facets;
  const int packed = N * (N + 1) / 2;
  for (int i = 0; i < rows; ++i) {
    double *const row = a + i * (i + 1) / 2;
    KG_TEAM_EACH(team, j, 0, i + 1)
    {
      double sum = 0.0;
      if (i < N)
        for (int l = 0; l < V; ++l)
          sum += geometry->tau[l] * t->facet_mass[l * packed + i * (i + 1) / 2 + j];
      else if (j < N)
        sum = -geometry->tau[(i - N) / m] * t->lift[(i - N) * N + j];
      else if (i == j)
        sum = geometry->tau[(i - N) / m];
      row[j] = sum;
    }
  }
}

/// The first `rows` rows of a += sum_q w Y_q^T G Y_q, Y [point][component][columns].
KG_INLINE void kg_cell_add_gradients(const kg_cell_points *points, const kg_cell_geometry *geometry,
                                     const double *gradient, int columns, int rows, kg_team team,
                                     double *a)
{
  for (int q = 0; q < points->n; ++q) {
    const double *const y = gradient + 2 * q * columns, *const z = y + columns;
    const double *const g = geometry->flux_matrix + 3 * q;
    for (int i = 0; i < rows; ++i) {
      double *const row = a + i * (i + 1) / 2;
      const double along = g[0] * y[i] + g[1] * z[i], across = g[1] * y[i] + g[2] * z[i];
      KG_TEAM_EACH(team, j, 0, i + 1) row[j] += along * y[j] + across * z[j];
    }
  }
}

/// The first N rows of a += (c u, v), c the reaction.
KG_INLINE void kg_cell_add_mass(const kg_cell_tables *t, const kg_cell_geometry *geometry,
                                const kg_cell_material *material, int32_t e, kg_team team,
                                double *a)
{
  const kg_cell_points *points = &t->points;
  if (material->reaction == 0.0) return;
  for (int q = 0; q < points->n; ++q) {
    const double *const phi = points->value + q * points->size.n_star;
    const double c = kg_cell_reaction_at(t, material, e, q);
    for (int i = 0; i < points->size.n_modes; ++i) {
      double *const row = a + i * (i + 1) / 2;
      const double value = c * geometry->jacobian[q] * phi[i];
      KG_TEAM_EACH(team, j, 0, i + 1) row[j] += value * phi[j];
    }
  }
}

/// The first `rows` rows of a += the part of the flux, where others may read the geometry. Scratch
/// `h` is that of kg_cell_exact_count(), which then has H.
KG_INLINE void kg_cell_add_flux(const kg_cell_tables *t, const kg_cell_geometry *geometry,
                                bool exact, int rows, kg_team team, double *h, double *a)
{
  const int columns = t->size.n_modes + t->size.n_trace;
  if (exact) {
    kg_cell_exact_make(t, geometry, team, h);
    kg_cell_exact_add(t, h, rows, team, a);
  } else {
    kg_cell_add_gradients(&t->points, geometry, t->gradient, columns, rows, team, a);
  }
}

/// Eliminate the first `pivots` of n unknowns: a becomes [L; W^T], of W = L^-1 B, and behind it
/// what is left, S - W^T W. Waits before and after. @param column  [n], scratch
KG_INLINE void kg_cell_eliminate(int pivots, int n, kg_team team, double *column, double *a)
{
  for (int k = 0; k < pivots; ++k) {
    kg_team_wait(team);
    const double per_root = 1.0 / sqrt(a[k * (k + 1) / 2 + k]);
    KG_TEAM_EACH(team, i, k, n) column[i] = per_root * a[i * (i + 1) / 2 + k];
    kg_team_wait(team);
    KG_TEAM_EACH(team, i, k, n) a[i * (i + 1) / 2 + k] = column[i];
    for (int i = k + 1; i < n; ++i) {
      double *const row = a + i * (i + 1) / 2;
      const double c = column[i];
      KG_TEAM_EACH(team, j, k + 1, i + 1) row[j] -= c * column[j];
    }
  }
  kg_team_wait(team);
}

/// x = L^-T x, x [n]. Waits before and after.
KG_INLINE void kg_cell_substitute(int n, const double *l, kg_team team, double *x)
{
  for (int k = n - 1; k >= 0; --k) {
    const double *const row = l + k * (k + 1) / 2;
    kg_team_wait(team);
    const double value = x[k] / row[k];
    kg_team_wait(team);
    KG_TEAM_EACH(team, j, 0, k) x[j] -= row[j] * value;
    if (team.thread == 0) x[k] = value;
  }
  kg_team_wait(team);
}
