// Norms of the errors from sums by group.
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "ops/sample/errors.h"
#include "elliptic/recover/recover.h"

/// Compute the squared L2 norms of the error of the flux, diffusion grad u. Fast kernels do not sum
/// it if the diffusion is one number, as the flux is then q times this number.
/// @param[in]  by_group  [group]: sums of the other errors
/// @param[out] flux      [group]: squared norms in the user's units
static kedge_status sum_fluxes(kg_elliptic *p, const kg_error_sums *by_group, double *flux,
                               double *total)
{
  const size_t n = p->arrays.flux_sums ? (size_t)p->space.cut->layout.count.n_groups : 0;
  const kedge_status status = kg_copy_out(p->ctx, flux, p->arrays.flux_sums, n * sizeof *flux);
  *total = 0.0;
  for (int i = 0; status == KEDGE_OK && i < p->shape.n_batches; ++i) {
    const kg_shape_batch *b = &p->shape.batch[i];
    const bool sums = b->by_quadrature || !p->shape.choice.is_uniform;
    const double d = p->equation.material.diffusion;
    for (int32_t g = 0; g < kg_elements_groups(&p->elements[i]); ++g) {
      const size_t k = (size_t)b->lanes.first_group + (size_t)g;
      if (!sums) flux[k] = d * (d * by_group[k].q);
      *total += flux[k];
      flux[k] = flux[k] / p->equation.scale / p->equation.scale;
    }
  }
  return status;
}

/// An element of the first group whose errors are not finite, or else of that with the largest.
static int32_t worst_element(const kg_elliptic *p, const kg_error_sums *by_group)
{
  double most = 0.0;
  int32_t worst = 0;
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_lane_batch *lanes = &p->shape.batch[i].lanes;
    for (int32_t g = 0; g < kg_elements_groups(&p->elements[i]); ++g) {
      const kg_error_sums *of = &by_group[lanes->first_group + g];
      const double sum = of->u + of->q + of->u_star;
      if (sum <= most) continue;
      worst = lanes->first_element + g * KG_LANES;
      if (!isfinite(sum)) return worst;
      most = sum;
    }
  }
  return worst;
}

kedge_status kg_errors_sum(kg_elliptic *p, kg_group_errors *of)
{
  const size_t n = (size_t)p->space.cut->layout.count.n_groups;
  double flux = 0.0;
  kg_error_sums total = {0};
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *of->sums, &of->sums));
  KG_TRY(kg_host_calloc(p->ctx, n, sizeof *of->flux, &of->flux));
  KG_TRY(kg_copy_out(p->ctx, of->sums, p->arrays.error_sums, n * sizeof *of->sums));
  KG_TRY(sum_fluxes(p, of->sums, of->flux, &flux));
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_error_sums *of_batch = of->sums + p->shape.batch[i].lanes.first_group;
    for (int32_t g = 0; g < kg_elements_groups(&p->elements[i]); ++g) {
      total.u += of_batch[g].u;
      total.q += of_batch[g].q;
      total.u_star += of_batch[g].u_star;
      total.u_max = kg_larger(total.u_max, of_batch[g].u_max);
    }
  }
  const double squares[KG_NORMS] = {total.u, total.q, total.u_star,
                                    flux / p->equation.scale / p->equation.scale};
  memcpy(of->total, squares, sizeof squares);
  kedge_report *report = &p->run.solution->report;
  report->u_l2 = sqrt(total.u);
  report->q_l2 = sqrt(total.q);
  report->u_star_l2 = sqrt(total.u_star);
  report->u_linf = total.u_max;
  report->sigma_l2 = sqrt(flux) / p->equation.scale;
  p->lost_error = worst_element(p, of->sums);
  return kg_elliptic_diagnose(p, KG_ABOUT_ERROR);
}
