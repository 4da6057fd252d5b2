// mode_parity.cuh: modes of a triangle that are odd or even along the base of the reference
// triangle. Reference matrices that are symmetric about the base have no entries between the two.
#pragma once
#include "kedge/problem.h"

namespace kg
{

/// Whether mode i of a triangle is odd along the base: bit i of two words.
constexpr unsigned long long odd_modes(int first)
{
  unsigned long long bits = 0;
  for (int degree = 0, mode = 0; mode < first + 64; ++degree)
    for (int i = 0; i <= degree; ++i, ++mode)
      if (mode >= first && mode < first + 64 && i % 2 == 1) bits |= 1ull << (mode - first);
  return bits;
}
constexpr unsigned long long ODD_LOW = odd_modes(0), ODD_HIGH = odd_modes(64);

__device__ __forceinline__ bool is_odd_mode(int i)
{
  return (i < 64 ? ODD_LOW >> i : ODD_HIGH >> (i - 64)) & 1;
}

/// Degree of mode i.
__host__ __device__ constexpr int mode_degree(int i)
{
  int degree = 0;
  for (int d = 1; d <= KEDGE_ORDER_MAX + 1; ++d) degree += i >= d * (d + 1) / 2;
  return degree;
}

/// Degree of mode i along the base.
__host__ __device__ constexpr int mode_along(int i)
{
  return i - mode_degree(i) * (mode_degree(i) + 1) / 2;
}

/// Even ones of the first n modes.
__host__ __device__ constexpr int even_modes(int n)
{
  int count = 0;
  for (int degree = 0, mode = 0; mode < n; ++degree)
    for (int i = 0; i <= degree && mode < n; ++i, ++mode) count += i % 2 == 0;
  return count;
}

/// The mode in place k, where the even modes (`even` of them) come before the odd ones.
__device__ __forceinline__ int mode_in_place(int k, int even)
{
  const int odd = k >= even;
  int left = k - odd * even;
  for (int degree = 0;; ++degree) {
    const int count = odd ? (degree + 1) / 2 : degree / 2 + 1;
    if (left < count) return degree * (degree + 1) / 2 + 2 * left + odd;
    left -= count;
  }
}

}  // namespace kg
