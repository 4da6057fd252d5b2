// Coefficients that are constant in each region, or in each element, as a table of materials.
#include <string.h>

#include "core/memory.h"
#include "problem/located.h"
#include "problem/problem.h"

/// The values in a region; refused where the equation is not elliptic.
static kedge_status evaluate(kedge_context *ctx, const kedge_problem *problem,
                             const kedge_mesh *mesh, const kg_coefficients *equation, int32_t tag,
                             double value[4])
{
  const double zero = 0.0, region = tag;
  const kedge_points point = {.n = 1, .x = &zero, .y = &zero, .region = &region};
  kg_coefficients_evaluate(equation, &point, value);
  if (kg_is_elliptic(value)) return KEDGE_OK;
  return kg_coefficients_refuse(ctx, problem, mesh, tag, NULL, value);
}

/// A material for each element.
static kedge_status make_of_elements(kedge_context *ctx, const kedge_problem *problem,
                                     const kedge_mesh *mesh, kg_resolved *out)
{
  KG_TRY(kg_host_alloc(ctx, (size_t)mesh->n_elements, sizeof *out->material, &out->material));
  out->n_materials = mesh->n_elements;
  double memory[KG_LOCATED];
  const kg_located at = kg_located_in(memory, 1);
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    const double *const corner = mesh->vertices + 2 * (int64_t)kg_element_vertices(mesh, e)[0];
    kg_locate(&at, 0, mesh, e, -1.0, -1.0);
    const kedge_points point = kg_located_points(&at, mesh, 1, corner, corner + 1);
    kg_coefficients_evaluate(&out->equation, &point, out->material[e]);
    if (!kg_is_elliptic(out->material[e]))
      return kg_coefficients_refuse(ctx, problem, mesh, mesh->element_region[e], corner,
                                    out->material[e]);
  }
  return KEDGE_OK;
}

kedge_status kg_materials_make(kedge_context *ctx, const kedge_problem *problem,
                               const kedge_mesh *mesh, kg_resolved *out)
{
  if (out->by_element) return make_of_elements(ctx, problem, mesh, out);
  const size_t n = (size_t)mesh->n_groups;
  KG_TRY(kg_host_alloc(ctx, n, sizeof *out->material, &out->material));
  KG_TRY(kg_host_calloc(ctx, n, sizeof *out->material_of, &out->material_of));
  for (int g = 0; g < mesh->n_groups; ++g) {
    if (mesh->groups[g].dimension != 2) continue;
    double *const value = out->material[out->n_materials];
    KG_TRY(evaluate(ctx, problem, mesh, &out->equation, mesh->groups[g].tag, value));
    int m = 0;
    while (m < out->n_materials && memcmp(out->material[m], value, sizeof *out->material) != 0) ++m;
    out->n_materials += m == out->n_materials;
    out->material_of[g] = m;
  }
  return KEDGE_OK;
}
