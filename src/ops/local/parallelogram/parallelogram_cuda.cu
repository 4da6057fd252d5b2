// parallelogram_cuda.cu: operators of parallelograms: a thread an element up to order 3, a few
// lanes of a warp above.
// Layout  arrays [group][row][lane]: elements of a block are neighbouring lanes
// Cost    kg_parallelogram_make_cost() and so on
#include "ops/local/parallelogram/parallelogram_band.cuh"
#include "ops/local/parallelogram/parallelogram_lanes.cuh"
#include "ops/local/parallelogram/parallelogram_threads.cuh"

namespace
{

enum { THREADS = 128 };  // of a block

template <auto DO, class Args>
__global__ void __launch_bounds__(THREADS) thread_kernel(const __grid_constant__ Args a, int32_t n)
{
  const int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (e < n) DO(a, (int32_t)e);
}

template <auto DO, class Args>
kedge_status run_threads(kedge_context *ctx, const char *name, int32_t n, const Args &a)
{
  if (n == 0) return KEDGE_OK;
  return kg_launch(ctx, name, ((unsigned)n + THREADS - 1) / THREADS, THREADS, 0,
                   thread_kernel<DO, Args>, a, n);
}

}  // namespace

/// The kernels of all orders: by_thread<1 .. 3>, by_lanes<4 .. 8>.
#define RUN(ctx, name, n, a, by_thread, by_lanes)                                                  \
  switch ((a).cells.tables.size.order) {                                                           \
    case 1:                                                                                        \
      return run_threads<by_thread<1>>(ctx, name, n, a);                                           \
    case 2:                                                                                        \
      return run_threads<by_thread<2>>(ctx, name, n, a);                                           \
    case 3:                                                                                        \
      return run_threads<by_thread<3>>(ctx, name, n, a);                                           \
    case 4:                                                                                        \
      return kg::run_lanes<by_lanes<4>>(ctx, name, n, a);                                          \
    case 5:                                                                                        \
      return kg::run_lanes<by_lanes<5>>(ctx, name, n, a);                                          \
    case 6:                                                                                        \
      return kg::run_lanes<by_lanes<6>>(ctx, name, n, a);                                          \
    case 7:                                                                                        \
      return kg::run_lanes<by_lanes<7>>(ctx, name, n, a);                                          \
    case 8:                                                                                        \
      return kg::run_lanes<by_lanes<8>>(ctx, name, n, a);                                          \
    default:                                                                                       \
      return KG_FAIL(ctx, KEDGE_ERR_INTERNAL, "order %d has no %s()", (a).cells.tables.size.order, \
                     name);                                                                        \
  }

extern "C" kedge_status kg_parallelogram_make_cuda(kedge_context *ctx, const kg_cell_make_args *a)
{
  RUN(ctx, "parallelogram_make", kg_cell_make_things(a), *a, kg::make_by_thread, kg::make_lanes)
}

extern "C" kedge_status kg_parallelogram_recover_cuda(kedge_context *ctx,
                                                      const kg_cell_recover_args *a)
{
  RUN(ctx, "parallelogram_recover", a->cells.n_elements, *a, kg::recover_by_thread,
      kg::recover_lanes)
}

extern "C" kedge_status kg_parallelogram_postprocess_cuda(kedge_context *ctx,
                                                          const kg_cell_postprocess_args *a)
{
  RUN(ctx, "parallelogram_postprocess", a->cells.n_elements, *a, kg::postprocess_by_thread,
      kg::star_lanes)
}
