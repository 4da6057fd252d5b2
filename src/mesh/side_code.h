/// @file
/// The code of an element's sides in its patch: for each side a number below KG_SIDE_CODES that
/// says where the product of the side goes, 2 * (edge in its patch: inside ones first, then the
/// halo) + (1 for the second side of an edge inside). Three such numbers are digits of one word of
/// 32 bits, side 0 the lowest. Only the functions here know how.
#pragma once
#include <stdint.h>

#include "core/inline.h"

enum {
  KG_LANES = 32,
  KG_PATCH_GROUPS_MAX = 8,
  KG_PATCH_SIDES_MAX = 3 * KG_LANES * KG_PATCH_GROUPS_MAX,  ///< so many edges a patch has at most
  KG_SIDE_CODES = 2 * KG_PATCH_SIDES_MAX,
};

/// The word of the sides of an element.
KG_INLINE uint32_t kg_side_codes_of(const int32_t code[3])
{
  const uint32_t base = KG_SIDE_CODES;
  return (uint32_t)code[0] + base * ((uint32_t)code[1] + base * (uint32_t)code[2]);
}

/// The number of side l.
KG_INLINE int kg_side_code(uint32_t codes, int l)
{
  const uint32_t base = KG_SIDE_CODES;
  return (int)(l == 0 ? codes % base : l == 1 ? codes / base % base : codes / (base * base));
}
