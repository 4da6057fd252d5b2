// quadrature_cuda.cu: operators by quadrature: a warp an element (errors: a group of elements), for
// all shapes and orders, by the formulas of the host in the headers. Those that eliminate a matrix
// are taken by tiles_cuda.cu where its tiles fit shared memory, else by a block an element.
// Layout  arrays [group][row][lane]: warps of a block are neighbouring lanes, so that their words
//         share the sectors of a line
// Cost    kg_cell_make_cost() and so on; the sums over points are most of it
#include "ops/local/quadrature/errors.h"
#include "ops/local/quadrature/loads.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/means.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"
#include "ops/local/quadrature/robin.h"
#include "ops/local/quadrature/team_launch.cuh"
#include "ops/local/quadrature/tiles.h"

extern "C" kedge_status kg_cell_make_cuda(kedge_context *ctx, const kg_cell_make_args *a)
{
  if (kg_tiles_make_fits(ctx, a)) return kg_tiles_make(ctx, a);
  return kg_launch_teams<kg_cell_make_lane>(ctx, "cell_make", kg_cell_make_things(a),
                                            kg_cell_make_scratch(&a->cells.tables, &a->material),
                                            *a, 32 * KG_TEAM_WARPS);
}

extern "C" kedge_status kg_cell_recover_cuda(kedge_context *ctx, const kg_cell_recover_args *a)
{
  if (kg_tiles_recover_fits(ctx, a)) return kg_tiles_recover(ctx, a);
  return kg_launch_teams<kg_cell_recover_element>(
      ctx, "cell_recover", a->cells.n_elements,
      kg_cell_recover_scratch(&a->cells.tables, &a->material), *a, 32 * KG_TEAM_WARPS);
}

extern "C" kedge_status kg_cell_postprocess_cuda(kedge_context *ctx,
                                                 const kg_cell_postprocess_args *a)
{
  if (kg_tiles_postprocess_fits(ctx, a)) return kg_tiles_postprocess(ctx, a);
  return kg_launch_teams<kg_cell_postprocess_element>(ctx, "cell_postprocess", a->cells.n_elements,
                                                      kg_cell_postprocess_scratch(&a->cells.tables),
                                                      *a);
}

extern "C" kedge_status kg_cell_means_cuda(kedge_context *ctx, const kg_cell_means_args *a)
{
  return kg_launch_teams<kg_cell_means_element>(ctx, "cell_means", a->cells.n_elements,
                                                kg_cell_means_scratch(&a->cells.tables.points), *a);
}

extern "C" kedge_status kg_cell_robin_cuda(kedge_context *ctx, const kg_cell_robin_args *a)
{
  return kg_launch_teams<kg_cell_robin_side>(ctx, "cell_robin", a->n_sides, 0, *a);
}

extern "C" kedge_status kg_cell_loads_cuda(kedge_context *ctx, const kg_cell_loads_args *a)
{
  return kg_launch_teams<kg_cell_loads_element>(ctx, "cell_loads", a->cells.n_elements,
                                                kg_cell_loads_scratch(&a->points), *a);
}

extern "C" kedge_status kg_cell_errors_cuda(kedge_context *ctx, const kg_cell_errors_args *a)
{
  return kg_launch_teams<kg_cell_errors_group>(ctx, "cell_errors", kg_cells_groups(&a->cells),
                                               kg_cell_errors_scratch(&a->points), *a);
}
