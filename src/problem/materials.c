// Coefficients that are constant in each region, or in each element, as a table of materials.
#include <string.h>

#include "core/memory.h"
#include "device/loop.h"
#include "problem/located.h"
#include "problem/problem.h"

/// The values in a region; refused where the equation is not elliptic.
static kedge_status evaluate(kedge_context *ctx, const kedge_problem *problem,
                             const kedge_mesh *mesh, const kg_coefficients *equation, int32_t tag,
                             double *value)
{
  const double zero = 0.0, region = tag;
  const kedge_points point = {.n = 1, .x = &zero, .y = &zero, .z = &zero, .region = &region};
  kg_coefficients_evaluate(equation, &point, value);
  if (kg_is_elliptic(mesh->dimension, value)) return KEDGE_OK;
  return kg_coefficients_refuse(ctx, problem, mesh, tag, NULL, value);
}

enum { BLOCK = 256 };

static const double *first_corner(const kedge_mesh *mesh, int32_t element)
{
  return mesh->vertices + mesh->dimension * (int64_t)kg_element_vertices(mesh, element)[0];
}

static kg_spot first_spot(const kedge_mesh *mesh, int32_t element)
{
  kg_spot spot = {.element = element};
  memcpy(spot.at, first_corner(mesh, element), (size_t)mesh->dimension * sizeof *spot.at);
  return spot;
}

/// Materials of elements [first, end), at most BLOCK. @return the first bad one, or `end`
static int32_t make_block(const kedge_mesh *mesh, int32_t first, int32_t end, kg_resolved *out)
{
  static const double corner[3] = {-1.0, -1.0, -1.0};
  double memory[KG_LOCATED * BLOCK], x[3][BLOCK], value[KG_COEFFICIENTS_MAX * BLOCK];
  const kg_located at = kg_located_in(memory, BLOCK);
  const size_t n = (size_t)(end - first);
  const size_t numbers = (size_t)kg_coefficients_numbers(&out->equation);
  for (size_t i = 0; i < n; ++i) {
    const int32_t e = first + (int32_t)i;
    kg_locate_at(&at, i, mesh, e, corner);
    for (int k = 0; k < mesh->dimension; ++k) x[k][i] = first_corner(mesh, e)[k];
  }
  kedge_points points = kg_located_points(&at, mesh, n, x[0], x[1]);
  if (kg_mesh_in_space(mesh)) points.z = x[2];
  kg_coefficients_evaluate(&out->equation, &points, value);
  int32_t bad = end;
  for (size_t i = n; i-- > 0;) {
    double *const to = kg_material_of(out, first + (int32_t)i);
    for (size_t k = 0; k < numbers; ++k) to[k] = value[k * n + i];
    if (!kg_is_elliptic(mesh->dimension, to)) bad = first + (int32_t)i;
  }
  return bad;
}

/// A material for each element.
static kedge_status make_of_elements(kedge_context *ctx, const kedge_problem *problem,
                                     const kedge_mesh *mesh, kg_resolved *out)
{
  const int32_t n = mesh->n_elements;
  KG_TRY(kg_coefficients_bring(&out->equation));
  KG_TRY(kg_host_alloc(ctx, (size_t)n * (size_t)kg_coefficients_numbers(&out->equation),
                       sizeof *out->material, &out->material));
  out->n_materials = n;
  int32_t bad = n;
#pragma omp parallel for reduction(min : bad) num_threads(kg_loop_threads(ctx, n, 64))
  for (int32_t block = 0; block < (n + BLOCK - 1) / BLOCK; ++block) {
    const int32_t first = block * BLOCK, end = n - first < BLOCK ? n : first + BLOCK;
    const int32_t found = make_block(mesh, first, end, out);
    if (found < end && found < bad) bad = found;
  }
  if (bad == n) return KEDGE_OK;
  const kg_spot spot = first_spot(mesh, bad);
  return kg_coefficients_refuse(ctx, problem, mesh, mesh->element_region[bad], &spot,
                                kg_material_of(out, bad));
}

/// Whether coefficients are numbers and arrays in device memory.
static bool are_on_device(const kg_coefficients *c, kg_element_coefficients *out)
{
  *out = (kg_element_coefficients){.dimension = c->dimension};
  bool are = true;
  for (int k = 0; k < kg_coefficients_numbers(c); ++k) {
    const kg_function *const f = kg_coefficient_number(c, k);
    const int kind = f->kind;
    if (kind == KG_FUNCTION_DEVICE) out->from[k] = f->user;
    out->constant[k] = kind == KG_FUNCTION_CONSTANT ? f->constant : 0.0;
    are = are &&
          (kind == KG_FUNCTION_DEVICE || kind == KG_FUNCTION_CONSTANT || kind == KG_FUNCTION_NONE);
  }
  return are;
}

/// The coefficients of an element of the caller.
static kedge_status fetch(kedge_context *ctx, const kg_element_coefficients *c, int64_t element,
                          double *value)
{
  for (int k = 0; k <= kg_tensor_numbers(c->dimension); ++k) {
    value[k] = c->constant[k];
    if (c->from[k]) KG_TRY(kg_copy_out(ctx, &value[k], c->from[k] + element, sizeof *value));
  }
  return KEDGE_OK;
}

/// Coefficients of elements stay in device memory: they are looked at there.
static kedge_status look_on_device(kedge_context *ctx, const kedge_problem *problem,
                                   const kedge_mesh *mesh, kg_resolved *out)
{
  const kg_element_coefficients *const c = &out->elements;
  int32_t e = 0;
  out->by_device = true;
  out->n_materials = mesh->n_elements;
  KG_TRY(kg_enter(ctx));
  KG_TRY(kg_element_coefficients_look(ctx, mesh->n_elements, c, &out->summary));
  if (out->summary.bad < 0) return fetch(ctx, c, mesh->element_origin[0], out->first);
  while (mesh->element_origin[e] != out->summary.bad) ++e;
  KG_TRY(fetch(ctx, c, out->summary.bad, out->first));
  const kg_spot spot = first_spot(mesh, e);
  return kg_coefficients_refuse(ctx, problem, mesh, mesh->element_region[e], &spot, out->first);
}

kedge_status kg_materials_make(kedge_context *ctx, const kedge_problem *problem,
                               const kedge_mesh *mesh, kg_resolved *out)
{
  if (out->by_element && mesh->n_elements > 1 && are_on_device(&out->equation, &out->elements))
    return look_on_device(ctx, problem, mesh, out);
  if (out->by_element) return make_of_elements(ctx, problem, mesh, out);
  const size_t n = (size_t)mesh->n_groups,
               numbers = (size_t)kg_coefficients_numbers(&out->equation);
  KG_TRY(kg_host_alloc(ctx, n * numbers, sizeof *out->material, &out->material));
  KG_TRY(kg_host_calloc(ctx, n, sizeof *out->material_of, &out->material_of));
  for (int g = 0; g < mesh->n_groups; ++g) {
    if (kg_is_edge_group(mesh, &mesh->groups[g])) continue;
    double *const value = kg_material_of(out, out->n_materials);
    KG_TRY(evaluate(ctx, problem, mesh, &out->equation, mesh->groups[g].tag, value));
    int m = 0;
    while (m < out->n_materials &&
           memcmp(kg_material_of(out, m), value, numbers * sizeof *value) != 0)
      ++m;
    out->n_materials += m == out->n_materials;
    out->material_of[g] = m;
  }
  return KEDGE_OK;
}
