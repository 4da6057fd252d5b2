/// @file
/// Values of a field at nodes, from its modes as local solve and post-processing leave them, into
/// an array in the caller's order of elements: v_q = sum over modes k of phi_k(node q) c_k.
#pragma once
#include <math.h>

#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

/// Elements of one shape. A mesh of both has `quadrilaterals` of the caller's elements that are
/// quadrilaterals, with n_more nodes more than triangles.
typedef struct kg_node_values_args {
  int64_t n_elements;
  int n_nodes, n_modes, n_star;
  const double *basis;  ///< [node][n_star]; the first n_modes are read
  const double *from;   ///< [group][rows][lane]; the modes are rows first_row ...
  int rows, first_row;
  const int32_t *origin;          ///< [element]: its number in the caller's order
  const int32_t *quadrilaterals;  ///< [element]: those before it in that order; NULL: one shape
  int n_fewest, n_more;           ///< nodes of an element with the fewest; of others more
  double *to;                     ///< [element of the caller][node]
} kg_node_values_args;

KG_DECLARE_OPERATOR(kg_node_values, kg_node_values_args);

/// sum + a b, rounded once where the host's code is: host and GPU make the same bits
/// (CMakeLists.txt says the GPU's compiler which).
KG_INLINE double kg_add_product(double a, double b, double sum)
{
#ifdef __FMA__
  return fma(a, b, sum);
#else
  return sum + a * b;
#endif
}

KG_INLINE void kg_node_value(const kg_node_values_args *a, int64_t e, int q)
{
  const double *const c =
      a->from + (e / KG_LANES * a->rows + a->first_row) * KG_LANES + e % KG_LANES;
  const double *const phi = a->basis + (int64_t)q * a->n_star;
  double sum = 0.0;
  for (int k = 0; k < a->n_modes; ++k) sum = kg_add_product(phi[k], c[(int64_t)k * KG_LANES], sum);
  int64_t first = (int64_t)a->origin[e] * a->n_fewest;
  if (a->quadrilaterals) first += (int64_t)a->quadrilaterals[e] * a->n_more;
  a->to[first + q] = sum;
}

KEDGE_END_DECLS
