#include "device/context.h"
#include "ops/smooth/edge_blocks.h"

enum { PACKED_MAX = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 2) / 2 };

kedge_status kg_edge_blocks_host(kedge_context *ctx, const kg_edge_blocks_args *a)
{
  const int m = a->batch.reference.size.n_edge, packed = m * (m + 1) / 2;
  int32_t fault = *a->fault;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : fault)
  for (int32_t edge = 0; edge < a->batch.count.n_free; ++edge) {
    const kg_side *sides = a->batch.arrays.edge_sides + 2 * (int64_t)edge;
    double block[PACKED_MAX] = {0};
    kg_edge_block_add(&a->locals, m, sides[0], block);
    if (sides[1] != KG_NO_SIDE) kg_edge_block_add(&a->locals, m, sides[1], block);
    if (!kg_edge_block_invert(m, a->number, block) && edge < fault) fault = edge;
    const int64_t at = kg_edge_block_at(m, edge);
    for (int k = 0; k < packed; ++k)
      if (a->form == KG_BLOCK_HALF)
        ((uint16_t *)a->inverse)[at + k * KG_LANES] = kg_upper_half((float)block[k]);
      else
        ((float *)a->inverse)[at + k * KG_LANES] = (float)block[k];
  }
  *a->fault = fault;
  return KEDGE_OK;
}
