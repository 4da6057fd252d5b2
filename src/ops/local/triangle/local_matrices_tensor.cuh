// local_matrices_tensor.cuh: K^e and F^e of every element on FP64 tensor cores (sm_80 and later).
// Layout  local [group][row of K^e, packed or reduced][lane], condensed [group][n][lane].
// Map     A block stays on its multiprocessor, with the reference matrices as tiles in shared
//         memory. Teams of four warps take one group after the other, a warp E neighbouring lanes
//         at a time; their [Z^-1; f^T; R^T] are eliminated in its registers, a column of tiles
//         after the other. K^e and F^e wait in shared memory until the team writes them.
// Cost    kg_local_matrices_cost()
#pragma once
#include <cuda_pipeline.h>

#include "device/cuda_launch.cuh"
#include "ops/local/triangle/local_matrices_columns.cuh"

namespace kg
{

/// An entry of the results; row >= col; F^e is the last row.
template <class shape>
__device__ __forceinline__ void put(double *out, int row, int col, double value)
{
  out[shape::FLUXES + row * (row + 1) / 2 + col] = value;
}

/// c += S0 in tile (I, J) of the trace, the border being tile RT.
template <class shape>
__device__ __forceinline__ double2 add_trace(const tile_warp<shape> &w, int e, int I, int J,
                                             double2 c)
{
  const double2 mass = w.reference(shape::TRACE + I * shape::TRACE_TILES + J);
  const double2 trace = w.factors[e].trace[w.kinds >> 4 * I & 15][4 * J + w.col / 2];
  c.x = fma(trace.x, mass.x, c.x);
  c.y = fma(trace.y, mass.y, c.y);
  if (I == J) {
    const double tau = fabs(w.factors[e].lift[0][8 * I + w.row]);
    if (w.row == w.col) c.x += tau;
    if (w.row == w.col + 1) c.y += tau;
  }
  return c;
}

/// Columns of the border in the last column of tiles: -W^T [w_f of the load, W of the border],
/// which are F^e and entries of K^e. They leave W^T.
template <class shape>
__device__ __forceinline__ void take_border(const tile_warp<shape> &w, tile_columns<shape> &l)
{
  constexpr int last = shape::NT - 1, PIVOTS = shape::PIVOTS, BORDER = shape::BORDER;
  // The columns that the lane has, and their modes.
  const int col[2] = {shape::HALF ? w.col / 2 : w.col, shape::HALF ? 4 + w.col / 2 : w.col + 1};
#pragma unroll
  for (int i = shape::BORDER_ROW; i < shape::ROWS; ++i)
#pragma unroll
    for (int e = 0; e < shape::E; ++e) {
      const bool inside = i == last;  // rows of the border too
      const int I = inside ? shape::RT : i - shape::NT;
      const int row = inside ? shape::border_row(w.row) : 8 * I + w.row;
      double2 c = l[last][i][e];
      if (BORDER > 0) c = add_trace<shape>(w, e, I, shape::RT, c);
      const bool exists = inside ? w.row > PIVOTS && row < shape::UNKNOWNS : row < shape::MAIN;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int other = shape::border_row(col[h]);
        const bool has = col[h] >= PIVOTS && col[h] <= PIVOTS + BORDER;
        if (has && exists && (!inside || col[h] == PIVOTS || col[h] <= w.row))
          put<shape>(w.out[e], max(row, other), min(row, other), h == 0 ? c.x : c.y);
        if (col[h] >= PIVOTS) (h == 0 ? l[last][i][e].x : l[last][i][e].y) = 0.0;
      }
    }
}

/// The tiles of W^T W that are formed together with tile row u of W^T as second factor: those
/// below, two at a time; the last three rows take their next around the circle, so that none is
/// alone.
template <int RT>
struct product_rows {
  static __host__ __device__ constexpr bool circle(int u)
  {
    return RT >= 3 && u >= RT - 3;
  }
  static __host__ __device__ constexpr int count(int u)
  {
    return circle(u) ? 2 : RT - u;
  }
  static __host__ __device__ constexpr int row(int u, int t)
  {
    return circle(u) && u + t == RT ? RT - 3 : u + t;
  }
};

/// The diagonal entries of mode 1 of reduced K^e, in tile (0, 0), show which way sides run.
template <class shape>
__device__ __forceinline__ double2 with_sides(const tile_warp<shape> &w, int e, double2 k)
{
  const bool flip = w.row < 3 && w.element[e].reversed >> w.row & 1u;
  return make_double2(flip && w.row == w.col ? -k.x : k.x, flip && w.row == w.col + 1 ? -k.y : k.y);
}

/// Tile (I, u) of K^e to the results.
template <class shape>
__device__ __forceinline__ void put_tile(const tile_warp<shape> &w, int e, int I, int u, double2 k)
{
  const int row = 8 * I + w.row, col = 8 * u + w.col;
  if (shape::REDUCED && I == 0 && u == 0) k = with_sides<shape>(w, e, k);
  if (I < u) {  // the transpose
    if (u < shape::RT - 1 || col < shape::MAIN) put<shape>(w.out[e], col, row, k.x);
    if (u < shape::RT - 1 || col + 1 < shape::MAIN) put<shape>(w.out[e], col + 1, row, k.y);
  } else if (I < shape::RT - 1 || row < shape::MAIN) {
    if (I > u || col <= row) put<shape>(w.out[e], row, col, k.x);
    if (I > u || col < row) put<shape>(w.out[e], row, col + 1, k.y);
  }
}

/// K^e = S0 - W^T W to the results.
template <class shape>
__device__ __forceinline__ void multiply(const tile_warp<shape> &w, const tile_columns<shape> &l)
{
  constexpr int NT = shape::NT;
  using rows = product_rows<shape::RT>;
#pragma unroll
  for (int u = 0; u < shape::RT; ++u)
#pragma unroll
    for (int t = 0; t < rows::count(u); t += 2) {
      const bool pair = t + 1 < rows::count(u);
      const int I = rows::row(u, t), next = pair ? rows::row(u, t + 1) : I;
#pragma unroll
      for (int e = 0; e < shape::E; ++e) {
        double2 c = {}, d = {};
#pragma unroll
        for (int j = 0; j < NT; ++j)
          if (shape::HALF && j == NT - 1 && pair)
            tensor_multiply(c, d, l[j][NT + I][e].x, l[j][NT + next][e].x, l[j][NT + u][e].x);
          else if (shape::HALF && j == NT - 1)
            tensor_multiply(c, l[j][NT + I][e].x, l[j][NT + u][e].x);
          else if (pair)
            tile_multiply(c, d, l[j][NT + I][e], l[j][NT + next][e], l[j][NT + u][e]);
          else
            tile_multiply(c, l[j][NT + I][e], l[j][NT + u][e]);
        put_tile<shape>(w, e, I, u, add_trace<shape>(w, e, I, u, negative(c)));
        if (pair) put_tile<shape>(w, e, next, u, add_trace<shape>(w, e, next, u, negative(d)));
      }
    }
}

/// Write what is known of reduced K^e and of F^e without W: fluxes, and F^e in mode 0. Function p_l
/// of ops/local/reduced.h is its own local solution, so p_l . F^e = (f, p_l)
/// (docs/math.md#reduced).
template <class shape>
__device__ __forceinline__ void put_known(const tile_warp<shape> &w)
{
  constexpr int place[3] = {shape::place_of(0), shape::place_of(1), shape::place_of(2)};
  const int e = w.lane / 3, l = w.lane % 3;
  __syncwarp();
  if (w.lane >= 3 * shape::E) return;
  double *const out = w.out[e], *const condensed = out + shape::RESULTS;
  const tile_element &g = w.element[e];
  double sum = 0.0;
#pragma unroll
  for (int i = 0; i < 3; ++i) sum = fma(w.mean[l][i], w.load[place[i] * shape::ELEMENTS + e], sum);
  const int next = l < 2 ? l + 1 : 0, before = l > 0 ? l - 1 : 2;
  const double of_next = g.reversed >> next & 1u ? -condensed[next] : condensed[next];
  const double of_before = g.reversed >> before & 1u ? -condensed[before] : condensed[before];
  condensed[shape::UNKNOWNS + l] = fma(KG_REDUCED_SLOPE, of_next - of_before, sum);
  out[l] = g.trace[kg_reduced_trace(l)];
}

/// K^e and F^e of the warp's elements to the results.
template <class shape>
__device__ __forceinline__ void condense(const tile_warp<shape> &w,
                                         double2 (*team_tiles)[TILE_STRIDE], int team)
{
  tile_columns<shape> l;
#pragma unroll
  for (int j = 0; j < shape::NT; ++j) {
    asm volatile("" ::: "memory");  // factors are read again rather than kept in registers
    if (shape::BY_THREADS)
      eliminate_by_team<shape>(w, team, team_tiles, j, l);
    else
      eliminate<shape>(w, j, l);
  }
  if (!shape::AHEAD) team_barrier(team);  // the team has written those before
  take_border<shape>(w, l);
  multiply<shape>(w, l);
  if (shape::REDUCED) put_known<shape>(w);
}

/// Writes results from shared memory to lanes first.. of the group.
template <class shape>
__device__ __forceinline__ void write_out(const double (*results)[shape::STRIDE],
                                          const kg_local_matrices_args &a, int64_t group, int first,
                                          int thread)
{
  constexpr int RESULTS = shape::RESULTS, STEP = TEAM_THREADS / shape::ELEMENTS;
  const int element = thread % shape::ELEMENTS;
  const int lane = first + element;
  const bool exists = group * KG_LANES + lane < a.batch.count.n_elements;
  double *local = (double *)a.local.data + group * RESULTS * KG_LANES + lane;
  double *condensed = a.condensed + group * shape::n * KG_LANES + lane;
  const double *out = results[element];
  for (int k = thread / shape::ELEMENTS; k < RESULTS; k += STEP)
    __stcs(local + k * KG_LANES, exists ? out[k] : 0.0);
  for (int k = thread / shape::ELEMENTS; k < shape::n; k += STEP) {
    const int mode = k < shape::UNKNOWNS ? shape::unknown(k) : (k - shape::UNKNOWNS) * shape::m;
    condensed[mode * KG_LANES] = out[RESULTS + k];
  }
}

/// Numbers of a group's vertices and sides are asked for.
template <class shape>
__device__ __forceinline__ void fetch_numbers(typename shape::team_memory &s,
                                              const kg_local_matrices_args &a, int64_t group,
                                              int thread)
{
  if (group >= a.batch.count.n_groups || thread >= 3 * KG_LANES) return;
  const int64_t at = group * 3 * KG_LANES + thread;
  __pipeline_memcpy_async(s.vertex + thread, a.batch.arrays.vertex + at, sizeof(int32_t));
  __pipeline_memcpy_async(s.side_edge + thread, a.batch.arrays.side_edge + at, sizeof(uint32_t));
}

/// Asks for the vertices, once their numbers have arrived.
template <class shape>
__device__ __forceinline__ void fetch_corners(typename shape::team_memory &s,
                                              const kg_local_matrices_args &a, int64_t group,
                                              int thread)
{
  if (group >= a.batch.count.n_groups || thread >= 3 * KG_LANES) return;
  __pipeline_memcpy_async(s.corner + thread,
                          a.batch.arrays.vertices + 2 * (int64_t)s.vertex[thread], sizeof(double2));
}

/// Load the data of the group's elements; the first warp of the team does it.
template <class shape>
__device__ __forceinline__ void begin_group(typename shape::team_memory &s,
                                            const kg_local_matrices_args &a, int64_t group,
                                            int team)
{
  const int thread = threadIdx.x % TEAM_THREADS;
  if (thread < KG_LANES) {
    double x[3], y[3];
    const uint32_t *sides = s.side_edge;
    if (shape::AHEAD) {
      for (int l = 0; l < 3; ++l) {
        x[l] = s.corner[l * KG_LANES + thread].x;
        y[l] = s.corner[l * KG_LANES + thread].y;
      }
    } else {
      kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, group, thread, x, y);
      sides = a.batch.arrays.side_edge + group * 3 * KG_LANES;
    }
    s.element[thread].set(kg_element_of(x, y, kg_material_at(&a.materials, group, thread)), sides,
                          thread);
  }
  team_barrier(team);
}

/// Load vectors of lanes first.. of a group are asked for; they come in the order of the tiles.
template <class shape>
__device__ __forceinline__ void fetch_loads(double (*load)[shape::ELEMENTS],
                                            const kg_local_matrices_args &a, const int *s_mode,
                                            int64_t group, int first, int thread)
{
  constexpr int STEP = TEAM_THREADS / shape::ELEMENTS;
  const int element = thread % shape::ELEMENTS;
  if (group < a.batch.count.n_groups)
    for (int k = thread / shape::ELEMENTS; k < shape::N; k += STEP)
      __pipeline_memcpy_async(&load[k][element],
                              a.load + (group * shape::N + s_mode[k]) * KG_LANES + first + element,
                              sizeof(double));
  __pipeline_commit();
}

template <class shape>
__device__ __forceinline__ tile_warp<shape> warp_of(typename shape::team_memory &s,
                                                    const double2 *tiles, int thread)
{
  const int of_warp = thread / 32 * shape::E, lane = thread % 32;
  tile_warp<shape> w = {};
  w.tiles = tiles;
  w.factors = s.factors + of_warp;
  w.tile = s.tile + of_warp;
  w.lane = lane;
  w.row = lane / 4;
  w.col = lane % 4 * 2;
  w.warp = thread / 32;
  for (int I = 0; I < shape::TRACE_TILES; ++I)
    w.kinds |= (unsigned)shape::kind(8 * I + w.row) << 4 * I;
  return w;
}

template <class shape>
__global__ void __launch_bounds__(TEAM_THREADS *shape::TEAMS, 1)
    local_matrices_tensor(const kg_local_matrices_args a)
{
  KG_SHARED(double2, s_memory);
  __shared__ int s_mode[shape::N];
  __shared__ double s_mean[3][3];
  const double2 *tiles = (const double2 *)a.batch.reference.operator_tiles + 32 * shape::BEFORE;
  if (shape::REDUCED && threadIdx.x < 9) {
    const int side = threadIdx.x / 3, mode = threadIdx.x % 3;
    s_mean[side][mode] = a.batch.reference.lift[mode * shape::n + side * shape::m] * (1.0 / 3.0);
  }
  for (int i = threadIdx.x; i < shape::N; i += blockDim.x) s_mode[i] = mode_at<shape::P>(i);
  if (shape::STAGED)
    for (int i = threadIdx.x; i < 32 * shape::TILES; i += blockDim.x) s_memory[i] = tiles[i];
  __syncthreads();
  auto *s_teams = (typename shape::team_memory *)(s_memory + shape::STAGED_BYTES / sizeof(double2));
  const int team = threadIdx.x / TEAM_THREADS;
  const int64_t teams = blockDim.x / TEAM_THREADS, step = gridDim.x * teams;
  auto &s = s_teams[team];
  const int thread = threadIdx.x % TEAM_THREADS;
  int buffer = 0;
  tile_warp<shape> w = warp_of<shape>(s, shape::STAGED ? s_memory : tiles, thread);
  w.mean = s_mean;
  w.zero = a.batch.count.n_groups >> 31;
  int64_t group = blockIdx.x * teams + team;
  if (shape::AHEAD) fetch_numbers<shape>(s, a, group, thread);
  fetch_loads<shape>(s.load[0], a, s_mode, group, 0, thread);
  __pipeline_wait_prior(0);
  if (shape::AHEAD) {
    team_barrier(team);
    fetch_corners<shape>(s, a, group, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    team_barrier(team);
  }
  for (; group < a.batch.count.n_groups; group += step) {
    begin_group<shape>(s, a, group, team);
#pragma unroll 1
    for (int first = 0; first < KG_LANES; first += shape::ELEMENTS, buffer ^= 1) {
      const int next = (first + shape::ELEMENTS) % KG_LANES;
      if (shape::AHEAD && first == 0) fetch_numbers<shape>(s, a, group + step, thread);
      if (shape::AHEAD && first == shape::ELEMENTS)
        fetch_corners<shape>(s, a, group + step, thread);
      fetch_loads<shape>(s.load[buffer ^ 1], a, s_mode, next > 0 ? group : group + step, next,
                         thread);
      w.load = s.load[buffer][0] + w.warp * shape::E;
      auto *const results = s.out[shape::AHEAD ? buffer : 0];
      w.out = results + w.warp * shape::E;
      w.element = s.element + first + w.warp * shape::E;
#pragma unroll
      for (int e = 0; e < shape::E; ++e)
        set_factors<shape>(s.factors[w.warp * shape::E + e], w.element[e], w.lane);
      __syncwarp();
      condense<shape>(w, s.tile, team);
      __pipeline_wait_prior(0);
      team_barrier(team);
      write_out<shape>(results, a, group, first, thread);
    }
  }
}

/// Teams of a block on this GPU; 0 where the shared memory is too small.
template <class shape>
int teams_that_fit(kedge_context *ctx)
{
  const int64_t free = kg_cuda(ctx)->shared_limit - (int64_t)shape::STAGED_BYTES;
  const int64_t teams = free / (int64_t)sizeof(typename shape::team_memory);
  return teams < 0 ? 0 : teams < shape::TEAMS ? (int)teams : shape::TEAMS;
}

template <class shape>
kedge_status launch_tensor(kedge_context *ctx, const kg_local_matrices_args &a, int teams)
{
  static_assert(shape::STAGED || sizeof(typename shape::team_memory) <= 98 << 10,
                "a team fits the 99 KiB of the smaller GPUs");
  const size_t shared = shape::STAGED_BYTES + teams * sizeof(typename shape::team_memory);
  const int needed = (a.batch.count.n_groups + teams - 1) / teams;
  return kg_launch_shared(ctx, "local_matrices", kg_cuda_blocks(ctx, needed, 1),
                          TEAM_THREADS * teams, shared, local_matrices_tensor<shape>, a);
}

}  // namespace kg
