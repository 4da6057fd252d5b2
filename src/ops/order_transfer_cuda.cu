// order_transfer_cuda.cu: modes of a lower order out of matrices and vectors, and back.
// Map     local: block = group, warp = rows i, i + WARPS, ... of the small triangle or a flux, lane
//         = element: lines of 256 bytes on both sides. Vectors: thread = mode of the lower order.
// Cost    what is copied, twice.
#include "backend/cuda_each.cuh"
#include "ops/order_transfer.h"

namespace
{

enum { WARPS = 8, THREADS = 256 };

__global__ void __launch_bounds__(32 * WARPS)
    local_kernel(const kg_order_local_args a, int from_rows, int to_rows)
{
  const int64_t group = blockIdx.x;
  const int n = kg_order_unknowns(&a), fluxes = kg_order_fluxes(&a);
  const double *from = a.from + group * from_rows * KG_LANES + threadIdx.x;
  double *to = a.to + group * to_rows * KG_LANES + threadIdx.x;
  if ((int)threadIdx.y < fluxes) to[threadIdx.y * KG_LANES] = from[threadIdx.y * KG_LANES];
  from += fluxes * KG_LANES;
  to += fluxes * KG_LANES;
  for (int i = (int)threadIdx.y; i < n; i += WARPS) {
    const int row = kg_order_unknown(&a, i);
    for (int j = 0; j <= i; ++j)
      to[kg_packed_entry(i, j) * KG_LANES] =
          from[kg_packed_entry(row, kg_order_unknown(&a, j)) * KG_LANES];
  }
}

__global__ void restrict_kernel(const kg_order_vector_args a)
{
  const int64_t i = kg_thread_number();
  if (i >= (int64_t)a.n_edges * a.m_to) return;
  const int64_t at = i / a.m_to * a.m_from + i % a.m_to;
  a.to[i] = a.from[at] - (a.minus != nullptr ? a.minus[at] : 0.0);
}

__global__ void add_kernel(const kg_order_vector_args a)
{
  const int64_t i = kg_thread_number();
  if (i >= (int64_t)a.n_edges * a.m_from) return;
  a.to[i / a.m_from * a.m_to + i % a.m_from] += a.from[i];
}

}  // namespace

extern "C" kedge_status kg_order_local_cuda(kedge_context *ctx, const kg_order_local_args *a)
{
  if (a->n_groups == 0) return KEDGE_OK;  // an empty grid is a launch error
  local_kernel<<<(unsigned)a->n_groups, dim3(KG_LANES, WARPS), 0, kg_cuda_stream(ctx)>>>(
      *a, kg_order_rows(a, a->from_size), kg_order_rows(a, a->to_size));
  return kg_cuda_launched(ctx, "order_local");
}

extern "C" kedge_status kg_order_restrict_cuda(kedge_context *ctx, const kg_order_vector_args *a)
{
  return kg_launch_each<THREADS>(ctx, "order_restrict", (int64_t)a->n_edges * a->m_to,
                                 restrict_kernel, *a);
}

extern "C" kedge_status kg_order_add_cuda(kedge_context *ctx, const kg_order_vector_args *a)
{
  return kg_launch_each<THREADS>(ctx, "order_add", (int64_t)a->n_edges * a->m_from, add_kernel, *a);
}
