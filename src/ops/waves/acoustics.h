/// @file
/// Sound, in as many dimensions as KG_LAW_DIMENSION says,
///
///   p_t / bulk = -div v,   density v_t = -grad p.
///
/// With Z = sqrt(density bulk) and Y = 1 / Z the flux is that of characteristics with alpha = 1,
/// and central with alpha = 0. A wall has the n . v of its data, what is soft the p.
#pragma once
#include <math.h>

#include "ops/waves/stage.h"

enum { KG_LAW_FIELDS = 1 + KG_LAW_DIMENSION, KG_LAW_NUMBERS = 4 };
enum { Z, Y, BULK, OVER_DENSITY };
enum { P, V };

#if KG_LAW_SPACE
#define KG_LAW_VELOCITIES "vx", "vy", "vz"
#else
#define KG_LAW_VELOCITIES "vx", "vy"
#endif
#define KG_LAW                                                                                \
  .name = "acoustics", .fields = {"p", KG_LAW_VELOCITIES}, .n_properties = 2,                 \
  .properties = {"density", "bulk"}, .boundaries = {"wall", "soft", "absorbing", "incident"}, \
  .reads = {(1U << KG_LAW_FIELDS) - 2, 0x1}, .holds = {"n . v", "p"}, .source = "source",     \
  .n_sources = 1, .source_sign = 1.0

static inline void law_medium(const double *property, double *number)
{
  number[Z] = sqrt(property[0] * property[1]);
  number[Y] = 1.0 / number[Z];
  number[BULK] = property[1];
  number[OVER_DENSITY] = 1.0 / property[0];
}

static inline double law_speed(const double *number)
{
  return sqrt(number[BULK] * number[OVER_DENSITY]);
}

static inline double law_damping(const double *number)
{
  (void)number;
  return 0.0;
}

static inline void law_weights(const double *number, double *weight)
{
  weight[P] = 1.0 / number[BULK];
  for (int k = 0; k < KG_LAW_DIMENSION; ++k) weight[V + k] = 1.0 / number[OVER_DENSITY];
}

/// A(g) u
KG_INLINE void law_along(const kg_real *g, const kg_real *u, kg_real *w)
{
  w[P] = 0;
  for (int k = 0; k < KG_LAW_DIMENSION; ++k) {
    w[P] -= g[k] * u[V + k];
    w[V + k] = -g[k] * u[P];
  }
}

/// Q^-1 rhs
KG_INLINE void law_settle(const kg_real *number, const kg_real *u, kg_real *rhs)
{
  (void)u;
  rhs[P] *= number[BULK];
  for (int k = 0; k < KG_LAW_DIMENSION; ++k) rhs[V + k] *= number[OVER_DENSITY];
}

KG_INLINE void law_flux(const kg_real *n, const kg_real *in, const kg_real *out,
                        const kg_real *jump, kg_real alpha, kg_real *f)
{
  kg_real along = 0;
  for (int k = 0; k < KG_LAW_DIMENSION; ++k) along += n[k] * jump[V + k];
  f[P] = (out[Z] * along - alpha * jump[P]) / (in[Z] + out[Z]);
  for (int k = 0; k < KG_LAW_DIMENSION; ++k)
    f[V + k] = n[k] * (out[Y] * jump[P] - alpha * along) / (in[Y] + out[Y]);
}

/// The jump at a facet on the boundary. @param[in] data  0 where none are given
KG_INLINE void law_ghost(int kind, const kg_real *n, const kg_real *u, const kg_real *data,
                         kg_real *jump)
{
  kg_real along = 0;
  for (int i = 0; i < KG_LAW_FIELDS; ++i) jump[i] = u[i] - data[i];
  for (int k = 0; k < KG_LAW_DIMENSION; ++k) along += n[k] * jump[V + k];
  if (kind == KG_WAVE_RELEASES) jump[P] *= 2;
  if (kind == KG_WAVE_REFLECTS) jump[P] = 0;
  for (int k = 0; k < KG_LAW_DIMENSION; ++k) {
    if (kind == KG_WAVE_RELEASES) jump[V + k] = 0;
    if (kind == KG_WAVE_REFLECTS) jump[V + k] = 2 * along * n[k];
  }
}
