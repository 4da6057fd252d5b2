#include "ops/vector/unknowns.h"

#include "device/loop.h"

KG_OPERATOR(kg_unknowns_move, kg_unknowns_args)

kedge_status kg_unknowns_move_host(kedge_context *ctx, const kg_unknowns_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n_edges, 4 * a->m))
  for (int64_t k = 0; k < a->n_edges; ++k)
    for (int i = 0; i < a->m; ++i) kg_unknown_move(a, k, i);
  return KEDGE_OK;
}
