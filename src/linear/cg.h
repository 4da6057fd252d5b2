/// @file
/// Conjugate gradients: one recurrence for every backend, operator and preconditioner
/// (docs/math.md#cg), and the same in one kernel for small problems.
///
/// Several right-hand sides share what A and M read, in fewer passes than one, because vectors
/// weigh more there (ops/vector/pcg_many.h). Each has the scalars of its own and stops by its own
/// rule; from there on it stays as it is.
#pragma once
#include "linear/lanczos.h"
#include "linear/linear.h"
#include "ops/vector/cg_vectors.h"
#include "ops/vector/pcg_many.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cg {
  kg_krylov base;
  // Device memory that declare() asks for. Vectors have the number of `linear`, z that of M, and
  // those of several right-hand sides lie side by side.
  void *p;               ///< [row]: the direction
  void *ap;              ///< [free row]: A p
  void *r;               ///< [free row]; that of A p where M is pointwise
  void *z;               ///< [row]: M r; [free row] where M is pointwise
  double *part;          ///< 2 * KG_PIECES, or KG_PIECES of each of several
  double *product_part;  ///< of p . A p
  double *total;         ///< of several
  kg_cg_states *states;  ///< of one the first state alone
  kg_cg_step *steps;     ///< [n_rhs][KG_CG_STEPS]
  int32_t *exponent;     ///< [n_rhs], of M
  void *room;            ///< of M, where p has not as many bytes
  void *work;            ///< of kg_cg_one_kernel
  size_t work_bytes;

  kg_cg_vectors_args v;   ///< of one right-hand side
  kg_pcg_many_args many;  ///< of several, as what follows
  kg_advance advance;     ///< of r by A p
  kg_cg_states state;     ///< host copy, as of the last check
  kg_repeat repeat[2];    ///< a batch of iterations: with the M of the method, with another one
  kg_lanczos lanczos[KG_VECTORS];  ///< of the steps of this iteration
  bool brief;                      ///< it is looked at often, for the part of a rule
} kg_cg;

static inline bool kg_cg_is_several(const kg_cg *cg)
{
  return cg->base.linear->n_rhs > 1;
}

/// Takes every symmetric system, with vectors in double precision where M is pointwise or there are
/// several right-hand sides, which it takes with an M that is more.
extern const kg_krylov_table kg_cg_loop;
/// All iterations in one kernel (ops/trace/cg_resident.h): packed K^e by patches, M pointwise, few
/// elements.
extern const kg_krylov_table kg_cg_one_kernel;

/// Most iterations of one kernel, which asks for no batches: a millisecond or two.
enum { KG_CG_LAUNCH = 256 };
/// Launches `batches` batches of iterations, or fewer that end with a stop.
typedef kedge_status kg_cg_launch(kedge_context *ctx, kg_cg *cg, const kg_precond *precond,
                                  int batches);
/// The functions of both tables; iterate() is what lies around the launches.
void kg_cg_declare(kg_plan *plan, kg_krylov *krylov);
void kg_cg_bind(kg_krylov *krylov);
kedge_status kg_cg_take(kedge_context *ctx, kg_krylov *krylov, const double *rr, bool first);
kedge_status kg_cg_iterate(kedge_context *ctx, kg_cg *cg, const kg_precond *precond,
                           kg_cg_launch *launch, const double *rr, const kg_rule *rule,
                           kg_iterated *result);
kg_cost kg_cg_cost(const kg_krylov *krylov);
void kg_cg_free(kedge_context *ctx, kg_krylov *krylov);

KEDGE_END_DECLS
