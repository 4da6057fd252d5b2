#include "core/context.h"
#include "ops/element_blocks.h"
#include "ops/real.h"

enum { PACKED_MAX = KG_SWEEP_MAX * (KG_SWEEP_MAX + 1) / 2 };

kedge_status KG_REAL(kg_element_blocks_host)(kedge_context *ctx, const kg_element_blocks_args *a)
{
  const kg_sizes *size = &a->batch.reference.size;
  const int32_t n_elements = a->batch.count.n_elements;
  int32_t fault = *a->fault;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : fault)
  for (int32_t e = 0; e < a->batch.count.n_groups * KG_LANES; ++e) {
    double block[PACKED_MAX] = {0};
    if (e < n_elements && !kg_element_block(a, e, block, 1) && e < fault) fault = e;
    kg_real *out = (kg_real *)a->inverse + kg_element_block_at(size, e);
    for (int i = 0; i < size->n_packed; ++i)
      out[i * KG_LANES] = (kg_real)(e < n_elements ? -block[i] : 0.0);
  }
  *a->fault = fault;
  return KEDGE_OK;
}
