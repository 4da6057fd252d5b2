// trace_apply_cuda.cu: y = sum_e A_e^T K^e A_e x by patches. GPUs with a copy engine take the
// streaming kernel (trace_apply_stream.cuh) where its patches and rings fit their shared memory;
// this file has the plain one for all others, and what follows both.
// Layout  local [group][n (n+1) / 2][lane]: a warp reads 32 consecutive numbers an entry, once.
//         x, y [trace edge][mode]; edges inside a patch are contiguous.
// Map     block = patch, thread = element, warp = group. x and y of an element (2 n numbers) stay
//         in registers; every side of the patch has a place for its product, and a thread (edge,
//         mode) adds those of an edge: one writer a word.
// Cost    n (n+1) / 2 numbers of K^e and 2 n^2 flops an element, and the vectors.
#include "device/cuda_launch.cuh"
#include "ops/trace/element_codes.cuh"
#include "ops/trace/trace_apply_any.cuh"
#include "ops/trace/trace_apply_stream.cuh"
#include "ops/vector/grid_sum.cuh"

namespace
{

/// Bytes of shared memory. Places are the sides of the patch, and it has fewer edges than sides.
constexpr size_t shared_bytes(int facets, int m, int patch_groups)
{
  return sizeof(kg_real) * m * facets * KG_LANES * patch_groups;
}

/// The numbers of an element, 32 apart.
struct plain_entries {
  const kg_real *first;

  __device__ __forceinline__ kg_real take(int t)
  {
    return __ldcs(first + t * KG_LANES);
  }
};

template <int FACETS, int M, bool REDUCED>
__global__ void __launch_bounds__(32 * kg_patch_groups(M))
    KG_REAL(patch_kernel)(const kg_trace_apply_args a, unsigned *counter)
{
  constexpr int n = FACETS * M, total = ELEMENT_ENTRIES<FACETS, M, REDUCED>;
  KG_SHARED(kg_real, s_trace);  // x of the patch's edges, then products [place][M]
  __shared__ double s_warp[8];
  if (kg_stopped(a.pass.stop)) return;
  const kg_real *const a_x = (const kg_real *)a.x;
  const int threads = blockDim.x, thread = threadIdx.x, patch = blockIdx.x;
  const int edge0 = a.batch.arrays.patch_edge[patch], halo0 = a.batch.arrays.patch_halo[patch];
  const int n_inside = a.batch.arrays.patch_edge[patch + 1] - edge0;
  const int n_local = n_inside + a.batch.arrays.patch_halo[patch + 1] - halo0;

  for (int i = thread; i < n_inside * M; i += threads) s_trace[i] = a_x[(int64_t)edge0 * M + i];
  for (int i = n_inside * M + thread; i < n_local * M; i += threads) {
    const int entry = i / M - n_inside;
    const int64_t edge = a.batch.arrays.halo_edge[halo0 + entry] >> 1;
    s_trace[i] = a_x[edge * M + i % M];
  }
  __syncthreads();

  const int lane = thread & 31;
  const int64_t group = (int64_t)patch * (threads / 32) + thread / 32;
  const int64_t element = group * KG_LANES + lane;
  const bool active = element < a.batch.count.n_elements;
  element_codes<FACETS> codes = {};
  if (active) codes.load(a.batch.arrays.side_codes, element);
  kg_real x[n], y[n];
  if (active) {
#pragma unroll
    for (int i = 0; i < n; ++i) x[i] = s_trace[codes.code(i / M) / 2 * M + i % M];
  }
  __syncthreads();  // from here s_trace holds products
  double dot = 0.0;
  if (active) {
    plain_entries entries = {(const kg_real *)a.local.data + group * total * KG_LANES + lane};
    dot = multiply_element<FACETS, M, REDUCED>(entries, a.local.layout == KG_LAYOUT_DIFFERENCES, x,
                                               y);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      s_trace[kg_code_place(codes.code(i / M), n_inside) * M + i % M] = y[i];
    }
  }
  __syncthreads();
  for (int i = thread; i < n_local * M; i += threads) {
    const kg_real *products = s_trace + kg_code_place(i / M * 2, n_inside) * M + i % M;
    if (i < n_inside * M) {
      ((kg_real *)a.y)[(int64_t)edge0 * M + i] = products[0] + products[M];
    } else {
      const int entry = halo0 + i / M - n_inside;
      auto *row = (kg_real *)kg_halo_row(&a, a.batch.arrays.halo_edge[entry], M * sizeof(kg_real));
      if (row) row[i % M] = products[0];
    }
  }
  if (a.pass.sum.total != nullptr) kg_grid_sum_end(dot, a.pass.sum, counter, s_warp);
}

/// Rows of edges between patches are complete with what the second patch adds.
__global__ void KG_REAL(halo_kernel)(const kg_trace_apply_args a)
{
  kg_chain_next();
  kg_chain_wait();
  if (kg_stopped(a.pass.stop)) return;
  const int64_t m = a.batch.m * (a.pass.many ? KG_VECTORS : 1);
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  kg_real *const y = (kg_real *)a.y + a.batch.count.n_interior * m;
  if (i < a.batch.count.n_shared * m) y[i] += ((const kg_real *)a.halo)[i];
}

template <int FACETS, int M, bool REDUCED>
kedge_status launch(kedge_context *ctx, const kg_trace_apply_args &a)
{
  constexpr int groups = kg_patch_groups(M);
  constexpr size_t shared = shared_bytes(FACETS, M, groups);
  static_assert(shared <= 47 << 10, "more has to be asked for");
  return kg_launch(ctx, "trace_apply", (unsigned)a.batch.count.n_patches, 32 * groups, shared,
                   KG_REAL(patch_kernel) < FACETS, M, REDUCED >, a,
                   kg_cuda(ctx)->counters + KG_COUNTER_TRACE_APPLY);
}

template <int FACETS, bool REDUCED>
kedge_status launch_plain(kedge_context *ctx, const kg_trace_apply_args &a)
{
  return kg_with_modes<KG_MODES_MIN, kg_modes_max(FACETS)>(
      ctx, a.batch.m, [&](auto m) { return launch<FACETS, m(), REDUCED>(ctx, a); });
}

kedge_status launch_patches(kedge_context *ctx, const kg_trace_apply_args &a)
{
  const int m = a.batch.m, facets = a.batch.arrays.lanes.run[0].n_facets;
  KG_REQUIRE(ctx, a.batch.count.patch_groups == kg_patch_groups(m), KEDGE_ERR_INTERNAL,
             "trace_apply: patches of %d groups with %d modes on a facet",
             a.batch.count.patch_groups, m);
  if (facets == 4 && m > kg_modes_max(4)) return launch_any<4>(ctx, a);
  const bool low = m <= KG_STREAM_LOW_MAX, reduced = a.local.layout == KG_LAYOUT_REDUCED;
  if (a.pass.many)
    return reduced ? KG_REAL(kg_trace_apply_many_reduced)(ctx, a)
                   : KG_REAL(kg_trace_apply_many_packed)(ctx, a);
  const bool streams =
      kg_cuda(ctx)->code_major >= 9 &&
      stream_bytes(facets, m, reduced, a.batch.count) <= (size_t)kg_cuda(ctx)->shared_limit;
  if (facets == 4)
    return streams ? KG_REAL(kg_trace_apply_stream_four)(ctx, a) : launch_plain<4, false>(ctx, a);
  if (!streams) return reduced ? launch_plain<3, true>(ctx, a) : launch_plain<3, false>(ctx, a);
  if (reduced)
    return low ? KG_REAL(kg_trace_apply_reduced_low)(ctx, a)
               : KG_REAL(kg_trace_apply_reduced_high)(ctx, a);
  return low ? KG_REAL(kg_trace_apply_stream_low)(ctx, a)
             : KG_REAL(kg_trace_apply_stream_high)(ctx, a);
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_trace_apply_cuda)(kedge_context *ctx,
                                                     const kg_trace_apply_args *a)
{
  KG_TRY(launch_patches(ctx, *a));
  const int64_t rows =
      (int64_t)a->batch.count.n_shared * a->batch.m * (a->pass.many ? KG_VECTORS : 1);
  if (rows == 0 || a->pass.open != nullptr) return KEDGE_OK;
  return kg_chain_launch(ctx, "trace_apply: halo", KG_REAL(halo_kernel),
                         (unsigned)((rows + 255) / 256), 256, 0, true, *a);
}
