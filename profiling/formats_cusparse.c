// The trace matrix in the formats of cuSPARSE and its products. Descriptors hold x and y for good:
// a product is one call, and an analysis (cusparseSpMV_preprocess) is made once, as for the many
// products of a solve.
#include <cusparse.h>
#include <stdlib.h>

#include "device/cuda_rt.h"
#include "core/memory.h"
#include "formats.h"

struct cusparse_matrix {
  cusparseHandle_t handle;
  cusparseSpMatDescr_t matrix;  ///< of the generic interface
  cusparseDnVecDescr_t x, y;
  cusparseSpMVAlg_t algorithm;
  cusparseMatDescr_t general;  ///< of bsrmv
  cusparseDirection_t direction;
};

static const double one = 1.0, zero = 0.0;

static kedge_status check(kedge_context *ctx, cusparseStatus_t status, const char *what)
{
  if (status == CUSPARSE_STATUS_SUCCESS) return KEDGE_OK;
  const kedge_status code =
      status == CUSPARSE_STATUS_NOT_SUPPORTED ? KEDGE_ERR_UNSUPPORTED
      : status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES || status == CUSPARSE_STATUS_ALLOC_FAILED
          ? KEDGE_ERR_MEMORY
          : KEDGE_ERR_DEVICE;
  return KG_FAIL(ctx, code, "cuSPARSE: %s failed: %s", what, cusparseGetErrorString(status));
}

int format_cusparse_version(void)
{
  int major = 0, minor = 0, patch = 0;
  cusparseGetProperty(MAJOR_VERSION, &major);
  cusparseGetProperty(MINOR_VERSION, &minor);
  cusparseGetProperty(PATCH_LEVEL, &patch);
  return 10000 * major + 100 * minor + patch;
}

void format_free_cusparse(struct cusparse_matrix *library)
{
  if (library == NULL) return;
  if (library->matrix) cusparseDestroySpMat(library->matrix);
  if (library->x) cusparseDestroyDnVec(library->x);
  if (library->y) cusparseDestroyDnVec(library->y);
  if (library->general) cusparseDestroyMatDescr(library->general);
  if (library->handle) cusparseDestroy(library->handle);
  free(library);
}

/// Memory for a matrix, and a handle. Offsets, columns and values are counted in numbers.
static kedge_status prepare(kedge_context *ctx, format_matrix *m, int64_t offsets, int64_t columns,
                            int64_t values)
{
  KG_REQUIRE(ctx, values <= INT32_MAX, KEDGE_ERR_UNSUPPORTED,
             "%lld entries are more than 32-bit offsets can count: take a smaller mesh",
             (long long)values);
  KG_TRY(kg_alloc(ctx, (size_t)offsets, sizeof(int32_t), &m->offset));
  KG_TRY(kg_alloc(ctx, (size_t)columns, sizeof(int32_t), &m->column));
  KG_TRY(kg_alloc(ctx, (size_t)values, sizeof(double), &m->value));
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *m->library, &m->library));
  struct cusparse_matrix *c = m->library;
  KG_TRY(check(ctx, cusparseCreate(&c->handle), "creating a handle"));
  KG_TRY(check(ctx, cusparseSetStream(c->handle, kg_cuda_stream(ctx)), "setting the stream"));
  const format_source *s = &m->source;
  const int64_t n_x = (int64_t)s->batch.count.n_edges * s->batch.m;
  KG_TRY(check(ctx, cusparseCreateDnVec(&c->x, n_x, s->x, CUDA_R_64F), "describing x"));
  return check(ctx, cusparseCreateDnVec(&c->y, s->ell.rows, s->y, CUDA_R_64F), "describing y");
}

/// The work memory of the generic product, and its analysis where the format has one.
static kedge_status analyse(kedge_context *ctx, format_matrix *m, cusparseSpMVAlg_t algorithm,
                            bool preprocess)
{
  struct cusparse_matrix *c = m->library;
  c->algorithm = algorithm;
  size_t bytes = 0;
  KG_TRY(check(ctx,
               cusparseSpMV_bufferSize(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, c->matrix,
                                       c->x, &zero, c->y, CUDA_R_64F, algorithm, &bytes),
               "asking for the work memory"));
  KG_TRY(kg_alloc(ctx, bytes ? bytes : 1, 1, &m->work));
  if (!preprocess) return KEDGE_OK;
  return check(ctx,
               cusparseSpMV_preprocess(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, c->matrix,
                                       c->x, &zero, c->y, CUDA_R_64F, algorithm, m->work.data),
               "analysing the matrix");
}

static int64_t columns_of(const format_matrix *m)
{
  return (int64_t)m->source.batch.count.n_edges * m->source.batch.m;
}

static kedge_status build_csr(kedge_context *ctx, format_matrix *m, cusparseSpMVAlg_t algorithm)
{
  const format_source *s = &m->source;
  const int64_t size = s->batch.m, rows = s->ell.rows;
  const int64_t entries = format_blocks(&s->batch.count) * size * size;
  KG_TRY(prepare(ctx, m, rows + 1, entries, entries));
  KG_TRY(format_convert_csr(ctx, s, m->offset.data, m->column.data, m->value.data));
  KG_TRY(check(ctx,
               cusparseCreateCsr(&m->library->matrix, rows, columns_of(m), entries, m->offset.data,
                                 m->column.data, m->value.data, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
               "describing a CSR matrix"));
  return analyse(ctx, m, algorithm, true);
}

kedge_status format_build_csr_1(kedge_context *ctx, format_matrix *matrix)
{
  return build_csr(ctx, matrix, CUSPARSE_SPMV_CSR_ALG1);
}

kedge_status format_build_csr_2(kedge_context *ctx, format_matrix *matrix)
{
  return build_csr(ctx, matrix, CUSPARSE_SPMV_CSR_ALG2);
}

kedge_status format_build_sliced_ell(kedge_context *ctx, format_matrix *m)
{
  const format_source *s = &m->source;
  const int64_t size = s->batch.m, slices = s->ell.stride / FORMAT_SLICE;
  const int64_t stored = s->ell.width * s->ell.stride;
  const int64_t entries = format_blocks(&s->batch.count) * size * size;
  KG_TRY(prepare(ctx, m, slices + 1, stored, stored));
  KG_TRY(format_convert_sliced(ctx, s, m->offset.data, m->column.data, m->value.data));
  KG_TRY(check(ctx,
               cusparseCreateSlicedEll(&m->library->matrix, s->ell.rows, columns_of(m), entries,
                                       stored, FORMAT_SLICE, m->offset.data, m->column.data,
                                       m->value.data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
               "describing a sliced ELL matrix"));
  return analyse(ctx, m, CUSPARSE_SPMV_SELL_ALG1, false);
}

static kedge_status fill_bsr(kedge_context *ctx, format_matrix *m, bool by_column)
{
  const format_source *s = &m->source;
  const int64_t size = s->batch.m, blocks = format_blocks(&s->batch.count);
  KG_TRY(prepare(ctx, m, (int64_t)s->batch.count.n_free + 1, blocks, blocks * size * size));
  return format_convert_bsr(ctx, s, by_column, m->offset.data, m->column.data, m->value.data);
}

static kedge_status build_bsr(kedge_context *ctx, format_matrix *m, bool by_column)
{
#if CUSPARSE_VERSION >= 12600
  const kg_trace_counts *count = &m->source.batch.count;
  const int64_t size = m->source.batch.m;
  KG_TRY(fill_bsr(ctx, m, by_column));
  KG_TRY(check(
      ctx,
      cusparseCreateBsr(&m->library->matrix, count->n_free, count->n_edges, format_blocks(count),
                        size, size, m->offset.data, m->column.data, m->value.data,
                        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                        CUDA_R_64F, by_column ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
      "describing a BSR matrix"));
  return analyse(ctx, m, CUSPARSE_SPMV_BSR_ALG1, false);
#else
  (void)m, (void)by_column;
  return KG_FAIL(ctx, KEDGE_ERR_UNSUPPORTED,
                 "cuSPARSE %d has no generic product with BSR: take CUDA 13", CUSPARSE_VERSION);
#endif
}

kedge_status format_build_bsr_rows(kedge_context *ctx, format_matrix *matrix)
{
  return build_bsr(ctx, matrix, false);
}

kedge_status format_build_bsr_columns(kedge_context *ctx, format_matrix *matrix)
{
  return build_bsr(ctx, matrix, true);
}

static kedge_status build_bsrmv(kedge_context *ctx, format_matrix *m, bool by_column)
{
  KG_TRY(fill_bsr(ctx, m, by_column));
  m->library->direction = by_column ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
  return check(ctx, cusparseCreateMatDescr(&m->library->general), "describing a general matrix");
}

kedge_status format_build_bsrmv_rows(kedge_context *ctx, format_matrix *matrix)
{
  return build_bsrmv(ctx, matrix, false);
}

kedge_status format_build_bsrmv_columns(kedge_context *ctx, format_matrix *matrix)
{
  return build_bsrmv(ctx, matrix, true);
}

kedge_status format_apply_cusparse(kedge_context *ctx, const format_matrix *m)
{
  const struct cusparse_matrix *c = m->library;
  if (c->matrix)
    return check(ctx,
                 cusparseSpMV(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, c->matrix, c->x,
                              &zero, c->y, CUDA_R_64F, c->algorithm, m->work.data),
                 "multiplying");
  const kg_trace_counts *count = &m->source.batch.count;
  return check(ctx,
               cusparseDbsrmv(c->handle, c->direction, CUSPARSE_OPERATION_NON_TRANSPOSE,
                              count->n_free, count->n_edges, (int)format_blocks(count), &one,
                              c->general, m->value.data, m->offset.data, m->column.data,
                              m->source.batch.m, m->source.x, &zero, m->source.y),
               "multiplying by blocks");
}
