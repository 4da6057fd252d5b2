/// @file
/// The numerical flux through facets: the integral of sigma . n - tau (u - trace), n outward, of
/// the element that a facet is seen from (docs/math.md#numerical-fluxes).
///
/// The flux sigma is F s / J, so that its integral over a facet is that of s over the facet of the
/// reference element, whatever the map is. psi_0 is constant, and the integral of a function over
/// t in [-1, 1] is sqrt(2) times its product with psi_0:
///
///   sqrt(2) (<s . n, psi_0> - t_l (<u, psi_0> - lambda_0)),   t_l = tau_l |l| / 2
///
/// In space |l| is the area of the facet: that of the facet of the reference element is 2 too.
#pragma once
#include "ops/form/form.h"
#include "ops/local/quadrature/geometry.h"
#include "ops/local/tetrahedron/point_sums.h"
KEDGE_BEGIN_DECLS

typedef struct kg_facet_flux_args {
  kg_elements elements;        ///< of the chunk
  kg_coefficient coefficient;  ///< of the chunk
  int32_t n;
  const kg_side *side;  ///< [n]: of elements of the mesh
  int32_t first;        ///< the mesh's number of the first element of the chunk
  const double *trace;  ///< [trace facet][m]
  const double *u;      ///< [group][N][lane], as `flux`: what kg_form.recover() leaves
  const double *flux;
  double *to;  ///< out: [n][1 + m]: the flux, then the modes of the trace
} kg_facet_flux_args;

KG_DECLARE_OPERATOR(kg_facet_flux, kg_facet_flux_args);

/// The flux of a straight triangle with constant coefficients; q has the modes of u.
KG_INLINE double kg_triangle_flux(const kg_facet_flux_args *a, int32_t e, int l, double lambda)
{
  const kg_batch *const batch = &a->elements.batch;
  const int N = batch->reference.size.n_modes, n = batch->reference.size.n_trace;
  const double *const lift = batch->reference.lift + l * batch->reference.size.n_edge;
  const double *const kappa = kg_cell_constant_diffusion(&a->coefficient.cells, e);
  const kg_element element =
      kg_element_at(&batch->arrays, e / KG_LANES, e % KG_LANES, &a->coefficient.constant);
  double jump = -lambda, x = 0.0, y = 0.0;
  for (int i = 0; i < N; ++i) {
    jump += lift[i * n] * a->u[kg_cell_at(e, N, i)];
    x += lift[i * n] * a->flux[kg_cell_at(e, 2 * N, i)];
    y += lift[i * n] * a->flux[kg_cell_at(e, 2 * N, N + i)];
  }
  const double along = kappa[0] * x + kappa[1] * y, across = kappa[1] * x + kappa[2] * y;
  const double *const half_normal = element.half_normal[l];
  return half_normal[0] * along + half_normal[1] * across - element.tau[l] * jump;
}

/// The flux of an element by quadrature.
KG_INLINE double kg_cell_flux(const kg_facet_flux_args *a, int32_t e, int l, double lambda)
{
  const kg_cells *const cells = &a->elements.cells;
  const kg_cell_material *const material = &a->coefficient.cells;
  const kg_cell_tables *const t = &cells->tables;
  const int N = t->size.n_modes, S = t->size.n_flux, n = t->size.n_trace,
            first = l * t->size.n_facet;
  const int rows = kg_cell_flux_rows(S, material->keeps_gradient);
  double jump = -lambda, normal = 0.0;
  for (int i = 0; i < N; ++i) jump += t->lift[first * N + i] * a->u[kg_cell_at(e, N, i)];
  for (int k = 0; k < S; ++k)
    normal += t->flux_lift[k * n + first] * a->flux[kg_cell_at(e, rows, k)];
  return normal - kg_cell_tau_alone(cells, material, e, l) * jump;
}

/// The flux of a straight tetrahedron; q has the modes of u.
KG_INLINE double kg_tetrahedron_flux(const kg_facet_flux_args *a, int32_t e, int l, double lambda)
{
  const kg_tetrahedra *const cells = &a->elements.tetrahedra;
  const int N = cells->reference.size.n_modes, n = cells->reference.size.n_trace;
  const double *const lift = cells->reference.lift + l * cells->reference.size.n_facet;
  double jump = -lambda;
  kg_tetrahedron_factors factors;
  kg_tetrahedron_mean_factors(cells, &a->coefficient.space, e, &factors);
  for (int i = 0; i < N; ++i) jump += lift[i * n] * a->u[kg_cell_at(e, N, i)];
  return kg_tetrahedron_normal_flux(cells, &a->coefficient.space, a->flux, e, l, &factors) -
         factors.tau[l] * jump;
}

/// Facet i of the list.
KG_INLINE void kg_facet_flux_of(const kg_facet_flux_args *a, int64_t i)
{
  const kg_elements *const elements = &a->elements;
  const uint32_t *const sides = kg_elements_sides(elements);
  const int32_t e = kg_side_element(a->side[i]) - a->first;
  const int l = kg_side_facet(a->side[i]), m = elements->size.n_facet;
  const int64_t facet = sides[kg_cell_at(e, elements->size.n_facets, l)] >> 1;
  const double *const lambda = a->trace + facet * m;
  double *const to = a->to + i * (1 + m);
  const double half = elements->size.dimension == 3 ? kg_tetrahedron_flux(a, e, l, lambda[0])
                      : elements->by_quadrature     ? kg_cell_flux(a, e, l, lambda[0])
                                                    : kg_triangle_flux(a, e, l, lambda[0]);
  to[0] = 1.41421356237309504880 * half;
  for (int k = 0; k < m; ++k) to[1 + k] = lambda[k];
}

KEDGE_END_DECLS
