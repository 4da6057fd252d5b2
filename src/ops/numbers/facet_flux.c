#include "ops/numbers/facet_flux.h"

#include "device/loop.h"

KG_OPERATOR(kg_facet_flux, kg_facet_flux_args)

kedge_status kg_facet_flux_host(kedge_context *ctx, const kg_facet_flux_args *a)
{
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, a->n, 3 * a->elements.size.n_modes))
  for (int32_t i = 0; i < a->n; ++i) kg_facet_flux_of(a, i);
  return KEDGE_OK;
}
