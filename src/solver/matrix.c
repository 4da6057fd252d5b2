// The trace matrix in rows, from the matrix in ELL format that the host makes of copies of K^e.
#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "ops/assembled/ell.h"
#include "ops/assembled/ell_block.h"
#include "solver/unknowns.h"

/// What the matrix is made of, in host memory.
typedef struct parts {
  kg_ell_matrix ell;
  void *local, *work;
  uint32_t *side_edge;
  int32_t *unknown_of;  ///< [free trace edge]: its place in the caller's order
} parts;

static kedge_status copy(kedge_context *ctx, const void *from, size_t bytes, void *to)
{
  KG_TRY(kg_host_alloc(ctx, bytes, 1, to));
  return kg_copy_out(ctx, *(void **)to, from, bytes);
}

/// Copy the K^e that the operator is made of.
static kedge_status copy_locals(kg_elliptic *p, parts *of, kg_locals *locals)
{
  *locals = kg_elliptic_locals(p);
  if (p->shape.choice.linear == KEDGE_OPERATOR_MATRIX_FREE) {
    KG_TRY(copy(p->ctx, p->arrays.local, kg_locals_bytes(locals), &of->local));
    *locals = kg_elliptic_locals_at(p, *locals, of->local);
    return KEDGE_OK;
  }
  kg_local full = kg_shape_full_local(&p->shape);
  KG_TRY(copy(p->ctx, p->arrays.iteration.full_local, kg_local_bytes(&full), &of->local));
  full.data = of->local;
  for (int i = 0; i < locals->n_locals; ++i) {
    kg_local *const local = &locals->local[i];
    *local = kg_local_part(&full, local->first_lane, local->n_elements);
  }
  return KEDGE_OK;
}

/// Assemble on the host. K^e and sides stay in a set-up that is to solve again.
static kedge_status assemble(kg_elliptic *p, parts *of, size_t n)
{
  kg_ell_assemble_args args = {.batch = p->space.batch};
  const size_t sides = kg_shape_numbers(&p->shape, KG_ROWS_SIDES, p->shape.n_batches);
  KG_TRY(copy_locals(p, of, &args.locals));
  KG_TRY(copy(p->ctx, p->arrays.space.side_edge, sides * sizeof *of->side_edge, &of->side_edge));
  args.batch.arrays.side_edge = args.locals.side_edge = of->side_edge;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *of->ell.column, &of->ell.column));
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *of->ell.value, &of->ell.value));
  KG_TRY(kg_ell_work_bytes_host(p->ctx, &p->shape.count, &args.work_bytes));
  KG_TRY(kg_host_alloc(p->ctx, args.work_bytes, 1, &of->work));
  args.work = of->work;
  args.matrix = of->ell;
  return kg_ell_assemble_host(p->ctx, &args);
}

/// The ELL matrix of the operator, or one that is assembled here.
static kedge_status make_ell(kg_elliptic *p, parts *of)
{
  of->ell = kg_ell_shape(p->shape.m, &p->shape.count);
  const size_t n = (size_t)of->ell.width * (size_t)of->ell.stride;
  if (p->shape.choice.linear != KEDGE_OPERATOR_ELL) return assemble(p, of, n);
  KG_TRY(copy(p->ctx, p->arrays.iteration.ell_column, n * sizeof *of->ell.column, &of->ell.column));
  return copy(p->ctx, p->arrays.iteration.ell_value, n * sizeof *of->ell.value, &of->ell.value);
}

/// The blocks of the rows of an edge whose columns have unknowns, by ascending column.
typedef struct blocks {
  int n;
  int at[KG_ELL_FOUR_BLOCKS];        ///< in the rows of the ELL matrix
  int32_t edge[KG_ELL_FOUR_BLOCKS];  ///< free edge of their columns, in the caller's order
} blocks;

/// @param[in] row  free edge in the caller's order
static blocks blocks_of(const kedge_solver *solver, const parts *of, int32_t row)
{
  const int m = solver->elliptic->shape.m;
  const int32_t *const column = of->ell.column + (int64_t)(solver->unknowns[row] >> 1) * m;
  blocks b = {.n = 0};
  for (int q = 0; q < of->ell.blocks; ++q) {
    const int32_t first = column[q * m * of->ell.stride];
    if (first < 0 || first >= of->ell.rows) continue;
    const int32_t edge = of->unknown_of[first / m];
    int k = b.n++;
    for (; k > 0 && b.edge[k - 1] > edge; --k) {
      b.edge[k] = b.edge[k - 1];
      b.at[k] = b.at[k - 1];
    }
    b.edge[k] = edge;
    b.at[k] = q;
  }
  return b;
}

static kedge_status allocate(kedge_solver *solver, const parts *of, kedge_matrix *matrix)
{
  const kg_elliptic *const p = solver->elliptic;
  const int m = p->shape.m;
  matrix->rows = of->ell.rows;
  KG_TRY(kg_host_calloc(p->ctx, (size_t)matrix->rows + 1, sizeof *matrix->begin, &matrix->begin));
  for (int32_t k = 0; k < p->shape.count.n_free; ++k) {
    const int64_t length = (int64_t)blocks_of(solver, of, k).n * m;
    for (int64_t row = (int64_t)k * m; row < (int64_t)(k + 1) * m; ++row)
      matrix->begin[row + 1] = matrix->begin[row] + length;
  }
  const size_t n = (size_t)matrix->begin[matrix->rows];
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *matrix->column, &matrix->column));
  return kg_host_alloc(p->ctx, n, sizeof *matrix->value, &matrix->value);
}

/// The m rows of an edge.
static void fill(const kedge_solver *solver, const parts *of, int32_t k, kedge_matrix *matrix)
{
  const kg_elliptic *const p = solver->elliptic;
  const int m = p->shape.m;
  const uint32_t here = solver->unknowns[k];
  const blocks b = blocks_of(solver, of, k);
  for (int i = 0; i < m; ++i) {
    int64_t to = matrix->begin[(int64_t)k * m + i];
    for (int q = 0; q < b.n; ++q)
      for (int j = 0; j < m; ++j, ++to) {
        const double sign =
            kg_unknown_sign(here, i) * kg_unknown_sign(solver->unknowns[b.edge[q]], j);
        const int64_t at = (b.at[q] * m + j) * of->ell.stride + (int64_t)(here >> 1) * m + i;
        matrix->column[to] = b.edge[q] * m + j;
        matrix->value[to] = sign * of->ell.value[at] / p->equation.scale;
      }
  }
}

static kedge_status make(kedge_solver *solver, parts *of, kedge_matrix *matrix)
{
  kg_elliptic *const p = solver->elliptic;
  const int32_t n_free = p->shape.count.n_free;
  KG_TRY(kg_enter(p->ctx));
  KG_TRY(kg_unknowns_find(solver));
  KG_TRY(kg_host_alloc(p->ctx, (size_t)n_free, sizeof *of->unknown_of, &of->unknown_of));
  for (int32_t k = 0; k < n_free; ++k) of->unknown_of[solver->unknowns[k] >> 1] = k;
  if (n_free > 0) KG_TRY(make_ell(p, of));
  KG_TRY(allocate(solver, of, matrix));
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(p->ctx, n_free, 64 * p->shape.m))
  for (int32_t k = 0; k < n_free; ++k) fill(solver, of, k, matrix);
  return KEDGE_OK;
}

kedge_status kedge_solver_matrix(kedge_solver *solver, kedge_matrix **out)
{
  KG_REQUIRE(NULL, solver, KEDGE_ERR_ARG, "kedge_solver_matrix: the solver is NULL");
  const kg_elliptic *const p = solver->elliptic;
  KG_REQUIRE(p->ctx, out, KEDGE_ERR_ARG, "kedge_solver_matrix: out is NULL");
  *out = NULL;
  KG_TRY(kg_solver_check_double(solver, "kedge_solver_matrix"));
  KG_REQUIRE(p->ctx, (int64_t)p->shape.count.n_edges * p->shape.m <= INT32_MAX,
             KEDGE_ERR_UNSUPPORTED,
             "kedge_solver_matrix: columns have 32 bits, too few for this mesh and order: take "
             "kedge_solver_apply()");
  kedge_matrix *matrix;
  KG_TRY(kg_host_calloc(p->ctx, 1, sizeof *matrix, &matrix));
  parts of = {.local = NULL};
  const kedge_status status = make(solver, &of, matrix);
  free(of.ell.column);
  free(of.ell.value);
  free(of.local);
  free(of.work);
  free(of.side_edge);
  free(of.unknown_of);
  if (status == KEDGE_OK)
    *out = matrix;
  else
    kedge_matrix_destroy(matrix);
  return status;
}

void kedge_matrix_destroy(kedge_matrix *matrix)
{
  if (!matrix) return;
  free(matrix->begin);
  free(matrix->column);
  free(matrix->value);
  free(matrix);
}
