#include "precondition/amg/dense.h"

#include <string.h>

#include "device/loop.h"

enum { BLOCK = KG_DENSE_PIVOTS };

/// One block of pivots: rows and columns first .. first + n - 1 of the matrix.
typedef struct pivots {
  int first, n;
  double (*inverse)[BLOCK];  ///< of the diagonal block
  double *rows;              ///< [pivot][column]: inverse times the block's rows
} pivots;

static void expand(const kg_csr *matrix, double *a)
{
  const size_t n = (size_t)matrix->n_rows;
  memset(a, 0, n * n * sizeof *a);
  for (size_t i = 0; i < n; ++i) {
    a[i * n + i] = matrix->diagonal[i];
    for (int32_t e = matrix->row[i]; e < matrix->row[i + 1]; ++e)
      a[i * n + (size_t)matrix->column[e]] = (double)matrix->value[e];
  }
}

/// Gauss-Jordan elimination of the diagonal block; false: a pivot is not positive.
static bool invert_block(const kg_csr *matrix, const double *a, const pivots *p)
{
  const size_t n = (size_t)matrix->n_rows;
  bool positive = true;
  for (int i = 0; i < p->n; ++i)
    memcpy(p->inverse[i], a + (size_t)(p->first + i) * n + p->first, (size_t)p->n * sizeof(double));
  for (int k = 0; k < p->n; ++k) {
    const double pivot = p->inverse[k][k], scale = 1.0 / pivot;
    positive = positive && kg_dense_is_positive(matrix, p->first + k, pivot);
    p->inverse[k][k] = 1.0;
    for (int j = 0; j < p->n; ++j) p->inverse[k][j] *= scale;
    for (int i = 0; i < p->n; ++i) {
      if (i == k) continue;
      const double factor = p->inverse[i][k];
      p->inverse[i][k] = 0.0;
      for (int j = 0; j < p->n; ++j) p->inverse[i][j] -= factor * p->inverse[k][j];
    }
  }
  return positive;
}

/// rows = inverse of the block times its rows, and the inverse itself in its columns; zero for the
/// pivots that the last block lacks.
static void make_rows(int n, const double *a, const pivots *p)
{
  memset(p->rows, 0, BLOCK * (size_t)n * sizeof *p->rows);
  for (int i = 0; i < p->n; ++i) {
    double *restrict row = p->rows + (size_t)i * (size_t)n;
    for (int k = 0; k < p->n; ++k) {
      const double factor = p->inverse[i][k];
      const double *restrict from = a + (size_t)(p->first + k) * (size_t)n;
      for (int j = 0; j < n; ++j) row[j] += factor * from[j];
    }
    memcpy(row + p->first, p->inverse[i], (size_t)p->n * sizeof *row);
  }
}

/// A row outside the block loses its columns of the block.
static void eliminate(int n, double *restrict row, const pivots *p)
{
  enum { EACH = 4 };  // pivots a pass over the row
  double factor[BLOCK] = {0};
  memcpy(factor, row + p->first, (size_t)p->n * sizeof *factor);
  memset(row + p->first, 0, (size_t)p->n * sizeof *row);
  for (int k = 0; k < p->n; k += EACH) {
    const double *restrict a = p->rows + (size_t)k * (size_t)n;
    const double *restrict b = a + n, *restrict c = b + n, *restrict d = c + n, *f = factor + k;
#pragma omp simd
    for (int j = 0; j < n; ++j) row[j] -= f[0] * a[j] + f[1] * b[j] + f[2] * c[j] + f[3] * d[j];
  }
}

static bool invert(const kedge_context *ctx, const kg_csr *matrix, double *a, double *rows)
{
  const int n = matrix->n_rows;
  double inverse[BLOCK][BLOCK];
  bool positive = true;
  for (int first = 0; first < n && positive; first += BLOCK) {
    const pivots p = {first, n - first < BLOCK ? n - first : BLOCK, inverse, rows};
    positive = invert_block(matrix, a, &p);
    make_rows(n, a, &p);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, BLOCK *(int64_t)n))
    for (int i = 0; i < n; ++i) {
      double *row = a + (size_t)i * (size_t)n;
      const bool in_block = i >= first && i < first + p.n;
      if (in_block)
        memcpy(row, rows + (size_t)(i - first) * (size_t)n, (size_t)n * sizeof *row);
      else
        eliminate(n, row, &p);
    }
  }
  return positive;
}

static kedge_status make_inverse(kedge_context *ctx, const kg_dense_inverse_args *args)
{
  const size_t n = (size_t)args->matrix.n_rows;
  double *const a = args->square, *to = args->inverse;
  expand(&args->matrix, a);
  *args->fault = !invert(ctx, &args->matrix, a, args->work);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) *to++ = 0.5 * (a[i * n + j] + a[j * n + i]);
  return KEDGE_OK;
}

kedge_status kg_dense_inverse(kedge_context *ctx, const kg_dense_inverse_args *args)
{
  int32_t fault;
  KG_TRY(kg_zero(ctx, args->fault, sizeof fault));
  KG_TRY(KG_IMPLEMENTATION(ctx, make_inverse, kg_dense_inverse_cuda)(ctx, args));
  KG_TRY(kg_copy_out(ctx, &fault, args->fault, sizeof fault));
  KG_REQUIRE(
      ctx, fault == 0, KEDGE_ERR_NUMERIC,
      "the coarsest matrix of the multigrid (%d rows) is not positive definite: check the mesh for "
      "nearly degenerate elements, choose a stabilization nearer to diffusion / h, with Neumann "
      "conditions alone a reaction that is not negligible beside the diffusion, or "
      "use " KG_WITHOUT_MULTIGRID,
      args->matrix.n_rows);
  return KEDGE_OK;
}

/// y = inverse x, of one of K vectors.
static inline void multiply(int32_t n, const double *inverse, const double *x, double *y, int K)
{
  for (int32_t i = 0; i < n; ++i) {
    const double *row = inverse + kg_dense_at(i, 0);
    double sum = row[i] * x[i * K];
#pragma omp simd reduction(+ : sum)
    for (int32_t j = 0; j < i; ++j) {
      sum += row[j] * x[j * K];
      y[j * K] += row[j] * x[i * K];
    }
    y[i * K] = sum;
  }
}

/// One thread makes the product: it takes some microseconds, as starting more threads would, but
/// for the largest matrices.
static kedge_status apply(kedge_context *ctx, int32_t n, const double *inverse, const double *x,
                          double *y, bool many)
{
  (void)ctx;
  if (!many)
    multiply(n, inverse, x, y, 1);
  else
    for (int v = 0; v < KG_VECTORS; ++v) multiply(n, inverse, x + v, y + v, KG_VECTORS);
  return KEDGE_OK;
}

kedge_status kg_dense_apply(kedge_context *ctx, int32_t n, const double *inverse, const double *x,
                            double *y, bool many)
{
  return KG_IMPLEMENTATION(ctx, apply, kg_dense_apply_cuda)(ctx, n, inverse, x, y, many);
}
