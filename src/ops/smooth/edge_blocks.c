#include "ops/smooth/edge_blocks.h"

#include <stdio.h>

#include "device/loop.h"
#include "ops/numbering/facet_corners.h"
#include "ops/numbering/fault.h"

enum { PACKED_MAX = KG_SPACE_FACET_MAX * (KG_SPACE_FACET_MAX + 1) / 2 };

size_t kg_edge_blocks_count(int m, const kg_trace_counts *count)
{
  const size_t groups = ((size_t)count->n_free + KG_LANES - 1) / KG_LANES;
  return groups * (size_t)(m * (m + 1) / 2) * KG_LANES;
}

/// Write where a facet lies, as words of a sentence.
static kedge_status place_of(kedge_context *ctx, const kg_trace_arrays *arrays, kg_side side,
                             char *words, size_t size)
{
  if (kg_lanes_in_space(&arrays->lanes)) {
    double at[KG_CORNERS][3];
    for (int k = 0; k < KG_CORNERS; ++k) KG_TRY(kg_fault_corner(ctx, arrays, side, k, at[k]));
    snprintf(words, size, "facet with corners (%g, %g, %g), (%g, %g, %g), (%g, %g, %g)", at[0][0],
             at[0][1], at[0][2], at[1][0], at[1][1], at[1][2], at[2][0], at[2][1], at[2][2]);
    return KEDGE_OK;
  }
  double at[2][2];
  for (int k = 0; k < 2; ++k) KG_TRY(kg_fault_end(ctx, arrays, side, k, at[k]));
  snprintf(words, size, "edge from (%g, %g) to (%g, %g)", at[0][0], at[0][1], at[1][0], at[1][1]);
  return KEDGE_OK;
}

/// Fail for an edge whose block has no inverse: say where it lies, and what to do.
static kedge_status refuse(kedge_context *ctx, const kg_batch *batch, kg_number number,
                           int32_t edge)
{
  const kg_trace_arrays *arrays = &batch->arrays;
  char words[192];
  kg_side side;
  KG_TRY(kg_copy_out(ctx, &side, arrays->edge_sides + 2 * (int64_t)edge, sizeof side));
  KG_TRY(place_of(ctx, arrays, side, words, sizeof words));
  return KG_FAIL(
      ctx, KEDGE_ERR_NUMERIC,
      "preconditioner = multigrid cannot smooth on the %s: "
      "its block of the trace operator is not positive definite in double precision%s; "
      "check the mesh there for nearly degenerate elements, choose a stabilization nearer "
      "to diffusion / h, or take " KG_WITHOUT_MULTIGRID,
      words, kg_number_remedy(number));
}

kedge_status kg_edge_blocks_check(kedge_context *ctx, const kg_batch *batch, kg_number number,
                                  const int32_t *fault)
{
  int32_t edge;
  KG_TRY(kg_fault_read(ctx, fault, &edge));
  return edge == KG_NO_FAULT ? KEDGE_OK : refuse(ctx, batch, number, edge);
}

kedge_status kg_edge_blocks_host(kedge_context *ctx, const kg_edge_blocks_args *a)
{
  const int m = a->batch.m, packed = m * (m + 1) / 2;
  const int threads = kg_loop_threads(ctx, a->batch.count.n_free, m * m * m);
  int32_t fault = *a->fault;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : fault)
  for (int32_t edge = 0; edge < a->batch.count.n_free; ++edge) {
    double block[PACKED_MAX];
    for (int k = 0; k < packed; ++k) block[k] = 0.0;
    kg_edge_block_of(&a->locals, m, a->batch.arrays.edge_sides + 2 * (int64_t)edge, block);
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

kedge_status kg_edge_blocks(kedge_context *ctx, const kg_edge_blocks_args *args)
{
  KG_TRY(kg_fault_clear(ctx, args->fault));
  KG_TRY(KG_IMPLEMENTATION(ctx, kg_edge_blocks_host, kg_edge_blocks_cuda)(ctx, args));
  return kg_edge_blocks_check(ctx, &args->batch, args->number, args->fault);
}

/// The parts of K^e are read once, the inverses written once.
kg_cost kg_edge_blocks_cost(int m, const kg_trace_counts *count, kg_number local,
                            size_t number_bytes)
{
  const double packed = m * (m + 1) / 2, free = count->n_free;
  const double sides = free + count->n_interior + count->n_shared;
  const double from = (double)kg_number_bytes(local), real = (double)number_bytes;
  return (kg_cost){.bytes = packed * (from * sides + real * free) + 8.0 * free,
                   .flops = free * m * m * m + packed * (sides - free)};
}
