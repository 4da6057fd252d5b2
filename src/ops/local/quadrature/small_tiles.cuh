// small_tiles.cuh: the same as make_tiles.cuh, recover_tiles.cuh and postprocess_tiles.cuh for
// shapes and orders known to the compiler whose matrix stays in the registers of one warp: a result
// of the tensor cores is an operand as it is, so that nothing but vectors goes through shared
// memory, and with material.exact the tiles of flux_inverse.cuh.
#pragma once
#include "ops/local/quadrature/cell_sums.cuh"
#include "ops/local/quadrature/make_tiles.cuh"
#include "ops/local/quadrature/recover_tiles.cuh"

namespace kg
{

/// A lower triangle of negative tiles in registers.
template <int STRIPS>
struct small_matrix {
  double2 t[STRIPS][STRIPS];

  __device__ __forceinline__ void clear()
  {
#pragma unroll
    for (int i = 0; i < STRIPS; ++i)
#pragma unroll
      for (int j = 0; j <= i; ++j) t[i][j] = make_double2(0.0, 0.0);
  }
  /// += the sum over all steps of a table of `strips` strips, of which the first USED are rows.
  template <int USED, class Sum>
  __device__ __forceinline__ void add(const Sum &sum)
  {
    constexpr int PAIRS = (USED + 1) / 2;
    const int stride = (sum.strips + 1) / 2 * 2 * TILE_LANES;
    const double2 *from = (const double2 *)sum.table + threadIdx.x % 32;
#pragma unroll 1
    for (int step = 0; step < sum.steps(); ++step, from += stride) {
      strip_pair down[PAIRS];
#pragma unroll
      for (int i = 0; i < PAIRS; ++i) down[i] = load_pair(from + i * 2 * TILE_LANES);
      const auto w = sum.weights(step);
#pragma unroll
      for (int j = 0; j < USED; ++j) {
        const double2 right = Sum::times(w, down[j / 2].strip(j));
        if (j % 2) tile_multiply(t[j][j], down[j / 2].strip(j), right);
#pragma unroll
        for (int i = (j + 1) / 2 * 2; i < USED; i += 2)
          if (i + 1 < USED)
            pair_multiply(t[i][j], t[i + 1][j], down[i / 2], right);
          else
            tile_multiply(t[i][j], down[i / 2].strip(i), right);
      }
    }
  }
  /// Column j += the products of strips w with strip j, from row j on.
  template <int USED>
  __device__ __forceinline__ void add_products(int j, const double2 (&w)[USED])
  {
    if (j % 2) tile_multiply(t[j][j], w[j], w[j]);
#pragma unroll
    for (int i = (j + 1) / 2 * 2; i < USED; i += 2)
      if (i + 1 < USED)
        tile_multiply(t[i][j], t[i + 1][j], w[i], w[i + 1], w[j]);
      else
        tile_multiply(t[i][j], w[i], w[j]);
  }
  /// += what the flux gives to the first USED strips, and if ROW is set to `row` behind them.
  template <int USED, bool ROW>
  __device__ __forceinline__ void add_flux(const kg_cell_tiles *tiles, const cell_matrix &y,
                                           const double *row)
  {
#pragma unroll 1
    for (int k = 0; k < tiles->flux; ++k) {
      double2 w[USED + ROW] = {};
#pragma unroll 1
      for (int j = 0; j <= k; ++j) {
        const double2 right = y.at(k, j);
#pragma unroll
        for (int i = 0; i < USED; i += 2) {
          const strip_pair down = load_weak(tiles, i / 2, j);
          if (i + 1 < USED)
            pair_multiply(w[i], w[i + 1], down, right);
          else
            tile_multiply(w[i], down.strip(0), right);
        }
        if (ROW) tile_multiply(w[USED], tile_of_row(row, j), right);
      }
#pragma unroll
      for (int j = 0; j < USED + ROW; ++j) add_products<USED + ROW>(j, w);
    }
  }
  /// The matrix of which the sums are t, negative; rows and columns from n on have ones.
  template <int USED>
  __device__ __forceinline__ void negate(int n)
  {
#pragma unroll
    for (int i = 0; i < USED; ++i)
#pragma unroll
      for (int j = 0; j <= i; ++j)
        t[i][j] = i == j ? negative_padded(t[i][j], 8 * i, n) : negative(t[i][j]);
  }
  /// Column j of the Cholesky factor from -L_jj^-1, which stays on the diagonal, and what is left
  /// of the columns behind it.
  __device__ __forceinline__ void take_column(int j, double2 inverse)
  {
    double2 w[STRIPS] = {};
    t[j][j] = inverse;
    if (j % 2 == 0 && j + 1 < STRIPS) tile_multiply(w[j + 1], t[j + 1][j], inverse);
#pragma unroll
    for (int i = (j + 2) / 2 * 2; i < STRIPS; i += 2)
      if (i + 1 < STRIPS)
        tile_multiply(w[i], w[i + 1], t[i][j], t[i + 1][j], inverse);
      else
        tile_multiply(w[i], t[i][j], inverse);
#pragma unroll
    for (int i = j + 1; i < STRIPS; ++i) {
      t[i][j] = w[i];
      add_products<STRIPS>(i, w);
    }
  }
  /// The first n columns, of PIVOTS strips, become those of the Cholesky factor, with -L^-1 on the
  /// diagonal.
  template <int PIVOTS, int n>
  __device__ __forceinline__ void eliminate()
  {
    constexpr int LAST = n - 8 * (PIVOTS - 1);
#pragma unroll
    for (int j = 0; j < PIVOTS; ++j) {
      double2 inverse[1] = {t[j][j]};
      if (j + 1 < PIVOTS)
        invert_factors<8, 1>(inverse);
      else
        invert_factors<LAST, 1>(inverse);
      take_column(j, inverse[0]);
    }
  }
  /// The right hand side in row 0 of the last strip, less the sums that are there.
  __device__ __forceinline__ void put_row(const double *row)
  {
#pragma unroll
    for (int j = 0; j < STRIPS - 1; ++j) {
      const double2 right = tile_of_row(row, j), sum = t[STRIPS - 1][j];
      t[STRIPS - 1][j] = make_double2(right.x - sum.x, right.y - sum.y);
    }
  }
  /// The unknowns to x, which the warp may read afterwards.
  __device__ __forceinline__ void substitute_back(double *x) const
  {
    const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
    double of_row[STRIPS];
#pragma unroll
    for (int j = STRIPS - 2; j >= 0; --j) {
      double2 sum = row == 0 ? negative(t[STRIPS - 1][j]) : make_double2(0.0, 0.0);
#pragma unroll
      for (int i = j + 1; i < STRIPS - 1; ++i) {
        sum.x = fma(-t[i][j].x, of_row[i], sum.x);
        sum.y = fma(-t[i][j].y, of_row[i], sum.y);
      }
      const double v = value_of_row(sum_of_rows(sum), row);
      const double2 out = sum_of_rows(make_double2(-t[j][j].x * v, -t[j][j].y * v));
      of_row[j] = value_of_row(out, row);
      if (row == 0) {
        x[8 * j + col] = out.x;
        x[8 * j + col + 1] = out.y;
      }
    }
    __syncwarp();
  }
};

/// The sums of the first USED strips: modes of u, and of the trace behind them; with EXACT also of
/// `row`, if ROW is set.
template <class Shape, int USED, bool EXACT, bool ROW, int STRIPS>
__device__ __forceinline__ void add_small_sums(const kg_cell_tables *t,
                                               const kg_cell_material &material,
                                               const cell_weights &w, const cell_matrix &flux,
                                               const double *row, small_matrix<STRIPS> &a)
{
  constexpr int MODES = Shape::MODES;
  a.clear();
  if (EXACT)
    a.template add_flux<USED, ROW>(&t->tiles, flux, row);
  else
    a.template add<USED>(gradient_sum{t->tiles.gradient, MODES + Shape::TRACES, Shape::POINTS,
                                      w.geometry.flux_matrix});
  a.template add<MODES>(value_sum{t->tiles.lift_of_modes, MODES, Shape::n, w.tau});
  if (material.reaction != 0.0)
    a.template add<MODES>(value_sum{t->tiles.value, MODES, Shape::POINTS, w.mass});
}

/// Doubles of the tiles of the flux.
template <class Shape, bool EXACT>
__host__ __device__ constexpr int small_flux_count()
{
  return EXACT ? cell_matrix_count(Shape::FLUX) : 0;
}

/// Rows of the trace: -t_l lift in the columns of u, t_l on the diagonal, and -f in row n.
template <class Shape>
__device__ __forceinline__ void put_small_traces(const kg_cell_make_args &args, int32_t e,
                                                 const double *tau_of_mode,
                                                 small_matrix<Shape::STRIPS> &a)
{
  constexpr int MODES = Shape::MODES, N = Shape::N, n = Shape::n;
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
  const double2 *const lifts = (const double2 *)args.cells.tables.tiles.lift_of_traces + lane;
#pragma unroll
  for (int i = 0; i < Shape::STRIPS - MODES; ++i) {
    const int of_trace = 8 * i + row;
    const double tau = of_trace < n ? tau_of_mode[of_trace] : 0.0;
#pragma unroll
    for (int j = 0; j < MODES; ++j) {
      double2 out = negative(a.t[MODES + i][j]);
      if (i < Shape::TRACES) {
        const double2 lift = __ldg(lifts + (i * MODES + j) * TILE_LANES);
        out = make_double2(fma(tau, lift.x, out.x), fma(tau, lift.y, out.y));
      }
      if (8 * i <= n && n < 8 * i + 8 && of_trace == n) {
        const int k = 8 * j + col;
        out.x = k < N ? args.load[kg_cell_at(e, N, k)] : 0.0;
        out.y = k + 1 < N ? args.load[kg_cell_at(e, N, k + 1)] : 0.0;
      }
      a.t[MODES + i][j] = out;
    }
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      double2 &out = a.t[MODES + i][MODES + j];
      out = negative(out);
      if (i != j) continue;
      if (col == row) out.x -= tau;
      if (col + 1 == row) out.y -= tau;
    }
  }
}

/// Write K^e and F^e from what is left.
template <class Shape>
__device__ __forceinline__ void write_small(const kg_cell_make_args &args, int32_t e,
                                            const double *sign,
                                            const small_matrix<Shape::STRIPS> &a)
{
  constexpr int MODES = Shape::MODES, n = Shape::n;
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
  double *const local = args.local + kg_cell_at(e, Shape::PACKED, 0);
  double *const condensed = args.condensed + kg_cell_at(e, n, 0);
#pragma unroll
  for (int i = 0; i < Shape::STRIPS - MODES; ++i) {
    const int p = 8 * i + row;
    const bool is_load = p == n;
    const double of_row = p < n ? -sign[p] : 1.0;
    double *const to = is_load ? condensed : local + p * (p + 1) / 2 * KG_LANES;
    const int end = p < n ? p + 1 : is_load ? n : 0;  // of the columns
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      const double2 left = a.t[MODES + i][MODES + j];
      const int q = 8 * j + col;
      if (q < end) to[q * KG_LANES] = of_row * sign[q] * left.x;
      if (q + 1 < end) to[(q + 1) * KG_LANES] = of_row * sign[q + 1] * left.y;
    }
  }
}

/// Zeros in an empty lane.
template <class Shape>
__device__ __forceinline__ void write_empty(const kg_cell_make_args &args, int32_t e, kg_team team)
{
  KG_TEAM_EACH(team, i, 0, Shape::PACKED) args.local[kg_cell_at(e, Shape::PACKED, i)] = 0.0;
  KG_TEAM_EACH(team, i, 0, Shape::n) args.condensed[kg_cell_at(e, Shape::n, i)] = 0.0;
}

template <class Shape, bool EXACT>
struct small_make {
  typedef kg_cell_make_args args;
  static constexpr const char *name = "cell_make";

  static int count(const kg_cell_tables *t)
  {
    return small_flux_count<Shape, EXACT>() + cell_weights_count(t) + Shape::n;
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    const kg_cells cells = Shape::known(a.cells);
    const kg_cell_tables *t = &cells.tables;
    if (e >= a.cells.n_elements) {
      write_empty<Shape>(a, e, team);
      return;
    }
    const cell_matrix flux = {(double2 *)team.scratch};
    double *const sign = team.scratch + small_flux_count<Shape, EXACT>();
    KG_TEAM_EACH(team, i, 0, Shape::n) sign[i] = kg_cell_sign(&cells, e, i);
    const cell_weights w = put_weights(cells, a.material, EXACT, e, team, sign + Shape::n);
    if (EXACT) put_flux_inverse<4>(t, w.geometry.flux_matrix, flux, team);
    small_matrix<Shape::STRIPS> matrix;
    add_small_sums<Shape, Shape::MODES + Shape::TRACES, EXACT, false>(t, a.material, w, flux,
                                                                      nullptr, matrix);
    matrix.template negate<Shape::MODES>(Shape::N);
    put_small_traces<Shape>(a, e, w.tau, matrix);
    matrix.template eliminate<Shape::MODES, Shape::N>();
    write_small<Shape>(a, e, sign, matrix);
  }
};

template <class Shape, bool EXACT>
struct small_recover {
  typedef kg_cell_recover_args args;
  static constexpr const char *name = "cell_recover";

  static int count(const kg_cell_tables *t)
  {
    return small_flux_count<Shape, EXACT>() + cell_weights_count(t) + Shape::n +
           recover_flux<Shape>::count(t, EXACT) + 8 * Shape::MODES;
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    constexpr Shape z = {};
    constexpr int MODES = Shape::MODES;
    const kg_cells cells = Shape::known(a.cells);
    const kg_cell_tables *t = &cells.tables;
    const cell_matrix flux = {(double2 *)team.scratch};
    double *const lambda = team.scratch + small_flux_count<Shape, EXACT>();
    double *const vectors = lambda + Shape::n;
    double *const x = vectors + recover_flux<Shape>::count(t, EXACT);
    take_trace(z, a, e, team, lambda);
    const cell_weights w = put_weights(cells, a.material, EXACT, e, team, x + 8 * MODES);
    const recover_flux<Shape> own(z, t, EXACT, w.geometry.flux_matrix, vectors);
    own.take_trace(lambda, team);
    KG_TEAM_EACH(team, i, 0, 8 * MODES)
    {
      x[i] = right_hand_side(z, a, e, w.tau, lambda, own.of_trace(), i);
    }
    __syncwarp();
    if (EXACT) put_flux_inverse<4>(t, w.geometry.flux_matrix, flux, team);
    small_matrix<MODES + 1> matrix;
    add_small_sums<Shape, MODES, EXACT, EXACT>(t, a.material, w, flux, own.gradient, matrix);
    matrix.template negate<MODES>(Shape::N);
    matrix.put_row(x);
    matrix.template eliminate<MODES, Shape::N>();
    matrix.substitute_back(x);
    own.write(a, e, flux, x, team);
  }
};

template <class Shape>
struct small_postprocess {
  typedef kg_cell_postprocess_args args;
  static constexpr const char *name = "cell_postprocess";

  static int count(const kg_cell_tables *t)
  {
    return kg_cell_geometry_count(t) + 2 * Shape::POINTS + Shape::N + Shape::S + 8 * Shape::STAR;
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    constexpr Shape z = {};
    constexpr int N = Shape::N, S = Shape::S, STAR = Shape::STAR, POINTS = Shape::POINTS;
    const kg_cells cells = Shape::known(a.cells);
    const kg_cell_tables *t = &cells.tables;
    double *const values = team.scratch, *const u = values + 2 * POINTS, *const s = u + N;
    double *const x = s + S;
    KG_TEAM_EACH(team, i, 0, N) u[i] = a.u[kg_cell_at(e, N, i)];
    KG_TEAM_EACH(team, i, 0, S) s[i] = a.flux[kg_cell_at(e, S, i)];
    const kg_cell_geometry geometry =
        kg_cell_geometry_make(&cells, &a.material, e, team, x + 8 * STAR);
    weighted_flux(z, t, s, team, values);
    KG_TEAM_EACH(team, i, 0, 8 * STAR) x[i] = star_load(z, t, values, i);
    __syncwarp();
    small_matrix<STAR + 1> matrix;
    matrix.clear();
    matrix.template add<STAR>(
        gradient_sum{t->tiles.star_gradient, STAR, POINTS, geometry.flux_matrix});
    matrix.template negate<STAR>(Shape::N_STAR - 1);
    matrix.put_row(x);
    matrix.template eliminate<STAR, Shape::N_STAR - 1>();
    matrix.substitute_back(x);
    write_star(z, a, e, geometry, u, x, values);
  }
};

}  // namespace kg
