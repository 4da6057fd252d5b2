/// @file
/// Other ways to keep the trace operator on a GPU, for comparison with the one of kedge: assembled
/// matrices in block formats and in those of cuSPARSE, and full local matrices without patches.
///
/// Every form is made on the device from the same K^e: assembled ones from the ELL matrix, which
/// holds the sums of K^e entries. A *block* is the m x m coupling of two edges. Free edges that
/// have two elements come first in the trace numbering (their rows have five blocks), then the
/// Neumann edges (three blocks), so that row offsets need no scan.
#pragma once
#include "device/backend.h"
#include "ops/assembled/ell.h"
#include "ops/local/convert.h"
#include "ops/ops.h"
#include "ops/trace/trace_gather.h"
KEDGE_BEGIN_DECLS

/// What forms are made of, and the vectors of their products; all on the GPU.
typedef struct format_source {
  kg_batch batch;
  kg_local local;     ///< PACKED, in double precision
  kg_ell_matrix ell;  ///< assembled; column and value NULL for forms that do not need it
  double *x, *y;
} format_source;

/// The operator in one form. Zero-initialise; format_free() frees what a build has made of it.
typedef struct format_matrix {
  format_source source;  ///< borrowed
  const double *values;  ///< of block-ELL: the ELL matrix's own, or those of `value`
  kg_buffer value, column, offset, work;
  struct cusparse_matrix *library;  ///< descriptors of cuSPARSE, or NULL
} format_matrix;

/// Memory a form keeps, and the floor of its product.
typedef struct format_size {
  double matrix_bytes;
  kg_cost cost;
} format_size;

/// One way to store and multiply. Variants of one operator differ in layout or algorithm; the
/// fastest is what counts.
typedef struct format_variant {
  const char *operator_name, *variant;
  bool assembled;  ///< a matrix in place of K^e, made from the ELL matrix
  kedge_status (*build)(kedge_context *ctx, format_matrix *matrix);
  kedge_status (*apply)(kedge_context *ctx, const format_matrix *matrix);  ///< y = A x
  format_size (*size)(kg_sizes size, const kg_trace_counts *count);
} format_variant;

extern const format_variant format_variants[];
extern const int format_variant_count;

/// Make the form; frees what it has when it fails.
kedge_status format_build(kedge_context *ctx, const format_variant *variant,
                          const format_source *source, format_matrix *out);
void format_free(kedge_context *ctx, format_matrix *matrix);

/// Blocks of all rows, without missing ones; the first block of a free edge's row.
int64_t format_blocks(const kg_trace_counts *count);
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline int64_t
    format_block_offset(const kg_trace_counts *count, int64_t edge)
{
  const int64_t full = (int64_t)count->n_interior + count->n_shared;
  return edge <= full ? 5 * edge : 5 * full + 3 * (edge - full);
}

// Conversions (formats_convert.cu). Offsets and columns are 32-bit numbers.

enum { FORMAT_SLICE = 32 };  ///< rows of a slice

/// Row offsets, columns and values of CSR, rows sorted by column.
kedge_status format_convert_csr(kedge_context *ctx, const format_source *source, int32_t *offset,
                                int32_t *column, double *value);
/// Converts to blocks of m x m; entries of a block row by row or column by column.
kedge_status format_convert_bsr(kedge_context *ctx, const format_source *source, bool by_column,
                                int32_t *offset, int32_t *column, double *value);
/// Values as [slice][entry of a row][row of the slice], every row 5 m long.
/// @param[out] column  of every entry, in the same layout, -1 missing; NULL: not wanted
/// @param[out] offset  of every slice; NULL: not wanted
kedge_status format_convert_sliced(kedge_context *ctx, const format_source *source, int32_t *offset,
                                   int32_t *column, double *value);
/// Edges of the blocks of a free edge as [block][edge]; a missing block has edge 0 and zero values.
kedge_status format_convert_block_columns(kedge_context *ctx, const format_source *source,
                                          int32_t *column);

// Products (formats_apply.cu).

/// @param[in] sliced  values are [slice][entry][row of the slice], else [entry][row]
/// @param[in] staged  a block brings its parts of x into shared memory first
kedge_status format_apply_block_ell(kedge_context *ctx, const format_matrix *matrix, bool sliced,
                                    bool staged);

// cuSPARSE (formats_cusparse.c). BSR through the generic interface needs cuSPARSE 12.6 (CUDA 13).

int format_cusparse_version(void);
kedge_status format_build_csr_1(kedge_context *ctx, format_matrix *matrix);
kedge_status format_build_csr_2(kedge_context *ctx, format_matrix *matrix);
kedge_status format_build_sliced_ell(kedge_context *ctx, format_matrix *matrix);
kedge_status format_build_bsr_rows(kedge_context *ctx, format_matrix *matrix);
kedge_status format_build_bsr_columns(kedge_context *ctx, format_matrix *matrix);
kedge_status format_build_bsrmv_rows(kedge_context *ctx, format_matrix *matrix);
kedge_status format_build_bsrmv_columns(kedge_context *ctx, format_matrix *matrix);
kedge_status format_apply_cusparse(kedge_context *ctx, const format_matrix *matrix);
void format_free_cusparse(struct cusparse_matrix *library);  ///< NULL is allowed

KEDGE_END_DECLS
