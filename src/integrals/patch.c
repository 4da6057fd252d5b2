#include "integrals/patch.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/backend.h"
#include "space/side_code.h"

/// Element `i` of what was integrated, in its group's load vectors.
static void put(const kg_patch *to, const kg_refined *from, int32_t i, int lane, double *group)
{
  const double *const sums = from->sums + (size_t)i * (size_t)to->n_sums;
  for (int k = 0; k < to->n_modes; ++k) group[k * KG_LANES + lane] = to->scale * sums[k];
}

// A group is copied out and in again: elements are few.
kedge_status kg_patch_loads(kedge_context *ctx, const kg_patch *to, const kg_refined *from)
{
  const size_t n = (size_t)to->n_modes * KG_LANES;
  const int32_t begin = to->first_element + to->first * KG_LANES;
  const int64_t groups_end = (int64_t)begin + (int64_t)to->count * KG_LANES;
  const int64_t batch_end = (int64_t)to->first_element + to->n_elements;
  const int64_t end = groups_end < batch_end ? groups_end : batch_end;
  int32_t i = kg_refined_from(from, begin);
  if (i == from->n || from->item[i] >= end) return KEDGE_OK;
  double *group;
  KG_TRY(kg_host_alloc(ctx, n, sizeof *group, &group));
  kedge_status status = KEDGE_OK;
  while (status == KEDGE_OK && i < from->n && from->item[i] < end) {
    const int32_t number = (from->item[i] - begin) / KG_LANES;
    double *const there = to->load + (size_t)number * n;
    status = kg_copy_out(ctx, group, there, n * sizeof *group);
    for (; i < from->n && from->item[i] < end && (from->item[i] - begin) / KG_LANES == number; ++i)
      put(to, from, i, (from->item[i] - begin) % KG_LANES, group);
    if (status == KEDGE_OK) status = kg_copy_in(ctx, there, group, n * sizeof *group);
  }
  free(group);
  return status;
}
