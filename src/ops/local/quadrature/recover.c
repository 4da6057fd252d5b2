#include "ops/local/quadrature/recover.h"

#include "device/context.h"

KG_OPERATOR(kg_cell_recover, kg_cell_recover_args)

static void recover(const void *args, int32_t e, kg_team team)
{
  kg_cell_recover_element(args, e, team);
}

kedge_status kg_cell_recover_host(kedge_context *ctx, const kg_cell_recover_args *args)
{
  return kg_team_run_host(ctx, args->cells.n_elements, kg_cell_recover_scratch(&args->cells.tables),
                          recover, args);
}

kg_cost kg_cell_recover_cost(const kg_cell_tables *t, int64_t n_elements)
{
  const kg_cell_sizes *size = &t->size;
  const double N = size->n_modes, n = size->n_trace, S = size->n_flux, V = size->n_facets;
  const double points = t->points.n;
  const double build = points * (60 + 7 * N + 3 * N * (N + 1)) + V * N * (N + 1);
  const double vectors = points * (4 * (n + N) + 4 * N + 2 * S) + 3 * n * N;
  const double algebra = N * N * N / 3 + 2 * N * N;
  const double bytes = 8.0 * (2 * N + S + n / 2.0) + 8 * V + 16;
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + vectors + algebra) * (double)n_elements};
}
