/// @file
/// Load vectors by quadrature: f^e_i = scale (f, phi_i), from values of the source at the points of
/// any rule.
#pragma once
#include "basis/roughness.h"
#include "ops/local/quadrature/elements.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cell_loads_args {
  kg_cells cells;         ///< side_edge is not read
  kg_cell_points points;  ///< where `values` were taken
  double scale;
  const double *values;  ///< [group][point][lane]: f
  double *load;          ///< out: [group][N][lane]
  uint8_t *rough;        ///< out: [group][lane]: kg_is_rough(); NULL: not asked
  double least;          ///< values that are less are rounding
} kg_cell_loads_args;

KG_DECLARE_OPERATOR(kg_cell_loads, kg_cell_loads_args);
kg_cost kg_cell_loads_cost(const kg_cell_points *points, int64_t n_elements);

/// Doubles of scratch of a team.
KG_INLINE size_t kg_cell_loads_scratch(const kg_cell_points *points)
{
  return (size_t)(points->n + 2 * points->n_nodes);
}

/// Whether the values of an element are rough, from values times weights and determinants.
KG_INLINE void kg_cell_loads_look(const kg_cell_loads_args *args, int32_t e, kg_team team,
                                  const double *weighted, double jacobian)
{
  const kg_cell_points *points = &args->points;
  const double area = (points->size.n_facets == 3 ? 2.0 : 4.0) * jacobian;
  kg_roughness mine = {0.0, 0.0, 0.0};
  KG_TEAM_EACH(team, row, 0, points->rows)
  kg_roughness_add(points->rows, points->top, points->top_of_row[row],
                   weighted + row * points->rows, 1, &mine);
  mine.size = kg_team_sum(mine.size);
  mine.along = kg_team_sum(mine.along);
  mine.across = kg_team_sum(mine.across);
  if (team.thread == 0) args->rough[e] = kg_is_rough(&mine, fabs(args->scale) * args->least * area);
}

/// Element e of the range.
KG_INLINE void kg_cell_loads_element(const void *arguments, int32_t e, kg_team team)
{
  const kg_cell_loads_args *args = (const kg_cell_loads_args *)arguments;
  const kg_cell_points *points = &args->points;
  const int N = points->size.n_modes, N_star = points->size.n_star;
  double *const weighted = team.scratch, *const x = weighted + points->n;
  double *const y = x + points->n_nodes;
  kg_cell_put_nodes(&args->cells, e, team, x, y);
  kg_team_wait(team);
  KG_TEAM_EACH(team, q, 0, points->n)
  {
    const double jacobian = kg_cell_place_at(points, q, x, y).jacobian;
    weighted[q] =
        args->scale * points->weight[q] * jacobian * args->values[kg_cell_at(e, points->n, q)];
  }
  kg_team_wait(team);
  if (args->rough)
    kg_cell_loads_look(args, e, team, weighted, kg_cell_place_at(points, 0, x, y).jacobian);
  KG_TEAM_EACH(team, i, 0, N)
  {
    double sum = 0.0;
    for (int q = 0; q < points->n; ++q) sum += points->value[q * N_star + i] * weighted[q];
    args->load[kg_cell_at(e, N, i)] = sum;
  }
}

KEDGE_END_DECLS
