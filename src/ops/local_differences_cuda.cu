// local_differences_cuda.cu: K' = C^-T K^e C^-1, rounded to single precision (local_differences.h).
// Layout  from, to [group][n (n+1) / 2][lane]
// Map     thread = entry of an element: a warp reads and writes whole lines. Row 2 m reads three
//         lines an entry, which the other threads of its block bring to the first cache.
// Cost    12 bytes an entry
#include "backend/cuda_each.cuh"
#include "ops/local_differences.h"

namespace
{
enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS) differences_kernel(const kg_local_differences_args a)
{
  const int64_t at = kg_thread_number();
  const int64_t row = at / KG_LANES, group = row / a.size.n_packed;
  if (group >= a.n_groups) return;
  const int entry = (int)(row - group * a.size.n_packed), m = a.size.n_edge;
  int i = 0;
  while ((i + 1) * (i + 2) / 2 <= entry) ++i;
  const double *k = a.from + group * a.size.n_packed * KG_LANES + at % KG_LANES;
  a.to[at] = (float)kg_local_difference(k, m, i, entry - i * (i + 1) / 2);
}
}  // namespace

extern "C" kedge_status kg_local_differences_cuda(kedge_context *ctx,
                                                  const kg_local_differences_args *a)
{
  const int64_t n = (int64_t)a->n_groups * a->size.n_packed * KG_LANES;
  return kg_launch_each<THREADS>(ctx, "local_differences", n, differences_kernel, *a);
}
