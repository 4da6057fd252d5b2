/// @file
/// The trace operator from full local matrices, edge by edge, for comparison with the packed one by
/// patches: what symmetry and patches are worth.
///
/// The m rows of a free edge are those of its one or two elements, lower element first: each is a
/// product of the element's rows with the values of its three edges. Nothing is written but y, and
/// K^e is read once; x comes from the caches, where neighbours have left it.
#pragma once
#include "ops/ops.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

/// Full K^e as [element][edge of the rows][column][mode of the row]: what an edge needs of an
/// element is one piece, in which the m rows are neighbours.
size_t kg_trace_plain_count(kg_sizes size, const kg_trace_counts *count);

typedef struct kg_trace_expand_args {
  kg_batch batch;
  const double *local;  ///< [group][n (n+1) / 2][lane]
  double *full;         ///< out: kg_trace_plain_count() doubles
} kg_trace_expand_args;

/// Full matrices from packed ones.
KG_DECLARE_OPERATOR(kg_trace_expand, kg_trace_expand_args);
/// Packed K^e read once, full K^e written once.
kg_cost kg_trace_expand_cost(kg_sizes size, const kg_trace_counts *count);

typedef struct kg_trace_plain_args {
  kg_batch batch;
  const double *full;
  const double *x;  ///< [trace edge][mode]; Dirichlet rows are read too
  double *y;        ///< [free trace edge][mode]
  kg_pass pass;     ///< a sum has kg_trace_plain_partials() parts; no row is left open
} kg_trace_plain_args;

enum { KG_PLAIN_ROWS = 256 };  ///< rows a sum is taken over, about

static inline int64_t kg_trace_plain_partials(kg_sizes size, const kg_trace_counts *count)
{
  const int64_t rows = (int64_t)count->n_free * size.n_edge;
  return rows == 0 ? 1 : (rows + KG_PLAIN_ROWS - 1) / KG_PLAIN_ROWS;
}

/// y = A x.
KG_DECLARE_OPERATOR(kg_trace_plain, kg_trace_plain_args);
/// The floor of one application: the rows of free edges, which are all of K^e but the rows of
/// Dirichlet edges, the edges' sides and the elements' edges once, x and y once.
kg_cost kg_trace_plain_cost(kg_sizes size, const kg_trace_counts *count);

KEDGE_END_DECLS
