#include "ops/local/quadrature/loads.h"

#include "device/context.h"

KG_OPERATOR(kg_cell_loads, kg_cell_loads_args)

static void loads(const void *args, int32_t e, kg_team team)
{
  kg_cell_loads_element(args, e, team);
}

kedge_status kg_cell_loads_host(kedge_context *ctx, const kg_cell_loads_args *args)
{
  return kg_team_run_host(ctx, args->cells.n_elements, (size_t)args->points.n, loads, args);
}

kg_cost kg_cell_loads_cost(const kg_cell_points *points, int64_t n_elements)
{
  const double N = points->size.n_modes, q = points->n, V = points->size.n_facets;
  return (kg_cost){.bytes = (8.0 * (q + N) + 4 * V + 16) * (double)n_elements,
                   .flops = q * (2 * N + 12 * V + 6) * (double)n_elements};
}
