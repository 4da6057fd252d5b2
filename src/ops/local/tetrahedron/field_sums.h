/// @file
/// kg_field_sums of straight tetrahedra with constant coefficients (ops/local/quadrature/
/// field_sums.h): q has the modes of u, and sigma is the diffusion times q, so that all squares are
/// L2 norms.
#pragma once
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

/// Widen the range of the eigenvalues by those of a tensor: roots of its characteristic polynomial,
/// which are a mean and three cosines.
KG_INLINE void kg_space_widen(const double k[KG_SPACE_PAIRS], kg_field_sums *e)
{
  const double mean = (k[0] + k[3] + k[5]) / 3.0;
  const double x = k[0] - mean, y = k[3] - mean, z = k[5] - mean;
  const double beside = k[1] * k[1] + k[2] * k[2] + k[4] * k[4];
  const double size = sqrt((x * x + y * y + z * z + 2.0 * beside) / 6.0);
  double least = mean, most = mean;
  if (size > 0.0) {
    const double per = 1.0 / size, xx = per * x, yy = per * y, zz = per * z;
    const double xy = per * k[1], xz = per * k[2], yz = per * k[4];
    const double half =
        0.5 * (xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz));
    const double third = 2.09439510239319549231;  // of a turn
    const double angle = acos(half < -1.0 ? -1.0 : half > 1.0 ? 1.0 : half) / 3.0;
    most = mean + 2.0 * size * cos(angle);
    least = mean + 2.0 * size * cos(angle + third);
  }
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
