// local_matrices_tiles.cuh: what the tensor kernel of the local matrices
// (local_matrices_tensor.cuh) keeps of an element and how it builds the tiles of -[Z^-1; f^T; R^T]
// from it and from the reference matrices (basis/local_tiles.h).
#pragma once
#include "device/cuda_rt.h"
#include "ops/local/triangle/local_matrices.h"
#include "ops/local/triangle/tiles.cuh"

namespace kg
{

enum { TEAM_WARPS = 4, TEAM_THREADS = 32 * TEAM_WARPS };
enum { TILE_STRIDE = 33 };  ///< pairs from tile to tile where a thread has one: different banks

/// Factors on which the matrices of an element depend. Tiles are built negative, and so are the
/// factors.
struct tile_element {
  double2 stiffness;  ///< of stiffness 0 and 2, for modes of the same parity
  double2 edge;       ///< of edge mass 0 and 1
  double2 different;  ///< of stiffness 2 and edge mass 1, for modes of different parity
  double mass, tau[3], lift_r[3], lift_s[3];
  double trace[6];
  uint32_t reversed;  ///< bit l: side l

  __device__ void set(const kg_element &g, const uint32_t *side_edge, int lane)
  {
    stiffness = make_double2(-g.stiffness[0] - g.stiffness[1], -g.stiffness[2]);
    edge = make_double2(-g.tau[0], -g.tau[1] - g.tau[2]);
    different = make_double2(-g.stiffness[2] - 2.0 * g.stiffness[1], g.tau[2] - g.tau[1]);
    mass = -g.mass;
    reversed = 0;
    for (int l = 0; l < 3; ++l) {
      tau[l] = -g.tau[l];
      lift_r[l] = -g.lift_r[l];
      lift_s[l] = -g.lift_s[l];
      reversed |= (side_edge[l * KG_LANES + lane] & 1u) << l;
    }
    for (int k = 0; k < 6; ++k) trace[k] = g.trace[k];
  }
};

/// Order P: E elements a warp, at most TEAMS teams a block, one block a multiprocessor.
template <int P_, bool REDUCED_, int E_, int TEAMS_, bool STAGED_, bool BY_THREADS_, bool AHEAD_>
struct tensor_shape {
  using unstaged = tensor_shape<P_, REDUCED_, E_, TEAMS_, false, BY_THREADS_, AHEAD_>;
  static constexpr bool REDUCED = REDUCED_;  ///< K^e are made reduced: without mode 0 of the edges
  static constexpr int P = P_, E = E_, TEAMS = TEAMS_;
  static constexpr bool BY_THREADS = BY_THREADS_;  ///< invert tiles
  static constexpr bool STAGED = STAGED_;          ///< the reference matrices are in shared memory
  /// Vertices come to shared memory a group ahead; results are written while the next are made.
  static constexpr bool AHEAD = AHEAD_;
  static constexpr int N = (P + 1) * (P + 2) / 2, m = P + 1, n = 3 * m;
  static constexpr int UNKNOWNS = REDUCED ? n - 3 : n;  ///< rows of R^T
  static constexpr int FLUXES = REDUCED ? KG_REDUCED_FLUX : 0,
                       PRODUCTS = UNKNOWNS * (UNKNOWNS + 1) / 2;
  static constexpr int RESULTS = FLUXES + PRODUCTS;  ///< rows of K^e
  // basis/local_tiles.h has words for these:
  static constexpr int NT = (N + 7) / 8, PIVOTS = N - 8 * (NT - 1);
  static constexpr int FIRST = m / 2 * (m / 2 + 1);  ///< modes of the parity that comes first
  static constexpr int BORDER = UNKNOWNS % 8 <= 7 - PIVOTS ? UNKNOWNS % 8 : 0;
  static constexpr int MAIN = UNKNOWNS - BORDER;
  /// The last column of tiles of W has its pivots in half of its columns, those of x of the lanes:
  /// a product takes one instruction there rather than two.
  static constexpr bool HALF = PIVOTS <= 4 && BORDER == 0;
  static constexpr int RT = (MAIN + 7) / 8, ROWS = NT + RT;
  static constexpr int BORDER_ROW = BORDER > 0 ? NT - 1 : NT;  ///< the first tile row of R^T
  static constexpr int TRACE_TILES = RT + (BORDER > 0), TRACE_ROWS = 8 * TRACE_TILES;
  static constexpr int LIFT = 4 * NT * (NT + 1) / 2, TRACE = LIFT + 3 * NT * RT;  ///< first tiles
  static constexpr int TILES = TRACE + TRACE_TILES * TRACE_TILES;
  static constexpr int ELEMENTS = E * TEAM_WARPS;  ///< of a team at a time
  /// Doubles from element to element of the results: lanes of different elements, different banks.
  static constexpr int STRIDE = (RESULTS + n + 15) / 16 * 16 + 16 / ELEMENTS;

  /// Factors of the reference matrices by modes of the trace, in tiles. Odd modes of a reversed
  /// side have changed their sign, which makes six kinds of modes: 2 (local edge) + (odd mode).
  struct trace_factors {
    double2 trace[6][TRACE_ROWS / 2];  ///< of F^T F in S0, by kind of the row
    double lift[3][TRACE_ROWS];        ///< of F, Dr F, Ds F
  };
  struct team_memory {
    // Vertices and sides of the group, [corner or side][lane]; after its first passes those of the
    // next group.
    double2 corner[AHEAD ? 3 * KG_LANES : 1];
    int32_t vertex[AHEAD ? 3 * KG_LANES : 1];
    uint32_t side_edge[AHEAD ? 3 * KG_LANES : 1];
    tile_element element[KG_LANES];
    trace_factors factors[ELEMENTS];
    double2 tile[BY_THREADS ? ELEMENTS : 1][TILE_STRIDE];  ///< on the diagonal, to be inverted
    double load[2][8 * NT][ELEMENTS];                      ///< of these elements and the next
    /// Rows of K^e, then F^e: of the rows of R^T and, behind them, what is not among those.
    double out[AHEAD ? 2 : 1][ELEMENTS][STRIDE];
  };
  /// Tiles of packed K^e, which are in front of those of reduced ones.
  static constexpr int BEFORE =
      REDUCED ? tensor_shape<P, false, E, TEAMS, STAGED, BY_THREADS, AHEAD>::TILES : 0;
  static constexpr size_t STAGED_BYTES = STAGED ? 512 * TILES : 0;

  /// Mode of the trace that row i of R^T belongs to.
  static __device__ __forceinline__ int unknown(int i)
  {
    return REDUCED ? kg_reduced_unknown(m, i) : i;
  }
  /// Row of R^T in row k of the border; F^e counts as the row behind the last.
  static __device__ __forceinline__ int border_row(int k)
  {
    return k == PIVOTS ? UNKNOWNS : MAIN + k - PIVOTS - 1;
  }
  /// Kind of the mode in row k of the tiles of the trace; any where there is none.
  static __device__ __forceinline__ int kind(int k)
  {
    const int mode = unknown(BORDER > 0 && k >= 8 * RT ? border_row(k - 8 * RT) : k);
    const int l = mode >= 2 * m ? 2 : mode >= m ? 1 : 0;
    return 2 * l + ((mode - l * m) & 1);
  }
  /// The place of mode 0, 1 or 2.
  static __host__ __device__ constexpr int place_of(int mode)
  {
    const int even = P % 2 == 1 ? 0 : FIRST, odd = P % 2 == 1 ? FIRST : 0;
    return mode == 2 ? odd : even + mode;
  }
  /// Whether all modes of tile row i are of the parity `second`.
  static __host__ __device__ constexpr bool pure(int i, bool second)
  {
    return second ? 8 * i >= FIRST : 8 * i + 8 <= FIRST;
  }
};

/// A warp and its elements.
template <class shape>
struct tile_warp {
  const double2 *tiles;     ///< reference matrices
  const double (*mean)[3];  ///< [side][mode]: of the functions p_l of reduced K^e
  const tile_element *element;
  const typename shape::trace_factors *factors;
  const double *load;  ///< [mode][element of the team]
  double2 (*tile)[TILE_STRIDE];
  double (*out)[shape::STRIDE];
  int warp;            ///< of the team
  int lane, row, col;  ///< of a tile: the lane has (row, col) and (row, col + 1)
  int zero;            ///< 0, which the compiler does not know
  unsigned kinds;      ///< kind of the lane's row in tile row I of the trace: digit I of four bits

  __device__ __forceinline__ double2 reference(int at) const
  {
    return tiles[32 * at + lane];
  }
};

__device__ __forceinline__ void add_scaled(double2 &sum, double factor, double2 a)
{
  sum.x = fma(factor, a.x, sum.x);
  sum.y = fma(factor, a.y, sum.y);
}

__device__ __forceinline__ double2 scaled(double factor, double2 a)
{
  return make_double2(factor * a.x, factor * a.y);
}

/// Tile (i, j) of -[Z^-1; f^T; border].
template <class shape>
__device__ __forceinline__ void build_operator(const tile_warp<shape> &w, int i, int j,
                                               double2 (&c)[shape::E])
{
  const int at = 4 * (i * (i + 1) / 2 + j);
  const bool last = i == shape::NT - 1, border = shape::BORDER > 0 && last;
  const bool same =
      shape::pure(i, false) ? shape::pure(j, false) : shape::pure(i, true) && shape::pure(j, true);
  const bool different = shape::pure(i, true) && shape::pure(j, false) && !border;
  const bool lane_differs = (8 * i + w.row >= shape::FIRST) != (8 * j + w.col >= shape::FIRST);
  const double2 r1 = w.reference(at + 1), r3 = w.reference(at + 3);
  double2 r0, r2;
  if (!different) r0 = w.reference(at), r2 = w.reference(at + 2);
#pragma unroll
  for (int e = 0; e < shape::E; ++e) {
    const tile_element &g = w.element[e];
    if (different) {
      c[e] = scaled(g.different.x, r1);
      add_scaled(c[e], g.different.y, r3);
    } else {
      double2 stiffness = g.stiffness, edge = g.edge;
      if (!same && lane_differs) {
        stiffness.y = g.different.x;
        edge.y = g.different.y;
      }
      if (border && w.row > shape::PIVOTS) {
        const auto &lift = w.factors[e].lift;
        stiffness = make_double2(lift[0][8 * shape::RT + w.row], lift[1][8 * shape::RT + w.row]);
        edge = make_double2(lift[2][8 * shape::RT + w.row], 0.0);
      }
      c[e] = scaled(stiffness.x, r0);
      add_scaled(c[e], stiffness.y, r1);
      add_scaled(c[e], edge.x, r2);
      add_scaled(c[e], edge.y, r3);
    }
    if (i == j && (!last || w.row < shape::PIVOTS)) {
      if (w.row == w.col) c[e].x += g.mass;
      if (w.row == w.col + 1) c[e].y += g.mass;
    }
    if (last && w.row == shape::PIVOTS) {
      const double *load = w.load + (8 * j + w.col) * shape::ELEMENTS + e;
      c[e] = make_double2(load[0], load[shape::ELEMENTS]);
    }
  }
}

/// Tile (I, j) of -R^T.
template <class shape>
__device__ __forceinline__ void build_lift(const tile_warp<shape> &w, int I, int j,
                                           double2 (&c)[shape::E])
{
  const int at = shape::LIFT + 3 * (I * shape::NT + j);
  const double2 r[3] = {w.reference(at), w.reference(at + 1), w.reference(at + 2)};
#pragma unroll
  for (int e = 0; e < shape::E; ++e) {
    const auto &lift = w.factors[e].lift;
    c[e] = scaled(lift[0][8 * I + w.row], r[0]);
    add_scaled(c[e], lift[1][8 * I + w.row], r[1]);
    add_scaled(c[e], lift[2][8 * I + w.row], r[2]);
  }
}

template <class shape>
__device__ __forceinline__ void build(const tile_warp<shape> &w, int i, int j,
                                      double2 (&c)[shape::E])
{
  if (i < shape::NT)
    build_operator<shape>(w, i, j, c);
  else
    build_lift<shape>(w, i - shape::NT, j, c);
}

/// Factors of an element by modes of the trace, by one warp.
template <class shape>
__device__ __forceinline__ void set_factors(typename shape::trace_factors &f, const tile_element &g,
                                            int lane)
{
  for (int k = lane; k < shape::TRACE_ROWS; k += 32) {
    const int kind = shape::kind(k), l = kind / 2;
    const bool flip = g.reversed >> l & (unsigned)kind & 1u;
    const double sign = flip ? -1.0 : 1.0;
    f.lift[0][k] = sign * g.tau[l];
    f.lift[1][k] = sign * g.lift_r[l];
    f.lift[2][k] = sign * g.lift_s[l];
#pragma unroll
    for (int h = 0; h < 3; ++h) {
      const int high = h > l ? h : l, low = h > l ? l : h;
      const double value = sign * g.trace[high * (high + 1) / 2 + low];
      ((double *)f.trace[2 * h])[k] = value;
      ((double *)f.trace[2 * h + 1])[k] = g.reversed >> h & 1u ? -value : value;
    }
  }
}

/// Position k of the tiles has this mode (basis/local_tiles.h).
template <int P>
__device__ __forceinline__ int mode_at(int k)
{
  int at = 0;
#pragma unroll 1
  for (int parity = 1; parity >= 0; --parity)
#pragma unroll 1
    for (int degree = 0, mode = 0; degree <= P; ++degree)
#pragma unroll 1
      for (int i = 0; i <= degree; ++i, ++mode)
        if ((P + i) % 2 == parity && at++ == k) return mode;
  return 0;
}

}  // namespace kg
