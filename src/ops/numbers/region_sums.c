#include "ops/numbers/region_sums.h"

#include "device/loop.h"

KG_OPERATOR(kg_region_sums_add, kg_region_sums_args)

/// A record of a run: lanes in the order in which a GPU joins them would need as much memory again,
/// so they are added one after the other.
static void add_record(const kg_region_sums_args *a, int32_t run, int32_t record)
{
  int32_t begin, end;
  const bool begins = kg_run_part(a, run, &begin, &end);
  const kg_summed as = kg_summed_as(&a->elements);
  kg_region_sums sum = begins ? kg_no_region_sums() : a->sums[record];
  for (int32_t g = begin; g < end; ++g)
    for (int lane = 0; lane < KG_LANES; ++lane) {
      if (!kg_is_of_record(a, run, record, g, lane)) continue;
      const kg_region_sums of = kg_element_sums(a, (g - a->first_group) * KG_LANES + lane, as);
      kg_region_sums_join(&of, &sum);
    }
  a->sums[record] = sum;
}

kedge_status kg_region_sums_add_host(kedge_context *ctx, const kg_region_sums_args *a)
{
  const int64_t work = (int64_t)KG_LANES * a->elements.size.n_modes * a->n_nodes;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, kg_elements_groups(&a->elements), work))
  for (int32_t run = a->first_run; run < a->first_run + a->n_runs; ++run)
    for (int32_t r = a->runs.record[run]; r < a->runs.record[run + 1]; ++r) add_record(a, run, r);
  return KEDGE_OK;
}

kg_cost kg_region_sums_cost(const kg_region_sums_args *a)
{
  const kg_cell_sizes *const z = &a->elements.size;
  const kg_cell_tables *const t = &a->elements.cells.tables;
  const double N = z->n_modes, S = z->n_flux, n = a->elements.n_elements;
  const double of_points = a->elements.by_quadrature
                               ? t->points.n * (2 * (N + S) + 12.0 * t->points.n_nodes + 30)
                               : z->n_facets * S;
  return (kg_cost){.bytes = n * (8.0 * (N + S + 1) + 4.0 * z->n_facets),
                   .flops = n * (2 * N * a->n_nodes + of_points)};
}
