/// @file
/// Sparse matrices made row by row: the prolongation of an aggregation, and the product of two
/// sparse matrices.
///
/// A row is a list of its distinct columns in order of first appearance, to which terms are added
/// one by one: the order of all sums is fixed. Rows are made twice: to count, in scratch memory that
/// has room for every term, and in their place.
#pragma once
#include "multigrid/csr.h"
KEDGE_BEGIN_DECLS

typedef enum kg_csr_source { KG_CSR_PROLONGATION, KG_CSR_PRODUCT } kg_csr_source;

/// Prolongation: P = (I - omega D_F^-1 A_F) T, T(i, aggregate[i]) = 1. A_F has the strong
/// connections of A, all of them negative; the weak ones are added to its diagonal, so that it has the
/// row sums of A (but D_F is at least the sum of the strong ones, which matters for negative row sums).
/// A row of P then has no negative entry, and the sum 1 where the row sum of A is 0.
///
/// Product: A B; the first entry of row i is in column i if `square`, also where that is 0.
typedef struct kg_csr_make_args {
  kg_csr_source source;
  kg_csr a, b;
  bool square;
  const int32_t *strong;     ///< [entry of a]: its column; the row for weak ones and the diagonal
  const int32_t *aggregate;  ///< [row]: -1: in none, the row is empty
  double omega;
} kg_csr_make_args;

/// A matrix and the memory it lies in.
typedef struct kg_csr_owned {
  kg_csr csr;
  kg_buffer memory;
} kg_csr_owned;

/// @param[out] out  free with kg_free() of its memory, also after a failure
/// @retval KEDGE_ERR_MEMORY  also where entries cannot be numbered by 32 bits
kedge_status kg_csr_make(kedge_context *ctx, const kg_csr_make_args *args, kg_csr_owned *out);

/// Memory for a matrix, laid out; `column` and `value` are to be written through the casts of this.
typedef struct kg_csr_place {
  int32_t *row, *column;
  double *value;
} kg_csr_place;
kedge_status kg_csr_alloc(kedge_context *ctx, int32_t n_rows, int64_t n_entries, kg_csr_owned *out,
                          kg_csr_place *place);

/// A row in the making.
typedef struct kg_csr_list {
  int32_t n;
  int32_t *column;
  double *value;  ///< NULL: only counted
} kg_csr_list;

KG_INLINE void kg_csr_add(kg_csr_list *list, int32_t column, double value)
{
  for (int32_t k = 0; k < list->n; ++k)
    if (list->column[k] == column) {
      if (list->value) list->value[k] += value;
      return;
    }
  list->column[list->n] = column;
  if (list->value) list->value[list->n] = value;
  ++list->n;
}

/// Terms of a row: no fewer than its entries.
KG_INLINE int32_t kg_csr_terms(const kg_csr_make_args *a, int32_t i)
{
  const int32_t begin = a->a.row[i], end = a->a.row[i + 1];
  if (a->source == KG_CSR_PROLONGATION) return a->aggregate[i] < 0 ? 0 : end - begin;
  int32_t terms = a->square ? 1 : 0;
  for (int32_t e = begin; e < end; ++e) {
    const int32_t k = a->a.column[e];
    terms += a->b.row[k + 1] - a->b.row[k];
  }
  return terms;
}

KG_INLINE void kg_csr_add_product(const kg_csr_make_args *a, int32_t i, kg_csr_list *list)
{
  if (a->square) kg_csr_add(list, i, 0.0);
  for (int32_t e = a->a.row[i]; e < a->a.row[i + 1]; ++e) {
    const double factor = a->a.value[e];
    const int32_t k = a->a.column[e];
    for (int32_t f = a->b.row[k]; f < a->b.row[k + 1]; ++f)
      kg_csr_add(list, a->b.column[f], factor * a->b.value[f]);
  }
}

KG_INLINE void kg_csr_add_prolongation(const kg_csr_make_args *a, int32_t i, kg_csr_list *list)
{
  if (a->aggregate[i] < 0) return;
  const int32_t begin = a->a.row[i], end = a->a.row[i + 1];
  double lumped = a->a.value[begin], strong = 0.0;
  for (int32_t e = begin + 1; e < end; ++e) {
    if (a->strong[e] != i)
      strong -= a->a.value[e];
    else
      lumped += a->a.value[e];
  }
  const double scale = a->omega / (lumped > strong ? lumped : strong);
  kg_csr_add(list, a->aggregate[i], 1.0 - a->omega);
  for (int32_t e = begin + 1; e < end; ++e) {
    const int32_t j = a->strong[e];
    if (j != i && a->aggregate[j] >= 0) kg_csr_add(list, a->aggregate[j], -scale * a->a.value[e]);
  }
}

KG_INLINE void kg_csr_add_row(const kg_csr_make_args *a, int32_t i, kg_csr_list *list)
{
  if (a->source == KG_CSR_PROLONGATION)
    kg_csr_add_prolongation(a, i, list);
  else
    kg_csr_add_product(a, i, list);
}

/// The passes: terms of each row; entries of each row, by way of scratch[begin[i]] onwards; rows,
/// from begin[i] on.
kedge_status kg_csr_terms_host(kedge_context *ctx, const kg_csr_make_args *args, int32_t *length);
kedge_status kg_csr_count_host(kedge_context *ctx, const kg_csr_make_args *args,
                               const int64_t *begin, int32_t *scratch, int32_t *length);
kedge_status kg_csr_fill_host(kedge_context *ctx, const kg_csr_make_args *args,
                              const int64_t *begin, kg_csr_place place);
kedge_status kg_csr_terms_cuda(kedge_context *ctx, const kg_csr_make_args *args, int32_t *length);
kedge_status kg_csr_count_cuda(kedge_context *ctx, const kg_csr_make_args *args,
                               const int64_t *begin, int32_t *scratch, int32_t *length);
kedge_status kg_csr_fill_cuda(kedge_context *ctx, const kg_csr_make_args *args,
                              const int64_t *begin, kg_csr_place place);

KEDGE_END_DECLS
