#include "ops/vector/difference.h"

#include "device/loop.h"
#include "ops/vector/pieces.h"

KG_OPERATOR(kg_difference, kg_difference_args)

kedge_status kg_difference_host(kedge_context *ctx, const kg_difference_args *a)
{
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(ctx, a->n, 3))
  for (int piece = 0; piece < KG_PIECES; ++piece) {
    double rr = 0.0;
    const int64_t begin = piece_begin(a->n, piece), end = piece_begin(a->n, piece + 1);
    close_rows(a->r, &a->open, begin, end);
#pragma omp simd reduction(+ : rr)
    for (int64_t i = begin; i < end; ++i) {
      const double r = (a->b ? a->b[i] : 0.0) - a->r[i];
      a->r[i] = r;
      rr += r * r;
    }
    a->sum.part[piece] = rr;
  }
  kg_sum_end(&a->sum, sum_in_order(a->sum.part, KG_PIECES));
  return KEDGE_OK;
}
