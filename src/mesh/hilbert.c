#include "mesh/hilbert.h"

#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/loop.h"
#include "core/memory.h"
#include "mesh/radix.h"

static void set_keys(kedge_context *ctx, const double *vertices, const int32_t *triangles,
                     int32_t n, kg_pair *pairs)
{
  double xmin = INFINITY, ymin = INFINITY, xmax = -INFINITY, ymax = -INFINITY;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, n)) reduction(min           \
                                                                        : xmin, ymin) \
    reduction(max                                                                     \
              : xmax, ymax)
  for (int32_t e = 0; e < n; ++e) {
    const double x = kg_corner_sum(vertices, triangles + 3 * (int64_t)e, 0);
    const double y = kg_corner_sum(vertices, triangles + 3 * (int64_t)e, 1);
    xmin = fmin(xmin, x);
    xmax = fmax(xmax, x);
    ymin = fmin(ymin, y);
    ymax = fmax(ymax, y);
  }
  const kg_hilbert_box box = kg_hilbert_box_of(xmin, ymin, xmax, ymax);
#pragma omp parallel for simd num_threads(kg_loop_threads(ctx, n))
  for (int32_t e = 0; e < n; ++e)
    pairs[e] = (kg_pair){kg_hilbert_place(box, vertices, triangles + 3 * (int64_t)e), e};
}

kedge_status kg_hilbert_order(kedge_context *ctx, const double *vertices, const int32_t *triangles,
                              int32_t n, int32_t **order)
{
  kg_pair *pairs = NULL;
  *order = NULL;
  kedge_status status = kg_host_alloc(ctx, (size_t)n, sizeof *pairs, &pairs);
  if (status == KEDGE_OK) status = kg_host_alloc(ctx, (size_t)n, sizeof **order, order);
  if (status != KEDGE_OK) goto done;
  set_keys(ctx, vertices, triangles, n, pairs);
  status = kg_radix_sort(ctx, &pairs, (size_t)n, 2 * KG_HILBERT_LEVELS);
  if (status != KEDGE_OK) goto done;
  for (int32_t i = 0; i < n; ++i) (*order)[i] = (int32_t)pairs[i].value;
done:
  free(pairs);
  if (status != KEDGE_OK) {
    free(*order);
    *order = NULL;
  }
  return status;
}
