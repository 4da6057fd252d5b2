#include "ops/waves/laws.h"

const kg_law *const kg_laws[] = {&kg_law_maxwell, &kg_law_maxwell_tm, &kg_law_acoustics_plane,
                                 &kg_law_acoustics_space, NULL};

kg_cost kg_wave_cost(const kg_wave_args *a)
{
  const double n = (double)kg_wave_state(a), columns = (double)a->n_facets * a->n_facet;
  // u and the residual are read and written once; neighbours' values come from caches.
  return (kg_cost){4.0 * n * (double)kg_number_bytes(a->number),
                   n * 2.0 * (a->dimension * (double)a->n + columns + a->dimension + 2.0)};
}
