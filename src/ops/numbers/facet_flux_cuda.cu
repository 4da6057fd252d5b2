// facet_flux_cuda.cu: numerical fluxes through the facets of a list.
// Map     thread = facet. A list has facets of groups alone, few beside those of the mesh.
#include "device/cuda_each.cuh"
#include "ops/numbers/facet_flux.h"

extern "C" kedge_status kg_facet_flux_cuda(kedge_context *ctx, const kg_facet_flux_args *a)
{
  return kg_do_each<128, kg_facet_flux_of>(ctx, "facet_flux", a->n, *a);
}
