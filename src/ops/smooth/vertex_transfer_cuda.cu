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

template <int M>
__global__ void __launch_bounds__(BLOCK)
    KG_REAL(vertex_mode_parts_kernel)(const kg_vertex_modes_restrict_args a)
{
  const int64_t edge = kg_thread_number();
  if (edge >= a.n_edges) return;
  kg_real x[M], y[M];
  load_edge<M>(x, (const kg_real *)a.r + edge * M);
  if (a.product != nullptr) {
    load_edge<M>(y, (const kg_real *)a.product + edge * M);
#pragma unroll
    for (int k = 0; k < M; ++k) x[k] -= y[k];
  }
  kg_vertex_mode_parts(&a.modes, M, (int32_t)edge, x);
}

template <int P>
kedge_status restrict_modes(kedge_context *ctx, const kg_vertex_modes_restrict_args &a)
{
  KG_TRY(kg_launch_each<BLOCK>(ctx, "vertex_mode_parts", a.n_edges,
                               KG_REAL(vertex_mode_parts_kernel) < P + 1 >, a));
  return kg_do_each<BLOCK, kg_vertex_mode_value>(ctx, "vertex_mode_values", a.modes.space.n_rows,
                                                 a);
}
}  // namespace

extern "C" kedge_status KG_REAL(kg_vertex_restrict_cuda)(kedge_context *ctx,
                                                         const kg_vertex_restrict_args *a)
{
  return kg_do_each<BLOCK, kg_vertex_gather>(ctx, "vertex_restrict", a->space.n_rows, *a);
}

extern "C" kedge_status KG_REAL(kg_vertex_prolong_cuda)(kedge_context *ctx,
                                                        const kg_vertex_prolong_args *a)
{
  const int32_t n = a->correction.n_edges;
  if (a->correction.rows.value != nullptr)
    return kg_do_each<BLOCK, kg_vertex_add_rows>(ctx, "vertex_prolong_rows", n, *a);
  return kg_do_each<BLOCK, kg_vertex_add>(ctx, "vertex_prolong", n, *a);
}

extern "C" kedge_status KG_REAL(kg_vertex_spread_cuda)(kedge_context *ctx,
                                                       const kg_vertex_spread_args *a)
{
  return kg_do_each<BLOCK, kg_vertex_spread_at>(ctx, "vertex_spread", a->space.n_rows, *a);
}

extern "C" kedge_status KG_REAL(kg_vertex_modes_restrict_cuda)(
    kedge_context *ctx, const kg_vertex_modes_restrict_args *a)
{
  return kg_with_order(a->size.order, [&](auto p) { return restrict_modes<p()>(ctx, *a); });
}
