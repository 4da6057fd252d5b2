#include "ops/waves/source.h"

#include <omp.h>

#include "device/loop.h"

kedge_status KG_REAL(kg_wave_source_host)(kedge_context *ctx, const kg_wave_source_args *a)
{
  const int64_t n = (int64_t)a->n * a->n_sources * a->stage.n;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, n, 8))
  for (int64_t i = 0; i < n; ++i) kg_wave_add_source(a, i);
  return KEDGE_OK;
}

#ifndef KG_COMPILE_SINGLE
KG_OPERATOR_OF_NUMBERS(kg_wave_source, kg_wave_source_args, args->stage.number)

kg_cost kg_wave_source_cost(const kg_wave_source_args *a)
{
  const double n = (double)a->n * a->n_sources * a->stage.n;
  return (kg_cost){5.0 * n * (double)kg_number_bytes(a->stage.number), 5.0 * n};
}
#endif
