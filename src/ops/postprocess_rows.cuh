// postprocess_rows.cuh: u* at higher orders, in three kernels: y = T p, y = (T H T^T)^-1 y
// (element_solve.cuh), u* as the potential of p - H T^T y.
// Layout  u [group][N][lane], q [group][2 N][lane], u_star [group][N*][lane], of the chunk. The
//         first K rows of u_star hold y until u* takes their place.
// Map     block = group, lane = element, warp = a share of the rows of a product, so that what was
//         read of a vector serves many sums. Entries of reference matrices are the same for all
//         lanes.
// Cost    kg_postprocess_cost(); y moves four times more than it says, q twice.
#pragma once
#include "ops/element_solve.cuh"
#include "ops/postprocess_thread.cuh"

namespace kg
{

/// T H T^T = h22 I + (h11 - h22) T_1 T_1^T + h12 (T_1 T_2^T + T_2 T_1^T).
struct rotation_operator {
  static constexpr int TERMS = 2;
  double difference, mixed, diagonal;

  rotation_operator() = default;
  explicit __device__ __forceinline__ rotation_operator(const kg_element &e)
  {
    const tangent_gram h(e);
    difference = h.h11 - h.h22;
    mixed = h.h12;
    diagonal = h.h22;
  }
  static __device__ __forceinline__ void read(const kg_reference &ref, int k, double (&r)[TERMS])
  {
    r[0] = __ldg(ref.rotation_mass[0] + k);
    r[1] = __ldg(ref.rotation_mass[1] + k);
  }
  __device__ __forceinline__ double combine(const double (&r)[TERMS], bool) const
  {
    return difference * r[0] + mixed * r[1];
  }
};

template <int P>
struct star_shape {
  static constexpr int N = (P + 1) * (P + 2) / 2, S = N + P + 1, K = P * (P + 1) / 2;
  static constexpr int K_ROWS = K % 7 == 0 ? 7 : K % 6 == 0 ? 6 : 5, K_WARPS = K / K_ROWS;
  static constexpr int N_ROWS = N % 7 == 0 ? 7 : N % 6 == 0 ? 6 : 5, WARPS = N / N_ROWS;
  static constexpr int S_ROWS = (S + WARPS - 1) / WARPS;
  static_assert(K % K_ROWS == 0 && N % N_ROWS == 0, "every warp has as many rows");
};

__device__ __forceinline__ kg_element star_element(const kg_postprocess_args &a, int64_t g,
                                                   int lane)
{
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, a.first_group + g, lane, x, y);
  return kg_element_of(x, y, {1.0, 0.0, 0.0, KEDGE_SCALING_ONE});
}

/// y = T p.
template <int P>
__global__ void __launch_bounds__(KG_LANES *star_shape<P>::K_WARPS)
    postprocess_rotation(const kg_postprocess_args a)
{
  using shape = star_shape<P>;
  constexpr int N = shape::N, K = shape::K, ROWS = shape::K_ROWS;
  const int lane = threadIdx.x % KG_LANES, first = (int)threadIdx.x / KG_LANES * ROWS;
  const int64_t g = blockIdx.x;
  const kg_reference &ref = a.batch.reference;
  const kg_element e = star_element(a, g, lane);
  const double *q = a.q + g * 2 * N * KG_LANES + lane;
  double sum[ROWS] = {};
#pragma unroll 3
  for (int j = 0; j < N; ++j) {
    const double2 p = along_tangents<N>(q, j, e);
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
      sum[r] += __ldg(ref.rotation[0] + j * K + first + r) * p.x +
                __ldg(ref.rotation[1] + j * K + first + r) * p.y;
  }
  double *y = a.u_star + (g * (shape::S + 1) + first) * KG_LANES + lane;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) y[r * KG_LANES] = sum[r];
}

/// Rows of a warp of p - H T^T y to s_p [2 N][lane].
template <int P>
__device__ __forceinline__ void subtract_rotation(const kg_reference &ref, const double *q,
                                                  const double *y, const kg_element &e,
                                                  const tangent_gram &h, int first, double *s_p)
{
  constexpr int N = star_shape<P>::N, K = star_shape<P>::K, ROWS = star_shape<P>::N_ROWS;
  double t1[ROWS] = {}, t2[ROWS] = {};
#pragma unroll 2
  for (int i = 0; i < K; ++i) {
    const double value = y[i * KG_LANES];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      t1[r] += __ldg(ref.rotation[0] + (first + r) * K + i) * value;
      t2[r] += __ldg(ref.rotation[1] + (first + r) * K + i) * value;
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const double2 p = along_tangents<N>(q, first + r, e);
    s_p[(first + r) * KG_LANES] = p.x - h.h11 * t1[r] - h.h12 * t2[r];
    s_p[(N + first + r) * KG_LANES] = p.y - h.h12 * t1[r] - h.h22 * t2[r];
  }
}

/// u* and its distance to u.
template <int P>
__global__ void __launch_bounds__(KG_LANES *star_shape<P>::WARPS)
    postprocess_potential(const kg_postprocess_args a)
{
  using shape = star_shape<P>;
  constexpr int N = shape::N, S = shape::S, ROWS = shape::S_ROWS, WARPS = shape::WARPS;
  __shared__ double s_memory[2 * N * KG_LANES];
  const int lane = threadIdx.x % KG_LANES, warp = threadIdx.x / KG_LANES, first = warp * ROWS;
  const int64_t g = blockIdx.x;
  const kg_reference &ref = a.batch.reference;
  const kg_element e = star_element(a, g, lane);
  const double *u = a.u + g * N * KG_LANES + lane, *q = a.q + g * 2 * N * KG_LANES + lane;
  double *out = a.u_star + g * (S + 1) * KG_LANES + lane, *s_p = s_memory + lane;
  subtract_rotation<P>(ref, q, out, e, tangent_gram(e), warp * shape::N_ROWS, s_p);
  __syncthreads();
  double star[ROWS] = {}, difference = 0.0;
#pragma unroll 2
  for (int j = 0; j < N; ++j) {
    const double p1 = s_p[j * KG_LANES], p2 = s_p[(N + j) * KG_LANES];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int i = first + r < S ? first + r : S - 1;
      star[r] +=
          __ldg(ref.potential[0] + j * S + i) * p1 + __ldg(ref.potential[1] + j * S + i) * p2;
    }
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int i = first + r + 1;
    if (i > S) continue;
    const double d = i < N ? star[r] - u[i * KG_LANES] : star[r];
    difference += d * d;
    out[i * KG_LANES] = star[r];
  }
  s_p[warp * KG_LANES] = difference;
  __syncthreads();
  if (warp != 0) return;
  for (int w = 1; w < WARPS; ++w) difference += s_p[w * KG_LANES];
  a.indicator[g * KG_LANES + lane] = sqrt(e.jacobian * difference);
  out[0] = u[0];
}

template <int P>
kedge_status launch_star_rows(kedge_context *ctx, const kg_postprocess_args &a)
{
  using shape = star_shape<P>;
  const unsigned blocks = (unsigned)a.n_groups;
  postprocess_rotation<P><<<blocks, KG_LANES * shape::K_WARPS, 0, kg_cuda_stream(ctx)>>>(a);
  KG_TRY(kg_cuda_launched(ctx, "postprocess: rotation"));
  const kg_material unit = {1.0, 0.0, 0.0, KEDGE_SCALING_ONE};
  const element_solve_args solve = {a.batch,    unit,     a.first_group,
                                    a.n_groups, a.u_star, shape::S + 1};
  KG_TRY((element_solve<rotation_operator, shape::K>(ctx, solve, "postprocess: solve")));
  postprocess_potential<P><<<blocks, KG_LANES * shape::WARPS, 0, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, "postprocess: potential");
}

}  // namespace kg
