// pair_smooth_cuda.cu: what smoothing by edges lacks on pairs (edge_pairs.h).
// Layout  W [edge group][m (m+1) / 2][lane], K^e as ops/local has it, vectors [edge][mode]
// Map     thread = edge, and vector where they are many; the first edge of a pair does both, with
//         vectors in registers
// Cost    kg_pair_smooth_cost(), and of each pair three W, C and vectors of its edges
#include "device/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/smooth/pair_smooth.h"

namespace
{

enum { BLOCK = 128 };

template <int M, int K>
__global__ void __launch_bounds__(BLOCK) KG_REAL(pair_smooth_kernel)(const kg_pair_smooth_args a)
{
  const int64_t i = kg_thread_number();
  if (i / K < a.n_edges && a.pair[i / K] > 0)
    kg_pair_step(&a, M, (int32_t)(i / K), K, (int)(i % K));
}

template <int P, int K>
kedge_status launch(kedge_context *ctx, const kg_pair_smooth_args &a)
{
  return kg_launch_each<BLOCK>(ctx, "pair_smooth", (int64_t)a.n_edges * K,
                               KG_REAL(pair_smooth_kernel) < P + 1, K >, a);
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_pair_smooth_cuda)(kedge_context *ctx,
                                                     const kg_pair_smooth_args *a)
{
  if (a->many)
    return kg_with_order<KEDGE_ORDER_MIN, KG_MANY_ORDER_MAX>(
        a->size.order, [&](auto p) { return launch<p(), KG_VECTORS>(ctx, *a); });
  return kg_with_order(a->size.order, [&](auto p) { return launch<p(), 1>(ctx, *a); });
}
