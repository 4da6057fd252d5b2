#include "multigrid/coarse_hypre.h"

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h>  // levels, for their sizes
#include <mpi.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"

enum { GAUSSIAN_ELIMINATION = 9, SYMMETRIC_GAUSS_SEIDEL = 6, LAST_LEVEL = 3 };  // numbers of hypre

/// Cycles that solve a system well (coarse.h), at every size: hypre interpolates linearly or nearly
/// so, and a cycle leaves much the same part of a residual in large systems as in small ones, where
/// kedge's aggregates need more cycles for more rows.
enum { CYCLES_WELL = 8 };

struct kg_coarse {
  int32_t n;
  int32_t *row;  ///< [n] 0, 1, ..., as hypre wants rows named
  HYPRE_IJMatrix ij;
  HYPRE_IJVector ij_b, ij_x;
  HYPRE_ParCSRMatrix matrix;
  HYPRE_ParVector b, x;
  HYPRE_Solver amg;
};

static void finalise_mpi(void)
{
  int done;
  MPI_Finalized(&done);
  if (!done) MPI_Finalize();
}

static kedge_status start_mpi(kedge_context *ctx)
{
  int begun, ended;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  KG_REQUIRE(ctx, !ended, KEDGE_ERR_UNSUPPORTED,
             "hypre works by MPI, which this process has finalised already: solve before that");
  if (begun) return KEDGE_OK;
  KG_REQUIRE(ctx, MPI_Init(NULL, NULL) == MPI_SUCCESS, KEDGE_ERR_UNSUPPORTED,
             "hypre works by MPI, which cannot be initialised: start the program by mpiexec");
  atexit(finalise_mpi);
  return KEDGE_OK;
}

static kedge_status check_hypre(kedge_context *ctx, const char *doing)
{
  const HYPRE_Int error = HYPRE_GetError();
  if (error == 0) return KEDGE_OK;
  char text[256];
  HYPRE_DescribeError(error, text);
  HYPRE_ClearAllErrors();
  return KG_FAIL(ctx, error & HYPRE_ERROR_MEMORY ? KEDGE_ERR_MEMORY : KEDGE_ERR_NUMERIC,
                 "hypre, %s a coarse system: %s", doing, text);
}

static kedge_status check_diagonal(kedge_context *ctx, const kg_csr *a)
{
  for (int32_t i = 0; i < a->n_rows; ++i)
    KG_REQUIRE(ctx, a->diagonal[i] > 0.0, KEDGE_ERR_NUMERIC,
               "the coarse matrix is not positive definite: %g on the diagonal of row %d",
               a->diagonal[i], (int)i);
  return KEDGE_OK;
}

/// Levels and interpolation have three times the entries of a matrix of linear finite elements,
/// each with index and value; vectors and lists are of rows.
static kg_coarse_bytes hypre_bytes(int64_t n_rows, int64_t n_entries, int64_t spare)
{
  (void)spare;
  return (kg_coarse_bytes){.kept = 45 * n_entries + 195 * n_rows,
                           .work = 12 * (n_entries + n_rows)};
}

static void open_vector(const kg_coarse *c, HYPRE_IJVector *ij, HYPRE_ParVector *out)
{
  HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, c->n - 1, ij);
  HYPRE_IJVectorSetObjectType(*ij, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(*ij);
  HYPRE_IJVectorAssemble(*ij);
  HYPRE_IJVectorGetObject(*ij, (void **)out);
}

/// Rows with their diagonals first, all in double precision.
typedef struct full_rows {
  int32_t *length, *column;
  double *value;
} full_rows;

static void full_rows_free(full_rows *rows)
{
  free(rows->length);
  free(rows->column);
  free(rows->value);
}

static kedge_status full_rows_of(kedge_context *ctx, const kg_csr *a, full_rows *out)
{
  const size_t n = (size_t)a->n_rows, entries = n + (size_t)a->n_entries;
  KG_TRY(kg_host_alloc(ctx, n, sizeof *out->length, &out->length));
  KG_TRY(kg_host_alloc(ctx, entries, sizeof *out->column, &out->column));
  KG_TRY(kg_host_alloc(ctx, entries, sizeof *out->value, &out->value));
  for (int32_t i = 0, to = 0; i < a->n_rows; ++i) {
    out->length[i] = 1 + a->row[i + 1] - a->row[i];
    out->column[to] = i;
    out->value[to++] = a->diagonal[i];
    for (int32_t e = a->row[i]; e < a->row[i + 1]; ++e, ++to) {
      out->column[to] = a->column[e];
      out->value[to] = kg_csr_value(a, e);
    }
  }
  return KEDGE_OK;
}

static kedge_status open_matrix(kedge_context *ctx, kg_coarse *c, const kg_csr *a)
{
  full_rows rows = {0};
  KG_TRY(kg_host_alloc(ctx, (size_t)c->n, sizeof *c->row, &c->row));
  for (int32_t i = 0; i < c->n; ++i) c->row[i] = i;
  const kedge_status status = full_rows_of(ctx, a, &rows);
  if (status == KEDGE_OK) {
    HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, c->n - 1, 0, c->n - 1, &c->ij);
    HYPRE_IJMatrixSetObjectType(c->ij, HYPRE_PARCSR);
    HYPRE_IJMatrixSetRowSizes(c->ij, rows.length);
    HYPRE_IJMatrixInitialize(c->ij);
    HYPRE_IJMatrixSetValues(c->ij, c->n, rows.length, c->row, rows.column, rows.value);
    HYPRE_IJMatrixAssemble(c->ij);
    HYPRE_IJMatrixGetObject(c->ij, (void **)&c->matrix);
  }
  full_rows_free(&rows);
  KG_TRY(status);
  return check_hypre(ctx, "taking");
}

static bool is_direct(const kg_coarse *c)
{
  const hypre_ParAMGData *data = (const hypre_ParAMGData *)c->amg;
  return hypre_ParAMGDataGridRelaxType(data)[LAST_LEVEL] == GAUSSIAN_ELIMINATION;
}

/// One cycle with hypre's defaults: HMIS, extended+i, l1-Gauss-Seidel forward on the way down and
/// backward on the way up, which is symmetric. A last level that is too large to be solved exactly
/// would be smoothed forward only.
static kedge_status set_up(kedge_context *ctx, kg_coarse *c, const kg_csr *a)
{
  KG_TRY(open_matrix(ctx, c, a));
  open_vector(c, &c->ij_b, &c->b);
  open_vector(c, &c->ij_x, &c->x);
  HYPRE_BoomerAMGCreate(&c->amg);
  HYPRE_BoomerAMGSetTol(c->amg, 0.0);
  HYPRE_BoomerAMGSetMaxLevels(c->amg, KG_COARSE_LEVELS);
  HYPRE_BoomerAMGSetup(c->amg, c->matrix, c->b, c->x);
  if (!is_direct(c)) HYPRE_BoomerAMGSetCycleRelaxType(c->amg, SYMMETRIC_GAUSS_SEIDEL, LAST_LEVEL);
  return check_hypre(ctx, "setting up");
}

static void hypre_destroy(kedge_context *ctx, kg_coarse *c)
{
  (void)ctx;
  if (c == NULL) return;
  if (c->amg) HYPRE_BoomerAMGDestroy(c->amg);
  if (c->ij_b) HYPRE_IJVectorDestroy(c->ij_b);
  if (c->ij_x) HYPRE_IJVectorDestroy(c->ij_x);
  if (c->ij) HYPRE_IJMatrixDestroy(c->ij);
  free(c->row);
  free(c);
}

static kedge_status hypre_create(kedge_context *ctx, const kg_csr *matrix, kg_coarse_memory memory,
                                 kg_coarse **out)
{
  (void)memory;
  *out = NULL;
  KG_REQUIRE(ctx, ctx->backend != KEDGE_BACKEND_CUDA, KEDGE_ERR_UNSUPPORTED,
             "hypre solves coarse systems in host memory: take kedge's own on a GPU");
  KG_TRY(check_diagonal(ctx, matrix));
  KG_TRY(start_mpi(ctx));
  HYPRE_Init();
  kg_coarse *c;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *c, &c));
  c->n = matrix->n_rows;
  const kedge_status status = set_up(ctx, c, matrix);
  if (status == KEDGE_OK)
    *out = c;
  else
    hypre_destroy(ctx, c);
  return status;
}

static kedge_status hypre_solve(kedge_context *ctx, kg_coarse *c, bool well, const double *b,
                                double *x)
{
  HYPRE_IJVectorSetValues(c->ij_b, c->n, c->row, b);
  HYPRE_ParVectorSetConstantValues(c->x, 0.0);
  HYPRE_BoomerAMGSetMaxIter(c->amg, well ? CYCLES_WELL : 1);
  HYPRE_BoomerAMGSolve(c->amg, c->matrix, c->b, c->x);
  HYPRE_IJVectorGetValues(c->ij_x, c->n, c->row, x);
  return check_hypre(ctx, "solving");
}

static void hypre_describe(const kg_coarse *c, kg_coarse_info *info)
{
  hypre_ParAMGData *data = (hypre_ParAMGData *)c->amg;
  hypre_ParCSRMatrix **level = hypre_ParAMGDataAArray(data);
  *info = (kg_coarse_info){.n_levels = hypre_ParAMGDataNumLevels(data), .direct = is_direct(c)};
  int64_t entries = 0;
  for (int l = 0; l < info->n_levels; ++l) {
    hypre_ParCSRMatrixSetNumNonzeros(level[l]);
    info->rows[l] = hypre_ParCSRMatrixGlobalNumRows(level[l]);
    info->entries[l] = hypre_ParCSRMatrixNumNonzeros(level[l]);
    entries += info->entries[l];
  }
  info->operator_complexity = (double)entries / (double)info->entries[0];
}

const kg_coarse_table kg_hypre = {.name = "hypre",
                                  .bytes = hypre_bytes,
                                  .create = hypre_create,
                                  .solve = hypre_solve,
                                  .describe = hypre_describe,
                                  .destroy = hypre_destroy};
