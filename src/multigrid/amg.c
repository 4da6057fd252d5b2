#include "multigrid/amg.h"

#include <assert.h>
#include <math.h>

#include "backend/backend.h"
#include "multigrid/csr_apply.h"
#include "multigrid/dense.h"

/// The two arrays that iterates of a level alternate between.
typedef struct iterates {
  double *now, *before;
} iterates;

/// Steps first .. KG_AMG_DEGREE - 1; step 0 has been taken from zero if first is 1.
static kedge_status smooth(kedge_context *ctx, const kg_amg_level *level, const double *b,
                           iterates *it, int first)
{
  for (int k = first; k < KG_AMG_DEGREE; ++k) {
    const kg_csr_apply_args args = {.matrix = level->matrix,
                                    .x = it->now,
                                    .y = it->before,
                                    .b = b,
                                    .previous = k > first ? it->before : NULL,
                                    .momentum = level->momentum[k],
                                    .weight = level->weight[k]};
    KG_TRY(kg_csr_step(ctx, &args));
    *it = (iterates){it->before, it->now};
  }
  return KEDGE_OK;
}

/// How a cycle goes.
typedef struct cycle {
  const kg_coarse *coarse;
  int n_twice;  ///< levels with aggregates whose coarse system is solved by two cycles
} cycle;

static kedge_status visit(kedge_context *ctx, const cycle *c, int l, const double *b, double *x,
                          bool from_zero);

/// The residual, in the other iterate, to the next level's right-hand side, and the first step
/// there.
static kedge_status restrict_residual(kedge_context *ctx, const kg_amg_level *level,
                                      const double *residual)
{
  const kg_amg_level *next = level + 1;
  if (level->midpoints.n_next == 0)
    return kg_csr_restrict(ctx, &(kg_csr_apply_args){.matrix = level->restriction,
                                                     .x = residual,
                                                     .y = next->b,
                                                     .diagonal = next->matrix.diagonal,
                                                     .z = next->iterate,
                                                     .weight = next->weight[0]});
  return kg_midpoints_restrict(ctx, &(kg_midpoints_apply_args){.a = level->matrix,
                                                               .midpoints = level->midpoints,
                                                               .x = residual,
                                                               .y = next->b,
                                                               .diagonal = next->matrix.diagonal,
                                                               .z = next->iterate,
                                                               .weight = next->weight[0]});
}

static kedge_status prolong(kedge_context *ctx, const kg_amg_level *level, double *y)
{
  const double *x = level[1].x;
  if (level->midpoints.n_next == 0)
    return kg_csr_prolong(ctx, &(kg_csr_apply_args){level->prolong, .x = x, .y = y});
  return kg_midpoints_prolong(
      ctx, &(kg_midpoints_apply_args){level->matrix, level->midpoints, .x = x, .y = y});
}

/// Add the coarser levels' correction to the iterate.
static kedge_status correct(kedge_context *ctx, const cycle *c, int l, const double *b,
                            const iterates *it)
{
  const kg_coarse *coarse = c->coarse;
  const kg_amg_level *level = &coarse->level[l], *next = level + 1;
  KG_TRY(kg_csr_residual(
      ctx, &(kg_csr_apply_args){level->matrix, .x = it->now, .y = it->before, .b = b}));
  KG_TRY(restrict_residual(ctx, level, it->before));
  KG_TRY(visit(ctx, c, l + 1, next->b, next->x, true));
  const bool exact = coarse->direct && l + 2 == coarse->n_levels;
  const bool twice = l >= coarse->n_refined && l < coarse->n_refined + c->n_twice;
  if (twice && !exact) KG_TRY(visit(ctx, c, l + 1, next->b, next->x, false));
  return prolong(ctx, level, it->now);
}

/// A cycle from level l down. From zero, the first step is in `iterate` already.
static kedge_status visit(kedge_context *ctx, const cycle *c, int l, const double *b, double *x,
                          bool from_zero)
{
  const kg_coarse *coarse = c->coarse;
  const kg_amg_level *level = &coarse->level[l];
  const bool last = l + 1 == coarse->n_levels;
  if (last && coarse->direct) return kg_dense_apply(ctx, level->matrix.n_rows, coarse->dense, b, x);
  iterates it = from_zero ? (iterates){level->iterate, x} : (iterates){x, level->iterate};
  KG_TRY(smooth(ctx, level, b, &it, from_zero ? 1 : 0));
  if (!last) KG_TRY(correct(ctx, c, l, b, &it));
  KG_TRY(smooth(ctx, level, b, &it, 0));
  assert(it.now == x);
  return KEDGE_OK;
}

static kedge_status amg_solve(kedge_context *ctx, kg_coarse *coarse, bool well, const double *b,
                              double *x)
{
  const kg_amg_level *first = &coarse->level[0];
  const bool exact = coarse->direct && coarse->n_levels == 1;
  const cycle c = {coarse, well ? coarse->n_levels : coarse->n_twice};
  if (!exact)
    KG_TRY(kg_csr_start(
        ctx,
        &(kg_csr_apply_args){
            .matrix = first->matrix, .y = first->iterate, .b = b, .weight = first->weight[0]}));
  KG_TRY(visit(ctx, &c, 0, b, x, true));
  for (int k = 1; well && !exact && k < coarse->n_cycles; ++k)
    KG_TRY(visit(ctx, &c, 0, b, x, false));
  return KEDGE_OK;
}

static void amg_describe(const kg_coarse *coarse, kg_coarse_info *info)
{
  *info = (kg_coarse_info){.n_levels = coarse->n_levels, .direct = coarse->direct};
  double entries = 0.0;
  for (int l = 0; l < coarse->n_levels; ++l) {
    info->rows[l] = coarse->level[l].matrix.n_rows;
    info->entries[l] = coarse->level[l].matrix.n_entries;
    entries += (double)info->entries[l];
  }
  info->operator_complexity = info->entries[0] > 0 ? entries / (double)info->entries[0] : 1.0;
}

int32_t kg_amg_direct(int64_t n_rows)
{
  if (n_rows <= KG_AMG_DIRECT) return (int32_t)n_rows;
  const int32_t most = (int32_t)sqrt((double)KG_AMG_DIRECT_BYTES / 8.0 * (double)n_rows);
  return most < KG_AMG_DIRECT ? most : KG_AMG_DIRECT;
}

/// Beside the inverse at the end, a row of linear finite elements takes 47 to 56 bytes of three
/// prolongation entries and their transposes and coarser levels, and up to 64 on stretched meshes,
/// whose levels shrink slowly; of vectors 11, and up to 14 there. The most work is at the product A
/// P, 76 to 86 bytes a row.
kg_coarse_bytes kg_amg_bytes(int64_t n_rows, int64_t n_entries)
{
  const int32_t direct = kg_amg_direct(n_rows);
  const int64_t square = 8 * (int64_t)direct * direct, few = 256 * KG_ALIGNMENT;
  const int64_t rounding = 2 * KG_COARSE_LEVELS * KG_ALIGNMENT;  // of two vectors a level
  return (kg_coarse_bytes){
      .kept = 23 * n_rows + 7 * n_entries + square + few,
      .vectors = 14 * n_rows + rounding,
      .work = 30 * n_rows + 10 * n_entries + 8 * (int64_t)kg_dense_work(direct) + few};
}

const kg_coarse_table kg_amg = {
    .name = "amg",
    .takes_memory = true,
    .bytes = kg_amg_bytes,
    .create = kg_amg_create,
    .lend = kg_amg_lend,
    .solve = amg_solve,
    .describe = amg_describe,
    .destroy = kg_amg_destroy,
};
