// Coefficients that are constant in each region, or in each element, as a table of materials.
#include <string.h>

#include "core/memory.h"
#include "device/loop.h"
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

enum { BLOCK = 256 };

static const double *first_corner(const kedge_mesh *mesh, int32_t element)
{
  return mesh->vertices + 2 * (int64_t)kg_element_vertices(mesh, element)[0];
}

/// Materials of elements [first, end), at most BLOCK. @return the first bad one, or `end`
static int32_t make_block(const kedge_mesh *mesh, int32_t first, int32_t end, kg_resolved *out)
{
  double memory[KG_LOCATED * BLOCK], x[BLOCK], y[BLOCK], value[4 * BLOCK];
  const kg_located at = kg_located_in(memory, BLOCK);
  const size_t n = (size_t)(end - first);
  for (size_t i = 0; i < n; ++i) {
    const int32_t e = first + (int32_t)i;
    kg_locate(&at, i, mesh, e, -1.0, -1.0);
    x[i] = first_corner(mesh, e)[0];
    y[i] = first_corner(mesh, e)[1];
  }
  const kedge_points points = kg_located_points(&at, mesh, n, x, y);
  kg_coefficients_evaluate(&out->equation, &points, value);
  int32_t bad = end;
  for (size_t i = n; i-- > 0;) {
    double *const to = out->material[first + (int32_t)i];
    for (size_t k = 0; k < 4; ++k) to[k] = value[k * n + i];
    if (!kg_is_elliptic(to)) bad = first + (int32_t)i;
  }
  return bad;
}

/// A material for each element.
static kedge_status make_of_elements(kedge_context *ctx, const kedge_problem *problem,
                                     const kedge_mesh *mesh, kg_resolved *out)
{
  const int32_t n = mesh->n_elements;
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *out->material, &out->material));
  out->n_materials = n;
  int32_t bad = n;
#pragma omp parallel for reduction(min : bad) num_threads(kg_loop_threads(ctx, n, 64))
  for (int32_t block = 0; block < (n + BLOCK - 1) / BLOCK; ++block) {
    const int32_t first = block * BLOCK, end = n - first < BLOCK ? n : first + BLOCK;
    const int32_t found = make_block(mesh, first, end, out);
    if (found < end && found < bad) bad = found;
  }
  if (bad == n) return KEDGE_OK;
  const double *const corner = first_corner(mesh, bad);
  const kg_spot spot = {corner[0], corner[1], bad};
  return kg_coefficients_refuse(ctx, problem, mesh, mesh->element_region[bad], &spot,
                                out->material[bad]);
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
