#include "ops/vector/difference.h"

#include "device/loop.h"
#include "ops/vector/pieces.h"

KG_OPERATOR(kg_difference, kg_difference_args)

/// r = b - r of rows begin to end - 1, those of vector v of K; returns their r . r.
static inline double subtract(const kg_difference_args *a, int64_t begin, int64_t end, int K, int v)
{
  double rr = 0.0;
#pragma omp simd reduction(+ : rr)
  for (int64_t i = begin; i < end; ++i) {
    const double r = (a->b ? a->b[i * K + v] : 0.0) - a->r[i * K + v];
    a->r[i * K + v] = r;
    rr += r * r;
  }
  return rr;
}

kedge_status kg_difference_host(kedge_context *ctx, const kg_difference_args *a)
{
  const int K = a->many ? KG_VECTORS : 1;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 3))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    const int64_t begin = piece_begin(a->n / K, piece), end = piece_begin(a->n / K, piece + 1);
    close_rows(a->r, &a->open, begin * K, end * K);
    if (!a->many)
      a->sum.part[piece] = subtract(a, begin, end, 1, 0);
    else
      for (int v = 0; v < K; ++v)
        a->sum.part[v * a->sum.parts + piece] = subtract(a, begin, end, KG_VECTORS, v);
  }
  kg_sum_pieces(&a->sum, a->many);
  return KEDGE_OK;
}
