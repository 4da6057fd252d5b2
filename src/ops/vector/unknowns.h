/// @file
/// Rows of the trace, as products read them, from the unknowns of a caller, who has his own order
/// and direction of edges (solver/unknowns.h); and back.
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_unknowns_args {
  int64_t n_edges;
  int m;                     ///< modes of an edge
  bool gives;                ///< unknowns from rows; else rows from unknowns
  const uint32_t *unknown;   ///< [edge of the caller]: trace edge << 1 | it has the other direction
  double factor;             ///< of what is given
  const double *diagonal;    ///< [row]: another factor of what is given; NULL: 1
  const double *from;        ///< [edge][m] of the one side
  const float *from_single;  ///< rows are here, of what is given; NULL: in `from`
  double *to;                ///< of the other one
} kg_unknowns_args;

KG_DECLARE_OPERATOR(kg_unknowns_move, kg_unknowns_args);

/// Odd modes of an edge that the caller directs the other way have the other sign.
KG_INLINE double kg_unknown_sign(uint32_t unknown, int mode)
{
  return unknown & 1 && mode & 1 ? -1.0 : 1.0;
}

/// Move mode i of edge k.
KG_INLINE void kg_unknown_move(const kg_unknowns_args *a, int64_t k, int i)
{
  const uint32_t here = a->unknown[k];
  const int64_t row = (int64_t)(here >> 1) * a->m + i, unknown = k * a->m + i;
  const double factor = kg_unknown_sign(here, i) * a->factor;
  if (a->gives)
    a->to[unknown] = factor * (a->diagonal ? a->diagonal[row] : 1.0) *
                     (a->from_single ? a->from_single[row] : a->from[row]);
  else
    a->to[row] = factor * a->from[unknown];
}

KEDGE_END_DECLS
