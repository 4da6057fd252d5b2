/// @file
/// The iteration for the trace system: the matrix A, preconditioners, a Krylov method and their
/// vectors. Each solve has one for a single right-hand side in its memory plan. A second one, for
/// KG_VECTORS right-hand sides, has its own plan and reads the arrays of the set-up.
#pragma once
#include "linear/krylovs.h"
#include "linear/linears.h"
#include "precondition/precond.h"
#include "equation/shape.h"

/// The phase in which b is made with precision = compact; 0: with every residual, or another one.
static inline unsigned kg_phase_of_b(const kg_choice *c)
{
  if (c->residual != KG_REMADE) return 0;
  return c->repeats ? KG_IN(CONDENSE) : KG_IN(LOCAL);
}

/// It does not move from its declaration on.
typedef struct kg_iteration {
  kg_linears linear;        ///< A
  kg_patches cycle_linear;  ///< of cycles that have a number of their own
  kg_multigrid multigrid;   ///< from assembly to the end of the trace solve
  kg_precond jacobi;        ///< this, or what follows
  kg_cycle cycle;           ///< of all iterations but
  kg_cycle first, blocks;   ///< the first one, and the one that measures the smoother
  kg_krylovs method;
  double *x;           ///< the trace: that of the method, [row][n_rhs]
  double *b;           ///< [free row][n_rhs]
  double *load;        ///< of several: load vectors, [vector]; NULL: they do not stay
  double *halo;        ///< of products
  double *full_local;  ///< kg_shape_full_local()
  int32_t *ell_column;
  double *ell_value;
  void *ell_work;
} kg_iteration;

/// @param[in] n_rhs  1, or KG_VECTORS: kg_many_takes()
void kg_iteration_declare(kg_plan *plan, const kg_shape *shape, int n_rhs, kg_iteration *it);
/// Connect an iteration with its arrays, which must be allocated. Before, the caller sets b and
/// jacobi.inverse for one right-hand side, and calls kg_multigrid_share() for several.
/// @retval KEDGE_ERR_INTERNAL  no Krylov method fits this operator and preconditioner
kedge_status kg_iteration_bind(kedge_context *ctx, kg_iteration *it, const kg_shape *shape,
                               const kg_batch *batch, kg_locals locals);
void kg_iteration_free(kedge_context *ctx, kg_iteration *it);

/// Return whether a trace solve can have several right-hand sides: with packed or reduced K^e of
/// triangles, multigrid with an edge smoother, and an iteration in double precision.
bool kg_many_takes(kedge_context *ctx, const kg_shape *shape);
/// Return whether solving for n right-hand sides at once is faster than one by one. On a GPU it is
/// from three on: all KG_VECTORS take 2.3 to 2.8 times as long as one (profiling/many.c). On a host
/// it is not, as the data that right-hand sides share are in its caches anyway.
bool kg_many_pays(const kedge_context *ctx, int n);
/// Bytes of the iteration of KG_VECTORS right-hand sides.
int64_t kg_many_bytes(const kg_shape *shape);
