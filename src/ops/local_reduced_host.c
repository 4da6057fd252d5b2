#include <string.h>

#include "core/context.h"
#include "ops/local_reduced.h"
#include "ops/real.h"

enum {
  MODES_MAX = 3 * KEDGE_ORDER_MAX,  // of an element, without mode 0
  ROWS_MAX = KG_REDUCED_FLUX + MODES_MAX * (MODES_MAX + 1) / 2,
};

/// A group is written when all of it has been read.
static void reduce_group(const kg_local_reduce_args *a, int32_t group)
{
  const int rows = kg_reduced_rows(a->batch.reference.size);
  kg_real reduced[ROWS_MAX][KG_LANES];
  for (int row = 0; row < rows; ++row)
    for (int lane = 0; lane < KG_LANES; ++lane)
      reduced[row][lane] = (kg_real)kg_reduced_entry(a, group * KG_LANES + lane, row);
  memcpy((kg_real *)a->to + (int64_t)group * rows * KG_LANES, reduced,
         (size_t)rows * sizeof *reduced);
}

kedge_status KG_REAL(kg_local_reduce_host)(kedge_context *ctx, const kg_local_reduce_args *a)
{
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
  for (int32_t group = a->first_group; group < a->first_group + a->n_groups; ++group)
    reduce_group(a, group);
  return KEDGE_OK;
}
