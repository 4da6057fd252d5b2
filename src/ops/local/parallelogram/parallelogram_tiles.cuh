// parallelogram_tiles.cuh: a warp an element on the tensor cores, whose halves stay in registers:
// both at a time where there are registers, so that the warp inverts the tiles on their diagonals
// together, else one after the other.
#pragma once
#include "ops/local/parallelogram/half_terms.cuh"
#include "ops/local/parallelogram/parallelogram.h"

namespace kg
{

/// Matrices of which a warp has registers for two.
__host__ __device__ constexpr int halves_at_a_time(int strips)
{
  return strips * (strips + 1) / 2 <= 15 ? 2 : 1;
}

/// Sizes of an order. A half has strips of modes, then of the trace, behind which lies the row of
/// -f; recovery and post-processing have the modes and a row.
template <int P>
struct half_shape {
  static constexpr int m = P + 1, N = m * m, S = 2 * m * (m + 1), n = 4 * m;
  static constexpr int PACKED = n * (n + 1) / 2, TRACE = 2 * m, N_STAR = (m + 1) * (m + 1);
  static constexpr int N_HALF = (N + 1) / 2, STAR_HALF = N_STAR / 2;
  static constexpr int MODES = (N_HALF + 7) / 8, TRACES = (TRACE + 7) / 8;
  static constexpr int STAR = (STAR_HALF + 7) / 8, BEHIND = TRACE / 8 + 1;
};

/// The first n unknowns of E matrices become columns of the Cholesky factor, as
/// small_matrix::eliminate() has them.
template <int PIVOTS, int n, int STRIPS, int E>
__device__ __forceinline__ void eliminate_halves(small_matrix<STRIPS> (&a)[E])
{
  constexpr int LAST = n - 8 * (PIVOTS - 1);
#pragma unroll
  for (int j = 0; j < PIVOTS; ++j) {
    double2 inverse[E];
#pragma unroll
    for (int e = 0; e < E; ++e) inverse[e] = a[e].t[j][j];
    if (j + 1 < PIVOTS)
      invert_factors<8, E>(inverse);
    else
      invert_factors<LAST, E>(inverse);
#pragma unroll
    for (int e = 0; e < E; ++e) a[e].take_column(j, inverse[e]);
  }
}

/// Behind the pivots of a half are K^e of the half and, in the row behind it, F^e: negative.
template <class Z>
struct half_results {
  double2 t[Z::BEHIND][Z::BEHIND];

  template <int STRIPS>
  __device__ __forceinline__ void take(const small_matrix<STRIPS> &a)
  {
#pragma unroll
    for (int i = 0; i < Z::BEHIND; ++i)
#pragma unroll
      for (int j = 0; j <= i; ++j) t[i][j] = a.t[Z::MODES + i][Z::MODES + j];
  }
};

constexpr double PER_ROOT_2 = 0.70710678118654752440;

/// An entry of K^e or F^e of both halves: unknowns p and q are those of facets 0 and 1.
template <class Z>
__device__ __forceinline__ void write_entry(const kg_cell_make_args &args, int32_t e,
                                            const double *sign, int p, int q, double even,
                                            double odd)
{
  double *const local = args.local + kg_cell_at(e, Z::PACKED, 0);
  double *const condensed = args.condensed + kg_cell_at(e, Z::n, 0);
  const int r = p + Z::TRACE, s = q + Z::TRACE;  // of the facets opposite
  if (p < Z::TRACE && q <= p) {
    const double same = -0.5 * (even + odd), other = -0.5 * (even - odd);
    local[(p * (p + 1) / 2 + q) * KG_LANES] = sign[p] * sign[q] * same;
    local[(r * (r + 1) / 2 + s) * KG_LANES] = sign[r] * sign[s] * same;
    local[(r * (r + 1) / 2 + q) * KG_LANES] = sign[r] * sign[q] * other;
    if (q < p) local[(s * (s + 1) / 2 + p) * KG_LANES] = sign[s] * sign[p] * other;
  } else if (p == Z::TRACE && q < Z::TRACE) {
    condensed[q * KG_LANES] = PER_ROOT_2 * sign[q] * (even + odd);
    condensed[s * KG_LANES] = PER_ROOT_2 * sign[s] * (even - odd);
  }
}

template <class Z>
__device__ __forceinline__ void write_results(const kg_cell_make_args &args, int32_t e,
                                              const double *sign, const half_results<Z> &even,
                                              const half_results<Z> &odd)
{
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Z::BEHIND; ++i)
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      const double2 a = even.t[i][j], b = odd.t[i][j];
      write_entry<Z>(args, e, sign, 8 * i + row, 8 * j + col, a.x, b.x);
      write_entry<Z>(args, e, sign, 8 * i + row, 8 * j + col + 1, a.y, b.y);
    }
}

/// The matrix of a half with the row of -f.
template <class Z, int STRIPS>
__device__ __forceinline__ void put_half(const kg_cell_make_args &args, int32_t e,
                                         const kg_parallelogram &c, int half,
                                         small_matrix<STRIPS> &a)
{
  constexpr int LOAD = Z::MODES + Z::TRACE / 8;
  const int lane = threadIdx.x % 32, col = lane % 4 * 2, n = kg_half_modes(Z::m, half);
  const half_rows rows = {n, kg_half_even_modes(Z::m, half), Z::m};
  put_terms<Z::MODES + Z::TRACES, Z::MODES, KG_HALF_TERMS>(args.cells.tables.halves.tiles[half],
                                                           c.term, c.mass, rows, a);
  if (Z::TRACE % 8 == 0)
#pragma unroll
    for (int j = 0; j <= LOAD; ++j) a.t[LOAD][j] = make_double2(0.0, 0.0);
  if (lane / 4 != Z::TRACE % 8) return;
#pragma unroll
  for (int j = 0; j < Z::MODES; ++j) {
    double f[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int b = 8 * j + col + k;
      f[k] = 0.0;
      if (b < n)
        f[k] = args.load[kg_cell_at(e, Z::N, kg_half_mode_number(kg_half_mode_at(Z::m, half, b)))];
    }
    a.t[LOAD][j] = make_double2(f[0], f[1]);
  }
}

template <int P>
struct parallelogram_make {
  typedef kg_cell_make_args args;
  typedef half_shape<P> Z;
  static constexpr const char *name = "parallelogram_make";
  static constexpr int STRIPS = Z::MODES + Z::BEHIND, E = halves_at_a_time(STRIPS);

  static int count(const kg_cell_tables *)
  {
    return Z::n;
  }
  /// One half after the other. In a loop over both the compiler would leave the matrix in memory.
  static __device__ __forceinline__ void make_half(const args &a, int32_t e,
                                                   const kg_parallelogram &c, int half,
                                                   half_results<Z> &results)
  {
    small_matrix<STRIPS> matrix;
    put_half<Z>(a, e, c, half, matrix);
    matrix.template eliminate<Z::MODES, Z::N_HALF>();
    results.take(matrix);
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    if (e >= a.cells.n_elements) {
      KG_TEAM_EACH(team, i, 0, Z::PACKED) a.local[kg_cell_at(e, Z::PACKED, i)] = 0.0;
      KG_TEAM_EACH(team, i, 0, Z::n) a.condensed[kg_cell_at(e, Z::n, i)] = 0.0;
      return;
    }
    double *const sign = team.scratch;
    KG_TEAM_EACH(team, i, 0, Z::n) sign[i] = kg_cell_sign(&a.cells, e, i);
    const kg_parallelogram c = kg_parallelogram_of(&a.cells, &a.material, e);
    half_results<Z> results[2];
    if constexpr (E == 2) {
      small_matrix<STRIPS> both[2];
      put_half<Z>(a, e, c, 0, both[0]);
      put_half<Z>(a, e, c, 1, both[1]);
      eliminate_halves<Z::MODES, Z::N_HALF>(both);
      results[0].take(both[0]);
      results[1].take(both[1]);
    } else {
      make_half(a, e, c, 0, results[0]);
      make_half(a, e, c, 1, results[1]);
    }
    __syncwarp();
    write_results(a, e, sign, results[0], results[1]);
  }
};

/// The system of a half for the right hand side x [8 STRIPS], which the warp may read.
template <int STRIPS, int TERMS>
__device__ __forceinline__ void put_system(const double *table, const double *term, double mass,
                                           half_rows rows, const double *x,
                                           small_matrix<STRIPS + 1> &a)
{
  put_terms<STRIPS, STRIPS, TERMS>(table, term, mass, rows, a);
#pragma unroll
  for (int j = 0; j < STRIPS; ++j) a.t[STRIPS][j] = tile_of_row(x, j);
  a.t[STRIPS][STRIPS] = make_double2(0.0, 0.0);
}

/// Solve the systems of both halves, of rows[half].n unknowns, N_HALF at most, for right hand sides
/// x [half][8 STRIPS], which the warp may read before and afterwards.
template <int STRIPS, int N_HALF, int TERMS>
__device__ __forceinline__ void solve_halves(const double *const *tables, const double *term,
                                             double mass, const half_rows (&rows)[2], double *x)
{
  double *const odd = x + 8 * STRIPS;
  if constexpr (halves_at_a_time(STRIPS + 1) == 2) {
    small_matrix<STRIPS + 1> a[2];
    put_system<STRIPS, TERMS>(tables[0], term, mass, rows[0], x, a[0]);
    put_system<STRIPS, TERMS>(tables[1], term, mass, rows[1], odd, a[1]);
    eliminate_halves<STRIPS, N_HALF>(a);
    a[0].substitute_back(x);
    a[1].substitute_back(odd);
  } else {
    small_matrix<STRIPS + 1> even, a;
    put_system<STRIPS, TERMS>(tables[0], term, mass, rows[0], x, even);
    even.template eliminate<STRIPS, N_HALF>();
    even.substitute_back(x);
    put_system<STRIPS, TERMS>(tables[1], term, mass, rows[1], odd, a);
    a.template eliminate<STRIPS, N_HALF>();
    a.substitute_back(odd);
  }
}

/// The constants G and t of an element in scratch, where indices may vary; the warp may read them
/// after __syncwarp().
__device__ __forceinline__ void put_constants(const kg_parallelogram &c, double *term)
{
  if (threadIdx.x % 32 != 0) return;
#pragma unroll
  for (int k = 0; k < KG_HALF_TERMS; ++k) term[k] = c.term[k];
}

template <int P>
struct parallelogram_recover {
  typedef kg_cell_recover_args args;
  typedef half_shape<P> Z;
  static constexpr const char *name = "parallelogram_recover";
  static constexpr int STRIPS = Z::MODES + 1;

  static int count(const kg_cell_tables *)
  {
    return KG_HALF_TERMS + 2 * Z::TRACE + Z::N + 2 * Z::S + 16 * Z::MODES;
  }
  /// The trace by halves.
  static __device__ __forceinline__ void take_trace(const args &a, int32_t e, kg_team team,
                                                    double *lambda)
  {
    KG_TEAM_EACH(team, c, 0, Z::TRACE)
    {
      double value[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int unknown = c + k * Z::TRACE;
        const uint32_t side = a.cells.side_edge[kg_cell_at(e, 4, unknown / Z::m)];
        value[k] =
            kg_cell_sign(&a.cells, e, unknown) * a.trace[(int64_t)(side >> 1) * Z::m + c % Z::m];
      }
      lambda[c] = PER_ROOT_2 * (value[0] + value[1]);
      lambda[Z::TRACE + c] = PER_ROOT_2 * (value[0] - value[1]);
    }
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    constexpr int m = Z::m, N = Z::N, S = Z::S, ROWS = 8 * Z::MODES;
    const kg_halves *halves = &a.cells.tables.halves;
    const double *const root = halves->root;
    double *const term = team.scratch, *const lambda = term + KG_HALF_TERMS;
    double *const u = lambda + 2 * Z::TRACE, *const gradient = u + N;
    double *const flux = gradient + S, *const x = flux + S;
    const kg_parallelogram c = kg_parallelogram_of(&a.cells, &a.material, e);
    put_constants(c, term);
    take_trace(a, e, team, lambda);
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, S) gradient[k] = kg_half_weak(root, m, k, lambda, nullptr);
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, S) flux[k] = kg_half_flux(term, m, k, gradient);
    __syncwarp();
    KG_TEAM_EACH(team, b, 0, 2 * ROWS)
    {
      const int half = b / ROWS, own = b % ROWS;
      const kg_half_mode mode = kg_half_mode_at(m, half, own);
      double sum = 0.0;
      if (own < kg_half_modes(m, half))
        sum = a.load[kg_cell_at(e, N, kg_half_mode_number(mode))] +
              kg_half_lift(root, term, m, mode, lambda, flux);
      x[b] = sum;
    }
    __syncwarp();
    const half_rows rows[2] = {{kg_half_modes(m, 0), kg_half_even_modes(m, 0), m},
                               {kg_half_modes(m, 1), kg_half_even_modes(m, 1), m}};
    solve_halves<Z::MODES, Z::N_HALF, KG_HALF_TERMS>(halves->tiles, c.term, c.mass, rows, x);
    KG_TEAM_EACH(team, b, 0, 2 * ROWS)
    {
      const int half = b / ROWS, own = b % ROWS;
      if (own >= kg_half_modes(m, half)) continue;
      const int number = kg_half_mode_number(kg_half_mode_at(m, half, own));
      u[number] = x[b];
      a.u[kg_cell_at(e, N, number)] = x[b];
    }
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, S) gradient[k] = kg_half_weak(root, m, k, lambda, u);
    __syncwarp();
    KG_TEAM_EACH(team, k, 0, S)
    {
      a.flux[kg_cell_at(e, S, k)] = kg_half_flux(term, m, k, gradient);
    }
  }
};

template <int P>
struct parallelogram_postprocess {
  typedef kg_cell_postprocess_args args;
  typedef half_shape<P> Z;
  static constexpr const char *name = "parallelogram_postprocess";
  static constexpr int STRIPS = Z::STAR + 1;

  static int count(const kg_cell_tables *)
  {
    return Z::S + 16 * Z::STAR;
  }
  static __device__ __forceinline__ void element(const args &a, int32_t e, kg_team team)
  {
    constexpr int m = Z::m, N = Z::N, S = Z::S, ROWS = 8 * Z::STAR;
    const kg_halves *halves = &a.cells.tables.halves;
    double *const s = team.scratch, *const x = s + S;
    const kg_parallelogram c = kg_parallelogram_of(&a.cells, &a.material, e);
    KG_TEAM_EACH(team, k, 0, S) s[k] = a.flux[kg_cell_at(e, S, k)];
    __syncwarp();
    KG_TEAM_EACH(team, b, 0, 2 * ROWS)
    {
      const int half = b / ROWS, own = b % ROWS + 1 - half;  // without the constant
      double sum = 0.0;
      if (own < kg_half_modes(m + 1, half))
        sum = kg_half_star_load(halves->root, m, kg_half_mode_at(m + 1, half, own), s);
      x[b] = sum;
    }
    __syncwarp();
    // Without the constant, whose j is even.
    const half_rows rows[2] = {{kg_half_modes(m + 1, 0) - 1, kg_half_even_modes(m + 1, 0) - 1, m},
                               {kg_half_modes(m + 1, 1), kg_half_even_modes(m + 1, 1), m}};
    solve_halves<Z::STAR, Z::STAR_HALF, KG_HALF_STAR_TERMS>(halves->star_tiles, c.term, 0.0, rows,
                                                            x);
    double square = 0.0;
    KG_TEAM_EACH(team, b, 0, 2 * ROWS)
    {
      const int half = b / ROWS, own = b % ROWS + 1 - half;
      if (own >= kg_half_modes(m + 1, half)) continue;
      const kg_half_mode mode = kg_half_mode_at(m + 1, half, own);
      const int number = kg_half_mode_number(mode);
      double d = x[b];
      a.u_star[kg_cell_at(e, Z::N_STAR, number)] = d;
      if (mode.i < m && mode.j < m) d -= a.u[kg_cell_at(e, N, number)];
      square += d * d;
    }
    square = kg_team_sum(square);
    if (team.thread != 0) return;
    a.u_star[kg_cell_at(e, Z::N_STAR, 0)] = a.u[kg_cell_at(e, N, 0)];
    a.indicator[kg_cell_at(e, 1, 0)] = sqrt(c.jacobian * square);
  }
};

}  // namespace kg
