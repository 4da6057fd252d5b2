/// @file
/// load += factor (mass u, phi), of elements of any shape: what the state at the beginning of a
/// step in time adds to the load vectors of a stage.
///
/// Where J mass is a number in an element, modes are orthonormal, and the product is that number
/// times u. Elsewhere it is integrated by the rule of the local matrices, in which the same mass
/// stands beside the reaction: both sides must have the same errors of quadrature, as they are
/// divided by the step.
#pragma once
#include <math.h>

#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

enum { KG_MASS_MODES_MAX = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1) };

/// A range of whole groups.
typedef struct kg_mass_args {
  int64_t n_elements;  ///< lanes behind the last are left alone
  int n_modes;         ///< N
  int n_points;        ///< 0: J mass is a number
  /// [group][lane]: J mass; with points [group][point][lane]: that times the weight of the point
  const double *weight;
  const double *value;  ///< [point][stride]: phi, of which the first N are read
  int stride;
  double constant;  ///< the integral of phi_0 over the reference element
  double factor;
  const double *u;  ///< [group][N][lane]
  double *load;     ///< [group][N][lane]
} kg_mass_args;

KG_DECLARE_OPERATOR(kg_mass_add, kg_mass_args);
/// The integral of mass u over each element, [group][lane], in place of `load`. `factor` is not
/// read.
KG_DECLARE_OPERATOR(kg_mass_integral, kg_mass_args);
/// The root of the integral of mass u^2 over each element, likewise.
KG_DECLARE_OPERATOR(kg_mass_norm, kg_mass_args);
kg_cost kg_mass_cost(const kg_mass_args *args);

/// Where the modes, points, ... of element e begin; they are KG_LANES apart.
KG_INLINE int64_t kg_mass_at(int64_t e, int rows)
{
  return e / KG_LANES * rows * KG_LANES + e % KG_LANES;
}

KG_INLINE void kg_mass_element(const kg_mass_args *a, int64_t e)
{
  const int N = a->n_modes;
  const double *const u = a->u + kg_mass_at(e, N);
  double *const load = a->load + kg_mass_at(e, N);
  if (a->n_points == 0) {
    const double times = a->factor * a->weight[e];
    for (int i = 0; i < N; ++i) load[i * KG_LANES] += times * u[i * KG_LANES];
    return;
  }
  const double *const weight = a->weight + kg_mass_at(e, a->n_points);
  double sum[KG_MASS_MODES_MAX];
  for (int i = 0; i < N; ++i) sum[i] = 0.0;
  for (int q = 0; q < a->n_points; ++q) {
    const double *const phi = a->value + (int64_t)q * a->stride;
    double here = 0.0;
    for (int i = 0; i < N; ++i) here += phi[i] * u[i * KG_LANES];
    here *= weight[q * KG_LANES];
    for (int i = 0; i < N; ++i) sum[i] += phi[i] * here;
  }
  for (int i = 0; i < N; ++i) load[i * KG_LANES] += a->factor * sum[i];
}

KG_INLINE void kg_mass_element_integral(const kg_mass_args *a, int64_t e)
{
  const double *const u = a->u + kg_mass_at(e, a->n_modes);
  const double *const weight = a->weight + kg_mass_at(e, a->n_points > 0 ? a->n_points : 1);
  double sum = a->n_points > 0 ? 0.0 : *weight * a->constant * *u;
  for (int q = 0; q < a->n_points; ++q) {
    const double *const phi = a->value + (int64_t)q * a->stride;
    double here = 0.0;
    for (int i = 0; i < a->n_modes; ++i) here += phi[i] * u[i * KG_LANES];
    sum += weight[q * KG_LANES] * here;
  }
  a->load[e] = sum;
}

KG_INLINE void kg_mass_element_norm(const kg_mass_args *a, int64_t e)
{
  const double *const u = a->u + kg_mass_at(e, a->n_modes);
  const double *const weight = a->weight + kg_mass_at(e, a->n_points > 0 ? a->n_points : 1);
  double sum = 0.0;
  if (a->n_points == 0)
    for (int i = 0; i < a->n_modes; ++i) sum += *weight * u[i * KG_LANES] * u[i * KG_LANES];
  for (int q = 0; q < a->n_points; ++q) {
    const double *const phi = a->value + (int64_t)q * a->stride;
    double here = 0.0;
    for (int i = 0; i < a->n_modes; ++i) here += phi[i] * u[i * KG_LANES];
    sum += weight[q * KG_LANES] * here * here;
  }
  a->load[e] = sqrt(sum);
}

KEDGE_END_DECLS
