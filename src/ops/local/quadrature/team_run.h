/// @file
/// Teams of the host: one thread each, that does elements one after the other.
#pragma once
#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "ops/local/quadrature/team.h"

typedef void kg_team_body(const void *args, int32_t i, kg_team team);

/// Run body(args, i, team) for i < n on the host. A team has `scratch` doubles.
static inline kedge_status kg_team_run(kedge_context *ctx, int32_t n, size_t scratch,
                                       kg_team_body *body, const void *args)
{
  const int threads = kg_loop_threads(ctx, n, 16 * (int64_t)scratch);
  double *memory;
  KG_TRY(kg_host_alloc(ctx, (size_t)threads * scratch, sizeof *memory, &memory));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int thread = 0; thread < threads; ++thread) {
    const kg_team team = {0, memory + (size_t)thread * scratch, 1, 0};
    const int32_t begin = (int32_t)((int64_t)n * thread / threads);
    const int32_t end = (int32_t)((int64_t)n * (thread + 1) / threads);
    for (int32_t i = begin; i < end; ++i) body(args, i, team);
  }
  free(memory);
  return KEDGE_OK;
}

/// An operator, and on the host its `body` for each of n things.
#define KG_TEAM_OPERATOR(name, n, scratch, body)                        \
  KG_OPERATOR(name, name##_args)                                        \
  kedge_status name##_host(kedge_context *ctx, const name##_args *args) \
  {                                                                     \
    return kg_team_run(ctx, n, scratch, body, args);                    \
  }
