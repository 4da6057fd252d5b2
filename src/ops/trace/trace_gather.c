// On the host a thread takes pieces of the free edges; the m rows of an edge are the SIMD loop. The
// sum x . y is taken over pieces of a fixed size and then in order, so that it does not depend on
// the threads.
#include "ops/trace/trace_gather.h"

#include "device/loop.h"
#include "ops/vector/pieces.h"

/// sum[m] += the side's rows times the values of its element's three edges.
static void multiply_side(const kg_trace_gather_args *a, kg_side side, double *restrict sum)
{
  const int m = a->batch.m, n = a->local.n;
  const int32_t e = kg_side_element(side);
  const double *restrict entry =
      (const double *)a->local.data + ((size_t)e * n + kg_side_facet(side) * m) * n;
  for (int l = 0; l < 3; ++l) {
    const double *x = a->x + (size_t)(a->batch.arrays.side_edge[kg_lane_side(3, e, l)] >> 1) * m;
    for (int j = 0; j < m; ++j, entry += m)
#pragma omp simd
      for (int i = 0; i < m; ++i) sum[i] += entry[i] * x[j];
  }
}

/// Make y in the rows of the edges begin .. end - 1. Returns their part of x . y.
static double multiply_edges(const kg_trace_gather_args *a, int32_t begin, int32_t end)
{
  const int m = a->batch.m;
  double dot = 0.0;
  for (int32_t f = begin; f < end; ++f) {
    const kg_side *sides = a->batch.arrays.edge_sides + 2 * (size_t)f;
    double sum[KEDGE_ORDER_MAX + 1] = {0};
    multiply_side(a, sides[0], sum);
    if (sides[1] != KG_NO_SIDE) multiply_side(a, sides[1], sum);
    for (int i = 0; i < m; ++i) {
      a->y[(size_t)f * m + i] = sum[i];
      dot += a->x[(size_t)f * m + i] * sum[i];
    }
  }
  return dot;
}

kedge_status kg_trace_gather_host(kedge_context *ctx, const kg_trace_gather_args *args)
{
  if (kg_stopped(args->pass.stop)) return KEDGE_OK;
  const kg_sum *sum = &args->pass.sum;
  const int64_t edges = args->batch.count.n_free;
  const int64_t pieces = kg_trace_gather_partials(args->batch.m, &args->batch.count);
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, edges, 2 * args->local.rows / 3))
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const double dot = multiply_edges(args, (int32_t)(edges * piece / pieces),
                                      (int32_t)(edges * (piece + 1) / pieces));
    if (sum->total) sum->part[piece] = dot;
  }
  if (sum->total) kg_sum_end(sum, sum_in_order(sum->part, pieces));
  return KEDGE_OK;
}

kedge_status kg_trace_gather(kedge_context *ctx, const kg_trace_gather_args *args)
{
  assert(args->local.layout == KG_LAYOUT_FULL &&
         kg_all_lanes_are(&args->batch.arrays.lanes, KG_TRIANGLES));
  if (args->pass.open) *args->pass.open = (kg_open){0};
  return KG_IMPLEMENTATION(ctx, kg_trace_gather_host, kg_trace_gather_cuda)(ctx, args);
}

kg_cost kg_trace_gather_cost(int m, const kg_trace_counts *count)
{
  const double sides = 2.0 * ((double)count->n_interior + count->n_shared) + count->n_neumann;
  const double entries = sides * m * (3 * m);
  const double indices = 12.0 * count->n_elements + 8.0 * count->n_free;
  const double vectors = 8.0 * m * ((double)count->n_edges + (double)count->n_free);
  return (kg_cost){.bytes = 8.0 * entries + indices + vectors, .flops = 2.0 * entries};
}
