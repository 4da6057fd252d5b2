// parallelogram_cuda.cu: operators of parallelograms: a thread an element up to order 3, above a
// warp an element; by quadrature on GPUs whose tensor cores have no double precision.
// Layout  arrays [group][row][lane]: threads and warps of a block are neighbouring lanes
// Cost    kg_parallelogram_make_cost() and so on
#include "ops/local/parallelogram/parallelogram_threads.cuh"
#include "ops/local/parallelogram/parallelogram_tiles.cuh"
#include "ops/local/quadrature/small_launch.cuh"

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

/// Blocks for which a multiprocessor is to have registers, where a matrix has `strips` strips.
constexpr int blocks_for(int strips)
{
  const int tiles = strips * (strips + 1) / 2 * kg::halves_at_a_time(strips);
  const int registers = 4 * tiles + 72, blocks = 512 / registers;
  return blocks < 2 ? 2 : blocks;
}

template <class Operator>
kedge_status run_tiles(kedge_context *ctx, int32_t n, const typename Operator::args &a)
{
  return kg::run_small<Operator, blocks_for(Operator::STRIPS)>(ctx, n, a);
}

bool has_tiles(kedge_context *ctx)
{
  return kg_cuda(ctx)->code_major >= 8;
}

}  // namespace

/// The kernels of all orders: by_thread<1 .. 3>, tiles<4 .. 8>.
#define RUN(ctx, name, n, a, by_thread, tiles)                                                     \
  switch ((a).cells.tables.size.order) {                                                           \
    case 1:                                                                                        \
      return run_threads<by_thread<1>>(ctx, name, n, a);                                           \
    case 2:                                                                                        \
      return run_threads<by_thread<2>>(ctx, name, n, a);                                           \
    case 3:                                                                                        \
      return run_threads<by_thread<3>>(ctx, name, n, a);                                           \
    case 4:                                                                                        \
      return run_tiles<tiles<4>>(ctx, n, a);                                                       \
    case 5:                                                                                        \
      return run_tiles<tiles<5>>(ctx, n, a);                                                       \
    case 6:                                                                                        \
      return run_tiles<tiles<6>>(ctx, n, a);                                                       \
    case 7:                                                                                        \
      return run_tiles<tiles<7>>(ctx, n, a);                                                       \
    case 8:                                                                                        \
      return run_tiles<tiles<8>>(ctx, n, a);                                                       \
    default:                                                                                       \
      return KG_FAIL(ctx, KEDGE_ERR_INTERNAL, "order %d has no %s()", (a).cells.tables.size.order, \
                     name);                                                                        \
  }

extern "C" kedge_status kg_parallelogram_make_cuda(kedge_context *ctx, const kg_cell_make_args *a)
{
  if (!has_tiles(ctx)) return kg_cell_make(ctx, a);
  RUN(ctx, "parallelogram_make", kg_cell_make_things(a), *a, kg::make_by_thread,
      kg::parallelogram_make)
}

extern "C" kedge_status kg_parallelogram_recover_cuda(kedge_context *ctx,
                                                      const kg_cell_recover_args *a)
{
  if (!has_tiles(ctx)) return kg_cell_recover(ctx, a);
  RUN(ctx, "parallelogram_recover", a->cells.n_elements, *a, kg::recover_by_thread,
      kg::parallelogram_recover)
}

extern "C" kedge_status kg_parallelogram_postprocess_cuda(kedge_context *ctx,
                                                          const kg_cell_postprocess_args *a)
{
  if (!has_tiles(ctx)) return kg_cell_postprocess(ctx, a);
  RUN(ctx, "parallelogram_postprocess", a->cells.n_elements, *a, kg::postprocess_by_thread,
      kg::parallelogram_postprocess)
}
