// Points anywhere on a mesh: a tree of boxes and maps for ops/sample/locate.h.
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "kedge/solution.h"
#include "ops/sample/locate.h"
#include "solution/located_maps.h"
#include "solution/locator.h"
#include "solution/values.h"
#include "space/caller_order.h"

struct kedge_locator {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  double reach;
  double *wide;         ///< [element], in host memory: tolerances with `reach`; NULL: there is none
  kg_locate_args args;  ///< all but field and points
  kg_buffer boxes, tolerance, order, field;
  kg_buffer coefficients[KG_BLOCKS_MAX];
};

/// Levels and places of a tree. @return boxes
static int64_t shape_tree(const kedge_mesh *mesh, kg_box_tree *t)
{
  int64_t first = 0, n = mesh->n_elements;
  t->dimension = mesh->dimension;
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
  const int n = t->dimension;
  for (int level = 1; level < t->n_levels; ++level)
    for (int64_t k = 0; k < t->count[level]; ++k) {
      double *const to = box + 2 * n * (t->first[level] + k);
      for (int d = 0; d < n; ++d) to[d] = INFINITY, to[d + n] = -INFINITY;
      for (int64_t i = KG_BRANCHES * k; i < KG_BRANCHES * (k + 1) && i < t->count[level - 1]; ++i) {
        const double *const from = box + 2 * n * (t->first[level - 1] + i);
        for (int d = 0; d < n; ++d) {
          to[d] = fmin(to[d], from[d]);
          to[d + n] = fmax(to[d + n], from[d + n]);
        }
      }
    }
}

/// Numbers of the maps of a block.
static size_t map_numbers(const kedge_mesh *mesh, const kg_block *block)
{
  return (size_t)(mesh->dimension * block->cell->n_modes(mesh->geometry)) * (size_t)block->n;
}

/// Maps, boxes and tolerances of a block.
static kedge_status put_block(kedge_locator *l, int b, const kg_located_boxes *boxes)
{
  const kg_block *const block = &l->mesh->block[b];
  const size_t n = map_numbers(l->mesh, block);
  double *c;
  KG_TRY(kg_host_alloc(l->ctx, n, sizeof *c, &c));
  kedge_status status = kg_locate_block(l->ctx, l->mesh, b, c, boxes);
  if (status == KEDGE_OK) status = kg_upload(l->ctx, c, n, sizeof *c, &l->coefficients[b]);
  free(c);
  l->args.shape[b] = (kg_located_shape){.triangle = block->cell == &kg_triangle,
                                        .geometry = l->mesh->geometry,
                                        .n_powers = block->cell->n_modes(l->mesh->geometry),
                                        .first = block->first,
                                        .n = block->n,
                                        .coefficients = l->coefficients[b].data};
  return status;
}

static kedge_status put_all(kedge_locator *l)
{
  const kedge_mesh *const mesh = l->mesh;
  const size_t n = (size_t)mesh->n_elements, width = 2 * (size_t)mesh->dimension;
  kg_locate_args *const a = &l->args;
  const size_t boxes = (size_t)shape_tree(mesh, &a->tree);
  kg_located_boxes to = {.reach = l->reach};
  KG_TRY(kg_host_alloc(l->ctx, width * boxes, sizeof *to.box, &to.box));
  kedge_status status = kg_host_alloc(l->ctx, n, sizeof *to.tolerance, &to.tolerance);
  if (status == KEDGE_OK && l->reach > 0.0)
    status = kg_host_alloc(l->ctx, n, sizeof *l->wide, &l->wide);
  to.wide = l->wide;
  a->n_shapes = mesh->n_blocks;
  for (int b = 0; status == KEDGE_OK && b < mesh->n_blocks; ++b) status = put_block(l, b, &to);
  if (status == KEDGE_OK) {
    grow_tree(&a->tree, to.box);
    status = kg_upload(l->ctx, to.box, width * boxes, sizeof *to.box, &l->boxes);
  }
  if (status == KEDGE_OK)
    status = kg_upload(l->ctx, to.tolerance, n, sizeof *to.tolerance, &l->tolerance);
  if (status == KEDGE_OK) status = kg_caller_order_upload(l->ctx, mesh, &l->order);
  free(to.box);
  free(to.tolerance);
  a->tree.box = l->boxes.data;
  a->tolerance = l->tolerance.data;
  a->origin = l->order.data;
  a->quads_before = mesh->n_blocks > 1 ? a->origin + n : NULL;
  return status;
}

int64_t kedge_locator_bytes(const kedge_mesh *mesh)
{
  if (!mesh) return 0;
  kg_box_tree tree;
  const size_t n = (size_t)mesh->n_elements, d = sizeof(double);
  int64_t bytes =
      kg_caller_order_bytes(mesh) + (int64_t)kg_rounded(n * d) +
      (int64_t)kg_rounded(2 * (size_t)mesh->dimension * (size_t)shape_tree(mesh, &tree) * d);
  for (int b = 0; b < mesh->n_blocks; ++b)
    bytes += (int64_t)kg_rounded(map_numbers(mesh, &mesh->block[b]) * d);
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

/// The place of a node among those of its layer, row after row. Rows of a triangle get shorter
/// upwards.
static int place_in_layer(int order, bool triangle, int i, int j)
{
  return j * (order + 1) - (triangle ? j * (j - 1) / 2 : 0) + i;
}

/// The nodes of an order, layer after layer. Those of a tetrahedron get smaller.
static void put_nodes(const kg_cell *cell, int order, kg_nodal *out)
{
  double at[3][KG_NODES_LISTED];
  const bool in_space = cell->dimension == 3;
  out->triangle = cell == &kg_triangle;
  out->order = order;
  out->n = kg_nodes_from_0(cell, order, (double *const[]){at[0], at[1], at[2]});
  for (int k = 0; k < order; ++k) out->part[k] = 1.0 / (k + 1);
  for (int v = 0; v < out->n; ++v) {
    const int i = (int)lround(order * at[0][v]), j = (int)lround(order * at[1][v]);
    const int k = in_space ? (int)lround(order * at[2][v]) : 0;
    const int below = in_space ? out->n - cell->n_modes(order - k) : 0;
    const int place = place_in_layer(order - k, in_space || out->triangle, i, j);
    out->node[below + place] = (uint16_t)v;
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

/// @param[in] at    coordinates, as many as the mesh has
/// @param[in] call  for sentences
static kedge_status values_at(kedge_locator *l, int order, const double *nodes, int64_t n,
                              const double *const *at, double *values, const char *call)
{
  KG_REQUIRE(l->ctx, order >= 1 && order <= KEDGE_ORDER_MAX + 1, KEDGE_ERR_ARG,
             "%s: nodes of order %d: the order must be 1 to %d", call, order, KEDGE_ORDER_MAX + 1);
  if (n == 0) return KEDGE_OK;
  bool there = n > 0 && nodes && values;
  for (int d = 0; d < l->mesh->dimension; ++d) there = there && at[d];
  KG_REQUIRE(l->ctx, there, KEDGE_ERR_ARG, "%s: an array is NULL, or there are %lld points", call,
             (long long)n);
  kg_locate_args a = l->args;
  KG_TRY(kg_enter(l->ctx));
  KG_TRY(kg_join(l->ctx, nodes));
  for (int d = 0; d < l->mesh->dimension; ++d) KG_TRY(kg_join(l->ctx, at[d]));
  KG_TRY(kg_join(l->ctx, values));
  for (int b = 0; b < a.n_shapes; ++b) put_nodes(l->mesh->block[b].cell, order, &a.shape[b].field);
  a.nodes = nodes;
  a.n = n;
  a.x = at[0];
  a.y = at[1];
  a.z = at[2];
  a.values = values;
  KG_TRY(kg_locate(l->ctx, &a));
  return kg_sync(l->ctx);
}

kedge_status kedge_locator_values(kedge_locator *l, int order, const double *nodes, int64_t n,
                                  const double *x, const double *y, double *values)
{
  static const char call[] = "kedge_locator_values";
  KG_REQUIRE(NULL, l, KEDGE_ERR_ARG, "%s: the locator is NULL", call);
  KG_TRY(kg_mesh_check_points(l->ctx, l->mesh, 2, call));
  return values_at(l, order, nodes, n, (const double *const[]){x, y, NULL}, values, call);
}

kedge_status kedge_locator_values_space(kedge_locator *l, int order, const double *nodes, int64_t n,
                                        const double *x, const double *y, const double *z,
                                        double *values)
{
  static const char call[] = "kedge_locator_values_space";
  KG_REQUIRE(NULL, l, KEDGE_ERR_ARG, "%s: the locator is NULL", call);
  KG_TRY(kg_mesh_check_points(l->ctx, l->mesh, 3, call));
  return values_at(l, order, nodes, n, (const double *const[]){x, y, z}, values, call);
}

/// Find elements by arrays of the device.
/// @param[in] at  x, y, z, element, place
static kedge_status find_there(kedge_locator *l, int64_t n, const kg_buffer at[5], int32_t *element,
                               double *place)
{
  const size_t count = (size_t)n, dimension = (size_t)l->mesh->dimension;
  kg_locate_args a = l->args;
  a.n = n;
  a.x = at[0].data;
  a.y = at[1].data;
  a.z = at[2].data;
  a.element = at[3].data;
  a.place = at[4].data;
  KG_TRY(kg_locate(l->ctx, &a));
  KG_TRY(kg_copy_out(l->ctx, element, at[3].data, count * sizeof *element));
  return kg_copy_out(l->ctx, place, at[4].data, dimension * count * sizeof *place);
}

kedge_status kg_locator_reach_out(kedge_locator *l)
{
  if (!l->wide) return KEDGE_OK;
  KG_TRY(kg_enter(l->ctx));
  const size_t n = (size_t)l->mesh->n_elements;
  return kg_copy_in(l->ctx, l->tolerance.data, l->wide, n * sizeof *l->wide);
}

kedge_status kg_locator_find(kedge_locator *l, int64_t n, const double *const *at, int32_t *element,
                             double *place)
{
  const size_t count = (size_t)n;
  const int dimension = l->mesh->dimension;
  kg_buffer there[5] = {{0}};
  if (n == 0) return KEDGE_OK;
  KG_TRY(kg_enter(l->ctx));
  kedge_status status = KEDGE_OK;
  for (int d = 0; status == KEDGE_OK && d < dimension; ++d)
    status = kg_upload(l->ctx, at[d], count, sizeof(double), &there[d]);
  if (status == KEDGE_OK) status = kg_alloc(l->ctx, count, sizeof *element, &there[3]);
  if (status == KEDGE_OK)
    status = kg_alloc(l->ctx, (size_t)dimension * count, sizeof *place, &there[4]);
  if (status == KEDGE_OK) status = find_there(l, n, there, element, place);
  for (int i = 0; i < 5; ++i) kg_free(l->ctx, &there[i]);
  return status;
}
