// lane_solve.cuh: x = A^-1 x, of the first modes of u, by a few lanes of a warp for every element:
// A = L L^T column after column, its rows in their registers, columns of L in shared memory, where
// all lanes find them.
//
// The lanes factor as lane_rows.cuh says. Backward, L^T x = y, every lane of an element does the
// same: a dot product a row, of a column of L.
//
// Layout  entries of the reference matrices in shared memory, [register][pair of terms][lane q]; L
//         of a warp [pair of rows of a column][element], 1 / L_kk on the diagonal
// Map     blocks stay and take group after group; a warp takes E neighbouring elements
#pragma once
#include "device/cuda_launch.cuh"
#include "ops/local/triangle/lane_rows.cuh"
#include "ops/local/triangle/local_operator.cuh"
#include "ops/local/triangle/mode_parity.cuh"

namespace kg
{

template <int P, int LANES_, int BLOCKS_>
struct lane_shape : lane_rows<condensed_operator<P>::K, LANES_> {
  using Operator = condensed_operator<P>;
  using rows = lane_rows<Operator::K, LANES_>;
  using rows::N, rows::LANES, rows::ENTRIES, rows::PAIRS;
  static constexpr int BLOCKS = BLOCKS_;  ///< blocks of a multiprocessor
  static constexpr int WARPS = 4, E = 32 / LANES;
  static constexpr int PAIRS_OF_TERMS = Operator::TERMS / 2;
  static_assert(Operator::TERMS % 2 == 0, "terms are kept in pairs");
  static constexpr int TERM_PAIRS = ENTRIES * PAIRS_OF_TERMS * LANES;
  static constexpr size_t BYTES = sizeof(double2) * (TERM_PAIRS + WARPS * PAIRS * E);
};

/// A warp at E elements.
template <class shape>
struct lane_warp : lane_factor<shape> {
  const double2 *s_terms;

  __device__ __forceinline__ lane_warp(double2 *s_memory)
      : lane_factor<shape>(s_memory + shape::TERM_PAIRS +
                           threadIdx.x / 32 * (shape::PAIRS * shape::E)),
        s_terms(s_memory)
  {
  }
};

/// The entries of the reference matrices to shared memory, as the lanes will ask for them; those
/// behind the diagonal and beyond N are zero.
template <class shape>
__device__ __forceinline__ void stage_terms(const kg_reference &ref, double2 *s_terms)
{
  using Operator = typename shape::Operator;
  for (int i = threadIdx.x; i < shape::ENTRIES * shape::LANES; i += blockDim.x) {
    const int q = i % shape::LANES, at = i / shape::LANES;
    int r = 0;
    while (at >= shape::entry(r + 1, 0)) ++r;
    const int row = shape::LANES * r + q, col = at - shape::entry(r, 0);
    double terms[Operator::TERMS] = {};
    if (row < shape::N && col <= row) Operator::read(ref, row * (row + 1) / 2 + col, terms);
#pragma unroll
    for (int k = 0; k < shape::PAIRS_OF_TERMS; ++k)
      s_terms[(at * shape::PAIRS_OF_TERMS + k) * shape::LANES + q] =
          make_double2(terms[2 * k], terms[2 * k + 1]);
  }
}

/// Rows of A of the lane, and x^T.
template <class shape>
__device__ __forceinline__ void build_rows(const lane_warp<shape> &w,
                                           const typename shape::Operator &op, const double *x,
                                           double (&a)[shape::ENTRIES])
{
  using Operator = typename shape::Operator;
#pragma unroll
  for (int r = 0; r < shape::ROWS; ++r) {
    const int row = shape::LANES * r + w.q;
    const bool odd = is_odd_mode(row);
#pragma unroll
    for (int j = 0; j < shape::end(r); ++j) {
      const int at = shape::entry(r, j);
      double terms[Operator::TERMS];
#pragma unroll
      for (int k = 0; k < shape::PAIRS_OF_TERMS; ++k) {
        const double2 pair = w.s_terms[(at * shape::PAIRS_OF_TERMS + k) * shape::LANES + w.q];
        terms[2 * k] = pair.x;
        terms[2 * k + 1] = pair.y;
      }
      a[at] = op.combine(terms, odd == is_odd_mode(j));
      if (j >= shape::LANES * r && row == j) a[at] += op.diagonal;
      if (r == shape::ROWS - 1 && row == shape::N) a[at] = x[j * KG_LANES];
    }
  }
}

/// x = L^-T y.
template <class shape>
__device__ __forceinline__ void substitute_rows(const lane_warp<shape> &w, double *x)
{
  constexpr int N = shape::N;
  double z[N];
#pragma unroll
  for (int k = N - 1; k >= 0; --k) {
    double sum = 0.0, root = 0.0;
#pragma unroll
    for (int p = N / 2; p >= 0; --p) {
      if (p < k / 2) continue;
      const double2 pair = w.l_pair(2 * p, k);
#pragma unroll
      for (int h = 1; h >= 0; --h) {
        const int i = 2 * p + h;
        const double l = h == 0 ? pair.x : pair.y;
        if (i == N) sum = l;
        if (i == k) root = l;
        if (i > k && i < N) sum = fma(-l, z[i], sum);
      }
    }
    z[k] = sum * root;
    if (w.q == k % shape::LANES) x[k * KG_LANES] = z[k];
  }
}

template <class shape>
__global__ void __launch_bounds__(32 * shape::WARPS, shape::BLOCKS)
    solve_lanes(const kg_local_solve_args a)
{
  KG_SHARED(double2, s_memory);
  stage_terms<shape>(a.batch.reference, s_memory);
  __syncthreads();
  const lane_warp<shape> w(s_memory);
#pragma unroll 1
  for (int64_t g = blockIdx.x; g < a.n_groups; g += gridDim.x)
#pragma unroll 1
    for (int first = (int)threadIdx.x / 32 * shape::E; first < KG_LANES;
         first += shape::WARPS * shape::E) {
      double *x = a.u + g * shape::Operator::MODES * KG_LANES + first + w.e;
      double entries[shape::ENTRIES];
      const typename shape::Operator op(
          kg_element_at(&a.batch.arrays, a.first_group + g, first + w.e, &a.materials));
      build_rows<shape>(w, op, x, entries);
      factor_rows<shape>(w, entries);
      __syncwarp();
      substitute_rows<shape>(w, x);
      __syncwarp();  // L is read before the next one
    }
}

template <class shape>
kedge_status launch_solve_lanes(kedge_context *ctx, const kg_local_solve_args &a)
{
  static_assert(shape::BYTES <= 98 << 10, "fits the 99 KiB of the smaller GPUs");
  const unsigned blocks = kg_cuda_blocks(ctx, a.n_groups, shape::BLOCKS);
  return kg_launch_shared(ctx, "local_solve: solve", blocks, 32 * shape::WARPS, shape::BYTES,
                          solve_lanes<shape>, a);
}

}  // namespace kg
