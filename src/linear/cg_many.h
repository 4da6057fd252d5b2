/// @file
/// Conjugate gradients of many right-hand sides at once: what kg_cg_loop does, over KG_VECTORS
/// vectors, which share what A and M read; and in fewer passes, because vectors weigh more here
/// (ops/vector/pcg_many.h). Each vector has the scalars of its own and stops by its own rule; from
/// there on it stays as it is.
#pragma once
#include "linear/cg.h"
#include "ops/vector/pcg_many.h"
KEDGE_BEGIN_DECLS

typedef struct kg_cg_many {
  /// `linear` is in double precision, `precond` more than a diagonal; both take many vectors, which
  /// are [row][vector]; `sum` has [vector][KG_PIECES] parts.
  kg_krylov base;
  kg_pcg_many_args v;
  kg_advance advance;  ///< of r by A p
  kg_sum product_sum;  ///< parts of p . A p; totals are those of the states
  kg_cg_states state;  ///< host copy, as of the last check
  kg_repeat repeat;
  kg_lanczos lanczos[KG_VECTORS];
} kg_cg_many;

/// Memory on the device: as kg_cg_args, but of many vectors.
typedef struct kg_cg_many_args {
  const kg_linear *linear;
  const kg_precond *precond;
  double *x, *r, *p, *ap;
  void *z;
  double *part;  ///< [vector][KG_PIECES]
  double *product_part;
  int64_t product_parts;  ///< of a vector
  double *total;          ///< [vector]
  kg_cg_states *states;
  kg_cg_step *steps;  ///< [vector][KG_CG_STEPS]
} kg_cg_many_args;

kg_cg_many kg_cg_many_of(const kg_cg_many_args *args);

/// As kg_krylov_table.iterate() of each vector. Those whose rr is not above their target are left
/// alone.
/// @param[in] rr, rule  [vector]; the progress that is told is that of the vector furthest from its
///                      target, by the function of the first rule
/// @param[in,out] result  [vector]
kedge_status kg_cg_many_iterate(kedge_context *ctx, kg_cg_many *cg, const double *rr,
                                const kg_rule *rule, kg_iterated *result);
void kg_cg_many_free(kedge_context *ctx, kg_cg_many *cg);

KEDGE_END_DECLS
