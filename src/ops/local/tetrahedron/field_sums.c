#include "ops/local/tetrahedron/field_sums.h"

#include "device/loop.h"

KG_OPERATOR(kg_space_field_sums_add, kg_space_field_sums_args)

kedge_status kg_space_field_sums_add_host(kedge_context *ctx, const kg_space_field_sums_args *args)
{
  const kg_field_sums_args *const a = &args->sums;
  const int64_t n_groups = (a->n_elements + KG_LANES - 1) / KG_LANES;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, n_groups, (int64_t)KG_LANES * 2 * a->n_points * a->n_star))
  for (int piece = 0; piece < a->n_pieces; ++piece) {
    kg_field_sums sum = a->begins ? kg_no_field_sums() : a->sums[piece];
    for (int64_t g = piece; g < n_groups; g += a->n_pieces)
      for (int lane = 0; lane < kg_field_lanes(a, g); ++lane)
        kg_space_field_sums_element(args, g, lane, &sum);
    a->sums[piece] = sum;
  }
  return KEDGE_OK;
}

kg_cost kg_space_field_sums_cost(const kg_space_field_sums_args *args)
{
  const kg_field_sums_args *const a = &args->sums;
  const double N = a->n_modes, S = a->n_star, n = a->n_elements;
  return (kg_cost){.bytes = n * (8.0 * (4 * N + S) + 4.0 * a->n_facets),
                   .flops = n * (5 * (N + S) + 2 * a->n_points * (N + S) + 25 * N)};
}
