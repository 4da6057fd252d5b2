// An exact solution that contradicts the source or the boundary values that are given is not the
// solution of this problem, and errors against it say nothing. A few hundred points tell. And where
// errors are small, those of the method may be less than what the iteration leaves.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/looks.h"
#include "diagnose/predicates.h"

/// Sample points on the boundary edges of a group.
/// @param[in] edges  [n_boundary_edges] of the mesh
static void sample_group(const kedge_mesh *mesh, const int32_t *edges, int group, kg_looks *s)
{
  const int64_t stride = (mesh->groups[group].count + KG_LOOKS - 1) / KG_LOOKS;
  int64_t of_group = 0;
  s->n = 0;
  s->near = false;
  s->on_sides = true;
  for (int32_t i = 0; i < mesh->n_boundary_edges; ++i)
    if (mesh->edge_group[edges[i]] == group && of_group++ % stride == 0)
      kg_look_at_side(mesh, mesh->edge_sides[2 * (int64_t)edges[i]], false, s);
}

/// The regions of the elements of an edge differ.
static bool is_between_regions(const kedge_mesh *mesh, int64_t edge)
{
  const kg_side *const side = mesh->edge_sides + 2 * edge;
  return side[1] != KG_NO_SIDE && mesh->element_region[kg_side_element(side[0])] !=
                                      mesh->element_region[kg_side_element(side[1])];
}

/// Sample points on edges between regions, as the elements of both sides see them.
static void sample_interfaces(const kedge_mesh *mesh, kg_looks both[2])
{
  int64_t n = 0, of_all = 0;
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) n += is_between_regions(mesh, edge);
  const int64_t stride = (n + KG_LOOKS - 1) / KG_LOOKS;
  for (int k = 0; k < 2; ++k) both[k] = (kg_looks){.on_sides = true};
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge)
    if (is_between_regions(mesh, edge) && of_all++ % stride == 0)
      for (int k = 0; k < 2; ++k)
        kg_look_at_side(mesh, mesh->edge_sides[2 * edge + k], k == 1, &both[k]);
}

/// u, or the parts of diffusion grad u, of the exact solution.
static void evaluate_exact(const kg_diagnosis *d, kedge_boundary_type type, const kg_looks *s,
                           double value[3][KG_LOOKS])
{
  if (type != KEDGE_BOUNDARY_DIRICHLET) {
    kg_look_at_flux(d, s, value);
    return;
  }
  memset(value[1], 0, 2 * sizeof value[1]);
  kg_look_from_inside(d, &d->problem->exact_u, s, value[0]);
}

/// The size of the exact solution, or of its flux, where it is finite.
static double size_of(const kg_diagnosis *d, kedge_boundary_type type, const kg_looks *s)
{
  double value[3][KG_LOOKS], most = 0.0;
  evaluate_exact(d, type, s, value);
  for (int i = 0; i < s->n; ++i) {
    const double size = hypot(hypot(value[0][i], value[1][i]), value[2][i]);
    if (isfinite(size)) most = fmax(most, size);
  }
  return most;
}

/// What a Robin condition adds to the flux: coefficient u of the exact solution; else 0.
static void evaluate_lost(const kg_diagnosis *d, const struct kg_resolved_boundary *boundary,
                          const kg_looks *s, double *value)
{
  double a[KG_LOOKS];
  memset(value, 0, (size_t)s->n * sizeof *value);
  if (!boundary->coefficient) return;
  kg_look(d, boundary->coefficient, s, a);
  kg_look_from_inside(d, &d->problem->exact_u, s, value);
  for (int i = 0; i < s->n; ++i) value[i] *= a[i];
}

/// What a value that is given differs by from the exact solution.
static void find_gaps(const kg_diagnosis *d, const struct kg_resolved_boundary *boundary,
                      const kg_looks *s, double *gap)
{
  double given[KG_LOOKS], exact[3][KG_LOOKS], lost[KG_LOOKS];
  kg_look(d, boundary->value, s, given);
  evaluate_exact(d, boundary->type, s, exact);
  evaluate_lost(d, boundary, s, lost);
  for (int i = 0; i < s->n; ++i) {
    const double value = boundary->type == KEDGE_BOUNDARY_DIRICHLET
                             ? exact[0][i]
                             : exact[0][i] * s->normal[0][i] + exact[1][i] * s->normal[1][i] +
                                   exact[2][i] * s->normal[2][i] + lost[i];
    gap[i] = given[i] - value;
  }
}

/// The most of that.
static double gap_of(const kg_diagnosis *d, const struct kg_resolved_boundary *boundary,
                     kg_looks *s)
{
  double far[KG_LOOKS], near[KG_LOOKS], most = 0.0;
  find_gaps(d, boundary, s, far);
  s->near = true;
  find_gaps(d, boundary, s, near);
  s->near = false;
  for (int i = 0; i < s->n; ++i) {
    const double gap = fabs(kg_settled(far[i], near[i]));
    if (isfinite(gap)) most = fmax(most, gap);
  }
  return most;
}

/// The most that the source that is given differs from that of the exact solution.
/// @param[in] exact   the latter
/// @param[in] second  [dimension]: second derivatives of the exact solution, xx, yy, zz
/// @param[out] size          of the terms of that, or of a source that would make a u of its size
static double gap_of_source(const kg_diagnosis *d, const kg_function *exact,
                            const kg_function *second, double *size)
{
  kg_looks s;
  kg_look_inside(d->mesh, &s);
  const kg_coefficients *const equation = &d->resolved->equation;
  const int dimension = d->mesh->dimension, numbers = kg_coefficients_numbers(equation);
  double given[KG_LOOKS], other[KG_LOOKS], u[KG_LOOKS], bends[3][KG_LOOKS], gap = 0.0;
  double k[KG_COEFFICIENTS_MAX * KG_LOOKS];
  kg_look_from_inside(d, &d->resolved->equation.source, &s, given);
  kg_look_from_inside(d, exact, &s, other);
  kg_look_from_inside(d, &d->problem->exact_u, &s, u);
  for (int l = 0; l < dimension; ++l) kg_look_from_inside(d, &second[l], &s, bends[l]);
  kg_look_from_inside(d, NULL, &s, k);
  *size = 0.0;
  for (int i = 0; i < s.n; ++i) {
    if (!isfinite(other[i]) || !isfinite(given[i])) continue;
    const double diffusion = kg_largest_entry(equation, k + i, (size_t)s.n);
    const double reaction = k[(numbers - 1) * s.n + i], length = kg_mesh_length(d->mesh);
    double bend = 0.0;
    for (int l = 0; l < dimension; ++l) bend += fabs(bends[l][i]);
    const double terms = reaction * fabs(u[i]) + diffusion * bend;
    *size = fmax(*size, terms + diffusion / (length * length) * fabs(u[i]));
    gap = fmax(gap, fabs(given[i] - other[i]));
  }
  return gap;
}

/// Sources are compared if both are formulas: those of the exact solution have second derivatives.
/// The threshold is more than rounding and less than a value typed with six digits misses.
bool kg_finds_other_source(kg_diagnosis *d)
{
  const kedge_problem *problem = d->problem;
  const kg_function *f = &d->resolved->equation.source;
  const kg_coefficients *equation = &d->resolved->equation;
  if (d->resolved->derives_source) return false;
  if (problem->shift != 0.0) return false;  // the reaction is that of a stage of a step in time
  if (problem->exact_u.kind != KG_FUNCTION_EXPRESSION) return false;
  if (kg_coefficients_of_caller(equation)) return false;
  if (f->kind != KG_FUNCTION_CONSTANT && f->kind != KG_FUNCTION_EXPRESSION) return false;
  const kg_function *const slopes[3] = {&problem->exact_dx, &problem->exact_dy, &problem->exact_dz};
  const int dimension = d->mesh->dimension;
  kg_function exact = {.kind = KG_FUNCTION_EXPRESSION, .t = d->problem->t},
              second[3] = {exact, exact, exact};
  double gap = 0.0, size = 0.0;
  kedge_status status = KEDGE_OK;
  for (int l = 0; status == KEDGE_OK && l < dimension; ++l)
    status =
        kg_expression_differentiate(d->ctx, slopes[l]->expression, "xyz"[l], &second[l].expression);
  if (status == KEDGE_OK)
    status =
        kg_expression_source(d->ctx, problem->exact_u.expression, dimension, equation->n_diffusion,
                             equation->diffusion, &equation->reaction, NULL, &exact.expression);
  if (status == KEDGE_OK) gap = gap_of_source(d, &exact, second, &size);
  kg_expression_free(exact.expression);
  for (int l = 0; l < dimension; ++l) kg_expression_free(second[l].expression);
  d->status = status == KEDGE_ERR_INPUT ? KEDGE_OK : status;  // too long a formula
  kg_say_number(d, "%.1e", gap);
  return gap > d->threshold * size;
}

/// The first boundary whose values are not those of the exact solution.
bool kg_finds_other_boundary(kg_diagnosis *d)
{
  static const char *const names[] = {
      [KEDGE_BOUNDARY_DIRICHLET] = "u",
      [KEDGE_BOUNDARY_NEUMANN] = "diffusion grad u . n",
      [KEDGE_BOUNDARY_ROBIN] = "diffusion grad u . n + coefficient u"};
  const kedge_mesh *mesh = d->mesh;
  kg_looks everywhere, there;
  int32_t *edges;
  bool found = false;
  if (!d->report->has_exact) return false;
  d->status = kg_trace_boundary(d->ctx, d->layout, &edges);
  if (d->status != KEDGE_OK) return false;
  kg_look_inside(mesh, &everywhere);
  for (int g = 0; g < mesh->n_groups && !found; ++g) {
    const struct kg_resolved_boundary *boundary = &d->resolved->boundaries[g];
    if (!kg_is_edge_group(mesh, &mesh->groups[g]) || boundary->value == NULL) continue;
    sample_group(mesh, edges, g, &there);
    const double gap = gap_of(d, boundary, &there);
    double lost[KG_LOOKS], size = size_of(d, boundary->type, &everywhere);
    evaluate_lost(d, boundary, &there, lost);
    for (int i = 0; i < there.n; ++i)
      if (isfinite(lost[i])) size = fmax(size, fabs(lost[i]));
    found = gap > d->threshold * size;
    d->n_words = 0;
    kg_say_word(d, mesh->groups[g].name);
    kg_say_number(d, "%.1e", gap);
    kg_say_word(d, names[boundary->type]);
  }
  free(edges);
  return found;
}

static const char *name_of_region(const kedge_mesh *mesh, double tag)
{
  for (int g = 0; g < mesh->n_groups; ++g)
    if (!kg_is_edge_group(mesh, &mesh->groups[g]) && mesh->groups[g].tag == tag)
      return mesh->groups[g].name;
  return "0";
}

/// What the normal flux of the exact solution differs by between both sides of edges.
static void flux_differences(const kg_diagnosis *d, const kg_looks both[2], double *by)
{
  double flux[2][3][KG_LOOKS];
  for (int k = 0; k < 2; ++k) evaluate_exact(d, KEDGE_BOUNDARY_NEUMANN, &both[k], flux[k]);
  kg_look_flux_jump(&both[0], flux, by);
}

/// Where diffusion jumps and the normal flux of the exact solution does too, its source has a part
/// on these edges, which no function of x and y has.
bool kg_finds_flux_jump(kg_diagnosis *d)
{
  if (!d->report->has_exact || (d->resolved->n_materials == 1 && !d->resolved->varies))
    return false;
  kg_looks everywhere, both[2];
  double far[KG_LOOKS], near[KG_LOOKS], gap = 0.0;
  sample_interfaces(d->mesh, both);
  kg_look_inside(d->mesh, &everywhere);
  double size = size_of(d, KEDGE_BOUNDARY_NEUMANN, &everywhere);
  for (int k = 0; k < 2; ++k) size = fmax(size, size_of(d, KEDGE_BOUNDARY_NEUMANN, &both[k]));
  flux_differences(d, both, far);
  both[0].near = both[1].near = true;
  flux_differences(d, both, near);
  int most = 0;
  for (int i = 0; i < both[0].n; ++i) {
    const double jump = fabs(kg_settled(far[i], near[i]));
    if (!isfinite(jump) || jump <= gap) continue;
    gap = jump;
    most = i;
  }
  if (!(gap > d->threshold * size)) return false;
  kg_say_number(d, "%.1e", gap);
  for (int k = 0; k < 2; ++k) kg_say_word(d, name_of_region(d->mesh, both[k].region[most]));
  return true;
}

/// The L2 norm of the exact solution, from points where it is finite.
static double norm_of_exact(const kg_diagnosis *d)
{
  kg_looks everywhere;
  double u[KG_LOOKS], sum = 0.0;
  int n = 0;
  kg_look_inside(d->mesh, &everywhere);
  kg_look_from_inside(d, &d->problem->exact_u, &everywhere, u);
  for (int i = 0; i < everywhere.n; ++i) {
    if (!isfinite(u[i])) continue;
    sum += u[i] * u[i];
    ++n;
  }
  return n > 0 ? sqrt(d->mesh->info.area * sum / n) : 0.0;
}

/// The least relative residual of which rounding is no part to speak of.
#define NEAR_ROUNDING 1e-13

/// A relative residual leaves about as much in u, and up to twice as much over h in q: where errors
/// are no larger than twice that, they may not be those of the method.
bool kg_finds_small_error(kg_diagnosis *d)
{
  const kedge_report *r = d->report;
  const double left = r->relative_residual * norm_of_exact(d), h = sqrt(d->square);
  const bool q_too = r->q_l2 < 2.0 * d->threshold * left / h;
  kg_say_word(d, q_too ? "the errors of u*, q and the flux" : "the error of u*");
  kg_say_word(d, r->stop == KEDGE_STOP_ROUNDING ? "rounding leaves"
                 : r->relative_residual < NEAR_ROUNDING
                     ? "the iteration or rounding leaves"
                     : "the iteration leaves: a smaller tolerance will tell");
  return r->converged && r->u_star_l2 < d->threshold * left;
}

/// With Jacobi, and with lines on irregular triangles, iterations leave errors up to some hundreds
/// of times as large, in u and u* alike; errors of the method differ between u and u*.
bool kg_finds_small_error_left(kg_diagnosis *d)
{
  const kedge_report *r = d->report;
  const bool alike = fabs(r->u_l2 - r->u_star_l2) < 0.02 * r->u_star_l2;
  return alike && r->stop == KEDGE_STOP_TOLERANCE && !d->has_plain_cycle && kg_finds_small_error(d);
}

/// The norm that moves most.
bool kg_finds_coarse_norms(kg_diagnosis *d)
{
  static const char *const names[] = {"u", "q", "u*", "the flux"};
  int most = 0;
  for (int k = 1; k < KG_NORMS; ++k)
    if (d->norm_moves[k] > d->norm_moves[most]) most = k;
  kg_say_word(d, names[most]);
  kg_say_number(d, "%.0f", 100.0 * d->norm_moves[most]);
  return d->norm_moves[most] > d->threshold;
}
