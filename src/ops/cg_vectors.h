/// @file
/// The vector updates of Jacobi-preconditioned conjugate gradients, with their dot products fused.
/// The scalars stay in device memory (ops/cg_state.h).
#pragma once
#include "ops/cg_state.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cg_vectors_args {
  int64_t
      n;  ///< rows of free edges; x and p are longer (Dirichlet rows), their rest is not touched
  const double *inverse;  ///< [n] inverse diagonal: the preconditioner
  const double *b;        ///< [n] right-hand side (start only)
  double *x, *r, *p;
  double *ap;       ///< [n] A p; for start: A x
  double *partial;  ///< work: 2 * KG_CG_PARTIALS
  kg_cg_state *state;
} kg_cg_vectors_args;

enum { KG_CG_PARTIALS = 1024 };

/// r = b - A x, p = D^-1 r, rr, rz.
kedge_status kg_cg_start(kedge_context *ctx, const kg_cg_vectors_args *args);
/// alpha = rz / p_ap; x += alpha p; r -= alpha A p; rr, rz_next; counts the iteration and stops at
/// the target or at max_iterations.
kedge_status kg_cg_update(kedge_context *ctx, const kg_cg_vectors_args *args);
/// beta = rz_next / rz; p = D^-1 r + beta p; rz = rz_next.
kedge_status kg_cg_direction(kedge_context *ctx, const kg_cg_vectors_args *args);

/// All three passes of one iteration but the operator.
kg_cost kg_cg_vectors_cost(int64_t n);

kedge_status kg_cg_start_host(kedge_context *ctx, const kg_cg_vectors_args *args);
kedge_status kg_cg_update_host(kedge_context *ctx, const kg_cg_vectors_args *args);
kedge_status kg_cg_direction_host(kedge_context *ctx, const kg_cg_vectors_args *args);
kedge_status kg_cg_start_cuda(kedge_context *ctx, const kg_cg_vectors_args *args);
kedge_status kg_cg_update_cuda(kedge_context *ctx, const kg_cg_vectors_args *args);
kedge_status kg_cg_direction_cuda(kedge_context *ctx, const kg_cg_vectors_args *args);

KEDGE_END_DECLS
