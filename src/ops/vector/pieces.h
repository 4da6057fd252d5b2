/// @file
/// Passes over rows on the host, whose sums are taken over KG_PIECES pieces and then in order.
#pragma once
#include "device/loop.h"
#include "ops/pass.h"
#include "ops/real.h"

static inline int64_t piece_begin(int64_t n, int piece)
{
  return n * piece / KG_PIECES;
}

static inline double sum_in_order(const double *partial, int64_t n)
{
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += partial[i];
  return sum;
}

/// End a sum of KG_PIECES parts, or those of many vectors.
static inline void kg_sum_pieces(const kg_sum *sum, bool many)
{
  for (int v = 0; v < (many ? KG_VECTORS : 1); ++v) {
    const kg_sum of = kg_sum_of(sum, v);
    kg_sum_end(&of, sum_in_order(of.part, KG_PIECES));
  }
}

/// The step of rows of a vector, which begin at number `first`; returns their part of r . r.
static inline double advance(const kg_advance *a, int64_t first, int64_t rows, int vector)
{
  const double factor = kg_advance_factor(a, vector);
  double rr = 0.0;
  for (int64_t i = first; i < first + rows * KG_VECTORS; i += KG_VECTORS) {
    a->r[i] += factor * kg_advance_closed(a, i);
    rr += a->r[i] * a->r[i];
  }
  return rr;
}

/// The step of all rows.
static inline void advance_rows(kedge_context *ctx, const kg_advance *a, int64_t rows)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, rows, 16))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    const int64_t begin = piece_begin(rows, piece), end = piece_begin(rows, piece + 1);
    for (int v = 0; v < KG_VECTORS; ++v)
      a->sum.part[v * a->sum.parts + piece] = advance(a, begin * KG_VECTORS + v, end - begin, v);
  }
  kg_sum_pieces(&a->sum, true);
}

/// Add the halo to the rows of A p among these that are open.
static inline void close_rows(kg_real *ap, const kg_open *open, int64_t begin, int64_t end)
{
  const kg_real *halo = open->halo;
  const int64_t first = open->first, last = first + open->n;
  if (begin < first) begin = first;
  if (end > last) end = last;
  for (int64_t i = begin; i < end; ++i) ap[i] += halo[i - first];
}
