#include "precondition/amg/csr_transpose.h"

#include <string.h>

#include "device/context.h"

/// Transpose by a counting sort by columns.
static kedge_status transpose(kedge_context *ctx, const kg_csr *matrix, int32_t n_columns,
                              kg_arena *work, kg_csr place)
{
  (void)ctx, (void)work;
  // place.row[j + 1]: entries of column j, then where the next of them goes, then its end
  memset(place.row, 0, ((size_t)n_columns + 1) * sizeof *place.row);
  for (int32_t e = 0; e < matrix->n_entries; ++e) ++place.row[matrix->column[e] + 1];
  int32_t next = 0;
  for (int32_t j = 0; j < n_columns; ++j) {
    const int32_t length = place.row[j + 1];
    place.row[j + 1] = next;
    next += length;
  }
  for (int32_t i = 0; i < matrix->n_rows; ++i)
    for (int32_t e = matrix->row[i]; e < matrix->row[i + 1]; ++e) {
      const int32_t to = place.row[matrix->column[e] + 1]++;
      place.column[to] = i;
      place.part[to] = matrix->part[e];
    }
  return KEDGE_OK;
}

kedge_status kg_csr_transpose(kedge_context *ctx, const kg_csr *matrix, int32_t n_columns,
                              kg_arena *work, kg_arena *arena, kg_csr *out)
{
  const kg_csr_form form = {.parts = true};
  KG_TRY(kg_csr_take(ctx, arena, form, n_columns, matrix->n_entries, out));
  const kg_arena_mark mark = kg_arena_now(work);
  const kedge_status status =
      KG_IMPLEMENTATION(ctx, transpose, kg_csr_transpose_cuda)(ctx, matrix, n_columns, work, *out);
  kg_arena_return(ctx, work, mark);
  return status;
}
