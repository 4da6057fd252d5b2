// small_tiles.cuh: the same as make_tiles.cuh, recover_tiles.cuh and postprocess_tiles.cuh for
// shapes and orders known to the compiler whose matrix stays in the registers of one warp: a result
// of the tensor cores is an operand as it is, so that nothing but vectors goes through shared
// memory. For material.exact there would be too many tiles.
#pragma once
#include "ops/local/quadrature/cell_tiles.cuh"
#include "ops/local/quadrature/cell_vectors.cuh"
#include "ops/local/quadrature/make.h"

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
  /// The first PIVOTS columns become those of the Cholesky factor, with -L^-1 on the diagonal.
  template <int PIVOTS>
  __device__ __forceinline__ void eliminate()
  {
#pragma unroll
    for (int j = 0; j < PIVOTS; ++j) {
      double2 inverse[1] = {t[j][j]};
      invert_factors<8, 1>(inverse);
      t[j][j] = inverse[0];
#pragma unroll
      for (int i = j + 1; i < STRIPS; ++i) {
        double2 w = make_double2(0.0, 0.0);
        tile_multiply(w, t[i][j], inverse[0]);
        t[i][j] = w;
      }
#pragma unroll
      for (int i = j + 1; i < STRIPS; ++i)
#pragma unroll
        for (int k = j + 1; k <= i; ++k) tile_multiply(t[i][k], t[i][j], t[k][j]);
    }
  }
  /// The right hand side in row 0 of the last strip.
  __device__ __forceinline__ void put_row(const double *row)
  {
    const int lane = threadIdx.x % 32, col = lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < STRIPS; ++j)
      t[STRIPS - 1][j] = lane < 4 && j < STRIPS - 1
                             ? make_double2(row[8 * j + col], row[8 * j + col + 1])
                             : make_double2(0.0, 0.0);
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

/// Weights that a matrix needs besides the geometry: t_l by trace mode, weight times c J.
struct small_weights {
  kg_cell_geometry geometry;
  double *tau, *mass;
};

template <class Shape>
__host__ __device__ int small_weights_count(const kg_cell_tables *t)
{
  return kg_cell_geometry_count(t) + 8 * Shape::TRACES + Shape::POINTS;
}

template <class Shape>
__device__ __forceinline__ small_weights put_small_weights(const kg_cells &cells,
                                                           const kg_cell_material &material,
                                                           bool reacts, int32_t e, kg_team team,
                                                           double *scratch)
{
  const kg_cell_tables *t = &cells.tables;
  small_weights out = {kg_cell_geometry_make(&cells, &material, e, team, scratch),
                       scratch + kg_cell_geometry_count(t), nullptr};
  out.mass = out.tau + 8 * Shape::TRACES;
  KG_TEAM_EACH(team, a, 0, 8 * Shape::TRACES)
  {
    out.tau[a] = a < Shape::n ? out.geometry.tau[a / Shape::m] : 0.0;
  }
  if (reacts) KG_TEAM_EACH(team, q, 0, Shape::POINTS)
    {
      out.mass[q] = kg_cell_reaction_at(t, &material, e, q) * out.geometry.jacobian[q];
    }
  __syncwarp();
  return out;
}

/// The sums of the first USED strips: modes of u, and of the trace behind them.
template <class Shape, int USED, int STRIPS>
__device__ __forceinline__ void add_small_sums(const kg_cell_tables *t, const small_weights &w,
                                               bool reacts, small_matrix<STRIPS> &a)
{
  constexpr int MODES = Shape::MODES;
  a.clear();
  a.template add<USED>(gradient_sum{t->tiles.gradient, MODES + Shape::TRACES, Shape::POINTS,
                                    w.geometry.flux_matrix});
  a.template add<MODES>(value_sum{t->tiles.lift_of_modes, MODES, Shape::n, w.tau});
  if (reacts) a.template add<MODES>(value_sum{t->tiles.value, MODES, Shape::POINTS, w.mass});
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

template <class Shape>
struct small_make {
  typedef kg_cell_make_args args;
  static constexpr const char *name = "cell_make";

  static int count(const kg_cell_tables *t)
  {
    return small_weights_count<Shape>(t) + Shape::n;
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    const kg_cell_tables *t = &a.cells.tables;
    if (e >= a.cells.n_elements) {
      write_empty<Shape>(a, e, team);
      return;
    }
    const bool reacts = a.material.values || a.material.reaction != 0.0;
    double *const sign = team.scratch;
    KG_TEAM_EACH(team, i, 0, Shape::n) sign[i] = kg_cell_sign(&a.cells, e, i);
    const small_weights w =
        put_small_weights<Shape>(a.cells, a.material, reacts, e, team, team.scratch + Shape::n);
    small_matrix<Shape::STRIPS> matrix;
    add_small_sums<Shape, Shape::MODES + Shape::TRACES>(t, w, reacts, matrix);
    matrix.template negate<Shape::MODES>(Shape::N);
    put_small_traces<Shape>(a, e, w.tau, matrix);
    matrix.template eliminate<Shape::MODES>();
    write_small<Shape>(a, e, sign, matrix);
  }
};

template <class Shape>
struct small_recover {
  typedef kg_cell_recover_args args;
  static constexpr const char *name = "cell_recover";

  static int count(const kg_cell_tables *t)
  {
    return small_weights_count<Shape>(t) + Shape::n + 4 * Shape::POINTS + 8 * Shape::MODES;
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    constexpr Shape z = {};
    constexpr int N = Shape::N, n = Shape::n, MODES = Shape::MODES;
    const kg_cell_tables *t = &a.cells.tables;
    const bool reacts = a.material.values || a.material.reaction != 0.0;
    double *const lambda = team.scratch, *const gradient = lambda + n;
    double *const flux = gradient + 2 * Shape::POINTS, *const x = flux + 2 * Shape::POINTS;
    take_trace(z, a, e, team, lambda);
    const small_weights w =
        put_small_weights<Shape>(a.cells, a.material, reacts, e, team, x + 8 * MODES);
    const double *const g = w.geometry.flux_matrix;
    flux_of_columns(z, t, g, N, N + n, lambda, false, team, gradient, flux);
    KG_TEAM_EACH(team, i, 0, 8 * MODES) x[i] = right_hand_side(z, a, e, w.tau, lambda, flux, i);
    __syncwarp();
    small_matrix<MODES + 1> matrix;
    add_small_sums<Shape, MODES>(t, w, reacts, matrix);
    matrix.template negate<MODES>(N);
    matrix.put_row(x);
    matrix.template eliminate<MODES>();
    matrix.substitute_back(x);
    KG_TEAM_EACH(team, i, 0, N) a.u[kg_cell_at(e, N, i)] = x[i];
    flux_of_columns(z, t, g, 0, N, x, true, team, gradient, flux);
    KG_TEAM_EACH(team, i, 0, Shape::S)
    {
      a.flux[kg_cell_at(e, Shape::S, i)] = flux_coefficient(z, t, flux, i);
    }
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
    const kg_cell_tables *t = &a.cells.tables;
    double *const values = team.scratch, *const u = values + 2 * POINTS, *const s = u + N;
    double *const x = s + S;
    KG_TEAM_EACH(team, i, 0, N) u[i] = a.u[kg_cell_at(e, N, i)];
    KG_TEAM_EACH(team, i, 0, S) s[i] = a.flux[kg_cell_at(e, S, i)];
    const kg_cell_geometry geometry =
        kg_cell_geometry_make(&a.cells, &a.material, e, team, x + 8 * STAR);
    weighted_flux(z, t, s, team, values);
    KG_TEAM_EACH(team, i, 0, 8 * STAR) x[i] = star_load(z, t, values, i);
    __syncwarp();
    small_matrix<STAR + 1> matrix;
    matrix.clear();
    matrix.template add<STAR>(
        gradient_sum{t->tiles.star_gradient, STAR, POINTS, geometry.flux_matrix});
    matrix.template negate<STAR>(Shape::N_STAR - 1);
    matrix.put_row(x);
    matrix.template eliminate<STAR>();
    matrix.substitute_back(x);
    write_star(z, a, e, geometry, u, x, values);
  }
};

}  // namespace kg
