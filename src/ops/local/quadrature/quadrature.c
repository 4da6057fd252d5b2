// Dispatch, loops of the host and costs of the operators by quadrature: what each does with an
// element is in its header, for host and GPU.
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "ops/local/quadrature/errors.h"
#include "ops/local/quadrature/loads.h"
#include "ops/local/quadrature/make.h"
#include "ops/local/quadrature/means.h"
#include "ops/local/quadrature/postprocess.h"
#include "ops/local/quadrature/recover.h"

typedef void team_body(const void *args, int32_t i, kg_team team);

/// Do `body` with things 0 .. n - 1 of the arguments, each thread a team with so many doubles of
/// scratch.
static kedge_status run(kedge_context *ctx, int32_t n, size_t scratch, team_body *body,
                        const void *args)
{
  double *memory;
  KG_TRY(kg_host_alloc(ctx, (size_t)ctx->threads * scratch, sizeof *memory, &memory));
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int thread = 0; thread < ctx->threads; ++thread) {
    const kg_team team = {0, memory + (size_t)thread * scratch};
    const int32_t begin = (int32_t)((int64_t)n * thread / ctx->threads);
    const int32_t end = (int32_t)((int64_t)n * (thread + 1) / ctx->threads);
    for (int32_t i = begin; i < end; ++i) body(args, i, team);
  }
  free(memory);
  return KEDGE_OK;
}

KG_OPERATOR(kg_cell_make, kg_cell_make_args)
kedge_status kg_cell_make_host(kedge_context *ctx, const kg_cell_make_args *args)
{
  return run(ctx, kg_cell_make_things(args), kg_cell_make_scratch(&args->cells.tables),
             kg_cell_make_lane, args);
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

KG_OPERATOR(kg_cell_recover, kg_cell_recover_args)
kedge_status kg_cell_recover_host(kedge_context *ctx, const kg_cell_recover_args *args)
{
  return run(ctx, args->cells.n_elements, kg_cell_recover_scratch(&args->cells.tables),
             kg_cell_recover_element, args);
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

KG_OPERATOR(kg_cell_postprocess, kg_cell_postprocess_args)
kedge_status kg_cell_postprocess_host(kedge_context *ctx, const kg_cell_postprocess_args *args)
{
  return run(ctx, args->cells.n_elements, kg_cell_postprocess_scratch(&args->cells.tables),
             kg_cell_postprocess_element, args);
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

KG_OPERATOR(kg_cell_means, kg_cell_means_args)
kedge_status kg_cell_means_host(kedge_context *ctx, const kg_cell_means_args *args)
{
  return run(ctx, args->cells.n_elements, kg_cell_means_scratch(&args->cells.tables.size),
             kg_cell_means_element, args);
}

kg_cost kg_cell_means_cost(const kg_cell_tables *t, int64_t n_elements)
{
  const double N = t->size.n_modes, S = t->size.n_flux, V = t->size.n_facets;
  return (kg_cost){.bytes = (8.0 * (N + S + 3) + 4 * V + 16) * (double)n_elements,
                   .flops = t->points.n * (2 * (N + S) + 12 * V + 18) * (double)n_elements};
}

KG_OPERATOR(kg_cell_loads, kg_cell_loads_args)
kedge_status kg_cell_loads_host(kedge_context *ctx, const kg_cell_loads_args *args)
{
  return run(ctx, args->cells.n_elements, (size_t)args->points.n, kg_cell_loads_element, args);
}

kg_cost kg_cell_loads_cost(const kg_cell_points *points, int64_t n_elements)
{
  const double N = points->size.n_modes, q = points->n, V = points->size.n_facets;
  return (kg_cost){.bytes = (8.0 * (q + N) + 4 * V + 16) * (double)n_elements,
                   .flops = q * (2 * N + 12 * V + 6) * (double)n_elements};
}

KG_OPERATOR(kg_cell_errors, kg_cell_errors_args)
kedge_status kg_cell_errors_host(kedge_context *ctx, const kg_cell_errors_args *args)
{
  return run(ctx, kg_cells_groups(&args->cells), kg_cell_errors_scratch(&args->points.size),
             kg_cell_errors_group, args);
}

kg_cost kg_cell_errors_cost(const kg_cell_points *points, int64_t n_elements)
{
  const double coefficients = points->size.n_modes + points->size.n_flux + points->size.n_star;
  const double q = points->n, V = points->size.n_facets;
  return (kg_cost){.bytes = (8.0 * (coefficients + 3 * q) + 4 * V + 16) * (double)n_elements,
                   .flops = q * (2 * coefficients + 12 * V + 40) * (double)n_elements};
}
