#include "integrals/faces.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "problem/located.h"

enum { FACE_POINTS = KG_QUADRATURE_MAX * KG_QUADRATURE_MAX };

/// The rule of a face, and the faces of sections 3 and 4 of a trace.
typedef struct sampler {
  const kedge_mesh *mesh;
  const int32_t *mesh_facet;
  const kedge_problem *problem;
  const kg_resolved *resolved;
  int n, m;                               ///< points, modes
  const double *weight, *psi;             ///< [point], [point][m]
  const double (*place)[FACE_POINTS][3];  ///< [facet][point]: in the reference tetrahedron
} sampler;

/// What is found on a face.
typedef struct face {
  double x[3][FACE_POINTS], normal[3][FACE_POINTS], located[KG_LOCATED * FACE_POINTS];
  double g[FACE_POINTS], slope[3][FACE_POINTS];
  double jacobian;  ///< area over that of the reference face
} face;

/// The area of a face, as a multiple of the reference face's, and its outward normal.
static double put_normal(const double corner[4][3], int l, double normal[3])
{
  const int *const c = kg_tetrahedron.facet_corner[l];
  double a[3], b[3], inward = 0.0;
  for (int k = 0; k < 3; ++k) {
    a[k] = corner[c[1]][k] - corner[c[0]][k];
    b[k] = corner[c[2]][k] - corner[c[0]][k];
  }
  for (int k = 0; k < 3; ++k) {
    normal[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    inward += normal[k] * (corner[l][k] - corner[c[0]][k]);
  }
  const double length = hypot(hypot(normal[0], normal[1]), normal[2]);
  for (int k = 0; k < 3; ++k) normal[k] *= (inward > 0.0 ? -1.0 : 1.0) / length;
  return 0.25 * length;  // the area is length / 2, that of the reference face 2
}

static kedge_points put_points(const sampler *s, kg_side side, face *f)
{
  const int32_t element = kg_side_element(side), *v = kg_element_vertices(s->mesh, element);
  const int l = kg_side_facet(side);
  const kg_located at = kg_located_in(f->located, FACE_POINTS);
  double corner[4][3], normal[3];
  for (int c = 0; c < 4; ++c)
    for (int k = 0; k < 3; ++k) corner[c][k] = s->mesh->vertices[3 * (int64_t)v[c] + k];
  f->jacobian = put_normal(corner, l, normal);
  for (int q = 0; q < s->n; ++q) {
    const double *const r = s->place[l][q];
    const double share[4] = {-0.5 * (1.0 + r[0] + r[1] + r[2]), 0.5 * (1.0 + r[0]),
                             0.5 * (1.0 + r[1]), 0.5 * (1.0 + r[2])};
    for (int k = 0; k < 3; ++k) {
      f->x[k][q] = 0.0;
      for (int c = 0; c < 4; ++c) f->x[k][q] += share[c] * corner[c][k];
      f->normal[k][q] = normal[k];
    }
    kg_locate_at(&at, (size_t)q, s->mesh, element, r);
  }
  kedge_points points = kg_located_points(&at, s->mesh, (size_t)s->n, f->x[0], f->x[1]);
  points.z = f->x[2];
  points.normal_x = f->normal[0];
  points.normal_y = f->normal[1];
  points.normal_z = f->normal[2];
  return points;
}

/// g: the boundary's own value, or what the exact solution says.
static void evaluate(const sampler *s, const struct kg_resolved_boundary *boundary,
                     const kedge_points *points, face *f)
{
  const kedge_problem *const p = s->problem;
  const kg_function *const slopes[3] = {&p->exact_dx, &p->exact_dy, &p->exact_dz};
  if (boundary->value || boundary->type == KEDGE_BOUNDARY_DIRICHLET) {
    kg_function_evaluate(boundary->value ? boundary->value : &p->exact_u, points, f->g);
    return;
  }
  for (int k = 0; k < 3; ++k) kg_function_evaluate(slopes[k], points, f->slope[k]);
  double kappa[FACE_POINTS];
  kg_function_evaluate(&s->resolved->equation.diffusion[0], points, kappa);
  for (int q = 0; q < s->n; ++q) {
    f->g[q] = 0.0;
    for (int k = 0; k < 3; ++k) f->g[q] += kappa[q] * f->normal[k][q] * f->slope[k][q];
  }
}

/// @return the first point whose value is not finite; n: there is none
static int project(const sampler *s, int32_t i, face *f, double *modes)
{
  const int32_t facet = s->mesh_facet[i];
  const struct kg_resolved_boundary *const boundary =
      &s->resolved->boundaries[s->mesh->edge_group[facet]];
  const kedge_points points = put_points(s, s->mesh->edge_sides[2 * (int64_t)facet], f);
  evaluate(s, boundary, &points, f);
  const double factor = boundary->type == KEDGE_BOUNDARY_DIRICHLET ? 1.0 : f->jacobian;
  int bad = s->n;
  for (int k = 0; k < s->m; ++k) modes[k] = 0.0;
  for (int q = 0; q < s->n; ++q) {
    if (bad == s->n && !isfinite(f->g[q])) bad = q;
    for (int k = 0; k < s->m; ++k)
      modes[k] += factor * s->weight[q] * f->g[q] * s->psi[q * s->m + k];
  }
  return bad;
}

static kedge_status refuse(kedge_context *ctx, const sampler *s, int32_t i)
{
  face f;
  double modes[KG_SPACE_FACET_MAX];
  const int32_t facet = s->mesh_facet[i];
  const int group = s->mesh->edge_group[facet], q = project(s, i, &f, modes);
  const kg_side side = s->mesh->edge_sides[2 * (int64_t)facet];
  return kg_problem_fail(
      ctx, s->problem, s->resolved->boundaries[group].at,
      "the value on boundary %s is %g at x = %.6g, y = %.6g, z = %.6g, in "
      "element %d (from 0); change it so that it is finite on the whole boundary",
      s->mesh->groups[group].name, isnan(f.g[q]) ? NAN : f.g[q], f.x[0][q], f.x[1][q], f.x[2][q],
      s->mesh->element_origin[kg_side_element(side)]);
}

static kedge_status sample(kedge_context *ctx, const sampler *s, int32_t count, double *modes)
{
  int32_t bad = count;
#pragma omp parallel for schedule(static) reduction(min    \
                                                    : bad) \
    num_threads(kg_loop_threads(ctx, count, 16 * s->n))
  for (int32_t i = 0; i < count; ++i) {
    face f;
    if (project(s, i, &f, modes + (size_t)i * (size_t)s->m) < s->n && i < bad) bad = i;
  }
  return bad == count ? KEDGE_OK : refuse(ctx, s, bad);
}

/// The rule's points on each facet of the reference tetrahedron, weights and modes.
typedef struct tables {
  double place[4][FACE_POINTS][3], weight[FACE_POINTS], psi[FACE_POINTS * KG_SPACE_FACET_MAX];
  long double at[2][FACE_POINTS], w[FACE_POINTS];
} tables;

static void fill(int rows, int order, tables *t)
{
  const int n = rows * rows, m = kg_triangle.n_modes(order);
  kg_triangle.rule(rows, (long double *const[]){t->at[0], t->at[1]}, t->w);
  for (int q = 0; q < n; ++q) {
    const long double on[2] = {t->at[0][q], t->at[1][q]};
    long double psi[KG_SPACE_FACET_MAX], place[3];
    kg_triangle.modes(order, on, psi, NULL);
    t->weight[q] = (double)t->w[q];
    for (int k = 0; k < m; ++k) t->psi[q * m + k] = (double)psi[k];
    for (int l = 0; l < 4; ++l) {
      kg_cell_on_facet(&kg_tetrahedron, l, on, place);
      for (int k = 0; k < 3; ++k) t->place[l][q][k] = (double)place[k];
    }
  }
}

kedge_status kg_sample_faces(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_trace_layout *layout, const kedge_problem *problem,
                             const kg_resolved *resolved, double *modes)
{
  const kg_trace_counts *const n = &layout->count;
  const int rows = kg_boundary_points(problem), order = problem->order;
  int32_t *mesh_facet;
  tables *t;
  KG_TRY(kg_trace_boundary(ctx, layout, &mesh_facet));
  kedge_status status = kg_host_alloc(ctx, 1, sizeof *t, &t);
  if (status == KEDGE_OK) {
    fill(rows, order, t);
    const sampler s = {mesh,      mesh_facet,  problem,
                       resolved,  rows * rows, kg_triangle.n_modes(order),
                       t->weight, t->psi,      (const double(*)[FACE_POINTS][3])t->place};
    status = sample(ctx, &s, n->n_edges - (n->n_free - n->n_neumann), modes);
  }
  free(t);
  free(mesh_facet);
  return status;
}
