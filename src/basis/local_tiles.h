/// @file
/// Reference matrices of the local matrices, cut into tiles (basis/tiles.h).
///
/// The matrix of an element is [Z^-1; f^T; R^T], N + 1 + n rows of N columns, and only Z^-1 is
/// eliminated. N is no multiple of 8: behind the last modes stand f^T and, if that saves a row of
/// tiles, the last rows of R^T, the *border*. The other rows of R^T have tiles of their own.
///
/// Modes come in an order of their own, so that most tiles have modes of one parity along the base
/// in their rows and of one in their columns (docs/math.md#local-solve): first those of the parity
/// that the mode of degree P along the base has not, which are even in number.
///
/// R^T has all n unknowns of the trace, or those of reduced K^e alone, in their order
/// (ops/local/reduced.h).
#pragma once
#include "basis/tiles.h"
KEDGE_BEGIN_DECLS

/// How an element of N modes and n trace modes is cut.
typedef struct kg_cut {
  int N, n;
  int rows;                                                     ///< of R^T
  int unknown[3 * (KEDGE_ORDER_MAX + 1)];                       ///< of a row of R^T: the trace mode
  int mode[(KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 2) / 2];  ///< of a row of Z^-1
  int modes;                                                    ///< tile rows of Z^-1
  int border;  ///< rows rows-border.. of R^T stand in rows N+1.. of the last of them
  int traces;  ///< tile rows of the others
} kg_cut;

kg_cut kg_cut_of(int order, bool reduced);

/// Lower triangles of symmetric N x N matrices, packed: out [tile (I, J), J <= I, at I
/// (I+1) / 2 + J] [matrix][64]. Tiles on the diagonal are whole. In rows of the border, matrix q
/// has what lift[q] [N][n] has in its columns.
enum { KG_OPERATOR_TILES = 4, KG_LIFT_TILES = 3 };
size_t kg_cut_operator_count(const kg_cut *cut);
void kg_cut_operator(const kg_cut *cut, const double *const matrix[KG_OPERATOR_TILES],
                     const double *const lift[KG_LIFT_TILES], double *out);

/// Transposes of lift[q] [N][n] without the border: out [I < traces][J < modes][q][64].
size_t kg_cut_lift_count(const kg_cut *cut);
void kg_cut_lift(const kg_cut *cut, const double *const lift[KG_LIFT_TILES], double *out);

/// A whole symmetric n x n matrix, packed: out [I][J][64]; the border, where there is one, is tile
/// row and column `traces` and has the places in them that it has behind the modes.
size_t kg_cut_trace_count(const kg_cut *cut);
void kg_cut_trace(const kg_cut *cut, const double *matrix, double *out);

KEDGE_END_DECLS
