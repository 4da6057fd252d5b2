#include <string.h>

#include "device/context.h"
#include "ops/local/recover/constant_modes.h"

kedge_status kg_constant_modes_host(kedge_context *ctx, const kg_constant_modes_args *args)
{
  const size_t row = KG_LANES, N = (size_t)args->size.n_modes;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t group = 0; group < args->n_groups; ++group) {
    const size_t g = (size_t)group;
    double *const to = args->constant + 3 * g * row;
    memcpy(to, args->u + g * N * row, row * sizeof *to);
    memcpy(to + row, args->q + 2 * g * N * row, row * sizeof *to);
    memcpy(to + 2 * row, args->q + (2 * g + 1) * N * row, row * sizeof *to);
  }
  return KEDGE_OK;
}
