#include "mesh/touch/box_tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

kedge_status kg_box_tree_create(kedge_context *ctx, int32_t n, const kg_box *boxes,
                                kg_box_tree *out)
{
  size_t total = 0;
  *out = (kg_box_tree){0};
  for (int32_t m = n;; m = (m + 7) / 8) {
    out->n[out->levels++] = m;
    total += (size_t)m;
    if (m == 1) break;
  }
  kg_box *memory;
  KG_TRY(kg_host_alloc(ctx, total, sizeof *memory, &memory));
  for (int l = 0; l < out->levels; ++l) {
    out->box[l] = memory;
    memory += out->n[l];
  }
  memcpy(out->box[0], boxes, (size_t)n * sizeof *boxes);
  for (int l = 1; l < out->levels; ++l)
    for (int32_t i = 0; i < out->n[l - 1]; ++i) {
      kg_box *const around = &out->box[l][i / 8];
      if (i % 8 == 0) *around = out->box[l - 1][i];
      kg_box_add(around, &out->box[l - 1][i]);
    }
  return KEDGE_OK;
}

void kg_box_tree_free(kg_box_tree *tree)
{
  free(tree->box[0]);
  *tree = (kg_box_tree){0};
}

static bool meet(const kg_box *a, const kg_box *b)
{
  return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] &&
         b->low[1] <= a->high[1];
}

void kg_box_tree_find(const kg_box_tree *tree, const kg_box *box, int most, kg_box_visit *visit,
                      void *user)
{
  int level = tree->levels - 1;
  int32_t at = 0;
  for (int looked = 0; looked < most; ++looked) {
    const bool meets = meet(&tree->box[level][at], box);
    if (meets && level > 0) {
      --level;
      at *= 8;
      continue;
    }
    if (meets && !visit(user, at)) return;
    // To the next box: the one behind this, or behind the first box around it that has one.
    while (at % 8 == 7 || at + 1 == tree->n[level]) {
      if (level + 1 >= tree->levels) return;
      ++level;
      at /= 8;
    }
    ++at;
  }
}
