#include "ops/local/mass/mass.h"

#include "device/loop.h"

KG_OPERATOR(kg_mass_add, kg_mass_args)
KG_OPERATOR(kg_mass_integral, kg_mass_args)
KG_OPERATOR(kg_mass_norm, kg_mass_args)

kg_cost kg_mass_cost(const kg_mass_args *a)
{
  const double n = (double)a->n_elements, N = a->n_modes, points = a->n_points;
  const double weights = points > 0.0 ? points : 1.0;
  return (kg_cost){n * (3.0 * N + weights) * sizeof(double), n * (2.0 * N + 4.0 * points * N)};
}

kedge_status kg_mass_add_host(kedge_context *ctx, const kg_mass_args *a)
{
  const int64_t n = a->n_elements, work = (int64_t)a->n_modes * (2 * a->n_points + 2);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, work))
  for (int64_t e = 0; e < n; ++e) kg_mass_element(a, e);
  return KEDGE_OK;
}

kedge_status kg_mass_integral_host(kedge_context *ctx, const kg_mass_args *a)
{
  const int64_t n = a->n_elements, work = (int64_t)a->n_modes * (a->n_points + 1);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, work))
  for (int64_t e = 0; e < n; ++e) kg_mass_element_integral(a, e);
  return KEDGE_OK;
}

kedge_status kg_mass_norm_host(kedge_context *ctx, const kg_mass_args *a)
{
  const int64_t n = a->n_elements, work = (int64_t)a->n_modes * (a->n_points + 1);
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, work))
  for (int64_t e = 0; e < n; ++e) kg_mass_element_norm(a, e);
  return KEDGE_OK;
}
