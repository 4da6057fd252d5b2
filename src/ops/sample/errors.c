#include "ops/sample/errors.h"

#include <math.h>

#include "device/loop.h"
#include "ops/local/triangle/lanes.h"

/// Diffusion xx, xy, yy of a pack; zeros where the flux is not wanted.
static void diffusion_of(const kg_errors_args *a, int64_t group, int part, kg_pack k[3])
{
  const int64_t first = group * KG_LANES + part * KG_PACK;
  for (int c = 0; c < 3; ++c) {
    kg_pack of_lanes = {0};
    for (int i = 0; a->flux_by_group && i < KG_PACK; ++i)
      of_lanes[i] = a->diffusion[(a->material ? 4 * (int64_t)a->material[first + i] : 0) + c];
    k[c] = of_lanes;
  }
}

/// Add the errors of a pack. @param[out] flux  the sum for the flux, where it is wanted
static void pack_of_elements(const kg_errors_args *a, int64_t g, int part, kg_error_sums *sums,
                             double *flux)
{
  const int N = a->batch.reference.size.n_modes, S = a->batch.reference.size.n_star;
  const int n_points = a->points.n;
  const int64_t group = a->first_group + g;
  const int64_t left = a->batch.count.n_elements - group * KG_LANES - part * KG_PACK;
  const int n_elements = left < KG_PACK ? (int)left : KG_PACK;  // of the pack; not positive: none
  kg_element_pack e;
  const kg_materials unit = kg_one_material(kg_unit_material());
  kg_lanes_elements(&a->batch.arrays, &unit, group, part, &e);
  kg_pack u2 = {0}, q2 = {0}, star2 = {0}, flux2 = {0}, k[3];
  diffusion_of(a, group, part, k);
  for (int point = 0; point < n_points; ++point) {
    const double *phi = a->points.basis + (size_t)point * a->points.n_star;
    kg_pack u = {0}, qx = {0}, qy = {0}, star = {0};
    for (int i = 0; i < N; ++i) u += phi[i] * *kg_lanes_row_const(a->u, g, N, i, part);
    u -= *kg_lanes_row_const(a->exact, g, 3 * n_points, point, part);
    for (int i = 0; i < n_elements; ++i) sums->u_max = kg_larger(sums->u_max, fabs(u[i]));
    const double w = a->points.weight[point];
    if (w == 0.0) continue;  // a corner
    for (int i = 0; i < N; ++i) {
      qx += phi[i] * *kg_lanes_row_const(a->q, g, 2 * N, i, part);
      qy += phi[i] * *kg_lanes_row_const(a->q, g, 2 * N, N + i, part);
    }
    for (int i = 0; i < S; ++i) star += phi[i] * *kg_lanes_row_const(a->u_star, g, S, i, part);
    star -= *kg_lanes_row_const(a->exact, g, 3 * n_points, point, part);
    qx -= *kg_lanes_row_const(a->exact, g, 3 * n_points, n_points + point, part);
    qy -= *kg_lanes_row_const(a->exact, g, 3 * n_points, 2 * n_points + point, part);
    const kg_pack along = k[0] * qx + k[1] * qy, across = k[1] * qx + k[2] * qy;
    u2 += w * u * u;
    q2 += w * (qx * qx + qy * qy);
    star2 += w * star * star;
    flux2 += w * (along * along + across * across);
  }
  for (int i = 0; i < n_elements; ++i) {
    sums->u += e.jacobian[i] * u2[i];
    sums->q += e.jacobian[i] * q2[i];
    sums->u_star += e.jacobian[i] * star2[i];
    *flux += e.jacobian[i] * flux2[i];
  }
}

kedge_status kg_errors_host(kedge_context *ctx, const kg_errors_args *args)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads( \
    ctx, args->n_groups, KG_LANES * args->points.n * args->batch.reference.size.n_star))
  for (int32_t g = 0; g < args->n_groups; ++g) {
    kg_error_sums sums = {0};
    double flux = 0.0;
    for (int part = 0; part < KG_PACKS; ++part) pack_of_elements(args, g, part, &sums, &flux);
    args->by_group[args->first_group + g] = sums;
    if (args->flux_by_group) args->flux_by_group[args->first_group + g] = flux;
  }
  return KEDGE_OK;
}

KG_OPERATOR(kg_errors, kg_errors_args)

// Sums over modes go by rows of points (docs/math.md#sums-over-points); vertices of the triangle
// are read.
kg_cost kg_errors_cost(kg_sizes size, int n_rows, bool flux, int64_t n_elements)
{
  const double N = size.n_modes, S = size.n_star, m = size.n_edge;
  const double rows = n_rows, q = rows * rows;
  const double bytes = 8.0 * (3 * N + S + 3 * q + KG_POINT_CORNERS) + 3 * 4 + 8 + (flux ? 4 : 0);
  const double flops =
      rows * 2 * (3 * N + S) + q * (2 * (4 * m + 1) + (flux ? 27 : 16)) + KG_POINT_CORNERS * 2 * N;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}
