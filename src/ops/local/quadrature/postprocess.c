#include "ops/local/quadrature/postprocess.h"

#include "device/context.h"

KG_OPERATOR(kg_cell_postprocess, kg_cell_postprocess_args)

static void postprocess(const void *args, int32_t e, kg_team team)
{
  kg_cell_postprocess_element(args, e, team);
}

kedge_status kg_cell_postprocess_host(kedge_context *ctx, const kg_cell_postprocess_args *args)
{
  return kg_team_run_host(ctx, args->cells.n_elements,
                          kg_cell_postprocess_scratch(&args->cells.tables), postprocess, args);
}

kg_cost kg_cell_postprocess_cost(const kg_cell_tables *t, int64_t n_elements)
{
  const kg_cell_sizes *size = &t->size;
  const double N = size->n_modes, S = size->n_flux, star = size->n_star, V = size->n_facets;
  const double points = t->points.n;
  const double build = points * (60 + 6 * star + 2 * star * (star + 1) + 2 * S + 4 * star);
  const double algebra = star * star * star / 3 + 2 * star * star + points * 2 * (N + star);
  const double bytes = 8.0 * (N + S + star + 1) + 4 * V + 16;
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + algebra) * (double)n_elements};
}
