/// @file
/// Order along a Hilbert curve in space: elements near each other get numbers near each other.
#pragma once
#include <stdint.h>

/// Levels of the curve: three coordinates of so many bits fit a key.
enum { KG_SPACE_LEVELS = 21 };

/// Place on the curve of a cell whose coordinates are below 2^KG_SPACE_LEVELS, as in J. Skilling,
/// "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004): from the highest level down, what
/// lies below is turned as the part of the cube asks, and the bits of all coordinates, as a Gray
/// code, are the number of the part.
static inline uint64_t kg_space_key(uint32_t x, uint32_t y, uint32_t z)
{
  uint32_t at[3] = {x, y, z}, parity = 0;
  for (uint32_t bit = 1u << (KG_SPACE_LEVELS - 1); bit > 1; bit >>= 1) {
    const uint32_t below = bit - 1;
    for (int k = 0; k < 3; ++k) {
      const uint32_t exchange = at[k] & bit ? 0 : (at[0] ^ at[k]) & below;
      if (at[k] & bit) at[0] ^= below;
      at[0] ^= exchange;
      at[k] ^= exchange;
    }
  }
  at[1] ^= at[0];
  at[2] ^= at[1];
  for (uint32_t bit = 1u << (KG_SPACE_LEVELS - 1); bit > 1; bit >>= 1)
    if (at[2] & bit) parity ^= bit - 1;
  uint64_t key = 0;
  for (int level = KG_SPACE_LEVELS - 1; level >= 0; --level)
    for (int k = 0; k < 3; ++k) key = key << 1 | ((at[k] ^ parity) >> level & 1u);
  return key;
}
