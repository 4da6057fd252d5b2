/// @file
/// Maxwell's equations in space,
///
///   permittivity E_t = curl H - conductivity E,   permeability H_t = -curl E.
///
/// With Z = sqrt(permeability / permittivity) and Y = 1 / Z the flux is that of Mohammadian,
/// Shankar and Hall, Comput. Phys. Commun. 68 (1991) 175, with alpha = 1, and central with alpha =
/// 0. A conductor has the tangential E of its data.
#pragma once
#include "ops/waves/maxwell_media.h"

enum { KG_LAW_DIMENSION = 3, KG_LAW_FIELDS = 6 };
enum { E = 0, H = 3 };

#define KG_LAW                                                                          \
  KG_LAW_OF_MAXWELL, .name = "maxwell", .fields = {"Ex", "Ey", "Ez", "Hx", "Hy", "Hz"}, \
                     .reads = {0x7}, .holds = {"tangential E"}, .n_sources = 3

static inline void law_weights(const double *number, double *weight)
{
  for (int k = 0; k < 3; ++k) {
    weight[E + k] = 1.0 / number[OVER_PERMITTIVITY];
    weight[H + k] = 1.0 / number[OVER_PERMEABILITY];
  }
}

KG_INLINE void law_cross(const kg_real *a, const kg_real *b, kg_real *c)
{
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/// A(g) u
KG_INLINE void law_along(const kg_real *g, const kg_real *u, kg_real *w)
{
  law_cross(g, u + H, w + E);
  law_cross(u + E, g, w + H);
}

/// Q^-1 rhs - damping
KG_INLINE void law_settle(const kg_real *number, const kg_real *u, kg_real *rhs)
{
  for (int k = 0; k < 3; ++k) {
    rhs[E + k] = number[OVER_PERMITTIVITY] * rhs[E + k] - number[DAMPING] * u[E + k];
    rhs[H + k] *= number[OVER_PERMEABILITY];
  }
}

KG_INLINE void law_flux(const kg_real *n, const kg_real *in, const kg_real *out,
                        const kg_real *jump, kg_real alpha, kg_real *f)
{
  const kg_real over_z = 1 / (in[Z] + out[Z]), over_y = 1 / (in[Y] + out[Y]);
  kg_real e[3], h[3], ne = 0, nh = 0;
  law_cross(n, jump + E, e);
  law_cross(n, jump + H, h);
  for (int k = 0; k < 3; ++k) {
    ne += n[k] * jump[E + k];
    nh += n[k] * jump[H + k];
  }
  for (int k = 0; k < 3; ++k) {  // n x (n x v) = n (n . v) - v
    f[E + k] = over_z * (alpha * (n[k] * ne - jump[E + k]) - out[Z] * h[k]);
    f[H + k] = over_y * (alpha * (n[k] * nh - jump[H + k]) + out[Y] * e[k]);
  }
}

/// The jump at a facet on the boundary. @param[in] data  0 where none are given
KG_INLINE void law_ghost(int kind, const kg_real *n, const kg_real *u, const kg_real *data,
                         kg_real *jump)
{
  (void)n;
  for (int i = 0; i < KG_LAW_FIELDS; ++i) jump[i] = u[i] - data[i];
  if (kind != KG_WAVE_REFLECTS) return;
  for (int k = 0; k < 3; ++k) {
    jump[E + k] *= 2;
    jump[H + k] = 0;
  }
}
