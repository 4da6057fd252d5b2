/// @file
/// Passes over rows on the host, whose sums are taken over KG_PIECES pieces and then in order.
#pragma once
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

/// Add the halo to the rows of A p among these that are open.
static inline void close_rows(kg_real *ap, const kg_open *open, int64_t begin, int64_t end)
{
  const kg_real *halo = open->halo;
  const int64_t first = open->first, last = first + open->n;
  if (begin < first) begin = first;
  if (end > last) end = last;
  for (int64_t i = begin; i < end; ++i) ap[i] += halo[i - first];
}
