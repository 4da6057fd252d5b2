#include "ops/local/quadrature/field_sums.h"

#include <math.h>

#include "device/loop.h"

int kg_field_points(const kg_cell *cell, int order, double *value)
{
  enum { STAR_MAX = (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 2) };
  const int F = cell->n_facets, n_star = cell->n_modes(order + 1), D = cell->dimension;
  const double turn = cos(3.8317059702075123 / (order + 1));
  // The place between centre and corner l: of a simplex the one whose distance from the opposite
  // facet is (1 - turn) / 2 of the height.
  const double part = F == 3 ? 0.25 - 0.75 * turn : D == 3 ? (1.0 - 2.0 * turn) / 3.0 : turn;
  double at[KG_FIELD_POINTS][3] = {{0.0, 0.0, 0.0}};
  for (int l = 0; l < F; ++l)
    for (int k = 0; k < D; ++k) at[2 * F][k] += cell->corner[l][k] / F;
  for (int l = 0; l < F; ++l)
    for (int k = 0; k < D; ++k) {
      at[l][k] = cell->corner[l][k];
      at[F + l][k] = at[2 * F][k] + part * (at[l][k] - at[2 * F][k]);
    }
  for (int q = 0; q < 2 * F + 1; ++q) {
    long double phi[STAR_MAX];
    cell->modes(order + 1, (const long double[]){at[q][0], at[q][1], at[q][2]}, phi, NULL);
    for (int i = 0; i < n_star; ++i) value[q * n_star + i] = (double)phi[i];
  }
  return 2 * F + 1;
}

KG_OPERATOR(kg_field_sums_add, kg_field_sums_args)

kedge_status kg_field_sums_add_host(kedge_context *ctx, const kg_field_sums_args *a)
{
  const int64_t n_groups = (a->n_elements + KG_LANES - 1) / KG_LANES;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, n_groups, (int64_t)KG_LANES * 2 * a->n_points * a->n_star))
  for (int piece = 0; piece < a->n_pieces; ++piece) {
    kg_field_sums sum = a->begins ? kg_no_field_sums() : a->sums[piece];
    for (int64_t g = piece; g < n_groups; g += a->n_pieces)
      for (int lane = 0; lane < kg_field_lanes(a, g); ++lane)
        kg_field_sums_element(a, g, lane, &sum);
    a->sums[piece] = sum;
  }
  return KEDGE_OK;
}

kg_cost kg_field_sums_cost(const kg_field_sums_args *a)
{
  const bool keeps = a->by_quadrature && a->material.keeps_gradient;
  const double N = a->n_modes, S = a->n_star, n = a->n_elements;
  const double rows =
      a->by_quadrature ? kg_cell_flux_rows(a->cells.tables.size.n_flux, keeps) : 2 * a->n_modes;
  const double nodes = a->by_quadrature ? a->cells.tables.points.n_nodes : 0.0;
  const double values = a->material.values ? 27.0 : 0.0;
  const double bytes = 8.0 * (N + S + rows + values + 1) + 4.0 * a->n_facets;
  const double of_places = a->by_quadrature ? 9 * (8 * nodes + 50) : 0.0;
  return (kg_cost){.bytes = n * bytes,
                   .flops = n * (5 * (N + S) + 2 * a->n_points * (N + S) + 5 * rows + of_places)};
}
