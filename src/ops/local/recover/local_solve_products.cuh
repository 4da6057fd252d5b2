// local_solve_products.cuh: u and q at higher orders: f + R lambda, a solve, and q from the trace
// and u. Modes of degree P are eliminated first. Up to order 9 that is a kernel before the solve
// and one after it (local_solve_top.cuh), and the solve one by warps that have a few elements in
// their registers (lane_solve.cuh, column_solve.cuh); at higher orders all three are one by blocks
// (block_solve.cuh).
// Layout  u [group][N][lane], q [group][2 N][lane], of the chunk.
// Map     block = group; products with reference matrices as group_product.cuh has them, vectors in
//         shared memory.
// Cost    kg_local_solve_cost(); u moves two to four times more than it says, the trace twice.
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/local/triangle/column_solve.cuh"
#include "ops/local/triangle/lane_solve.cuh"
#include "ops/local/triangle/local_condensed.cuh"
#include "ops/local/triangle/local_operator.cuh"
#include "ops/local/triangle/group_product.cuh"
#include "ops/local/triangle/local_solve.h"
#include "ops/local/triangle/thread_matrix.cuh"

namespace kg
{

template <int P>
struct product_shape {
  static constexpr int N = (P + 1) * (P + 2) / 2, m = P + 1, n = 3 * m;
  static constexpr int N_TILES = tiles_of(N), m_TILES = tiles_of(m);
  static constexpr int WARPS = HALVES * pairs_of(N);
  static constexpr int N_ROWS = 8 * N_TILES, m_ROWS = 8 * m_TILES;  ///< in shared memory
  static constexpr size_t ROW_BYTES = sizeof(double) * VECTOR_STRIDE;
  static constexpr size_t RIGHT_BYTES = ROW_BYTES * (m_ROWS + 2 * N_ROWS);
  static constexpr size_t FLUX_BYTES = ROW_BYTES * (3 * m_ROWS + N_ROWS);
};

/// Degree of mode i.
__device__ __forceinline__ int degree_of(int i)
{
  int d = 0;
  while ((d + 1) * (d + 2) / 2 <= i) ++d;
  return d;
}

/// Factors of the elements of a group, in shared memory by lane.
struct group_elements {
  double tau[3][KG_LANES], stiffness[3][KG_LANES];
  double grad_r[2][KG_LANES], grad_s[2][KG_LANES];

  __device__ __forceinline__ void set(const kg_local_solve_args &a, int64_t group)
  {
    const int lane = threadIdx.x % KG_LANES;
    const kg_element e = kg_element_at(&a.batch.arrays, group, lane, &a.materials);
    for (int k = 0; k < 3; ++k) {
      tau[k][lane] = e.tau[k];
      stiffness[k][lane] = e.stiffness[k];
    }
    for (int k = 0; k < 2; ++k) {
      grad_r[k][lane] = e.grad_r[k];
      grad_s[k][lane] = e.grad_s[k];
    }
  }
};

/// Factors of two elements times their numbers: a x + b y.
__device__ __forceinline__ double2 combined(const double *a, double2 x, const double *b, double2 y)
{
  return make_double2(fma(a[0], x.x, b[0] * y.x), fma(a[1], x.y, b[1] * y.y));
}
__device__ __forceinline__ double2 minus(double2 a, double2 b)
{
  return make_double2(a.x - b.x, a.y - b.y);
}

/// The trace on the sides of the elements, each in its own orientation, to s_trace [3][m
/// rows][lane]; on side 2 odd modes change their sign, because F_2 is F_1 with signs: (-1)^(along +
/// column).
template <class shape>
__device__ __forceinline__ void gather_trace(const kg_local_solve_args &a, int64_t group,
                                             double *s_trace)
{
  const int lane = threadIdx.x % KG_LANES, warp = threadIdx.x / KG_LANES;
#pragma unroll
  for (int l = 0; l < 3; ++l) {
    const uint32_t side = a.batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane];
    const double *modes = a.trace + (int64_t)(side >> 1) * shape::m;
    for (int k = warp; k < shape::m_ROWS; k += shape::WARPS) {
      const double sign = kg_side_sign(l == 2 ? side ^ 1u : side, k);
      s_trace[(l * shape::m_ROWS + k) * VECTOR_STRIDE + lane] =
          k < shape::m ? sign * modes[k] : 0.0;
    }
  }
}

/// F_l lambda_l of the three sides, in the rows and elements of the warp.
template <class shape>
struct lifted_trace {
  product of_side[2];  ///< F_1 lambda_1 and, but for the sign of rows, F_2 lambda_2

  __device__ __forceinline__ lifted_trace(const double *lift, product_place at,
                                          const double *s_trace)
  {
    const int lane = threadIdx.x % 32, col = lane % 4 * 2;
    const double *s =
        s_trace + (shape::m_ROWS + col) * VECTOR_STRIDE + 8 * OCTETS * at.half + lane / 4;
#pragma unroll
    for (int k = 0; k < shape::m_TILES; ++k) {
      double2 tile[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = at.row() + 8 * h, column = 8 * k + col;
        const double *f = lift + row * shape::n + shape::m + column;
        tile[h].x = row < shape::N && column < shape::m ? __ldg(f) : 0.0;
        tile[h].y = row < shape::N && column + 1 < shape::m ? __ldg(f + 1) : 0.0;
      }
#pragma unroll
      for (int v = 0; v < 2; ++v)
#pragma unroll
        for (int o = 0; o < OCTETS; ++o) {
          const double *b = s + (v * shape::m_ROWS + 8 * k) * VECTOR_STRIDE + 8 * o;
          tile_multiply(of_side[v].top[o], of_side[v].bottom[o], tile[0], tile[1],
                        make_double2(b[0], b[VECTOR_STRIDE]));
        }
    }
  }
  /// Call visit(row, element, octet, half of the pair, F_0 lambda_0, F_1 lambda_1, F_2 lambda_2).
  /// F_0 has one number a row, +-sqrt(degree + 1) in the column of its degree along the base.
  template <class Visit>
  __device__ __forceinline__ void visit(product_place at, const double *s_trace, Visit visit) const
  {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = at.row() + 8 * h;
      if (row >= shape::N_ROWS) continue;
      const int degree = degree_of(row), along = row - degree * (degree + 1) / 2;
      const bool exists = row < shape::N;
      const double root = exists ? sqrt(degree + 1.0) : 0.0;
      const double factor = (degree - along) % 2 ? -root : root;
      const double *base = s_trace + (exists ? along : 0) * VECTOR_STRIDE;
#pragma unroll
      for (int o = 0; o < OCTETS; ++o) {
        const int element = at.element(o);
        const double2 zero = two(base, element);
        const double2 first = h ? of_side[0].bottom[o] : of_side[0].top[o];
        double2 second = h ? of_side[1].bottom[o] : of_side[1].top[o];
        if (along % 2) second = make_double2(-second.x, -second.y);
        visit(row, element, o, h, make_double2(factor * zero.x, factor * zero.y), first, second);
      }
    }
  }
};

/// u = f + R lambda = f + sum_l tau_l F_l lambda_l + diffusion J (Dr p_r + Ds p_s), where p_r =
/// grad r . q^0, q^0 = grad r (F_1 lambda_1 - F_2 lambda_2) + grad s (F_1 lambda_1 - F_0 lambda_0).
template <int P>
__global__ void __launch_bounds__(32 * product_shape<P>::WARPS, 24 / product_shape<P>::WARPS)
    local_solve_right(const kg_local_solve_args a)
{
  using shape = product_shape<P>;
  constexpr int N = shape::N, APART = shape::N_ROWS * VECTOR_STRIDE;
  KG_SHARED(double2, s_memory);
  __shared__ group_elements s_element;
  // The trace; later, behind its first side, diffusion J (p_r, p_s) [2][N rows][lane].
  double *const s_trace = (double *)s_memory, *const s_p = s_trace + shape::m_ROWS * VECTOR_STRIDE;
  const int64_t g = blockIdx.x, group = a.first_group + g;
  const kg_reference &ref = a.batch.reference;
  const product_place at;
  gather_trace<shape>(a, group, s_trace);
  if (threadIdx.x < KG_LANES) s_element.set(a, group);
  __syncthreads();
  const lifted_trace<shape> lifted(ref.lift, at, s_trace);
  __syncthreads();
  product right;
  const double *load = a.load + group * N * KG_LANES;
  lifted.visit(at, s_trace,
               [&](int row, int element, int o, int h, double2 f0, double2 f1, double2 f2) {
                 const double2 r = minus(f1, f2), s = minus(f1, f0);
                 const auto &stiffness = s_element.stiffness;
                 double *const p = s_p + row * VECTOR_STRIDE + element;
                 two(p, 0) = combined(stiffness[0] + element, r, stiffness[1] + element, s);
                 two(p, APART) = combined(stiffness[1] + element, r, stiffness[2] + element, s);
                 if (row >= N) return;
                 const auto &tau = s_element.tau;
                 const double2 f = two(load, row * KG_LANES + element);
                 const double2 sides = combined(tau[1] + element, f1, tau[2] + element, f2);
                 double2 &sum = h ? right.bottom[o] : right.top[o];
                 sum = make_double2(fma(tau[0][element], f0.x, f.x + sides.x),
                                    fma(tau[0][element + 1], f0.y, f.y + sides.y));
               });
  __syncthreads();
  // Dr_ij is 0 unless the degree of j is higher.
  const int degree = degree_of(16 * at.pair), first = (degree + 1) * (degree + 2) / 2 / 8;
  multiply_tiles(ref.derivative_tiles, shape::N_TILES, 0, first, shape::N_TILES, at, s_p, right);
  multiply_tiles(ref.derivative_tiles, shape::N_TILES, 1, first, shape::N_TILES, at, s_p + APART,
                 right);
  double *u = a.u + g * N * KG_LANES;
  for_product(at, N, right, [&](int row, int element, double2 value) {
    two(u, row * KG_LANES + element) = value;
  });
}

/// q = q^0 - grad r Dr^T u - grad s Ds^T u. This kernel recomputes q^0 from the trace.
template <int P>
__global__ void __launch_bounds__(32 * product_shape<P>::WARPS, 24 / product_shape<P>::WARPS)
    local_solve_flux(const kg_local_solve_args a)
{
  using shape = product_shape<P>;
  constexpr int N = shape::N;
  KG_SHARED(double2, s_memory);
  __shared__ group_elements s_element;
  double *const s_trace = (double *)s_memory;
  double *const s_u = s_trace + 3 * shape::m_ROWS * VECTOR_STRIDE;
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = blockIdx.x, group = a.first_group + g;
  const product_place at;
  const double *u = a.u + g * N * KG_LANES;
  for (int i = threadIdx.x / KG_LANES; i < shape::N_ROWS; i += shape::WARPS)
    s_u[i * VECTOR_STRIDE + lane] = i < N ? u[i * KG_LANES + lane] : 0.0;
  gather_trace<shape>(a, group, s_trace);
  if (threadIdx.x < KG_LANES) s_element.set(a, group);
  __syncthreads();
  // Dr^T_ij is 0 unless the degree of j is lower.
  const int last_row = 16 * at.pair + 15 < N ? 16 * at.pair + 15 : N - 1;
  const int degree = degree_of(last_row), last = (degree * (degree + 1) / 2 + 7) / 8;
  product by_r, by_s;
  const double *tiles = a.batch.reference.gradient_tiles;
  multiply_tiles(tiles, shape::N_TILES, 0, 0, last, at, s_u, by_r);
  multiply_tiles(tiles, shape::N_TILES, 1, 0, last, at, s_u, by_s);
  const lifted_trace<shape> lifted(a.batch.reference.lift, at, s_trace);
  double *q = a.q + g * 2 * N * KG_LANES;
  lifted.visit(at, s_trace,
               [&](int row, int element, int o, int h, double2 f0, double2 f1, double2 f2) {
                 if (row >= N) return;
                 const double2 r = minus(minus(f1, f2), h ? by_r.bottom[o] : by_r.top[o]);
                 const double2 s = minus(minus(f1, f0), h ? by_s.bottom[o] : by_s.top[o]);
#pragma unroll
                 for (int k = 0; k < 2; ++k)
                   two(q, (k * N + row) * KG_LANES + element) =
                       combined(s_element.grad_r[k] + element, r, s_element.grad_s[k] + element, s);
               });
}

/// Tiles, elements of a block and blocks of a multiprocessor, from order 10 on: what an H200 was
/// fastest with.
constexpr struct {
  int tile, elements, blocks;
} SOLVE_SHAPES[] = {{5, 8, 1}, {6, 8, 1}, {6, 4, 1}};

template <int P, bool STAGED>
using solve_shape = block_shape<condensed_problem<P, STAGED>, SOLVE_SHAPES[P - 10].tile,
                                SOLVE_SHAPES[P - 10].elements, SOLVE_SHAPES[P - 10].blocks>;

/// u = Z u by blocks, with the reference matrices in shared memory where they fit.
template <int P>
kedge_status solve_by_blocks(kedge_context *ctx, const kg_local_solve_args &a)
{
  using staged = solve_shape<P, true>;
  const element_solve_args solve = {a.batch,    a.materials, a.first_group,
                                    a.n_groups, a.u,         product_shape<P>::N};
  return staged::BYTES <= (size_t)kg_cuda(ctx)->shared_limit
             ? launch_solve_blocks<staged>(ctx, solve, "local_solve: solve")
             : launch_solve_blocks<solve_shape<P, false>>(ctx, solve, "local_solve: solve");
}

/// u = Z u by warps: at orders 6 and 7 by a few lanes an element.
template <int P>
kedge_status solve_by_warps(kedge_context *ctx, const kg_local_solve_args &a)
{
  KG_TRY((launch_elements<P, TOP_THREADS>(ctx, "local_solve: elimination", a.n_groups,
                                          local_solve_eliminate<P>, a)));
  if constexpr (P <= 7)
    KG_TRY((launch_solve_lanes<lane_shape<P, P == 6 ? 4 : 8, 2>>(ctx, a)));
  else
    KG_TRY(launch_solve_columns<P>(ctx, a));
  return launch_elements<P, TOP_THREADS>(ctx, "local_solve: degree P", a.n_groups,
                                         local_solve_top<P>, a);
}

template <int P>
kedge_status launch_recover_products(kedge_context *ctx, const kg_local_solve_args &a)
{
  using shape = product_shape<P>;
  const unsigned blocks = (unsigned)a.n_groups, threads = 32 * shape::WARPS;
  KG_TRY(kg_launch_shared(ctx, "local_solve: right-hand side", blocks, threads, shape::RIGHT_BYTES,
                          local_solve_right<P>, a));
  if constexpr (P <= 9)
    KG_TRY(solve_by_warps<P>(ctx, a));
  else
    KG_TRY(solve_by_blocks<P>(ctx, a));
  if (!a.q) return KEDGE_OK;
  return kg_launch_shared(ctx, "local_solve: flux", blocks, threads, shape::FLUX_BYTES,
                          local_solve_flux<P>, a);
}

}  // namespace kg
