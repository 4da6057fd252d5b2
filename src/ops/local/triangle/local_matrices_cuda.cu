// local_matrices_cuda.cu: K^e and F^e of every element. Orders 1 and 2 take
// local_matrices_thread.cuh, those up to KG_DEALT_ORDER_MAX local_matrices_lanes.cu, the others
// local_matrices_tensor.cuh.
#include "ops/local/triangle/local_matrices_lanes.h"
#include "ops/local/triangle/local_matrices_tensor.cuh"
#include "ops/local/triangle/local_matrices_thread.cuh"

namespace
{

/// Launch with the reference matrices in shared memory, where there is room for them beside a team.
template <class shape>
kedge_status launch_tiles(kedge_context *ctx, const kg_local_matrices_args &a)
{
  const int teams = kg::teams_that_fit<shape>(ctx);
  if constexpr (shape::STAGED)
    if (teams == 0) return launch_tiles<typename shape::unstaged>(ctx, a);
  return kg::launch_tensor<shape>(ctx, a, teams > 0 ? teams : 1);
}

kedge_status launch_lanes(kedge_context *ctx, const kg_local_matrices_args &a)
{
  return kg_local_matrices_lanes(ctx, &a);
}

// Shapes: the fastest of those measured on an H200 (profiling/operators --only local_matrices):
// order, reduced, elements a warp, teams a block, reference matrices in shared memory, tiles
// inverted by threads, ahead.
constexpr kedge_status (*by_order[][2])(kedge_context *, const kg_local_matrices_args &) = {
    {kg::launch_thread<1, false>, kg::launch_thread<1, true>},
    {kg::launch_thread<2, false>, kg::launch_thread<2, true>},
    {launch_lanes, launch_lanes},
    {launch_lanes, launch_lanes},
    {launch_lanes, launch_lanes},
    {launch_lanes, launch_lanes},
    {launch_tiles<kg::tensor_shape<7, false, 2, 2, true, true, true>>,
     launch_tiles<kg::tensor_shape<7, true, 2, 2, true, true, true>>},
    {launch_tiles<kg::tensor_shape<8, false, 1, 2, true, false, true>>,
     launch_tiles<kg::tensor_shape<8, true, 1, 2, true, false, true>>},
    {launch_tiles<kg::tensor_shape<9, false, 1, 2, true, false, false>>,
     launch_tiles<kg::tensor_shape<9, true, 1, 2, true, false, false>>},
    {launch_tiles<kg::tensor_shape<10, false, 1, 2, false, true, true>>,
     launch_tiles<kg::tensor_shape<10, true, 1, 2, false, true, true>>},
    {launch_tiles<kg::tensor_shape<11, false, 1, 2, false, true, true>>,
     launch_tiles<kg::tensor_shape<11, true, 1, 2, false, true, true>>},
    {launch_tiles<kg::tensor_shape<12, false, 1, 2, false, true, true>>,
     launch_tiles<kg::tensor_shape<12, true, 1, 2, false, true, true>>}};
static_assert(sizeof by_order / sizeof *by_order == KEDGE_ORDER_MAX, "one entry per order");

}  // namespace

extern "C" kedge_status kg_local_matrices_cuda(kedge_context *ctx, const kg_local_matrices_args *a)
{
  return by_order[a->batch.reference.size.order - 1][a->local.layout == KG_LAYOUT_REDUCED](ctx, *a);
}
