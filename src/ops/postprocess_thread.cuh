// postprocess_thread.cuh: u* at low orders, where an element fits a thread.
// Layout  u [group][N][lane], q [group][2 N][lane], u_star [group][N*][lane], of the chunk.
// Map     thread = element, warp = group. Reference matrices are the same for all lanes: one word
//         a load. q is read twice, the second time from a cache.
// Cost    kg_postprocess_cost()
#pragma once
#include "backend/cuda_rt.h"
#include "ops/postprocess.h"
#include "ops/thread_matrix.cuh"

namespace kg
{

enum { STAR_THREADS = 128 };

/// Gram matrix of the tangents of an element.
struct tangent_gram {
  double h11, h12, h22;
  explicit __device__ __forceinline__ tangent_gram(const kg_element &e)
      : h11(e.tangent[0][0] * e.tangent[0][0] + e.tangent[0][1] * e.tangent[0][1]),
        h12(e.tangent[0][0] * e.tangent[1][0] + e.tangent[0][1] * e.tangent[1][1]),
        h22(e.tangent[1][0] * e.tangent[1][0] + e.tangent[1][1] * e.tangent[1][1])
  {
  }
};

/// Components of mode j of q along the tangents.
template <int N>
__device__ __forceinline__ double2 along_tangents(const double *q, int j, const kg_element &e)
{
  const double x = q[j * KG_LANES], y = q[(N + j) * KG_LANES];
  return make_double2(e.tangent[0][0] * x + e.tangent[0][1] * y,
                      e.tangent[1][0] * x + e.tangent[1][1] * y);
}

/// y = (T H T^T)^-1 T p.
template <int P>
__device__ __forceinline__ void solve_rotation(const kg_reference &ref, const double *q,
                                               const kg_element &e, const tangent_gram &h,
                                               double (&y)[P * (P + 1) / 2])
{
  constexpr int N = (P + 1) * (P + 2) / 2, K = P * (P + 1) / 2;
#pragma unroll
  for (int i = 0; i < K; ++i) y[i] = 0.0;
#pragma unroll 5
  for (int j = 0; j < N; ++j) {
    const double2 p = along_tangents<N>(q, j, e);
#pragma unroll
    for (int i = 0; i < K; ++i)
      y[i] += __ldg(ref.rotation[0] + j * K + i) * p.x + __ldg(ref.rotation[1] + j * K + i) * p.y;
  }
  double mass[K * (K + 1) / 2];
#pragma unroll
  for (int k = 0; k < K * (K + 1) / 2; ++k)
    mass[k] =
        (h.h11 - h.h22) * __ldg(ref.rotation_mass[0] + k) + h.h12 * __ldg(ref.rotation_mass[1] + k);
#pragma unroll
  for (int i = 0; i < K; ++i) mass[i * (i + 1) / 2 + i] += h.h22;
  factor_in_registers<K>(mass);
  solve_in_registers<K>(mass, y);
  solve_transposed_in_registers<K>(mass, y);
}

template <int P>
__global__ void __launch_bounds__(STAR_THREADS) postprocess_thread(const kg_postprocess_args a)
{
  constexpr int N = (P + 1) * (P + 2) / 2, S = N + P + 1, K = P * (P + 1) / 2;
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = ((int64_t)blockIdx.x * STAR_THREADS + threadIdx.x) / KG_LANES;
  if (g >= a.n_groups) return;
  const kg_reference &ref = a.batch.reference;
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, a.first_group + g, lane, x, y);
  const kg_element e = kg_element_of(x, y, {1.0, 0.0, 0.0, KEDGE_SCALING_ONE});
  const tangent_gram h(e);
  const double *q = a.q + g * 2 * N * KG_LANES + lane;
  double rotation[K], star[S] = {};
  solve_rotation<P>(ref, q, e, h, rotation);
#pragma unroll 3
  for (int j = 0; j < N; ++j) {
    double2 p = along_tangents<N>(q, j, e);
    double first = 0.0, second = 0.0;
#pragma unroll
    for (int i = 0; i < K; ++i) {
      first += __ldg(ref.rotation[0] + j * K + i) * rotation[i];
      second += __ldg(ref.rotation[1] + j * K + i) * rotation[i];
    }
    p.x -= h.h11 * first + h.h12 * second;
    p.y -= h.h12 * first + h.h22 * second;
#pragma unroll
    for (int i = 0; i < S; ++i)
      star[i] +=
          __ldg(ref.potential[0] + j * S + i) * p.x + __ldg(ref.potential[1] + j * S + i) * p.y;
  }
  const double *u = a.u + g * N * KG_LANES + lane;
  double *out = a.u_star + g * (S + 1) * KG_LANES + lane;
  double difference = 0.0;
  out[0] = u[0];
#pragma unroll
  for (int i = 0; i < S; ++i) {
    const double d = i + 1 < N ? star[i] - u[(i + 1) * KG_LANES] : star[i];
    difference += d * d;
    out[(i + 1) * KG_LANES] = star[i];
  }
  a.indicator[g * KG_LANES + lane] = sqrt(e.jacobian * difference);
}

template <int P>
kedge_status launch_star_thread(kedge_context *ctx, const kg_postprocess_args &a)
{
  const unsigned groups = STAR_THREADS / KG_LANES;
  postprocess_thread<P>
      <<<((unsigned)a.n_groups + groups - 1) / groups, STAR_THREADS, 0, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, "postprocess");
}

}  // namespace kg
