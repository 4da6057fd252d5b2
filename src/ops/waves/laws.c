#include "ops/waves/laws.h"

const kg_law *const kg_laws[] = {&kg_law_maxwell, &kg_law_maxwell_tm, &kg_law_acoustics_plane,
                                 &kg_law_acoustics_space, NULL};

kg_cost kg_wave_cost(const kg_wave_args *a, int32_t n_elements)
{
  const double n = (double)n_elements * a->n_fields * a->n,
               columns = (double)a->n_facets * a->n_facet;
  const double d = a->dimension, sectors = a->kernel && a->dimension == 3 ? 4.0 : 1.0;
  // u, next and the residual, which the first stage of a step does not read; neighbours' values
  // come from caches. Products with matrices, A(g) u by way of two fields, the flux by way of as
  // many operations as twelve a field, and the step.
  const double bytes = (a->before == 0.0 ? 3.0 : 4.0) * n * (double)kg_number_bytes(a->number);
  const double products = 2.0 * (d * a->n + columns) / sectors;
  return (kg_cost){bytes, n * (products + 4.0 * d + 12.0 * columns / a->n + 6.0)};
}
