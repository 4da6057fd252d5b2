// An exact solution that contradicts the boundary values that are given is not the solution of this
// problem, and errors against it say nothing. A few hundred points tell.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/pipeline.h"

enum { SAMPLES = 256 };

/// Beside the largest value, more than rounding and less than a value typed with six digits misses.
#define CONTRADICTION 1e-7

/// Points, and outward normals of the edges they are on.
typedef struct samples {
  int n;
  double x[SAMPLES], y[SAMPLES], normal[SAMPLES][2];
} samples;

/// Points on boundary edges of a group, no vertices and no midpoints, where much vanishes.
/// @param[in] edges  [n_boundary_edges] of the mesh
static void sample_group(const kedge_mesh *mesh, const int32_t *edges, int group, samples *s)
{
  const int64_t stride = (mesh->groups[group].count + SAMPLES - 1) / SAMPLES;
  int64_t of_group = 0;
  s->n = 0;
  for (int32_t i = 0; i < mesh->n_boundary_edges; ++i) {
    if (mesh->edge_group[edges[i]] != group || of_group++ % stride != 0) continue;
    const int32_t side = mesh->edge_sides[2 * (int64_t)edges[i]];
    const int32_t next = side % 3 == 2 ? side - 2 : side + 1;
    const double *p = mesh->vertices + 2 * (int64_t)mesh->element_vertices[side];
    const double *q = mesh->vertices + 2 * (int64_t)mesh->element_vertices[next];
    const double dx = q[0] - p[0], dy = q[1] - p[1], length = hypot(dx, dy);
    s->x[s->n] = p[0] + 0.3 * dx;
    s->y[s->n] = p[1] + 0.3 * dy;
    s->normal[s->n][0] = dy / length;
    s->normal[s->n++][1] = -dx / length;
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
  memset(value[1], 0, n * sizeof **value);
  if (type == KEDGE_BOUNDARY_DIRICHLET) {
    kg_function_evaluate(&problem->exact_u, n, s->x, s->y, value[0]);
    return;
  }
  kg_function_evaluate(&problem->exact_dx, n, s->x, s->y, value[0]);
  kg_function_evaluate(&problem->exact_dy, n, s->x, s->y, value[1]);
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
  kg_function_evaluate(boundary->value, (size_t)s->n, s->x, s->y, given);
  evaluate_exact(problem, boundary->type, s, exact);
  for (int i = 0; i < s->n; ++i) {
    const double value = boundary->type == KEDGE_BOUNDARY_DIRICHLET
                             ? exact[0][i]
                             : exact[0][i] * s->normal[i][0] + exact[1][i] * s->normal[i][1];
    if (isfinite(value)) gap = fmax(gap, fabs(given[i] - value));
  }
  return gap;
}

static void put_note(kedge_solution *s, const kg_group *group, kedge_boundary_type type, double gap)
{
  const size_t length = strlen(s->note);
  snprintf(s->note + length, sizeof s->note - length,
           "%son boundary '%s' the value that is given differs by %.1e from %s of [exact]: errors "
           "are not those of this problem",
           length ? "; " : "", group->name, gap,
           type == KEDGE_BOUNDARY_DIRICHLET ? "u" : "diffusion grad u . n");
}

kedge_status kg_note_contradiction(const kg_pipeline *p)
{
  if (!p->shape.has_exact) return KEDGE_OK;
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
