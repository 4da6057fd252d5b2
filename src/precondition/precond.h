/// @file
/// The preconditioners of the trace (linear/linear.h): a diagonal, the blocks of a smoother, a
/// cycle of multigrid.
#pragma once
#include "linear/linears.h"
#include "precondition/multigrid.h"
KEDGE_BEGIN_DECLS

/// @param[in] inverse  [free row]: the inverse diagonal of A
kg_precond kg_jacobi_of(const kg_linear *a, const double *inverse);

/// A cycle of multigrid, or without smoothing steps the smoother's B^-1 alone. A cycle in single
/// precision inside double has vectors of its own; M is 2^exponent M there.
typedef struct kg_cycle {
  kg_precond base;
  kg_multigrid *multigrid;
  bool well;    ///< the coarse system is solved well (precondition/amg/coarse.h): a better z
  bool blocks;  ///< one smoothing without levels, also where there are smoothing steps
} kg_cycle;

/// @param[in] multigrid  need not stand yet, but its shape and solver are there; declared with M
/// @param[in] a          A by patches, of the number of the cycle
kg_cycle kg_cycle_of(kg_multigrid *multigrid, const kg_linear *a);

KEDGE_END_DECLS
