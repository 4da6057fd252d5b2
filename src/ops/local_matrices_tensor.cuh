// local_matrices_tensor.cuh: K^e and F^e of every element on FP64 tensor cores (sm_80 and later).
// Layout  local [group][n (n+1) / 2][lane], condensed [group][n][lane].
// Map     block = E * WARPS neighbouring lanes of a group, E a warp. Z^-1 is built and factored in
//         shared memory for all of them (tiles.cuh); then a warp builds [R -f]^T of S elements at a
//         time and solves and multiplies it in registers. K^e waits where L was until all E
//         elements can be written.
//         The reference matrices come as tiles through L1, once for E (from R on: S) elements.
// Cost    kg_local_matrices_cost()
#pragma once
#include "backend/cuda_rt.h"
#include "ops/local_matrices.h"
#include "ops/tiles.cuh"

namespace kg
{

/// E elements a warp, S of them at a time from R on; registers such that BLOCKS blocks fit a
/// multiprocessor, which uses PERCENT of the shared memory it can have: the rest is L1 cache.
template <int P, int E_, int S_, int WARPS_, int BLOCKS_, int PERCENT_>
struct tensor_shape {
  static constexpr int E = E_, S = S_, WARPS = WARPS_, BLOCKS = BLOCKS_, PERCENT = PERCENT_;
  static constexpr int N = (P + 1) * (P + 2) / 2, m = P + 1, n = 3 * m;
  static constexpr int packed = n * (n + 1) / 2;
  static constexpr int NT = (N + 7) / 8, RT = (n + 1 + 7) / 8;  ///< tiles of Z^-1; of [R -f]^T
  using factors = tile_cholesky<NT, E, WARPS>;
  /// Kind of a mode of the trace (tile_element); any beyond the last.
  static __device__ __forceinline__ int kind(int mode)
  {
    const int l = mode / m < 3 ? mode / m : 2;
    return 2 * l + ((mode - l * m) & 1);
  }
  static constexpr size_t BYTES = sizeof(double) * factors::DOUBLES;
  static_assert(factors::TILES * 64 > packed + n, "K^e and F^e take the place of L");
};

/// What the matrices of an element depend on, as the lanes want it. Modes of the trace come in six
/// kinds, 2 (local edge) + (odd mode): those of the odd kind of a reversed side change their sign.
struct tile_element {
  double2 stiffness_tau[3];  ///< stiffness 0..2, tau 0..2
  double mass;
  double lift[6][3];   ///< of a kind: +-tau, lift_r, lift_s
  double trace[6][6];  ///< of two kinds: the factor of F^T F in S0

  __device__ __forceinline__ void set(const kg_element &g, const kg_batch &batch, int64_t group,
                                      int lane)
  {
    stiffness_tau[0] = make_double2(g.stiffness[0], g.stiffness[1]);
    stiffness_tau[1] = make_double2(g.stiffness[2], g.tau[0]);
    stiffness_tau[2] = make_double2(g.tau[1], g.tau[2]);
    mass = g.mass;
    double sign[6];
    for (int l = 0; l < 3; ++l) {
      sign[2 * l] = 1.0;
      sign[2 * l + 1] = kg_side_sign(batch.arrays.side_edge[(group * 3 + l) * KG_LANES + lane], 1);
    }
    for (int i = 0; i < 6; ++i) {
      const int l = i / 2;
      lift[i][0] = sign[i] * g.tau[l];
      lift[i][1] = sign[i] * g.lift_r[l];
      lift[i][2] = sign[i] * g.lift_s[l];
      for (int j = 0; j < 6; ++j) {
        const int high = i > j ? l : j / 2, low = i > j ? j / 2 : l;
        trace[i][j] = sign[i] * sign[j] * g.trace[high * (high + 1) / 2 + low];
      }
    }
  }
};

/// The lane's part of a tile of a reference matrix, from L1 where it stays. Volatile, or tiles would
/// be kept from one element to the next, more than there are registers.
__device__ __forceinline__ double2 reference_tile(const double *tiles, int at)
{
  const double2 *address = (const double2 *)tiles + 32 * at + (threadIdx.x & 31);
  double2 c;
  asm volatile("ld.global.nc.L1::evict_last.v2.f64 {%0, %1}, [%2];"
               : "=d"(c.x), "=d"(c.y)
               : "l"(address));
  return c;
}

/// Load vectors are asked for long before they are needed.
__device__ __forceinline__ void prefetch(const double *address)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

__device__ __forceinline__ void add_scaled(double2 &sum, double factor, double2 a)
{
  sum.x += factor * a.x;
  sum.y += factor * a.y;
}

/// Tile (i, j) of Z^-1 of E elements.
template <class shape>
__device__ __forceinline__ void build_operator(const kg_reference &ref, const tile_element *s_e,
                                               int i, int j, double2 *c)
{
  const int at = 6 * (i * (i + 1) / 2 + j), row = (threadIdx.x & 31) / 4, col = threadIdx.x % 4 * 2;
  double2 r[6];
#pragma unroll
  for (int q = 0; q < 6; ++q) r[q] = reference_tile(ref.operator_tiles, at + q);
#pragma unroll
  for (int e = 0; e < shape::E; ++e) {
    c[e] = make_double2(0.0, 0.0);
#pragma unroll
    for (int q = 0; q < 3; ++q) {
      const double2 factor = s_e[e].stiffness_tau[q];
      add_scaled(c[e], factor.x, r[2 * q]);
      add_scaled(c[e], factor.y, r[2 * q + 1]);
    }
    if (i == j) {
      const double diagonal = 8 * i + row < shape::N ? s_e[e].mass : 1.0;
      if (row == col) c[e].x += diagonal;
      if (row == col + 1) c[e].y += diagonal;
    }
  }
}

/// Tile column j of [R -f]^T of elements s_e[0..S-1].
template <class shape>
__device__ __forceinline__ void build_lift(const kg_local_matrices_args &a, int64_t group,
                                           int lane_of_first, const tile_element *s_e, int lane,
                                           int j, double2 (&c)[shape::S][shape::RT])
{
  const int i = 8 * j + lane % 4 * 2;
#pragma unroll
  for (int I = 0; I < shape::RT; ++I) {
    const int row = 8 * I + lane / 4;
    double2 r[3];
#pragma unroll
    for (int q = 0; q < 3; ++q)
      r[q] = reference_tile(a.batch.reference.lift_tiles, 3 * (I * shape::NT + j) + q);
#pragma unroll
    for (int s = 0; s < shape::S; ++s) {
      c[s][I] = make_double2(0.0, 0.0);
#pragma unroll
      for (int q = 0; q < 3; ++q)
        add_scaled(c[s][I], *(const volatile double *)&s_e[s].lift[shape::kind(row)][q], r[q]);
      if (row == shape::n) {
        const double *load = a.load + (group * shape::N + i) * KG_LANES + lane_of_first + s;
        if (i < shape::N) c[s][I].x = -load[0];
        if (i + 1 < shape::N) c[s][I].y = -load[KG_LANES];
      }
    }
  }
}

/// The entries of a lane in tile (I, J) of [W -w]^T [W -w] become those of K^e = S0 - W^T W and, in
/// row or column n, of F^e = W^T w.
template <class shape>
__device__ __forceinline__ void finish(const kg_reference &ref, const tile_element &e, int lane,
                                       int I, int J, double2 &c)
{
  const int row = 8 * I + lane / 4, col = 8 * J + lane % 4 * 2;
  const double2 mass = reference_tile(ref.trace_tiles, I * shape::RT + J);
  const double *trace = e.trace[shape::kind(row)];
  c.x = trace[shape::kind(col)] * mass.x - c.x;
  c.y = trace[shape::kind(col + 1)] * mass.y - c.y;
  if (I == J) {
    const double tau = e.lift[shape::kind(row) & ~1][0];
    if (row == col) c.x += tau;
    if (row == col + 1) c.y += tau;
  }
}

/// They go to s_out: K^e packed, F^e behind it as row n.
template <class shape>
__device__ __forceinline__ void put(int lane, int I, int J, double2 c, double *s_out)
{
  const int row = 8 * I + lane / 4, col = 8 * J + lane % 4 * 2;
  if (I < J) {  // the transpose
    if (col <= shape::n) s_out[col * (col + 1) / 2 + row] = c.x;
    if (col + 1 <= shape::n) s_out[(col + 1) * (col + 2) / 2 + row] = c.y;
  } else if (row <= shape::n) {
    s_out += row * (row + 1) / 2 + col;
    if (I > J || col <= row) s_out[0] = c.x;
    if (I > J || col + 1 <= row) s_out[1] = c.y;
  }
}

/// Which products of tile rows of W^T are formed together: unit u makes tiles (first, u) and
/// (second, u). Round r of an odd number of rows takes those at distance 2 r and 2 r + 1 around the
/// circle; of an even number, tile rows 2 r and 2 r + 1. Where nothing is left to come along, the
/// first or second is spare.
template <int RT>
struct product_units {
  static constexpr bool ODD = RT % 2 == 1;
  static constexpr int ROUNDS = ODD ? RT / 4 + 1 : RT / 2;
  /// The two distances of an odd round are one and the same, seen from both ends.
  static __host__ __device__ constexpr bool meets_itself(int r)
  {
    return ODD && r > 0 && 4 * r == RT - 1;
  }
  static __host__ __device__ constexpr int count(int r)
  {
    return !ODD ? 2 * r + 2 : meets_itself(r) ? (RT + 1) / 2 : RT;
  }
  static __host__ __device__ constexpr int first(int r, int u)
  {
    return ODD ? (u + 2 * r) % RT : 2 * r;
  }
  static __host__ __device__ constexpr int second(int r, int u)
  {
    return ODD ? (u + 2 * r + 1) % RT : 2 * r + 1;
  }
  static __host__ __device__ constexpr bool first_spare(int r, int u)
  {
    return !ODD && u > 2 * r;
  }
  static __host__ __device__ constexpr bool second_spare(int r, int u)
  {
    return meets_itself(r) && u == count(r) - 1;
  }
};

/// W^T of S elements: [R -f]^T L^-T, tile column j after the other.
template <class shape>
__device__ __forceinline__ void solve(const kg_local_matrices_args &a, int64_t group,
                                      int first_lane, int first, const tile_element *s_e,
                                      const typename shape::factors &factors, int lane,
                                      double2 (&w)[shape::NT][shape::S][shape::RT])
{
#pragma unroll
  for (int j = 0; j < shape::NT; ++j) {
    double2 c[shape::S][shape::RT];
    build_lift<shape>(a, group, first_lane + first, s_e + first, lane, j, c);
#pragma unroll
    for (int k = 0; k < j; ++k)
#pragma unroll
      for (int s = 0; s < shape::S; ++s)
        tiles_multiply(c[s], w[k][s], negative(factors.at(first + s, j, k)));
#pragma unroll
    for (int s = 0; s < shape::S; ++s) {
#pragma unroll
      for (int I = 0; I < shape::RT; ++I) w[j][s][I] = make_double2(0.0, 0.0);
      tiles_multiply(w[j][s], c[s], factors.at(first + s, j, j));
    }
  }
}

/// K^e and F^e of element s of them to s_out.
template <class shape>
__device__ __forceinline__ void multiply(const kg_reference &ref, const tile_element &e, int lane,
                                         int s, const double2 (&w)[shape::NT][shape::S][shape::RT],
                                         double *s_out)
{
  using units = product_units<shape::RT>;
#pragma unroll
  for (int r = 0; r < units::ROUNDS; ++r) {
    double2 c[2 * shape::RT] = {};
#pragma unroll
    for (int j = 0; j < shape::NT; ++j)
#pragma unroll
      for (int u = 0; u < units::count(r); ++u)
        tile_multiply(c[2 * u], c[2 * u + 1], w[j][s][units::first(r, u)],
                      w[j][s][units::second(r, u)], w[j][s][u]);
#pragma unroll
    for (int u = 0; u < units::count(r); ++u) {
      if (!units::first_spare(r, u)) finish<shape>(ref, e, lane, units::first(r, u), u, c[2 * u]);
      if (!units::second_spare(r, u))
        finish<shape>(ref, e, lane, units::second(r, u), u, c[2 * u + 1]);
    }
#pragma unroll
    for (int u = 0; u < units::count(r); ++u) {
      if (!units::first_spare(r, u)) put<shape>(lane, units::first(r, u), u, c[2 * u], s_out);
      if (!units::second_spare(r, u)) put<shape>(lane, units::second(r, u), u, c[2 * u + 1], s_out);
    }
  }
}

/// K^e and F^e of elements first..first+S-1 of the warp from the factors of Z^-1, whose place they
/// take.
template <class shape>
__device__ __forceinline__ void condense(const kg_local_matrices_args &a, int64_t group,
                                         int first_lane, int first, const tile_element *s_e,
                                         const typename shape::factors &factors)
{
  int lane = threadIdx.x & 31;
  asm volatile("" : "+r"(lane));  // unknown again: no index is kept from one element to the next
  double2 w[shape::NT][shape::S][shape::RT];
  solve<shape>(a, group, first_lane, first, s_e, factors, lane, w);
  __syncwarp();
#pragma unroll
  for (int s = 0; s < shape::S; ++s)
    multiply<shape>(a.batch.reference, s_e[first + s], lane, s, w, factors.matrix(first + s));
}

/// From shared memory to the lanes of the group.
template <class shape>
__device__ __forceinline__ void write_out(const double *s_out, const kg_local_matrices_args &a,
                                          int64_t group, int first_lane)
{
  constexpr int packed = shape::packed, E = shape::E;
  const int e = threadIdx.x % E, lane = first_lane + e;
  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  double *local = a.local + group * packed * KG_LANES + lane;
  double *condensed = a.condensed + group * shape::n * KG_LANES + lane;
  s_out += e * shape::factors::STRIDE;
  for (int k = (threadIdx.x & 31) / E; k < packed; k += 32 / E)
    __stcs(local + k * KG_LANES, exists ? s_out[k] : 0.0);
  for (int k = (threadIdx.x & 31) / E; k < shape::n; k += 32 / E)
    condensed[k * KG_LANES] = s_out[packed + k];
}

template <class shape>
__global__ void __launch_bounds__(32 * shape::WARPS, shape::BLOCKS)
    local_matrices_tensor(const kg_local_matrices_args a)
{
  constexpr int E = shape::E, per_group = KG_LANES / (E * shape::WARPS);  // blocks of a group
  extern __shared__ double2 s_memory[];
  __shared__ tile_element s_elements[shape::WARPS * E];
  const int warp = threadIdx.x / 32;
  const int64_t group = blockIdx.x / per_group;
  const int lane_of_block = (int)(blockIdx.x % per_group) * shape::WARPS * E;
  const int first_lane = lane_of_block + warp * E;
  if (threadIdx.x < E * shape::WARPS) {
    const int lane = lane_of_block + (int)threadIdx.x;
    double x[3], y[3];
    kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, lane, x, y);
    s_elements[threadIdx.x].set(kg_element_of(x, y, a.material), a.batch, group, lane);
  }
  shape::factors::barrier();
  const tile_element *s_e = s_elements + warp * E;
  const kg_reference &ref = a.batch.reference;
  for (int i = threadIdx.x; i < shape::N; i += 32 * shape::WARPS)
    prefetch(a.load + (group * shape::N + i) * KG_LANES + lane_of_block);
  const typename shape::factors factors = {(double *)s_memory};
  factors.factor([&](int i, int j, double2 *c) { build_operator<shape>(ref, s_e, i, j, c); });
#pragma unroll 1
  for (int e = 0; e < E; e += shape::S) condense<shape>(a, group, first_lane, e, s_e, factors);
  __syncwarp();
  write_out<shape>(factors.matrix(0), a, group, first_lane);
}

template <class shape>
kedge_status launch_tensor(kedge_context *ctx, const kg_local_matrices_args &a)
{
  const auto kernel = local_matrices_tensor<shape>;
  KG_TRY(kg_cuda_check(
      ctx,
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape::BYTES),
      "local_matrices: asking for shared memory"));
  KG_TRY(kg_cuda_check(
      ctx,
      cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, shape::PERCENT),
      "local_matrices: dividing shared memory and cache"));
  const unsigned blocks = (unsigned)a.batch.count.n_groups * (KG_LANES / (shape::E * shape::WARPS));
  kernel<<<blocks, 32 * shape::WARPS, shape::BYTES, kg_cuda_stream(ctx)>>>(a);
  return kg_cuda_launched(ctx, "local_matrices");
}

}  // namespace kg
