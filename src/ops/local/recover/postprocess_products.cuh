// postprocess_products.cuh: u* at higher orders, in three kernels: y = T p, y = (T H T^T)^-1 y
// (block_solve.cuh), u* as the potential of p - H T^T y.
// Layout  u [group][N][lane], q [group][2 N][lane], u_star [group][N*][lane], of the chunk. The
//         first K rows of u_star hold y until u* takes their place.
// Map     block = group; products with reference matrices as group_product.cuh has them, vectors in
//         shared memory.
// Cost    kg_postprocess_cost(); y moves four times more than it says, q twice.
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/local/triangle/group_product.cuh"
#include "ops/local/recover/postprocess_rotations.cuh"
#include "ops/local/recover/postprocess_thread.cuh"

namespace kg
{

/// A vector [row][lane] in memory.
struct lane_vector {
  double *y;
  __device__ __forceinline__ double get(int i) const
  {
    return y[i * KG_LANES];
  }
  __device__ __forceinline__ void set(int i, double value)
  {
    y[i * KG_LANES] = value;
  }
};

template <int P>
struct star_shape {
  static constexpr int N = (P + 1) * (P + 2) / 2, S = N + P + 1, K = P * (P + 1) / 2;
  static constexpr int N_TILES = tiles_of(N), K_TILES = tiles_of(K);
  static constexpr int N_ROWS = 8 * N_TILES, K_ROWS = 8 * K_TILES;  ///< in shared memory
  static constexpr int N_PAIRS = pairs_of(N), PAIRS = pairs_of(S);
  static constexpr int ROTATION_WARPS = HALVES * pairs_of(K), WARPS = HALVES * PAIRS;
  static constexpr int P_DOUBLES = 2 * N_ROWS * VECTOR_STRIDE;  ///< p_1, p_2
  static constexpr size_t ROTATION_BYTES = sizeof(double) * P_DOUBLES;
  static constexpr size_t BYTES = sizeof(double) * (P_DOUBLES + K_ROWS * VECTOR_STRIDE);
};

/// y = T p.
template <int P>
__global__ void __launch_bounds__(32 * star_shape<P>::ROTATION_WARPS)
    postprocess_rotation(const kg_postprocess_args a)
{
  using shape = star_shape<P>;
  constexpr int N = shape::N, K = shape::K, APART = shape::N_ROWS * VECTOR_STRIDE;
  KG_SHARED(double2, s_memory);
  double *s_p = (double *)s_memory;
  const int lane = threadIdx.x % KG_LANES, warp = threadIdx.x / KG_LANES;
  const int64_t g = blockIdx.x;
  const kg_element e = kg_element_at(&a.batch.arrays, a.first_group + g, lane, &a.materials);
  const double *q = a.q + g * 2 * N * KG_LANES + lane;
  for (int j = warp; j < shape::N_ROWS; j += shape::ROTATION_WARPS) {
    const double2 p = j < N ? along_tangents<N>(q, j, e) : make_double2(0.0, 0.0);
    s_p[j * VECTOR_STRIDE + lane] = p.x;
    s_p[APART + j * VECTOR_STRIDE + lane] = p.y;
  }
  __syncthreads();
  const product_place at;
  product sum;
  const double *tiles = a.batch.reference.rotation_tiles;
  multiply_tiles(tiles, shape::N_TILES, 0, 0, shape::N_TILES, at, s_p, sum);
  multiply_tiles(tiles, shape::N_TILES, 1, 0, shape::N_TILES, at, s_p + APART, sum);
  double *y = a.u_star + g * (shape::S + 1) * KG_LANES;
  for_product(at, K, sum, [&](int row, int element, double2 value) {
    two(y, row * KG_LANES + element) = value;
  });
}

/// y = (T H T^T)^-1 y, an element a thread.
template <int P>
__global__ void __launch_bounds__(STAR_THREADS, P <= 6 ? 3 : 2)
    postprocess_solve(const kg_postprocess_args a, const __grid_constant__ rotation_table<P> table)
{
  const int lane = threadIdx.x % KG_LANES;
  const int64_t g = ((int64_t)blockIdx.x * STAR_THREADS + threadIdx.x) / KG_LANES;
  if (g >= a.n_groups) return;
  const tangent_gram h(kg_element_at(&a.batch.arrays, a.first_group + g, lane, &a.materials));
  solve_rotation<P>(table, h, lane_vector{a.u_star + g * (star_shape<P>::S + 1) * KG_LANES + lane});
}

/// Tiles, elements of a block and blocks of a multiprocessor, from order 8 on: what an H200 was
/// fastest with.
constexpr struct {
  int tile, elements, blocks;
} ROTATION_SHAPES[] = {{4, 32, 3}, {5, 32, 2}, {5, 32, 1}, {6, 16, 2}, {6, 16, 1}};

/// Solves by block_solve.cuh where a thread has not the registers.
template <int P>
kedge_status solve_rotations(kedge_context *ctx, const kg_postprocess_args &a)
{
  using shape = star_shape<P>;
  if constexpr (rotation_table<P>::B <= 12) {
    return launch_elements<P, STAR_THREADS>(ctx, "postprocess: solve", a.n_groups,
                                            postprocess_solve<P>, a);
  } else {
    const element_solve_args solve = {a.batch,    a.materials, a.first_group,
                                      a.n_groups, a.u_star,    shape::S + 1};
    constexpr auto by = ROTATION_SHAPES[P - 8];
    return launch_solve_blocks<block_shape<rotation_problem<P>, by.tile, by.elements, by.blocks>>(
        ctx, solve, "postprocess: solve");
  }
}

/// Tangents of the elements of a group and their Gram matrices, in shared memory by lane.
struct group_tangents {
  double component[2][2][KG_LANES], gram[3][KG_LANES];  ///< h11, h12, h22

  __device__ __forceinline__ void set(const kg_element &e)
  {
    const int lane = threadIdx.x % KG_LANES;
    const tangent_gram h(e);
    for (int c = 0; c < 2; ++c)
      for (int k = 0; k < 2; ++k) component[c][k][lane] = e.tangent[c][k];
    gram[0][lane] = h.h11;
    gram[1][lane] = h.h12;
    gram[2][lane] = h.h22;
  }
  /// Component c of p - H T^T y, from q and T_1^T y, T_2^T y.
  __device__ __forceinline__ double rest(int c, int element, double x, double y, double t1,
                                         double t2) const
  {
    return component[c][0][element] * x + component[c][1][element] * y - gram[c][element] * t1 -
           gram[c + 1][element] * t2;
  }
};

/// Rows of the warp of p - H T^T y to s_p [2][N rows][lane].
template <int P>
__device__ __forceinline__ void subtract_rotation(const kg_reference &ref, const double *q,
                                                  const double *s_y, product_place at,
                                                  const group_tangents &tangents, double *s_p)
{
  using shape = star_shape<P>;
  constexpr int N = shape::N, APART = shape::N_ROWS * VECTOR_STRIDE;
  product t1, t2;
  const double *tiles = ref.rotation_row_tiles;
  multiply_tiles(tiles, shape::K_TILES, 0, 0, shape::K_TILES, at, s_y, t1);
  multiply_tiles(tiles, shape::K_TILES, 1, 0, shape::K_TILES, at, s_y, t2);
#pragma unroll
  for (int o = 0; o < OCTETS; ++o)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = at.row() + 8 * h, element = at.element(o);
      if (row >= shape::N_ROWS) continue;
      const double2 zero = make_double2(0.0, 0.0);
      const double2 x = row < N ? two(q, row * KG_LANES + element) : zero;
      const double2 y = row < N ? two(q, (N + row) * KG_LANES + element) : zero;
      const double2 a = h ? t1.bottom[o] : t1.top[o], b = h ? t2.bottom[o] : t2.top[o];
#pragma unroll
      for (int c = 0; c < 2; ++c)
        two(s_p, c * APART + row * VECTOR_STRIDE + element) =
            make_double2(tangents.rest(c, element, x.x, y.x, a.x, b.x),
                         tangents.rest(c, element + 1, x.y, y.y, a.y, b.y));
    }
}

/// u* and its distance to u.
template <int P>
__global__ void __launch_bounds__(32 * star_shape<P>::WARPS)
    postprocess_potential(const kg_postprocess_args a)
{
  using shape = star_shape<P>;
  constexpr int N = shape::N, S = shape::S, K = shape::K, APART = shape::N_ROWS * VECTOR_STRIDE;
  KG_SHARED(double2, s_memory);
  __shared__ group_tangents s_tangents;
  __shared__ double s_jacobian[KG_LANES], s_difference[shape::PAIRS][KG_LANES];
  double *s_p = (double *)s_memory, *s_y = s_p + shape::P_DOUBLES;
  const int lane = threadIdx.x % KG_LANES, warp = threadIdx.x / KG_LANES;
  const int64_t g = blockIdx.x;
  const kg_reference &ref = a.batch.reference;
  const double *u = a.u + g * N * KG_LANES, *q = a.q + g * 2 * N * KG_LANES;
  double *out = a.u_star + g * (S + 1) * KG_LANES;
  for (int i = warp; i < shape::K_ROWS; i += shape::WARPS)
    s_y[i * VECTOR_STRIDE + lane] = i < K ? out[i * KG_LANES + lane] : 0.0;
  if (warp == 0) {
    const kg_element e = kg_element_at(&a.batch.arrays, a.first_group + g, lane, &a.materials);
    s_tangents.set(e);
    s_jacobian[lane] = e.jacobian;
  }
  __syncthreads();
  const product_place at;
  if (at.pair < shape::N_PAIRS) subtract_rotation<P>(ref, q, s_y, at, s_tangents, s_p);
  __syncthreads();
  product star;
  multiply_tiles(ref.potential_tiles, shape::N_TILES, 0, 0, shape::N_TILES, at, s_p, star);
  multiply_tiles(ref.potential_tiles, shape::N_TILES, 1, 0, shape::N_TILES, at, s_p + APART, star);
#pragma unroll
  for (int o = 0; o < OCTETS; ++o) {
    double2 difference = make_double2(0.0, 0.0);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = at.row() + 8 * h + 1, element = at.element(o);
      if (i > S) continue;
      const double2 value = h ? star.bottom[o] : star.top[o];
      const double2 of_u = i < N ? two(u, i * KG_LANES + element) : make_double2(0.0, 0.0);
      difference.x += (value.x - of_u.x) * (value.x - of_u.x);
      difference.y += (value.y - of_u.y) * (value.y - of_u.y);
      two(out, i * KG_LANES + element) = value;
    }
    difference.x = sum_lanes<4, 16>(difference.x);
    difference.y = sum_lanes<4, 16>(difference.y);
    if (lane < 4) two(s_difference[at.pair], at.element(o)) = difference;
  }
  __syncthreads();
  if (warp != 0) return;
  double difference = 0.0;
  for (int pair = 0; pair < shape::PAIRS; ++pair) difference += s_difference[pair][lane];
  a.indicator[g * KG_LANES + lane] = sqrt(s_jacobian[lane] * difference);
  out[lane] = u[lane];
}

template <int P>
kedge_status launch_star_products(kedge_context *ctx, const kg_postprocess_args &a)
{
  using shape = star_shape<P>;
  const unsigned blocks = (unsigned)a.n_groups;
  KG_TRY(kg_launch_shared(ctx, "postprocess: rotation", blocks, 32 * shape::ROTATION_WARPS,
                          shape::ROTATION_BYTES, postprocess_rotation<P>, a));
  KG_TRY(solve_rotations<P>(ctx, a));
  return kg_launch_shared(ctx, "postprocess: potential", blocks, 32 * shape::WARPS, shape::BYTES,
                          postprocess_potential<P>, a);
}

}  // namespace kg
