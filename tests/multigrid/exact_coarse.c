#include "exact_coarse.h"

#include <math.h>
#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"

struct kg_coarse {
  int n;
  double *factor;  ///< [n][n]: L, lower triangle
  double *x;       ///< [n]
};

static kg_coarse_bytes bytes(int64_t n_rows, int64_t n_entries, int64_t spare)
{
  (void)spare;
  (void)n_rows, (void)n_entries;
  return (kg_coarse_bytes){0};
}

static void destroy(kedge_context *ctx, kg_coarse *coarse)
{
  (void)ctx;
  if (coarse == NULL) return;
  free(coarse->factor);
  free(coarse->x);
  free(coarse);
}

static kedge_status fetch(kedge_context *ctx, const void *device, size_t count, size_t size,
                          void *out)
{
  KG_TRY(kg_host_alloc(ctx, count, size, out));
  KG_TRY(kg_copy_out(ctx, *(void **)out, device, count * size));
  return kg_sync(ctx);
}

/// Writes both triangles of the matrix into a full one.
static kedge_status expand(kedge_context *ctx, const kg_csr *matrix, double *full)
{
  const size_t n = (size_t)matrix->n_rows, entries = (size_t)matrix->n_entries;
  int32_t *row = NULL, *column = NULL;
  float *value = NULL;
  double *diagonal = NULL;
  kedge_status status = fetch(ctx, matrix->row, n + 1, sizeof *row, &row);
  if (status == KEDGE_OK) status = fetch(ctx, matrix->column, entries, sizeof *column, &column);
  if (status == KEDGE_OK) status = fetch(ctx, matrix->value, entries, sizeof *value, &value);
  if (status == KEDGE_OK) status = fetch(ctx, matrix->diagonal, n, sizeof *diagonal, &diagonal);
  for (size_t i = 0; status == KEDGE_OK && i < n; ++i) {
    full[i * n + i] = diagonal[i];
    for (int32_t k = row[i]; k < row[i + 1]; ++k)
      full[i * n + (size_t)column[k]] = (double)value[k];
  }
  free(row);
  free(column);
  free(value);
  free(diagonal);
  return status;
}

static kedge_status factor(kedge_context *ctx, size_t n, double *a)
{
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j) KG_REQUIRE(ctx, sum > 0, KEDGE_ERR_NUMERIC, "the coarse matrix is indefinite");
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
  }
  return KEDGE_OK;
}

static kedge_status create(kedge_context *ctx, const kg_csr *matrix, kg_coarse_memory memory,
                           kg_coarse **out)
{
  (void)memory;
  kg_coarse *c;
  const size_t n = (size_t)matrix->n_rows;
  *out = NULL;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *c, &c));
  c->n = matrix->n_rows;
  kedge_status status = kg_host_calloc(ctx, n * n, sizeof(double), &c->factor);
  if (status == KEDGE_OK) status = kg_host_calloc(ctx, n, sizeof(double), &c->x);
  if (status == KEDGE_OK) status = expand(ctx, matrix, c->factor);
  if (status == KEDGE_OK) status = factor(ctx, n, c->factor);
  if (status == KEDGE_OK)
    *out = c;
  else
    destroy(ctx, c);
  return status;
}

static kedge_status solve(kedge_context *ctx, kg_coarse *c, double *room, double *b, double *x)
{
  (void)room;
  const size_t n = (size_t)c->n;
  KG_TRY(kg_copy_out(ctx, c->x, b, n * sizeof *b));
  KG_TRY(kg_sync(ctx));
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) c->x[i] -= c->factor[i * n + k] * c->x[k];
    c->x[i] /= c->factor[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    c->x[i] /= c->factor[i * n + i];
    for (size_t k = 0; k < i; ++k) c->x[k] -= c->factor[i * n + k] * c->x[i];
  }
  return kg_copy_in(ctx, x, c->x, n * sizeof *x);
}

static int levels(const kg_coarse *coarse)
{
  (void)coarse;
  return 1;
}

static kedge_status lend(kedge_context *ctx, kg_coarse *coarse, void *vectors, size_t bytes)
{
  (void)ctx, (void)coarse, (void)vectors, (void)bytes;
  return KEDGE_OK;
}

const kg_coarse_table exact_coarse = {.bytes = bytes,
                                      .create = create,
                                      .lend = lend,
                                      .solve = solve,
                                      .levels = levels,
                                      .destroy = destroy};
