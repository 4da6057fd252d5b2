#include "ops/local/quadrature/errors.h"

#include "device/context.h"

KG_OPERATOR(kg_cell_errors, kg_cell_errors_args)

static void errors(const void *args, int32_t group, kg_team team)
{
  kg_cell_errors_group(args, group, team);
}

kedge_status kg_cell_errors_host(kedge_context *ctx, const kg_cell_errors_args *args)
{
  return kg_team_run_host(ctx, kg_cells_groups(&args->cells),
                          kg_cell_errors_scratch(&args->points.size), errors, args);
}

kg_cost kg_cell_errors_cost(const kg_cell_points *points, int64_t n_elements)
{
  const double coefficients = points->size.n_modes + points->size.n_flux + points->size.n_star;
  const double q = points->n, V = points->size.n_facets;
  return (kg_cost){.bytes = (8.0 * (coefficients + 3 * q) + 4 * V + 16) * (double)n_elements,
                   .flops = q * (2 * coefficients + 12 * V + 40) * (double)n_elements};
}
