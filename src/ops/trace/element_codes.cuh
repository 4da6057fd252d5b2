// element_codes.cuh: the codes of the sides of a thread's element (space/side_code.h), in
// registers.
#pragma once
#include "space/side_code.h"

namespace
{

template <int FACETS>
struct element_codes {
  uint32_t word[FACETS == 3 ? 1 : 2];

  __device__ __forceinline__ void load(const uint32_t *side_codes, int64_t element)
  {
    if constexpr (FACETS == 3) {
      word[0] = side_codes[element];
    } else {
      const uint2 both = ((const uint2 *)side_codes)[element];
      word[0] = both.x;
      word[1] = both.y;
    }
  }
  __device__ __forceinline__ int code(int l) const
  {
    return FACETS == 3 ? kg_side_code(word[0], l) : kg_side_code_at(word, FACETS, 0, l);
  }
};

}  // namespace
