/// @file
/// A side is a facet as one element sees it: facet l of element e, in one number. Numbers ascend
/// with the element, then with the facet. Facet l of a plane element runs from its corner l to the
/// next one, counterclockwise. Only the functions here know how the number is made.
#pragma once
#include <stdint.h>

#include "core/inline.h"

typedef uint32_t kg_side;  ///< element << 2 | facet, for shapes of up to four facets

#define KG_NO_SIDE UINT32_MAX
/// A mesh has at most this many elements: their sides fit 32 bits, and so do those of lanes, of
/// which batches leave some empty (space/trace_layout.h); no side is KG_NO_SIDE.
#define KG_ELEMENTS_MAX ((1 << 30) - (1 << 11))

KG_INLINE kg_side kg_side_of(int32_t element, int facet)
{
  return (uint32_t)element << 2 | (uint32_t)facet;
}
KG_INLINE int32_t kg_side_element(kg_side side)
{
  return (int32_t)(side >> 2);
}
KG_INLINE int kg_side_facet(kg_side side)
{
  return (int)(side & 3u);
}

/// Whether a side and another, which may be KG_NO_SIDE, are of one element.
KG_INLINE bool kg_is_one_element(kg_side side, kg_side other)
{
  return (side ^ other) < 4u;
}

/// The facet behind facet l, which begins where that ends, and the one before it.
KG_INLINE int kg_next_facet(int n_facets, int l)
{
  return l + 1 == n_facets ? 0 : l + 1;
}
KG_INLINE int kg_facet_before(int n_facets, int l)
{
  return l == 0 ? n_facets - 1 : l - 1;
}
