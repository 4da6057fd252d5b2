/// @file
/// What a team does for one tetrahedron whose coefficients vary inside of it: sums over the points
/// of a rule of the energy K q . q + c u u, with q the weak gradient of u and trace. At a point
/// K = C C^T, and v are three numbers C^T q and one of u, of each mode: matrices are sums of v v^T,
/// beside which is what facets add. Modes of u come first, those of the trace follow, with the
/// weak gradient
///   q = sum_l normal[l] F_l x_l - sum_a grad[a] D_a^T u.
/// The stabilization that follows the diffusion takes its mean over the element.
#pragma once
#include <float.h>

#include "ops/local/tetrahedron/element.h"

enum {
  KG_VARYING_POINTS = 4,  ///< that are taken together
  KG_VARYING_ROWS = 4,    ///< of v
  KG_VARYING_ROOTS = 16   ///< numbers of a point: C, the root of c, C^T grad[a]
};

/// Scratch of an element, behind its factors: the mean diffusion, and of points that are taken
/// together what they are and v, [point][row][columns].
typedef struct kg_varying {
  const kg_tetrahedron_points *points;
  const kg_tetrahedron_factors *t;
  const double *values;  ///< [function][point][KG_LANES]: diffusion, reaction; of the lane
  double *roots, *v;
  int columns;
} kg_varying;

KG_INLINE size_t kg_varying_scratch(int columns)
{
  return (size_t)(KG_TETRAHEDRON_FACTORS + KG_SPACE_PAIRS +
                  KG_VARYING_POINTS * (KG_VARYING_ROOTS + KG_VARYING_ROWS * columns));
}

/// Open the scratch of a team: factors are made, whose stabilization alone depends on the material.
KG_INLINE kg_varying kg_varying_open(const kg_tetrahedra *cells,
                                     const kg_space_materials *materials, int32_t e, int columns,
                                     kg_team team)
{
  kg_tetrahedron_factors *const factors = (kg_tetrahedron_factors *)team.scratch;
  double *const mean = team.scratch + KG_TETRAHEDRON_FACTORS, *const roots = mean + KG_SPACE_PAIRS;
  const int n = cells->points.n;
  const double per_measure = 0.75;  // of the reference tetrahedron
  const kg_varying out = {&cells->points,
                          factors,
                          materials->values + kg_cell_at(e, KG_SPACE_FUNCTIONS * n, 0),
                          roots,
                          roots + KG_VARYING_POINTS * KG_VARYING_ROOTS,
                          columns};
  KG_TEAM_ROWS(team, k, 0, KG_SPACE_PAIRS)
  {
    double sum = 0.0;
    KG_TEAM_COLUMNS(team, p, 0, n)
    sum += cells->points.weight[p] * out.values[(int64_t)(k * n + p) * KG_LANES];
    sum = kg_team_sum(sum);
    if (kg_team_is_first_lane(team)) mean[k] = per_measure * sum;
  }
  kg_team_wait(team);
  if (team.thread == 0) {
    kg_space_material material = materials->one;
    for (int k = 0; k < KG_SPACE_PAIRS; ++k) material.diffusion[k] = mean[k];
    kg_tetrahedron_factors_with(cells, &material, e, factors);
  }
  kg_team_wait(team);
  return out;
}

/// What point p is, times the root of its weight.
KG_INLINE void kg_varying_root(const kg_varying *of, int p, double *root)
{
  const int n = of->points->n;
  const double w = of->points->weight[p] * of->t->jacobian;
  double k[KG_SPACE_FUNCTIONS];
  for (int f = 0; f < KG_SPACE_FUNCTIONS; ++f)
    k[f] = w * of->values[(int64_t)(f * n + p) * KG_LANES];
  // Cholesky's factor by columns: xx, xy, xz, yy, yz, zz. Rounding leaves no root of less than 0.
  root[0] = sqrt(k[0]);
  root[1] = k[1] / root[0];
  root[2] = k[2] / root[0];
  root[3] = sqrt(fmax(k[3] - root[1] * root[1], DBL_MIN));
  root[4] = (k[4] - root[1] * root[2]) / root[3];
  root[5] = sqrt(fmax(k[5] - root[2] * root[2] - root[4] * root[4], 0.0));
  root[6] = sqrt(k[6]);
  for (int a = 0; a < 3; ++a) {
    const double *const g = of->t->grad[a];
    root[7 + 3 * a] = root[0] * g[0] + root[1] * g[1] + root[2] * g[2];
    root[8 + 3 * a] = root[3] * g[1] + root[4] * g[2];
    root[9 + 3 * a] = root[5] * g[2];
  }
}

/// C^T normal[l], component k.
KG_INLINE double kg_varying_normal(const double *root, int l, int k)
{
  const double *const turned = root + 7 + k;
  return l == 0 ? turned[0] + turned[3] + turned[6] : -turned[3 * (l - 1)];
}

/// v of columns [0, columns) whose gradients are sign sum_a grad[a] table[a]; reaction where
/// `value` is not NULL. @param[in] table  [point][3][columns]
KG_INLINE void kg_varying_put_modes(const kg_varying *of, int first, int count, int columns,
                                    double sign, const double *table, const double *value,
                                    kg_team team)
{
  for (int i = 0; i < count; ++i) {
    const double *const root = of->roots + i * KG_VARYING_ROOTS;
    const double *const d = table + (int64_t)(first + i) * 3 * columns;
    double *const v = of->v + i * KG_VARYING_ROWS * of->columns;
    KG_TEAM_EACH(team, j, 0, columns)
    {
      for (int k = 0; k < 3; ++k)
        v[k * of->columns + j] = sign * (root[7 + k] * d[j] + root[10 + k] * d[columns + j] +
                                         root[13 + k] * d[2 * columns + j]);
      v[3 * of->columns + j] = value ? root[6] * value[(int64_t)(first + i) * columns + j] : 0.0;
    }
  }
}

/// Add v v^T of points to rows [0, n) of a matrix.
KG_INLINE void kg_varying_add(const kg_varying *of, int count, int n, int width, double *matrix,
                              kg_team team)
{
  const int columns = of->columns;
  KG_TEAM_ROWS(team, i, 0, n)
  {
    double *const row = matrix + kg_upper_entry(width, i, 0);
    for (int p = 0; p < count; ++p) {
      const double *const v = of->v + p * KG_VARYING_ROWS * columns;
      const double x = v[i], y = v[columns + i], z = v[2 * columns + i], u = v[3 * columns + i];
      KG_TEAM_COLUMNS(team, j, i, columns)
      row[j] += x * v[j] + y * v[columns + j] + z * v[2 * columns + j] + u * v[3 * columns + j];
    }
  }
}

KG_INLINE int kg_varying_count(const kg_varying *of, int first)
{
  const int left = of->points->n - first;
  return left < KG_VARYING_POINTS ? left : KG_VARYING_POINTS;
}

KG_INLINE void kg_varying_put_roots(const kg_varying *of, int first, int count, kg_team team)
{
  kg_team_wait(team);  // others may read those of points before
  KG_TEAM_EACH(team, i, 0, count)
  kg_varying_root(of, first + i, of->roots + i * KG_VARYING_ROOTS);
  kg_team_wait(team);
}

/// Zero rows [0, n), of which row i has width - i entries.
KG_INLINE void kg_varying_clear(int n, int width, double *matrix, kg_team team)
{
  KG_TEAM_EACH(team, i, 0, kg_upper_entry(width, n - 1, width)) matrix[i] = 0.0;
}

KG_INLINE int kg_varying_make_columns(kg_cell_sizes size)
{
  return size.n_modes + size.n_trace;
}
KG_INLINE size_t kg_varying_make_scratch(kg_cell_sizes size)
{
  const int rows = kg_varying_make_columns(size);
  return kg_varying_scratch(rows) + (size_t)kg_tetrahedron_matrix_count(rows, 1);
}

/// K^e and F^e: u is eliminated from the matrix of u and trace.
KG_INLINE void kg_varying_make_lane(const void *arguments, int32_t lane, kg_team team)
{
  const kg_tetrahedron_make_args *args = (const kg_tetrahedron_make_args *)arguments;
  const kg_tetrahedron_reference *ref = &args->cells.reference;
  const kg_tetrahedron_points *const points = &args->cells.points;
  const int N = ref->size.n_modes, n = ref->size.n_trace, m = ref->size.n_facet, rows = N + n;
  double *const local = args->local + kg_cell_at(lane, ref->size.n_packed, 0);
  double *const condensed = args->condensed + kg_cell_at(lane, n, 0);
  if (lane >= args->cells.n_elements) {
    KG_TEAM_EACH(team, i, 0, ref->size.n_packed) local[i * KG_LANES] = 0.0;
    KG_TEAM_EACH(team, i, 0, n) condensed[i * KG_LANES] = 0.0;
    return;
  }
  double *const matrix = team.scratch + kg_varying_scratch(rows);
  const double *const load = args->load + kg_cell_at(lane, N, 0);
  const int width = rows + 1;
  const kg_varying of = kg_varying_open(&args->cells, &args->materials, lane, rows, team);
  kg_varying_clear(rows, width, matrix, team);
  for (int first = 0; first < points->n; first += KG_VARYING_POINTS) {
    const int count = kg_varying_count(&of, first);
    kg_varying_put_roots(&of, first, count, team);
    kg_varying_put_modes(&of, first, count, N, -1.0, points->weak, points->value, team);
    for (int i = 0; i < count; ++i) {
      const double *const root = of.roots + i * KG_VARYING_ROOTS;
      double *const v = of.v + i * KG_VARYING_ROWS * rows + N;
      KG_TEAM_EACH(team, c, 0, n)
      {
        const double h = points->trace[(int64_t)(first + i) * n + c];
        for (int k = 0; k < 3; ++k) v[k * rows + c] = kg_varying_normal(root, c / m, k) * h;
        v[3 * rows + c] = 0.0;
      }
    }
    kg_team_wait(team);
    kg_varying_add(&of, count, rows, width, matrix, team);
  }
  kg_team_wait(team);
  KG_TEAM_ROWS(team, i, 0, rows)  // what facets add, and the load
  {
    double *const row = matrix + kg_upper_entry(width, i, 0);
    KG_TEAM_COLUMNS(team, j, i, width)
    {
      if (j == rows)
        row[j] = i < N ? load[i * KG_LANES] : 0.0;
      else if (i >= N)
        row[j] += i == j ? of.t->tau[(i - N) / m] : 0.0;
      else if (j >= N)
        row[j] -= of.t->tau[(j - N) / m] * ref->lift[i * n + j - N];
      else
        for (int l = 0; l < 4; ++l)
          row[j] += of.t->tau[l] * ref->facet_mass[l][kg_upper_entry(N, i, j)];
    }
  }
  kg_tetrahedron_eliminate_some(N, rows, width, matrix, team);
  KG_TEAM_ROWS(team, r, 0, n)
  {
    const double *const row = matrix + kg_upper_entry(width, N + r, N);
    KG_TEAM_COLUMNS(team, c, r, n + 1)
    {
      if (c == n)
        condensed[r * KG_LANES] = row[c];
      else
        local[kg_packed_entry(c, r) * KG_LANES] = row[c];
    }
  }
}

KG_INLINE size_t kg_varying_recover_scratch(kg_cell_sizes size)
{
  return kg_varying_scratch(size.n_modes + 1) +
         (size_t)(size.n_trace + size.n_modes + kg_tetrahedron_matrix_count(size.n_modes, 1));
}

KG_INLINE void kg_varying_recover_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_tetrahedron_recover_args *args = (const kg_tetrahedron_recover_args *)arguments;
  const kg_tetrahedron_reference *ref = &args->cells.reference;
  const kg_tetrahedron_points *const points = &args->cells.points;
  const int N = ref->size.n_modes, n = ref->size.n_trace, m = ref->size.n_facet, width = N + 1;
  double *const x = team.scratch + kg_varying_scratch(width), *const u = x + n;
  double *const matrix = u + N;
  const double *const load = args->load + kg_cell_at(e, N, 0);
  kg_tetrahedron_take_trace(args, e, team, x);
  const kg_varying of = kg_varying_open(&args->cells, &args->materials, e, width, team);
  kg_varying_clear(N, width, matrix, team);
  for (int first = 0; first < points->n; first += KG_VARYING_POINTS) {
    const int count = kg_varying_count(&of, first);
    kg_varying_put_roots(&of, first, count, team);
    kg_varying_put_modes(&of, first, count, N, -1.0, points->weak, points->value, team);
    KG_TEAM_ROWS(team, i, 0, count)  // the trace as one column
    {
      const double *const root = of.roots + i * KG_VARYING_ROOTS;
      double *const v = of.v + i * KG_VARYING_ROWS * width + N, sum[3] = {0.0, 0.0, 0.0};
      KG_TEAM_COLUMNS(team, c, 0, n)
      {
        const double h = points->trace[(int64_t)(first + i) * n + c] * x[c];
        for (int k = 0; k < 3; ++k) sum[k] += kg_varying_normal(root, c / m, k) * h;
      }
      for (int k = 0; k < 3; ++k) sum[k] = kg_team_sum(sum[k]);
      if (kg_team_is_first_lane(team)) {
        for (int k = 0; k < 3; ++k) v[k * width] = sum[k];
        v[3 * width] = 0.0;
      }
    }
    kg_team_wait(team);
    kg_varying_add(&of, count, N, width, matrix, team);
  }
  kg_team_wait(team);
  KG_TEAM_ROWS(team, i, 0, N)
  {
    double *const row = matrix + kg_upper_entry(width, i, 0), sum = 0.0;
    KG_TEAM_COLUMNS(team, c, 0, n) sum += of.t->tau[c / m] * ref->lift[i * n + c] * x[c];
    sum = kg_team_sum(sum);
    if (kg_team_is_first_lane(team)) row[N] = load[i * KG_LANES] - row[N] + sum;
    KG_TEAM_COLUMNS(team, j, i, N)
    for (int l = 0; l < 4; ++l)
      row[j] += of.t->tau[l] * ref->facet_mass[l][kg_upper_entry(N, i, j)];
  }
  kg_tetrahedron_eliminate(N, width, matrix, team);
  kg_tetrahedron_substitute(N, width, matrix, team, u);
  kg_tetrahedron_put_solution(ref, of.t, team, x, u, args->u + kg_cell_at(e, N, 0),
                              args->flux + kg_cell_at(e, 3 * N, 0));
}

KG_INLINE size_t kg_varying_postprocess_scratch(kg_cell_sizes size)
{
  const int n = size.n_star - 1;
  return kg_varying_scratch(size.n_star) +
         (size_t)(3 * size.n_modes + n + kg_tetrahedron_matrix_count(n, 1));
}

KG_INLINE void kg_varying_postprocess_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_tetrahedron_postprocess_args *args = (const kg_tetrahedron_postprocess_args *)arguments;
  const kg_tetrahedron_reference *ref = &args->cells.reference;
  const kg_tetrahedron_points *const points = &args->cells.points;
  const int N = ref->size.n_modes, width = ref->size.n_star, n = width - 1;
  double *const flux = team.scratch + kg_varying_scratch(width), *const star = flux + 3 * N;
  double *const matrix = star + n;
  const double *const q = args->flux + kg_cell_at(e, 3 * N, 0);
  KG_TEAM_EACH(team, i, 0, 3 * N) flux[i] = q[i * KG_LANES];
  const kg_varying of = kg_varying_open(&args->cells, &args->materials, e, width, team);
  kg_varying_clear(n, width, matrix, team);
  for (int first = 0; first < points->n; first += KG_VARYING_POINTS) {
    const int count = kg_varying_count(&of, first);
    kg_varying_put_roots(&of, first, count, team);
    kg_varying_put_modes(&of, first, count, n, 1.0, points->star, (const double *)0, team);
    KG_TEAM_ROWS(team, i, 0, count)  // C^T q as one column
    {
      const double *const c = of.roots + i * KG_VARYING_ROOTS;
      const double *const phi = points->value + (int64_t)(first + i) * N;
      double *const v = of.v + i * KG_VARYING_ROWS * width + n, at[3];
      for (int k = 0; k < 3; ++k) {
        double sum = 0.0;
        KG_TEAM_COLUMNS(team, j, 0, N) sum += phi[j] * flux[k * N + j];
        at[k] = kg_team_sum(sum);
      }
      if (kg_team_is_first_lane(team)) {
        v[0] = c[0] * at[0] + c[1] * at[1] + c[2] * at[2];
        v[width] = c[3] * at[1] + c[4] * at[2];
        v[2 * width] = c[5] * at[2];
        v[3 * width] = 0.0;
      }
    }
    kg_team_wait(team);
    kg_varying_add(&of, count, n, width, matrix, team);
  }
  kg_tetrahedron_eliminate(n, width, matrix, team);
  kg_tetrahedron_substitute(n, width, matrix, team, star);
  kg_tetrahedron_put_star(ref, of.t, team, star, args->u + kg_cell_at(e, N, 0),
                          args->u_star + kg_cell_at(e, width, 0),
                          args->indicator + kg_cell_at(e, 1, 0));
}
