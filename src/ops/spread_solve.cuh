// spread_solve.cuh: A x = b by a few lanes of a warp, A symmetric positive definite and in their
// registers.
//
// The lanes of an element are PR rows by PC columns of lanes, PR a multiple of PC: lane (a, b) has
// the entries of A below the diagonal in rows PR r + a and columns PC c + b, number (r, c) of its
// registers, and the vector in rows PR r + a. A = L D L^T column after column: what a lane needs of
// column k comes from the lanes that have it by shuffles. Column k of A becomes that of L D, but for
// 1 / D_kk on the diagonal. What is above the diagonal in a lane's registers is never read.
#pragma once
#include <cuda_runtime.h>

namespace kg
{

/// 1 / d to rounding: the hardware's estimate and one step of third order.
__device__ __forceinline__ double reciprocal(double d)
{
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
  const double error = fma(-d, y, 1.0);
  return fma(y, fma(error, error, error), y);
}

template <int N_, int PR_, int PC_>
struct spread_matrix {
  static constexpr int N = N_, PR = PR_, PC = PC_, RATIO = PR / PC;
  static constexpr int LANES = PR * PC, ELEMENTS = 32 / LANES;  ///< of an element; of a warp
  static constexpr int ROWS = (N + PR - 1) / PR, COLUMNS = (N + PC - 1) / PC;  ///< of a lane
  static_assert(PR % PC == 0 && 32 % LANES == 0, "a column is found in one register");

  double a[ROWS][COLUMNS];
  double x[ROWS];

  /// Columns of row r of a lane that reach the diagonal.
  static __host__ __device__ constexpr int columns_of(int r)
  {
    return RATIO * (r + 1) < COLUMNS ? RATIO * (r + 1) : COLUMNS;
  }
  /// Number of the first register of row r, packed.
  static __host__ __device__ constexpr int first_of(int r)
  {
    return RATIO * r * (r + 1) / 2;
  }
  static constexpr int PACKED = first_of(ROWS - 1) + columns_of(ROWS - 1);

  static __device__ __forceinline__ int row_of_lane()
  {
    return (int)threadIdx.x % LANES / PC;
  }
  static __device__ __forceinline__ int column_of_lane()
  {
    return (int)threadIdx.x % PC;
  }
  /// What lane (row, column) of the same element has.
  static __device__ __forceinline__ double from(double value, int row, int column)
  {
    return __shfl_sync(0xffffffffu, value, row * PC + column, LANES);
  }

  /// x = A^-1 x.
  __device__ __forceinline__ void solve()
  {
#pragma unroll
    for (int k = 0; k < N; ++k) eliminate(k);
#pragma unroll
    for (int k = N - 1; k >= 0; --k) substitute(k);
  }

 private:
  __device__ __forceinline__ void eliminate(int k)
  {
    const int kr = k / PR, kc = k / PC, row = row_of_lane(), column = column_of_lane();
    const double inverse = reciprocal(from(a[kr][kc], k % PR, k % PC));
    const double t = inverse * from(x[kr], k % PR, column);
    double mine[ROWS];
#pragma unroll
    for (int r = (k + 1) / PR; r < ROWS; ++r) {
      mine[r] = from(a[r][kc], row, k % PC);
      x[r] -= r > kr || row > k % PR ? mine[r] * t : 0.0;
    }
#pragma unroll
    for (int c = (k + 1) / PC; c < COLUMNS; ++c) {
      double theirs = inverse * from(a[c / RATIO][kc], PC * (c % RATIO) + column, k % PC);
      if (c == kc && column <= k % PC) theirs = 0.0;
#pragma unroll
      for (int r = c / RATIO; r < ROWS; ++r) a[r][c] -= mine[r] * theirs;
    }
    if (row == k % PR && column == k % PC) a[kr][kc] = inverse;
  }

  __device__ __forceinline__ void substitute(int k)
  {
    const int kr = k / PR, kc = k / PC, row = row_of_lane();
    double sum = 0.0;
#pragma unroll
    for (int r = ROWS - 1; r > kr; --r) sum += a[r][kc] * x[r];
    if (row > k % PR) sum += a[kr][kc] * x[kr];
#pragma unroll
    for (int bit = PC; bit < LANES; bit *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, bit);
    const double value = from((x[kr] - sum) * a[kr][kc], k % PR, k % PC);
    if (row == k % PR) x[kr] = value;
  }
};

}  // namespace kg
