// vertex_transfer_cuda.cu: c = P^T (r - A z), thread = unknown; z += P c with its product, thread =
// edge or facet, or without, thread = unknown; the vertex modes of r - A z, thread = edge, which
// reads its row in words of up to 16 bytes, then thread = unknown (vertex_transfer.h). All read
// what lies near in memory because vertices and edges are numbered along the elements; no shared
// memory. Cost kg_vertex_transfer_cost(), kg_vertex_modes_restrict_cost()
#include "device/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/trace/edge_rows.cuh"
#include "ops/smooth/corner_transfer.h"
#include "ops/vector/advance.cuh"
#include "ops/vector/grid_sum.cuh"

namespace
{
enum { BLOCK = 256, BLOCKS = 4 };  // BLOCKS: of a multiprocessor, where there is a sum

/// The parts of one of K vectors of an edge; returns its part of r . r if r takes a step first.
template <int M, int K, bool ADVANCE>
__device__ __forceinline__ double mode_parts(const kg_vertex_modes_restrict_args &a, int64_t edge,
                                             int vector, double factor)
{
  const int64_t row = edge * M * K + vector;
  kg_real x[M], y[M];
  double rr = 0.0;
  load_edge_of<M, K>(x, (const kg_real *)a.r + row);
  if constexpr (ADVANCE) rr = advance_edge<M, K>(a.advance, row, factor, x);
  if (a.product != nullptr) {
    load_edge_of<M, K>(y, (const kg_real *)a.product + row);
#pragma unroll
    for (int k = 0; k < M; ++k) x[k] -= y[k];
  }
  kg_vertex_mode_parts(&a.modes, M, (int32_t)edge, K, vector, x);
  return rr;
}

/// Thread = one of K vectors of an edge.
template <int M, int K>
__global__ void __launch_bounds__(BLOCK)
    KG_REAL(vertex_mode_parts_kernel)(const kg_vertex_modes_restrict_args a)
{
  const int64_t edge = kg_thread_number() / K;
  if (edge < a.n_edges) mode_parts<M, K, false>(a, edge, (int)threadIdx.x % K, 0.0);
}

#ifndef KG_COMPILE_SINGLE
/// Parts where r takes a step first: blocks go round, one part of the sum each.
template <int M, int K>
__global__ void __launch_bounds__(BLOCK, BLOCKS)
    mode_parts_advance_kernel(const kg_vertex_modes_restrict_args a, unsigned *counter)
{
  __shared__ double s_sum[BLOCK / 32 * K];
  const int vector = threadIdx.x % K;
  const double factor = kg_advance_factor(&a.advance, vector);
  double rr = 0.0;
  for (int64_t i = kg_thread_number(); i / K < a.n_edges; i += (int64_t)gridDim.x * BLOCK)
    rr += mode_parts<M, K, true>(a, i / K, vector, factor);
  kg_grid_sums_end<K>(rr, a.advance.sum, counter, s_sum);
}
#endif

template <int M>
kedge_status find_parts_of_many(kedge_context *ctx, const kg_vertex_modes_restrict_args &a)
{
  const int64_t n = (int64_t)a.n_edges * KG_VECTORS;
#ifndef KG_COMPILE_SINGLE
  if (a.advance.r != nullptr) {
    int64_t pieces = (n + BLOCK - 1) / BLOCK;
    if (pieces > KG_PIECES) pieces = KG_PIECES;
    return kg_launch(ctx, "vertex_mode_parts", kg_cuda_blocks(ctx, pieces, BLOCKS), BLOCK, 0,
                     mode_parts_advance_kernel<M, KG_VECTORS>, a,
                     kg_cuda(ctx)->counters + KG_COUNTER_VECTORS);
  }
#endif
  return kg_launch_each<BLOCK>(ctx, "vertex_mode_parts", n, KG_REAL(vertex_mode_parts_kernel) < M,
                               KG_VECTORS >, a);
}

template <int M>
kedge_status restrict_modes(kedge_context *ctx, const kg_vertex_modes_restrict_args &a)
{
  const int64_t n_edges = a.n_edges;
  if (a.many) {
    KG_TRY(find_parts_of_many<M>(ctx, a));
    return kg_do_each<BLOCK, kg_vertex_mode_value_many>(
        ctx, "vertex_mode_values", (int64_t)a.modes.space.n_rows * KG_VECTORS, a);
  }
  KG_TRY(kg_launch_each<BLOCK>(ctx, "vertex_mode_parts", n_edges,
                               KG_REAL(vertex_mode_parts_kernel) < M, 1 >, a));
  return kg_do_each<BLOCK, kg_vertex_mode_value>(ctx, "vertex_mode_values", a.modes.space.n_rows,
                                                 a);
}
}  // namespace

extern "C" kedge_status KG_REAL(kg_vertex_restrict_cuda)(kedge_context *ctx,
                                                         const kg_vertex_restrict_args *a)
{
  const int64_t n = a->space.n_rows;
  if (kg_lanes_in_space(&a->space.mesh.lanes))
    return kg_do_each<BLOCK, kg_corner_gather>(ctx, "vertex_restrict_corners", n, *a);
  if (a->many)
    return kg_do_each<BLOCK, kg_vertex_gather_many>(ctx, "vertex_restrict", n * KG_VECTORS, *a);
  return kg_do_each<BLOCK, kg_vertex_gather>(ctx, "vertex_restrict", n, *a);
}

extern "C" kedge_status KG_REAL(kg_vertex_prolong_cuda)(kedge_context *ctx,
                                                        const kg_vertex_prolong_args *a)
{
  const int64_t n = a->correction.n_edges;
  if (kg_lanes_in_space(&a->correction.space.mesh.lanes))
    return kg_do_each<BLOCK, kg_corner_add_rows>(ctx, "vertex_prolong_corners", n, *a);
  if (a->many)
    return kg_do_each<BLOCK, kg_vertex_add_rows_many>(ctx, "vertex_prolong_rows", n * KG_VECTORS,
                                                      *a);
  if (a->correction.rows.value != nullptr)
    return kg_do_each<BLOCK, kg_vertex_add_rows>(ctx, "vertex_prolong_rows", n, *a);
  return kg_do_each<BLOCK, kg_vertex_add>(ctx, "vertex_prolong", n, *a);
}

extern "C" kedge_status KG_REAL(kg_vertex_spread_cuda)(kedge_context *ctx,
                                                       const kg_vertex_spread_args *a)
{
  const int64_t n = a->space.n_rows;
  if (a->many)
    return kg_do_each<BLOCK, kg_vertex_spread_many>(ctx, "vertex_spread", n * KG_VECTORS, *a);
  return kg_do_each<BLOCK, kg_vertex_spread_at>(ctx, "vertex_spread", n, *a);
}

extern "C" kedge_status KG_REAL(kg_vertex_modes_restrict_cuda)(
    kedge_context *ctx, const kg_vertex_modes_restrict_args *a)
{
  return kg_with_modes(ctx, a->m, [&](auto m) { return restrict_modes<m()>(ctx, *a); });
}
