/// @file
/// Boxes in a tree of eights, in the order in which they come: that of the Hilbert curve, along
/// which boxes near to each other have numbers near to each other.
#pragma once
#include "core/error.h"
KEDGE_BEGIN_DECLS

typedef struct kg_box {
  double low[2], high[2];
} kg_box;

static inline kg_box kg_box_around(const double at[2], double by)
{
  return (kg_box){{at[0] - by, at[1] - by}, {at[0] + by, at[1] + by}};
}
static inline void kg_box_add(kg_box *box, const kg_box *other)
{
  for (int k = 0; k < 2; ++k) {
    if (other->low[k] < box->low[k]) box->low[k] = other->low[k];
    if (other->high[k] > box->high[k]) box->high[k] = other->high[k];
  }
}

enum { KG_BOX_LEVELS = 12 };

typedef struct kg_box_tree {
  int levels;
  int32_t n[KG_BOX_LEVELS];    ///< [level]: boxes; the last has one
  kg_box *box[KG_BOX_LEVELS];  ///< [level][box]: around eight of the level before
} kg_box_tree;

/// @param[in]  boxes  [n], n >= 1
/// @param[out] out    kg_box_tree_free()
kedge_status kg_box_tree_create(kedge_context *ctx, int32_t n, const kg_box *boxes,
                                kg_box_tree *out);
void kg_box_tree_free(kg_box_tree *tree);

/// @return false: enough was found
typedef bool kg_box_visit(void *user, int32_t item);
/// Call a function for boxes that meet one, ascending, until it has enough or `most` boxes were
/// looked at: no input takes quadratic time.
void kg_box_tree_find(const kg_box_tree *tree, const kg_box *box, int most, kg_box_visit *visit,
                      void *user);

KEDGE_END_DECLS
