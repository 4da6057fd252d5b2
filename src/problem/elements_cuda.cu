// elements_cuda.cu: coefficients of elements are looked at where they lie (elements.h).
// Map     thread = element of the caller
// Sums    none: the first bad element and the largest numbers, of which those that are not negative
//         compare as their bits do; an order of arrival does not matter
// Cost    8 bytes a number
#include "device/cuda_each.cuh"
#include "problem/elements.h"

namespace
{
enum { THREADS = 256 };

/// In device memory: all ones, then zeros.
struct summary {
  unsigned long long bad, most[2];
};

__device__ __forceinline__ void keep_most(unsigned long long *most, double value)
{
  const unsigned long long bits = (unsigned long long)__double_as_longlong(value);
  if (value > 0.0 && bits > *(volatile unsigned long long *)most) atomicMax(most, bits);
}

__global__ void __launch_bounds__(THREADS)
    look_kernel(int64_t n, const __grid_constant__ kg_element_coefficients c, summary *out)
{
  const int64_t e = kg_thread_number();
  if (e >= n) return;
  double value[KG_COEFFICIENTS_MAX];
  kg_coefficients_of(&c, e, value);
  if (!kg_is_elliptic(c.dimension, value)) atomicMin(&out->bad, (unsigned long long)e);
  keep_most(&out->most[0], kg_most_diffusion(c.dimension, value));
  keep_most(&out->most[1], c.dimension == 3 ? value[KG_TENSOR_MAX] : value[3]);
}
}  // namespace

extern "C" kedge_status kg_element_coefficients_look_cuda(kedge_context *ctx, int64_t n,
                                                          const kg_element_coefficients *c,
                                                          kg_element_summary *out)
{
  static_assert(sizeof(summary) == sizeof(kg_element_summary), "one is copied to the other");
  const summary none = {~0ull, {0, 0}};
  kg_buffer buffer;
  KG_TRY(kg_upload(ctx, &none, 1, sizeof none, &buffer));
  summary *const there = (summary *)buffer.data;
  kedge_status status =
      kg_launch_each<THREADS>(ctx, "looking at coefficients", n, look_kernel, n, *c, there);
  if (status == KEDGE_OK) status = kg_copy_out(ctx, out, there, sizeof *out);
  kg_free(ctx, &buffer);
  return status;
}
