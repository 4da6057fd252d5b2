#include "mesh/hilbert.h"

#include <math.h>
#include <stdlib.h>

#include "device/context.h"
#include "device/loop.h"
#include "core/memory.h"
#include "mesh/mesh.h"
#include "mesh/radix.h"

static void set_keys(kedge_context *ctx, const kg_raw_mesh *raw, int n_corners, int32_t n,
                     const int32_t *element, kg_pair *pairs)
{
  const double *vertices = raw->vertices;
  double xmin = INFINITY, ymin = INFINITY, xmax = -INFINITY, ymax = -INFINITY;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, n)) reduction(min           \
                                                                        : xmin, ymin) \
    reduction(max                                                                     \
              : xmax, ymax)
  for (int32_t i = 0; i < n; ++i) {
    const int32_t *v = kg_raw_corners(raw, element[i]);
    const double x = kg_corner_sum(vertices, v, n_corners, 0);
    const double y = kg_corner_sum(vertices, v, n_corners, 1);
    xmin = fmin(xmin, x);
    xmax = fmax(xmax, x);
    ymin = fmin(ymin, y);
    ymax = fmax(ymax, y);
  }
  const kg_hilbert_box box = kg_hilbert_box_of(xmin, ymin, xmax, ymax);
#pragma omp parallel for simd num_threads(kg_loop_threads(ctx, n))
  for (int32_t i = 0; i < n; ++i) {
    const int32_t *v = kg_raw_corners(raw, element[i]);
    pairs[i] = (kg_pair){kg_hilbert_place(box, vertices, v, n_corners), element[i]};
  }
}

kedge_status kg_hilbert_order(kedge_context *ctx, const kg_raw_mesh *raw, int n_corners, int32_t n,
                              int32_t *element)
{
  kg_pair *pairs;
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *pairs, &pairs));
  set_keys(ctx, raw, n_corners, n, element, pairs);
  const kedge_status status = kg_radix_sort(ctx, &pairs, (size_t)n, 2 * KG_HILBERT_LEVELS);
  for (int32_t i = 0; status == KEDGE_OK && i < n; ++i) element[i] = (int32_t)pairs[i].value;
  free(pairs);
  return status;
}
