/// @file
/// One step of Chebyshev's iteration with the inverse blocks of the edges
/// (ops/smooth/edge_blocks.h):
///
///     d = momentum d + step B^-1 (r - A z),  z += d
///
/// and, in the last step of a preconditioner, r . z. In the first step after a coarse correction
/// (ops/smooth/vertex_flux.h, or by rows: ops/smooth/vertex_rows.h) z and A z are corrected on the
/// way: z += P c, A z += A P c. A step may move vertex modes (ops/smooth/vertex_modes.h) beside the
/// blocks of the edges: then d is not kept. Where z has been made by such a step from zero alone,
/// it can be made again with the next one, which needs no more than one product with B^-1 for both.
#pragma once
#include "ops/smooth/edge_blocks.h"
#include "ops/ops.h"
#include "ops/pass.h"
#include "ops/smooth/vertex_flux.h"
#include "ops/smooth/vertex_modes.h"
KEDGE_BEGIN_DECLS

/// Vectors are [free trace edge][mode] and begin at multiples of 16 bytes.
typedef struct kg_edge_smooth_args {
  int m;
  int32_t n_edges;      ///< free edges
  kg_number number;     ///< of these but W
  const void *inverse;  ///< W of kg_edge_blocks()
  kg_block_form form;   ///< KG_BLOCK_FACTOR or KG_BLOCK_HALF, with K^e in single precision
  const void *r;
  kg_advance advance;   ///< a step that r takes first, with many vectors from zero; has its sum
  const void *product;  ///< A z; NULL: z is zero, whatever it holds, before it is corrected
  bool again;           ///< z is step B^-1 r: it is not read, but made of r + (r - A z) with d
  void *z;              ///< may be r where there is neither a product nor a sum
  kg_vertex_correction correction;  ///< of z, and of the product in passing: that is not written
  kg_vertex_modes modes;            ///< z += step sum_v phi_v value_v
  void *d;                          ///< NULL: there is no step after this one
  double step, momentum;            ///< momentum 0: d is not read
  kg_sum sum;                       ///< of r . z, with KG_PIECES parts
  bool many;  ///< all vectors, coarse ones too, are KG_VECTORS (ops/pass.h); W is read once
} kg_edge_smooth_args;

KG_DECLARE_OPERATOR_OF_NUMBERS(kg_edge_smooth, kg_edge_smooth_args);
/// The cost of a step of one vector.
kg_cost kg_edge_smooth_cost(int m, const kg_trace_counts *count, kg_block_form form,
                            kg_number number);

KEDGE_END_DECLS
