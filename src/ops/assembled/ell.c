// On the host the sort, run lengths and scan of King 2014's Algorithm 1 are one counting sort: the
// edges are their own digits. The product takes a strip of rows at a time, so that every entry is a
// SIMD loop over rows; its sums are taken over a fixed number of pieces and then in order, so that
// they do not depend on the number of threads.
#include "ops/assembled/ell.h"

#include <string.h>

#include "device/loop.h"
#include "ops/assembled/ell_block.h"
#include "ops/vector/pieces.h"

enum { STRIP = 128 };  // rows of a strip

/// The facets of two elements, of which one is the same.
static int blocks_of(const kg_trace_counts *count)
{
  return 2 * kg_most_facets(&count->lanes) - 1;
}

kg_ell_matrix kg_ell_shape(int m, const kg_trace_counts *count)
{
  const int64_t rows = (int64_t)count->n_free * m;
  return (kg_ell_matrix){.rows = rows,
                         .stride = (rows + KG_LANES - 1) / KG_LANES * KG_LANES,
                         .blocks = blocks_of(count),
                         .width = blocks_of(count) * m};
}

/// The local-to-global map by edge: the sides of trace edge f are side[begin[f]] up to but without
/// side[begin[f + 1]], one or two of them, lower first.
typedef struct edge_map {
  int32_t *begin;  ///< [trace edge + 1]
  kg_side *side;   ///< [side]
} edge_map;

static size_t begin_bytes(const kg_trace_counts *count)
{
  return kg_rounded(((size_t)count->n_edges + 1) * sizeof(int32_t));
}

kedge_status kg_ell_work_bytes_host(kedge_context *ctx, const kg_trace_counts *count, size_t *bytes)
{
  (void)ctx;
  *bytes = begin_bytes(count) + kg_rounded((size_t)count->n_sides * sizeof(kg_side));
  return KEDGE_OK;
}

/// Calls `what` for the sides of the elements, ascending; empty lanes have none.
static void each_side(const kg_ell_assemble_args *a, edge_map map,
                      void (*what)(edge_map map, int32_t edge, kg_side side))
{
  const kg_trace_arrays *arrays = &a->batch.arrays;
  for (int i = 0; i < a->locals.n_locals; ++i) {
    const kg_local *local = &a->locals.local[i];
    const int n_facets = kg_facets_of_lane(arrays, local->first_lane);
    for (int32_t e = local->first_lane; e < local->first_lane + local->n_elements; ++e)
      for (int l = 0; l < n_facets; ++l)
        what(map, (int32_t)(arrays->side_edge[kg_facet_at(arrays, e, l)] >> 1), kg_side_of(e, l));
  }
}

static void count_side(edge_map map, int32_t edge, kg_side side)
{
  (void)side;
  ++map.begin[edge + 1];
}

static void put_side(edge_map map, int32_t edge, kg_side side)
{
  map.side[map.begin[edge + 1]++] = side;
}

/// Stable, so that the lower of two sides comes first.
static void sort_sides(const kg_ell_assemble_args *a, edge_map map)
{
  const kg_trace_counts *count = &a->batch.count;
  int32_t *next = map.begin + 1;  // place of the next side of f; in the end, where f + 1 begins
  memset(map.begin, 0, ((size_t)count->n_edges + 1) * sizeof *map.begin);
  each_side(a, map, count_side);
  int32_t place = 0;
  for (int32_t f = 0; f < count->n_edges; ++f) {
    const int32_t length = next[f];
    next[f] = place;
    place += length;
  }
  each_side(a, map, put_side);
}

/// The m rows of a free edge.
static void fill_edge(const kg_ell_assemble_args *a, edge_map map, int32_t f)
{
  const kg_ell_matrix *matrix = &a->matrix;
  const int m = a->batch.m;
  const kg_side first = map.side[map.begin[f]];
  const bool is_inner = map.begin[f + 1] - map.begin[f] == 2;
  const kg_side second = is_inner ? map.side[map.begin[f] + 1] : KG_NO_SIDE;
  for (int q = 0; q < matrix->blocks; ++q) {
    const kg_ell_block block =
        kg_ell_block_of(&a->locals, &a->batch.arrays, m, f, first, second, q);
    for (int j = 0; j < m; ++j) {
      const int64_t at = (q * m + j) * matrix->stride + (int64_t)f * m;
      const int32_t column = block.edge < 0 ? -1 : block.edge * m + j;
      for (int i = 0; i < m; ++i) matrix->column[at + i] = column;
      for (int i = 0; i < m; ++i)
        matrix->value[at + i] = column < 0 ? 0.0 : kg_ell_block_entry(&block, i, j);
    }
  }
}

kedge_status kg_ell_assemble_host(kedge_context *ctx, const kg_ell_assemble_args *args)
{
  const kg_trace_counts *count = &args->batch.count;
  const kg_ell_matrix *matrix = &args->matrix;
  const edge_map map = {args->work, (kg_side *)((char *)args->work + begin_bytes(count))};
  sort_sides(args, map);
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, matrix->rows, 2 * matrix->width))
  for (int32_t f = 0; f < count->n_free; ++f) fill_edge(args, map, f);
  for (int k = 0; k < matrix->width; ++k)
    for (int64_t row = matrix->rows; row < matrix->stride; ++row) {
      matrix->column[k * matrix->stride + row] = -1;
      matrix->value[k * matrix->stride + row] = 0.0;
    }
  return KEDGE_OK;
}

/// sum[i] = row `first + i` of A x, i < n.
static void multiply_strip(const kg_ell_matrix *matrix, const double *restrict x, int64_t first,
                           int n, double *restrict sum)
{
  for (int i = 0; i < n; ++i) sum[i] = 0.0;
  for (int k = 0; k < matrix->width; ++k) {
    const int32_t *restrict column = matrix->column + k * matrix->stride + first;
    const double *restrict value = matrix->value + k * matrix->stride + first;
#pragma omp simd
    for (int i = 0; i < n; ++i) {
      const double xc = x[column[i] < 0 ? 0 : column[i]];  // no branch: missing entries drop x[0]
      sum[i] += value[i] * (column[i] < 0 ? 0.0 : xc);
    }
  }
}

/// Returns x . y of rows begin .. end - 1.
static double multiply_rows(const kg_ell_apply_args *a, int64_t begin, int64_t end)
{
  double dot = 0.0, sum[STRIP];
  for (int64_t first = begin; first < end; first += STRIP) {
    const int n = end - first < STRIP ? (int)(end - first) : STRIP;
    multiply_strip(&a->matrix, a->x, first, n, sum);
    memcpy(a->y + first, sum, (size_t)n * sizeof *sum);
#pragma omp simd reduction(+ : dot)
    for (int i = 0; i < n; ++i) dot += a->x[first + i] * sum[i];
  }
  return dot;
}

kedge_status kg_ell_apply_host(kedge_context *ctx, const kg_ell_apply_args *args)
{
  if (kg_stopped(args->pass.stop)) return KEDGE_OK;
  const int64_t rows = args->matrix.rows;
  const kg_sum *sum = &args->pass.sum;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(ctx, rows, args->matrix.width))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    const double dot = multiply_rows(args, piece_begin(rows, piece), piece_begin(rows, piece + 1));
    if (sum->total) sum->part[piece] = dot;
  }
  if (sum->total) kg_sum_end(sum, sum_in_order(sum->part, KG_PIECES));
  return KEDGE_OK;
}

kedge_status kg_ell_work_bytes(kedge_context *ctx, const kg_trace_counts *count, size_t *bytes)
{
  return KG_IMPLEMENTATION(ctx, kg_ell_work_bytes_host, kg_ell_work_bytes_cuda)(ctx, count, bytes);
}

/// Columns are 32-bit numbers in King's format, and widening them would cost a third more traffic.
static kedge_status check_columns(kedge_context *ctx, int m, const kg_trace_counts *count)
{
  const int64_t columns = (int64_t)count->n_edges * m;
  KG_REQUIRE(ctx, columns <= INT32_MAX, KEDGE_ERR_UNSUPPORTED,
             "the ELL matrix numbers its columns with 32 bits, too few for %lld trace unknowns: "
             "use the matrix-free operator",
             (long long)columns);
  return KEDGE_OK;
}

kedge_status kg_ell_assemble(kedge_context *ctx, const kg_ell_assemble_args *args)
{
  const int m = args->batch.m;
  const kg_ell_matrix shape = kg_ell_shape(m, &args->batch.count), *given = &args->matrix;
  KG_TRY(check_columns(ctx, m, &args->batch.count));
  KG_REQUIRE(
      ctx,
      given->rows == shape.rows && given->stride == shape.stride && given->width == shape.width,
      KEDGE_ERR_INTERNAL, "the ELL matrix is %lld x %d where the trace needs %lld x %d",
      (long long)given->rows, (int)given->width, (long long)shape.rows, (int)shape.width);
  size_t needed;
  KG_TRY(kg_ell_work_bytes(ctx, &args->batch.count, &needed));
  KG_REQUIRE(ctx, args->work_bytes >= needed, KEDGE_ERR_INTERNAL,
             "the ELL assembly got %zu bytes of work memory and needs %zu", args->work_bytes,
             needed);
  if (shape.rows == 0) return KEDGE_OK;  // every edge is a Dirichlet edge
  return KG_IMPLEMENTATION(ctx, kg_ell_assemble_host, kg_ell_assemble_cuda)(ctx, args);
}

kg_cost kg_ell_assemble_cost(int m, const kg_trace_counts *count)
{
  const kg_ell_matrix shape = kg_ell_shape(m, count);
  const double sides = (double)count->n_sides, edges = count->n_edges;
  int passes = 1;  // of a radix sort by eight bits at a time
  while (passes < 4 && count->n_edges >> 8 * passes) ++passes;
  // A side: its edge and itself are made from the element's edges (12), moved by every pass (16),
  // the edge read by the sort's histogram and for the run lengths (8), the side read by its rows
  // (4). An edge: number and length written, length scanned (16), place and length read by its rows
  // (8).
  const double map = sides * (12.0 + 16.0 * passes + 8.0 + 4.0) + edges * (16.0 + 8.0);
  const int n = kg_most_facets(&count->lanes) * m;
  const double local = 8.0 * (n * (n + 1) / 2) * count->n_elements;
  const double matrix = 12.0 * shape.width * (double)shape.stride;
  const double summed = (double)m * m;  // entries of an edge with two elements
  return (kg_cost){.bytes = map + local + matrix,
                   .flops = summed * ((double)count->n_interior + count->n_shared)};
}

kedge_status kg_ell_apply(kedge_context *ctx, const kg_ell_apply_args *args)
{
  if (args->pass.open) *args->pass.open = (kg_open){0};
  return KG_IMPLEMENTATION(ctx, kg_ell_apply_host, kg_ell_apply_cuda)(ctx, args);
}

kg_cost kg_ell_apply_cost(int m, const kg_trace_counts *count)
{
  const kg_ell_matrix shape = kg_ell_shape(m, count);
  const double entries = (double)shape.width * (double)shape.rows;
  const double vectors = 8.0 * ((double)m * count->n_edges + (double)shape.rows);
  return (kg_cost){.bytes = 12.0 * entries + vectors, .flops = 2.0 * entries};
}
