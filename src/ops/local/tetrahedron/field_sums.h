/// @file
/// kg_field_sums of straight tetrahedra with constant coefficients (ops/local/quadrature/
/// field_sums.h): q has the modes of u, and sigma is the diffusion times q, so that all squares are
/// L2 norms.
#pragma once
#include <float.h>
#include <math.h>

#include "ops/local/quadrature/field_sums.h"
#include "ops/local/tetrahedron/tetrahedra.h"
KEDGE_BEGIN_DECLS

typedef struct kg_space_field_sums_args {
  kg_tetrahedra cells;           ///< of the chunk; side_edge is not read
  kg_space_materials materials;  ///< of which the diffusion is read
  kg_field_sums_args sums;       ///< vertices, vertex, material and cells are not read
} kg_space_field_sums_args;

KG_DECLARE_OPERATOR(kg_space_field_sums_add, kg_space_field_sums_args);
kg_cost kg_space_field_sums_cost(const kg_space_field_sums_args *args);

/// Turn a tensor in the plane of axes a and b, so that it has no entry of both.
KG_INLINE void kg_space_rotate(double k[3][3], int a, int b)
{
  const int c = 3 - a - b;
  if (k[a][b] == 0.0) return;
  const double half = 0.5 * (k[b][b] - k[a][a]) / k[a][b];  // the cotangent of twice the angle
  const double tangent = (half < 0.0 ? -1.0 : 1.0) / (fabs(half) + sqrt(half * half + 1.0));
  const double cosine = 1.0 / sqrt(tangent * tangent + 1.0), sine = tangent * cosine;
  const double ac = k[a][c], bc = k[b][c];
  k[a][a] -= tangent * k[a][b];
  k[b][b] += tangent * k[a][b];
  k[a][b] = k[b][a] = 0.0;
  k[a][c] = k[c][a] = cosine * ac - sine * bc;
  k[b][c] = k[c][b] = sine * ac + cosine * bc;
}

/// Widen the range of the eigenvalues by those of a tensor, by Jacobi's rotations: formulas for the
/// roots of a cubic lose half of the digits where two are near each other. The least one, which is
/// positive, is no less than the rounding of the largest.
KG_INLINE void kg_space_widen(const double kappa[KG_SPACE_PAIRS], kg_field_sums *e)
{
  enum { SWEEPS = 6 };  // each squares what is left beside the diagonal
  double k[3][3] = {{kappa[0], kappa[1], kappa[2]},
                    {kappa[1], kappa[3], kappa[4]},
                    {kappa[2], kappa[4], kappa[5]}};
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    kg_space_rotate(k, 0, 1);
    kg_space_rotate(k, 0, 2);
    kg_space_rotate(k, 1, 2);
  }
  const double most = fmax(k[0][0], fmax(k[1][1], k[2][2]));
  const double least = fmax(fmin(k[0][0], fmin(k[1][1], k[2][2])), DBL_EPSILON * most);
  if (least < e->kappa_least) e->kappa_least = least;
  if (most > e->kappa_most) e->kappa_most = most;
}

/// Sums of q and sigma, of an element with a Jacobian of 1.
KG_INLINE void kg_space_sums_of_q(const kg_space_field_sums_args *a, int32_t element,
                                  kg_field_sums *e)
{
  const int N = a->sums.n_modes;
  const kg_space_material *const material = kg_space_material_at(&a->materials, element);
  for (int i = 0; i < N; ++i) {
    double q[3], sigma[3];
    for (int k = 0; k < 3; ++k) q[k] = a->sums.flux[kg_cell_at(element, 3 * N, k * N + i)];
    kg_space_turn(material->diffusion, q, sigma);
    e->q += kg_space_dot(q, q);
    e->sigma += kg_space_dot(sigma, sigma);
  }
  kg_space_widen(material->diffusion, e);
}

/// Add the element of a lane of a group of the chunk.
KG_INLINE void kg_space_field_sums_element(const kg_space_field_sums_args *args, int64_t group,
                                           int lane, kg_field_sums *sum)
{
  const kg_field_sums_args *const a = &args->sums;
  const int32_t of_chunk = (int32_t)(group * KG_LANES) + lane;
  const int32_t element = a->first_element + of_chunk;
  const double jacobian = kg_space_jacobian(&args->cells, of_chunk);
  kg_field_sums e = kg_no_field_sums();
  double zero = 0.0;
  kg_field_sums_of_u(a, a->u + group * a->n_modes * KG_LANES + lane,
                     a->u_star + group * a->n_star * KG_LANES + lane, element, &e);
  kg_space_sums_of_q(args, of_chunk, &e);
  for (int k = 0; a->means && k < a->n_means; ++k)
    zero += 0.0 * a->means[(group * a->n_means + k) * KG_LANES + lane];
  e.u *= jacobian;
  e.star *= jacobian;
  e.shared *= jacobian;
  e.rest *= jacobian;
  e.q *= jacobian;
  e.sigma *= jacobian;
  e.least_at = e.most_at = element;
  if (!(zero == 0.0)) e.bad_mean = element;
  e.n = 1;
  kg_field_sums_join(&e, sum);
}

KEDGE_END_DECLS
