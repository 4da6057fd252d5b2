// local_solve_products.cuh: u and q at higher orders: what the trace gives, a solve (element_solve.cuh),
// what u gives to q. Up to order 8 modes of degree P are eliminated before the solve
// (local_solve_top.cuh), two kernels more; at order 9 that takes longer.
// Layout  u [group][N][lane], q [group][2 N][lane], of the chunk.
// Map     block = group; products with reference matrices as group_product.cuh has them, vectors in
//         shared memory.
// Cost    kg_local_solve_cost(); u moves two to four times more than it says, q twice.
#pragma once
#include "ops/element_solve.cuh"
#include "ops/group_product.cuh"
#include "ops/local_operator.cuh"
#include "ops/local_solve.h"

namespace kg
{

template <int P>
struct product_shape {
  static constexpr int N = (P + 1) * (P + 2) / 2, m = P + 1, n = 3 * m;
  static constexpr int N_TILES = tiles_of(N), n_TILES = tiles_of(n);
  static constexpr int WARPS = HALVES * pairs_of(N);
  static constexpr int N_ROWS = 8 * N_TILES, n_ROWS = 8 * n_TILES;  ///< in shared memory
  static constexpr int VECTORS = 3 * n_ROWS > 2 * N_ROWS ? 3 * n_ROWS : 2 * N_ROWS;
  static constexpr size_t TRACE_BYTES = sizeof(double) * VECTORS * VECTOR_STRIDE;
  static constexpr size_t FLUX_BYTES = sizeof(double) * N_ROWS * VECTOR_STRIDE;
};

/// Degree of mode i.
__device__ __forceinline__ int degree_of(int i)
{
  int d = 0;
  while ((d + 1) * (d + 2) / 2 <= i) ++d;
  return d;
}

/// Gradients of the reference coordinates, for whoever asks for a lane's.
struct group_gradients {
  double r[2][KG_LANES], s[2][KG_LANES];

  __device__ __forceinline__ void set(const kg_element &e)
  {
    const int lane = threadIdx.x % KG_LANES;
    for (int k = 0; k < 2; ++k) {
      r[k][lane] = e.grad_r[k];
      s[k][lane] = e.grad_s[k];
    }
  }
  /// factor (component 0, 1 of) grad r, or grad s, times (x, y), of two elements.
  static __device__ __forceinline__ double2 along(const double (&g)[2][KG_LANES], int element,
                                                  double2 x, double2 y)
  {
    return make_double2(g[0][element] * x.x + g[1][element] * y.x,
                        g[0][element + 1] * x.y + g[1][element + 1] * y.y);
  }
};

/// The trace on the element's sides in its own orientation, times tau, and times the components of
/// the normals over J, to s_vectors [3][n rows][lane].
template <class shape>
__device__ __forceinline__ void gather_trace(const kg_local_solve_args &a, int64_t group,
                                             const kg_element &e, double *s_vectors)
{
  const int lane = threadIdx.x % KG_LANES, warp = threadIdx.x / KG_LANES;
  double *s_lane = s_vectors + lane;
  constexpr int APART = shape::n_ROWS * VECTOR_STRIDE;
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    const uint32_t side = a.batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane];
    const double *modes = a.trace + (int64_t)(side >> 1) * shape::m;
    const double x = e.half_normal[l][0] / e.jacobian, y = e.half_normal[l][1] / e.jacobian;
    for (int k = warp; k < shape::m; k += shape::WARPS) {
      const double lambda = kg_side_sign(side, k) * modes[k];
      double *s = s_lane + (l * shape::m + k) * VECTOR_STRIDE;
      s[0] = e.tau[l] * lambda;
      s[APART] = x * lambda;
      s[2 * APART] = y * lambda;
    }
  }
  for (int k = shape::n + warp; k < shape::n_ROWS; k += shape::WARPS)
    for (int v = 0; v < 3; ++v) s_lane[v * APART + k * VECTOR_STRIDE] = 0.0;
}

/// u = f + R lambda = f + sum_l tau F lambda + diffusion J (Dr p_r + Ds p_s) with p_r = grad r .
/// flux, and q = flux = F~ lambda / J.
template <int P>
__global__ void __launch_bounds__(32 * product_shape<P>::WARPS)
    local_solve_trace(const kg_local_solve_args a)
{
  using shape = product_shape<P>;
  constexpr int N = shape::N, APART = shape::N_ROWS * VECTOR_STRIDE;
  extern __shared__ double2 s_memory[];
  __shared__ group_gradients s_gradients;
  __shared__ double s_factor[KG_LANES];
  double *s_vectors = (double *)s_memory;  // the trace, then p [2][N rows][lane]
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = blockIdx.x, group = a.first_group + g;
  const kg_reference &ref = a.batch.reference;
  const product_place at;
  {
    double x[3], y[3];
    kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
    const kg_element e = kg_element_of(x, y, a.material);
    gather_trace<shape>(a, group, e, s_vectors);
    if (threadIdx.x < KG_LANES) {
      s_gradients.set(e);
      s_factor[lane] = a.material.diffusion * e.jacobian;
    }
  }
  __syncthreads();
  product lifted[3];  // tau F lambda, F~_x lambda / J, F~_y lambda / J
  multiply_tiles<3, 1>(ref.lift_row_tiles, shape::n_TILES, 0, 0, shape::n_TILES, at, s_vectors,
                       shape::n_ROWS * VECTOR_STRIDE, lifted);
  __syncthreads();
  double *q = a.q + g * 2 * N * KG_LANES;
  const double *load = a.load + group * N * KG_LANES;
#pragma unroll
  for (int o = 0; o < OCTETS; ++o)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = at.row() + 8 * h, element = at.element(o);
      const double2 x = h ? lifted[1].bottom[o] : lifted[1].top[o];
      const double2 y = h ? lifted[2].bottom[o] : lifted[2].top[o];
      double2 along_r = group_gradients::along(s_gradients.r, element, x, y);
      double2 along_s = group_gradients::along(s_gradients.s, element, x, y);
      const double2 factor = two(s_factor, element);
      along_r = make_double2(factor.x * along_r.x, factor.y * along_r.y);
      along_s = make_double2(factor.x * along_s.x, factor.y * along_s.y);
      if (row < shape::N_ROWS) {
        two(s_vectors, row * VECTOR_STRIDE + element) = along_r;
        two(s_vectors, APART + row * VECTOR_STRIDE + element) = along_s;
      }
      if (row >= N) continue;
      two(q, row * KG_LANES + element) = x;
      two(q, (N + row) * KG_LANES + element) = y;
      const double2 f = two(load, row * KG_LANES + element);
      double2 &right = h ? lifted[0].bottom[o] : lifted[0].top[o];
      right = make_double2(right.x + f.x, right.y + f.y);
    }
  __syncthreads();
  product right[1] = {lifted[0]};
  // Dr_ij is 0 unless the degree of j is higher.
  const int degree = degree_of(16 * at.pair), first = (degree + 1) * (degree + 2) / 2 / 8;
  multiply_tiles<1, 2>(ref.derivative_tiles, shape::N_TILES, 0, first, shape::N_TILES, at,
                       s_vectors, 0, right);
  multiply_tiles<1, 2>(ref.derivative_tiles, shape::N_TILES, 1, first, shape::N_TILES, at,
                       s_vectors + APART, 0, right);
  double *u = a.u + g * N * KG_LANES;
  for_product(at, N, right[0], [&](int row, int element, double2 value) {
    two(u, row * KG_LANES + element) = value;
  });
}

/// q -= grad r Dr^T u + grad s Ds^T u.
template <int P>
__global__ void __launch_bounds__(32 * product_shape<P>::WARPS)
    local_solve_flux(const kg_local_solve_args a)
{
  using shape = product_shape<P>;
  constexpr int N = shape::N;
  extern __shared__ double2 s_memory[];
  __shared__ group_gradients s_gradients;
  double *s_u = (double *)s_memory;
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = blockIdx.x;
  const product_place at;
  const double *u = a.u + g * N * KG_LANES;
  for (int i = threadIdx.x / KG_LANES; i < shape::N_ROWS; i += shape::WARPS)
    s_u[i * VECTOR_STRIDE + lane] = i < N ? u[i * KG_LANES + lane] : 0.0;
  if (threadIdx.x < KG_LANES) {
    double x[3], y[3];
    kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, a.first_group + g, lane, x,
                       y);
    s_gradients.set(kg_element_of(x, y, a.material));
  }
  __syncthreads();
  // Dr^T_ij is 0 unless the degree of j is lower.
  const int last_row = 16 * at.pair + 15 < N ? 16 * at.pair + 15 : N - 1;
  const int degree = degree_of(last_row), last = (degree * (degree + 1) / 2 + 7) / 8;
  product by_r[1], by_s[1];
  const double *tiles = a.batch.reference.gradient_tiles;
  multiply_tiles<1, 2>(tiles, shape::N_TILES, 0, 0, last, at, s_u, 0, by_r);
  multiply_tiles<1, 2>(tiles, shape::N_TILES, 1, 0, last, at, s_u, 0, by_s);
  double *q = a.q + g * 2 * N * KG_LANES;
#pragma unroll
  for (int o = 0; o < OCTETS; ++o)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = at.row() + 8 * h, element = at.element(o);
      if (row >= N) continue;
      const double2 r = h ? by_r[0].bottom[o] : by_r[0].top[o];
      const double2 s = h ? by_s[0].bottom[o] : by_s[0].top[o];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        double2 &value = two(q, (k * N + row) * KG_LANES + element);
        value.x -= s_gradients.r[k][element] * r.x + s_gradients.s[k][element] * s.x;
        value.y -= s_gradients.r[k][element + 1] * r.y + s_gradients.s[k][element + 1] * s.y;
      }
    }
}

/// u = Z u, modes of degree P first.
template <int P>
kedge_status solve_condensed(kedge_context *ctx, const kg_local_solve_args &a)
{
  const double *values;
  KG_TRY(kg_reference_of(ctx, P, &values));
  const top_table<P> table(kg_reference_at(P, values));
  constexpr unsigned groups = TOP_THREADS / KG_LANES;
  const unsigned blocks = ((unsigned)a.n_groups + groups - 1) / groups;
  local_solve_eliminate<P><<<blocks, TOP_THREADS, 0, kg_cuda_stream(ctx)>>>(a, table);
  KG_TRY(kg_cuda_launched(ctx, "local_solve: elimination"));
  const element_solve_args solve = {a.batch,    a.material, a.first_group,
                                    a.n_groups, a.u,        product_shape<P>::N};
  KG_TRY((element_solve<condensed_operator<P>, top_table<P>::K>(ctx, solve, "local_solve: solve")));
  local_solve_top<P><<<blocks, TOP_THREADS, 0, kg_cuda_stream(ctx)>>>(a, table);
  return kg_cuda_launched(ctx, "local_solve: degree P");
}

/// The same, whole.
template <int P>
kedge_status solve_whole(kedge_context *ctx, const kg_local_solve_args &a)
{
  constexpr int N = product_shape<P>::N;
  const element_solve_args solve = {a.batch, a.material, a.first_group, a.n_groups, a.u, N};
  return element_solve<local_operator, N>(ctx, solve, "local_solve: solve");
}

template <int P>
kedge_status launch_recover_products(kedge_context *ctx, const kg_local_solve_args &a)
{
  using shape = product_shape<P>;
  const unsigned blocks = (unsigned)a.n_groups, threads = 32 * shape::WARPS;
  KG_TRY(ask_for_shared(ctx, local_solve_trace<P>, shape::TRACE_BYTES));
  local_solve_trace<P><<<blocks, threads, shape::TRACE_BYTES, kg_cuda_stream(ctx)>>>(a);
  KG_TRY(kg_cuda_launched(ctx, "local_solve: trace"));
  if constexpr (P <= 8)
    KG_TRY(solve_condensed<P>(ctx, a));
  else
    KG_TRY(solve_whole<P>(ctx, a));
  KG_TRY(ask_for_shared(ctx, local_solve_flux<P>, shape::FLUX_BYTES));
  local_solve_flux<P><<<blocks, threads, shape::FLUX_BYTES, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, "local_solve: flux");
}

}  // namespace kg
