#include "ops/local/quadrature/make.h"

#include "device/context.h"

KG_OPERATOR(kg_cell_make, kg_cell_make_args)

static void make(const void *args, int32_t lane, kg_team team)
{
  kg_cell_make_lane(args, lane, team);
}

kedge_status kg_cell_make_host(kedge_context *ctx, const kg_cell_make_args *args)
{
  return kg_team_run_host(ctx, kg_cell_make_things(args), kg_cell_make_scratch(&args->cells.tables),
                          make, args);
}

kg_cost kg_cell_make_cost(const kg_cell_tables *t, int64_t n_elements)
{
  const kg_cell_sizes *size = &t->size;
  const double N = size->n_modes, n = size->n_trace, p = N + n, V = size->n_facets;
  const double points = t->points.n;
  const double build = points * (60 + 6 * p + 2 * p * (p + 1) + N + N * (N + 1));
  const double edges = 2 * V * N * (N + 1) / 2 + N * n;
  const double algebra = N * N * N / 3 + N * N * (n + 1) + N * n * (n + 1) + 2 * N * n;
  const double bytes = 8.0 * (N + size->n_packed + n) + 8 * V + 16;  // a vertex an element
  return (kg_cost){.bytes = bytes * (double)n_elements,
                   .flops = (build + edges + algebra) * (double)n_elements};
}
