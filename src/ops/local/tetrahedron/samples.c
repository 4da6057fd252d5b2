#include "ops/local/tetrahedron/samples.h"

#include "ops/local/quadrature/team_run.h"

KG_TEAM_OPERATOR(kg_space_loads, args->cells.n_elements, (size_t)args->points.n,
                 kg_space_loads_element)

kg_cost kg_space_loads_cost(const kg_cell_points *points, int64_t n_elements)
{
  const double n = points->n, N = points->size.n_modes, all = (double)n_elements;
  return (kg_cost){.bytes = all * (8.0 * (n + N) + 32.0), .flops = all * n * (2.0 + 2.0 * N)};
}

KG_TEAM_OPERATOR(kg_space_errors, kg_tetrahedra_groups(&args->cells),
                 kg_space_errors_scratch(&args->points), kg_space_errors_group)

kg_cost kg_space_errors_cost(const kg_cell_points *points, int64_t n_elements)
{
  const double n = points->n, N = points->size.n_modes, star = points->size.n_star;
  const double all = (double)n_elements;
  return (kg_cost){.bytes = all * (8.0 * (4.0 * n + 4.0 * N + star) + 32.0),
                   .flops = all * n * (8.0 * N + 2.0 * star + 40.0)};
}
