#include "roofs.h"

#include <math.h>

#include "backend/backend.h"
#include "core/clock.h"
#include "core/context.h"

enum { FLOP_STEPS = 1000000, PROBE_BYTES = 1 << 30 };

typedef double pack __attribute__((vector_size(64)));

static double sum_array(const kedge_context *ctx, const pack *array, size_t n)
{
  double total = 0.0;
#pragma omp parallel num_threads(ctx->threads) reduction(+ : total)
  {
    pack a = {0}, b = {0}, c = {0}, d = {0};
#pragma omp for schedule(static)
    for (size_t i = 0; i < n; i += 4) {
      a += array[i];
      b += array[i + 1];
      c += array[i + 2];
      d += array[i + 3];
    }
    a += b + c + d;
    for (int i = 0; i < 8; ++i) total += a[i];
  }
  return total;
}

static double multiply_add(const kedge_context *ctx, int64_t n)
{
  double total = 0.0;
#pragma omp parallel num_threads(ctx->threads) reduction(+ : total)
  {
    pack x[12];
    for (int i = 0; i < 12; ++i)
      for (int k = 0; k < 8; ++k) x[i][k] = 1e-3 * (i + k);
    for (int64_t step = 0; step < n; ++step)
      for (int i = 0; i < 12; ++i) x[i] = x[i] * 0.999999 + 1e-6;
    for (int i = 0; i < 12; ++i) total += x[i][0] + x[i][7];
  }
  return total;
}

kedge_status roof_probe_open(kedge_context *ctx, roof_probe *out)
{
  *out = (roof_probe){.ctx = ctx};
  KG_TRY(kg_alloc(ctx, PROBE_BYTES, 1, &out->array));  // touched first by the threads that read it
  return kg_zero(ctx, out->array.data, out->array.bytes);
}

void roof_probe_close(roof_probe *probe)
{
  kg_free(probe->ctx, &probe->array);
}

double roof_probe_read(roof_probe *probe)
{
  const double began = kg_seconds();
  const double sum = sum_array(probe->ctx, probe->array.data, PROBE_BYTES / sizeof(pack));
  const double seconds = kg_seconds() - began;
  probe->sink += sum;
  return PROBE_BYTES / seconds;
}

kedge_status measure_roofs_host(kedge_context *ctx, roofs *out)
{
  roof_probe probe;
  KG_TRY(roof_probe_open(ctx, &probe));
  *out = (roofs){0};
  for (int i = 0; i < 8; ++i) {
    out->read_bytes_per_second = fmax(out->read_bytes_per_second, roof_probe_read(&probe));
    const double began = kg_seconds();
    probe.sink += multiply_add(ctx, FLOP_STEPS);
    const double flops = (double)FLOP_STEPS * 12 * 8 * 2 * ctx->threads;
    out->flops_per_second = fmax(out->flops_per_second, flops / (kg_seconds() - began));
  }
  roof_probe_close(&probe);
  return KEDGE_OK;
}

kedge_status measure_roofs(kedge_context *ctx, roofs *out)
{
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) return measure_roofs_cuda(ctx, out);
#endif
  return measure_roofs_host(ctx, out);
}
