// first_bad_cuda.cu: the first number of a vector that is not finite (first_bad.h).
// Map     thread = number; the smallest index: an order of arrival does not matter
// Cost    the bytes of a number, once
#include "device/cuda_each.cuh"
#include "ops/vector/first_bad.h"

namespace
{
enum { THREADS = 256 };

template <class Number>
__global__ void __launch_bounds__(THREADS)
    first_bad_kernel(int64_t n, const Number *x, unsigned long long *bad)
{
  const int64_t i = kg_thread_number();
  if (i < n && !isfinite(x[i])) atomicMin(bad, (unsigned long long)i);
}
}  // namespace

extern "C" kedge_status kg_first_bad_cuda(kedge_context *ctx, const kg_first_bad_args *a)
{
  const kg_cuda_state *const state = kg_cuda(ctx);
  KG_TRY(kg_cuda_check(
      ctx, cudaMemsetAsync(state->first_bad, 0xff, sizeof *state->first_bad, state->stream),
      "clearing memory"));
  static const char what[] = "looking for numbers that are not finite";
  if (a->number == KG_SINGLE)
    KG_TRY(kg_launch_each<THREADS>(ctx, what, a->n, first_bad_kernel<float>, a->n,
                                   (const float *)(const void *)a->x, state->first_bad));
  else
    KG_TRY(kg_launch_each<THREADS>(ctx, what, a->n, first_bad_kernel<double>, a->n, a->x,
                                   state->first_bad));
  return kg_copy_out(ctx, a->bad, state->first_bad, sizeof *a->bad);
}
