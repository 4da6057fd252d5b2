// vertex_transfer_cuda.cu: c = P^T (r - A z), thread = unknown; z += P c with its product, thread =
// edge, or without, thread = unknown; the
// vertex modes of r - A z, thread = edge, which reads its row in words of up to 16 bytes, then
// thread = unknown (vertex_transfer.h). All read what lies near in memory because vertices and
// edges are numbered along the elements; no shared memory. Cost kg_vertex_transfer_cost(),
// kg_vertex_modes_restrict_cost()
#include "device/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/trace/edge_rows.cuh"
#include "ops/smooth/vertex_transfer.h"

namespace
{
constexpr int BLOCK = 256;

/// Thread = one of K vectors of an edge.
template <int M, int K>
__global__ void __launch_bounds__(BLOCK)
    KG_REAL(vertex_mode_parts_kernel)(const kg_vertex_modes_restrict_args a)
{
  const int64_t edge = kg_thread_number() / K;
  const int vector = threadIdx.x % K;
  if (edge >= a.n_edges) return;
  kg_real x[M], y[M];
  load_edge_of<M, K>(x, (const kg_real *)a.r + edge * M * K + vector);
  if (a.product != nullptr) {
    load_edge_of<M, K>(y, (const kg_real *)a.product + edge * M * K + vector);
#pragma unroll
    for (int k = 0; k < M; ++k) x[k] -= y[k];
  }
  kg_vertex_mode_parts(&a.modes, M, (int32_t)edge, K, vector, x);
}

template <int P>
kedge_status restrict_modes(kedge_context *ctx, const kg_vertex_modes_restrict_args &a)
{
  const int64_t n_edges = a.n_edges;
  if (a.many) {
    KG_TRY(kg_launch_each<BLOCK>(ctx, "vertex_mode_parts", n_edges * KG_VECTORS,
                                 KG_REAL(vertex_mode_parts_kernel) < P + 1, KG_VECTORS >, a));
    return kg_do_each<BLOCK, kg_vertex_mode_value_many>(
        ctx, "vertex_mode_values", (int64_t)a.modes.space.n_rows * KG_VECTORS, a);
  }
  KG_TRY(kg_launch_each<BLOCK>(ctx, "vertex_mode_parts", n_edges,
                               KG_REAL(vertex_mode_parts_kernel) < P + 1, 1 >, a));
  return kg_do_each<BLOCK, kg_vertex_mode_value>(ctx, "vertex_mode_values", a.modes.space.n_rows,
                                                 a);
}
}  // namespace

extern "C" kedge_status KG_REAL(kg_vertex_restrict_cuda)(kedge_context *ctx,
                                                         const kg_vertex_restrict_args *a)
{
  const int64_t n = a->space.n_rows;
  if (a->many)
    return kg_do_each<BLOCK, kg_vertex_gather_many>(ctx, "vertex_restrict", n * KG_VECTORS, *a);
  return kg_do_each<BLOCK, kg_vertex_gather>(ctx, "vertex_restrict", n, *a);
}

extern "C" kedge_status KG_REAL(kg_vertex_prolong_cuda)(kedge_context *ctx,
                                                        const kg_vertex_prolong_args *a)
{
  const int64_t n = a->correction.n_edges;
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
  return kg_with_order(a->size.order, [&](auto p) { return restrict_modes<p()>(ctx, *a); });
}
