/// @file
/// How large the fields of elements are: sums of squares, group by group. On straight triangles
/// modes are orthonormal but for the Jacobian; elsewhere sums go over the points of the matrices.
#pragma once
#include <float.h>

#include "ops/local/quadrature/elements.h"
#include "ops/local/triangle/element.h"
KEDGE_BEGIN_DECLS

/// Squares of L2 norms, and the range of the eigenvalues of diffusion.
typedef struct kg_magnitudes {
  double u, u_star, q, sigma;
  double least, most;
} kg_magnitudes;

typedef struct kg_magnitudes_args {
  bool by_quadrature;
  kg_batch batch;  ///< of straight triangles, from the first group on
  kg_cells cells;  ///< else; side_edge is not read
  int32_t n_elements;
  kg_cell_material material;        ///< the diffusion is read
  const double *u, *flux, *u_star;  ///< of the range, as forms leave them (ops/form/form.h)
  kg_magnitudes *by_group;          ///< out: [group]
} kg_magnitudes_args;

KG_DECLARE_OPERATOR(kg_magnitudes_of_groups, kg_magnitudes_args);
kg_cost kg_magnitudes_cost(const kg_magnitudes_args *args);

KG_INLINE int32_t kg_magnitudes_groups(const kg_magnitudes_args *args)
{
  return (args->n_elements + KG_LANES - 1) / KG_LANES;
}

/// Doubles of scratch of a team.
KG_INLINE size_t kg_magnitudes_scratch(const kg_magnitudes_args *args)
{
  const kg_cell_points *points = &args->cells.tables.points;
  const kg_cell_sizes *size = &points->size;
  if (!args->by_quadrature) return 0;
  return (size_t)(size->n_modes + size->n_flux + size->n_star + 2 * points->n_nodes);
}

/// Widen the range of the eigenvalues by those of a tensor.
KG_INLINE void kg_magnitudes_widen(kg_magnitudes *sum, const double kappa[3])
{
  const double mean = 0.5 * (kappa[0] + kappa[2]), half = 0.5 * (kappa[0] - kappa[2]);
  const double root = sqrt(half * half + kappa[1] * kappa[1]), most = mean + root;
  // As a quotient: a difference would lose the digits of the least one.
  const double least = (kappa[0] * kappa[2] - kappa[1] * kappa[1]) / most;
  if (least < sum->least) sum->least = least;
  if (most > sum->most) sum->most = most;
}

KG_INLINE void kg_magnitudes_add(const kg_magnitudes *part, kg_magnitudes *sum)
{
  sum->u += part->u;
  sum->u_star += part->u_star;
  sum->q += part->q;
  sum->sigma += part->sigma;
  if (part->least < sum->least) sum->least = part->least;
  if (part->most > sum->most) sum->most = part->most;
}

/// Add a straight triangle, lane `lane` of group g.
KG_INLINE void kg_magnitudes_triangle(const kg_magnitudes_args *args, int32_t g, int lane,
                                      kg_magnitudes *sum)
{
  const int N = args->batch.reference.size.n_modes, S = args->batch.reference.size.n_star;
  const int32_t e = g * KG_LANES + lane;
  const double *const kappa = kg_cell_constant_diffusion(&args->material, e);
  double x[3], y[3], u = 0.0, star = 0.0, q = 0.0, sigma = 0.0;
  kg_element_corners(args->batch.arrays.vertices, args->batch.arrays.vertex, g, lane, x, y);
  const double jacobian = 0.25 * ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]));
  for (int i = 0; i < N; ++i) {
    const double value = args->u[kg_cell_at(e, N, i)];
    const double q_x = args->flux[kg_cell_at(e, 2 * N, i)];
    const double q_y = args->flux[kg_cell_at(e, 2 * N, N + i)];
    const double along = kappa[0] * q_x + kappa[1] * q_y, across = kappa[1] * q_x + kappa[2] * q_y;
    u += value * value;
    q += q_x * q_x + q_y * q_y;
    sigma += along * along + across * across;
  }
  for (int i = 0; i < S; ++i) {
    const double value = args->u_star[kg_cell_at(e, S, i)];
    star += value * value;
  }
  sum->u += jacobian * u;
  sum->u_star += jacobian * star;
  sum->q += jacobian * q;
  sum->sigma += jacobian * sigma;
  kg_magnitudes_widen(sum, kappa);
}

/// Add point q of element e. @param[in] u, s, star  its coefficients
KG_INLINE void kg_magnitudes_point(const kg_cell_points *points, const kg_cell_diffusion *diffusion,
                                   int q, const kg_cell_place *place, const double *u,
                                   const double *s, const double *star, kg_magnitudes *sum)
{
  const double *const phi = points->value + q * points->size.n_star;
  const double w = points->weight[q] * place->jacobian;
  double value = 0.0, best = 0.0, along[2], sigma[2], gradient[2], kappa[3];
  for (int i = 0; i < points->size.n_modes; ++i) value += phi[i] * u[i];
  for (int i = 0; i < points->size.n_star; ++i) best += phi[i] * star[i];
  kg_cell_flux_at(points, q, s, along);
  kg_cell_flux_of(place, along[0], along[1], sigma);
  kg_cell_diffusion_at(diffusion, q, kappa);
  kg_cell_gradient_of(kappa, sigma, gradient);
  sum->u += w * value * value;
  sum->u_star += w * best * best;
  sum->q += w * (gradient[0] * gradient[0] + gradient[1] * gradient[1]);
  sum->sigma += w * (sigma[0] * sigma[0] + sigma[1] * sigma[1]);
  kg_magnitudes_widen(sum, kappa);
}

KG_INLINE void kg_magnitudes_cell(const kg_magnitudes_args *args, int32_t e, kg_team team,
                                  kg_magnitudes *sum)
{
  const kg_cell_points *points = &args->cells.tables.points;
  const int N = points->size.n_modes, S = points->size.n_flux, n_star = points->size.n_star;
  double *const u = team.scratch, *const s = u + N, *const star = s + S;
  double *const x = star + n_star, *const y = x + points->n_nodes;
  const kg_cell_diffusion diffusion = kg_cell_diffusion_of(&args->cells.tables, &args->material, e);
  kg_team_wait(team);
  kg_cell_put_nodes(&args->cells, e, team, x, y);
  KG_TEAM_EACH(team, i, 0, N) u[i] = args->u[kg_cell_at(e, N, i)];
  KG_TEAM_EACH(team, i, 0, S) s[i] = args->flux[kg_cell_at(e, S, i)];
  KG_TEAM_EACH(team, i, 0, n_star) star[i] = args->u_star[kg_cell_at(e, n_star, i)];
  kg_team_wait(team);
  KG_TEAM_EACH(team, q, 0, points->n)
  {
    const kg_cell_place place = kg_cell_place_at(points, q, x, y);
    kg_magnitudes_point(points, &diffusion, q, &place, u, s, star, sum);
  }
}

/// Group g of the range.
KG_INLINE void kg_magnitudes_group(const void *arguments, int32_t g, kg_team team)
{
  const kg_magnitudes_args *args = (const kg_magnitudes_args *)arguments;
  const int32_t left = args->n_elements - g * KG_LANES, n = left < KG_LANES ? left : KG_LANES;
  kg_magnitudes sum = {0, 0, 0, 0, DBL_MAX, 0};
  if (args->by_quadrature)
    for (int32_t lane = 0; lane < n; ++lane)
      kg_magnitudes_cell(args, g * KG_LANES + lane, team, &sum);
  else
    KG_TEAM_EACH(team, lane, 0, n) kg_magnitudes_triangle(args, g, lane, &sum);
  sum.u = kg_team_sum(sum.u);
  sum.u_star = kg_team_sum(sum.u_star);
  sum.q = kg_team_sum(sum.q);
  sum.sigma = kg_team_sum(sum.sigma);
  for (int offset = KG_TEAM_THREADS / 2; offset > 0; offset /= 2) {
    const kg_magnitudes other = {
        0, 0, 0, 0, kg_team_other(sum.least, offset), kg_team_other(sum.most, offset)};
    kg_magnitudes_add(&other, &sum);
  }
  if (team.thread == 0) args->by_group[g] = sum;
}

KEDGE_END_DECLS
