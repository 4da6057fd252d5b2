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

/// Diffusion xx, xy, yy, and reaction: [element of the caller] each in device memory; or NULL, then
/// a constant.
typedef struct kg_element_coefficients {
  const double *from[4];
  double constant[4];
} kg_element_coefficients;

KG_INLINE void kg_coefficients_of(const kg_element_coefficients *c, int64_t element,
                                  double value[4])
{
  for (int k = 0; k < 4; ++k) value[k] = c->from[k] ? c->from[k][element] : c->constant[k];
}

/// The least eigenvalue of a tensor xx, xy, yy.
KG_INLINE double kg_least_eigenvalue(const double tensor[3])
{
  const double mean = 0.5 * (tensor[0] + tensor[2]), half = 0.5 * (tensor[0] - tensor[2]);
  return mean - hypot(half, tensor[1]);
}

/// Whether diffusion is positive definite, with an eigenvalue that is no subnormal number, and
/// reaction not negative. @param[in] value  xx, xy, yy, reaction; an infinite one is not elliptic
KG_INLINE bool kg_is_elliptic(const double value[4])
{
  return kg_least_eigenvalue(value) >= DBL_MIN && value[0] <= DBL_MAX && value[2] <= DBL_MAX &&
         value[3] >= 0.0 && value[3] <= DBL_MAX;
}

/// What the host has to know of n elements.
typedef struct kg_element_summary {
  int64_t bad;     ///< the first element that is not elliptic; -1: all are
  double most[2];  ///< the largest diffusion xx or yy, and the largest reaction, where none is bad
} kg_element_summary;

/// Look at all, and wait for the answer.
kedge_status kg_element_coefficients_look(kedge_context *ctx, int64_t n,
                                          const kg_element_coefficients *c,
                                          kg_element_summary *out);
kedge_status kg_element_coefficients_look_cuda(kedge_context *ctx, int64_t n,
                                               const kg_element_coefficients *c,
                                               kg_element_summary *out);

KEDGE_END_DECLS
