#include "precondition/amg/csr_make.h"

#include "device/context.h"
#include "precondition/amg/scan.h"
#include "ops/advice.h"

kedge_status kg_csr_take(kedge_context *ctx, kg_arena *arena, kg_csr_form form, int32_t n_rows,
                         int64_t n_entries, kg_csr *out, kg_csr_place *place)
{
  KG_REQUIRE(ctx, n_entries <= INT32_MAX - UINT16_MAX, KEDGE_ERR_MEMORY,
             "a matrix of the multigrid has %lld entries, more than 32 bits number; "
             "use " KG_WITHOUT_MULTIGRID ", or a smaller mesh",
             (long long)n_entries);
  const size_t rows = (size_t)n_rows, entries = (size_t)n_entries;
  *place = (kg_csr_place){0};
  KG_TRY(kg_arena_take(ctx, arena, rows + 1, sizeof *place->row, &place->row));
  KG_TRY(kg_arena_take(ctx, arena, entries, sizeof *place->column, &place->column));
  if (form.wide)
    KG_TRY(kg_arena_take(ctx, arena, entries, sizeof *place->wide, &place->wide));
  else if (form.parts)
    KG_TRY(kg_arena_take(ctx, arena, entries, sizeof *place->part, &place->part));
  else
    KG_TRY(kg_arena_take(ctx, arena, entries, sizeof *place->value, &place->value));
  if (form.square)
    KG_TRY(kg_arena_take(ctx, arena, rows, sizeof *place->diagonal, &place->diagonal));
  *out = (kg_csr){.n_rows = n_rows,
                  .n_entries = (int32_t)n_entries,
                  .row = place->row,
                  .column = place->column,
                  .value = place->value,
                  .wide = place->wide,
                  .part = place->part,
                  .diagonal = place->diagonal};
  return KEDGE_OK;
}

static kedge_status count(kedge_context *ctx, const kg_csr_make_args *args, int32_t *length)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr_make_args *, int32_t *) =
      KG_IMPLEMENTATIONS(kg_csr_count_host, kg_csr_count_cuda);
  return impl[ctx->backend](ctx, args, length);
}

static kedge_status fill(kedge_context *ctx, const kg_csr_make_args *args, const int64_t *begin,
                         kg_csr_place place)
{
  static kedge_status (*const impl[])(kedge_context *, const kg_csr_make_args *, const int64_t *,
                                      kg_csr_place) =
      KG_IMPLEMENTATIONS(kg_csr_fill_host, kg_csr_fill_cuda);
  return impl[ctx->backend](ctx, args, begin, place);
}

kedge_status kg_csr_make(kedge_context *ctx, const kg_csr_make_args *args, const kg_csr_work *work,
                         kg_arena *arena, kg_csr *out)
{
  const int32_t n = args->a.n_rows;
  const kg_csr_form form = {args->square, args->wide, args->source == KG_CSR_PROLONGATION};
  int64_t total;
  kg_csr_place place;
  KG_TRY(count(ctx, args, work->length));
  KG_TRY(kg_scan(ctx, &(kg_scan_args){work->length, n, work->begin, work->scan, work->scan_bytes},
                 &total));
  KG_TRY(kg_csr_take(ctx, arena, form, n, total, out, &place));
  return fill(ctx, args, work->begin, place);
}
