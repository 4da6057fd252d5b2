/// @file
/// Coefficients of the elements that lie in device memory, in the caller's order: what the host has
/// to know of them is found there.
#pragma once
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "core/error.h"
#include "core/inline.h"
KEDGE_BEGIN_DECLS

/// Numbers of diffusion, and these with the reaction behind them, in space.
enum { KG_TENSOR_MAX = 6, KG_COEFFICIENTS_MAX = KG_TENSOR_MAX + 1 };

/// Numbers of a tensor: xx, xy, yy in the plane; xx, xy, xz, yy, yz, zz in space.
KG_INLINE int kg_tensor_numbers(int dimension)
{
  return dimension * (dimension + 1) / 2;
}

/// Diffusion and reaction: [element of the caller] each in device memory; or NULL, then a constant.
typedef struct kg_element_coefficients {
  int dimension;
  const double *from[KG_COEFFICIENTS_MAX];
  double constant[KG_COEFFICIENTS_MAX];
} kg_element_coefficients;

/// @param[out] value  those of the dimension, and zeros
KG_INLINE void kg_coefficients_of(const kg_element_coefficients *c, int64_t element,
                                  double value[KG_COEFFICIENTS_MAX])
{
  const int n = kg_tensor_numbers(c->dimension) + 1;
  for (int k = 0; k < KG_COEFFICIENTS_MAX; ++k)
    value[k] = k >= n ? 0.0 : c->from[k] ? c->from[k][element] : c->constant[k];
}

/// Turn axes p and q of a tensor so that entry (p, q) becomes 0.
KG_INLINE void kg_tensor_turn(double a[3][3], int p, int q)
{
  if (a[p][q] == 0.0) return;
  const int other = 3 - p - q;
  const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
  const double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
  const double c = 1.0 / hypot(t, 1.0), s = t * c;
  const double to_p = a[p][other], to_q = a[q][other], lost = t * a[p][q];
  a[p][p] -= lost;
  a[q][q] += lost;
  a[p][q] = a[q][p] = 0.0;
  a[p][other] = a[other][p] = c * to_p - s * to_q;
  a[q][other] = a[other][q] = s * to_p + c * to_q;
}

/// The least eigenvalue of a tensor of space: Jacobi's rotations, of which so many leave nothing.
KG_INLINE double kg_least_eigenvalue_in_space(const double k[KG_TENSOR_MAX])
{
  enum { SWEEPS = 8 };
  double a[3][3] = {{k[0], k[1], k[2]}, {k[1], k[3], k[4]}, {k[2], k[4], k[5]}};
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    kg_tensor_turn(a, 0, 1);
    kg_tensor_turn(a, 0, 2);
    kg_tensor_turn(a, 1, 2);
  }
  const double sum = a[0][0] + a[1][1] + a[2][2];
  return sum == sum ? fmin(a[0][0], fmin(a[1][1], a[2][2])) : sum;  // fmin() passes over NaN
}

/// The least eigenvalue of a tensor.
KG_INLINE double kg_least_eigenvalue(int dimension, const double *tensor)
{
  if (dimension == 3) return kg_least_eigenvalue_in_space(tensor);
  const double mean = 0.5 * (tensor[0] + tensor[2]), half = 0.5 * (tensor[0] - tensor[2]);
  return mean - hypot(half, tensor[1]);
}

/// The largest number on the diagonal of a tensor.
KG_INLINE double kg_most_diffusion(int dimension, const double *tensor)
{
  return dimension == 3 ? fmax(tensor[0], fmax(tensor[3], tensor[5])) : fmax(tensor[0], tensor[2]);
}

/// Whether a tensor is a number times the identity.
KG_INLINE bool kg_is_number(int dimension, const double *k)
{
  if (dimension == 2) return k[1] == 0.0 && k[0] == k[2];
  return k[1] == 0.0 && k[2] == 0.0 && k[4] == 0.0 && k[0] == k[3] && k[0] == k[5];
}

/// Whether diffusion is positive definite, with an eigenvalue that is no subnormal number, and
/// reaction not negative. @param[in] value  a tensor, and the reaction; an infinite one is not
/// elliptic
KG_INLINE bool kg_is_elliptic(int dimension, const double *value)
{
  const double reaction = value[dimension == 3 ? 6 : 3];
  return kg_least_eigenvalue(dimension, value) >= DBL_MIN &&
         kg_most_diffusion(dimension, value) <= DBL_MAX && reaction >= 0.0 && reaction <= DBL_MAX;
}

/// What the host has to know of n elements.
typedef struct kg_element_summary {
  int64_t bad;  ///< the first element that is not elliptic; -1: all are
  double most
      [2];  ///< the largest diffusion along an axis, and the largest reaction, where none is bad
} kg_element_summary;

/// Look at all, and wait for the answer.
kedge_status kg_element_coefficients_look(kedge_context *ctx, int64_t n,
                                          const kg_element_coefficients *c,
                                          kg_element_summary *out);
kedge_status kg_element_coefficients_look_cuda(kedge_context *ctx, int64_t n,
                                               const kg_element_coefficients *c,
                                               kg_element_summary *out);

KEDGE_END_DECLS
