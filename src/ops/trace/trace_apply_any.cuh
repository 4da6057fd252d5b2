// trace_apply_any.cuh: the patch kernel of elements with more modes on a facet than registers hold.
// Layout  as in trace_apply_cuda.cu
// Map     block = patch, WARPS warps a group, lane = element. x of the elements lies in shared
//         memory, [group][row][lane]; a warp makes whole rows of y, one after the other.
// Cost    each number of K^e is read twice, as a row needs those of the rows below: there is no sum
//         that two warps share. Half of the floor at best.
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/local/local.h"
#include "ops/real.h"
#include "ops/trace/element_codes.cuh"
#include "ops/trace/trace_apply.h"
#include "ops/vector/grid_sum.cuh"

namespace
{

enum { WARPS = 8 };

/// x of a lane to its differences, or what their product is to that of x (ops/local/differences.h):
/// rows l M, the last facet's the reference.
__device__ __forceinline__ void differences_of(kg_real *x, int facets, int m)
{
  for (int l = 0; l < facets - 1; ++l) x[l * m * KG_LANES] -= x[(facets - 1) * m * KG_LANES];
}

/// Row i of K x.
__device__ __forceinline__ kg_real row_of_product(const kg_real *entries, const kg_real *x, int n,
                                                  int i)
{
  kg_real sum = 0;
  const kg_real *const row = entries + kg_local_at(i, 0);
#pragma unroll 8
  for (int j = 0; j <= i; ++j) sum += __ldcs(row + j * KG_LANES) * x[j * KG_LANES];
#pragma unroll 8
  for (int j = i + 1; j < n; ++j) sum += __ldcs(entries + kg_local_at(j, i)) * x[j * KG_LANES];
  return sum;
}

template <int FACETS>
__global__ void __launch_bounds__(32 * WARPS * 2)
    KG_REAL(any_patch_kernel)(const kg_trace_apply_args a, unsigned *counter)
{
  KG_SHARED(kg_real,
            s_rows);  // x of elements, then x of the patch's edges or products [place][m]
  __shared__ double s_warp[2 * WARPS];
  if (kg_stopped(a.pass.stop)) return;
  const int m = a.batch.m, n = FACETS * m, groups = a.batch.count.patch_groups;
  kg_real *const s_trace = s_rows + groups * n * KG_LANES;
  const kg_real *const a_x = (const kg_real *)a.x;
  const int threads = blockDim.x, thread = threadIdx.x, patch = blockIdx.x;
  const int edge0 = a.batch.arrays.patch_edge[patch], halo0 = a.batch.arrays.patch_halo[patch];
  const int n_inside = a.batch.arrays.patch_edge[patch + 1] - edge0;
  const int n_local = n_inside + a.batch.arrays.patch_halo[patch + 1] - halo0;
  for (int i = thread; i < n_local * m; i += threads) {
    const int local = i / m;
    const int64_t edge =
        local < n_inside ? edge0 + local : a.batch.arrays.halo_edge[halo0 + local - n_inside] >> 1;
    s_trace[i] = a_x[edge * m + i % m];
  }
  __syncthreads();

  const int lane = thread & 31, warp = thread / 32 % WARPS, here = thread / (32 * WARPS);
  const int64_t group = (int64_t)patch * groups + here, element = group * KG_LANES + lane;
  const bool active = element < a.batch.count.n_elements;
  const bool differences =
      sizeof(kg_real) == sizeof(float) && a.local.layout == KG_LAYOUT_DIFFERENCES;
  element_codes<FACETS> codes = {};
  if (active) codes.load(a.batch.arrays.side_codes, element);
  kg_real *const x = s_rows + here * n * KG_LANES + lane;
  for (int i = warp; i < n; i += WARPS)
    x[i * KG_LANES] = active ? s_trace[codes.code(i / m) / 2 * m + i % m] : (kg_real)0;
  __syncthreads();  // from here s_trace holds products
  if (differences) {
    if (warp == 0) differences_of(x, FACETS, m);
    __syncthreads();
  }
  double dot = 0.0;
  if (active) {
    const kg_real *const entries =
        (const kg_real *)a.local.data + group * a.local.rows * KG_LANES + lane;
    for (int i = warp; i < n; i += WARPS) {
      const kg_real y = row_of_product(entries, x, n, i);
      dot += (double)x[i * KG_LANES] * y;
      s_trace[kg_code_place(codes.code(i / m), n_inside) * m + i % m] = y;
    }
  }
  __syncthreads();
  if (differences) {
    if (active && warp == 0) {
      kg_real *const last = s_trace + kg_code_place(codes.code(FACETS - 1), n_inside) * m;
      for (int l = 0; l < FACETS - 1; ++l)
        *last -= s_trace[kg_code_place(codes.code(l), n_inside) * m];
    }
    __syncthreads();
  }
  for (int i = thread; i < n_local * m; i += threads) {
    const kg_real *const products = s_trace + kg_code_place(i / m * 2, n_inside) * m + i % m;
    if (i < n_inside * m) {
      ((kg_real *)a.y)[(int64_t)edge0 * m + i] = products[0] + products[m];
    } else {
      const int entry = halo0 + i / m - n_inside;
      auto *row = (kg_real *)kg_halo_row(&a, a.batch.arrays.halo_edge[entry], m * sizeof(kg_real));
      if (row) row[i % m] = products[0];
    }
  }
  if (a.pass.sum.total != nullptr) kg_grid_sum_end(dot, a.pass.sum, counter, s_warp);
}

/// @retval KEDGE_ERR_UNSUPPORTED  a patch does not fit the shared memory of the GPU
template <int FACETS>
kedge_status launch_any(kedge_context *ctx, const kg_trace_apply_args &a)
{
  const int groups = a.batch.count.patch_groups;
  const size_t shared = 2 * sizeof(kg_real) * FACETS * a.batch.m * KG_LANES * groups;
  KG_REQUIRE(ctx, shared <= (size_t)kg_cuda(ctx)->shared_limit, KEDGE_ERR_UNSUPPORTED,
             "trace_apply: %d modes on a facet need %zu bytes of shared memory, of which this GPU "
             "has %zu: take a lower order",
             a.batch.m, shared, (size_t)kg_cuda(ctx)->shared_limit);
  return kg_launch_shared(ctx, "trace_apply", (unsigned)a.batch.count.n_patches,
                          32 * WARPS * groups, shared, KG_REAL(any_patch_kernel) < FACETS >, a,
                          kg_cuda(ctx)->counters + KG_COUNTER_TRACE_APPLY);
}

}  // namespace
