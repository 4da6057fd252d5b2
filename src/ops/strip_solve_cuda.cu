// strip_solve_cuda.cu: third edges of strips, before and after the lines (strip_solve.h).
// Layout  third [element][2][m][m], own [edge group][m (m+1) / 2][lane], vectors [edge][mode]
// Map     fill: warp = a row of W of a group's elements, lane = element: loads of K^e take whole
//         lines, which the warps of a group find in the L1 cache. Else 8 lanes (16 beyond order 7)
//         are an edge, lane i its mode i. They condense by columns of W, a row of which their loads
//         take together, and expand by rows: a block of W is contiguous and stays in the L1 cache
//         until all lanes have theirs. An edge reads v of itself alone where expanded in place.
// Cost    kg_strip_fill_cost(), kg_strip_cost()
#include "backend/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/strip_solve.h"

namespace
{

enum { THREADS = 128 };

template <int M>
constexpr int WIDTH = M <= 8 ? 8 : 16;  // lanes of an edge

template <int M>
__global__ void __launch_bounds__(THREADS) KG_REAL(strip_fill_kernel)(const kg_strip_fill_args a)
{
  const int64_t warp = kg_thread_number() / KG_LANES;  // of [group][slot 0 or 2][row]
  const int64_t e = warp / (2 * M) * KG_LANES + threadIdx.x % KG_LANES;
  const int slot = (int)(warp % (2 * M)) / M, k = (int)(warp % M);
  if (e >= a.batch.count.n_elements) return;
  kg_real *row = (kg_real *)a.strips.third + ((2 * e + slot) * M + k) * M;
  for (int i = 0; i < M; ++i) row[i] = kg_strip_entry(&a, (int32_t)e, 2 * slot, k, i);
}

template <int M, bool EXPAND>
__global__ void __launch_bounds__(THREADS) KG_REAL(strip_kernel)(const kg_strip_args a)
{
  const int64_t thread = kg_thread_number();
  const int32_t edge = (int32_t)(thread / WIDTH<M>);
  const int mode = (int)(thread % WIDTH<M>);
  const bool has = edge < a.batch.count.n_free && mode < M;
  const int64_t at = (int64_t)edge * M + mode;
  if constexpr (EXPAND) {
    const kg_real value = has ? kg_strip_expanded(&a, M, edge, mode) : (kg_real)0;
    __syncwarp();  // all lanes of the edge have read its v
    if (has) ((kg_real *)a.v)[at] = value;
  } else if (has) {
    ((kg_real *)a.y)[at] = kg_strip_condensed(&a, M, edge, mode);
  }
}

template <int P>
kedge_status fill(kedge_context *ctx, const kg_strip_fill_args &a)
{
  constexpr int M = P + 1;
  const int64_t rows = 2 * M * (int64_t)a.batch.count.n_groups;
  return kg_launch_each<THREADS>(ctx, "strip_fill", rows * KG_LANES,
                                 KG_REAL(strip_fill_kernel) < M >, a);
}

template <int P, bool EXPAND>
kedge_status pass(kedge_context *ctx, const kg_strip_args &a)
{
  constexpr int M = P + 1;
  return kg_launch_each<THREADS>(ctx, EXPAND ? "strip_expand" : "strip_condense",
                                 (int64_t)a.batch.count.n_free * WIDTH<M>,
                                 KG_REAL(strip_kernel) < M, EXPAND >, a);
}

template <bool EXPAND>
kedge_status pass_of_order(kedge_context *ctx, const kg_strip_args *a)
{
  return kg_with_order(a->batch.reference.size.order,
                       [&](auto p) { return pass<p(), EXPAND>(ctx, *a); });
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_strip_fill_cuda)(kedge_context *ctx, const kg_strip_fill_args *a)
{
  return kg_with_order(a->batch.reference.size.order, [&](auto p) { return fill<p()>(ctx, *a); });
}

extern "C" kedge_status KG_REAL(kg_strip_condense_cuda)(kedge_context *ctx, const kg_strip_args *a)
{
  return pass_of_order<false>(ctx, a);
}

extern "C" kedge_status KG_REAL(kg_strip_expand_cuda)(kedge_context *ctx, const kg_strip_args *a)
{
  return pass_of_order<true>(ctx, a);
}
