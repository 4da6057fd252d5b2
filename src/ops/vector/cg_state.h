/// @file
/// Scalars of a conjugate gradient iteration, known to cg_* alone. They live in device memory:
/// kernels compute and read them, and after a stop every operator that is given `stop` does nothing
/// (ops/pass.h), so that the host may launch ahead and learn of the end later.
#pragma once
#include "ops/pass.h"

enum kg_cg_stop {
  KG_CG_RUNNING,
  KG_CG_CONVERGED,
  KG_CG_LIMIT,           ///< max_iterations reached
  KG_CG_INDEFINITE,      ///< p . A p <= 0
  KG_CG_NOT_FINITE,      ///< NaN or infinity
  KG_CG_PRECONDITIONER,  ///< r . z <= 0, or the first one of a diagonal is not finite
};

typedef struct kg_cg_state {
  double p_ap;     ///< p . A p
  double rz;       ///< r . z
  double rz_next;  ///< r . z after the update
  double rr;       ///< r . r
  double rr_next;  ///< of many vectors (ops/vector/pcg_many.h): r . r after the update
  double factor;   ///< of many vectors: -alpha, by which r advances; 0 after a stop
  double target;   ///< stop when rr <= target
  int64_t iterations, max_iterations;
  int64_t steps;     ///< of x; while one is missing, x is a step behind z
  int32_t stop;      ///< enum kg_cg_stop
  int32_t exponent;  ///< in single precision: r is 2^exponent times the residual
} kg_cg_state;

/// The states of many vectors, and whether all of them have stopped.
typedef struct kg_cg_states {
  kg_cg_state of[KG_VECTORS];
  int32_t stop;
} kg_cg_states;

/// Numbers of double between sums of these.
enum { KG_CG_STRIDE = sizeof(kg_cg_state) / sizeof(double) };

/// What an iteration says of the matrix that it multiplies by (linear/lanczos.h).
typedef struct kg_cg_step {
  double p_ap;    ///< p . A p
  double rz, rr;  ///< r . z and r . r of the residual before the step
} kg_cg_step;

/// Steps that are kept, iteration i in i mod KG_CG_STEPS: the host takes them before others come.
enum { KG_CG_STEPS = 512 };

/// Keep the scalars of an iteration, before it is counted. @param[out] steps  [KG_CG_STEPS]; or
/// NULL
KG_INLINE void kg_cg_keep(kg_cg_step *steps, const kg_cg_state *state)
{
  if (!steps) return;
  kg_cg_step *const step = &steps[state->iterations % KG_CG_STEPS];
  step->p_ap = state->p_ap;
  step->rz = state->rz;
  step->rr = state->rr;
}

/// The first r . z of a preconditioner that is a diagonal.
KG_INLINE void kg_cg_first(kg_cg_state *state, double rz)
{
  state->rz = rz;
  if (!isfinite(rz)) state->stop = KG_CG_PRECONDITIONER;
}

/// The residual after an update: one more iteration, and whether it is the last.
KG_INLINE void kg_cg_count(kg_cg_state *state, double rr, double rz)
{
  state->rr = rr;
  state->rz_next = rz;
  ++state->iterations;
  if (!isfinite(rr) || !isfinite(rz))
    state->stop = KG_CG_NOT_FINITE;
  else if (rr <= state->target)
    state->stop = KG_CG_CONVERGED;
  else if (state->iterations >= state->max_iterations)
    state->stop = KG_CG_LIMIT;
}

/// Judge p . A p of a direction, or r . z: CG goes on only while it is finite and positive. Every
/// block of the kernel that reads it comes to the same stop, and one thread notes that: which
/// blocks see the note, and which only the sum, makes no difference.
/// @param not_positive  the stop of a sum that is not positive
KG_INLINE int32_t kg_cg_judge(double sum, int32_t not_positive)
{
  if (!isfinite(sum)) return KG_CG_NOT_FINITE;
  return sum <= 0.0 ? not_positive : KG_CG_RUNNING;
}
