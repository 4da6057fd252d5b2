#include "ops/local/quadrature/means.h"

#include "device/context.h"

KG_OPERATOR(kg_cell_means, kg_cell_means_args)

static void means(const void *args, int32_t e, kg_team team)
{
  kg_cell_means_element(args, e, team);
}

kedge_status kg_cell_means_host(kedge_context *ctx, const kg_cell_means_args *args)
{
  return kg_team_run_host(ctx, args->cells.n_elements,
                          kg_cell_means_scratch(&args->cells.tables.size), means, args);
}

kg_cost kg_cell_means_cost(const kg_cell_tables *t, int64_t n_elements)
{
  const double N = t->size.n_modes, S = t->size.n_flux, V = t->size.n_facets;
  return (kg_cost){.bytes = (8.0 * (N + S + 3) + 4 * V + 16) * (double)n_elements,
                   .flops = t->points.n * (2 * (N + S) + 12 * V + 18) * (double)n_elements};
}
