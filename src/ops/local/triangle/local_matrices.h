/// @file
/// Local matrices and condensed loads of all elements (King 2014, steps B1 and B2).
///
///   Z^-1 = L L^T,  W = L^-1 R,  K^e = S0 - W^T W,  F^e = W^T L^-1 f^e (docs/math.md#elimination)
///
/// for the modes of degree below P, the others having been eliminated by hand
/// (docs/math.md#by-hand), in the orientation of the trace edges: the odd Legendre modes of
/// reversed sides have changed sign.
#pragma once
#include "ops/local/triangle/element.h"
#include "ops/local/reduced.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_local_matrices_args {
  kg_batch batch;
  kg_materials materials;
  const double *load;  ///< [group][N][lane]: f^e = (f, phi_i)
  kg_local local;      ///< out: K^e in double precision, PACKED or, without reaction, REDUCED; of
                       ///< the lanes of `batch`, 0 in empty ones
  double *condensed;   ///< out: [group][n][lane], F^e
} kg_local_matrices_args;

KG_DECLARE_OPERATOR(kg_local_matrices, kg_local_matrices_args);
kg_cost kg_local_matrices_cost(kg_sizes size, kg_layout layout, int64_t n_elements);

KEDGE_END_DECLS
