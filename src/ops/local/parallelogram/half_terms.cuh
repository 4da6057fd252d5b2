// half_terms.cuh: the matrix of a half as tiles in registers: a sum of five terms, or of three for
// u*, which basis/halves.h has as tiles. Those that are zero are not read.
#pragma once
#include "basis/halves.h"
#include "ops/local/quadrature/small_tiles.cuh"

namespace kg
{

/// The unknowns of a half: n modes, the first `even` of which have even j, then the trace.
struct half_rows {
  int n, even, m;
};

/// What a strip has: 1 and 2 modes with even and odd j, 4 and 8 the trace of facets 0 and 1.
template <int MODES>
__device__ __forceinline__ int kinds_of(half_rows rows, int strip)
{
  const int begin = strip < MODES ? 8 * strip : 8 * (strip - MODES), end = begin + 8;
  if (strip >= MODES) return (begin < rows.m ? 4 : 0) | (end > rows.m ? 8 : 0);
  return (begin < rows.even ? 1 : 0) | (end > rows.even && begin < rows.n ? 2 : 0);
}

/// Bits of the terms that two kinds of unknowns have together: in G_rr, G_ss, t_0 and t_1 modes
/// meet those whose j is even or odd like theirs, in G_rs the others.
__device__ __forceinline__ int terms_between(int a, int b)
{
  const bool trace = (b & 12) != 0, modes = (b & 3) != 0;
  int terms = 0;
  if (a & b & 3) terms |= 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4;
  if ((a & 1 && b & 2) || (a & 2 && b & 1)) terms |= 1 << 1;
  if (modes && a & 4) terms |= 1 << 1 | 1 << 2 | 1 << 3;
  if (modes && a & 8) terms |= 1 << 0 | 1 << 1 | 1 << 4;
  if (a & b & 4) terms |= 1 << 2 | 1 << 3;
  if (a & b & 8) terms |= 1 << 0 | 1 << 4;
  if (trace && ((a & 4 && b & 8) || (a & 8 && b & 4))) terms |= 1 << 1;
  return terms;
}

/// Tile (i, j): minus the sum of terms that are not zero, on the diagonal with `mass` in the modes
/// and one in the rows behind them.
template <int MODES, int TERMS>
__device__ __forceinline__ double2 tile_of_terms(const double *table, int i, int j,
                                                 const double *term, double mass, half_rows rows)
{
  const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
  const int terms = terms_between(kinds_of<MODES>(rows, i), kinds_of<MODES>(rows, j));
  const double2 *const from = (const double2 *)table + (i * (i + 1) / 2 + j) * TERMS * TILE_LANES;
  double2 sum = make_double2(0.0, 0.0);
#pragma unroll
  for (int k = 0; k < TERMS; ++k) {
    if (!(terms >> k & 1)) continue;
    const double2 entry = __ldg(from + k * TILE_LANES + lane);
    sum = make_double2(fma(-term[k], entry.x, sum.x), fma(-term[k], entry.y, sum.y));
  }
  if (i != j || i >= MODES) return sum;
  const double on_diagonal = 8 * i + row < rows.n ? mass : 1.0;
  if (col == row) sum.x -= on_diagonal;
  if (col + 1 == row) sum.y -= on_diagonal;
  return sum;
}

/// The rows and columns of the first USED strips. The compiler knows `rows`, and leaves out terms.
template <int USED, int MODES, int TERMS, int STRIPS>
__device__ __forceinline__ void put_terms(const double *table, const double *term, double mass,
                                          half_rows rows, small_matrix<STRIPS> &a)
{
#pragma unroll
  for (int i = 0; i < USED; ++i)
#pragma unroll
    for (int j = 0; j <= i; ++j)
      a.t[i][j] = tile_of_terms<MODES, TERMS>(table, i, j, term, mass, rows);
}

}  // namespace kg
