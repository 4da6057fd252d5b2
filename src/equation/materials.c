#include "equation/materials.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "ops/local/triangle/element_materials.h"

/// What is brought, and where to.
typedef struct putting {
  kedge_context *ctx;
  const kg_equation *equation;
  const kg_shape *shape;
  const kg_material_arrays *to;
} putting;

/// Whether elements differ, and have places in a table.
static bool has_places(const kg_shape *s)
{
  return s->n_materials > 1;
}

static bool in_space(const kg_shape *s)
{
  return s->batch[0].cell == &kg_tetrahedron;
}

void kg_materials_declare(kg_plan *plan, const kg_shape *s, kg_material_arrays *a)
{
  const unsigned all = KG_FROM(TRANSFER, RECOVER);
  const bool places = has_places(s), space = in_space(s);
  const bool fast = !s->choice.by_quadrature && !space;
  const size_t n = (size_t)s->n_materials, lanes = (size_t)s->count.n_groups * KG_LANES;
  kg_plan_array(plan, "materials", places && fast ? n : 0, sizeof *a->table, all, &a->table);
  kg_plan_array(plan, "values of materials", s->choice.is_uniform || space ? 0 : 4 * n,
                sizeof(double), all, &a->values);
  kg_plan_array(plan, "materials of tetrahedra", places && space ? n : 0, sizeof *a->space, all,
                &a->space);
  kg_plan_array(plan, "materials of elements", places ? lanes : 0, sizeof *a->index, all,
                &a->index);
}

/// Find the material of a region by binary search: the groups of elements come last in the mesh,
/// and their tags ascend. @param[in,out] group  the group found last, tried first; the group found
static kedge_status find_material(const putting *p, int32_t tag, int *group, int32_t *out)
{
  const kedge_mesh *const mesh = p->equation->mesh;
  const kg_group *const groups = mesh->groups;
  int begin = *group, end = p->equation->mesh->n_groups;
  if (kg_is_edge_group(mesh, &groups[begin]) || groups[begin].tag != tag) {
    begin = 0;
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      if (!kg_is_edge_group(mesh, &groups[middle]) && groups[middle].tag >= tag)
        end = middle;
      else
        begin = middle + 1;
    }
    KG_REQUIRE(p->ctx, begin < p->equation->mesh->n_groups && groups[begin].tag == tag,
               KEDGE_ERR_INTERNAL, "%s: elements have region %d, which is no group",
               p->equation->mesh->source, tag);
    *group = begin;
  }
  *out = p->equation->resolved.material_of[begin];
  return KEDGE_OK;
}

/// Find the index of each lane's element in the table of materials. If the coefficients are on the
/// device, write the element's number in the caller's order instead; put_there() replaces it.
static kedge_status find_places(const putting *p, int32_t *place)
{
  const kg_resolved *const r = &p->equation->resolved;
  const kedge_mesh *const mesh = p->equation->mesh;
  int group = 0;
  for (int i = 0; i < p->shape->n_batches; ++i) {
    const kg_lane_batch *b = &p->shape->batch[i].lanes;
    int32_t *const to = place + (size_t)b->first_group * KG_LANES;
    for (int32_t e = 0; e < b->n_elements; ++e) {
      to[e] = b->first_element + e;
      if (!r->by_element)
        KG_TRY(find_material(p, mesh->element_region[to[e]], &group, &to[e]));
      else if (r->by_device)
        to[e] = mesh->element_origin[to[e]];
    }
    for (int32_t e = b->n_elements; e < b->n_groups * KG_LANES; ++e) to[e] = to[b->n_elements - 1];
  }
  return KEDGE_OK;
}

static kedge_status put_places(const putting *p)
{
  const size_t lanes = (size_t)p->shape->count.n_groups * KG_LANES;
  int32_t *place;
  KG_TRY(kg_host_calloc(p->ctx, lanes, sizeof *place, &place));
  kedge_status status = find_places(p, place);
  if (status == KEDGE_OK) status = kg_copy_in(p->ctx, p->to->index, place, lanes * sizeof *place);
  free(place);
  return status;
}

static kedge_status put_space(const putting *p, const kg_material_rule *rule)
{
  const size_t n = (size_t)p->shape->n_materials;
  kg_space_material *table;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *table, &table));
#pragma omp parallel for num_threads(kg_loop_threads(p->ctx, (int64_t)n, 64))
  for (size_t m = 0; m < n; ++m)
    table[m] = kg_space_material_by(rule, kg_material_of(&p->equation->resolved, (int)m));
  const kedge_status status = kg_copy_in(p->ctx, p->to->space, table, n * sizeof *table);
  free(table);
  return status;
}

static kedge_status put_table(const putting *p, double length)
{
  const size_t n = (size_t)p->shape->n_materials;
  const kg_material_rule rule = kg_equation_rule(p->equation, length);
  kg_material *table;
  if (in_space(p->shape)) return put_space(p, &rule);
  if (!p->to->table) return KEDGE_OK;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *table, &table));
#pragma omp parallel for num_threads(kg_loop_threads(p->ctx, (int64_t)n, 64))
  for (size_t m = 0; m < n; ++m)
    table[m] = kg_material_by(&rule, kg_material_of(&p->equation->resolved, (int)m));
  const kedge_status status = kg_copy_in(p->ctx, p->to->table, table, n * sizeof *table);
  free(table);
  return status;
}

static kedge_status put_values(const putting *p)
{
  const size_t n = 4 * (size_t)p->shape->n_materials;
  double *values;
  if (!p->to->values) return KEDGE_OK;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *values, &values));
  for (size_t k = 0; k < n; ++k) values[k] = p->equation->scale * p->equation->resolved.material[k];
  const kedge_status status = kg_copy_in(p->ctx, p->to->values, values, n * sizeof *values);
  free(values);
  return status;
}

/// Table, values and places from coefficients that are on the device.
static kedge_status put_there(const putting *p, double length)
{
  for (int i = 0; i < p->shape->n_batches; ++i) {
    const kg_lane_batch *b = &p->shape->batch[i].lanes;
    if (in_space(p->shape)) {
      const kg_space_table_args args = {.n_lanes = (int64_t)b->n_groups * KG_LANES,
                                        .n_elements = b->n_elements,
                                        .first_element = b->first_element,
                                        .from = p->equation->resolved.elements,
                                        .rule = kg_equation_rule(p->equation, length),
                                        .index = p->to->index + (size_t)b->first_group * KG_LANES,
                                        .table = p->to->space};
      KG_TRY(kg_space_table(p->ctx, &args));
      continue;
    }
    const kg_element_materials_args args = {
        .n_lanes = (int64_t)b->n_groups * KG_LANES,
        .n_elements = b->n_elements,
        .first_element = b->first_element,
        .from = p->equation->resolved.elements,
        .rule = kg_equation_rule(p->equation, length),
        .index = p->to->index + (size_t)b->first_group * KG_LANES,
        .table = p->to->table,
        .values = p->to->values};
    KG_TRY(kg_element_materials(p->ctx, &args));
  }
  return KEDGE_OK;
}

kedge_status kg_materials_put(kedge_context *ctx, const kg_equation *equation,
                              const kg_shape *shape, const kg_material_arrays *arrays)
{
  const putting p = {ctx, equation, shape, arrays};
  const double length = equation->coefficient.cells.length;
  const bool there = equation->resolved.by_device;
  if (!there) KG_TRY(put_values(&p));
  if (!has_places(shape)) return KEDGE_OK;
  KG_TRY(put_places(&p));
  return there ? put_there(&p, length) : put_table(&p, length);
}

kg_coefficient kg_materials_from(const kg_equation *equation, const kg_shape *shape,
                                 const kg_material_arrays *arrays, int batch, int32_t first)
{
  kg_coefficient out = equation->coefficient;
  const kg_shape_batch *b = &shape->batch[batch];
  if (has_places(shape)) {
    out.constant.table = arrays->table;
    out.cells.table = arrays->values;
    out.space.table = arrays->space;
    out.constant.index = out.cells.index = out.space.index =
        arrays->index + (int64_t)(b->lanes.first_group + first) * KG_LANES;
  }
  out.cells.exact = b->exact;
  out.cells.keeps_gradient = b->keeps_gradient;
  return out;
}
