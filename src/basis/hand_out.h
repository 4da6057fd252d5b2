/// @file
/// Tables that lie one behind the other in one piece of memory.
#pragma once
#include <stddef.h>

typedef struct kg_piece {
  const double **where;
  size_t count;
} kg_piece;

/// Hand out consecutive pieces of `base`; with base NULL only the total, which it returns, counts.
static inline size_t kg_hand_out(const double *base, size_t n_pieces, const kg_piece *pieces)
{
  size_t total = 0;
  for (size_t i = 0; i < n_pieces; ++i) {
    *pieces[i].where = base ? base + total : NULL;
    total += pieces[i].count;
  }
  return total;
}
