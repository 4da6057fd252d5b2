// small_exact.cuh: kg_cell_make() and kg_cell_recover() with material.exact for quadrilaterals of
// low order, by one warp. The flux functions are eliminated first: their tiles, and those W of the
// other rows, lie in shared memory; what the other unknowns have among themselves stays in the
// registers of small_tiles.cuh, where each strip of flux functions adds W W^T.
#pragma once
#include "ops/local/quadrature/make_tiles.cuh"
#include "ops/local/quadrature/recover_tiles.cuh"
#include "ops/local/quadrature/small_tiles.cuh"

namespace kg
{

/// An element with FLUX strips of flux functions, and ROWS of other unknowns behind them.
template <int FLUX, int ROWS>
struct exact_panel {
  cell_matrix flux;
  double2 *rows;  ///< [flux strip][row strip] tiles

  static constexpr int COUNT =
      FLUX * (FLUX + 1) / 2 * KG_TILE_ENTRIES + FLUX * ROWS * KG_TILE_ENTRIES;

  __device__ __forceinline__ explicit exact_panel(double *scratch)
      : flux{(double2 *)scratch}, rows((double2 *)scratch + FLUX * (FLUX + 1) / 2 * TILE_LANES)
  {
  }
  __device__ __forceinline__ double2 &at(int k, int i) const
  {
    return rows[(k * ROWS + i) * TILE_LANES + threadIdx.x % 32];
  }

  /// Column k of the flux functions below its inverted tile.
  __device__ __forceinline__ void divide_flux(int k, double2 inverse) const
  {
#pragma unroll 1
    for (int i = k + 1; i < FLUX; i += 4) {
      const tile_rows<4> four(flux, i, FLUX);
      double2 c[4];
      four.load(k, c);
      four.gather(&flux.at(k, 0), 0, k, c);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        double2 w = make_double2(0.0, 0.0);
        tile_multiply(w, c[r], inverse);
        if (i + r < FLUX) flux.at(i + r, k) = w;
      }
    }
  }
  /// Column k of the other rows, of which t are the tiles before elimination, and its products to
  /// the others.
  __device__ __forceinline__ void divide_rows(int k, double2 inverse, double2 (&t)[ROWS],
                                              small_matrix<ROWS> &matrix) const
  {
#pragma unroll 1
    for (int j = 0; j < k; ++j) {
      const double2 right = flux.at(k, j);
#pragma unroll
      for (int i = 0; i < ROWS; ++i) tile_multiply(t[i], at(j, i), right);
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      double2 w = make_double2(0.0, 0.0);
      tile_multiply(w, t[i], inverse);
      at(k, i) = t[i] = w;
    }
#pragma unroll
    for (int j = 0; j < ROWS; ++j) {
      const double2 right = negative(t[j]);
#pragma unroll
      for (int i = j; i < ROWS; ++i) tile_multiply(matrix.t[i][j], t[i], right);
    }
  }
  /// Eliminate the flux functions. `put(k, t)` gives the other rows of column k.
  template <class Put>
  __device__ __forceinline__ void eliminate(small_matrix<ROWS> &matrix, const Put &put) const
  {
#pragma unroll 1
    for (int k = 0; k < FLUX; ++k) {
      const tile_rows<1> own(flux, k, FLUX);
      double2 inverse[1], t[ROWS];
      own.load(k, inverse);
      own.gather(&flux.at(k, 0), 0, k, inverse);
      invert_factors<8, 1>(inverse);
      flux.at(k, k) = inverse[0];
      divide_flux(k, inverse[0]);
      put(k, t);
      divide_rows(k, inverse[0], t, matrix);
    }
  }
  /// The flux functions of a right hand side in the last of the rows; x [8 FLUX], then the unknowns
  /// of MODES strips, which are known.
  template <int MODES>
  __device__ __forceinline__ void substitute_back(double *x) const
  {
    const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
#pragma unroll 1
    for (int k = FLUX - 1; k >= 0; --k) {
      double2 sum = row == 0 ? at(k, ROWS - 1) : make_double2(0.0, 0.0);
#pragma unroll
      for (int i = 0; i < MODES; ++i) {
        const double2 w = at(k, i);
        const double value = x[8 * (FLUX + i) + row];
        sum = make_double2(fma(w.x, value, sum.x), fma(w.y, value, sum.y));
      }
#pragma unroll 1
      for (int i = k + 1; i < FLUX; ++i) {
        const double2 w = flux.at(i, k);
        const double value = -x[8 * i + row];
        sum = make_double2(fma(w.x, value, sum.x), fma(w.y, value, sum.y));
      }
      const double v = value_of_row(sum_of_rows(sum), row);
      const double2 inverse = flux.at(k, k);
      const double2 out = sum_of_rows(make_double2(-inverse.x * v, -inverse.y * v));
      if (row == 0) {
        x[8 * k + col] = out.x;
        x[8 * k + col + 1] = out.y;
      }
      __syncwarp();
    }
  }
};

/// The tiles of M, and the part of the others that has no flux: of modes of u alone.
template <class Shape, int ROWS>
__device__ __forceinline__ void put_exact(const kg_cells &cells, const kg_cell_material &material,
                                          const cell_weights &w, const cell_matrix &flux,
                                          kg_team team, small_matrix<ROWS> &matrix)
{
  constexpr int MODES = Shape::MODES;
  const kg_cell_tables *t = &cells.tables;
  for_blocks(block_list{Shape::HALF, 2 * Shape::HALF}, team,
             [&](tile_block b) { put_flux_block(t, w, flux, b); });
  matrix.clear();
  matrix.template add<MODES>(value_sum{t->tiles.lift_of_modes, MODES, Shape::n, w.tau});
  if (material.values || material.reaction != 0.0)
    matrix.template add<MODES>(value_sum{t->tiles.value, MODES, Shape::POINTS, w.mass});
  matrix.template negate<MODES>(Shape::N);
}

/// Tile (row, k) of -B^T.
template <class Shape>
__device__ __forceinline__ double2 weak_tile(const kg_cell_tables *t, int row, int k)
{
  return negative(__ldg((const double2 *)t->tiles.weak + threadIdx.x % 32 +
                        (row * 2 * Shape::HALF + k) * TILE_LANES));
}

template <class Shape>
struct small_exact_make {
  typedef kg_cell_make_args args;
  static constexpr const char *name = "cell_make";
  static constexpr int ROWS = Shape::STRIPS;
  typedef exact_panel<2 * Shape::HALF, ROWS> panel_type;

  static int count(const kg_cell_tables *t)
  {
    return panel_type::COUNT + cell_weights_count(t, true) + Shape::n;
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    const kg_cell_tables *t = &a.cells.tables;
    if (e >= a.cells.n_elements) {
      write_empty<Shape>(a, e, team);
      return;
    }
    const panel_type panel(team.scratch);
    double *const sign = team.scratch + panel_type::COUNT;
    KG_TEAM_EACH(team, i, 0, Shape::n) sign[i] = kg_cell_sign(&a.cells, e, i);
    const cell_weights w = put_weights(a.cells, a.material, e, team, sign + Shape::n);
    small_matrix<ROWS> matrix;
    put_exact<Shape>(a.cells, a.material, w, panel.flux, team, matrix);
    put_small_traces<Shape>(a, e, w.tau, matrix);
    panel.eliminate(matrix, [&](int k, double2(&rows)[ROWS]) {
#pragma unroll
      for (int i = 0; i < ROWS; ++i)
        rows[i] =
            i < Shape::MODES + Shape::TRACES ? weak_tile<Shape>(t, i, k) : make_double2(0.0, 0.0);
    });
    matrix.template eliminate<Shape::MODES>();
    write_small<Shape>(a, e, sign, matrix);
  }
};

template <class Shape>
struct small_exact_recover {
  typedef kg_cell_recover_args args;
  static constexpr const char *name = "cell_recover";
  static constexpr int MODES = Shape::MODES, ROWS = MODES + 1, FLUX = 2 * Shape::HALF;
  typedef exact_panel<FLUX, ROWS> panel_type;

  static int count(const kg_cell_tables *t)
  {
    return panel_type::COUNT + cell_weights_count(t, true) + Shape::n + 8 * (FLUX + MODES);
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    constexpr Shape z = {};
    constexpr int N = Shape::N, n = Shape::n, S = Shape::S;
    const kg_cell_tables *t = &a.cells.tables;
    const panel_type panel(team.scratch);
    double *const x = team.scratch + panel_type::COUNT, *const u = x + 8 * FLUX;
    double *const lambda = u + 8 * MODES;
    const cell_weights w = put_weights(a.cells, a.material, e, team, lambda + n);
    take_trace(z, a, e, team, lambda);
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, 8 * FLUX) x[k] = weak_of_trace(t, lambda, k);
    KG_TEAM_EACH(team, i, 0, 8 * MODES) u[i] = right_hand_side(z, a, e, w.tau, lambda, nullptr, i);
    __syncwarp();
    small_matrix<ROWS> matrix;
    put_exact<Shape>(a.cells, a.material, w, panel.flux, team, matrix);
    matrix.put_row(u);
    panel.eliminate(matrix, [&](int k, double2(&rows)[ROWS]) {
      const int lane = threadIdx.x % 32, col = 8 * k + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < MODES; ++i) rows[i] = weak_tile<Shape>(t, i, k);
      rows[MODES] = lane < 4 ? make_double2(x[col], x[col + 1]) : make_double2(0.0, 0.0);
    });
    matrix.template eliminate<MODES>();
    matrix.substitute_back(u);
    panel.template substitute_back<MODES>(x);
    KG_TEAM_EACH(team, i, 0, N) a.u[kg_cell_at(e, N, i)] = u[i];
    KG_TEAM_EACH(team, i, 0, S)
    {
      a.flux[kg_cell_at(e, S, i)] = x[i < S / 2 ? i : 8 * Shape::HALF + i - S / 2];
    }
  }
};

}  // namespace kg
