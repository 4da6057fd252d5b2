/// @file
/// Maxwell's equations in the plane with E along z,
///
///   permittivity Ez_t = Hy_x - Hx_y - conductivity Ez,
///   permeability Hx_t = -Ez_y,   permeability Hy_t = Ez_x.
///
/// With Z = sqrt(permeability / permittivity) and Y = 1 / Z the flux is that of Mohammadian,
/// Shankar and Hall, Comput. Phys. Commun. 68 (1991) 175, with alpha = 1, and central with alpha =
/// 0. A conductor has the Ez of its data.
#pragma once
#include "ops/waves/maxwell_media.h"

enum { KG_LAW_DIMENSION = 2, KG_LAW_FIELDS = 3 };
enum { EZ, HX, HY };

#define KG_LAW                                                                           \
  KG_LAW_OF_MAXWELL, .name = "maxwell-tm", .fields = {"Ez", "Hx", "Hy"}, .reads = {0x1}, \
                     .holds = {"Ez"}, .n_sources = 1

static inline void law_weights(const double *number, double *weight)
{
  weight[EZ] = 1.0 / number[OVER_PERMITTIVITY];
  weight[HX] = weight[HY] = 1.0 / number[OVER_PERMEABILITY];
}

/// A(g) u
KG_INLINE void law_along(const kg_real *g, const kg_real *u, kg_real *w)
{
  w[EZ] = g[0] * u[HY] - g[1] * u[HX];
  w[HX] = -g[1] * u[EZ];
  w[HY] = g[0] * u[EZ];
}

/// Q^-1 rhs - damping
KG_INLINE void law_settle(const kg_real *number, const kg_real *u, kg_real *rhs)
{
  rhs[EZ] = number[OVER_PERMITTIVITY] * rhs[EZ] - number[DAMPING] * u[EZ];
  rhs[HX] *= number[OVER_PERMEABILITY];
  rhs[HY] *= number[OVER_PERMEABILITY];
}

KG_INLINE void law_flux(const kg_real *n, const kg_real *in, const kg_real *out,
                        const kg_real *jump, kg_real alpha, kg_real *f)
{
  const kg_real over_z = 1 / (in[Z] + out[Z]), over_y = 1 / (in[Y] + out[Y]);
  const kg_real along = n[0] * jump[HX] + n[1] * jump[HY];
  f[EZ] = -over_z * (out[Z] * (n[0] * jump[HY] - n[1] * jump[HX]) + alpha * jump[EZ]);
  f[HX] = over_y * (out[Y] * n[1] * jump[EZ] + alpha * (n[0] * along - jump[HX]));
  f[HY] = over_y * (-out[Y] * n[0] * jump[EZ] + alpha * (n[1] * along - jump[HY]));
}

/// The jump at a facet on the boundary. @param[in] data  0 where none are given
KG_INLINE void law_ghost(int kind, const kg_real *n, const kg_real *u, const kg_real *data,
                         kg_real *jump)
{
  (void)n;
  jump[EZ] = u[EZ] - data[EZ];
  jump[HX] = u[HX] - data[HX];
  jump[HY] = u[HY] - data[HY];
  if (kind != KG_WAVE_REFLECTS) return;
  jump[EZ] *= 2;
  jump[HX] = jump[HY] = 0;
}
