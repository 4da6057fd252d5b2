// mode_parity.cuh: modes of a triangle that are odd or even along the base of the reference triangle.
// Reference matrices that are symmetric about the base have no entries between the two.
#pragma once

namespace kg
{

/// Whether mode i of a triangle is odd along the base of the reference triangle: bit i of two words.
constexpr unsigned long long odd_modes(int first)
{
  unsigned long long bits = 0;
  for (int degree = 0, mode = 0; mode < first + 64; ++degree)
    for (int i = 0; i <= degree; ++i, ++mode)
      if (mode >= first && mode < first + 64 && i % 2 == 1) bits |= 1ull << (mode - first);
  return bits;
}
constexpr unsigned long long ODD_LOW = odd_modes(0), ODD_HIGH = odd_modes(64);

__device__ __forceinline__ bool same_parity(int i, int j)
{
  const unsigned long long a = i < 64 ? ODD_LOW >> i : ODD_HIGH >> (i - 64);
  const unsigned long long b = j < 64 ? ODD_LOW >> j : ODD_HIGH >> (j - 64);
  return ((a ^ b) & 1) == 0;
}

}  // namespace kg
