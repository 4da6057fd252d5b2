#include "equation/equation.h"

#include <math.h>
#include <string.h>

#include "problem/located.h"
#include "solution/values.h"

/// The largest diffusion and reaction: of all materials, or where they vary at some points.
static void largest_coefficients(const kg_equation *equation, double most[2])
{
  enum { SAMPLES = 256 };
  const kg_resolved *r = &equation->resolved;
  const kedge_mesh *mesh = equation->mesh;
  static const double middle[3] = {-0.5, -0.5, -0.5};
  double x[SAMPLES], y[SAMPLES], z[SAMPLES], memory[KG_LOCATED * SAMPLES], place[3];
  double value[KG_COEFFICIENTS_MAX * SAMPLES], k_here[KG_COEFFICIENTS_MAX];
  const kg_located at = kg_located_in(memory, SAMPLES);
  most[0] = most[1] = 0.0;
  if (r->by_device) memcpy(most, r->summary.most, sizeof r->summary.most);
  const int dimension = mesh->dimension, numbers = kg_tensor_numbers(dimension);
  for (int m = 0; m < r->n_materials && !r->by_device; ++m) {
    const double *const k = kg_material_of(r, m);
    most[0] = fmax(most[0], kg_most_diffusion(dimension, k));
    most[1] = fmax(most[1], k[numbers]);
  }
  if (!r->varies) return;
  const int64_t stride = (mesh->n_elements + SAMPLES - 1) / SAMPLES;
  int n = 0;
  for (int64_t e = 0; e < mesh->n_elements; e += stride, ++n) {
    if (dimension == 3) {
      kg_tetrahedron_point(mesh, (int32_t)e, middle, place);
      x[n] = place[0], y[n] = place[1], z[n] = place[2];
      kg_locate_at(&at, (size_t)n, mesh, (int32_t)e, middle);
      continue;
    }
    const int32_t *v = kg_element_vertices(mesh, (int32_t)e);
    const double *a = mesh->vertices + 2 * (int64_t)v[0], *b = mesh->vertices + 2 * (int64_t)v[1];
    const double *c = mesh->vertices + 2 * (int64_t)v[2];
    x[n] = (a[0] + b[0] + c[0]) / 3.0;
    y[n] = (a[1] + b[1] + c[1]) / 3.0;
    const bool triangle = kg_block_of(mesh, (int32_t)e)->cell == &kg_triangle;
    kg_locate(&at, (size_t)n, mesh, (int32_t)e, triangle ? -1.0 / 3.0 : 1.0 / 3.0, -1.0 / 3.0);
  }
  kedge_points points = kg_located_points(&at, mesh, (size_t)n, x, y);
  if (dimension == 3) points.z = z;
  kg_coefficients_evaluate(&r->equation, &points, value);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k <= numbers; ++k) k_here[k] = value[k * n + i];
    most[0] = fmax(most[0], kg_most_diffusion(dimension, k_here));
    most[1] = fmax(most[1], k_here[numbers]);
  }
}

/// Scale the equation so that numbers kept in single precision stay in its range. Multiplying by
/// powers of four, and by their square roots, is exact: scaling changes no bit of a result. The
/// stabilization is diffusion over a length unless the problem sets it (docs/math.md#units).
static void scale(kg_equation *equation)
{
  const kedge_problem *const problem = equation->problem;
  const kg_resolved *const r = &equation->resolved;
  const double hh = kg_mean_square(equation->mesh), length = kg_stabilization_length(equation);
  const bool given = !(length > 0.0);
  double most[2];
  int exponent;
  largest_coefficients(equation, most);
  frexp(most[0] + most[1] * hh, &exponent);
  const int shift = exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent / 2 * 2;
  const double tau = given ? problem->stabilization : most[0] / length;
  const kg_material material = {ldexp(most[0], shift), ldexp(most[1], shift), ldexp(tau, shift),
                                problem->stabilization_scaling};
  kg_cell_material *const cells = &equation->coefficient.cells;
  equation->scale = ldexp(1.0, shift);
  equation->material = material;
  equation->coefficient.constant = kg_one_material(material);
  equation->coefficient.space.one = kg_space_material_of(material);
  *cells = (kg_cell_material){.diffusion = {material.diffusion, 0.0, material.diffusion},
                              .reaction = material.reaction,
                              .stabilization = material.stabilization,
                              .scaling = material.scaling};
  if (r->equation.n_diffusion == 1 && !r->varies && r->n_materials == 1) return;
  if (!given) cells->length = length;
  if (r->varies) {
    kg_space_material *const one = &equation->coefficient.space.one;  // of the stabilization alone
    one->by_normal = !given;
    if (!given) one->stabilization = 1.0 / length;
    return;
  }
  const double *first = r->by_device ? r->first : kg_material_of(r, 0);
  const kg_material_rule rule = kg_equation_rule(equation, cells->length);
  if (kg_mesh_in_space(equation->mesh)) {
    equation->coefficient.space.one = kg_space_material_by(&rule, first);
    return;
  }
  for (int k = 0; k < 3; ++k) cells->diffusion[k] = ldexp(first[k], shift);
  equation->coefficient.constant = kg_one_material(kg_material_by(&rule, first));
}

kg_material_rule kg_equation_rule(const kg_equation *equation, double length)
{
  return (kg_material_rule){equation->scale, equation->material.stabilization,
                            equation->material.scaling, length};
}

double kg_stabilization_length(const kg_equation *equation)
{
  const kedge_problem *const problem = equation->problem;
  if (problem->stabilization > 0.0) return 0.0;
  if (problem->length > 0.0) return problem->length;
  const double measure = equation->mesh->info.area;
  return kg_mesh_in_space(equation->mesh) ? cbrt(measure) : sqrt(measure);
}

/// Return whether the diffusion tensor is too strong, on elements of a shape, for the adjusted and
/// the exact inverse of the flux's mass matrix. The limit is higher on quadrilaterals that stay
/// trapezoids under refinement: there the weak gradient, used instead of these inverses, loses an
/// order. Its error is `bend` L / h times the error that the mesh explains.
static bool is_strong(const kg_equation *equation, const kg_cell *cell)
{
  const kg_strength *const s = &equation->strength[kg_cell_index(cell)];
  const double lost = s->bend * sqrt((double)equation->mesh->n_elements);
  return s->most > KG_STRONG + (cell == &kg_triangle ? 0.0 : lost);
}

int kg_equation_inverse(const kg_equation *equation, const kg_cell *cell, bool is_affine)
{
  const bool affine = cell == &kg_triangle || is_affine;
  if (equation->problem->inverse != KG_INVERSE_AUTO) return (int)equation->problem->inverse;
  if (is_strong(equation, cell)) return KG_INVERSE_GRADIENT;
  return affine ? KG_INVERSE_ADJUSTED : KG_INVERSE_EXACT;
}

/// Look at a tensor on all elements by quadrature.
static kedge_status find_strength(kedge_context *ctx, kg_equation *equation)
{
  const kedge_mesh *const mesh = equation->mesh;
  const bool any = mesh->geometry > 1 || equation->resolved.varies;
  for (int i = 0; i < KG_CELL_KINDS; ++i) equation->strength[i] = (kg_strength){0};
  if (kg_mesh_in_space(mesh) || equation->resolved.equation.n_diffusion == 1) return KEDGE_OK;
  for (int k = 0; k < mesh->n_blocks; ++k) {
    const kg_block *const block = &mesh->block[k];
    if (any || block->cell == &kg_quadrilateral)
      KG_TRY(kg_strength_find(ctx, mesh, &equation->resolved, block, equation->problem->order,
                              &equation->strength[kg_cell_index(block->cell)]));
  }
  return KEDGE_OK;
}

kedge_status kg_equation_make(kedge_context *ctx, const kedge_mesh *mesh, kg_equation *equation)
{
  equation->mesh = mesh;
  equation->form = &kg_form_elliptic;
  KG_TRY(kg_problem_resolve(ctx, equation->problem, mesh, &equation->resolved));
  KG_TRY(kg_fields_check(ctx, mesh, &equation->resolved, NULL));
  scale(equation);
  return find_strength(ctx, equation);
}
