/// @file
/// Sparse matrices made row by row: the prolongation of an aggregation, and the product of two
/// sparse matrices.
///
/// A row takes steps, one for each entry of the row of the left matrix; each adds terms of
/// different columns. A row in the making is a list of its distinct columns in order of first
/// appearance, to which steps are added one by one: the order of all sums is fixed. Rows are made
/// twice, to count and in their place. The list is short; a row of more columns is made in parts,
/// of the columns that are 0, 1, ... modulo a power of two.
#pragma once
#include <math.h>

#include "precondition/amg/csr.h"
#include "precondition/amg/scan.h"
KEDGE_BEGIN_DECLS

typedef enum kg_csr_source { KG_CSR_PROLONGATION, KG_CSR_PRODUCT } kg_csr_source;

/// Prolongation: P = (I - omega D_F^-1 A_F) T, T(i, aggregate[i]) = 1. A_F has the strong
/// connections of A, all of them negative; the weak ones are added to its diagonal, so that it has
/// the row sums of A (but D_F is at least the sum of the strong ones, which matters for negative
/// row sums). A row of P then has no negative entry, and the sum 1 where the row sum of A is 0.
/// Entries are rounded to parts of one (precondition/amg/csr.h), which take two bytes; what that
/// leaves goes to the row's own aggregate, so that sums of 1 stay exactly that.
///
/// Product: A B, where B has no diagonal apart.
typedef struct kg_csr_make_args {
  kg_csr_source source;
  kg_csr a, b;
  bool square;               ///< the diagonal is to be apart
  bool wide;                 ///< entries are to be double
  const int32_t *strong;     ///< [entry of a]: its column; the row for weak ones
  const int32_t *aggregate;  ///< [row]: -1: in none, the row is empty
  double omega;
} kg_csr_make_args;

/// @param[in] arena  takes the matrix
/// @retval KEDGE_ERR_MEMORY  also where entries cannot be numbered by 32 bits
kedge_status kg_csr_make(kedge_context *ctx, const kg_csr_make_args *args, const kg_scan_work *work,
                         kg_arena *arena, kg_csr *out);

/// Arrays of a matrix that are to be written: `square`: the diagonal, `wide`: entries in double
/// precision, `parts`: entries in parts of one.
typedef struct kg_csr_form {
  bool square, wide, parts;
} kg_csr_form;
kedge_status kg_csr_take(kedge_context *ctx, kg_arena *arena, kg_csr_form form, int32_t n_rows,
                         int64_t n_entries, kg_csr *out);

/// An addend of a row: factor times entries of b from begin to end, or, without b, one term in a
/// column.
typedef struct kg_csr_addend {
  int32_t begin, end;
  int32_t column;  ///< of a prolongation
  double factor;
} kg_csr_addend;

/// How many a row has: of the diagonal, then of each entry.
KG_INLINE int32_t kg_csr_addends(const kg_csr_make_args *a, int32_t i)
{
  if (a->source == KG_CSR_PROLONGATION && a->aggregate[i] < 0) return 0;
  return (a->a.diagonal != 0) + a->a.row[i + 1] - a->a.row[i];
}

/// omega D_F^-1 of a row; 1 for products.
KG_INLINE double kg_csr_scale(const kg_csr_make_args *a, int32_t i)
{
  if (a->source == KG_CSR_PRODUCT) return 1.0;
  double lumped = a->a.diagonal[i], strong = 0.0;
  for (int32_t e = a->a.row[i]; e < a->a.row[i + 1]; ++e) {
    if (a->strong[e] != i)
      strong -= (double)a->a.value[e];
    else
      lumped += (double)a->a.value[e];
  }
  return a->omega / (lumped > strong ? lumped : strong);
}

KG_INLINE kg_csr_addend kg_csr_addend_at(const kg_csr_make_args *a, int32_t i, int32_t k,
                                         double scale)
{
  const bool square = a->a.diagonal != 0, own = square && k == 0;
  const int32_t e = a->a.row[i] + k - square;
  kg_csr_addend s = {0, 0, 0, 0.0};
  if (a->source == KG_CSR_PROLONGATION) {
    const int32_t j = own ? i : a->strong[e];
    s.column = a->aggregate[j];
    s.end = (own || j != i) && s.column >= 0;
    s.factor = own ? 1.0 - a->omega : -scale * (double)a->a.value[e];
  } else {
    const int32_t j = own ? i : a->a.column[e];
    s.begin = a->b.row[j];
    s.end = a->b.row[j + 1];
    s.factor = own ? a->a.diagonal[i] : kg_csr_value(&a->a, e);
  }
  return s;
}

KG_INLINE int32_t kg_csr_term_column(const kg_csr_make_args *a, const kg_csr_addend *s, int32_t e)
{
  return a->source == KG_CSR_PROLONGATION ? s->column : a->b.column[e];
}

KG_INLINE double kg_csr_term_value(const kg_csr_make_args *a, const kg_csr_addend *s, int32_t e)
{
  return a->source == KG_CSR_PROLONGATION ? s->factor : s->factor * kg_csr_value(&a->b, e);
}

/// The column whose entry takes what rounding the others leaves: the diagonal, the own aggregate;
/// -1: nothing is rounded.
KG_INLINE int32_t kg_csr_own_column(const kg_csr_make_args *a, int32_t i)
{
  if (a->source == KG_CSR_PROLONGATION) return a->aggregate[i];
  return a->square ? i : -1;
}

/// Keep an entry that is not wide; what is kept of its value.
KG_INLINE double kg_csr_put(const kg_csr_make_args *a, const kg_csr *place, int64_t at,
                            double value)
{
  if (a->source == KG_CSR_PRODUCT) {
    place->value[at] = (float)value;
    return (double)place->value[at];
  }
  place->part[at] = (uint16_t)rint(value * KG_CSR_PARTS);
  return (double)place->part[at] / KG_CSR_PARTS;
}

/// The passes: entries of each row beside its diagonal; rows, from begin[i] on.
kedge_status kg_csr_count_cuda(kedge_context *ctx, const kg_csr_make_args *args, int32_t *length);
kedge_status kg_csr_fill_cuda(kedge_context *ctx, const kg_csr_make_args *args,
                              const int64_t *begin, kg_csr place);

KEDGE_END_DECLS
