// The sort, run lengths and scan of King 2014's Algorithm 1 are one counting sort here: the edges
// are their own digits. The product takes a strip of rows at a time, so that every entry is a SIMD
// loop over rows; its sums are taken over a fixed number of pieces and then in order, so that they
// do not depend on the number of threads.
#include <string.h>

#include "device/context.h"
#include "ops/vector/pieces.h"
#include "ops/assembled/ell.h"
#include "ops/assembled/ell_block.h"

enum { STRIP = 128 };  // rows of a strip

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

static int32_t edge_of_side(const kg_trace_arrays *arrays, int32_t e, int l)
{
  return (int32_t)(arrays->side_edge[kg_facet_at(arrays, e, l)] >> 1);
}

/// Calls `what` for the sides of the elements, ascending; empty lanes have none.
static void each_side(const kg_ell_assemble_args *a, edge_map map,
                      void (*what)(edge_map map, int32_t edge, kg_side side))
{
  for (int i = 0; i < a->locals.n_locals; ++i) {
    const kg_local *local = &a->locals.local[i];
    const int n_facets = kg_facets_of_lane(&a->batch.arrays, local->first_lane);
    for (int32_t e = local->first_lane; e < local->first_lane + local->n_elements; ++e)
      for (int l = 0; l < n_facets; ++l)
        what(map, edge_of_side(&a->batch.arrays, e, l), kg_side_of(e, l));
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
  const int m = a->batch.reference.size.n_edge;
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
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
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
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    const double dot = multiply_rows(args, piece_begin(rows, piece), piece_begin(rows, piece + 1));
    if (sum->total) sum->part[piece] = dot;
  }
  if (sum->total) kg_sum_end(sum, sum_in_order(sum->part, KG_PIECES));
  return KEDGE_OK;
}
