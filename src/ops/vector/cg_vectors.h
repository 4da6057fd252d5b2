/// @file
/// The vector updates of conjugate gradients, with their dot products fused: with a diagonal for a
/// preconditioner (kg_cg_*), and with one that is more (kg_pcg_*, linear/linear.h). The scalars
/// stay in device memory (ops/vector/cg_state.h).
///
/// With a diagonal the recurrence keeps z = D^-1 r instead of r, which is z divided by the inverse
/// diagonal where a sum needs it: then the direction reads one vector less. x moves one pass later
/// than z, in the pass that reads p anyway.
///
/// With more an iteration begins with rz = 0, where there is no direction yet, and with z = M r and
/// its r . z (rz_next of the state), so that none is begun in vain: the update, which decides
/// whether to stop, ends it.
#pragma once
#include "ops/vector/cg_state.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// Vectors begin at multiples of 16 bytes.
typedef struct kg_cg_vectors_args {
  int64_t
      n;  ///< rows of free edges; x and p are longer (Dirichlet rows), whose rest is not touched
  const double *inverse;  ///< [n] inverse diagonal: the preconditioner; NULL: kg_pcg_*
  double *x, *z, *p;
  float *z_single;  ///< kg_pcg_*: z is here; NULL: it is in z
  /// kg_pcg_*: r, p and A p of the iteration, 2^exponent times; NULL: in r, p, ap
  float *r_single, *p_single, *ap_single;
  double *r;        ///< [n] the residual; kg_cg_*: it is ap, read at the beginning alone
  double *ap;       ///< [n] A p
  kg_open open;     ///< of ap (update)
  double *partial;  ///< work: 2 * KG_PIECES
  kg_cg_state *state;
  kg_cg_step *steps;  ///< [KG_CG_STEPS], of kg_cg_keep(); or NULL
} kg_cg_vectors_args;

/// The number in which all vectors of the iteration but x are kept.
static inline kg_number kg_cg_number(const kg_cg_vectors_args *args)
{
  return args->r_single ? KG_SINGLE : KG_DOUBLE;
}

/// z = D^-1 r, p = z, rz. Stops where rz is not finite.
KG_DECLARE_OPERATOR(kg_cg_begin, kg_cg_vectors_args);
/// Stops where p_ap is not positive. Else alpha = rz / p_ap; z -= alpha D^-1 A p; rr, rz_next;
/// counts the iteration and stops at the target or at max_iterations.
KG_DECLARE_OPERATOR(kg_cg_update, kg_cg_vectors_args);
/// beta = rz_next / rz; x += alpha p; p = z + beta p; rz = rz_next. Also once after a stop, so that
/// x belongs to z.
KG_DECLARE_OPERATOR(kg_cg_direction, kg_cg_vectors_args);
/// All passes of one iteration but the operator.
kg_cost kg_cg_vectors_cost(int64_t n);

/// Stops where rz_next is not positive. Else beta = rz_next / rz, or 0; p = z + beta p;
/// rz = rz_next.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_pcg_direction, kg_cg_vectors_args);
/// Stops where p_ap is not positive. Else alpha = rz / p_ap; x += alpha p, without the exponent of
/// r_single; r -= alpha A p; rr, without it too; counts the iteration and stops at the target or at
/// max_iterations.
KG_DECLARE_OPERATOR_OF_NUMBERS(kg_pcg_update, kg_cg_vectors_args);
/// The cost of both passes of an iteration. In single precision x alone is double.
kg_cost kg_pcg_vectors_cost(int64_t n, kg_number number);

KEDGE_END_DECLS
