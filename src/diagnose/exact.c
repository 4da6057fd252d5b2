// An exact solution that contradicts the source or the boundary values that are given is not the
// solution of this problem, and errors against it say nothing. A few hundred points tell. And where
// errors are small, those of the method may be less than what the iteration leaves.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "diagnose/predicates.h"
#include "problem/located.h"

enum { SAMPLES = 256 };

/// Points, and outward normals of the edges they are on.
typedef struct samples {
  int n;
  bool have_normals;
  double x[SAMPLES], y[SAMPLES], normal_x[SAMPLES], normal_y[SAMPLES];
  double region[SAMPLES], r[SAMPLES], s[SAMPLES];
  int32_t element[SAMPLES], place[SAMPLES];
} samples;

static kg_located located_of(samples *s)
{
  return (kg_located){s->region, s->r, s->s, s->element, s->place};
}

static kedge_points points_of(const samples *s, const kedge_mesh *mesh)
{
  return (kedge_points){.n = (size_t)s->n,
                        .x = s->x,
                        .y = s->y,
                        .region = s->region,
                        .mesh = mesh,
                        .element = s->element,
                        .place = s->place,
                        .r = s->r,
                        .s = s->s};
}

static void evaluate(const kg_diagnosis *d, const kg_function *f, const samples *s, double *value)
{
  kedge_points points = points_of(s, d->mesh);
  if (s->have_normals) points.normal_x = s->normal_x, points.normal_y = s->normal_y;
  kg_function_evaluate(f, &points, value);
}

/// Add a point of a side, with the normal out of its element. It avoids vertices and midpoints,
/// where values often vanish.
static void add_side(const kedge_mesh *mesh, kg_side side, samples *s)
{
  double at[2], along[2];
  kg_side_point(mesh, side, -0.4, at, along);
  const double dx = along[0], dy = along[1], length = hypot(dx, dy);
  const kg_located to = located_of(s);
  kg_locate_side(&to, (size_t)s->n, mesh, side, -0.4);
  s->x[s->n] = at[0];
  s->y[s->n] = at[1];
  s->normal_x[s->n] = dy / length;
  s->normal_y[s->n++] = -dx / length;
}

/// Sample points on the boundary edges of a group.
/// @param[in] edges  [n_boundary_edges] of the mesh
static void sample_group(const kedge_mesh *mesh, const int32_t *edges, int group, samples *s)
{
  const int64_t stride = (mesh->groups[group].count + SAMPLES - 1) / SAMPLES;
  int64_t of_group = 0;
  s->n = 0;
  s->have_normals = true;
  for (int32_t i = 0; i < mesh->n_boundary_edges; ++i)
    if (mesh->edge_group[edges[i]] == group && of_group++ % stride == 0)
      add_side(mesh, mesh->edge_sides[2 * (int64_t)edges[i]], s);
}

/// The regions of the elements of an edge differ.
static bool is_between_regions(const kedge_mesh *mesh, int64_t edge)
{
  const kg_side *const side = mesh->edge_sides + 2 * edge;
  return side[1] != KG_NO_SIDE && mesh->element_region[kg_side_element(side[0])] !=
                                      mesh->element_region[kg_side_element(side[1])];
}

/// Sample points on edges between regions, as the elements of both sides see them; the normals are
/// those out of the first.
static void sample_interfaces(const kedge_mesh *mesh, samples both[2])
{
  int64_t n = 0, of_all = 0;
  kg_side others[SAMPLES];
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) n += is_between_regions(mesh, edge);
  const int64_t stride = (n + SAMPLES - 1) / SAMPLES;
  both[0].n = 0;
  both[0].have_normals = true;
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge)
    if (is_between_regions(mesh, edge) && of_all++ % stride == 0) {
      const kg_side *const side = mesh->edge_sides + 2 * edge;
      others[both[0].n] = side[1];
      add_side(mesh, side[0], &both[0]);
    }
  both[1] = both[0];
  const kg_located to = located_of(&both[1]);
  for (int i = 0; i < both[1].n; ++i) kg_locate_side(&to, (size_t)i, mesh, others[i], 0.4);
}

/// Points inside of elements, where little vanishes.
static void sample_inside(const kedge_mesh *mesh, samples *s)
{
  static const double part[3] = {0.5, 0.3, 0.2};
  const int64_t stride = (mesh->n_elements + SAMPLES - 1) / SAMPLES;
  const kg_located to = located_of(s);
  s->n = 0;
  s->have_normals = false;
  for (int64_t e = 0; e < mesh->n_elements; e += stride, ++s->n) {
    s->x[s->n] = s->y[s->n] = 0.0;
    const bool triangle = kg_block_of(mesh, (int32_t)e)->cell == &kg_triangle;
    kg_locate(&to, (size_t)s->n, mesh, (int32_t)e, triangle ? -0.4 : 0.0, -0.6);
    for (int k = 0; k < 3; ++k) {
      const double *v = mesh->vertices + 2 * (int64_t)kg_element_vertices(mesh, (int32_t)e)[k];
      s->x[s->n] += part[k] * v[0];
      s->y[s->n] += part[k] * v[1];
    }
  }
}

/// Diffusion xx, xy, yy and reaction, [4][s->n].
static void coefficients_at(const kg_diagnosis *d, const samples *s, double *value)
{
  const kedge_points points = points_of(s, d->mesh);
  kg_coefficients_evaluate(&d->resolved->equation, &points, value);
}

/// u, or the parts of diffusion grad u, of the exact solution.
static void evaluate_exact(const kg_diagnosis *d, kedge_boundary_type type, const samples *s,
                           double value[2][SAMPLES])
{
  const kedge_problem *problem = d->problem;
  memset(value[1], 0, sizeof value[1]);
  if (type == KEDGE_BOUNDARY_DIRICHLET) {
    evaluate(d, &problem->exact_u, s, value[0]);
    return;
  }
  evaluate(d, &problem->exact_dx, s, value[0]);
  evaluate(d, &problem->exact_dy, s, value[1]);
  double k[4 * SAMPLES];
  coefficients_at(d, s, k);
  for (int i = 0; i < s->n; ++i) {
    const double u_x = value[0][i], u_y = value[1][i];
    value[0][i] = kg_normal_flux(k + i, (size_t)s->n, u_x, u_y, 1.0, 0.0);
    value[1][i] = kg_normal_flux(k + i, (size_t)s->n, u_x, u_y, 0.0, 1.0);
  }
}

/// The size of the exact solution, or of its flux, where it is finite.
static double size_of(const kg_diagnosis *d, kedge_boundary_type type, const samples *s)
{
  double value[2][SAMPLES], most = 0.0;
  evaluate_exact(d, type, s, value);
  for (int i = 0; i < s->n; ++i) {
    const double size = hypot(value[0][i], value[1][i]);
    if (isfinite(size)) most = fmax(most, size);
  }
  return most;
}

/// What a Robin condition adds to the flux: coefficient u of the exact solution; else 0.
static void evaluate_lost(const kg_diagnosis *d, const struct kg_resolved_boundary *boundary,
                          const samples *s, double *value)
{
  double a[SAMPLES];
  memset(value, 0, (size_t)s->n * sizeof *value);
  if (!boundary->coefficient) return;
  evaluate(d, boundary->coefficient, s, a);
  evaluate(d, &d->problem->exact_u, s, value);
  for (int i = 0; i < s->n; ++i) value[i] *= a[i];
}

/// The most that a value that is given differs from the exact solution.
static double gap_of(const kg_diagnosis *d, const struct kg_resolved_boundary *boundary,
                     const samples *s)
{
  double given[SAMPLES], exact[2][SAMPLES], lost[SAMPLES], gap = 0.0;
  evaluate(d, boundary->value, s, given);
  evaluate_exact(d, boundary->type, s, exact);
  evaluate_lost(d, boundary, s, lost);
  for (int i = 0; i < s->n; ++i) {
    const double value =
        boundary->type == KEDGE_BOUNDARY_DIRICHLET
            ? exact[0][i]
            : exact[0][i] * s->normal_x[i] + exact[1][i] * s->normal_y[i] + lost[i];
    if (isfinite(value)) gap = fmax(gap, fabs(given[i] - value));
  }
  return gap;
}

/// The most that the source that is given differs from that of the exact solution.
/// @param[in] exact, xx, yy  the latter; second derivatives of the exact solution
/// @param[out] size          of the terms of that, or of a source that would make a u of its size
static double gap_of_source(const kg_diagnosis *d, const kg_function *exact, const kg_function *xx,
                            const kg_function *yy, double *size)
{
  samples s;
  sample_inside(d->mesh, &s);
  double given[SAMPLES], other[SAMPLES], u[SAMPLES], u_xx[SAMPLES], u_yy[SAMPLES], gap = 0.0;
  double k[4 * SAMPLES];
  evaluate(d, &d->resolved->equation.source, &s, given);
  evaluate(d, exact, &s, other);
  evaluate(d, &d->problem->exact_u, &s, u);
  evaluate(d, xx, &s, u_xx);
  evaluate(d, yy, &s, u_yy);
  coefficients_at(d, &s, k);
  *size = 0.0;
  for (int i = 0; i < s.n; ++i) {
    if (!isfinite(other[i]) || !isfinite(given[i])) continue;
    const double diffusion = fmax(k[i], k[2 * s.n + i]), reaction = k[3 * s.n + i];
    const double terms = reaction * fabs(u[i]) + diffusion * (fabs(u_xx[i]) + fabs(u_yy[i]));
    *size = fmax(*size, terms + diffusion / d->mesh->info.area * fabs(u[i]));
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
  if (problem->exact_u.kind != KG_FUNCTION_EXPRESSION) return false;
  if (kg_coefficients_of_caller(equation)) return false;
  if (f->kind != KG_FUNCTION_CONSTANT && f->kind != KG_FUNCTION_EXPRESSION) return false;
  kg_function xx = {.kind = KG_FUNCTION_EXPRESSION}, yy = xx, exact = xx;
  double gap = 0.0, size = 0.0;
  kedge_status status =
      kg_expression_differentiate(d->ctx, problem->exact_dx.expression, 'x', &xx.expression);
  if (status == KEDGE_OK)
    status = kg_expression_differentiate(d->ctx, problem->exact_dy.expression, 'y', &yy.expression);
  if (status == KEDGE_OK)
    status = kg_expression_source(d->ctx, problem->exact_u.expression, equation->n_diffusion,
                                  equation->diffusion, &equation->reaction, &exact.expression);
  if (status == KEDGE_OK) gap = gap_of_source(d, &exact, &xx, &yy, &size);
  kg_expression_free(exact.expression);
  kg_expression_free(xx.expression);
  kg_expression_free(yy.expression);
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
  samples everywhere, there;
  int32_t *edges;
  bool found = false;
  if (!d->report->has_exact) return false;
  d->status = kg_trace_boundary(d->ctx, d->layout, &edges);
  if (d->status != KEDGE_OK) return false;
  sample_inside(mesh, &everywhere);
  for (int g = 0; g < mesh->n_groups && !found; ++g) {
    const struct kg_resolved_boundary *boundary = &d->resolved->boundaries[g];
    if (mesh->groups[g].dimension != 1 || boundary->value == NULL) continue;
    sample_group(mesh, edges, g, &there);
    const double gap = gap_of(d, boundary, &there);
    double lost[SAMPLES], size = size_of(d, boundary->type, &everywhere);
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
    if (mesh->groups[g].dimension == 2 && mesh->groups[g].tag == tag) return mesh->groups[g].name;
  return "0";
}

/// Where diffusion jumps and the normal flux of the exact solution does too, its source has a part
/// on these edges, which no function of x and y has.
bool kg_finds_flux_jump(kg_diagnosis *d)
{
  if (!d->report->has_exact || (d->resolved->n_materials == 1 && !d->resolved->varies))
    return false;
  samples everywhere, both[2];
  double flux[2][2][SAMPLES], gap = 0.0;
  sample_interfaces(d->mesh, both);
  sample_inside(d->mesh, &everywhere);
  double size = size_of(d, KEDGE_BOUNDARY_NEUMANN, &everywhere);
  for (int k = 0; k < 2; ++k) {
    evaluate_exact(d, KEDGE_BOUNDARY_NEUMANN, &both[k], flux[k]);
    size = fmax(size, size_of(d, KEDGE_BOUNDARY_NEUMANN, &both[k]));
  }
  int most = 0;
  for (int i = 0; i < both[0].n; ++i) {
    const double jump = fabs((flux[0][0][i] - flux[1][0][i]) * both[0].normal_x[i] +
                             (flux[0][1][i] - flux[1][1][i]) * both[0].normal_y[i]);
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
  samples everywhere;
  double u[SAMPLES], sum = 0.0;
  int n = 0;
  sample_inside(d->mesh, &everywhere);
  evaluate(d, &d->problem->exact_u, &everywhere, u);
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
