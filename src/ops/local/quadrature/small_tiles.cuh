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

/// A lower triangle of negative tiles in registers. Rows of a column go by pairs: with ODD those of
/// an odd column begin at the diagonal if none is left alone then, else they are those of the
/// tables.
template <int STRIPS, bool ODD = false>
struct small_matrix {
  double2 t[STRIPS][STRIPS];

  __device__ __forceinline__ void clear()
  {
#pragma unroll
    for (int i = 0; i < STRIPS; ++i)
#pragma unroll
      for (int j = 0; j <= i; ++j) t[i][j] = make_double2(0.0, 0.0);
  }
  /// The first row of the pairs of column j.
  static __device__ __forceinline__ constexpr int first_pair(int j)
  {
    return ODD && (STRIPS - j) % 2 == 0 ? j : j + j % 2;
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
        const int first = first_pair(j);
        if (first > j) tile_multiply(t[j][j], down[j / 2].strip(j), right);
#pragma unroll
        for (int i = first; i < USED; i += 2)
          if (i + 1 < USED)
            tile_multiply(t[i][j], t[i + 1][j], down[i / 2].strip(i),
                          down[(i + 1) / 2].strip(i + 1), right);
          else
            tile_multiply(t[i][j], down[i / 2].strip(i), right);
      }
    }
  }
  /// Column j += the products of strips w with strip j, from row j on.
  template <int USED>
  __device__ __forceinline__ void add_products(int j, const double2 (&w)[USED])
  {
    const int first = first_pair(j);
    if (first > j) tile_multiply(t[j][j], w[j], w[j]);
#pragma unroll
    for (int i = first; i < USED; i += 2)
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
  /// Column j of the Cholesky factor from -L_jj^-1 and what is left of the columns behind it: from
  /// row j + 1 on, where both stay in this column; or from row j on, where what is left of it does.
  __device__ __forceinline__ void take_column(int j, int from, double2 inverse)
  {
    double2 w[STRIPS] = {};
    if (from % 2 && from < STRIPS) tile_multiply(w[from], t[from][j], inverse);
#pragma unroll
    for (int i = (from + 1) / 2 * 2; i < STRIPS; i += 2)
      if (i + 1 < STRIPS)
        tile_multiply(w[i], w[i + 1], t[i][j], t[i + 1][j], inverse);
      else
        tile_multiply(w[i], t[i][j], inverse);
#pragma unroll
    for (int i = from; i < STRIPS; ++i) {
      if (from > j) t[i][j] = w[i];
      add_products<STRIPS>(i, w);
    }
    if (from > j) t[j][j] = inverse;
  }
  /// The first n columns, of PIVOTS strips, become those of the Cholesky factor, with -L^-1 on the
  /// diagonal. With PART, others share the last strip, where what is left of them stays.
  template <int PIVOTS, int n, bool PART>
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
      const bool part = PART && j + 1 == PIVOTS && LAST < 8;
      if (part && threadIdx.x % 32 / 4 >= LAST) inverse[0] = make_double2(0.0, 0.0);
      take_column(j, part ? j : j + 1, inverse[0]);
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

/// The sums of the first USED strips of `gradient`: modes of u, and of the trace behind them; with
/// EXACT, of the flux in its place, also of `row`, if ROW is set.
template <class Shape, int USED, bool EXACT, bool ROW, int STRIPS, bool ODD>
__device__ __forceinline__ void add_small_sums(const kg_cell_tables *t,
                                               const kg_cell_material &material,
                                               const cell_weights &w, const cell_matrix &flux,
                                               const double *row, const gradient_sum &gradient,
                                               small_matrix<STRIPS, ODD> &a)
{
  constexpr int MODES = Shape::MODES;
  a.clear();
  if (EXACT)
    a.template add_flux<USED, ROW>(&t->tiles, flux, row);
  else
    a.template add<USED>(gradient);
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

/// The rows and columns of a local matrix: the first of the trace is FIRST, behind which is that of
/// -f.
template <class Shape, bool EXACT>
struct small_rows {
  static constexpr bool JOINT = !EXACT && Shape::JOINT;
  static constexpr int FIRST = JOINT ? Shape::N : 8 * Shape::MODES;
  static constexpr int USED = (FIRST + Shape::n + 7) / 8;  ///< strips that have sums
  static constexpr int STRIPS = (FIRST + Shape::n) / 8 + 1;
  typedef small_matrix<STRIPS, JOINT> matrix;
};

/// The negative matrix from its sums: in the rows of the trace -t_l lift in the columns of u, t_l
/// on the diagonal; then -f.
template <class Shape, int FIRST, int STRIPS, bool ODD>
__device__ __forceinline__ void put_small(const kg_cell_make_args &args, int32_t e,
                                          const double *tau_of_mode, small_matrix<STRIPS, ODD> &a)
{
  constexpr int N = Shape::N, n = Shape::n;
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < STRIPS; ++i) {
    const int p = 8 * i + row - FIRST;
    const bool of_trace = FIRST < 8 * i + 8 && p >= 0 && p < n;
    const double tau = of_trace ? tau_of_mode[p] : 0.0;
    const double *const lift = args.cells.tables.lift + (of_trace ? p * N : 0);
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      const int k = 8 * j + col;
      double2 out = i == j && i < Shape::MODES && FIRST > N ? negative_padded(a.t[i][j], 8 * i, N)
                                                            : negative(a.t[i][j]);
      if (8 * j < N && of_trace) {
        if (k < N) out.x = fma(tau, __ldg(lift + k), out.x);
        if (k + 1 < N) out.y = fma(tau, __ldg(lift + k + 1), out.y);
      }
      if (8 * j < N && i + 1 == STRIPS && p == n) {
        if (k < N) out.x = args.load[kg_cell_at(e, N, k)];
        if (k + 1 < N) out.y = args.load[kg_cell_at(e, N, k + 1)];
      }
      if (i == j && col == row) out.x -= tau;
      if (i == j && col + 1 == row) out.y -= tau;
      a.t[i][j] = out;
    }
  }
}

/// Write K^e and F^e from what is left.
template <class Shape, int FIRST, int STRIPS, bool ODD>
__device__ __forceinline__ void write_small(const kg_cell_make_args &args, int32_t e,
                                            const double *sign, const small_matrix<STRIPS, ODD> &a)
{
  constexpr int n = Shape::n;
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
  double *const local = args.local + kg_cell_at(e, Shape::PACKED, 0);
  double *const condensed = args.condensed + kg_cell_at(e, n, 0);
#pragma unroll
  for (int i = FIRST / 8; i < STRIPS; ++i) {
    const int p = 8 * i + row - FIRST;
    const bool of_trace = p >= 0 && p < n;
    const double of_row = of_trace ? -sign[p] : 1.0;
    double *const to = of_trace ? local + p * (p + 1) / 2 * KG_LANES : condensed;
    const int end = of_trace ? p + 1 : p == n ? n : 0;  // of the columns
#pragma unroll
    for (int j = FIRST / 8; j <= i; ++j) {
      const double2 left = a.t[i][j];
      const int q = 8 * j + col - FIRST;
      if (q >= 0 && q < end) to[q * KG_LANES] = of_row * sign[q] * left.x;
      if (q + 1 >= 0 && q + 1 < end) to[(q + 1) * KG_LANES] = of_row * sign[q + 1] * left.y;
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
  typedef small_rows<Shape, EXACT> rows;
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
    const gradient_sum gradient = {rows::JOINT ? t->tiles.joint : t->tiles.gradient, rows::USED,
                                   Shape::POINTS, w.geometry.flux_matrix};
    typename rows::matrix matrix;
    add_small_sums<Shape, rows::USED, EXACT, false>(t, a.material, w, flux, nullptr, gradient,
                                                    matrix);
    put_small<Shape, rows::FIRST>(a, e, w.tau, matrix);
    matrix.template eliminate<Shape::MODES, Shape::N, rows::JOINT>();
    write_small<Shape, rows::FIRST>(a, e, sign, matrix);
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
    const gradient_sum gradient = {t->tiles.gradient, MODES + Shape::TRACES, Shape::POINTS,
                                   w.geometry.flux_matrix};
    add_small_sums<Shape, MODES, EXACT, EXACT>(t, a.material, w, flux, own.gradient, gradient,
                                               matrix);
    matrix.template negate<MODES>(Shape::N);
    matrix.put_row(x);
    matrix.template eliminate<MODES, Shape::N, false>();
    matrix.substitute_back(x);
    own.write(a, e, flux, lambda, x, team);
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
    kg_cell_take_fluxes(&a, e, team, s);
    const kg_cell_material material = kg_cell_star_material(&a.material);
    const kg_cell_geometry geometry =
        kg_cell_geometry_make(&cells, &material, e, team, x + 8 * STAR);
    weighted_flux(z, a, t, s, geometry.flux_matrix, team, values);
    KG_TEAM_EACH(team, i, 0, 8 * STAR) x[i] = star_load(z, t, values, i);
    __syncwarp();
    small_matrix<STAR + 1> matrix;
    matrix.clear();
    matrix.template add<STAR>(
        gradient_sum{t->tiles.star_gradient, STAR, POINTS, geometry.flux_matrix});
    matrix.template negate<STAR>(Shape::N_STAR - 1);
    matrix.put_row(x);
    matrix.template eliminate<STAR, Shape::N_STAR - 1, false>();
    matrix.substitute_back(x);
    write_star(z, a, e, geometry, u, x, values);
  }
};

}  // namespace kg
