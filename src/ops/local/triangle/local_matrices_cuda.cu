// local_matrices_cuda.cu: K^e and F^e of every element. Orders 1 and 2 take
// local_matrices_thread.cuh, those up to KG_DEALT_ORDER_MAX local_matrices_lanes.cu, the others, on
// GPUs with FP64 tensor instructions, local_matrices_tensor.cuh; this file has the kernel of other
// GPUs.
// Layout  local [group][row of K^e, packed or reduced][lane], condensed [group][n][lane].
// Map     block = element, panel = [Z^-1; R^T; f^T] in shared memory (panel_cuda.cuh): its partial
//         Cholesky factorisation leaves W^T and w_f^T, whose products are K^e and F^e.
// Cost    kg_local_matrices_cost(), of packed K^e, from which reduced ones are taken; reference
//         matrices come through L2.
#include "device/cuda_rt.h"
#include "ops/local/triangle/local_matrices_lanes.h"
#include "ops/local/triangle/local_matrices_tensor.cuh"
#include "ops/local/triangle/local_matrices_thread.cuh"
#include "ops/local/triangle/panel_cuda.cuh"

namespace
{

/// Rows N.. of the panel: R^T with the signs of reversed sides, then f^T.
__device__ void fill_lift(double *rows, int ld, const kg_local_matrices_args &a, kg_place at,
                          const kg_element &e, const uint32_t side[3])
{
  const kg_reference &ref = a.batch.reference;
  const int N = ref.size.n_modes, n = ref.size.n_trace, m = ref.size.n_edge;
  for (int i = threadIdx.x; i < N * n; i += blockDim.x) {
    const int mode = i / n, c = i % n, l = c / m;
    rows[c * ld + mode] =
        kg_side_sign(side[l], c - l * m) *
        (e.tau[l] * ref.lift[i] + e.lift_r[l] * ref.lift_r[i] + e.lift_s[l] * ref.lift_s[i]);
  }
  for (int i = threadIdx.x; i < N; i += blockDim.x)
    rows[n * ld + i] = a.load[(at.group * N + i) * KG_LANES + at.lane];
}

__device__ double dot_rows(const double *x, const double *y, int np)
{
  double even = 0.0, odd = 0.0;
  for (int k = 0; k < np; k += 2) {
    const double2 p = *(const double2 *)(x + k), q = *(const double2 *)(y + k);
    even += p.x * q.x;
    odd += p.y * q.y;
  }
  return even + odd;
}

__device__ void write_local(const double *w, int np, int ld, const kg_local_matrices_args &a,
                            kg_place at, const kg_element &e, const uint32_t side[3])
{
  const kg_reference &ref = a.batch.reference;
  const int n = ref.size.n_trace, m = ref.size.n_edge;
  const bool exists = at.group * KG_LANES + at.lane < a.batch.count.n_elements;
  const bool reduced = a.local.layout == KG_LAYOUT_REDUCED;
  double *out = (double *)a.local.data + at.group * a.local.rows * KG_LANES + at.lane;
  for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
    const int row = i / n, col = i % n;
    if (col > row) continue;
    const int l = row / m, k = col / m, entry = row * (row + 1) / 2 + col;
    const int to = reduced ? kg_reduced_row(m, row, col) : entry;
    if (to < 0) continue;
    double s0 = e.trace[l * (l + 1) / 2 + k] * ref.trace_mass[entry];
    if (row == col) s0 += e.tau[l];
    s0 *= kg_side_sign(side[l], row - l * m) * kg_side_sign(side[k], col - k * m);
    double value = s0 - dot_rows(w + row * ld, w + col * ld, np);
    if (reduced && row == col && row - l * m == 1) value *= kg_side_sign(side[l], 1);
    out[to * KG_LANES] = exists ? value : 0.0;
  }
  if (reduced && threadIdx.x < KG_REDUCED_FLUX)
    out[threadIdx.x * KG_LANES] = exists ? e.trace[kg_reduced_trace(threadIdx.x)] : 0.0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    a.condensed[(at.group * n + i) * KG_LANES + at.lane] = dot_rows(w + i * ld, w + n * ld, np);
}

__global__ void local_matrices_kernel(const kg_local_matrices_args a)
{
  extern __shared__ double2 s_memory[];  // double2: rows are read 16 bytes at a time
  const kg_sizes z = a.batch.reference.size;
  const int N = z.n_modes, np = kg_panel_padded(N), ld = kg_panel_ld(N), rows = np + z.n_trace + 1;
  double *panel = (double *)s_memory, *s_inverse = panel + rows * ld;
  const kg_place at = {blockIdx.x / KG_LANES, (int)(blockIdx.x % KG_LANES)};
  __shared__ kg_element e;
  __shared__ uint32_t side[3];
  if (threadIdx.x < 3)
    side[threadIdx.x] = a.batch.arrays.side_edge[(at.group * 3 + threadIdx.x) * KG_LANES + at.lane];
  kg_block_element(a.batch, at, a.material, &e);

  kg_panel_local_operator(panel, ld, a.batch.reference, e);
  fill_lift(panel + np * ld, ld, a, at, e, side);
  kg_panel_pad(panel, rows, N, np, ld);
  kg_panel_factor(panel, rows, np, ld, s_inverse);
  write_local(panel + np * ld, np, ld, a, at, e, side);
}

kedge_status launch_plain(kedge_context *ctx, const kg_local_matrices_args *a)
{
  const kg_sizes z = a->batch.reference.size;
  const int np = kg_panel_padded(z.n_modes), rows = np + z.n_trace + 1;
  const size_t shared = sizeof(double) * ((size_t)rows * kg_panel_ld(z.n_modes) + np);
  KG_TRY(
      kg_cuda_ask_for_shared(ctx, (const void *)local_matrices_kernel, shared, "local_matrices"));
  const unsigned blocks = (unsigned)a->batch.count.n_groups * KG_LANES;
  local_matrices_kernel<<<blocks, kg_panel_threads(rows), shared, kg_cuda_stream(ctx)>>>(*a);
  return kg_cuda_launched(ctx, "local_matrices");
}

/// GPUs with too little shared memory take the kernel of this file.
template <class shape>
kedge_status launch_tiles(kedge_context *ctx, const kg_local_matrices_args &a)
{
  const int teams = kg::teams_that_fit<shape>(ctx);
  return teams > 0 ? kg::launch_tensor<shape>(ctx, a, teams) : launch_plain(ctx, &a);
}

kedge_status launch_lanes(kedge_context *ctx, const kg_local_matrices_args &a)
{
  return kg_local_matrices_lanes(ctx, &a);
}

// Shapes: the fastest of those measured on an H200 (profiling/operators --only local_matrices):
// order, reduced, elements a warp, teams a block, reference matrices in shared memory, tiles
// inverted by threads, ahead.
constexpr kedge_status (*by_order[][2])(kedge_context *, const kg_local_matrices_args &) = {
    {kg::launch_thread<1, false>, kg::launch_thread<1, true>},
    {kg::launch_thread<2, false>, kg::launch_thread<2, true>},
    {launch_lanes, launch_lanes},
    {launch_lanes, launch_lanes},
    {launch_lanes, launch_lanes},
    {launch_lanes, launch_lanes},
    {launch_tiles<kg::tensor_shape<7, false, 2, 2, true, true, true>>,
     launch_tiles<kg::tensor_shape<7, true, 2, 2, true, true, true>>},
    {launch_tiles<kg::tensor_shape<8, false, 1, 2, true, false, true>>,
     launch_tiles<kg::tensor_shape<8, true, 1, 2, true, false, true>>},
    {launch_tiles<kg::tensor_shape<9, false, 1, 2, true, false, false>>,
     launch_tiles<kg::tensor_shape<9, true, 1, 2, true, false, false>>},
    {launch_tiles<kg::tensor_shape<10, false, 1, 2, false, true, true>>,
     launch_tiles<kg::tensor_shape<10, true, 1, 2, false, true, true>>},
    {launch_tiles<kg::tensor_shape<11, false, 1, 2, false, true, true>>,
     launch_tiles<kg::tensor_shape<11, true, 1, 2, false, true, true>>},
    {launch_tiles<kg::tensor_shape<12, false, 1, 2, false, true, true>>,
     launch_tiles<kg::tensor_shape<12, true, 1, 2, false, true, true>>}};
static_assert(sizeof by_order / sizeof *by_order == KEDGE_ORDER_MAX, "one entry per order");

}  // namespace

extern "C" kedge_status kg_local_matrices_cuda(kedge_context *ctx, const kg_local_matrices_args *a)
{
  if (kg_cuda(ctx)->code_major < 8) return launch_plain(ctx, a);
  return by_order[a->batch.reference.size.order - 1][a->local.layout == KG_LAYOUT_REDUCED](ctx, *a);
}
