/// @file
/// The assembled trace matrix in ELL format (King 2014, Algorithms 1 and 2), for comparison with
/// the matrix-free operator.
///
/// A free edge has in its row itself, the two or three others of its first element, then those of
/// its second, in the element's local order; the element with the lower number is the first. Row
/// f m + i therefore has 5 m entries, or 7 m where the mesh has quadrilaterals; missing ones have
/// column -1 and value 0. Entry-major: entry k of all rows, then entry k + 1, so that neighbouring
/// threads, one a row, read neighbouring words. Columns of Dirichlet edges are kept: a product with
/// a vector that holds Dirichlet values lifts them.
#pragma once
#include "ops/local/local.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_ell_matrix {
  int64_t rows;     ///< n_free * m
  int64_t stride;   ///< words from one entry of a row to the next: rows rounded up to 32
  int32_t width;    ///< blocks * m
  int32_t *column;  ///< [width][stride]: row of the trace vector, or -1; -1 beyond the last row
  double *value;    ///< [width][stride]; 0 where the column is -1
  int blocks;       ///< 5, or 7 where there are quadrilaterals
} kg_ell_matrix;

/// Shape without memory (column and value NULL).
kg_ell_matrix kg_ell_shape(int m, const kg_trace_counts *count);

typedef struct kg_ell_assemble_args {
  kg_batch batch;
  kg_locals locals;      ///< empty lanes are not read
  kg_ell_matrix matrix;  ///< out
  void *work;            ///< kg_ell_work_bytes() of device memory
  size_t work_bytes;
} kg_ell_assemble_args;

/// Memory the assembly needs beside the matrix. Exact for the context's backend, from counts alone.
kedge_status kg_ell_work_bytes(kedge_context *ctx, const kg_trace_counts *count, size_t *bytes);
/// Makes the matrix, with the same bits on every backend: an entry is the sum of at most two
/// numbers, lower element first.
/// @retval KEDGE_ERR_UNSUPPORTED  more trace unknowns than a 32-bit column can number
KG_DECLARE_OPERATOR(kg_ell_assemble, kg_ell_assemble_args);
/// K^e read once, the matrix written once, and the traffic of sort, run lengths and scan.
kg_cost kg_ell_assemble_cost(int m, const kg_trace_counts *count);

typedef struct kg_ell_apply_args {
  kg_ell_matrix matrix;
  const double *x;  ///< [trace edge][mode]
  double *y;        ///< [free trace edge][mode]
  kg_pass pass;     ///< a sum has KG_PIECES parts; no row is left open
} kg_ell_apply_args;

/// y = A x, one thread a row.
KG_DECLARE_OPERATOR(kg_ell_apply, kg_ell_apply_args);
/// The floor of one application: 12 bytes an entry (missing ones are read too), x and y once.
kg_cost kg_ell_apply_cost(int m, const kg_trace_counts *count);

kedge_status kg_ell_work_bytes_host(kedge_context *ctx, const kg_trace_counts *count,
                                    size_t *bytes);
kedge_status kg_ell_work_bytes_cuda(kedge_context *ctx, const kg_trace_counts *count,
                                    size_t *bytes);

KEDGE_END_DECLS
