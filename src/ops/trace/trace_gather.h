/// @file
/// The trace operator from full local matrices (ops/local/full.h), gathered edge by edge: the
/// product of operator = matrix-free-plain, and that of K^e that are not symmetric.
///
/// The m rows of a free edge are those of its one or two elements, lower element first: each is a
/// product of the element's rows with the values of its three edges. Nothing is written but y, and
/// K^e is read once; x comes from the caches, where neighbours have left it.
#pragma once
#include "ops/local/local.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_trace_gather_args {
  kg_batch batch;
  kg_local local;   ///< FULL, in double precision, of all lanes of `batch`
  const double *x;  ///< [trace edge][mode]; Dirichlet rows are read too
  double *y;        ///< [free trace edge][mode]
  kg_pass pass;     ///< a sum has kg_trace_gather_partials() parts; no row is left open
} kg_trace_gather_args;

enum { KG_GATHER_ROWS = 256 };  ///< rows a sum is taken over, about

static inline int64_t kg_trace_gather_partials(int m, const kg_trace_counts *count)
{
  const int64_t rows = (int64_t)count->n_free * m;
  return rows == 0 ? 1 : (rows + KG_GATHER_ROWS - 1) / KG_GATHER_ROWS;
}

/// y = A x.
KG_DECLARE_OPERATOR(kg_trace_gather, kg_trace_gather_args);
/// The floor of one application: the rows of free edges, which are all of K^e but the rows of
/// Dirichlet edges, the edges' sides and the elements' edges once, x and y once.
kg_cost kg_trace_gather_cost(int m, const kg_trace_counts *count);

KEDGE_END_DECLS
