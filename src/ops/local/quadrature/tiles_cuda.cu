// tiles_cuda.cu: local matrices, local solves and post-processing by quadrature on the tensor
// cores: a team of warps an element, as many as have work, and several teams a block.
// Layout  arrays [group][row][lane]: teams of a block are neighbouring lanes
// Cost    kg_cell_make_cost() and so on
#include "device/cuda_launch.cuh"
#include "ops/local/quadrature/make_tiles.cuh"
#include "ops/local/quadrature/postprocess_tiles.cuh"
#include "ops/local/quadrature/recover_tiles.cuh"
#include "ops/local/quadrature/small_tiles.cuh"
#include "ops/local/quadrature/small_launch.cuh"
#include "ops/local/quadrature/tiles.h"

namespace
{

template <class Shape>
using make = kg::small_make<Shape, false>;
template <class Shape>
using make_exact = kg::small_make<Shape, true>;
template <class Shape>
using recover = kg::small_recover<Shape, false>;
template <class Shape>
using recover_exact = kg::small_recover<Shape, true>;

using kg::run_small;
using kg::WARPS_BLOCK;

enum { WARPS = 16 };  // of a multiprocessor, for which there are registers

/// Teams of `warps` warps, which have `scratch` doubles each.
template <auto DO, typename Arguments>
__global__ void __launch_bounds__(32 * WARPS)
    tile_kernel(const __grid_constant__ Arguments a, int32_t n, int warps, int scratch)
{
  KG_SHARED(double2, s_tiles);
  const int threads = 32 * warps, team = threadIdx.x / threads, teams = blockDim.x / threads;
  const int64_t e = (int64_t)blockIdx.x * teams + team;
  if (e >= n) return;
  const kg_team of_element = {(int)threadIdx.x % threads,
                              (double *)s_tiles + (size_t)team * scratch, threads, 1 + team};
  DO(a, (int32_t)e, of_element);
}

/// Warps of an element whose scratch has `bytes` bytes: so many that a multiprocessor has WARPS of
/// them, and at least `least` <= WARPS. With one each, elements do not wait for each other's steps.
int warps_for(size_t bytes, size_t limit, int least)
{
  const int elements = (int)(limit / bytes);
  int warps = 1;
  while (warps < least || 2 * warps * elements <= WARPS) warps *= 2;
  return warps;
}

/// Run ALONE(a, e, team) for e < n where a team is one warp, else SHARED. A team has `least` warps
/// or more, and `scratch` doubles.
template <auto ALONE, auto SHARED, typename Arguments>
kedge_status run(kedge_context *ctx, const char *name, int32_t n, int least, int scratch,
                 const Arguments &a)
{
  if (n == 0) return KEDGE_OK;
  const int even = scratch + scratch % 2;
  const size_t bytes = even * sizeof(double), limit = (size_t)kg_cuda(ctx)->shared_limit;
  const int warps = warps_for(bytes, limit, least);
  int teams = warps < WARPS_BLOCK ? WARPS_BLOCK / warps : 1;
  while (teams > 1 && teams * bytes > limit) --teams;
  const unsigned n_blocks = ((unsigned)n + teams - 1) / teams, threads = 32u * warps * teams;
  return kg_launch_shared(
      ctx, name, n_blocks, threads, teams * bytes,
      warps == 1 ? tile_kernel<ALONE, Arguments> : tile_kernel<SHARED, Arguments>, a, n, warps,
      even);
}

/// Run an operator for a shape and order that has a kernel of its own. Returns whether it has one.
template <template <class> class Operator, class Args>
bool try_small(kedge_context *ctx, int32_t n, const Args &a, kedge_status *status)
{
  const kg_cell_tables *t = &a.cells.tables;
  if (t->rows != kg_cell_rows(t->size.order)) return false;
#define CASE(facets, order, blocks)                                                   \
  case 10 * facets + order:                                                           \
    *status = run_small<Operator<kg::small_shape<facets, order>>, blocks>(ctx, n, a); \
    return true;
  switch (10 * t->size.n_facets + t->size.order) {
    CASE(3, 1, 6)
    CASE(3, 2, 6)
    CASE(3, 3, 7)
    CASE(3, 4, 5)
    CASE(3, 5, 4)
    CASE(3, 6, 3)
    CASE(4, 1, 5)
    CASE(4, 2, 5)
    CASE(4, 3, 4)
    CASE(4, 4, 3)
    CASE(4, 5, 2)
    default:
      return false;
  }
}

/// Run an operator with material.exact, for quadrilaterals. Returns whether it has a kernel.
template <template <class> class Operator, class Args>
bool try_small_exact(kedge_context *ctx, int32_t n, const Args &a, kedge_status *status)
{
  const kg_cell_tables *t = &a.cells.tables;
  if (t->rows != kg_cell_rows(t->size.order)) return false;
  switch (10 * t->size.n_facets + t->size.order) {
    CASE(4, 1, 4)
    CASE(4, 2, 4)
    CASE(4, 3, 4)
    CASE(4, 4, 3)
    CASE(4, 5, 2)
    default:
      return false;
  }
#undef CASE
}

/// Whether an element's scratch fits shared memory, and its warps a block.
bool fits(kedge_context *ctx, int scratch, int warps)
{
  return (scratch + 1) * sizeof(double) <= (size_t)kg_cuda(ctx)->shared_limit && warps <= WARPS &&
         kg_cuda(ctx)->code_major >= 8;
}

}  // namespace

bool kg_tiles_make_fits(kedge_context *ctx, const kg_cell_make_args *a)
{
  const kg_cell_tables *t = &a->cells.tables;
  const bool exact = a->material.exact;
  return fits(ctx, kg::make_count(t, exact), kg::make_warps(t, exact));
}

kedge_status kg_tiles_make(kedge_context *ctx, const kg_cell_make_args *a)
{
  kedge_status status;
  if (a->material.exact ? try_small_exact<make_exact>(ctx, kg_cell_make_things(a), *a, &status)
                        : try_small<make>(ctx, kg_cell_make_things(a), *a, &status))
    return status;
  const kg_cell_tables *t = &a->cells.tables;
  const bool exact = a->material.exact;
  const auto make_by_tiles =
      exact ? run<kg::make_by_tiles<true, 2>, kg::make_by_tiles<true, 2>, kg_cell_make_args>
            : run<kg::make_by_tiles<false, 4>, kg::make_by_tiles<false, 2>, kg_cell_make_args>;
  return make_by_tiles(ctx, "cell_make", kg_cell_make_things(a), kg::make_warps(t, exact),
                       kg::make_count(t, exact), *a);
}

bool kg_tiles_recover_fits(kedge_context *ctx, const kg_cell_recover_args *a)
{
  const kg_cell_tables *t = &a->cells.tables;
  const bool exact = a->material.exact;
  return fits(ctx, kg::recover_count(t, exact), kg::recover_warps(t, exact));
}

kedge_status kg_tiles_recover(kedge_context *ctx, const kg_cell_recover_args *a)
{
  kedge_status status;
  if (a->material.exact ? try_small_exact<recover_exact>(ctx, a->cells.n_elements, *a, &status)
                        : try_small<recover>(ctx, a->cells.n_elements, *a, &status))
    return status;
  const kg_cell_tables *t = &a->cells.tables;
  const bool exact = a->material.exact;
  const auto recover_by_tiles =
      exact
          ? run<kg::recover_by_tiles<true, 2>, kg::recover_by_tiles<true, 2>, kg_cell_recover_args>
          : run<kg::recover_by_tiles<false, 4>, kg::recover_by_tiles<false, 2>,
                kg_cell_recover_args>;
  return recover_by_tiles(ctx, "cell_recover", a->cells.n_elements, kg::recover_warps(t, exact),
                          kg::recover_count(t, exact), *a);
}

bool kg_tiles_postprocess_fits(kedge_context *ctx, const kg_cell_postprocess_args *a)
{
  return fits(ctx, kg::postprocess_count(&a->cells.tables), 1);
}

kedge_status kg_tiles_postprocess(kedge_context *ctx, const kg_cell_postprocess_args *a)
{
  kedge_status status;
  if (try_small<kg::small_postprocess>(ctx, a->cells.n_elements, *a, &status)) return status;
  const kg_cell_tables *t = &a->cells.tables;
  return run<kg::postprocess_by_tiles<4>, kg::postprocess_by_tiles<2>>(
      ctx, "cell_postprocess", a->cells.n_elements, 1, kg::postprocess_count(t), *a);
}
