/// @file
/// Parallelograms with constant coefficients: the method of ops/local/quadrature with the adjusted
/// flux, in closed form (docs/math.md#parallelograms). Seven numbers of an element and the matrices
/// of basis/halves.h make two systems of half the size; vectors take sums of a few terms, because
/// the derivative of L_a is the sum of root_a root_i L_i, i < a, a + i odd.
///
/// Arguments are those of the operators by quadrature. Of the tables, `halves` alone is read.
#pragma once
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"
#ifndef __CUDACC__
#include "ops/local/triangle/lanes.h"
#endif
KEDGE_BEGIN_DECLS

KG_DECLARE_OPERATOR(kg_parallelogram_make, kg_cell_make_args);
KG_DECLARE_OPERATOR(kg_parallelogram_recover, kg_cell_recover_args);
KG_DECLARE_OPERATOR(kg_parallelogram_postprocess, kg_cell_postprocess_args);
kg_cost kg_parallelogram_make_cost(kg_cell_sizes size, int64_t n_elements);
kg_cost kg_parallelogram_recover_cost(kg_cell_sizes size, int64_t n_elements);
kg_cost kg_parallelogram_postprocess_cost(kg_cell_sizes size, int64_t n_elements);

/// Constants of an element.
typedef struct kg_parallelogram {
  double term[KG_HALF_TERMS];  ///< G_rr, G_rs, G_ss, t_0, t_1
  double jacobian, mass;       ///< J, c J
} kg_parallelogram;

/// t_l of a side.
KG_INLINE double kg_parallelogram_tau(const kg_cell_material *material, const double kappa[3],
                                      double dx, double dy)
{
  const double square = dx * dx + dy * dy;
  if (!(material->length > 0.0))
    return 0.5 * material->stabilization * kg_tau_scale(material->scaling, square);
  const double normal = dy * dy * kappa[0] - 2.0 * dx * dy * kappa[1] + dx * dx * kappa[2];
  return 0.5 * normal / (sqrt(square) * material->length);
}

/// The parallelogram with the sides 0 and 1 of element e.
KG_INLINE kg_parallelogram kg_parallelogram_of(const kg_cells *cells,
                                               const kg_cell_material *material, int32_t e)
{
  const double *const kappa = kg_cell_constant_diffusion(material, e);
  double x[3], y[3];
  kg_parallelogram out;
  for (int l = 0; l < 3; ++l) {
    const int64_t vertex = cells->vertex[kg_cell_at(e, 4, l)];
    x[l] = cells->vertices[2 * vertex];
    y[l] = cells->vertices[2 * vertex + 1];
  }
  const double dx[2] = {x[1] - x[0], x[2] - x[1]}, dy[2] = {y[1] - y[0], y[2] - y[1]};
  kg_cell_place place = {0.0, 0.0, 0.5 * dx[0], 0.5 * dx[1], 0.5 * dy[0], 0.5 * dy[1], 0.0};
  place.jacobian = place.x_r * place.y_s - place.x_s * place.y_r;
  kg_cell_flux_matrix(&place, kappa, out.term);
  out.term[3] = kg_parallelogram_tau(material, kappa, dx[0], dy[0]);
  out.term[4] = kg_parallelogram_tau(material, kappa, dx[1], dy[1]);
  out.jacobian = place.jacobian;
  out.mass = kg_cell_constant_reaction(material, e) * place.jacobian;
  return out;
}

/// A number of an element on a GPU; on the host those of eight, in SIMD lanes.
#ifdef __CUDACC__
typedef double kg_half_number;
#else
typedef kg_pack kg_half_number;
#endif

/// Flux function k: L_a along direction d, L_b across.
typedef struct kg_half_flux_function {
  int d, a, b;
} kg_half_flux_function;

KG_INLINE kg_half_flux_function kg_half_flux_of(int m, int k)
{
  const int d = k >= m * (m + 1), in_direction = k - d * m * (m + 1);
  const kg_half_flux_function out = {d, in_direction / m, in_direction % m};
  return out;
}

KG_INLINE int kg_half_flux_number(int m, int d, int a, int b)
{
  return d * m * (m + 1) + a * m + b;
}

/// Coefficient k of the weak gradient. @param[in] lambda  [half][2 m] @param[in] u  [N], or NULL
KG_INLINE kg_half_number kg_half_weak(const double *root, int m, int k,
                                      const kg_half_number *lambda, const kg_half_number *u)
{
  const kg_half_flux_function f = kg_half_flux_of(m, k);
  const int half = (f.a + f.b + 1) % 2;
  kg_half_number sum = lambda[(2 * half + 1 - f.d) * m + f.b];
  if (f.d == 1 && (f.b + half) % 2 == 1) sum = -sum;
  for (int i = f.a - 1; u && i >= 0; i -= 2) {
    const kg_half_mode mode = {f.d == 0 ? i : f.b, f.d == 0 ? f.b : i};
    sum -= root[i] * u[kg_half_mode_number(mode)];
  }
  return root[f.a] * sum;
}

/// Coefficient k of the flux, from those of the weak gradient. @param[in] term  G
KG_INLINE kg_half_number kg_half_flux(const kg_half_number *term, int m, int k,
                                      const kg_half_number *gradient)
{
  const kg_half_flux_function f = kg_half_flux_of(m, k);
  const kg_half_number along = term[2 * f.d] * gradient[k];
  if (f.a == m) return along;  // the other direction has no such function
  return along + term[1] * gradient[kg_half_flux_number(m, 1 - f.d, f.b, f.a)];
}

/// What R lambda has in a mode of u. @param[in] flux  that of lambda
KG_INLINE kg_half_number kg_half_lift(const double *root, const kg_half_number *term, int m,
                                      kg_half_mode mode, const kg_half_number *lambda,
                                      const kg_half_number *flux)
{
  const int i = mode.i, j = mode.j;
  const kg_half_number *const own = lambda + (i + j) % 2 * 2 * m;
  const double below = j % 2 == 1 ? -root[j] : root[j];
  kg_half_number sum = below * (term[3] * own[i]) + root[i] * (term[4] * own[m + j]);
  for (int a = i + 1; a <= m; a += 2)
    sum += root[a] * root[i] * flux[kg_half_flux_number(m, 0, a, j)];
  for (int a = j + 1; a <= m; a += 2)
    sum += root[a] * root[j] * flux[kg_half_flux_number(m, 1, a, i)];
  return sum;
}

/// (s, grad phi) of a mode of u*.
KG_INLINE kg_half_number kg_half_star_load(const double *root, int m, kg_half_mode mode,
                                           const kg_half_number *flux)
{
  const int i = mode.i, j = mode.j;
  kg_half_number sum = {0};
  const int end_r = j < m ? i : 0, end_s = i < m ? j : 0;  // fluxes have degree P across
  for (int a = (i + 1) % 2; a < end_r; a += 2)
    sum += root[a] * root[i] * flux[kg_half_flux_number(m, 0, a, j)];
  for (int a = (j + 1) % 2; a < end_s; a += 2)
    sum += root[a] * root[j] * flux[kg_half_flux_number(m, 1, a, i)];
  return sum;
}

KEDGE_END_DECLS
