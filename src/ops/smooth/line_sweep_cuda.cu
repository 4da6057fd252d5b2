// line_sweep_cuda.cu: half of a solve along the lines of edges (line_sweep.h).
// Layout  L [row][column] of a line one after the other, x [edge][mode]
// Map     8 lanes (16 beyond order 7) are a line, lane i its mode i; the values of the step before
//         stay in registers and go round by shuffles. Steps come in chunks: before one is computed
//         a lane sends for its rows of L (or columns) and its numbers of the next, all at once, and
//         for the edges of the one after that, so that only arithmetic lies between a step and the
//         next. (The trace solve of `ring 2000 250` takes 1.4 times as long at order 2 where loads
//         are sent for between the steps of a chunk, as in commit 31b40a0.)
// Cost    kg_line_sweep_cost(); few long lines take the time of their steps, not of their bytes
#include "device/cuda_each.cuh"
#include "ops/by_order.cuh"
#include "ops/smooth/line_sweep.h"
#include "ops/real.h"

namespace
{

enum { THREADS = 128 };

template <int M>
constexpr int WIDTH = M <= 8 ? 8 : 16;  // lanes of a line
template <int M>
constexpr int CHUNK = M <= 10 ? 8 : 4;  // steps, of which registers hold two

/// A lane's numbers of CHUNK<M> steps: its rows of L, and x.
template <int M>
struct chunk {
  float l[CHUNK<M>][M];
  kg_real x[CHUNK<M>];
};

/// A line as its lanes walk it: n steps, from `first` on. Beyond the last one it is loaded again: a
/// load that depended on a condition would be waited for at once.
template <int M, bool BACKWARD>
struct walk {
  const float *factor;  // of the first of these steps, in the order of the line
  kg_real *x;
  const int32_t *edge;
  int32_t first, n;
  int lane, mode;

  /// The edge of the step that this lane looks up in the chunk from k on.
  __device__ int32_t look_up(int32_t k) const
  {
    k = min(k + lane % CHUNK<M>, n - 1);
    return edge[BACKWARD ? first - k - 1 : first + k];
  }
  /// The place of this lane's number of step j of a chunk, from edges that the lanes have looked
  /// up.
  __device__ int64_t at(int32_t edges, int j) const
  {
    return (int64_t)__shfl_sync(0xffffffffu, edges, j, WIDTH<M>) * M + mode;
  }
  /// The chunk from step k on: this lane's parts of L, and its numbers.
  __device__ chunk<M> load(int32_t k, int32_t edges) const
  {
    chunk<M> out;
#pragma unroll
    for (int j = 0; j < CHUNK<M>; ++j) {
      const int32_t here = min(k + j, n - 1);
      const float *block = factor + (int64_t)(BACKWARD ? n - 1 - here : here) * (M * M);
#pragma unroll
      for (int i = 0; i < M; ++i)
        out.l[j][i] = BACKWARD ? block[i * M + mode] : block[mode * M + i];
      out.x[j] = x[at(edges, j)];
    }
    return out;
  }
};

/// Steps of a warp's longest line; the lanes of others keep nothing of those beyond their own.
template <int M>
__device__ int32_t most_steps(int32_t n)
{
#pragma unroll
  for (int offset = 16; offset >= WIDTH<M>; offset /= 2)
    n = max(n, __shfl_xor_sync(0xffffffffu, n, offset));
  return n;
}

template <int M, bool BACKWARD>
__global__ void __launch_bounds__(THREADS) KG_REAL(line_sweep_kernel)(const kg_line_sweep_args a)
{
  const int32_t own = (int32_t)(blockIdx.x * (THREADS / WIDTH<M>)+threadIdx.x / WIDTH<M>);
  const int32_t line = min(own, a.lines.n_lines - 1);
  const int32_t begin = a.lines.begin[line], end = a.lines.begin[line + 1];
  const int lane = threadIdx.x % WIDTH<M>;
  const bool keeps = own == line && lane < M;
  const walk<M, BACKWARD> w = {a.factor + kg_line_factor_at(M, line, begin + 1),
                               (kg_real *)a.x,
                               a.lines.edge,
                               BACKWARD ? end - 1 : begin + 1,
                               end - begin - 1,
                               lane,
                               lane < M ? lane : M - 1};
  const int32_t most = most_steps<M>(w.n);
  kg_real value = w.x[(int64_t)a.lines.edge[BACKWARD ? end - 1 : begin] * M + w.mode];
  int32_t edges = w.look_up(0), edges_next = w.look_up(CHUNK<M>);
  chunk<M> steps = w.load(0, edges);
  for (int32_t k = 0; k < most; k += CHUNK<M>) {
    const chunk<M> steps_next = w.load(k + CHUNK<M>, edges_next);
    const int32_t edges_after = w.look_up(k + 2 * CHUNK<M>);
#pragma unroll
    for (int j = 0; j < CHUNK<M>; ++j) {
      kg_real sum = 0, odd = 0;
#pragma unroll
      for (int i = 0; i < M; ++i) {
        const kg_real part = steps.l[j][i] * __shfl_sync(0xffffffffu, value, i, WIDTH<M>);
        (i % 2 ? odd : sum) += part;
      }
      value = steps.x[j] - sum - odd;
      const int64_t here = w.at(edges, j);
      if (keeps && k + j < w.n) w.x[here] = value;
    }
    steps = steps_next;
    edges = edges_next;
    edges_next = edges_after;
  }
}

template <int M>
kedge_status launch(kedge_context *ctx, const kg_line_sweep_args &a)
{
  auto kernel = KG_REAL(line_sweep_kernel)<M, false>;
  if (a.backward) kernel = KG_REAL(line_sweep_kernel)<M, true>;
  return kg_launch_each<THREADS>(ctx, "line_sweep", (int64_t)WIDTH<M> * a.lines.n_lines, kernel, a);
}

}  // namespace

extern "C" kedge_status KG_REAL(kg_line_sweep_cuda)(kedge_context *ctx, const kg_line_sweep_args *a)
{
  return kg_with_modes(ctx, a->m, [&](auto m) { return launch<m()>(ctx, *a); });
}
