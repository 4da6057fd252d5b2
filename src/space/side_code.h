/// @file
/// The codes of an element's sides in its patch: for each side a number that says where the product
/// of the side goes, 2 * (edge in its patch: inside ones first, then the halo) + (1 for the second
/// side of an edge inside). Three of them are digits of base KG_SIDE_CODES of one word of 32 bits,
/// side 0 the lowest; four are the halves of two words. Only the functions here know how.
#pragma once
#include <stdint.h>

#include "core/inline.h"

enum {
  KG_LANES = 32,
  KG_PATCH_GROUPS_MAX = 8,
  /// The most facets of a patch of elements with three, and with four.
  KG_PATCH_SIDES_MAX = 3 * KG_LANES * KG_PATCH_GROUPS_MAX,
  KG_WIDE_PATCH_SIDES_MAX = 4 * KG_LANES * KG_PATCH_GROUPS_MAX,
  KG_SIDE_CODES = 2 * KG_PATCH_SIDES_MAX,            ///< codes of three facets are below this
  KG_WIDE_SIDE_CODES = 2 * KG_WIDE_PATCH_SIDES_MAX,  ///< and those of four below this
};

/// Words of 32 bits an element.
KG_INLINE int kg_code_words(int n_facets)
{
  return n_facets == 3 ? 1 : 2;
}

/// Write the codes of the sides of a lane.
/// @param[out] side_codes  [lane][kg_code_words(n_facets)]
KG_INLINE void kg_put_side_codes(uint32_t *side_codes, int n_facets, int32_t lane,
                                 const int32_t *code)
{
  if (n_facets == 3) {
    const uint32_t base = KG_SIDE_CODES;
    const uint32_t upper = (uint32_t)code[1] + base * (uint32_t)code[2];
    side_codes[lane] = (uint32_t)code[0] + base * upper;
  } else {
    side_codes[2 * (int64_t)lane] = (uint32_t)code[0] | (uint32_t)code[1] << 16;
    side_codes[2 * (int64_t)lane + 1] = (uint32_t)code[2] | (uint32_t)code[3] << 16;
  }
}

/// The code of side l from the word of an element with three.
KG_INLINE int kg_side_code(uint32_t codes, int l)
{
  const uint32_t base = KG_SIDE_CODES;
  return (int)(l == 0 ? codes % base : l == 1 ? codes / base % base : codes / (base * base));
}

/// The code of side l of a lane.
KG_INLINE int kg_side_code_at(const uint32_t *side_codes, int n_facets, int32_t lane, int l)
{
  if (n_facets == 3) return kg_side_code(side_codes[lane], l);
  return (int)(side_codes[2 * (int64_t)lane + l / 2] >> (l % 2 ? 16 : 0) & 0xffffu);
}
