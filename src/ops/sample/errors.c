#include "ops/sample/errors.h"

#include <math.h>

#include "device/context.h"
#include "ops/local/triangle/lanes.h"

static void pack_of_elements(const kg_errors_args *a, int64_t g, int part, kg_error_sums *sums)
{
  const int N = a->batch.reference.size.n_modes, S = a->batch.reference.size.n_star;
  const int n_points = a->points.n;
  const int64_t group = a->first_group + g;
  const int64_t left = a->batch.count.n_elements - group * KG_LANES - part * KG_PACK;
  const int n_elements = left < KG_PACK ? (int)left : KG_PACK;  // of the pack; not positive: none
  kg_element_pack e;
  const kg_materials unit = kg_one_material(kg_unit_material());
  kg_lanes_elements(&a->batch.arrays, &unit, group, part, &e);
  kg_pack u2 = {0}, q2 = {0}, star2 = {0};
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
    u2 += w * u * u;
    q2 += w * (qx * qx + qy * qy);
    star2 += w * star * star;
  }
  for (int i = 0; i < n_elements; ++i) {
    sums->u += e.jacobian[i] * u2[i];
    sums->q += e.jacobian[i] * q2[i];
    sums->u_star += e.jacobian[i] * star2[i];
  }
}

/// Diffusion xx, xy, yy and J of eight elements; of those that do not exist J is 0.
static void diffusion_of(const kg_errors_args *a, int64_t group, int part, kg_pack k[3],
                         kg_pack *jacobian)
{
  const kg_materials unit = kg_one_material(kg_unit_material());
  kg_element_pack e;
  kg_lanes_elements(&a->batch.arrays, &unit, group, part, &e);
  const int64_t first = group * KG_LANES + part * KG_PACK;
  for (int c = 0; c < 3; ++c) {
    kg_pack of_lanes = {0};
    for (int i = 0; i < KG_PACK; ++i)
      of_lanes[i] = a->diffusion[(a->material ? 4 * (int64_t)a->material[first + i] : 0) + c];
    k[c] = of_lanes;
  }
  *jacobian = e.jacobian;
  for (int i = 0; i < KG_PACK; ++i)
    if (first + i >= a->batch.count.n_elements) (*jacobian)[i] = 0.0;
}

/// The square of the error of the flux on eight elements.
static double flux_of_pack(const kg_errors_args *a, int64_t g, int part)
{
  const int N = a->batch.reference.size.n_modes, n_points = a->points.n;
  kg_pack k[3], jacobian, sum = {0};
  double total = 0.0;
  diffusion_of(a, a->first_group + g, part, k, &jacobian);
  for (int point = 0; point < n_points; ++point) {
    const double *phi = a->points.basis + (size_t)point * a->points.n_star;
    kg_pack x = {0}, y = {0};
    if (a->points.weight[point] == 0.0) continue;  // a corner
    for (int i = 0; i < N; ++i) {
      x += phi[i] * *kg_lanes_row_const(a->q, g, 2 * N, i, part);
      y += phi[i] * *kg_lanes_row_const(a->q, g, 2 * N, N + i, part);
    }
    x -= *kg_lanes_row_const(a->exact, g, 3 * n_points, n_points + point, part);
    y -= *kg_lanes_row_const(a->exact, g, 3 * n_points, 2 * n_points + point, part);
    const kg_pack along = k[0] * x + k[1] * y, across = k[1] * x + k[2] * y;
    sum += a->points.weight[point] * (along * along + across * across);
  }
  for (int i = 0; i < KG_PACK; ++i) total += jacobian[i] > 0.0 ? jacobian[i] * sum[i] : 0.0;
  return total;
}

static double flux_of_group(const kg_errors_args *a, int64_t g)
{
  double sum = 0.0;
  for (int part = 0; part < KG_PACKS; ++part) sum += flux_of_pack(a, g, part);
  return sum;
}

kedge_status kg_errors_host(kedge_context *ctx, const kg_errors_args *args)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t g = 0; g < args->n_groups; ++g) {
    kg_error_sums sums = {0};
    for (int part = 0; part < KG_PACKS; ++part) pack_of_elements(args, g, part, &sums);
    args->by_group[args->first_group + g] = sums;
    if (args->flux_by_group) args->flux_by_group[args->first_group + g] = flux_of_group(args, g);
  }
  return KEDGE_OK;
}

KG_OPERATOR(kg_errors, kg_errors_args)

// Sums over modes go by rows of points (docs/math.md#sums-over-points); vertices of the triangle
// are read.
kg_cost kg_errors_cost(kg_sizes size, int n_rows, int64_t n_elements)
{
  const double N = size.n_modes, S = size.n_star, m = size.n_edge;
  const double rows = n_rows, q = rows * rows;
  const double bytes = 8.0 * (3 * N + S + 3 * q + KG_POINT_CORNERS) + 3 * 4 + 8;
  const double flops =
      rows * 2 * (3 * N + S) + q * (2 * (4 * m + 1) + 16) + KG_POINT_CORNERS * 2 * N;
  return (kg_cost){.bytes = bytes * (double)n_elements, .flops = flops * (double)n_elements};
}
