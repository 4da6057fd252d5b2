/// @file
/// Lines of edges across stretched elements.
///
/// An element has three pairs of sides. The pair that encloses the smallest angle is coupled much
/// more strongly than the others where that angle is small: the long sides of a thin triangle.
/// An element has one such pair at most, an edge two elements. So edges that are pairs make lines:
///
///      .-------.-------.
///      |   ___/|   ___/      an edge of the line, its element, the next edge ...
///      |__/    |__/          from one long side to the next, across the direction of the
///      .-------.-------.     stretching; edges of no pair are in no line
///
/// Blocks of the trace operator along a line are tridiagonal, and multigrid solves with them
/// exactly (ops/smooth/line_sweep.h). Edges without unknowns are in no line. A line that closes is
/// cut.
#pragma once
#include "space/trace_layout.h"
KEDGE_BEGIN_DECLS

/// Lines in host memory, one behind the other; a *step* is an edge of a line. Lines are in the
/// order of the mesh's edges at their ends, then those that close; the same on every machine.
typedef struct kg_edge_lines {
  int32_t n_lines, n_steps;
  int32_t *begin;    ///< [line + 1]: its first step; a line has two steps at least
  int32_t *edge;     ///< [step]: trace edge
  double alignment;  ///< of the elements without a pair (mesh/mesh.h)
} kg_edge_lines;

/// A pair encloses less than this angle.
#define KG_LINE_COTANGENT 1.7320508075688772  ///< of 30 degrees

kedge_status kg_edge_lines_create(kedge_context *ctx, const kedge_mesh *mesh,
                                  const kg_trace_layout *layout, kg_edge_lines *out);
void kg_edge_lines_free(kg_edge_lines *lines);
/// The bytes that a kg_edge_lines takes for its arrays.
int64_t kg_edge_lines_bytes(int32_t n_lines, int32_t n_steps);

KEDGE_END_DECLS
