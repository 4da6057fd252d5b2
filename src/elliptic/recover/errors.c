// Norms of the errors from sums by group.
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "ops/sample/errors.h"
#include "elliptic/recover/recover.h"

kedge_status kg_errors_sum(kg_elliptic *p, kg_group_errors *of)
{
  const size_t n = (size_t)p->shape.count.n_groups;
  const double d = p->equation.material.diffusion, scale = p->equation.scale;
  double flux = 0.0, most = 0.0;
  kg_error_sums total = {0};
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *of->sums, &of->sums));
  KG_TRY(kg_host_calloc(p->ctx, n, sizeof *of->flux, &of->flux));
  KG_TRY(kg_copy_out(p->ctx, of->sums, p->arrays.error_sums, n * sizeof *of->sums));
  if (p->arrays.flux_sums)
    KG_TRY(kg_copy_out(p->ctx, of->flux, p->arrays.flux_sums, n * sizeof *of->flux));
  p->lost_error = 0;
  for (kg_chunk c = {0}; kg_next_chunk(p, 1, &c);) {
    const kg_shape_batch *b = &p->shape.batch[c.batch];
    const size_t k = (size_t)(b->lanes.first_group + c.first);
    const kg_error_sums *s = &of->sums[k];
    const double sum = s->u + s->q + s->u_star;
    // Where diffusion is one number, fast kernels leave the flux out: it is that times q.
    if (!b->by_quadrature && p->shape.choice.is_uniform) of->flux[k] = d * (d * s->q);
    flux += of->flux[k];
    of->flux[k] = of->flux[k] / scale / scale;
    total.u += s->u;
    total.q += s->q;
    total.u_star += s->u_star;
    total.u_max = kg_larger(total.u_max, s->u_max);
    // The first group whose errors are not finite, or else that with the largest.
    if (sum <= most || !isfinite(most)) continue;
    p->lost_error = b->lanes.first_element + c.first * KG_LANES;
    most = sum;
  }
  const double squares[KG_NORMS] = {total.u, total.q, total.u_star, flux / scale / scale};
  memcpy(of->total, squares, sizeof squares);
  kedge_report *report = &p->run.solution->report;
  report->u_l2 = sqrt(total.u);
  report->q_l2 = sqrt(total.q);
  report->u_star_l2 = sqrt(total.u_star);
  report->u_linf = total.u_max;
  report->sigma_l2 = sqrt(flux) / scale;
  return kg_elliptic_diagnose(p, KG_ABOUT_ERROR);
}
