// convert_cuda.cu: packed K^e in double precision to K' in single precision, or to full K^e.
// Layout  from, K' [group][n (n+1) / 2][lane]; full [element][edge of the rows][column][mode]
// Map     differences: thread = entry of an element, so that a warp reads and writes whole lines.
//         Row 2 m reads three lines an entry, which the other threads of its block bring to the
//         first cache. full: thread = (row of an element, element), so that neighbouring lanes read
//         neighbouring words.
// Cost    12 bytes an entry; 8 bytes an entry of either
#include "device/cuda_each.cuh"
#include "ops/local/convert.h"
#include "ops/local/differences.h"
#include "ops/local/full.h"

namespace
{
enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS) differences_kernel(const kg_local_convert_args a)
{
  const int64_t at = kg_thread_number();
  const int64_t row = at / KG_LANES, group = row / a.from.rows;
  if (group >= a.to.n_lanes / KG_LANES) return;
  const int entry = (int)(row - group * a.from.rows);
  int i = 0;
  while ((i + 1) * (i + 2) / 2 <= entry) ++i;
  const double *k = (const double *)a.from.data + group * a.from.rows * KG_LANES + at % KG_LANES;
  ((float *)a.to.data)[at] =
      (float)kg_local_difference(k, a.from.n, a.m, i, entry - i * (i + 1) / 2);
}

__global__ void __launch_bounds__(THREADS) full_kernel(const kg_local_convert_args a)
{
  const int64_t i = kg_thread_number(), lanes = a.to.n_lanes;
  if (i >= lanes * a.from.n) return;
  const int32_t lane = (int32_t)(i % lanes);
  const int row = (int)(i / lanes), m = a.m, n = a.from.n;
  const double *__restrict__ from = kg_packed_lane(&a.from, lane);
  double *to = (double *)a.to.data + (int64_t)lane * a.to.rows;
  for (int j = 0; j < n; ++j)
    to[kg_full_entry(n, m, row / m, row % m, j)] = from[kg_local_at(row, j)];
}
}  // namespace

extern "C" kedge_status kg_local_differences_cuda(kedge_context *ctx,
                                                  const kg_local_convert_args *a)
{
  const int64_t n = (int64_t)a->to.n_lanes * a->to.rows;
  return kg_launch_each<THREADS>(ctx, "local_differences", n, differences_kernel, *a);
}

extern "C" kedge_status kg_local_full_cuda(kedge_context *ctx, const kg_local_convert_args *a)
{
  const int64_t n = (int64_t)a->to.n_lanes * a->from.n;
  return kg_launch_each<THREADS>(ctx, "local_full", n, full_kernel, *a);
}
