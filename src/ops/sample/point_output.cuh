// point_output.cuh: where values of functions at points of pieces go (at_points.h). For the
// interpreter the CUDA compiler takes this file (evaluate_cuda.cu), for formulas NVRTC.
#pragma once

namespace kg
{

struct point_output {
  double *wide;   ///< or null: numbers are
  float *narrow;  ///< single
  unsigned *bad;
  int piece, n_functions;

  /// @param[in] value  [function], `stride` apart
  __device__ __forceinline__ void put(long long point, const double *value, int stride) const
  {
    const long long first = point / piece * n_functions * piece + point % piece;
    bool finite = true;
    for (int f = 0; f < n_functions; ++f) {
      const double own = value[f * stride];
      if (wide)
        wide[first + f * piece] = own;
      else
        narrow[first + f * piece] = (float)own;
      finite = finite && (wide ? isfinite(own) : isfinite((float)own));
    }
    if (!finite) *bad = 1;
  }
};

}  // namespace kg
