/// @file
/// Local matrices and condensed loads of all elements (King 2014, steps B1 and B2).
///
///   Z^-1 = L L^T,  W = L^-1 R,  K^e = S0 - W^T W,  F^e = W^T L^-1 f^e (docs/math.md#elimination)
///
/// for the modes of degree below P, the others having been eliminated by hand
/// (docs/math.md#by-hand), in the orientation of the trace edges: the odd Legendre modes of
/// reversed sides have changed sign.
#pragma once
#include "ops/element.h"
#include "ops/local_reduced.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_local_matrices_args {
  kg_batch batch;
  kg_material material;
  const double *load;  ///< [group][N][lane]: f^e = (f, phi_i)
  double *local;       ///< out: [group][row][lane], K^e, packed or reduced; 0 in empty lanes
  double *condensed;   ///< out: [group][n][lane], F^e
  bool reduced;        ///< make reduced K^e (ops/local_reduced.h); without reaction
} kg_local_matrices_args;

/// Rows of an element of `local`.
KG_INLINE int kg_local_matrices_rows(const kg_local_matrices_args *args)
{
  const kg_sizes size = args->batch.reference.size;
  return args->reduced ? kg_reduced_rows(size) : size.n_packed;
}

KG_DECLARE_OPERATOR(kg_local_matrices, kg_local_matrices_args);
kg_cost kg_local_matrices_cost(kg_sizes size, bool reduced, int64_t n_elements);

KEDGE_END_DECLS
