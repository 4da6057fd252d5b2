// trace_gather_cuda.cu: y = A x from full local matrices, one thread a row.
//
// Layout  full K^e [element][edge of its rows][column][mode of the row]: the m rows of an edge read
//         m consecutive words, and the whole of its m x n numbers one after the other. x and y
//         [trace edge][mode].
// Work    a thread takes a row of a free edge: its one or two elements' rows times their three
//         edges, whose x come from the caches. No floating-point atomics: x . y is summed by every
//         block and then by the last one, in order.
// Cost    of a row: 8 n bytes and 2 n operations an element, two elements but on the boundary.
#include "device/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/trace/load_edge.cuh"
#include "ops/vector/grid_sum.cuh"
#include "ops/trace/trace_gather.h"

namespace
{
constexpr int BLOCK = KG_GATHER_ROWS;

/// Row i of a side times the values of its element's three edges.
template <int M>
__device__ __forceinline__ double multiply_side(const kg_trace_gather_args &a, kg_side side, int i)
{
  const int64_t e = kg_side_element(side);
  const uint32_t *edge = a.batch.arrays.side_edge + e / KG_LANES * 3 * KG_LANES + e % KG_LANES;
  const double *entry =
      (const double *)a.local.data + (3 * e + kg_side_facet(side)) * 3 * M * M + i;
  double sum = 0.0;
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    double xe[M];
    kg_load_edge<M>(a.x + (int64_t)(__ldg(edge + l * KG_LANES) >> 1) * M, xe);
#pragma unroll
    for (int j = 0; j < M; ++j) sum += __ldg(entry + (l * M + j) * M) * xe[j];
  }
  return sum;
}

template <int M>
__global__ void __launch_bounds__(BLOCK)
    plain_kernel(const kg_trace_gather_args a, int64_t rows, unsigned *counter)
{
  if (kg_stopped(a.pass.stop)) return;
  double dot = 0.0;
  const int64_t row = kg_thread_number();
  if (row < rows) {
    const uint2 sides = __ldg((const uint2 *)a.batch.arrays.edge_sides + row / M);
    const int i = (int)(row % M);
    double sum = multiply_side<M>(a, sides.x, i);
    if (sides.y != KG_NO_SIDE) sum += multiply_side<M>(a, sides.y, i);
    a.y[row] = sum;
    if (a.pass.sum.total) dot = a.x[row] * sum;
  }
  if (!a.pass.sum.total) return;

  __shared__ double s_warp[BLOCK / 32];
  kg_grid_sum_end(dot, a.pass.sum, counter, s_warp);
}

template <int M>
kedge_status launch(kedge_context *ctx, const kg_trace_gather_args &a)
{
  const int64_t rows = (int64_t)a.batch.count.n_free * M;
  const int64_t grid = kg_trace_gather_partials(a.batch.m, &a.batch.count);
  return kg_launch(ctx, "trace_gather", (unsigned)grid, BLOCK, 0, plain_kernel<M>, a, rows,
                   kg_cuda(ctx)->counters + KG_COUNTER_TRACE_GATHER);
}
}  // namespace

extern "C" kedge_status kg_trace_gather_cuda(kedge_context *ctx, const kg_trace_gather_args *args)
{
  return kg_with_modes(ctx, args->batch.m, [&](auto m) { return launch<m()>(ctx, *args); });
}
