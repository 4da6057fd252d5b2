// parallelogram_lanes.cuh: K^e and F^e by a few lanes of a warp for every element, which factor one
// half after the other in their registers (half_lanes.cuh).
#pragma once
#include "ops/local/parallelogram/half_lanes.cuh"
#include "ops/local/parallelogram/parallelogram_launch.cuh"

namespace kg
{

/// Orders 4 to 8: what took least time on an H100; at 6 and 8 smaller GPUs fit no 4 warps.
constexpr lane_share make_shares[] = {{8, 4, 4}, {8, 4, 3}, {8, 2, 4}, {16, 4, 2}, {16, 2, 4}};

template <int P>
struct make_lanes {
  using args = kg_cell_make_args;
  static constexpr lane_share SHARE = make_shares[P - 4];
  static constexpr int WARPS = SHARE.warps, LANES = SHARE.lanes, E = WARPS * 32 / LANES;
  static_assert(KG_LANES % E == 0, "the elements of a block are of one group");
  using system = half_system<P + 1, LANES>;
  using warp = half_lanes<system>;
  static constexpr int m = P + 1, N = m * m, n = 4 * m, TRACE = 2 * m, PACKED = n * (n + 1) / 2;
  static constexpr int RESULTS = TRACE * (TRACE + 1) / 2 + TRACE;  ///< of a half
  static constexpr int FACTORS = 2 * system::PAIRS * system::E;
  static constexpr int OWN = FACTORS + RESULTS * system::E;  ///< what is before the values
  static constexpr int SCRATCH = (OWN + system::VALUES * system::E + 1) / 2 * 2;
  static constexpr int PLACES = (system::PLACES + 7) / 8 * 2;  ///< in doubles
  static constexpr int SHARED = PLACES + system::CONSTANTS;
  static constexpr size_t BYTES = sizeof(double) * (SHARED + WARPS * SCRATCH + n * E);
  static_assert(RESULTS <= system::VALUES, "of half 1 they are in the place of the values");

  /// What is left of a half, K^e and F^e, to shared memory, packed.
  static __device__ __forceinline__ void put_results(const double (&a)[system::ENTRIES], int q,
                                                     double *to)
  {
#pragma unroll
    for (int r = system::PIVOTS / LANES; r < system::ROWS; ++r) {
      const int p = LANES * r + q - system::PIVOTS + LANES;
      double *const row = to + p * (p + 1) / 2 * system::E;
#pragma unroll
      for (int j = system::PIVOTS; j < system::end(r); ++j) {
        const int column = j - system::PIVOTS + LANES;
        if (p >= column && p <= TRACE) row[column * system::E] = a[system::entry(r, j)];
      }
    }
  }
  /// The lane's row behind the right hand side to the same place.
  static __device__ __forceinline__ void put_row(const double (&x)[system::BEHIND], int q,
                                                 double *to)
  {
#pragma unroll
    for (int p = LANES; p <= TRACE; ++p)
      to[(p * (p + 1) / 2 + q) * system::E] = x[p - LANES + system::PIVOTS];
#pragma unroll
    for (int column = 0; column < LANES; ++column)
      if (column <= q) to[(q * (q + 1) / 2 + column) * system::E] = x[system::N + 1 + column];
  }
  /// K^e and F^e from those of the halves; zero in lanes without an element.
  /// @param[in] scale  [n][E]  @param[in] of_warps  their scratch
  static __device__ __forceinline__ void write(const args &a, int32_t first, const double *scale,
                                               const double *of_warps)
  {
    for (int t = threadIdx.x; t < RESULTS * E; t += blockDim.x) {
      const int e = t % E, entry = t / E;
      const int p = (int)(0.5f * (sqrtf(8.0f * entry + 1.0f) - 1.0f)), q = entry - p * (p + 1) / 2;
      const int r = p + TRACE, s = q + TRACE;  // of the facets opposite
      const bool exists = first + e < a.cells.n_elements, apart = q < m && p >= m;
      const double *const found =
          of_warps + e / system::E * SCRATCH + entry * system::E + e % system::E;
      const double of_even = found[FACTORS], of_odd = found[OWN];
      const double even = exists ? of_even : 0.0, odd = exists ? (apart ? -of_odd : of_odd) : 0.0;
      const double *const by = scale + e;
      if (p == TRACE) {
        double *const f = a.condensed + kg_cell_at(first + e, n, 0);
        f[q * KG_LANES] = PER_ROOT_2 * by[q * E] * (even + odd);
        f[s * KG_LANES] = PER_ROOT_2 * by[s * E] * (even - odd);
        continue;
      }
      const double same = 0.5 * (even + odd), other = 0.5 * (even - odd);
      double *const k = a.local + kg_cell_at(first + e, PACKED, 0);
      k[entry * KG_LANES] = by[p * E] * by[q * E] * same;
      k[(r * (r + 1) / 2 + s) * KG_LANES] = by[r * E] * by[s * E] * same;
      k[(r * (r + 1) / 2 + q) * KG_LANES] = by[r * E] * by[q * E] * other;
      if (q < p) k[(s * (s + 1) / 2 + p) * KG_LANES] = by[s * E] * by[p * E] * other;
    }
  }
  /// What K^e in the unknowns of the halves is to be multiplied by: roots and signs of facets.
  static __device__ __forceinline__ void put_scale(const args &a, int32_t first, double *s_scale)
  {
    const double *const root = a.cells.tables.halves.root;
    for (int t = threadIdx.x; t < n * E; t += blockDim.x) {
      const int unknown = t / E, k = unknown % m;
      const bool positive = unknown % TRACE < m && k % 2 == 1;
      s_scale[t] = kg_cell_sign(&a.cells, first + t % E, unknown) * (positive ? root[k] : -root[k]);
    }
  }
  static __device__ __forceinline__ void run(const args &a, int pieces, double2 *memory)
  {
    double *const places = (double *)memory, *const constants = places + PLACES;
    double *const of_warps = places + SHARED, *const scale = of_warps + WARPS * SCRATCH;
    double *const factors = of_warps + threadIdx.x / 32 * SCRATCH;
    system::stage_places((uint16_t *)places);
    system::stage_constants(a.cells.tables.halves.root, constants);
    __syncthreads();
    const warp w((uint16_t *)places, constants, factors + OWN, (double2 *)factors);
#pragma unroll 1
    for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
      const int32_t first = piece * E, e = first + threadIdx.x / 32 * system::E + w.e;
      w.put_constants(kg_parallelogram_of(&a.cells, &a.material, e));
      w.put_right([&](kg_half_mode mode) {  // nobody has written a load without an element
        const bool exists = e < a.cells.n_elements;
        return exists ? a.load[kg_cell_at(e, N, kg_half_mode_number(mode))] : 0.0;
      });
      put_scale(a, first, scale);
#pragma unroll 1
      for (int half = 0; half < KG_HALVES; ++half) {
        double *const results = factors + (half == 0 ? FACTORS : OWN) + w.e;
        double entries[system::ENTRIES], row[system::BEHIND];
        __syncwarp();
        w.put_values(half);
        __syncwarp();
        w.build_rows(half, entries);
        factor_rows<system>(w, entries);
        w.build_row(half, row);
        __syncwarp();
        put_results(entries, w.q, results);
        w.reduce_row(row);
        put_row(row, w.q, results);
      }
      __syncthreads();
      write(a, first, scale, of_warps);
      __syncthreads();
    }
  }
};

}  // namespace kg
