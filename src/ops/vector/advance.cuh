// advance.cuh: the step of many vectors that a kernel makes where it reads r (ops/pass.h).
#pragma once
#include "ops/pass.h"

namespace
{

/// The step of an edge of one of K vectors, whose numbers begin at `row`; returns its part of
/// r . r. Rows of an edge are open together.
template <int M, int K>
__device__ __forceinline__ double advance_edge(const kg_advance &a, int64_t row, double factor,
                                               double (&r)[M])
{
  const int64_t at = row - a.open.first;
  const bool open = at >= 0 && at < a.open.n;
  double rr = 0.0;
#pragma unroll
  for (int k = 0; k < M; ++k) {
    double y = a.y[row + k * K];
    if (open) y += ((const double *)a.open.halo)[at + k * K];
    r[k] += factor * y;
    rr += r[k] * r[k];
  }
#pragma unroll
  for (int k = 0; k < M; ++k) a.r[row + k * K] = r[k];
  return rr;
}

}  // namespace
