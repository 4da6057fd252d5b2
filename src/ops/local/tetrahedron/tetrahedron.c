// Dispatch, loops of the host and costs: what each operator does with an element is in element.h,
// for host and GPU.
#include "ops/local/tetrahedron/tetrahedron.h"

#include "ops/local/quadrature/team_run.h"
#include "ops/local/tetrahedron/element.h"
#include "ops/local/tetrahedron/varying.h"

KG_OPERATOR(kg_tetrahedron_make, kg_tetrahedron_make_args)
kedge_status kg_tetrahedron_make_host(kedge_context *ctx, const kg_tetrahedron_make_args *args)
{
  const kg_cell_sizes size = args->cells.reference.size;
  const bool varies = args->materials.values != NULL;
  return kg_team_run(ctx, kg_tetrahedra_groups(&args->cells) * KG_LANES,
                     varies ? kg_varying_make_scratch(size) : kg_tetrahedron_make_scratch(size),
                     varies ? kg_varying_make_lane : kg_tetrahedron_make_lane, args);
}

KG_OPERATOR(kg_tetrahedron_recover, kg_tetrahedron_recover_args)
kedge_status kg_tetrahedron_recover_host(kedge_context *ctx,
                                         const kg_tetrahedron_recover_args *args)
{
  const kg_cell_sizes size = args->cells.reference.size;
  const bool varies = args->materials.values != NULL;
  return kg_team_run(
      ctx, args->cells.n_elements,
      varies ? kg_varying_recover_scratch(size) : kg_tetrahedron_recover_scratch(size),
      varies ? kg_varying_recover_element : kg_tetrahedron_recover_element, args);
}

KG_OPERATOR(kg_tetrahedron_postprocess, kg_tetrahedron_postprocess_args)
kedge_status kg_tetrahedron_postprocess_host(kedge_context *ctx,
                                             const kg_tetrahedron_postprocess_args *args)
{
  const kg_cell_sizes size = args->cells.reference.size;
  const bool varies = args->materials.values != NULL;
  return kg_team_run(
      ctx, args->cells.n_elements,
      varies ? kg_varying_postprocess_scratch(size) : kg_tetrahedron_postprocess_scratch(size),
      varies ? kg_varying_postprocess_element : kg_tetrahedron_postprocess_element, args);
}

KG_OPERATOR(kg_tetrahedron_means, kg_tetrahedron_means_args)
kedge_status kg_tetrahedron_means_host(kedge_context *ctx, const kg_tetrahedron_means_args *args)
{
  const int32_t n = args->cells.n_elements;
  const int modes = args->materials.values ? args->cells.reference.size.n_modes : 1;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, n, 32 * modes * (1 + args->cells.points.n)))
  for (int32_t i = 0; i < n; ++i) kg_tetrahedron_means_of(args, i);
  return KEDGE_OK;
}

enum {
  FACTOR_FLOPS = 400,
  MODE_FLOPS = 2 * (KG_SPACE_PAIRS + 4),  // an entry of Z^-1
  LIFT_FLOPS = 7,                         // of R
  GEOMETRY_BYTES = 4 * 4 + 8,             // four numbers of vertices, and a third of a vertex
};

/// Operations of the elimination of n unknowns with so many right sides.
static double elimination_flops(double n, double columns)
{
  return n * n * n / 3 + n * n * columns;
}

static kg_cost times(double n_elements, double numbers, double bytes, double flops)
{
  return (kg_cost){.bytes = (8.0 * numbers + bytes + GEOMETRY_BYTES) * n_elements,
                   .flops = (flops + FACTOR_FLOPS) * n_elements};
}

kg_cost kg_tetrahedron_make_cost(kg_cell_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_trace, packed = size.n_packed;
  const double build = MODE_FLOPS * N * (N + 1) / 2 + LIFT_FLOPS * N * n + 2 * packed;
  const double products = 2 * N * (packed + n) + N * n;
  return times((double)n_elements, N + packed + n, 0,
               build + elimination_flops(N, n + 1) + products);
}

kg_cost kg_tetrahedron_recover_cost(kg_cell_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_trace;
  const double build = MODE_FLOPS * N * (N + 1) / 2 + (LIFT_FLOPS + 2) * N * n;
  const double flux = 7 * N * n + 7 * 3 * N * N;
  // Two elements share the trace of a facet.
  return times((double)n_elements, 5 * N + n / 2, 4 * 4,
               build + elimination_flops(N, 1) + N * N + flux);
}

kg_cost kg_tetrahedron_postprocess_cost(kg_cell_sizes size, int64_t n_elements)
{
  const double N = size.n_modes, n = size.n_star - 1;
  const double build = 2 * KG_SPACE_PAIRS * n * (n + 1) / 2 + 3 * 5 * N + 3 * 2 * n * N;
  return times((double)n_elements, 4 * N + n + 2, 0,
               build + elimination_flops(n, 1) + n * n + 3 * n);
}

kg_cost kg_tetrahedron_means_cost(int64_t n_elements)
{
  return (kg_cost){.bytes = 2.0 * 8.0 * kg_tetrahedron_means_count(false) * (double)n_elements};
}
