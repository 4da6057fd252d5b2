/// @file
/// Rows on which the vector passes of conjugate gradients with a preconditioner work, in kg_real.
/// Shared by host and GPU.
#pragma once
#include "core/inline.h"
#include "ops/vector/cg_vectors.h"
#include "ops/real.h"

typedef struct pcg_rows {
  kg_real *r, *p, *ap;
} pcg_rows;

KG_INLINE pcg_rows pcg_rows_of(const kg_cg_vectors_args *a)
{
#ifdef KG_COMPILE_SINGLE
  const pcg_rows rows = {a->r_single, a->p_single, a->ap_single};
#else
  const pcg_rows rows = {a->r, a->p, a->ap};
#endif
  return rows;
}

/// r is 2^exponent times the residual.
KG_INLINE int pcg_exponent(const kg_cg_state *state)
{
#ifdef KG_COMPILE_SINGLE
  return state->exponent;
#else
  (void)state;
  return 0;
#endif
}
