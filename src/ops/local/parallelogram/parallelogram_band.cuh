// parallelogram_band.cuh: u, flux and u* by a few lanes of a warp for every element, which factor
// the bands of its halves one after the other (half_band.cuh).
#pragma once
#include "ops/local/parallelogram/half_band.cuh"
#include "ops/local/parallelogram/parallelogram_launch.cuh"

namespace kg
{

/// Orders 4 to 8: what took least time on an H100.
constexpr lane_share recover_shares[] = {{4, 4, 4}, {4, 2, 6}, {8, 4, 4}, {8, 2, 6}, {8, 2, 5}};
constexpr lane_share star_shares[] = {{4, 4, 4}, {8, 4, 4}, {8, 4, 4}, {8, 2, 6}, {8, 2, 4}};

/// The elements of all pieces, those of a warp at once. Shared memory has constants of the block;
/// then, of each warp, factors of its elements, values, and what the operator keeps.
template <class Operator>
__device__ __forceinline__ void run_bands(const typename Operator::args &a, int pieces,
                                          double2 *memory)
{
  using band = typename Operator::band;
  double *const constants = (double *)memory;
  double *const factors = constants + band::CONSTANTS + threadIdx.x / 32 * Operator::SCRATCH;
  double *const values = factors + Operator::FACTORS * band::E;
  double *const kept = values + band::VALUES * band::E;
  band::stage_constants(a.cells.tables.halves.root, constants);
  __syncthreads();
  const typename Operator::warp w(constants, factors, values);
  const int32_t last = a.cells.n_elements - 1;
#pragma unroll 1
  for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const int32_t e = piece * Operator::E + threadIdx.x / 32 * band::E + w.e;
    Operator::element(a, e < last ? e : last, e <= last, w, kept + w.e * Operator::KEPT,
                      factors + w.e * Operator::VECTORS);
  }
}

// ---- u and flux ----

template <int P>
struct recover_lanes {
  using args = kg_cell_recover_args;
  static constexpr lane_share SHARE = recover_shares[P - 4];
  static constexpr int WARPS = SHARE.warps, LANES = SHARE.lanes, E = WARPS * 32 / LANES;
  using band = half_band<false, P + 1, LANES>;
  using warp = band_lanes<band>;
  static constexpr int m = P + 1, N = m * m, S = 2 * m * (m + 1), TRACE = 2 * m;
  /// Vectors of an element: G and t, the trace by halves; then, in the place of the factors,
  /// gradient, flux and u.
  static constexpr int KEPT = (KG_HALF_TERMS + 2 * TRACE) | 1, VECTORS = (2 * S + N) | 1;
  static constexpr int FACTORS = band::FACTORS > VECTORS ? band::FACTORS : VECTORS;
  static constexpr int SCRATCH = (FACTORS + band::VALUES + KEPT) * band::E;
  static constexpr size_t BYTES = sizeof(double) * (band::CONSTANTS + WARPS * SCRATCH);

  /// The trace by halves.
  static __device__ __forceinline__ void take_trace(const args &a, int32_t e, kg_team team,
                                                    double *lambda)
  {
    KG_TEAM_EACH(team, c, 0, TRACE)
    {
      double value[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int unknown = c + k * TRACE;
        const uint32_t side = a.cells.side_edge[kg_cell_at(e, 4, unknown / m)];
        value[k] = kg_cell_sign(&a.cells, e, unknown) * a.trace[(int64_t)(side >> 1) * m + c % m];
      }
      lambda[c] = PER_ROOT_2 * (value[0] + value[1]);
      lambda[TRACE + c] = PER_ROOT_2 * (value[0] - value[1]);
    }
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, bool exists,
                                                 const warp &w, double *term, double *gradient)
  {
    const double *const root = a.cells.tables.halves.root;
    const kg_team team = {w.q, nullptr, LANES, 0};
    double *const lambda = term + KG_HALF_TERMS;
    double *const flux = gradient + S, *const u = flux + S;
    const kg_parallelogram c = kg_parallelogram_of(&a.cells, &a.material, e);
    if (w.q == 0)
#pragma unroll
      for (int k = 0; k < KG_HALF_TERMS; ++k) term[k] = c.term[k];
    w.put_constants(c);
    take_trace(a, e, team, lambda);
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, S) gradient[k] = kg_half_weak(root, m, k, lambda, nullptr);
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, S) flux[k] = kg_half_flux(term, m, k, gradient);
    __syncwarp();
    w.put_right([&](kg_half_mode mode) {
      return a.load[kg_cell_at(e, N, kg_half_mode_number(mode))] +
             kg_half_lift(root, term, m, mode, lambda, flux);
    });
    __syncwarp();
    w.solve();
    w.take_unknowns([&](kg_half_mode mode, double x) {
      const int number = kg_half_mode_number(mode);
      u[number] = x;
      if (exists) a.u[kg_cell_at(e, N, number)] = x;
    });
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, S) gradient[k] = kg_half_weak(root, m, k, lambda, u);
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, S)
    {
      if (exists) a.flux[kg_cell_at(e, S, k)] = kg_half_flux(term, m, k, gradient);
    }
    __syncwarp();
  }
  static __device__ __forceinline__ void run(const args &a, int pieces, double2 *memory)
  {
    run_bands<recover_lanes>(a, pieces, memory);
  }
};

// ---- u* ----

template <int P>
struct star_lanes {
  using args = kg_cell_postprocess_args;
  static constexpr lane_share SHARE = star_shares[P - 4];
  static constexpr int WARPS = SHARE.warps, LANES = SHARE.lanes, E = WARPS * 32 / LANES;
  using band = half_band<true, P + 2, LANES>;
  using warp = band_lanes<band>;
  static constexpr int m = P + 1, N = m * m, S = 2 * m * (m + 1), N_STAR = (m + 1) * (m + 1);
  /// The flux is in the place of the factors.
  static constexpr int KEPT = 0, VECTORS = S + 1;
  static constexpr int FACTORS = band::FACTORS > VECTORS ? band::FACTORS : VECTORS;
  static constexpr int SCRATCH = (FACTORS + band::VALUES) * band::E;
  static constexpr size_t BYTES = sizeof(double) * (band::CONSTANTS + WARPS * SCRATCH);

  static __device__ __forceinline__ void element(const args &a, int32_t e, bool exists,
                                                 const warp &w, double *, double *flux)
  {
    const double *const root = a.cells.tables.halves.root;
    const kg_team team = {w.q, nullptr, LANES, 0};
    const kg_parallelogram c = kg_parallelogram_of(&a.cells, &a.material, e);
    w.put_constants(c);
    KG_TEAM_EACH(team, k, 0, S) flux[k] = a.flux[kg_cell_at(e, S, k)];
    __syncwarp();
    w.put_right([&](kg_half_mode mode) { return kg_half_star_load(root, m, mode, flux); });
    __syncwarp();
    w.solve();
    double square = 0.0;
    w.take_unknowns([&](kg_half_mode mode, double x) {
      const int number = kg_half_mode_number(mode);
      const bool in_u = mode.i < m && mode.j < m;
      const double u = in_u ? a.u[kg_cell_at(e, N, number)] : 0.0;
      const double star = number == 0 ? u : x, d = star - u;  // the mean is that of u
      if (exists) a.u_star[kg_cell_at(e, N_STAR, number)] = star;
      square = fma(d, d, square);
    });
    square = w.sum(square);
    if (w.q == 0 && exists) a.indicator[kg_cell_at(e, 1, 0)] = sqrt(c.jacobian * square);
    __syncwarp();
  }
  static __device__ __forceinline__ void run(const args &a, int pieces, double2 *memory)
  {
    run_bands<star_lanes>(a, pieces, memory);
  }
};

}  // namespace kg
