#include "solver/materials.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"

/// The tensor `k` is diffusion C C^T (kg_material). The determinant loses no digit by cancellation.
static void set_tensor(const double k[3], kg_material *out)
{
  const double square = k[1] * k[1], lost = fma(-k[1], k[1], square);
  const double determinant = fma(k[0], k[2], -square) + lost;
  out->is_tensor = true;
  out->diffusion = sqrt(fmax(determinant, DBL_MIN));
  out->root[2] = sqrt(k[2] / out->diffusion);
  out->root[1] = k[1] / out->diffusion / out->root[2];
  out->root[0] = 1.0 / out->root[2];
}

kg_material kg_material_of(const kg_pipeline *p, const double value[4], double length)
{
  const double k[] = {p->scale * value[0], p->scale * value[1], p->scale * value[2]};
  kg_material out = {.diffusion = k[0],
                     .reaction = p->scale * value[3],
                     .stabilization = p->material.stabilization,
                     .scaling = p->material.scaling,
                     .root = {1.0, 0.0, 1.0}};
  if (k[1] != 0.0 || k[0] != k[2]) set_tensor(k, &out);
  if (!(length > 0.0)) return out;
  out.stabilization = out.diffusion / length;
  out.by_normal = out.is_tensor;
  return out;
}

/// Whether a batch takes the fast kernels, and elements there differ.
static bool has_places(const kg_shape *s)
{
  return s->n_materials > 1 && s->batch[0].cell == &kg_triangle && !s->batch[0].by_quadrature;
}

void kg_materials_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const unsigned all = KG_FROM(TRANSFER, RECOVER);
  const bool places = has_places(s);
  const size_t n = (size_t)s->n_materials, lanes = (size_t)s->count.n_groups * KG_LANES;
  const bool fluxes = s->choice.wants_errors && !s->choice.is_uniform;
  kg_plan_array(plan, "materials", places ? n : 0, sizeof *a->materials, all, &a->materials);
  kg_plan_array(plan, "materials of elements", places ? lanes : 0, sizeof *a->material_of, all,
                &a->material_of);
  kg_plan_array(plan, "diffusion of materials", fluxes ? 3 * n : 0, sizeof(double), all,
                &a->material_diffusion);
}

/// The material of a region, from that of the element before.
static int material_of_tag(const kg_pipeline *p, int32_t tag, int *group)
{
  const kedge_mesh *mesh = p->mesh;
  const kg_group *g = &mesh->groups[*group];
  if (g->dimension != 2 || g->tag != tag)
    for (*group = 0; g = &mesh->groups[*group], g->dimension != 2 || g->tag != tag;) ++*group;
  return p->resolved.material_of[*group];
}

static kedge_status put_places(kg_pipeline *p)
{
  const size_t lanes = (size_t)p->layout.count.n_groups * KG_LANES;
  int32_t *place;
  KG_TRY(kg_host_calloc(p->ctx, lanes, sizeof *place, &place));
  int group = 0;
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_lane_batch *b = &p->shape.batch[i].lanes;
    int32_t *const to = place + (size_t)b->first_group * KG_LANES;
    for (int32_t e = 0; e < b->n_elements; ++e)
      to[e] = material_of_tag(p, p->mesh->element_region[b->first_element + e], &group);
    for (int32_t e = b->n_elements; e < b->n_groups * KG_LANES; ++e) to[e] = to[b->n_elements - 1];
  }
  const kedge_status status =
      kg_copy_in(p->ctx, p->arrays.material_of, place, lanes * sizeof *place);
  free(place);
  return status;
}

static kedge_status put_table(kg_pipeline *p, double length)
{
  const size_t n = (size_t)p->shape.n_materials;
  kg_material *table;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *table, &table));
  for (size_t m = 0; m < n; ++m) table[m] = kg_material_of(p, p->resolved.material[m], length);
  const kedge_status status = kg_copy_in(p->ctx, p->arrays.materials, table, n * sizeof *table);
  free(table);
  return status;
}

static kedge_status put_diffusion(kg_pipeline *p)
{
  const size_t n = (size_t)p->shape.n_materials;
  double *diffusion;
  if (!p->arrays.material_diffusion || n == 0) return KEDGE_OK;
  KG_TRY(kg_host_alloc(p->ctx, 3 * n, sizeof *diffusion, &diffusion));
  for (size_t k = 0; k < 3 * n; ++k) diffusion[k] = p->scale * p->resolved.material[k / 3][k % 3];
  const kedge_status status =
      kg_copy_in(p->ctx, p->arrays.material_diffusion, diffusion, 3 * n * sizeof *diffusion);
  free(diffusion);
  return status;
}

kedge_status kg_materials_put(kg_pipeline *p)
{
  KG_TRY(put_diffusion(p));
  if (!has_places(&p->shape)) return KEDGE_OK;
  KG_TRY(put_places(p));
  KG_TRY(put_table(p, p->coefficient.cells.length));
  p->coefficient.constant.table = p->arrays.materials;
  p->coefficient.constant.index = p->arrays.material_of;
  return KEDGE_OK;
}

kg_materials kg_materials_from(const kg_pipeline *p, int batch, int32_t first)
{
  kg_materials materials = p->coefficient.constant;
  const int64_t group = p->shape.batch[batch].lanes.first_group + first;
  if (materials.index) materials.index += group * KG_LANES;
  return materials;
}
