/// @file
/// Conjugate gradients: one recurrence for every backend, operator and preconditioner
/// (docs/math.md#cg), and the same in one kernel for small problems.
#pragma once
#include "device/plan.h"
#include "linear/lanczos.h"
#include "linear/linear.h"
#include "ops/vector/cg_vectors.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cg {
  kg_krylov base;
  kg_cg_vectors_args v;
  double *product_part;  ///< parts of p . A p, as many as `linear` makes
  void *work;            ///< of kg_cg_one_kernel: kg_cg_resident_bytes()
  kg_plan *plan;         ///< whose phases an iteration enters; or NULL
  kg_cg_state state;     ///< host copy, as of the last check
  kg_repeat repeat;      ///< a batch of iterations
  kg_lanczos lanczos;    ///< of the steps of this iteration
  bool brief;            ///< it is looked at often, for the part of a rule
} kg_cg;

/// Memory on the device. Rows of Dirichlet edges of p and z are zero.
typedef struct kg_cg_args {
  const kg_linear *linear;
  const kg_precond *precond;
  double *x;             ///< [row]
  void *r, *p, *ap, *z;  ///< as in kg_krylov; where M is pointwise r is ap, and z [free row]
  double *part;          ///< 2 * KG_PIECES
  double *product_part;  ///< as many as a product of `linear` makes
  kg_cg_state *state;
  kg_cg_step *steps;  ///< [KG_CG_STEPS]; NULL: what is left (kg_iterated) is not known
  void *work;         ///< kg_cg_resident_bytes(), for kg_cg_one_kernel alone
  kg_plan *plan;      ///< as in kg_cg
} kg_cg_args;

/// Takes every symmetric system, with vectors in double precision where M is pointwise.
extern const kg_krylov_table kg_cg_loop;
/// All iterations in one kernel (ops/trace/cg_resident.h): packed K^e by patches, M pointwise, few
/// elements.
extern const kg_krylov_table kg_cg_one_kernel;

/// The first method that takes a system; NULL: none does.
const kg_krylov_table *kg_krylov_for(kedge_context *ctx, const kg_linear *linear,
                                     const kg_precond *precond);
/// Make the iteration of a table; free it by table->free().
kg_cg kg_cg_of(const kg_krylov_table *table, const kg_cg_args *args);

/// Most iterations of one kernel, which asks for no batches: a millisecond or two.
enum { KG_CG_LAUNCH = 256 };
/// Launches `batches` batches of iterations, or fewer that end with a stop.
typedef kedge_status kg_cg_launch(kedge_context *ctx, kg_cg *cg, int batches);
/// The iteration of a table, between its first direction and the check of its stop.
kedge_status kg_cg_iterate(kedge_context *ctx, kg_cg *cg, kg_cg_launch *launch, double rr,
                           const kg_rule *rule, kg_iterated *result);
/// A stop that is a failure, in a sentence.
kedge_status kg_cg_check_stop(kedge_context *ctx, const kg_krylov *krylov,
                              const kg_cg_state *state);
kg_cost kg_cg_cost(const kg_krylov *krylov);
void kg_cg_free(kedge_context *ctx, kg_krylov *krylov);

KEDGE_END_DECLS
