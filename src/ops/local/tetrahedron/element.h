/// @file
/// What a team does for one tetrahedron. Arrays of the element are those of its lane: the next row
/// is KG_LANES on. Its scratch holds the factors, and behind them what each function tells.
#pragma once
#include "ops/local/quadrature/coefficients.h"
#include "ops/local/tetrahedron/elimination.h"
#include "ops/local/tetrahedron/point_sums.h"
#include "ops/local/tetrahedron/tetrahedron.h"

enum { KG_TETRAHEDRON_FACTORS = sizeof(kg_tetrahedron_factors) / sizeof(double) };

/// Numbers of a matrix of n rows with `columns` columns beside it.
KG_INLINE int kg_tetrahedron_matrix_count(int n, int columns)
{
  return n * (n + 1) / 2 + n * columns;
}

/// K^e and F^e. @param[in,out] matrix  scratch: [N][N + n + 1]
KG_INLINE void kg_tetrahedron_condense(const kg_tetrahedron_reference *ref,
                                       const kg_tetrahedron_factors *t, kg_team team,
                                       double *matrix, const double *load, double *local,
                                       double *condensed)
{
  const int N = ref->size.n_modes, n = ref->size.n_trace, width = N + n + 1;
  kg_tetrahedron_put_modes(ref, t, team, width, matrix);
  KG_TEAM_ROWS(team, i, 0, N)
  {
    double *const right = matrix + kg_upper_entry(width, i, N);
    KG_TEAM_COLUMNS(team, c, 0, n + 1)
    {
      right[c] = c < n ? kg_tetrahedron_lift(ref, t, i, c) : load[i * KG_LANES];
    }
  }
  kg_tetrahedron_eliminate(N, width, matrix, team);
  KG_TEAM_ROWS(team, i, 0, N)  // W = L^-1 [R | f] of Z^-1 = L L^T
  {
    double *const row = matrix + kg_upper_entry(width, i, 0);
    const double per_root = 1.0 / sqrt(row[i]);
    KG_TEAM_COLUMNS(team, c, N, width) row[c] *= per_root;
  }
  kg_team_wait(team);
  KG_TEAM_ROWS(team, r, 0, n + 1)
  KG_TEAM_COLUMNS(team, c, 0, r < n ? r + 1 : n)
  {
    double sum = 0.0;
    for (int i = 0; i < N; ++i) {
      const double *const right = matrix + kg_upper_entry(width, i, N);
      sum += right[r] * right[c];
    }
    if (r == n)
      condensed[c * KG_LANES] = sum;
    else
      local[kg_packed_entry(r, c) * KG_LANES] = kg_tetrahedron_trace(ref, t, r, c) - sum;
  }
}

KG_INLINE size_t kg_tetrahedron_make_scratch(kg_cell_sizes size)
{
  return (size_t)(KG_TETRAHEDRON_FACTORS +
                  kg_tetrahedron_matrix_count(size.n_modes, size.n_trace + 1));
}

/// The factors of an element, in scratch, which the caller may read.
KG_INLINE const kg_tetrahedron_factors *kg_tetrahedron_put_factors(
    const kg_tetrahedra *cells, const kg_space_materials *materials, int32_t e, kg_team team)
{
  kg_tetrahedron_factors *const factors = (kg_tetrahedron_factors *)team.scratch;
  if (team.thread == 0) kg_tetrahedron_factors_at(cells, materials, e, factors);
  kg_team_wait(team);
  return factors;
}

/// Lane `lane` of the range.
KG_INLINE void kg_tetrahedron_make_lane(const void *arguments, int32_t lane, kg_team team)
{
  const kg_tetrahedron_make_args *args = (const kg_tetrahedron_make_args *)arguments;
  const kg_tetrahedron_reference *ref = &args->cells.reference;
  const int packed = ref->size.n_packed, n = ref->size.n_trace;
  double *const local = args->local + kg_cell_at(lane, packed, 0);
  double *const condensed = args->condensed + kg_cell_at(lane, n, 0);
  if (lane >= args->cells.n_elements) {
    KG_TEAM_EACH(team, i, 0, packed) local[i * KG_LANES] = 0.0;
    KG_TEAM_EACH(team, i, 0, n) condensed[i * KG_LANES] = 0.0;
    return;
  }
  const kg_tetrahedron_factors *const t =
      kg_tetrahedron_put_factors(&args->cells, &args->materials, lane, team);
  kg_tetrahedron_condense(ref, t, team, team.scratch + KG_TETRAHEDRON_FACTORS,
                          args->load + kg_cell_at(lane, ref->size.n_modes, 0), local, condensed);
}

/// Write u, and q of it and of the trace x.
KG_INLINE void kg_tetrahedron_put_solution(const kg_tetrahedron_reference *ref,
                                           const kg_tetrahedron_factors *t, kg_team team,
                                           const double *x, const double *u, double *u_out,
                                           double *flux)
{
  const int N = ref->size.n_modes, n = ref->size.n_trace, m = ref->size.n_facet;
  KG_TEAM_ROWS(team, i, 0, N)
  {
    double q[3] = {0.0, 0.0, 0.0};
    KG_TEAM_COLUMNS(team, c, 0, n)
    {
      const double h = ref->lift[i * n + c] * x[c];
      for (int k = 0; k < 3; ++k) q[k] += t->normal[c / m][k] * h;
    }
    KG_TEAM_COLUMNS(team, j, 0, N)
    for (int a = 0; a < 3; ++a) {
      const double d = ref->gradient[a][i * N + j] * u[j];
      for (int k = 0; k < 3; ++k) q[k] -= t->grad[a][k] * d;
    }
    for (int k = 0; k < 3; ++k) q[k] = kg_team_sum(q[k]);
    if (kg_team_is_first_lane(team)) {
      u_out[i * KG_LANES] = u[i];
      for (int k = 0; k < 3; ++k) flux[(k * N + i) * KG_LANES] = q[k];
    }
  }
}

/// u and q. @param[in,out] x  scratch: [n], the trace of the element, [N], and a matrix [N][N + 1]
KG_INLINE void kg_tetrahedron_solve(const kg_tetrahedron_reference *ref,
                                    const kg_tetrahedron_factors *t, kg_team team, double *x,
                                    const double *load, double *u_out, double *flux)
{
  const int N = ref->size.n_modes, n = ref->size.n_trace, width = N + 1;
  double *const u = x + n, *const matrix = u + N;
  kg_tetrahedron_put_modes(ref, t, team, width, matrix);
  KG_TEAM_ROWS(team, i, 0, N)
  {
    double sum = 0.0;
    KG_TEAM_COLUMNS(team, c, 0, n) sum += kg_tetrahedron_lift(ref, t, i, c) * x[c];
    sum = kg_team_sum(sum);
    if (kg_team_is_first_lane(team)) matrix[kg_upper_entry(width, i, N)] = load[i * KG_LANES] + sum;
  }
  kg_tetrahedron_eliminate(N, width, matrix, team);
  kg_tetrahedron_substitute(N, width, matrix, team, u);
  kg_tetrahedron_put_solution(ref, t, team, x, u, u_out, flux);
}

/// The trace of an element: x [n].
KG_INLINE void kg_tetrahedron_take_trace(const kg_tetrahedron_recover_args *args, int32_t e,
                                         kg_team team, double *x)
{
  const int m = args->cells.reference.size.n_facet;
  KG_TEAM_EACH(team, c, 0, args->cells.reference.size.n_trace)
  {
    const uint32_t side = args->cells.side_edge[kg_lane_side(4, e, c / m)];
    x[c] = args->trace[(int64_t)(side >> 1) * m + c % m];
  }
}

KG_INLINE size_t kg_tetrahedron_recover_scratch(kg_cell_sizes size)
{
  return (size_t)(KG_TETRAHEDRON_FACTORS + size.n_trace + size.n_modes +
                  kg_tetrahedron_matrix_count(size.n_modes, 1));
}

KG_INLINE void kg_tetrahedron_recover_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_tetrahedron_recover_args *args = (const kg_tetrahedron_recover_args *)arguments;
  const kg_tetrahedron_reference *ref = &args->cells.reference;
  const int N = ref->size.n_modes;
  double *const x = team.scratch + KG_TETRAHEDRON_FACTORS;
  kg_tetrahedron_take_trace(args, e, team, x);
  const kg_tetrahedron_factors *const t =
      kg_tetrahedron_put_factors(&args->cells, &args->materials, e, team);
  kg_tetrahedron_solve(ref, t, team, x, args->load + kg_cell_at(e, N, 0),
                       args->u + kg_cell_at(e, N, 0), args->flux + kg_cell_at(e, 3 * N, 0));
}

/// Write u*, whose modes but the constant are `star`, and the indicator.
KG_INLINE void kg_tetrahedron_put_star(const kg_tetrahedron_reference *ref,
                                       const kg_tetrahedron_factors *t, kg_team team,
                                       const double *star, const double *u, double *u_star,
                                       double *indicator)
{
  const int N = ref->size.n_modes, n = ref->size.n_star - 1;
  double square = 0.0;  // of each warp
  KG_TEAM_COLUMNS(team, i, 0, n)
  {
    const double less = i + 1 < N ? star[i] - u[(i + 1) * KG_LANES] : star[i];
    square += less * less;
  }
  square = kg_team_sum(square);
  KG_TEAM_EACH(team, i, 0, n) u_star[(i + 1) * KG_LANES] = star[i];
  if (team.thread == 0) {
    u_star[0] = u[0];
    *indicator = sqrt(t->jacobian * square);
  }
}

/// u* and the indicator. @param[in,out] g  scratch: [3][N], [N* - 1], and a matrix
/// [N* - 1][N*]
KG_INLINE void kg_tetrahedron_star(const kg_tetrahedron_reference *ref,
                                   const kg_tetrahedron_factors *t, kg_team team, double *g,
                                   const double *u, const double *flux, double *u_star,
                                   double *indicator)
{
  const int N = ref->size.n_modes, width = ref->size.n_star, n = width - 1;
  double *const star = g + 3 * N, *const matrix = star + n;
  KG_TEAM_EACH(team, i, 0, 3 * N)  // J g_a . K q
  {
    double q[3];
    for (int k = 0; k < 3; ++k) q[k] = flux[(k * N + i % N) * KG_LANES];
    g[i] = t->jacobian * kg_space_dot(t->turned[i / N], q);
  }
  kg_team_wait(team);
  KG_TEAM_ROWS(team, i, 0, n)
  {
    double sum = 0.0;
    for (int a = 0; a < 3; ++a)
      KG_TEAM_COLUMNS(team, j, 0, N) sum += ref->gradient[a][(i + 1) * N + j] * g[a * N + j];
    sum = kg_team_sum(sum);
    if (kg_team_is_first_lane(team)) matrix[kg_upper_entry(width, i, n)] = sum;
    KG_TEAM_COLUMNS(team, j, i, n)
    {
      const int k = kg_upper_entry(n, i, j);
      double entry = 0.0;
      for (int p = 0; p < KG_SPACE_PAIRS; ++p) entry += t->stiffness[p] * ref->star[p][k];
      matrix[kg_upper_entry(width, i, j)] = entry;
    }
  }
  kg_tetrahedron_eliminate(n, width, matrix, team);
  kg_tetrahedron_substitute(n, width, matrix, team, star);
  kg_tetrahedron_put_star(ref, t, team, star, u, u_star, indicator);
}

KG_INLINE size_t kg_tetrahedron_postprocess_scratch(kg_cell_sizes size)
{
  const int n = size.n_star - 1;
  return (size_t)(KG_TETRAHEDRON_FACTORS + 3 * size.n_modes + n +
                  kg_tetrahedron_matrix_count(n, 1));
}

KG_INLINE void kg_tetrahedron_postprocess_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_tetrahedron_postprocess_args *args = (const kg_tetrahedron_postprocess_args *)arguments;
  const kg_tetrahedron_reference *ref = &args->cells.reference;
  const int N = ref->size.n_modes;
  const kg_tetrahedron_factors *const t =
      kg_tetrahedron_put_factors(&args->cells, &args->materials, e, team);
  kg_tetrahedron_star(ref, t, team, team.scratch + KG_TETRAHEDRON_FACTORS,
                      args->u + kg_cell_at(e, N, 0), args->flux + kg_cell_at(e, 3 * N, 0),
                      args->u_star + kg_cell_at(e, ref->size.n_star, 0),
                      args->indicator + kg_cell_at(e, 1, 0));
}

/// The constant modes of lane i of the range.
KG_INLINE void kg_tetrahedron_means_of(const kg_tetrahedron_means_args *a, int32_t i)
{
  const int N = a->cells.reference.size.n_modes;
  const bool varies = a->materials.values != NULL;
  double *const to = a->constant + kg_cell_at(i, kg_tetrahedron_means_count(varies), 0);
  to[0] = a->u[kg_cell_at(i, N, 0)];
  for (int k = 0; k < 3; ++k) to[(k + 1) * KG_LANES] = a->flux[kg_cell_at(i, 3 * N, k * N)];
  if (!varies) return;
  const double mode = 0.86602540378443864676;  // the constant one
  double sum[3] = {0.0, 0.0, 0.0};
  for (int p = 0; p < a->cells.points.n; ++p) {
    double k[KG_SPACE_FUNCTIONS], q[3], sigma[3];
    kg_space_coefficients_at(&a->cells, &a->materials, i, p, k);
    kg_space_flux_at(&a->cells, a->flux, i, p, k, q, sigma);
    for (int c = 0; c < 3; ++c) sum[c] += a->cells.points.weight[p] * sigma[c];
  }
  for (int c = 0; c < 3; ++c) to[(c + 4) * KG_LANES] = mode * sum[c];
}
