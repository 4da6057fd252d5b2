// Elements along the Hilbert curve, and their corners in the order of their places.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "mesh/build.h"
#include "mesh/radix.h"
#include "mesh/space/hilbert.h"

/// 1, 1/r, 1/r^2 with r^3 = r + 1: no two vertices that a few steps of a lattice part come near to
/// a tie, and so translated elements have the same order although files round their coordinates.
/// The products are stored before they are added: contracted to one operation they would be rounded
/// differently on other machines.
static double key_of(const double *p)
{
  const volatile double y = 0.7549 * p[1], z = 0.5698 * p[2];
  return p[0] + y + z;
}

/// Whether one vertex comes before another: by key, then by x, y, z.
static bool is_before(const double *key, const double *vertices, int32_t v, int32_t w)
{
  if (key[v] != key[w]) return key[v] < key[w];
  const double *p = vertices + 3 * (int64_t)v, *q = vertices + 3 * (int64_t)w;
  for (int k = 0; k < 3; ++k)
    if (p[k] != q[k]) return p[k] < q[k];
  return v < w;
}

static void sort_corners(const double *key, const double *vertices, const int32_t *from,
                         int32_t *to)
{
  for (int i = 0; i < 4; ++i) {
    int k = i;
    for (; k > 0 && is_before(key, vertices, from[i], to[k - 1]); --k) to[k] = to[k - 1];
    to[k] = from[i];
  }
}

static double corner_sum(const double *vertices, const int32_t *v, int k)
{
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) sum += vertices[3 * (int64_t)v[i] + k];
  return sum;
}

/// The box of the elements' centres, four times as large, and the cells a unit: cubes.
static void find_box(kedge_context *ctx, const kg_raw_mesh *raw, double low[3], double *scale)
{
  double extent = 0.0;
  for (int k = 0; k < 3; ++k) {
    double least = INFINITY, most = -INFINITY;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1)) reduction(min      \
                                                                                         : least) \
    reduction(max                                                                                 \
              : most)
    for (int64_t e = 0; e < raw->n_elements; ++e) {
      const double sum = corner_sum(raw->vertices, kg_raw_corners(raw, e), k);
      least = fmin(least, sum);
      most = fmax(most, sum);
    }
    low[k] = least;
    extent = fmax(extent, most - least);
  }
  *scale = extent > 0.0 ? ((1 << KG_SPACE_LEVELS) - 1) / extent : 0.0;
}

/// Order elements by the place of their centres on the curve, ties by number.
static kedge_status order_elements(kg_mesh_builder *b)
{
  const kg_raw_mesh *raw = b->raw;
  kedge_mesh *mesh = b->mesh;
  const int64_t n = raw->n_elements;
  double low[3], scale;
  kg_pair *pairs;
  KG_TRY(kg_host_alloc(b->ctx, (size_t)n, sizeof *pairs, &pairs));
  find_box(b->ctx, raw, low, &scale);
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, n, 1))
  for (int64_t e = 0; e < n; ++e) {
    uint32_t at[3];
    for (int k = 0; k < 3; ++k)
      at[k] = (uint32_t)((corner_sum(raw->vertices, kg_raw_corners(raw, e), k) - low[k]) * scale);
    pairs[e] = (kg_pair){kg_space_key(at[0], at[1], at[2]), e};
  }
  const kedge_status status = kg_radix_sort(b->ctx, &pairs, (size_t)n, 64);
  for (int64_t e = 0; status == KEDGE_OK && e < n; ++e)
    mesh->element_origin[e] = (int32_t)pairs[e].value;
  free(pairs);
  return status;
}

kedge_status kg_space_order(kg_mesh_builder *b)
{
  kedge_mesh *mesh = b->mesh;
  const kg_raw_mesh *raw = b->raw;
  double *key;
  mesh->n_elements = (int32_t)raw->n_elements;
  mesh->block[mesh->n_blocks++] = (kg_block){&kg_tetrahedron, 0, mesh->n_elements, 0};
  KG_TRY(order_elements(b));
  KG_TRY(
      kg_host_alloc(b->ctx, (size_t)kg_mesh_sides(mesh), sizeof(int32_t), &mesh->element_vertices));
  KG_TRY(kg_host_alloc(b->ctx, (size_t)raw->n_vertices, sizeof *key, &key));
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, raw->n_vertices, 1))
  for (int64_t v = 0; v < raw->n_vertices; ++v) key[v] = key_of(raw->vertices + 3 * v);
#pragma omp parallel for num_threads(kg_loop_threads(b->ctx, mesh->n_elements, 1))
  for (int32_t e = 0; e < mesh->n_elements; ++e)
    sort_corners(key, raw->vertices, kg_raw_corners(raw, mesh->element_origin[e]),
                 mesh->element_vertices + 4 * (int64_t)e);
  free(key);
  return KEDGE_OK;
}
