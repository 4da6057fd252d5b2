#include <math.h>
#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"
#include "precondition/amg/aggregate.h"
#include "precondition/amg/amg.h"
#include "precondition/amg/csr_apply.h"
#include "precondition/amg/csr_diagonal.h"
#include "precondition/amg/csr_transpose.h"
#include "precondition/amg/dense.h"

enum { POWER_STEPS = 12 };

static const double corner_share =
                        0.5,  // of strong connections, where opposite corners have entries
    strength = 0.08,  // theta of the first level; half of it at each next, whose rows are longer
    damping = 2.0 / 3.0,  // of the prolongation: eigenvalues of D_F^-1 A_F are at most 2
    margin = 1.1,         // over the estimate of the largest eigenvalue
    stall = 0.8;          // a coarser level has fewer rows than this part

/// Work for making the next level.
typedef struct level_work {
  kg_arena_mark made;  ///< what follows serves the prolongation alone
  kg_aggregate_args aggregate;
  double *iterate, *power;  ///< [row]
  double *partial;          ///< [2][KG_CSR_PIECES]
  int32_t *flag;
} level_work;

static kedge_status take_work(kedge_context *ctx, const kg_coarse *coarse, kg_arena *arena, int l,
                              level_work *w)
{
  const kg_csr *matrix = &coarse->level[l].matrix;
  const size_t n = (size_t)matrix->n_rows;
  const double theta = ldexp(strength, l > coarse->n_refined ? coarse->n_refined - l : 0);
  kg_aggregate_args *a = &w->aggregate;
  *w = (level_work){.aggregate = {.matrix = *matrix,
                                  .threshold = theta * theta,
                                  .share = coarse->has_corners ? corner_share : 0.0}};
  KG_TRY(kg_scan_take(ctx, arena, matrix->n_rows, &a->work));
  w->made = kg_arena_now(arena);
  KG_TRY(kg_arena_take(ctx, arena, (size_t)matrix->n_entries, sizeof *a->strong, &a->strong));
  KG_TRY(kg_arena_take(ctx, arena, n, sizeof *a->aggregate, &a->aggregate));
  KG_TRY(kg_arena_take(ctx, arena, n, sizeof *a->key, &a->key));
  KG_TRY(kg_arena_take(ctx, arena, n, sizeof *w->iterate, &w->iterate));
  KG_TRY(kg_arena_take(ctx, arena, n, sizeof *w->power, &w->power));
  KG_TRY(kg_arena_take(ctx, arena, 2 * KG_CSR_PIECES, sizeof *w->partial, &w->partial));
  KG_TRY(kg_arena_take(ctx, arena, 1, sizeof *w->flag, &w->flag));
  a->key_near = (uint64_t *)w->power;  // the one after the other
  a->undecided = w->flag;
  return KEDGE_OK;
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

/// The steps, from the largest eigenvalue.
static kedge_status make_smoother(kedge_context *ctx, kg_amg_level *level, const level_work *w)
{
  double *x = w->iterate, *y = w->power;
  KG_TRY(kg_csr_diagonal(ctx, &(kg_csr_diagonal_args){level->matrix, .x = x, .faults = w->flag}));
  for (int k = 0; k < POWER_STEPS; ++k) {
    KG_TRY(kg_csr_apply(ctx, KG_CSR_SCALED, &(kg_csr_apply_args){level->matrix, .x = x, .y = y}));
    double *const other = x;
    x = y;
    y = other;
  }
  double growth;
  const kg_csr_norms_args norms = {level->matrix.n_rows, .x = y, .y = x,
                                   .diagonal = level->matrix.diagonal, .partial = w->partial};
  KG_TRY(kg_csr_growth(ctx, &norms, &growth));
  KG_REQUIRE(ctx, isfinite(growth) && growth > 0.0, KEDGE_ERR_NUMERIC,
             "a coarse matrix of the multigrid (%d rows) holds NaN or infinity, or vanishes: check "
             "the mesh for nearly degenerate elements, or use " KG_WITHOUT_MULTIGRID,
             level->matrix.n_rows);
  set_steps(level, margin * growth);
  return KEDGE_OK;
}

/// Aggregates and prolongation; n_next = 0: nothing is left to a coarser level.
static kedge_status make_prolongation(kedge_context *ctx, kg_arena *kept, kg_amg_level *level,
                                      level_work *w, int32_t *n_next)
{
  KG_TRY(kg_aggregate(ctx, &w->aggregate, n_next));
  if (*n_next == 0) return KEDGE_OK;
  KG_REQUIRE(ctx, *n_next < stall * level->matrix.n_rows, KEDGE_ERR_NUMERIC,
             "the multigrid cannot make %d rows fewer (%d aggregates), which are too many to solve "
             "directly; use " KG_WITHOUT_MULTIGRID,
             level->matrix.n_rows, *n_next);
  const kg_csr_make_args args = {.source = KG_CSR_PROLONGATION,
                                 .a = level->matrix,
                                 .strong = w->aggregate.strong,
                                 .aggregate = w->aggregate.aggregate,
                                 .omega = damping};
  return kg_csr_make(ctx, &args, &w->aggregate.work, kept, &level->prolong);
}

/// next = P^T A P, by way of A P in double precision.
static kedge_status make_matrix(kedge_context *ctx, kg_arena *kept, kg_arena *work,
                                const kg_amg_level *level, const kg_scan_work *make, kg_csr *next)
{
  kg_csr product;
  kg_csr_make_args args = {
      .source = KG_CSR_PRODUCT, .a = level->matrix, .b = level->prolong, .wide = true};
  KG_TRY(kg_csr_make(ctx, &args, make, work, &product));
  args = (kg_csr_make_args){
      .source = KG_CSR_PRODUCT, .a = level->restriction, .b = product, .square = true};
  return kg_csr_make(ctx, &args, make, kept, next);
}

/// A level whose next is a coarser mesh, and the matrix of that one.
static kedge_status make_refined(kedge_context *ctx, kg_coarse *coarse, int l, const level_work *w)
{
  kg_amg_level *level = &coarse->level[l];
  kg_midpoints_make_args args = {.a = level->matrix,
                                 .n_next = level->midpoints.n_next,
                                 .fine = level->midpoints.fine,
                                 .number = (int32_t *)w->power,
                                 .work = w->aggregate.work};
  KG_TRY(kg_csr_diagonal(
      ctx, &(kg_csr_diagonal_args){level->matrix, .x = w->iterate, .faults = w->flag}));
  set_steps(level, coarse->eigenvalue);
  KG_TRY(kg_arena_take(ctx, &coarse->arena, 2 * (size_t)level->matrix.n_rows, sizeof *args.ends,
                       &args.ends));
  level->midpoints.ends = args.ends;
  return kg_midpoints_make(ctx, &args, &coarse->arena, &level[1].matrix);
}

/// A level that is smoothed, and the matrix of the next one unless *last.
static kedge_status make_level(kedge_context *ctx, kg_coarse *coarse, kg_arena *work, int l,
                               bool *last)
{
  kg_amg_level *level = &coarse->level[l];
  kg_arena *const kept = &coarse->arena;
  level_work w;
  int32_t n_next = 0;
  const bool refined = l < coarse->n_refined;
  KG_TRY(take_work(ctx, coarse, work, l, &w));
  if (refined) return make_refined(ctx, coarse, l, &w);
  KG_TRY(make_smoother(ctx, level, &w));
  KG_TRY(make_prolongation(ctx, kept, level, &w, &n_next));
  *last = n_next == 0;
  if (*last) return KEDGE_OK;
  KG_REQUIRE(ctx, l + 1 < KG_AMG_LEVELS, KEDGE_ERR_NUMERIC,
             "the multigrid needs more than %d levels; use " KG_WITHOUT_MULTIGRID, KG_AMG_LEVELS);
  kg_arena_return(ctx, work, w.made);
  KG_TRY(kg_csr_transpose(ctx, &level->prolong, n_next, work, kept, &level->restriction));
  return make_matrix(ctx, kept, work, level, &w.aggregate.work, &level[1].matrix);
}

/// An arena without memory allocates what is taken: there is always room.
static bool has_room(const kg_arena *arena, size_t bytes)
{
  return arena->bytes == 0 || bytes <= arena->bytes - arena->used;
}

/// Whether level l is the last, whose matrix is inverted.
static bool is_inverted(const kg_coarse *coarse, const kg_arena *work, int l)
{
  const int32_t n = coarse->level[l].matrix.n_rows;
  const size_t square = (size_t)n * (size_t)n + kg_dense_work(n);
  if (n <= KG_AMG_DIRECT_LEAST) return true;
  return n <= KG_AMG_DIRECT &&
         has_room(&coarse->arena, kg_rounded(kg_dense_entries(n) * sizeof(double))) &&
         has_room(work, square * sizeof(double) + 3 * KG_ALIGNMENT);
}

/// The last level, by its inverse.
static kedge_status make_direct(kedge_context *ctx, kg_coarse *coarse, kg_arena *work, int l)
{
  const kg_csr *matrix = &coarse->level[l].matrix;
  const size_t n = (size_t)matrix->n_rows, entries = kg_dense_entries(matrix->n_rows);
  kg_dense_inverse_args args = {.matrix = *matrix};
  KG_TRY(kg_arena_take(ctx, &coarse->arena, entries, sizeof *coarse->dense, &coarse->dense));
  KG_TRY(kg_arena_take(ctx, work, n * n, sizeof *args.square, &args.square));
  KG_TRY(kg_arena_take(ctx, work, kg_dense_work(matrix->n_rows), sizeof *args.work, &args.work));
  KG_TRY(kg_arena_take(ctx, work, 1, sizeof *args.fault, &args.fault));
  args.inverse = coarse->dense;
  coarse->direct = true;
  return kg_dense_inverse(ctx, &args);
}

static kedge_status make_levels(kedge_context *ctx, kg_coarse *coarse, kg_arena *work)
{
  bool last = false;
  kedge_status status = KEDGE_OK;
  for (int l = 0; !last && status == KEDGE_OK; ++l) {
    const kg_arena_mark mark = kg_arena_now(work);
    coarse->n_levels = l + 1;
    if (is_inverted(coarse, work, l)) {
      last = true;
      status = make_direct(ctx, coarse, work, l);
    } else {
      status = make_level(ctx, coarse, work, l, &last);
    }
    kg_arena_return(ctx, work, mark);
  }
  return status;
}

/// The levels that are coarser meshes. Of D^-1 A the eigenvalues are no larger than the largest of
/// the same of an element: 2 of its mass, and of diffusion 3/2 and half of its alignment
/// (mesh/mesh.h).
static kedge_status take_meshes(kedge_context *ctx, kg_coarse *coarse, const kedge_mesh *mesh)
{
  const kg_mesh_levels *levels = &mesh->levels;
  const int32_t *from = levels->vertex;
  int32_t n_finer = mesh->n_vertices, *to;
  int l = 0;
  for (; l < levels->n && n_finer > KG_AMG_DIRECT; ++l) {
    const size_t n = (size_t)levels->count[l];
    KG_TRY(kg_arena_take(ctx, &coarse->arena, n, sizeof *to, &to));
    KG_TRY(kg_copy_in(ctx, to, from, n * sizeof *to));
    coarse->level[l].midpoints = (kg_midpoints){.n_next = (int32_t)n, .fine = to};
    from += n;
    n_finer = (int32_t)n;
  }
  coarse->n_refined = l;
  coarse->eigenvalue = fmax(2.0, 1.5 + 0.5 * mesh->alignment);
  return KEDGE_OK;
}

/// Cycles that solve a system well: of a smooth b the first leaves a residual larger than b, like
/// the root of the number of rows, as corrections by aggregates are little more than constant on
/// each. The others divide it by five or so each: one more for ten times as many rows; by three
/// where elements couple strongly in directions that turn from one to the next: two more.
static void set_cycles(kg_coarse *coarse, bool by_quadrature)
{
  const kg_amg_level *first = &coarse->level[coarse->n_refined];
  const int n = coarse->n_levels - coarse->n_refined;
  const int32_t once = coarse->has_corners ? KG_AMG_ONCE_CORNERS : KG_AMG_ONCE;
  coarse->n_twice = 1;
  while (coarse->n_twice < n && first[coarse->n_twice].matrix.n_rows > once) ++coarse->n_twice;
  coarse->n_cycles =
      (int)lround(log10(fmax(first->matrix.n_rows, 100.0))) + (by_quadrature ? 2 : 0);
}

kedge_status kg_amg_create(kedge_context *ctx, const kg_csr *matrix, kg_coarse_memory memory,
                           kg_coarse **out)
{
  kg_coarse *coarse;
  kg_arena work = {.memory = memory.work, .bytes = memory.work_bytes};
  *out = NULL;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *coarse, &coarse));
  coarse->arena = (kg_arena){.memory = memory.kept, .bytes = memory.kept_bytes};
  coarse->level[0].matrix = *matrix;
  coarse->has_corners = memory.has_corners;
  kedge_status status = memory.refined ? take_meshes(ctx, coarse, memory.refined) : KEDGE_OK;
  if (status == KEDGE_OK) status = make_levels(ctx, coarse, &work);
  if (status != KEDGE_OK) {
    kg_amg_destroy(ctx, coarse);
    return status;
  }
  set_cycles(coarse, memory.by_quadrature);
  *out = coarse;
  return KEDGE_OK;
}

/// The result of a level lies in the iterate of the finer one, whose residual has been restricted.
kedge_status kg_amg_lend(kedge_context *ctx, kg_coarse *coarse, void *vectors, size_t bytes)
{
  kg_arena *const arena = &coarse->vectors;
  kg_arena_free(ctx, arena);
  *arena = (kg_arena){.memory = vectors, .bytes = bytes};
  KG_TRY(kg_arena_take(ctx, arena, (size_t)KG_AMG_SUMS * (coarse->many ? KG_VECTORS : 1),
                       sizeof *coarse->sums, &coarse->sums));
  for (int l = 0; l < coarse->n_levels; ++l) {
    kg_amg_level *level = &coarse->level[l];
    const size_t n = (size_t)level->matrix.n_rows * (coarse->many ? KG_VECTORS : 1);
    if (!coarse->direct || l + 1 < coarse->n_levels)
      KG_TRY(kg_arena_take(ctx, arena, n, sizeof *level->iterate, &level->iterate));
    if (l == 0) continue;
    KG_TRY(kg_arena_take(ctx, arena, n, sizeof *level->b, &level->b));
    level->x = level[-1].iterate;
  }
  return KEDGE_OK;
}

kedge_status kg_amg_of_many(kedge_context *ctx, const kg_coarse *coarse, kg_coarse **out)
{
  KG_TRY(kg_host_calloc(ctx, 1, sizeof **out, out));
  **out = *coarse;
  (*out)->many = true;
  (*out)->arena = (*out)->vectors = (kg_arena){0};
  return KEDGE_OK;
}

void kg_amg_destroy(kedge_context *ctx, kg_coarse *coarse)
{
  if (!coarse) return;
  kg_arena_free(ctx, &coarse->arena);
  kg_arena_free(ctx, &coarse->vectors);
  free(coarse);
}
