#include "formats.h"

#include "device/context.h"

int64_t format_blocks(const kg_trace_counts *count)
{
  return format_block_offset(count, count->n_free);
}

static double vector_bytes(kg_sizes size, const kg_trace_counts *count)
{
  return 8.0 * size.n_edge * ((double)count->n_edges + count->n_free);
}

static double rows_of(kg_sizes size, const kg_trace_counts *count)
{
  return (double)size.n_edge * count->n_free;
}

static double entries_of(kg_sizes size, const kg_trace_counts *count)
{
  return (double)format_blocks(count) * size.n_edge * size.n_edge;
}

/// The matrix read once, x and y once.
static format_size size_of(kg_sizes size, const kg_trace_counts *count, double matrix_bytes,
                           double entries)
{
  return (format_size){matrix_bytes, {matrix_bytes + vector_bytes(size, count), 2.0 * entries}};
}

static format_size block_ell_size(kg_sizes size, const kg_trace_counts *count)
{
  const kg_ell_matrix ell = kg_ell_shape(size.n_edge, count);
  const double entries = (double)ell.width * (double)ell.stride;  // missing ones are read too
  return size_of(size, count, 8.0 * entries + 4.0 * 5.0 * count->n_free, entries);
}

static format_size sliced_ell_size(kg_sizes size, const kg_trace_counts *count)
{
  const kg_ell_matrix ell = kg_ell_shape(size.n_edge, count);
  const double entries = (double)ell.width * (double)ell.stride;
  const double slices = (double)(ell.stride / FORMAT_SLICE);
  return size_of(size, count, 12.0 * entries + 4.0 * (slices + 1), entries);
}

static format_size csr_size(kg_sizes size, const kg_trace_counts *count)
{
  const double entries = entries_of(size, count);
  return size_of(size, count, 12.0 * entries + 4.0 * (rows_of(size, count) + 1), entries);
}

static format_size bsr_size(kg_sizes size, const kg_trace_counts *count)
{
  const double entries = entries_of(size, count), blocks = (double)format_blocks(count);
  return size_of(size, count, 8.0 * entries + 4.0 * blocks + 4.0 * (count->n_free + 1.0), entries);
}

static format_size plain_size(kg_sizes size, const kg_trace_counts *count)
{
  const kg_local full = kg_local_all(KG_LAYOUT_FULL, KG_DOUBLE, size, count, NULL);
  return (format_size){(double)kg_local_bytes(&full), kg_trace_gather_cost(size.n_edge, count)};
}

static kedge_status build_block_ell(kedge_context *ctx, format_matrix *matrix)
{
  const format_source *s = &matrix->source;
  KG_TRY(kg_alloc(ctx, 5 * (size_t)s->batch.count.n_free, sizeof(int32_t), &matrix->column));
  matrix->values = s->ell.value;
  return format_convert_block_columns(ctx, s, matrix->column.data);
}

static kedge_status build_block_ell_sliced(kedge_context *ctx, format_matrix *matrix)
{
  const kg_ell_matrix *ell = &matrix->source.ell;
  KG_TRY(build_block_ell(ctx, matrix));
  KG_TRY(kg_alloc(ctx, (size_t)ell->width * (size_t)ell->stride, sizeof(double), &matrix->value));
  matrix->values = matrix->value.data;
  return format_convert_sliced(ctx, &matrix->source, NULL, NULL, matrix->value.data);
}

static kg_local full_local(const format_matrix *matrix)
{
  const kg_batch *batch = &matrix->source.batch;
  return kg_local_all(KG_LAYOUT_FULL, KG_DOUBLE, batch->reference.size, &batch->count,
                      matrix->value.data);
}

static kedge_status build_plain(kedge_context *ctx, format_matrix *matrix)
{
  const format_source *s = &matrix->source;
  const kg_local full = full_local(matrix);
  KG_TRY(kg_alloc(ctx, kg_local_count(&full), sizeof(double), &matrix->value));
  return kg_local_convert(
      ctx, &(kg_local_convert_args){.m = s->batch.m, .from = s->local, .to = full_local(matrix)});
}

static kedge_status apply_plain(kedge_context *ctx, const format_matrix *matrix)
{
  const format_source *s = &matrix->source;
  return kg_trace_gather(ctx,
                         &(kg_trace_gather_args){
                             .batch = s->batch, .local = full_local(matrix), .x = s->x, .y = s->y});
}

static kedge_status apply_entries_cached(kedge_context *ctx, const format_matrix *matrix)
{
  return format_apply_block_ell(ctx, matrix, false, false);
}

static kedge_status apply_entries_staged(kedge_context *ctx, const format_matrix *matrix)
{
  return format_apply_block_ell(ctx, matrix, false, true);
}

static kedge_status apply_slices_cached(kedge_context *ctx, const format_matrix *matrix)
{
  return format_apply_block_ell(ctx, matrix, true, false);
}

static kedge_status apply_slices_staged(kedge_context *ctx, const format_matrix *matrix)
{
  return format_apply_block_ell(ctx, matrix, true, true);
}

const format_variant format_variants[] = {
    {"matrix-free-plain", "full K^e by edges", false, build_plain, apply_plain, plain_size},
    {"block-ell", "by entries, x cached", true, build_block_ell, apply_entries_cached,
     block_ell_size},
    {"block-ell", "by entries, x staged", true, build_block_ell, apply_entries_staged,
     block_ell_size},
    {"block-ell", "by slices, x cached", true, build_block_ell_sliced, apply_slices_cached,
     block_ell_size},
    {"block-ell", "by slices, x staged", true, build_block_ell_sliced, apply_slices_staged,
     block_ell_size},
    {"cusparse-csr", "SpMV CSR_ALG1", true, format_build_csr_1, format_apply_cusparse, csr_size},
    {"cusparse-csr", "SpMV CSR_ALG2", true, format_build_csr_2, format_apply_cusparse, csr_size},
    {"cusparse-sell", "SpMV SELL_ALG1", true, format_build_sliced_ell, format_apply_cusparse,
     sliced_ell_size},
    {"cusparse-bsr", "SpMV, blocks by rows", true, format_build_bsr_rows, format_apply_cusparse,
     bsr_size},
    {"cusparse-bsr", "SpMV, blocks by columns", true, format_build_bsr_columns,
     format_apply_cusparse, bsr_size},
    {"cusparse-bsr", "bsrmv, blocks by rows", true, format_build_bsrmv_rows, format_apply_cusparse,
     bsr_size},
    {"cusparse-bsr", "bsrmv, blocks by columns", true, format_build_bsrmv_columns,
     format_apply_cusparse, bsr_size},
};
const int format_variant_count = sizeof format_variants / sizeof *format_variants;

kedge_status format_build(kedge_context *ctx, const format_variant *variant,
                          const format_source *source, format_matrix *out)
{
  *out = (format_matrix){.source = *source};
  kedge_status status = variant->build(ctx, out);
  if (status == KEDGE_OK) status = kg_sync(ctx);
  if (status != KEDGE_OK) format_free(ctx, out);
  return status;
}

void format_free(kedge_context *ctx, format_matrix *matrix)
{
  format_free_cusparse(matrix->library);
  kg_free(ctx, &matrix->value);
  kg_free(ctx, &matrix->column);
  kg_free(ctx, &matrix->offset);
  kg_free(ctx, &matrix->work);
  *matrix = (format_matrix){0};
}
