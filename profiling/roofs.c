#include "roofs.h"

#include "backend/backend.h"
#include "core/clock.h"
#include "core/context.h"

enum { FLOP_STEPS = 1000000 };

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

kedge_status measure_roofs_host(kedge_context *ctx, roofs *out)
{
  const size_t bytes = (size_t)1 << 30, n = bytes / sizeof(pack);
  kg_buffer array;
  KG_TRY(kg_alloc(ctx, n, sizeof(pack), &array));  // touched first by the threads that read it
  KG_TRY(kg_zero(ctx, array.data, array.bytes));
  volatile double sink;
  double read = 1e30, flops = 1e30;
  for (int i = 0; i < 8; ++i) {
    double t = kg_seconds();
    sink = sum_array(ctx, array.data, n);
    if (kg_seconds() - t < read) read = kg_seconds() - t;
    t = kg_seconds();
    sink = multiply_add(ctx, FLOP_STEPS);
    if (kg_seconds() - t < flops) flops = kg_seconds() - t;
  }
  (void)sink;
  kg_free(ctx, &array);
  out->read_bytes_per_second = (double)bytes / read;
  out->flops_per_second = (double)FLOP_STEPS * 12 * 8 * 2 * ctx->threads / flops;
  return KEDGE_OK;
}

kedge_status measure_roofs(kedge_context *ctx, roofs *out)
{
#ifdef KEDGE_WITH_CUDA
  if (ctx->backend == KEDGE_BACKEND_CUDA) return measure_roofs_cuda(ctx, out);
#endif
  return measure_roofs_host(ctx, out);
}
