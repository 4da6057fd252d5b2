// An exact solution that contradicts the source or the boundary values that are given is not the
// solution of this problem, and errors against it say nothing. A few hundred points tell. And where
// errors are small, those of the method may be less than what the iteration leaves.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/pipeline.h"

enum { SAMPLES = 256 };

/// Beside the largest value, more than rounding and less than a value typed with six digits misses.
#define CONTRADICTION 1e-7

/// Points, and outward normals of the edges they are on.
typedef struct samples {
  int n;
  double x[SAMPLES], y[SAMPLES], normal_x[SAMPLES], normal_y[SAMPLES];
} samples;

static kedge_points points_of(const samples *s)
{
  return (kedge_points){(size_t)s->n, s->x, s->y, s->normal_x, s->normal_y};
}

/// Points on boundary edges of a group, no vertices and no midpoints, where much vanishes.
/// @param[in] edges  [n_boundary_edges] of the mesh
static void sample_group(const kedge_mesh *mesh, const int32_t *edges, int group, samples *s)
{
  const int64_t stride = (mesh->groups[group].count + SAMPLES - 1) / SAMPLES;
  int64_t of_group = 0;
  s->n = 0;
  for (int32_t i = 0; i < mesh->n_boundary_edges; ++i) {
    if (mesh->edge_group[edges[i]] != group || of_group++ % stride != 0) continue;
    int32_t ends[2];
    kg_side_ends(mesh, mesh->edge_sides[2 * (int64_t)edges[i]], ends);
    const double *p = mesh->vertices + 2 * (int64_t)ends[0];
    const double *q = mesh->vertices + 2 * (int64_t)ends[1];
    const double dx = q[0] - p[0], dy = q[1] - p[1], length = hypot(dx, dy);
    s->x[s->n] = p[0] + 0.3 * dx;
    s->y[s->n] = p[1] + 0.3 * dy;
    s->normal_x[s->n] = dy / length;
    s->normal_y[s->n++] = -dx / length;
  }
}

/// Vertices of the whole mesh.
static void sample_mesh(const kedge_mesh *mesh, samples *s)
{
  const int64_t stride = (mesh->n_vertices + SAMPLES - 1) / SAMPLES;
  s->n = 0;
  for (int64_t v = 0; v < mesh->n_vertices; v += stride) {
    s->x[s->n] = mesh->vertices[2 * v];
    s->y[s->n++] = mesh->vertices[2 * v + 1];
  }
}

/// u, or the parts of diffusion grad u, of the exact solution.
static void evaluate_exact(const kedge_problem *problem, kedge_boundary_type type, const samples *s,
                           double value[2][SAMPLES])
{
  const size_t n = (size_t)s->n;
  const kedge_points points = points_of(s);
  memset(value[1], 0, n * sizeof **value);
  if (type == KEDGE_BOUNDARY_DIRICHLET) {
    kg_function_evaluate(&problem->exact_u, &points, value[0]);
    return;
  }
  kg_function_evaluate(&problem->exact_dx, &points, value[0]);
  kg_function_evaluate(&problem->exact_dy, &points, value[1]);
  for (size_t i = 0; i < n; ++i)
    for (int k = 0; k < 2; ++k) value[k][i] *= problem->diffusion;
}

/// The size of the exact solution, or of its flux, where it is finite.
static double size_of(const kedge_problem *problem, kedge_boundary_type type, const samples *s)
{
  double value[2][SAMPLES], most = 0.0;
  evaluate_exact(problem, type, s, value);
  for (int i = 0; i < s->n; ++i) {
    const double size = hypot(value[0][i], value[1][i]);
    if (isfinite(size)) most = fmax(most, size);
  }
  return most;
}

/// The most that a value that is given differs from the exact solution.
static double gap_of(const kedge_problem *problem, const struct kg_resolved_boundary *boundary,
                     const samples *s)
{
  double given[SAMPLES], exact[2][SAMPLES], gap = 0.0;
  const kedge_points points = points_of(s);
  kg_function_evaluate(boundary->value, &points, given);
  evaluate_exact(problem, boundary->type, s, exact);
  for (int i = 0; i < s->n; ++i) {
    const double value = boundary->type == KEDGE_BOUNDARY_DIRICHLET
                             ? exact[0][i]
                             : exact[0][i] * s->normal_x[i] + exact[1][i] * s->normal_y[i];
    if (isfinite(value)) gap = fmax(gap, fabs(given[i] - value));
  }
  return gap;
}

/// Points inside of triangles, where little vanishes.
static void sample_inside(const kedge_mesh *mesh, samples *s)
{
  static const double part[3] = {0.5, 0.3, 0.2};
  const int64_t stride = (mesh->n_elements + SAMPLES - 1) / SAMPLES;
  s->n = 0;
  for (int64_t e = 0; e < mesh->n_elements; e += stride, ++s->n) {
    s->x[s->n] = s->y[s->n] = 0.0;
    for (int k = 0; k < 3; ++k) {
      const double *v = mesh->vertices + 2 * (int64_t)kg_element_vertices(mesh, (int32_t)e)[k];
      s->x[s->n] += part[k] * v[0];
      s->y[s->n] += part[k] * v[1];
    }
  }
}

/// The most that the source that is given differs from that of the exact solution; 0 where this is
/// little beside the terms of that, or beside a source that would make a u of its size.
/// @param[in] xx, yy  second derivatives of the exact solution
static double gap_of_source(const kg_pipeline *p, const kg_function *xx, const kg_function *yy,
                            const samples *s)
{
  const kedge_problem *problem = p->problem;
  const double diffusion = problem->diffusion, reaction = problem->reaction;
  const kedge_points points = {.n = (size_t)s->n, .x = s->x, .y = s->y};
  double given[SAMPLES], u[SAMPLES], u_xx[SAMPLES], u_yy[SAMPLES], gap = 0.0, size = 0.0;
  kg_function_evaluate(&problem->source, &points, given);
  kg_function_evaluate(&problem->exact_u, &points, u);
  kg_function_evaluate(xx, &points, u_xx);
  kg_function_evaluate(yy, &points, u_yy);
  for (int i = 0; i < s->n; ++i) {
    const double exact = reaction * u[i] - diffusion * (u_xx[i] + u_yy[i]);
    if (!isfinite(exact) || !isfinite(given[i])) continue;
    const double terms = reaction * fabs(u[i]) + diffusion * (fabs(u_xx[i]) + fabs(u_yy[i]));
    size = fmax(size, terms + diffusion / p->mesh->info.area * fabs(u[i]));
    gap = fmax(gap, fabs(given[i] - exact));
  }
  return gap > CONTRADICTION * size ? gap : 0.0;
}

/// Compares the source with that of the exact solution, if both are formulas: those of the exact
/// solution have second derivatives.
/// @param[out] gap  0: they agree, or cannot be compared
static kedge_status compare_sources(const kg_pipeline *p, double *gap)
{
  const kedge_problem *problem = p->problem;
  const bool given = problem->source.kind == KG_FUNCTION_CONSTANT ||
                     problem->source.kind == KG_FUNCTION_EXPRESSION;
  kg_function xx = {.kind = KG_FUNCTION_EXPRESSION}, yy = xx;
  samples inside;
  *gap = 0.0;
  if (!given || problem->exact_u.kind != KG_FUNCTION_EXPRESSION) return KEDGE_OK;
  kedge_status status =
      kg_expression_differentiate(p->ctx, problem->exact_dx.expression, 'x', &xx.expression);
  if (status == KEDGE_OK)
    status = kg_expression_differentiate(p->ctx, problem->exact_dy.expression, 'y', &yy.expression);
  if (status == KEDGE_OK) {
    sample_inside(p->mesh, &inside);
    *gap = gap_of_source(p, &xx, &yy, &inside);
  }
  kg_expression_free(xx.expression);
  kg_expression_free(yy.expression);
  return status == KEDGE_ERR_INPUT ? KEDGE_OK : status;  // too long a formula
}

static void put_source_note(kedge_solution *s, double gap)
{
  kg_note_add(
      s,
      "the source that is given differs by %.1e from -div(diffusion grad u) + reaction u of "
      "[exact]: errors are not those of this problem",
      gap);
}

static void put_note(kedge_solution *s, const kg_group *group, kedge_boundary_type type, double gap)
{
  kg_note_add(s,
              "on boundary '%s' the value that is given differs by %.1e from %s of [exact]: errors "
              "are not those of this problem",
              group->name, gap, type == KEDGE_BOUNDARY_DIRICHLET ? "u" : "diffusion grad u . n");
}

kedge_status kg_note_contradiction(const kg_pipeline *p)
{
  if (!p->shape.choice.wants_errors) return KEDGE_OK;
  double of_source;
  KG_TRY(compare_sources(p, &of_source));
  if (of_source > 0.0) {
    put_source_note(p->solution, of_source);
    return KEDGE_OK;
  }
  const kedge_mesh *mesh = p->mesh;
  samples everywhere, there;
  int32_t *edges;
  sample_mesh(mesh, &everywhere);
  KG_TRY(kg_trace_boundary(p->ctx, &p->layout, &edges));
  for (int g = 0; g < mesh->n_groups; ++g) {
    const struct kg_resolved_boundary *boundary = &p->resolved.boundaries[g];
    if (mesh->groups[g].dimension != 1 || boundary->value == NULL) continue;
    sample_group(mesh, edges, g, &there);
    const double gap = gap_of(p->problem, boundary, &there);
    if (gap <= CONTRADICTION * size_of(p->problem, boundary->type, &everywhere)) continue;
    put_note(p->solution, &mesh->groups[g], boundary->type, gap);
    break;
  }
  free(edges);
  return KEDGE_OK;
}

/// The L2 norm of the exact solution, from vertices where it is finite.
static double norm_of_exact(const kg_pipeline *p)
{
  samples everywhere;
  double u[SAMPLES], sum = 0.0;
  int n = 0;
  sample_mesh(p->mesh, &everywhere);
  kg_function_evaluate(
      &p->problem->exact_u,
      &(kedge_points){.n = (size_t)everywhere.n, .x = everywhere.x, .y = everywhere.y}, u);
  for (int i = 0; i < everywhere.n; ++i) {
    if (!isfinite(u[i])) continue;
    sum += u[i] * u[i];
    ++n;
  }
  return n > 0 ? sqrt(p->mesh->info.area * sum / n) : 0.0;
}

/// The least relative residual of which rounding is no part to speak of.
#define NEAR_ROUNDING 1e-13

/// Whether conjugate gradients with this preconditioner may leave more in u than the residual says.
static bool leaves_more(const kg_shape *s)
{
  return s->choice.precond == KG_JACOBI || s->choice.steps == 0 ||
         kg_smoother_has_lines(s->choice.smoother);
}

/// A relative residual leaves about as much in u: where the error is no larger than twice that, it
/// may not be the error of the method. Jacobi, and lines on irregular triangles, leave up to
/// some hundreds of times as much, in u and u* alike; those of the method differ.
static bool may_be_of_iteration(const kg_pipeline *p, const kedge_report *report)
{
  const double left = report->relative_residual * norm_of_exact(p), error = report->u_star_l2;
  const bool alike = fabs(report->u_l2 - error) < 0.02 * error;
  const bool more = alike && report->stop == KEDGE_STOP_TOLERANCE && leaves_more(&p->shape);
  return error < (more ? 1e3 : 2.0) * left;
}

void kg_note_small_error(const kg_pipeline *p)
{
  kedge_solution *s = p->solution;
  const kedge_report *report = &s->report;
  if (!report->converged) return;  // which is said
  if (!may_be_of_iteration(p, report)) return;
  kg_note_add(s, "the error of u* may be what %s",
              report->stop == KEDGE_STOP_ROUNDING ? "rounding leaves"
              : report->relative_residual < NEAR_ROUNDING
                  ? "the iteration or rounding leaves"
                  : "the iteration leaves: a smaller tolerance "
                    "will tell");
}
