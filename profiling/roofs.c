#include "roofs.h"

#include <math.h>

#include "device/backend.h"
#include "core/clock.h"
#include "device/context.h"

enum { FLOP_STEPS = 1000000, PROBE_BYTES = 1 << 30 };

typedef double pack __attribute__((vector_size(64)));

/// How a thread reads its part of the array: as so many streams side by side, and whether it asks
/// for what it will read. Which is fastest depends on processor, memory and number of threads.
typedef struct reading {
  int streams;
  bool asks;
} reading;

static const reading readings[] = {{1, false}, {2, false}, {4, false}, {8, false},
                                   {1, true},  {2, true},  {4, true},  {8, true}};
enum {
  READINGS = sizeof readings / sizeof *readings,
  STREAMS_MAX = 8,
  AHEAD = 16384 / sizeof(pack),  // packs between what is read and what is asked for
};

/// The sum of n packs, the same in number for each stream; a pack is a line of the cache.
__attribute__((always_inline)) static inline double sum_streams(const pack *array, size_t n,
                                                                int streams, bool asks)
{
  const size_t part = n / (size_t)streams;
  pack sums[STREAMS_MAX] = {0};
  for (size_t i = 0; i < part; ++i)
    for (int s = 0; s < streams; ++s) {
      const pack *at = array + (size_t)s * part + i;
      if (asks) __builtin_prefetch(at + AHEAD, 0, 2);
      sums[s] += *at;
    }
  double total = 0.0;
  for (int s = 0; s < streams; ++s)
    for (int i = 0; i < 8; ++i) total += sums[s][i];
  return total;
}

/// Loops whose streams are known when they are compiled.
static double sum_part(const pack *array, size_t n, reading way)
{
  switch (way.streams) {
    case 1:
      return way.asks ? sum_streams(array, n, 1, true) : sum_streams(array, n, 1, false);
    case 2:
      return way.asks ? sum_streams(array, n, 2, true) : sum_streams(array, n, 2, false);
    case 4:
      return way.asks ? sum_streams(array, n, 4, true) : sum_streams(array, n, 4, false);
    default:
      return way.asks ? sum_streams(array, n, 8, true) : sum_streams(array, n, 8, false);
  }
}

/// The threads share the array as they did when they touched it first (kg_alloc()).
static double sum_array(const kedge_context *ctx, const pack *array, size_t n, reading way)
{
  double total = 0.0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : total)
  for (int t = 0; t < ctx->threads; ++t) {
    const size_t threads = (size_t)ctx->threads;
    const size_t begin = n * (size_t)t / threads, end = n * ((size_t)t + 1) / threads;
    total += sum_part(array + begin, end - begin, way);
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
  KG_TRY(kg_zero(ctx, out->array.data, out->array.bytes));
  double best = 0.0;
  int fastest = 0;
  for (int i = 0; i < 2 * READINGS; ++i) {
    out->way = i % READINGS;
    const double rate = roof_probe_read(out);
    if (rate > best) best = rate, fastest = out->way;
  }
  out->way = fastest;
  return KEDGE_OK;
}

void roof_probe_close(roof_probe *probe)
{
  kg_free(probe->ctx, &probe->array);
}

double roof_probe_read(roof_probe *probe)
{
  const double began = kg_seconds();
  const double sum =
      sum_array(probe->ctx, probe->array.data, PROBE_BYTES / sizeof(pack), readings[probe->way]);
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
