// Points anywhere on a mesh: a tree of boxes and maps for ops/sample/locate.h.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/loop.h"
#include "kedge/solution.h"
#include "ops/sample/locate.h"
#include "solution/locator.h"
#include "solution/values.h"
#include "space/caller_order.h"

enum { LOOKED_AT_MAX = (3 * KG_GEOMETRY_MAX + 1) * (3 * KG_GEOMETRY_MAX + 1) };

struct kedge_locator {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  double reach;
  double *wide;         ///< [element], in host memory: tolerances with `reach`; NULL: there is none
  kg_locate_args args;  ///< all but field and points
  kg_buffer boxes, tolerance, order, field;
  kg_buffer coefficients[KG_BLOCKS_MAX];
};

/// Replace a matrix by its inverse. @param[in,out] a  [n][2 n], the second half is work
static void invert(int n, long double *a)
{
  const int w = 2 * n;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i * w + n + j] = i == j;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (fabsl(a[i * w + k]) > fabsl(a[best * w + k])) best = i;
    for (int j = k; j < w; ++j) {
      const long double pivot = a[best * w + j];
      a[best * w + j] = a[k * w + j];
      a[k * w + j] = pivot;
    }
    for (int j = w - 1; j >= k; --j) a[k * w + j] /= a[k * w + k];
    for (int i = 0; i < n; ++i)
      for (int j = w - 1; i != k && j >= k; --j) a[i * w + j] -= a[i * w + k] * a[k * w + j];
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i * w + j] = a[i * w + n + j];
}

/// Nodes of an order on the shapes of ops/sample/polynomial.h. @return how many
static int nodes_at(const kg_cell *cell, int order, double *x, double *y)
{
  const int n = cell->n_modes(order);
  cell->nodes(order, (double *const[]){x, y});
  for (int i = 0; i < n; ++i) {
    x[i] = 0.5 * (x[i] + 1.0);
    y[i] = 0.5 * (y[i] + 1.0);
  }
  return n;
}

/// A block of the mesh, and what its elements are measured with.
typedef struct ruler {
  const kg_block *block;
  bool triangle;
  int geometry, n_powers;
  double power_of_node[KG_NODES_MAX * KG_NODES_MAX];  ///< [power][node]: of a map
  int n_looked_at;
  double x[LOOKED_AT_MAX], y[LOOKED_AT_MAX];  ///< places in the shape, whose images the box holds
} ruler;

static kedge_status make_ruler(kedge_context *ctx, const kedge_mesh *mesh, int b, ruler *out)
{
  const kg_block *const block = &mesh->block[b];
  const int g = mesh->nodes ? mesh->geometry : 1;
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  long double *m;
  out->block = block;
  out->triangle = block->cell == &kg_triangle;
  out->geometry = g;
  const int n = out->n_powers = nodes_at(block->cell, g, x, y);
  out->n_looked_at = nodes_at(block->cell, g > 1 ? 3 * g : 1, out->x, out->y);
  KG_TRY(kg_host_alloc(ctx, 2 * (size_t)n * (size_t)n, sizeof *m, &m));
  for (int l = 0; l < n; ++l)
    for (int j = 0, k = 0; j <= g; ++j)
      for (int i = 0; i <= (out->triangle ? g - j : g); ++i, ++k)
        m[l * 2 * n + k] = powl(x[l], i) * powl(y[l], j);
  invert(n, m);
  for (int k = 0; k < n; ++k)
    for (int l = 0; l < n; ++l) out->power_of_node[k * n + l] = (double)m[k * 2 * n + l];
  free(m);
  return KEDGE_OK;
}

/// The coefficients of an element's map.
static void make_map(const kedge_mesh *mesh, const ruler *r, int32_t element, double *c)
{
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  const int n = kg_nodes_of(mesh, element, x, y);
  for (int k = 1; k < n; ++k) {
    const double *const row = r->power_of_node + k * n;
    c[2 * k] = c[2 * k + 1] = 0.0;
    for (int l = 1; l < n; ++l) {
      c[2 * k] += row[l] * (x[l] - x[0]);
      c[2 * k + 1] += row[l] * (y[l] - y[0]);
    }
  }
  c[0] = x[0];
  c[1] = y[0];
}

/// Compute the bounding box of an element, and the tolerance of the test whether a point lies in
/// it. The tolerance is in coordinates of the reference element. It is 1e-9, or more far from the
/// origin, where the rounding of coordinates is larger than that.
/// @param[out] box   also of points outside, at a distance of `reach`
/// @param[out] wide  the tolerance of these points too; NULL: it is not asked for
static void measure(const ruler *r, const double *c, double reach, double box[4], double *tolerance,
                    double *wide)
{
  const double middle = r->triangle ? 1.0 / 3.0 : 0.5;
  double most = 0.0, m[3][2];
  for (int d = 0; d < 2; ++d) box[d] = INFINITY, box[d + 2] = -INFINITY;
  for (int i = 0; i < r->n_looked_at; ++i) {
    kg_map_at(r->triangle, r->geometry, c, r->x[i], r->y[i], m);
    for (int d = 0; d < 2; ++d) {
      const double at = m[0][d] + c[d];
      box[d] = fmin(box[d], at);
      box[d + 2] = fmax(box[d + 2], at);
      most = fmax(most, fabs(at));
    }
  }
  const double size = fmax(box[2] - box[0], box[3] - box[1]), rounding = 8.0 * DBL_EPSILON * most;
  // Curves may go further between the places that were looked at.
  const double margin = rounding + reach + size * (r->geometry == 1 ? 1e-8 : 0.05);
  for (int d = 0; d < 2; ++d) box[d] -= margin, box[d + 2] += margin;
  kg_map_at(r->triangle, r->geometry, c, middle, middle, m);
  const double height = fabs(m[1][0] * m[2][1] - m[1][1] * m[2][0]) / size;
  *tolerance = fmax(1e-9, rounding / fmax(height, 1e-300));
  if (wide) *wide = fmax(1e-9, (rounding + reach) / fmax(height, 1e-300));
}

/// Levels and places of a tree. @return boxes
static int64_t shape_tree(int64_t n, kg_box_tree *t)
{
  int64_t first = 0;
  for (t->n_levels = 0;; n = (n + KG_BRANCHES - 1) / KG_BRANCHES) {
    t->first[t->n_levels] = first;
    t->count[t->n_levels++] = n;
    first += n;
    if (n == 1) return first;
  }
}

/// Boxes of boxes, from those of the elements.
static void grow_tree(const kg_box_tree *t, double *box)
{
  for (int level = 1; level < t->n_levels; ++level)
    for (int64_t k = 0; k < t->count[level]; ++k) {
      double *const to = box + 4 * (t->first[level] + k);
      for (int d = 0; d < 2; ++d) to[d] = INFINITY, to[d + 2] = -INFINITY;
      for (int64_t i = KG_BRANCHES * k; i < KG_BRANCHES * (k + 1) && i < t->count[level - 1]; ++i) {
        const double *const from = box + 4 * (t->first[level - 1] + i);
        for (int d = 0; d < 2; ++d) {
          to[d] = fmin(to[d], from[d]);
          to[d + 2] = fmax(to[d + 2], from[d + 2]);
        }
      }
    }
}

/// Maps, boxes and tolerances of a block.
static kedge_status put_block(kedge_locator *l, int b, double *box, double *tolerance)
{
  kedge_context *const ctx = l->ctx;
  const kedge_mesh *const mesh = l->mesh;
  const kg_block *const block = &mesh->block[b];
  double *c;
  ruler *r;
  KG_TRY(kg_host_alloc(ctx, 1, sizeof *r, &r));
  kedge_status status = make_ruler(ctx, mesh, b, r);
  const size_t n = 2 * (size_t)block->n * (size_t)block->cell->n_modes(mesh->geometry);
  if (status == KEDGE_OK) status = kg_host_alloc(ctx, n, sizeof *c, &c);
  if (status == KEDGE_OK) {
#pragma omp parallel for num_threads(kg_loop_threads(ctx, block->n, 100))
    for (int32_t e = 0; e < block->n; ++e) {
      double *const map = c + 2 * (size_t)e * (size_t)r->n_powers;
      make_map(mesh, r, block->first + e, map);
      const int32_t element = block->first + e;
      measure(r, map, l->reach, box + 4 * (size_t)element, &tolerance[element],
              l->wide ? &l->wide[element] : NULL);
    }
    status = kg_upload(ctx, c, n, sizeof *c, &l->coefficients[b]);
    free(c);
  }
  l->args.shape[b] = (kg_located_shape){.triangle = r->triangle,
                                        .geometry = r->geometry,
                                        .n_powers = r->n_powers,
                                        .first = block->first,
                                        .n = block->n,
                                        .coefficients = l->coefficients[b].data};
  free(r);
  return status;
}

static kedge_status put_all(kedge_locator *l)
{
  const kedge_mesh *const mesh = l->mesh;
  const size_t n = (size_t)mesh->n_elements;
  kg_locate_args *const a = &l->args;
  const size_t boxes = (size_t)shape_tree(mesh->n_elements, &a->tree);
  double *box, *tolerance = NULL;
  KG_TRY(kg_host_alloc(l->ctx, 4 * boxes, sizeof *box, &box));
  kedge_status status = kg_host_alloc(l->ctx, n, sizeof *tolerance, &tolerance);
  if (status == KEDGE_OK && l->reach > 0.0)
    status = kg_host_alloc(l->ctx, n, sizeof *l->wide, &l->wide);
  a->n_shapes = mesh->n_blocks;
  for (int b = 0; status == KEDGE_OK && b < mesh->n_blocks; ++b)
    status = put_block(l, b, box, tolerance);
  if (status == KEDGE_OK) {
    grow_tree(&a->tree, box);
    status = kg_upload(l->ctx, box, 4 * boxes, sizeof *box, &l->boxes);
  }
  if (status == KEDGE_OK)
    status = kg_upload(l->ctx, tolerance, n, sizeof *tolerance, &l->tolerance);
  if (status == KEDGE_OK) status = kg_caller_order_upload(l->ctx, mesh, &l->order);
  free(box);
  free(tolerance);
  a->tree.box = l->boxes.data;
  a->tolerance = l->tolerance.data;
  a->origin = l->order.data;
  a->wide = mesh->n_blocks > 1 ? a->origin + n : NULL;
  return status;
}

int64_t kedge_locator_bytes(const kedge_mesh *mesh)
{
  if (!mesh) return 0;
  kg_box_tree tree;
  const size_t n = (size_t)mesh->n_elements, d = sizeof(double);
  int64_t bytes = kg_caller_order_bytes(mesh) + (int64_t)kg_rounded(n * d) +
                  (int64_t)kg_rounded(4 * (size_t)shape_tree(mesh->n_elements, &tree) * d);
  for (int b = 0; b < mesh->n_blocks; ++b) {
    const size_t powers = (size_t)mesh->block[b].cell->n_modes(mesh->geometry);
    bytes += (int64_t)kg_rounded(2 * (size_t)mesh->block[b].n * powers * d);
  }
  return bytes;
}

kedge_status kedge_locator_create(kedge_context *ctx, const kedge_mesh *mesh, kedge_locator **out)
{
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_locator_create: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh, KEDGE_ERR_ARG, "kedge_locator_create: context or mesh is NULL");
  return kg_locator_create(ctx, mesh, 0.0, out);
}

kedge_status kg_locator_create(kedge_context *ctx, const kedge_mesh *mesh, double reach,
                               kedge_locator **out)
{
  *out = NULL;
  KG_TRY(kg_mesh_check_plane(ctx, mesh, "a search for points"));
  KG_TRY(kg_enter(ctx));
  const int64_t needed = kedge_locator_bytes(mesh), free_now = kg_free_bytes(ctx);
  KG_REQUIRE(ctx, needed <= free_now, KEDGE_ERR_MEMORY,
             "points of %s need %.3g GB for a tree over the elements, and %.3g GB are free",
             mesh->source, 1e-9 * (double)needed, 1e-9 * (double)free_now);
  kedge_locator *l;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *l, &l));
  l->ctx = ctx;
  l->mesh = mesh;
  l->reach = reach;
  const kedge_status status = put_all(l);
  if (status == KEDGE_OK)
    *out = l;
  else
    kedge_locator_destroy(l);
  return status;
}

void kedge_locator_destroy(kedge_locator *l)
{
  if (!l) return;
  kg_buffer *const all[] = {&l->boxes, &l->tolerance,       &l->order,
                            &l->field, &l->coefficients[0], &l->coefficients[1]};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) kg_free(l->ctx, all[i]);
  free(l->wide);
  free(l);
}

/// The nodes of an order, row after row. Those of a triangle get shorter upwards.
static void put_nodes(const kg_cell *cell, int order, kg_nodal *out)
{
  double x[KG_NODES_ACROSS * KG_NODES_ACROSS], y[KG_NODES_ACROSS * KG_NODES_ACROSS];
  out->triangle = cell == &kg_triangle;
  out->order = order;
  out->n = nodes_at(cell, order, x, y);
  for (int k = 0; k < order; ++k) out->part[k] = 1.0 / (k + 1);
  for (int v = 0; v < out->n; ++v) {
    const int i = (int)lround(order * x[v]), j = (int)lround(order * y[v]);
    const int shorter = out->triangle ? j * (j - 1) / 2 : 0;
    out->node[j * (order + 1) - shorter + i] = (uint8_t)v;
  }
}

kedge_status kedge_locator_keep(kedge_locator *l, int64_t n, const double *from, const double **to)
{
  KG_REQUIRE(NULL, l && from && to, KEDGE_ERR_ARG, "kedge_locator_keep: an argument is NULL");
  KG_REQUIRE(l->ctx, n >= 0, KEDGE_ERR_ARG, "kedge_locator_keep: there are %lld values",
             (long long)n);
  KG_TRY(kg_enter(l->ctx));
  KG_TRY(kg_sync(l->ctx));
  kg_free(l->ctx, &l->field);
  KG_REQUIRE(l->ctx, n <= kg_free_bytes(l->ctx) / (int64_t)sizeof *from, KEDGE_ERR_MEMORY,
             "values of a field at nodes need %.3g GB, and %.3g GB are free", 8e-9 * (double)n,
             1e-9 * (double)kg_free_bytes(l->ctx));
  KG_TRY(kg_upload(l->ctx, from, (size_t)n, sizeof *from, &l->field));
  *to = l->field.data;
  return KEDGE_OK;
}

kedge_status kedge_locator_values(kedge_locator *l, int order, const double *nodes, int64_t n,
                                  const double *x, const double *y, double *values)
{
  KG_REQUIRE(NULL, l, KEDGE_ERR_ARG, "kedge_locator_values: the locator is NULL");
  KG_REQUIRE(l->ctx, order >= 1 && order <= KEDGE_ORDER_MAX + 1, KEDGE_ERR_ARG,
             "kedge_locator_values: nodes of order %d: the order must be 1 to %d", order,
             KEDGE_ORDER_MAX + 1);
  if (n == 0) return KEDGE_OK;
  KG_REQUIRE(l->ctx, n > 0 && nodes && x && y && values, KEDGE_ERR_ARG,
             "kedge_locator_values: an array is NULL, or there are %lld points", (long long)n);
  kg_locate_args a = l->args;
  const void *const arrays[] = {nodes, x, y, values};
  KG_TRY(kg_enter(l->ctx));
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) KG_TRY(kg_join(l->ctx, arrays[i]));
  for (int b = 0; b < a.n_shapes; ++b) put_nodes(l->mesh->block[b].cell, order, &a.shape[b].field);
  a.nodes = nodes;
  a.n = n;
  a.x = x;
  a.y = y;
  a.values = values;
  KG_TRY(kg_locate(l->ctx, &a));
  return kg_sync(l->ctx);
}

/// Find elements by arrays of the device.
/// @param[in] at  x, y, element, place
static kedge_status find_there(kedge_locator *l, int64_t n, const kg_buffer at[4], int32_t *element,
                               double *place)
{
  const size_t count = (size_t)n;
  kg_locate_args a = l->args;
  a.n = n;
  a.x = at[0].data;
  a.y = at[1].data;
  a.element = at[2].data;
  a.place = at[3].data;
  KG_TRY(kg_locate(l->ctx, &a));
  KG_TRY(kg_copy_out(l->ctx, element, at[2].data, count * sizeof *element));
  return kg_copy_out(l->ctx, place, at[3].data, 2 * count * sizeof *place);
}

kedge_status kg_locator_reach_out(kedge_locator *l)
{
  if (!l->wide) return KEDGE_OK;
  KG_TRY(kg_enter(l->ctx));
  const size_t n = (size_t)l->mesh->n_elements;
  return kg_copy_in(l->ctx, l->tolerance.data, l->wide, n * sizeof *l->wide);
}

kedge_status kg_locator_find(kedge_locator *l, int64_t n, const double *x, const double *y,
                             int32_t *element, double *place)
{
  const size_t count = (size_t)n;
  kg_buffer at[4] = {{0}};
  if (n == 0) return KEDGE_OK;
  KG_TRY(kg_enter(l->ctx));
  kedge_status status = kg_upload(l->ctx, x, count, sizeof *x, &at[0]);
  if (status == KEDGE_OK) status = kg_upload(l->ctx, y, count, sizeof *y, &at[1]);
  if (status == KEDGE_OK) status = kg_alloc(l->ctx, count, sizeof *element, &at[2]);
  if (status == KEDGE_OK) status = kg_alloc(l->ctx, 2 * count, sizeof *place, &at[3]);
  if (status == KEDGE_OK) status = find_there(l, n, at, element, place);
  for (int i = 0; i < 4; ++i) kg_free(l->ctx, &at[i]);
  return status;
}
