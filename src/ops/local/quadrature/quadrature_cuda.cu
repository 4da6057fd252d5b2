// quadrature_cuda.cu: operators by quadrature: a warp an element (errors: a group of elements), for
// all shapes and orders, by the formulas of the host in the headers. Those that eliminate a matrix
// are taken by tiles_cuda.cu where its tiles fit shared memory, else by a block an element.
// Layout  arrays [group][row][lane]: warps of a block are neighbouring lanes, so that their words
//         share the sectors of a line
// Cost    kg_cell_make_cost() and so on; the sums over points are most of it
#include "device/cuda_launch.cuh"
#include "ops/local/quadrature/errors.h"
#include "ops/local/quadrature/loads.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/means.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"
#include "ops/local/quadrature/robin.h"
#include "ops/local/quadrature/tiles.h"

namespace
{

enum { WARPS = 8 };  // of a block, at most

template <auto DO, typename Arguments>
__global__ void __launch_bounds__(32 * WARPS)
    team_kernel(const __grid_constant__ Arguments a, int32_t n, int scratch, int threads)
{
  KG_SHARED(double, s_scratch);
  const int number = threadIdx.x / threads, teams = blockDim.x / threads;
  const int64_t i = (int64_t)blockIdx.x * teams + number;
  if (i >= n) return;
  const kg_team team = {(int)threadIdx.x % threads, s_scratch + (size_t)number * scratch, threads,
                        1 + number};
  DO(&a, (int32_t)i, team);
}

/// Run DO(&arguments, i, team) for i < n. A team has `scratch` doubles, and `threads` threads.
/// @retval KEDGE_ERR_UNSUPPORTED  the scratch of one team does not fit shared memory
template <auto DO, typename Arguments>
kedge_status run(kedge_context *ctx, const char *name, int32_t n, size_t scratch,
                 const Arguments &arguments, int threads = 32)
{
  if (n == 0) return KEDGE_OK;
  const size_t bytes = scratch * sizeof(double);
  const size_t fit = (size_t)kg_cuda(ctx)->shared_limit / (bytes ? bytes : 1);
  const size_t most = 32 * WARPS / (size_t)threads;
  const unsigned teams = fit < 1 ? 1 : (unsigned)(fit < most ? fit : most);
  return kg_launch_shared(ctx, name, ((unsigned)n + teams - 1) / teams, threads * teams,
                          teams * bytes, team_kernel<DO, Arguments>, arguments, n, (int)scratch,
                          threads);
}

}  // namespace

extern "C" kedge_status kg_cell_make_cuda(kedge_context *ctx, const kg_cell_make_args *a)
{
  if (kg_tiles_make_fits(ctx, a)) return kg_tiles_make(ctx, a);
  return run<kg_cell_make_lane>(ctx, "cell_make", kg_cell_make_things(a),
                                kg_cell_make_scratch(&a->cells.tables, &a->material), *a,
                                32 * WARPS);
}

extern "C" kedge_status kg_cell_recover_cuda(kedge_context *ctx, const kg_cell_recover_args *a)
{
  if (kg_tiles_recover_fits(ctx, a)) return kg_tiles_recover(ctx, a);
  return run<kg_cell_recover_element>(ctx, "cell_recover", a->cells.n_elements,
                                      kg_cell_recover_scratch(&a->cells.tables, &a->material), *a,
                                      32 * WARPS);
}

extern "C" kedge_status kg_cell_postprocess_cuda(kedge_context *ctx,
                                                 const kg_cell_postprocess_args *a)
{
  if (kg_tiles_postprocess_fits(ctx, a)) return kg_tiles_postprocess(ctx, a);
  return run<kg_cell_postprocess_element>(ctx, "cell_postprocess", a->cells.n_elements,
                                          kg_cell_postprocess_scratch(&a->cells.tables), *a);
}

extern "C" kedge_status kg_cell_means_cuda(kedge_context *ctx, const kg_cell_means_args *a)
{
  return run<kg_cell_means_element>(ctx, "cell_means", a->cells.n_elements,
                                    kg_cell_means_scratch(&a->cells.tables.points), *a);
}

extern "C" kedge_status kg_cell_robin_cuda(kedge_context *ctx, const kg_cell_robin_args *a)
{
  return run<kg_cell_robin_side>(ctx, "cell_robin", a->n_sides, 0, *a);
}

extern "C" kedge_status kg_cell_loads_cuda(kedge_context *ctx, const kg_cell_loads_args *a)
{
  return run<kg_cell_loads_element>(ctx, "cell_loads", a->cells.n_elements,
                                    kg_cell_loads_scratch(&a->points), *a);
}

extern "C" kedge_status kg_cell_errors_cuda(kedge_context *ctx, const kg_cell_errors_args *a)
{
  return run<kg_cell_errors_group>(ctx, "cell_errors", kg_cells_groups(&a->cells),
                                   kg_cell_errors_scratch(&a->points), *a);
}
