#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "multigrid/aggregate.h"
#include "multigrid/amg.h"
#include "multigrid/csr_apply.h"
#include "multigrid/csr_diagonal.h"
#include "multigrid/csr_transpose.h"
#include "multigrid/dense.h"

enum { POWER_STEPS = 12 };

static const double
    strength = 0.08,  // theta of the first level; half of it at each next, whose rows are longer
    damping = 2.0 / 3.0,  // of the prolongation: eigenvalues of D_F^-1 A_F are at most 2
    margin = 1.1,         // over the estimate of the largest eigenvalue
    stall = 0.8;          // a coarser level has fewer rows than this part

/// The next of several arrays in one piece of memory; NULL counts only.
static void *take(char *memory, size_t *used, size_t count, size_t size)
{
  void *array = memory ? memory + *used : NULL;
  *used += kg_rounded(count * size);
  return array;
}

/// Vectors of level l in `memory`; returns their bytes.
static size_t place_vectors(kg_amg_level *level, int l, bool direct, char *memory)
{
  const size_t n = (size_t)level->matrix.n_rows;
  size_t used = 0;
  if (!direct) {
    level->inverse = take(memory, &used, n, sizeof(double));
    level->iterate = take(memory, &used, n, sizeof(double));
  }
  if (l > 0) {
    level->b = take(memory, &used, n, sizeof(double));
    level->x = take(memory, &used, n, sizeof(double));
  }
  return used;
}

static kedge_status alloc_vectors(kedge_context *ctx, kg_amg_level *level, int l, bool direct)
{
  const size_t bytes = place_vectors(level, l, direct, NULL);
  if (bytes == 0) return KEDGE_OK;
  KG_TRY(kg_alloc(ctx, bytes, 1, &level->memory));
  place_vectors(level, l, direct, level->memory.data);
  return KEDGE_OK;
}

/// What making the next level needs.
typedef struct level_work {
  kg_aggregate_args aggregate;
  double *power;    ///< [row]
  double *partial;  ///< [2][KG_CSR_PIECES]
  int32_t *flag;
} level_work;

static size_t place_work(const kg_csr *matrix, int l, level_work *w, char *memory)
{
  const size_t n = (size_t)matrix->n_rows;
  size_t used = 0;
  kg_aggregate_args *a = &w->aggregate;
  a->matrix = *matrix;
  const double theta = ldexp(strength, -l);
  a->threshold = theta * theta;
  a->strong = take(memory, &used, (size_t)matrix->n_entries, sizeof(int32_t));
  a->aggregate = take(memory, &used, n, sizeof(int32_t));
  a->length = take(memory, &used, n, sizeof(int32_t));
  a->begin = take(memory, &used, n + 1, sizeof(int64_t));
  a->key = take(memory, &used, n, sizeof(uint64_t));
  w->power = take(memory, &used, n, sizeof(double));
  a->key_near = (uint64_t *)w->power;  // the one after the other
  w->partial = take(memory, &used, 2 * KG_CSR_PIECES, sizeof(double));
  w->flag = take(memory, &used, 1, sizeof(int32_t));
  a->undecided = w->flag;
  return used;
}

/// Coefficients of Chebyshev's iteration of the fourth kind for eigenvalues up to `top` (J. Lottes,
/// Optimal polynomial smoothers for multigrid V-cycles, 2023).
static void set_steps(kg_amg_level *level, double top)
{
  for (int k = 1; k <= KG_AMG_DEGREE; ++k) {
    level->momentum[k - 1] = (2.0 * k - 3.0) / (2.0 * k + 1.0);
    level->weight[k - 1] = (8.0 * k - 4.0) / ((2.0 * k + 1.0) * top);
  }
  level->momentum[0] = 0.0;
}

/// Diagonal and steps; the iterates serve as work.
static kedge_status make_smoother(kedge_context *ctx, kg_amg_level *level, const level_work *w)
{
  double *x = level->iterate, *y = w->power;
  KG_TRY(kg_csr_diagonal(
      ctx, &(kg_csr_diagonal_args){level->matrix, level->inverse, .x = x, .faults = w->flag}));
  for (int k = 0; k < POWER_STEPS; ++k) {
    KG_TRY(kg_csr_scaled(
        ctx, &(kg_csr_apply_args){level->matrix, .x = x, .y = y, .inverse = level->inverse}));
    double *const other = x;
    x = y;
    y = other;
  }
  double growth;
  const kg_csr_norms_args norms = {level->matrix.n_rows, .x = y, .y = x, .inverse = level->inverse,
                                   .partial = w->partial};
  KG_TRY(kg_csr_growth(ctx, &norms, &growth));
  KG_REQUIRE(ctx, isfinite(growth) && growth > 0.0, KEDGE_ERR_NUMERIC,
             "a coarse matrix of the multigrid (%d rows) holds NaN or infinity, or vanishes: check "
             "the mesh for nearly degenerate elements, or use preconditioner = jacobi",
             level->matrix.n_rows);
  set_steps(level, margin * growth);
  return KEDGE_OK;
}

/// next = P^T A P.
static kedge_status make_matrix(kedge_context *ctx, const kg_amg_level *level, kg_csr_owned *next)
{
  kg_csr_owned product = {0};
  kg_csr_make_args args = {
      .source = KG_CSR_PRODUCT, .a = level->matrix, .b = level->prolong.csr, .square = false};
  kedge_status status = kg_csr_make(ctx, &args, &product);
  args = (kg_csr_make_args){
      .source = KG_CSR_PRODUCT, .a = level->restriction.csr, .b = product.csr, .square = true};
  if (status == KEDGE_OK) status = kg_csr_make(ctx, &args, next);
  kg_free(ctx, &product.memory);
  return status;
}

/// Aggregates and prolongation; n_next = 0: nothing is left to a coarser level.
static kedge_status make_prolongation(kedge_context *ctx, kg_amg_level *level, level_work *w,
                                      int32_t *n_next)
{
  KG_TRY(kg_aggregate(ctx, &w->aggregate, n_next));
  if (*n_next == 0) return KEDGE_OK;
  KG_REQUIRE(ctx, *n_next < stall * level->matrix.n_rows, KEDGE_ERR_NUMERIC,
             "the multigrid cannot make %d rows fewer (%d aggregates), which are too many to solve "
             "directly; use preconditioner = jacobi",
             level->matrix.n_rows, *n_next);
  const kg_csr_make_args args = {.source = KG_CSR_PROLONGATION,
                                 .a = level->matrix,
                                 .strong = w->aggregate.strong,
                                 .aggregate = w->aggregate.aggregate,
                                 .omega = damping};
  return kg_csr_make(ctx, &args, &level->prolong);
}

/// A level that is smoothed, and the matrix of the next one unless *last.
static kedge_status make_level(kedge_context *ctx, kg_amg_level *level, int l, bool *last)
{
  level_work work;
  kg_buffer memory;
  int32_t n_next = 0;
  KG_TRY(alloc_vectors(ctx, level, l, false));
  KG_TRY(kg_alloc(ctx, place_work(&level->matrix, l, &work, NULL), 1, &memory));
  place_work(&level->matrix, l, &work, memory.data);
  kedge_status status = make_smoother(ctx, level, &work);
  if (status == KEDGE_OK) status = make_prolongation(ctx, level, &work, &n_next);
  kg_free(ctx, &memory);
  KG_TRY(status);
  *last = n_next == 0;
  if (*last) return KEDGE_OK;
  KG_REQUIRE(ctx, l + 1 < KG_COARSE_LEVELS, KEDGE_ERR_NUMERIC,
             "the multigrid needs more than %d levels; use preconditioner = jacobi",
             KG_COARSE_LEVELS);
  KG_TRY(kg_csr_transpose(ctx, &level->prolong.csr, n_next, &level->restriction));
  KG_TRY(make_matrix(ctx, level, &level[1].owned));
  level[1].matrix = level[1].owned.csr;
  return KEDGE_OK;
}

/// The last level, by its inverse.
static kedge_status make_direct(kedge_context *ctx, kg_coarse *coarse, int l)
{
  kg_amg_level *level = &coarse->level[l];
  const size_t n = (size_t)level->matrix.n_rows;
  KG_TRY(alloc_vectors(ctx, level, l, true));
  KG_TRY(kg_alloc(ctx, n * n, sizeof(double), &coarse->dense));
  kg_buffer memory;
  const size_t work = kg_dense_work(level->matrix.n_rows);
  KG_TRY(kg_alloc(ctx, work + 1, sizeof(double), &memory));
  const kedge_status status =
      kg_dense_inverse(ctx, &(kg_dense_inverse_args){level->matrix, coarse->dense.data, memory.data,
                                                     (int32_t *)((double *)memory.data + work)});
  kg_free(ctx, &memory);
  coarse->direct = true;
  return status;
}

static kedge_status make_levels(kedge_context *ctx, kg_coarse *coarse)
{
  bool last = false;
  for (int l = 0; !last; ++l) {
    coarse->n_levels = l + 1;
    if (coarse->level[l].matrix.n_rows <= KG_AMG_DIRECT) return make_direct(ctx, coarse, l);
    KG_TRY(make_level(ctx, &coarse->level[l], l, &last));
  }
  return KEDGE_OK;
}

kedge_status kg_amg_create(kedge_context *ctx, const kg_csr *matrix, kg_coarse **out)
{
  kg_coarse *coarse;
  *out = NULL;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *coarse, &coarse));
  coarse->level[0].matrix = *matrix;
  const kedge_status status = make_levels(ctx, coarse);
  if (status == KEDGE_OK)
    *out = coarse;
  else
    kg_amg_destroy(ctx, coarse);
  return status;
}

void kg_amg_destroy(kedge_context *ctx, kg_coarse *coarse)
{
  if (!coarse) return;
  for (int l = 0; l < KG_COARSE_LEVELS; ++l) {  // after a failure, also what was made of the next
    kg_amg_level *level = &coarse->level[l];
    kg_free(ctx, &level->owned.memory);
    kg_free(ctx, &level->prolong.memory);
    kg_free(ctx, &level->restriction.memory);
    kg_free(ctx, &level->memory);
  }
  kg_free(ctx, &coarse->dense);
  free(coarse);
}
