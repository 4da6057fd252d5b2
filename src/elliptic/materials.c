#include "elliptic/materials.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "ops/local/triangle/element_materials.h"

static kg_material_rule rule_of(const kg_elliptic *p, double length)
{
  return (kg_material_rule){p->equation.scale, p->equation.material.stabilization,
                            p->equation.material.scaling, length};
}

kg_material kg_material_of(const kg_elliptic *p, const double value[4], double length)
{
  const kg_material_rule rule = rule_of(p, length);
  return kg_material_by(&rule, value);
}

/// Whether elements differ, and have places in a table.
static bool has_places(const kg_shape *s)
{
  return s->n_materials > 1;
}

void kg_materials_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const unsigned all = KG_FROM(TRANSFER, RECOVER);
  const bool places = has_places(s), fast = !s->choice.by_quadrature;
  const size_t n = (size_t)s->n_materials, lanes = (size_t)s->count.n_groups * KG_LANES;
  kg_plan_array(plan, "materials", places && fast ? n : 0, sizeof *a->materials, all,
                &a->materials);
  kg_plan_array(plan, "values of materials", s->choice.is_uniform ? 0 : 4 * n, sizeof(double), all,
                &a->material_values);
  kg_plan_array(plan, "materials of elements", places ? lanes : 0, sizeof *a->material_of, all,
                &a->material_of);
}

/// The material of the region of an element. Groups of elements are the last ones of a mesh, their
/// tags ascend. @param[in,out] group  the one before, and that of the element
static kedge_status find_material(const kg_elliptic *p, int32_t tag, int *group, int32_t *out)
{
  const kg_group *const groups = p->mesh->groups;
  int begin = *group, end = p->mesh->n_groups;
  if (groups[begin].dimension != 2 || groups[begin].tag != tag) {
    begin = 0;
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      if (groups[middle].dimension == 2 && groups[middle].tag >= tag)
        end = middle;
      else
        begin = middle + 1;
    }
    KG_REQUIRE(p->ctx, begin < p->mesh->n_groups && groups[begin].tag == tag, KEDGE_ERR_INTERNAL,
               "%s: elements have region %d, which is no group", p->mesh->source, tag);
    *group = begin;
  }
  *out = p->equation.resolved.material_of[begin];
  return KEDGE_OK;
}

/// Places of lanes in the table; of elements whose coefficients are on the device, the caller's
/// numbers, until put_there().
static kedge_status find_places(const kg_elliptic *p, int32_t *place)
{
  int group = 0;
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_lane_batch *b = &p->shape.batch[i].lanes;
    int32_t *const to = place + (size_t)b->first_group * KG_LANES;
    for (int32_t e = 0; e < b->n_elements && p->equation.resolved.by_element; ++e)
      to[e] = p->equation.resolved.by_device ? p->mesh->element_origin[b->first_element + e]
                                             : b->first_element + e;
    for (int32_t e = 0; e < b->n_elements && !p->equation.resolved.by_element; ++e)
      KG_TRY(find_material(p, p->mesh->element_region[b->first_element + e], &group, &to[e]));
    for (int32_t e = b->n_elements; e < b->n_groups * KG_LANES; ++e) to[e] = to[b->n_elements - 1];
  }
  return KEDGE_OK;
}

static kedge_status put_places(kg_elliptic *p)
{
  const size_t lanes = (size_t)p->space.layout.count.n_groups * KG_LANES;
  int32_t *place;
  KG_TRY(kg_host_calloc(p->ctx, lanes, sizeof *place, &place));
  kedge_status status = find_places(p, place);
  if (status == KEDGE_OK)
    status = kg_copy_in(p->ctx, p->arrays.material_of, place, lanes * sizeof *place);
  free(place);
  return status;
}

static kedge_status put_table(kg_elliptic *p, double length)
{
  const size_t n = (size_t)p->shape.n_materials;
  kg_material *table;
  if (!p->arrays.materials) return KEDGE_OK;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *table, &table));
#pragma omp parallel for num_threads(kg_loop_threads(p->ctx, (int64_t)n, 64))
  for (size_t m = 0; m < n; ++m)
    table[m] = kg_material_of(p, p->equation.resolved.material[m], length);
  const kedge_status status = kg_copy_in(p->ctx, p->arrays.materials, table, n * sizeof *table);
  free(table);
  return status;
}

static kedge_status put_values(kg_elliptic *p)
{
  const size_t n = 4 * (size_t)p->shape.n_materials;
  double *values;
  if (!p->arrays.material_values) return KEDGE_OK;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *values, &values));
  for (size_t k = 0; k < n; ++k)
    values[k] = p->equation.scale * p->equation.resolved.material[k / 4][k % 4];
  const kedge_status status =
      kg_copy_in(p->ctx, p->arrays.material_values, values, n * sizeof *values);
  free(values);
  return status;
}

/// Table, values and places from coefficients that are on the device.
static kedge_status put_there(const kg_elliptic *p, double length)
{
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_lane_batch *b = &p->shape.batch[i].lanes;
    const kg_element_materials_args args = {
        .n_lanes = (int64_t)b->n_groups * KG_LANES,
        .n_elements = b->n_elements,
        .first_element = b->first_element,
        .from = p->equation.resolved.elements,
        .rule = rule_of(p, length),
        .index = p->arrays.material_of + (size_t)b->first_group * KG_LANES,
        .table = p->arrays.materials,
        .values = p->arrays.material_values};
    KG_TRY(kg_element_materials(p->ctx, &args));
  }
  return KEDGE_OK;
}

kedge_status kg_materials_put(kg_elliptic *p)
{
  kg_coefficient *const to = &p->equation.coefficient;
  const bool there = p->equation.resolved.by_device;
  if (!there) KG_TRY(put_values(p));
  if (!has_places(&p->shape)) return KEDGE_OK;
  KG_TRY(put_places(p));
  KG_TRY(there ? put_there(p, to->cells.length) : put_table(p, to->cells.length));
  to->constant.table = p->arrays.materials;
  to->cells.table = p->arrays.material_values;
  to->constant.index = to->cells.index = p->arrays.material_of;
  return KEDGE_OK;
}

kg_coefficient kg_materials_from(const kg_elliptic *p, int batch, int32_t first)
{
  kg_coefficient out = p->equation.coefficient;
  const kg_shape_batch *b = &p->shape.batch[batch];
  const int64_t group = b->lanes.first_group + first;
  if (out.constant.index) out.constant.index += group * KG_LANES;
  if (out.cells.index) out.cells.index += group * KG_LANES;
  out.cells.exact = b->exact;
  out.cells.keeps_gradient = b->keeps_gradient;
  return out;
}
