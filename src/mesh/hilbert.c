#include "mesh/hilbert.h"

#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "mesh/radix.h"

/// Levels of the curve: cells of 6e-8 of the box; what shares a cell keeps its order.
enum { LEVELS = 24 };

/// Place on the curve of the cell (x, y), both below 2^LEVELS. Free of branches, so that the loop
/// over triangles vectorises.
static inline uint64_t hilbert_key(uint32_t x, uint32_t y)
{
  uint64_t key = 0;
  for (int level = LEVELS - 1; level >= 0; --level) {
    const uint32_t right = x >> level & 1, upper = y >> level & 1;
    key = key << 2 | ((3 * right) ^ upper);
    const uint32_t lower_half = upper - 1;             // all ones in the lower half
    const uint32_t lower_right = lower_half & -right;  // all ones in the lower right quarter
    x ^= lower_right;
    y ^= lower_right;
    const uint32_t exchange = (x ^ y) & lower_half;
    x ^= exchange;
    y ^= exchange;
  }
  return key;
}

/// Three times the centroid, component k.
static inline double corner_sum(const double *vertices, const int32_t *v, int k)
{
  return vertices[2 * (int64_t)v[0] + k] + vertices[2 * (int64_t)v[1] + k] +
         vertices[2 * (int64_t)v[2] + k];
}

static void set_keys(kedge_context *ctx, const double *vertices, const int32_t *triangles,
                     int32_t n, kg_pair *pairs)
{
  double xmin = INFINITY, ymin = INFINITY, xmax = -INFINITY, ymax = -INFINITY;
#pragma omp parallel for num_threads(ctx->threads) reduction(min                         \
                                                             : xmin, ymin) reduction(max \
                                                                                     : xmax, ymax)
  for (int32_t e = 0; e < n; ++e) {
    const double x = corner_sum(vertices, triangles + 3 * (int64_t)e, 0);
    const double y = corner_sum(vertices, triangles + 3 * (int64_t)e, 1);
    xmin = fmin(xmin, x);
    xmax = fmax(xmax, x);
    ymin = fmin(ymin, y);
    ymax = fmax(ymax, y);
  }
  // Square cells, whatever the shape of the box.
  const double extent = fmax(xmax - xmin, ymax - ymin);
  const double scale = extent > 0 ? ((1 << LEVELS) - 1) / extent : 0;
#pragma omp parallel for simd num_threads(ctx->threads)
  for (int32_t e = 0; e < n; ++e) {
    const int32_t *v = triangles + 3 * (int64_t)e;
    const uint32_t x = (uint32_t)(int32_t)((corner_sum(vertices, v, 0) - xmin) * scale);
    const uint32_t y = (uint32_t)(int32_t)((corner_sum(vertices, v, 1) - ymin) * scale);
    pairs[e] = (kg_pair){hilbert_key(x, y), e};
  }
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
  status = kg_radix_sort(ctx, &pairs, (size_t)n, 2 * LEVELS);
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
