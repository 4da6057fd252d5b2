/// @file
/// What values of functions at points of straight tetrahedra give: load vectors, and errors against
/// an exact solution. The determinant of the map is one number an element.
#pragma once
#include <math.h>

#include "basis/cell_tables.h"
#include "basis/roughness.h"
#include "ops/local/quadrature/coefficients.h"
#include "ops/local/quadrature/team.h"
#include "ops/local/tetrahedron/tetrahedra.h"
#include "ops/ops.h"
#include "ops/sample/errors.h"
KEDGE_BEGIN_DECLS

typedef struct kg_space_loads_args {
  kg_tetrahedra cells;    ///< side_edge is not read
  kg_cell_points points;  ///< where `values` were taken
  double scale;
  const double *values;  ///< [group][point][lane]: f
  double *load;          ///< out: [group][N][lane]: scale (f, phi_i)
  uint8_t *rough;        ///< out: [group][lane]: kg_is_rough(); NULL: not asked
  double least;          ///< values that are less are rounding
} kg_space_loads_args;

KG_DECLARE_OPERATOR(kg_space_loads, kg_space_loads_args);
kg_cost kg_space_loads_cost(const kg_cell_points *points, int64_t n_elements);

typedef struct kg_space_errors_args {
  kg_tetrahedra cells;           ///< side_edge is not read
  kg_cell_points points;         ///< where `exact` was sampled; corners follow the rule
  const double *u, *q, *u_star;  ///< [group][mode][lane]; q: [group][3N][lane]
  const double *exact;           ///< [group][4][point][lane]: u, u_x, u_y, u_z
  kg_error_sums *by_group;       ///< out: [group]; summed in order by the caller
  double *flux_by_group;  ///< out: [group], squares of diffusion times the error of q; or NULL
  kg_space_materials materials;  ///< of which the diffusion is read
  int n_diffusion;               ///< points of diffusion: corners, behind them, have none
  const double *diffusion;       ///< [group][6][n_diffusion][lane]; NULL: constant
} kg_space_errors_args;

KG_DECLARE_OPERATOR(kg_space_errors, kg_space_errors_args);
kg_cost kg_space_errors_cost(const kg_cell_points *points, int64_t n_elements);

/// Whether the values of an element are rough, from values times weights and `factor`, scale times
/// the determinant of the map.
KG_INLINE void kg_space_loads_look(const kg_space_loads_args *args, int32_t e, kg_team team,
                                   const double *weighted, double factor)
{
  const kg_cell_points *const p = &args->points;
  const double volume_of_reference = 4.0 / 3.0;
  kg_roughness mine = {0.0, 0.0, 0.0};
  KG_TEAM_EACH(team, layer, 0, p->rows)
  kg_roughness_add_layer(p->rows, p->top, p->top_of_row, p->top_of_layer[layer],
                         weighted + layer * p->rows * p->rows, &mine);
  mine.size = kg_team_sum(mine.size);
  mine.along = kg_team_sum(mine.along);
  mine.across = kg_team_sum(mine.across);
  if (team.thread == 0)
    args->rough[e] = kg_is_rough(&mine, volume_of_reference * fabs(factor) * args->least);
}

/// Element e of the range.
KG_INLINE void kg_space_loads_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_space_loads_args *const args = (const kg_space_loads_args *)arguments;
  const kg_cell_points *const p = &args->points;
  const double factor = args->scale * kg_space_jacobian(&args->cells, e);
  double *const weighted = team.scratch;
  KG_TEAM_EACH(team, q, 0, p->n)
  {
    weighted[q] = factor * p->weight[q] * args->values[kg_cell_at(e, p->n, q)];
  }
  kg_team_wait(team);
  if (args->rough) kg_space_loads_look(args, e, team, weighted, factor);
  KG_TEAM_EACH(team, i, 0, p->size.n_modes)
  {
    double sum = 0.0;
    for (int q = 0; q < p->n; ++q) sum += p->value[q * p->size.n_star + i] * weighted[q];
    args->load[kg_cell_at(e, p->size.n_modes, i)] = sum;
  }
  kg_team_wait(team);
}

/// Add the errors at point q of an element. @param[in] u, s, star  its coefficients
KG_INLINE void kg_space_errors_point(const kg_space_errors_args *args, int32_t e, int q,
                                     double jacobian, const double *u, const double *s,
                                     const double *star, kg_error_sums *sums, double *flux)
{
  const kg_cell_points *const p = &args->points;
  const int N = p->size.n_modes;
  const double *const phi = p->value + q * p->size.n_star, w = p->weight[q] * jacobian;
  const double exact = args->exact[kg_cell_at(e, 4 * p->n, q)];
  double value = -exact, best = -exact, error[3];
  for (int i = 0; i < N; ++i) value += phi[i] * u[i];
  sums->u_max = kg_larger(sums->u_max, fabs(value));
  if (w == 0.0) return;  // a corner
  for (int i = 0; i < p->size.n_star; ++i) best += phi[i] * star[i];
  for (int k = 0; k < 3; ++k) {
    error[k] = -args->exact[kg_cell_at(e, 4 * p->n, (k + 1) * p->n + q)];
    for (int i = 0; i < N; ++i) error[k] += phi[i] * s[k * N + i];
  }
  sums->u += w * value * value;
  sums->q += w * (error[0] * error[0] + error[1] * error[1] + error[2] * error[2]);
  sums->u_star += w * best * best;
  double turned[3], k[KG_SPACE_PAIRS];
  for (int c = 0; c < KG_SPACE_PAIRS; ++c)
    k[c] = args->diffusion ? args->diffusion[kg_cell_at(e, KG_SPACE_PAIRS * args->n_diffusion,
                                                        c * args->n_diffusion + q)]
                           : kg_space_material_at(&args->materials, e)->diffusion[c];
  kg_space_turn(k, error, turned);
  *flux += w * kg_space_dot(turned, turned);
}

/// Doubles of scratch of a team.
KG_INLINE size_t kg_space_errors_scratch(const kg_cell_points *points)
{
  return (size_t)(4 * points->size.n_modes + points->size.n_star);
}

/// Group `group` of the range.
KG_INLINE void kg_space_errors_group(const void *arguments, int32_t group, kg_team team)
{
  const kg_space_errors_args *const args = (const kg_space_errors_args *)arguments;
  const kg_cell_points *const p = &args->points;
  const int N = p->size.n_modes;
  double *const u = team.scratch, *const s = u + N, *const star = s + 3 * N, flux = 0.0;
  kg_error_sums sums = {0, 0, 0, 0};
  const int32_t end = (group + 1) * KG_LANES;
  for (int32_t e = group * KG_LANES; e < end && e < args->cells.n_elements; ++e) {
    const double jacobian = kg_space_jacobian(&args->cells, e);
    kg_team_wait(team);
    KG_TEAM_EACH(team, i, 0, N) u[i] = args->u[kg_cell_at(e, N, i)];
    KG_TEAM_EACH(team, i, 0, 3 * N) s[i] = args->q[kg_cell_at(e, 3 * N, i)];
    KG_TEAM_EACH(team, i, 0, p->size.n_star)
    {
      star[i] = args->u_star[kg_cell_at(e, p->size.n_star, i)];
    }
    kg_team_wait(team);
    KG_TEAM_EACH(team, q, 0, p->n)
    {
      kg_space_errors_point(args, e, q, jacobian, u, s, star, &sums, &flux);
    }
  }
  sums.u = kg_team_sum(sums.u);
  sums.q = kg_team_sum(sums.q);
  sums.u_star = kg_team_sum(sums.u_star);
  flux = kg_team_sum(flux);
  for (int offset = KG_TEAM_THREADS / 2; offset > 0; offset /= 2)
    sums.u_max = kg_larger(sums.u_max, kg_team_other(sums.u_max, offset));
  if (team.thread != 0) return;
  args->by_group[group] = sums;
  if (args->flux_by_group) args->flux_by_group[group] = flux;
}

KEDGE_END_DECLS
