// samples_cuda.cu: a warp an element, or a group of elements for errors, by the formulas of the
// host.
// Layout  arrays [group][row][lane]; points and modes are read by all warps alike
// Cost    kg_space_loads_cost(), kg_space_errors_cost(): sums over points are most of it
#include "ops/local/quadrature/team_launch.cuh"
#include "ops/local/tetrahedron/samples.h"

extern "C" kedge_status kg_space_loads_cuda(kedge_context *ctx, const kg_space_loads_args *a)
{
  return kg_launch_teams<kg_space_loads_element>(ctx, "space_loads", a->cells.n_elements,
                                                 (size_t)a->points.n, *a);
}

extern "C" kedge_status kg_space_errors_cuda(kedge_context *ctx, const kg_space_errors_args *a)
{
  return kg_launch_teams<kg_space_errors_group>(ctx, "space_errors",
                                                kg_tetrahedra_groups(&a->cells),
                                                kg_space_errors_scratch(&a->points), *a);
}
