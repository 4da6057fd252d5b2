/// @file
/// Between a trace of order P and one of a lower order P': modes of an edge are Legendre's, so
/// those of P' are the first m' of the m modes of P, and the trace system of order P restricted to
/// them has the leading parts of its matrices K^e (docs/multigrid.md#a-start-from-a-lower-order).
#pragma once
#include "core/inline.h"
#include "ops/local_reduced.h"
KEDGE_BEGIN_DECLS

typedef struct kg_order_local_args {
  kg_sizes from_size, to_size;  ///< of P and P'
  int32_t n_groups;
  bool reduced;        ///< both are (ops/local_reduced.h): fluxes are those of the same functions
  const double *from;  ///< [group][row][lane]
  double *to;          ///< [group][row][lane]
} kg_order_local_args;

typedef struct kg_order_vector_args {
  int32_t n_edges;
  int m_from, m_to;     ///< modes of an edge
  const double *from;   ///< [edge][m_from]
  const double *minus;  ///< [edge][m_from], or NULL
  double *to;           ///< [edge][m_to]
} kg_order_vector_args;

/// The matrices of the system restricted to P'.
kedge_status kg_order_local(kedge_context *ctx, const kg_order_local_args *args);
/// to = the first m_to modes of from - minus; m_to <= m_from.
kedge_status kg_order_restrict(kedge_context *ctx, const kg_order_vector_args *args);
/// to += from, in the first m_from modes; m_from <= m_to, minus is not used.
kedge_status kg_order_add(kedge_context *ctx, const kg_order_vector_args *args);

kg_cost kg_order_local_cost(kg_sizes to_size, bool reduced, int64_t n_elements);
/// Restriction of a difference, and addition.
kg_cost kg_order_vector_cost(int64_t n_edges, int m);

kedge_status kg_order_local_host(kedge_context *ctx, const kg_order_local_args *args);
kedge_status kg_order_restrict_host(kedge_context *ctx, const kg_order_vector_args *args);
kedge_status kg_order_add_host(kedge_context *ctx, const kg_order_vector_args *args);
kedge_status kg_order_local_cuda(kedge_context *ctx, const kg_order_local_args *args);
kedge_status kg_order_restrict_cuda(kedge_context *ctx, const kg_order_vector_args *args);
kedge_status kg_order_add_cuda(kedge_context *ctx, const kg_order_vector_args *args);

/// Rows of the matrices of an element, and those of them that are fluxes.
static inline int kg_order_rows(const kg_order_local_args *a, kg_sizes size)
{
  return a->reduced ? kg_reduced_rows(size) : size.n_packed;
}
KG_INLINE int kg_order_fluxes(const kg_order_local_args *a)
{
  return a->reduced ? KG_REDUCED_FLUX : 0;
}
/// Unknowns of the triangle behind them.
KG_INLINE int kg_order_unknowns(const kg_order_local_args *a)
{
  return a->to_size.n_trace - (a->reduced ? 3 : 0);
}

/// The unknown of order P that is number i of order P': the same mode of the same edge. Reduced
/// ones begin with mode 1 of the edges.
KG_INLINE int kg_order_unknown(const kg_order_local_args *a, int i)
{
  const int first = a->reduced ? 3 : 0, skipped = a->reduced ? 2 : 0;
  const int from = a->from_size.n_edge - skipped, to = a->to_size.n_edge - skipped;
  return i < first ? i : first + (i - first) / to * from + (i - first) % to;
}

KEDGE_END_DECLS
