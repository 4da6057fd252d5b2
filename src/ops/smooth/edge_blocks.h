/// @file
/// The blocks on the diagonal of the trace operator, one a free edge, inverted: what the multigrid
/// preconditioner smooths with (precondition/multigrid.h).
///
/// The block of an edge is the m x m part of A that couples the edge with itself: the sum of those
/// parts of the K^e of its one or two elements. Inverses are packed like K^e and lie in groups of
/// 32 consecutive trace edges,
///
///     [edge group][m (m+1) / 2][lane]
///
/// with entry (i, j), j <= i, in row i (i+1) / 2 + j. What is kept is a factor W of the inverse,
/// W^T W = B^-1, in single precision in any system: rounding W leaves W^T W positive definite, and
/// changes it by 6e-8 of the root of B's condition. So do the upper halves of these numbers, which
/// have their range and 8 bits: by 2e-3 of it.
#pragma once
#include <string.h>

#include "ops/smooth/inverse_factor.h"
#include "ops/local/entry.h"
KEDGE_BEGIN_DECLS

/// The form in which a block is kept.
typedef enum kg_block_form {
  KG_BLOCK_FACTOR,  ///< W, float
  KG_BLOCK_HALF,    ///< W, upper halves of floats
} kg_block_form;

static inline size_t kg_block_number_bytes(kg_block_form form)
{
  return form == KG_BLOCK_HALF ? sizeof(uint16_t) : sizeof(float);
}

/// The upper half of a finite float, rounded to even, and the float that it stands for.
KG_INLINE uint16_t kg_upper_half(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

KG_INLINE float kg_of_upper_half(uint16_t half)
{
  const uint32_t bits = (uint32_t)half << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

typedef struct kg_edge_blocks_args {
  kg_batch batch;
  kg_locals locals;
  kg_number number;  ///< of what works with them
  kg_block_form form;
  void *inverse;   ///< lanes beyond the last free edge are not touched
  int32_t *fault;  ///< work, one word: the first edge without an inverse
} kg_edge_blocks_args;

/// Numbers of the inverse blocks of a trace.
size_t kg_edge_blocks_count(int m, const kg_trace_counts *count);

/// Waits for the device.
/// @retval KEDGE_ERR_NUMERIC  a block is not positive definite in double precision, or too large or
///         small for `number`; the sentence says where
KG_DECLARE_OPERATOR(kg_edge_blocks, kg_edge_blocks_args);
/// @param[in] local         of K^e
/// @param[in] number_bytes  of a number that is kept
kg_cost kg_edge_blocks_cost(int m, const kg_trace_counts *count, kg_number local,
                            size_t number_bytes);

/// After the kernels of an operator that inverts blocks of edges: wait, and refuse the edge that
/// `fault` (ops/numbering/fault.h) holds.
kedge_status kg_edge_blocks_check(kedge_context *ctx, const kg_batch *batch, kg_number number,
                                  const int32_t *fault);

/// Row 0 of the block of an edge; the next row is KG_LANES numbers on.
KG_INLINE int64_t kg_edge_block_at(int m, int32_t edge)
{
  return (int64_t)(edge / KG_LANES) * (m * (m + 1) / 2) * KG_LANES + edge % KG_LANES;
}

/// Add the part of a side's K^e that couples its edge with itself.
KG_INLINE void kg_edge_block_add(const kg_locals *locals, int m, kg_side side, double *block)
{
  const kg_local_element e = kg_local_element_of(locals, m, kg_side_element(side));
  const int l = kg_side_facet(side);
  for (int i = 0, at = 0; i < m; ++i)
    for (int j = 0; j <= i; ++j, ++at) block[at] += kg_local_entry(&e, l, i, l, j);
}

/// The block of an edge with these sides, added to `block`.
KG_INLINE void kg_edge_block_of(const kg_locals *locals, int m, const kg_side sides[2],
                                double *block)
{
  kg_edge_block_add(locals, m, sides[0], block);
  if (sides[1] != KG_NO_SIDE) kg_edge_block_add(locals, m, sides[1], block);
}

/// W of the block of an edge in place of it, for what works in `number`; false: it has none.
KG_INLINE bool kg_edge_block_invert(int m, kg_number number, double *block)
{
  return kg_inverse_factor(m, block) && kg_factor_fits(m, block, number);
}

KEDGE_END_DECLS
