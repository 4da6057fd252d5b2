#include "ops/local/quadrature/team.h"

#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"

kedge_status kg_team_run_host(kedge_context *ctx, int32_t n, size_t scratch, kg_team_body *body,
                              const void *args)
{
  double *memory;
  KG_TRY(kg_host_alloc(ctx, (size_t)ctx->threads * scratch, sizeof *memory, &memory));
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int thread = 0; thread < ctx->threads; ++thread) {
    const kg_team team = {0, memory + (size_t)thread * scratch};
    const int32_t begin = (int32_t)((int64_t)n * thread / ctx->threads);
    const int32_t end = (int32_t)((int64_t)n * (thread + 1) / ctx->threads);
    for (int32_t i = begin; i < end; ++i) body(args, i, team);
  }
  free(memory);
  return KEDGE_OK;
}
