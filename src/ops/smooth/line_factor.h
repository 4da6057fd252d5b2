/// @file
/// The trace operator along lines of edges (space/edge_lines.h), factored: what multigrid smooths
/// with on stretched elements (precondition/smoother.h).
///
/// Along a line of edges 0, 1, ... the blocks of A are tridiagonal: A_s of edge s itself, the sum
/// of parts of the K^e of its elements, and C_s, which couples it with the edge before, of the K^e
/// of the element between them. Then
///
///     D_0 = A_0,   L_s = C_s D_{s-1}^-1,   D_s = A_s - L_s C_s^T
///
/// and the matrix of the line is L D L^T. With W_s^T W_s = D_s^-1, where W_s is lower triangular,
/// and G_s = C_s W_{s-1}^T that is
///
///     L_s = G_s W_{s-1},   D_s = A_s - G_s G_s^T
///
/// which is symmetric as it is computed. W_s takes the place of that of A_s among the factors of
/// the edges (ops/smooth/edge_blocks.h). L_s, [row][column], has rows of the step and columns of
/// the one before; there is none where a line begins (kg_line_factor_at()). Both are kept in single
/// precision in any system, as the factors of the edges: L^-T W^T W L^-1 stays symmetric positive
/// definite whatever they are rounded to.
#pragma once
#include "ops/smooth/edge_blocks.h"
#include "ops/numbering/trace_arrays.h"
KEDGE_BEGIN_DECLS

/// The lines of space/edge_lines.h in device memory.
typedef struct kg_line_steps {
  int32_t n_lines, n_steps;
  int32_t *begin;  ///< [line + 1]
  int32_t *edge;   ///< [step]
} kg_line_steps;

typedef struct kg_line_factor_args {
  kg_batch batch;
  kg_locals locals;
  kg_line_steps lines;
  kg_number number;  ///< of what works with the factors
  float *inverse;    ///< W of kg_edge_blocks(); those of the edges of lines are replaced
  float *factor;     ///< [step but the first of each line][m][m]
  int32_t *fault;    ///< work, one word: the first edge without an inverse
} kg_line_factor_args;

/// Waits for the device.
/// @retval KEDGE_ERR_NUMERIC  a D_s is not positive definite in double precision, or too large or
///         small for `number` or factors in float; the sentence says where
KG_DECLARE_OPERATOR(kg_line_factor, kg_line_factor_args);
/// @param[in] local  number of K^e
kg_cost kg_line_factor_cost(int m, int32_t n_steps, kg_number local);
/// Numbers of `factor`.
static inline size_t kg_line_factor_count(int m, int32_t n_lines, int32_t n_steps)
{
  return (size_t)(n_steps - n_lines) * (size_t)m * (size_t)m;
}

/// The place of L of a step, which is not the first of its line.
KG_INLINE int64_t kg_line_factor_at(int m, int32_t line, int32_t step)
{
  return (int64_t)(step - line - 1) * m * m;
}

/// The sides of the element between an edge of a line (0) and the next one (1), from those of both
/// edges, of which the second may be KG_NO_SIDE. Two edges have three vertices, and so one element.
KG_INLINE void kg_line_sides(const kg_side from[2], const kg_side to[2], kg_side side[2])
{
  const bool first = kg_is_one_element(from[0], to[0]) || kg_is_one_element(from[0], to[1]);
  side[0] = from[first ? 0 : 1];
  side[1] = kg_is_one_element(side[0], to[0]) ? to[0] : to[1];
}

KEDGE_END_DECLS
