/// @file
/// The preconditioners of the trace (linear/linear.h): a diagonal, the blocks of a smoother, a
/// cycle of multigrid.
#pragma once
#include "linear/linears.h"
#include "precondition/multigrid.h"
KEDGE_BEGIN_DECLS

/// @param[in] inverse  [free row]: the inverse diagonal
kg_precond kg_jacobi_of(const double *inverse);

/// A cycle of multigrid, or without smoothing steps the smoother's B^-1 alone.
typedef struct kg_cycle {
  kg_precond base;
  const kg_multigrid *multigrid;
  /// NULL, or work, two doubles a vertex and vector at least, that nobody reads while the cycle is
  /// applied: the coarse system is solved well (precondition/amg/coarse.h), which makes a better z
  void *room;
  bool blocks;        ///< one smoothing without levels, also where there are smoothing steps
  kg_patches linear;  ///< A, of the number of the cycle
  void *product;      ///< work: [free row], of that number
  int32_t *exponent;  ///< device memory: M in single precision inside double is 2^exponent M; NULL
} kg_cycle;

/// @param[in] a         A, of the number of the iteration
/// @param[in] product   work: [free row], of that number
/// @param[in] exponent  device memory, one number; not read where the cycle has the number of A
kg_cycle kg_cycle_of(const kg_multigrid *multigrid, const kg_patches *a, void *product,
                     int32_t *exponent);

KEDGE_END_DECLS
