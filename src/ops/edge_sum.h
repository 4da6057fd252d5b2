/// @file
/// Sum an element quantity onto the trace: y_f = sum of its one or two sides' rows, in a fixed
/// order. Serves the right-hand side (rows of F^e) and the Jacobi diagonal (diagonal entries of
/// K^e).
#pragma once
#include "core/inline.h"
#include "ops/ops.h"
KEDGE_BEGIN_DECLS

typedef struct kg_edge_sum_args {
  kg_batch batch;
  const double *rows;  ///< [group][width][lane]
  int width;           ///< n, or n (n+1) / 2 when diagonal
  bool diagonal;       ///< take row a (a+1) / 2 + a for trace mode a, and store 1 / sum
  double *y;           ///< [free trace edge][mode]
} kg_edge_sum_args;

kedge_status kg_edge_sum(kedge_context *ctx, const kg_edge_sum_args *args);
kg_cost kg_edge_sum_cost(kg_sizes size, int64_t n_free);

kedge_status kg_edge_sum_host(kedge_context *ctx, const kg_edge_sum_args *args);
kedge_status kg_edge_sum_cuda(kedge_context *ctx, const kg_edge_sum_args *args);

/// The row of side 3 e + l, mode k. Shared by host and GPU.
KG_INLINE int64_t kg_edge_sum_index(const kg_edge_sum_args *args, int32_t side, int k)
{
  const int32_t e = side / 3;
  const int a = side % 3 * args->batch.reference.size.n_edge + k;
  const int row = args->diagonal ? a * (a + 1) / 2 + a : a;
  return ((int64_t)(e / KG_LANES) * args->width + row) * KG_LANES + e % KG_LANES;
}

KEDGE_END_DECLS
