#include "precondition/amg/amg.h"

#include <assert.h>

#include "device/backend.h"
#include "precondition/amg/csr_apply.h"
#include "precondition/amg/dense.h"
#include "precondition/amg/inner_cg.h"

/// The two arrays that iterates of a level alternate between.
typedef struct iterates {
  double *now, *before;
} iterates;

/// Steps first .. KG_AMG_DEGREE - 1; step 0 has been taken from zero if first is 1.
static kedge_status smooth(kedge_context *ctx, const kg_coarse *coarse, const kg_amg_level *level,
                           const double *b, iterates *it, int first)
{
  for (int k = first; k < KG_AMG_DEGREE; ++k) {
    const kg_csr_apply_args args = {.matrix = level->matrix,
                                    .x = it->now,
                                    .y = it->before,
                                    .b = b,
                                    .previous = k > first ? it->before : NULL,
                                    .momentum = level->momentum[k],
                                    .weight = level->weight[k],
                                    .many = coarse->many};
    KG_TRY(kg_csr_apply(ctx, KG_CSR_STEP, &args));
    *it = (iterates){it->before, it->now};
  }
  return KEDGE_OK;
}

static kedge_status visit(kedge_context *ctx, const kg_coarse *coarse, int l, const double *b,
                          double *x, bool from_zero);

/// Bring the residual, which lies in the other iterate, to the next level's right-hand side, and
/// take the next level's first step.
static kedge_status restrict_residual(kedge_context *ctx, const kg_coarse *coarse,
                                      const kg_amg_level *level, const double *residual)
{
  const kg_amg_level *next = level + 1;
  if (level->midpoints.n_next == 0)
    return kg_csr_apply(ctx, KG_CSR_RESTRICT,
                        &(kg_csr_apply_args){.matrix = level->restriction,
                                             .x = residual,
                                             .y = next->b,
                                             .diagonal = next->matrix.diagonal,
                                             .z = next->iterate,
                                             .weight = next->weight[0],
                                             .many = coarse->many});
  return kg_midpoints_restrict(ctx, &(kg_midpoints_apply_args){.a = level->matrix,
                                                               .midpoints = level->midpoints,
                                                               .x = residual,
                                                               .y = next->b,
                                                               .diagonal = next->matrix.diagonal,
                                                               .z = next->iterate,
                                                               .weight = next->weight[0],
                                                               .many = coarse->many});
}

static kedge_status prolong(kedge_context *ctx, const kg_coarse *coarse, const kg_amg_level *level,
                            double *y)
{
  const double *x = level[1].x;
  const bool many = coarse->many;
  if (level->midpoints.n_next == 0)
    return kg_csr_apply(ctx, KG_CSR_PROLONG,
                        &(kg_csr_apply_args){level->prolong, .x = x, .y = y, .many = many});
  return kg_midpoints_prolong(ctx, &(kg_midpoints_apply_args){level->matrix, level->midpoints,
                                                              .x = x, .y = y, .many = many});
}

/// Add the coarser levels' correction to the iterate.
static kedge_status correct(kedge_context *ctx, const kg_coarse *coarse, int l, const double *b,
                            const iterates *it)
{
  const kg_amg_level *level = &coarse->level[l], *next = level + 1;
  KG_TRY(kg_csr_apply(
      ctx, KG_CSR_RESIDUAL,
      &(kg_csr_apply_args){
          .matrix = level->matrix, .x = it->now, .y = it->before, .b = b, .many = coarse->many}));
  KG_TRY(restrict_residual(ctx, coarse, level, it->before));
  KG_TRY(visit(ctx, coarse, l + 1, next->b, next->x, true));
  const bool exact = coarse->direct && l + 2 == coarse->n_levels;
  const bool twice = l >= coarse->n_refined && l < coarse->n_refined + coarse->n_twice;
  if (twice && !exact) KG_TRY(visit(ctx, coarse, l + 1, next->b, next->x, false));
  return prolong(ctx, coarse, level, it->now);
}

/// A cycle from level l down. From zero, the first step is in `iterate` already.
static kedge_status visit(kedge_context *ctx, const kg_coarse *coarse, int l, const double *b,
                          double *x, bool from_zero)
{
  const kg_amg_level *level = &coarse->level[l];
  const bool last = l + 1 == coarse->n_levels;
  if (last && coarse->direct)
    return kg_dense_apply(ctx, level->matrix.n_rows, coarse->dense, b, x, coarse->many);
  iterates it = from_zero ? (iterates){level->iterate, x} : (iterates){x, level->iterate};
  KG_TRY(smooth(ctx, coarse, level, b, &it, from_zero ? 1 : 0));
  if (!last) KG_TRY(correct(ctx, coarse, l, b, &it));
  KG_TRY(smooth(ctx, coarse, level, b, &it, 0));
  assert(it.now == x);
  return KEDGE_OK;
}

/// Solve nearly, by a cycle. A small system takes two, which is little work and nearly exact.
static kedge_status solve_nearly(kedge_context *ctx, const kg_coarse *coarse, const double *b,
                                 double *x)
{
  KG_TRY(visit(ctx, coarse, 0, b, x, true));
  if (coarse->level[0].matrix.n_rows > KG_AMG_SMALL) return KEDGE_OK;
  return visit(ctx, coarse, 0, b, x, false);
}

/// The first step of a cycle from zero.
static kedge_status start(kedge_context *ctx, const kg_coarse *coarse, const double *b)
{
  const kg_amg_level *first = &coarse->level[0];
  return kg_csr_start(ctx, &(kg_csr_apply_args){.matrix = first->matrix,
                                                .y = first->iterate,
                                                .b = b,
                                                .weight = first->weight[0],
                                                .many = coarse->many});
}

/// Solve well, by conjugate gradients with the cycle. Between cycles the first level's iterate has
/// r - A p.
/// @param[in] room  work: z, and then p
/// @param     r     b; the residual afterwards
static kedge_status solve_well(kedge_context *ctx, const kg_coarse *coarse, double *room, double *r,
                               double *x)
{
  const kg_amg_level *first = &coarse->level[0];
  const int vectors = coarse->many ? KG_VECTORS : 1;
  const int64_t n = (int64_t)first->matrix.n_rows * vectors;
  double *const sums = coarse->sums, *const p_ap = sums + 2 * vectors, *const part = p_ap + vectors;
  kg_inner_cg_args a = {.n = n,
                        .x = x,
                        .r = r,
                        .p = room + n,
                        .z = room,
                        .next = first->iterate,
                        .p_ap = p_ap,
                        .sum = {.part = part, .stride = 1, .parts = KG_PIECES},
                        .many = coarse->many};
  for (int k = 0; k < coarse->n_cycles; ++k) {
    double *const rz = sums + k % 2 * vectors;
    a.rz_before = a.rz;
    a.rz = a.sum.total = rz;
    if (k > 0) KG_TRY(start(ctx, coarse, r));
    KG_TRY(visit(ctx, coarse, 0, r, room, true));
    KG_TRY(kg_inner_cg_rz(ctx, &a));
    KG_TRY(kg_inner_cg_direction(ctx, &a));
    KG_TRY(kg_csr_apply(
        ctx, KG_CSR_RESIDUAL,
        &(kg_csr_apply_args){
            .matrix = first->matrix, .x = a.p, .y = first->iterate, .b = r, .many = coarse->many}));
    a.sum.total = p_ap;
    KG_TRY(kg_inner_cg_p_ap(ctx, &a));
    KG_TRY(kg_inner_cg_update(ctx, &a));
  }
  return kg_zero(ctx, room, 2 * (size_t)n * sizeof *room);
}

static kedge_status amg_solve(kedge_context *ctx, kg_coarse *coarse, double *room, double *b,
                              double *x)
{
  const bool exact = coarse->direct && coarse->n_levels == 1;
  if (exact) return visit(ctx, coarse, 0, b, x, true);
  KG_TRY(start(ctx, coarse, b));
  return room ? solve_well(ctx, coarse, room, b, x) : solve_nearly(ctx, coarse, b, x);
}

static int amg_levels(const kg_coarse *coarse)
{
  return coarse->n_levels;
}

/// A row of linear finite elements takes 47 to 56 bytes of three prolongation entries and their
/// transposes and coarser levels, and up to 64 on stretched meshes, whose levels shrink slowly; of
/// vectors 11, and up to 16 there. What is given for levels and left by them, 1 to 18 bytes a row,
/// and what is to spare are for the inverse at the end, which takes 4 n^2 bytes for n rows. Most
/// work is at the product A P, 76 to 86 bytes a row, or, on small meshes, at that inverse.
static kg_coarse_bytes amg_bytes(int64_t n_rows, int64_t n_entries, int64_t spare)
{
  const int64_t always = 8 * (int64_t)kg_dense_entries(KG_AMG_DIRECT_LEAST);
  const int64_t most = 8 * (int64_t)kg_dense_entries(KG_AMG_DIRECT);
  const int64_t room = 18 * n_rows + always + spare;
  const int64_t direct = room < most ? (int64_t)sqrt(0.25 * (double)room) : KG_AMG_DIRECT;
  const int64_t few = 48 * KG_ALIGNMENT;  // of rounding arrays
  const int64_t product = 30 * n_rows + 10 * n_entries;
  const int64_t inversion = 8 * (direct * direct + (int64_t)kg_dense_work((int32_t)direct));
  int64_t rounding = 0;  // of two vectors a level
  for (int64_t rows = n_rows; rows > 0; rows /= 2) rounding += 2 * KG_ALIGNMENT;
  return (kg_coarse_bytes){
      .kept = 23 * n_rows + 7 * n_entries + always + (spare < most ? spare : most) + few,
      .vectors = 14 * n_rows + 8 * KG_AMG_SUMS + rounding + KG_ALIGNMENT,
      .work = (product > inversion ? product : inversion) + few};
}

const kg_coarse_table kg_amg = {
    .bytes = amg_bytes,
    .create = kg_amg_create,
    .lend = kg_amg_lend,
    .of_many = kg_amg_of_many,
    .solve = amg_solve,
    .levels = amg_levels,
    .destroy = kg_amg_destroy,
};
