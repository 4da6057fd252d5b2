#include "multigrid/csr_make.h"

#include "core/context.h"
#include "multigrid/scan.h"

kedge_status kg_csr_alloc(kedge_context *ctx, int32_t n_rows, int64_t n_entries, kg_csr_owned *out,
                          kg_csr_place *place)
{
  KG_REQUIRE(ctx, n_entries <= INT32_MAX - UINT16_MAX, KEDGE_ERR_MEMORY,
             "a matrix of the multigrid has %lld entries, more than 32 bits number; use "
             "preconditioner = jacobi or a smaller mesh",
             (long long)n_entries);
  const size_t rows = kg_rounded(((size_t)n_rows + 1) * sizeof(int32_t));
  const size_t columns = kg_rounded((size_t)n_entries * sizeof(int32_t));
  KG_TRY(kg_alloc(ctx, rows + columns + (size_t)n_entries * sizeof(double), 1, &out->memory));
  char *memory = out->memory.data;
  *place = (kg_csr_place){(int32_t *)memory, (int32_t *)(memory + rows),
                          (double *)(memory + rows + columns)};
  out->csr = (kg_csr){n_rows, (int32_t)n_entries, place->row, place->column, place->value};
  return KEDGE_OK;
}

static kedge_status terms(kedge_context *ctx, const kg_csr_make_args *args, int32_t *length)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr_make_args *, int32_t *) =
      KG_IMPLEMENTATIONS(kg_csr_terms_host, kg_csr_terms_cuda);
  return impl[ctx->backend](ctx, args, length);
}

static kedge_status count(kedge_context *ctx, const kg_csr_make_args *args, const int64_t *begin,
                          int32_t *scratch, int32_t *length)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr_make_args *, const int64_t *,
                                      int32_t *, int32_t *) =
      KG_IMPLEMENTATIONS(kg_csr_count_host, kg_csr_count_cuda);
  return impl[ctx->backend](ctx, args, begin, scratch, length);
}

static kedge_status fill(kedge_context *ctx, const kg_csr_make_args *args, const int64_t *begin,
                         kg_csr_place place)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr_make_args *, const int64_t *,
                                      kg_csr_place) =
      KG_IMPLEMENTATIONS(kg_csr_fill_host, kg_csr_fill_cuda);
  return impl[ctx->backend](ctx, args, begin, place);
}

/// begin = where each row will begin, *total = entries.
static kedge_status measure(kedge_context *ctx, const kg_csr_make_args *args, int32_t *length,
                            int64_t *begin, int64_t *total)
{
  kg_buffer scratch = {0};
  KG_TRY(terms(ctx, args, length));
  KG_TRY(kg_scan(ctx, length, args->a.n_rows, begin, total));
  kedge_status status = kg_alloc(ctx, (size_t)*total, sizeof(int32_t), &scratch);
  if (status == KEDGE_OK) status = count(ctx, args, begin, scratch.data, length);
  if (status == KEDGE_OK) status = kg_scan(ctx, length, args->a.n_rows, begin, total);
  kg_free(ctx, &scratch);
  return status;
}

kedge_status kg_csr_make(kedge_context *ctx, const kg_csr_make_args *args, kg_csr_owned *out)
{
  const size_t n = (size_t)args->a.n_rows;
  const size_t begins = kg_rounded((n + 1) * sizeof(int64_t));
  kg_buffer work;
  KG_TRY(kg_alloc(ctx, begins + n * sizeof(int32_t), 1, &work));
  int64_t *const begin = work.data, total;
  kg_csr_place place;
  kedge_status status = measure(ctx, args, (int32_t *)((char *)work.data + begins), begin, &total);
  if (status == KEDGE_OK) status = kg_csr_alloc(ctx, args->a.n_rows, total, out, &place);
  if (status == KEDGE_OK) status = fill(ctx, args, begin, place);
  kg_free(ctx, &work);
  return status;
}
