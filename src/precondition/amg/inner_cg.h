/// @file
/// Conjugate gradients inside a coarse solver: passes over vectors, whose scalars stay in device
/// memory and never stop it. Where p . A p is not positive, x and r stay.
#pragma once
#include "ops/ops.h"
#include "ops/pass.h"
KEDGE_BEGIN_DECLS

typedef struct kg_inner_cg_args {
  int64_t n;  ///< numbers of all vectors: rows, or [row][vector]
  double *x, *r, *p;
  const double *z;          ///< M r
  const double *next;       ///< r - A p
  const double *rz;         ///< [vector]: r . z
  const double *rz_before;  ///< [vector]: r . z a step before; NULL: this is the first step
  const double *p_ap;       ///< [vector]: p . A p
  kg_sum sum;               ///< what a sum writes, with KG_PIECES parts
  bool many;                ///< of KG_VECTORS vectors
} kg_inner_cg_args;

/// sum = r . z
KG_DECLARE_OPERATOR(kg_inner_cg_rz, kg_inner_cg_args);
/// p = z + rz / rz_before p, or z
KG_DECLARE_OPERATOR(kg_inner_cg_direction, kg_inner_cg_args);
/// sum = p . (r - next)
KG_DECLARE_OPERATOR(kg_inner_cg_p_ap, kg_inner_cg_args);
/// alpha = rz / p_ap; x += alpha p, or alpha p in the first step; r -= alpha A p.
KG_DECLARE_OPERATOR(kg_inner_cg_update, kg_inner_cg_args);

KG_INLINE double kg_inner_cg_ratio(const double *above, const double *below, int vector)
{
  return below[vector] > 0.0 ? above[vector] / below[vector] : 0.0;
}

/// @param[in] i  which number of the vectors
KG_INLINE void kg_inner_cg_direction_number(const kg_inner_cg_args *a, int64_t i)
{
  const int vector = a->many ? (int)(i % KG_VECTORS) : 0;
  const double beta = a->rz_before ? kg_inner_cg_ratio(a->rz, a->rz_before, vector) : 0.0;
  a->p[i] = a->rz_before ? a->z[i] + beta * a->p[i] : a->z[i];
}

KG_INLINE void kg_inner_cg_update_number(const kg_inner_cg_args *a, int64_t i)
{
  const double alpha = kg_inner_cg_ratio(a->rz, a->p_ap, a->many ? (int)(i % KG_VECTORS) : 0);
  a->x[i] = alpha * a->p[i] + (a->rz_before ? a->x[i] : 0.0);
  a->r[i] += alpha * (a->next[i] - a->r[i]);
}

KEDGE_END_DECLS
