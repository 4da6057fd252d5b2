/// @file
/// Z^-1 of a tetrahedron with right sides beside it, and its elimination, by a team
/// (ops/local/quadrature/team.h). Rows of a matrix go to the warps of the team, entries of a row to
/// the lanes of a warp: no result depends on how many warps there are.
///
/// The matrix has N rows and `width` columns, the first N of which are symmetric; row i begins at
/// its diagonal (kg_upper_entry()).
#pragma once
#include "ops/local/quadrature/team.h"
#include "ops/local/tetrahedron/tetrahedra.h"

/// i = begin, begin + 1, ... before end, those of the warp.
#define KG_TEAM_ROWS(team, i, begin, end)                            \
  for (int i = (begin) + (team).thread / KG_TEAM_THREADS; i < (end); \
       i += KG_TEAM_STEP(team) / KG_TEAM_THREADS)
/// j = begin, begin + 1, ... before end, those of the lane in a row of its warp.
#define KG_TEAM_COLUMNS(team, j, begin, end) \
  for (int j = (begin) + (team).thread % KG_TEAM_THREADS; j < (end); j += KG_TEAM_THREADS)

/// Whether the calling lane writes what its warp has summed.
KG_INLINE bool kg_team_is_first_lane(kg_team team)
{
  return team.thread % KG_TEAM_THREADS == 0;
}

/// Write Z^-1 in the first N columns.
KG_INLINE void kg_tetrahedron_put_modes(const kg_tetrahedron_reference *ref,
                                        const kg_tetrahedron_factors *t, kg_team team, int width,
                                        double *matrix)
{
  const int N = ref->size.n_modes;
  KG_TEAM_ROWS(team, i, 0, N)
  KG_TEAM_COLUMNS(team, j, i, N)
  {
    const int k = kg_upper_entry(N, i, j);
    double sum = i == j ? t->mass : 0.0;
    for (int p = 0; p < KG_SPACE_PAIRS; ++p) sum += t->stiffness[p] * ref->stiffness[p][k];
    for (int l = 0; l < 4; ++l) sum += t->tau[l] * ref->facet_mass[l][k];
    matrix[kg_upper_entry(width, i, j)] = sum;
  }
}

/// Entry (i, c) of R.
KG_INLINE double kg_tetrahedron_lift(const kg_tetrahedron_reference *ref,
                                     const kg_tetrahedron_factors *t, int i, int c)
{
  const int k = i * ref->size.n_trace + c, l = c / ref->size.n_facet;
  double sum = t->tau[l] * ref->lift[k];
  for (int a = 0; a < 3; ++a) sum += t->lift[l][a] * ref->lift_d[a][k];
  return sum;
}

/// Entry (r, c) of S0, c <= r.
KG_INLINE double kg_tetrahedron_trace(const kg_tetrahedron_reference *ref,
                                      const kg_tetrahedron_factors *t, int r, int c)
{
  const int l = r / ref->size.n_facet, k = c / ref->size.n_facet;
  const double sum = t->trace[kg_packed_entry(l, k)] * ref->trace_mass[kg_packed_entry(r, c)];
  return r == c ? sum + t->tau[l] : sum;
}

/// Eliminate `pivots` of the n rows.
KG_INLINE void kg_tetrahedron_eliminate_some(int pivots, int n, int width, double *matrix,
                                             kg_team team)
{
  for (int k = 0; k < pivots; ++k) {
    kg_team_wait(team);
    const double *const pivot = matrix + kg_upper_entry(width, k, 0);
    const double per_pivot = 1.0 / pivot[k];
    KG_TEAM_ROWS(team, i, k + 1, n)
    {
      double *const row = matrix + kg_upper_entry(width, i, 0);
      const double times = pivot[i] * per_pivot;
      KG_TEAM_COLUMNS(team, j, i, width) row[j] -= times * pivot[j];
    }
  }
  kg_team_wait(team);
}

/// With A = L D L^T in the first n columns: rows of D L^T there, L^-1 times the others.
KG_INLINE void kg_tetrahedron_eliminate(int n, int width, double *matrix, kg_team team)
{
  kg_tetrahedron_eliminate_some(n - 1, n, width, matrix, team);
}

/// x = A^-1 b after elimination, where b was the last column, which is lost.
KG_INLINE void kg_tetrahedron_substitute(int n, int width, double *matrix, kg_team team, double *x)
{
  const int last = width - 1;
  for (int i = n - 1; i >= 0; --i) {
    const double value =
        matrix[kg_upper_entry(width, i, last)] / matrix[kg_upper_entry(width, i, i)];
    if (team.thread == 0) x[i] = value;
    KG_TEAM_EACH(team, j, 0, i)
    matrix[kg_upper_entry(width, j, last)] -= matrix[kg_upper_entry(width, j, i)] * value;
    kg_team_wait(team);
  }
}
