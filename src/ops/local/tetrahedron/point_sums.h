/// @file
/// Sums of a tetrahedron by one thread, whether its coefficients vary or not: the flux through a
/// facet, and integrals with diffusion and reaction. Where they vary, by the points of K^e.
#pragma once
#include "ops/local/quadrature/coefficients.h"
#include "ops/local/tetrahedron/tetrahedra.h"

/// Diffusion and reaction at point p of a lane.
KG_INLINE void kg_space_coefficients_at(const kg_tetrahedra *cells,
                                        const kg_space_materials *materials, int32_t e, int p,
                                        double k[KG_SPACE_FUNCTIONS])
{
  const int n = cells->points.n;
  for (int f = 0; f < KG_SPACE_FUNCTIONS; ++f)
    k[f] = materials->values[kg_cell_at(e, KG_SPACE_FUNCTIONS * n, f * n + p)];
}

/// q and K q at point p. @param[in] flux  [group][3N][lane]: q
KG_INLINE void kg_space_flux_at(const kg_tetrahedra *cells, const double *flux, int32_t e, int p,
                                const double *k, double q[3], double sigma[3])
{
  const int N = cells->reference.size.n_modes;
  const double *const phi = cells->points.value + (int64_t)p * N;
  for (int c = 0; c < 3; ++c) {
    q[c] = 0.0;
    for (int i = 0; i < N; ++i) q[c] += phi[i] * flux[kg_cell_at(e, 3 * N, c * N + i)];
  }
  kg_space_turn(k, q, sigma);
}

/// The factors of an element; where coefficients vary, with the mean diffusion, which the
/// stabilization may follow.
KG_INLINE void kg_tetrahedron_mean_factors(const kg_tetrahedra *cells,
                                           const kg_space_materials *materials, int32_t e,
                                           kg_tetrahedron_factors *t)
{
  if (!materials->values) {
    kg_tetrahedron_factors_at(cells, materials, e, t);
    return;
  }
  kg_space_material mean = materials->one;
  for (int c = 0; c < KG_SPACE_PAIRS; ++c) mean.diffusion[c] = 0.0;
  for (int p = 0; p < cells->points.n; ++p) {
    double k[KG_SPACE_FUNCTIONS];
    kg_space_coefficients_at(cells, materials, e, p, k);
    for (int c = 0; c < KG_SPACE_PAIRS; ++c)
      mean.diffusion[c] += 0.75 * cells->points.weight[p] * k[c];  // over the reference measure
  }
  kg_tetrahedron_factors_with(cells, &mean, e, t);
}

/// The part of K q in the flux through facet l: the integral of K q times the first trace mode's
/// weak gradient, which is what the facet has of the equation of that mode.
KG_INLINE double kg_tetrahedron_normal_flux(const kg_tetrahedra *cells,
                                            const kg_space_materials *materials, const double *flux,
                                            int32_t e, int l, const kg_tetrahedron_factors *t)
{
  const kg_tetrahedron_reference *const ref = &cells->reference;
  const int N = ref->size.n_modes, n = ref->size.n_trace, column = l * ref->size.n_facet;
  double q[3] = {0.0, 0.0, 0.0}, sigma[3], sum = 0.0;
  if (!materials->values) {
    for (int i = 0; i < N; ++i)
      for (int c = 0; c < 3; ++c)
        q[c] += ref->lift[i * n + column] * flux[kg_cell_at(e, 3 * N, c * N + i)];
    kg_space_turn(kg_space_material_at(materials, e)->diffusion, q, sigma);
    return t->jacobian * kg_space_dot(t->normal[l], sigma);
  }
  for (int p = 0; p < cells->points.n; ++p) {
    double k[KG_SPACE_FUNCTIONS];
    kg_space_coefficients_at(cells, materials, e, p, k);
    kg_space_flux_at(cells, flux, e, p, k, q, sigma);
    sum += cells->points.weight[p] * cells->points.trace[(int64_t)p * n + column] *
           kg_space_dot(t->normal[l], sigma);
  }
  return t->jacobian * sum;
}

/// The integrals of q . K q and of reaction u.
KG_INLINE void kg_tetrahedron_energy(const kg_tetrahedra *cells,
                                     const kg_space_materials *materials, const double *u,
                                     const double *flux, int32_t e, double jacobian, double *energy,
                                     double *reaction)
{
  const int N = cells->reference.size.n_modes;
  double q[3], sigma[3];
  *energy = *reaction = 0.0;
  if (!materials->values) {
    const kg_space_material *const material = kg_space_material_at(materials, e);
    for (int i = 0; i < N; ++i) {
      for (int c = 0; c < 3; ++c) q[c] = flux[kg_cell_at(e, 3 * N, c * N + i)];
      kg_space_turn(material->diffusion, q, sigma);
      *energy += jacobian * kg_space_dot(q, sigma);
    }
    *reaction = material->reaction * (1.15470053837925152902 * jacobian * u[kg_cell_at(e, N, 0)]);
    return;
  }
  for (int p = 0; p < cells->points.n; ++p) {
    const double w = jacobian * cells->points.weight[p];
    double k[KG_SPACE_FUNCTIONS], value = 0.0;
    kg_space_coefficients_at(cells, materials, e, p, k);
    kg_space_flux_at(cells, flux, e, p, k, q, sigma);
    for (int i = 0; i < N; ++i)
      value += cells->points.value[(int64_t)p * N + i] * u[kg_cell_at(e, N, i)];
    *energy += w * kg_space_dot(q, sigma);
    *reaction += w * k[KG_SPACE_PAIRS] * value;
  }
}
