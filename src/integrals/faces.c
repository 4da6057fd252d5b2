#include "integrals/faces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/loop.h"
#include "problem/face_points.h"

/// The rule of a face, and the faces of sections 3 and 4 of a trace.
typedef struct sampler {
  const kedge_mesh *mesh;
  int32_t *mesh_facet;
  const kedge_problem *problem;
  const kg_resolved *resolved;
  int m;  ///< modes
  kg_face_rule rule;
  double psi[KG_FACE_POINTS * KG_SPACE_FACET_MAX];  ///< [point][m]
} sampler;

/// What is found on a face.
typedef struct sampled {
  kg_face at;
  double g[KG_FACE_POINTS], slope[3][KG_FACE_POINTS];
  double work[KG_FACE_POINTS];
} sampled;

static int group_of(const sampler *s, int32_t i)
{
  return s->mesh->edge_group[s->mesh_facet[i]];
}

static kg_side side_of(const sampler *s, int32_t i)
{
  return s->mesh->edge_sides[2 * (int64_t)s->mesh_facet[i]];
}

/// Robin coefficients; 0 where the condition is another.
static void evaluate_robin(const struct kg_resolved_boundary *boundary, const kedge_points *points,
                           double *a)
{
  if (boundary->coefficient)
    kg_function_evaluate(boundary->coefficient, points, a);
  else
    memset(a, 0, points->n * sizeof *a);
}

/// g: the boundary's own value, or what the exact solution says.
static void evaluate(const sampler *s, const struct kg_resolved_boundary *boundary,
                     const kedge_points *points, sampled *f)
{
  const kedge_problem *const p = s->problem;
  const kg_function *const slopes[3] = {&p->exact_dx, &p->exact_dy, &p->exact_dz};
  if (boundary->value || boundary->type == KEDGE_BOUNDARY_DIRICHLET) {
    kg_function_evaluate(boundary->value ? boundary->value : &p->exact_u, points, f->g);
    return;
  }
  const int n = s->rule.n;
  for (int k = 0; k < 3; ++k) kg_function_evaluate(slopes[k], points, f->slope[k]);
  for (int q = 0; q < n; ++q) f->g[q] = 0.0;
  for (int i = 0, entry = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j, ++entry) {
      const double *const a = f->at.normal[i], *const b = f->at.normal[j];
      kg_function_evaluate(kg_coefficient_number(&s->resolved->equation, entry), points, f->work);
      for (int q = 0; q < n; ++q) {
        const double once = a[q] * f->slope[j][q], turned = b[q] * f->slope[i][q];
        f->g[q] += f->work[q] * (i == j ? once : once + turned);
      }
    }
  if (!boundary->coefficient) return;
  kg_function_evaluate(&p->exact_u, points, f->slope[0]);
  evaluate_robin(boundary, points, f->slope[1]);
  for (int q = 0; q < n; ++q) f->g[q] += f->slope[1][q] * f->slope[0][q];
}

/// @return the first point whose value is not finite; n: there is none
static int first_bad(const sampler *s, const double *values)
{
  int q = 0;
  while (q < s->rule.n && isfinite(values[q])) ++q;
  return q;
}

/// @return as first_bad()
static int project(const sampler *s, int32_t i, sampled *f, double *modes)
{
  const struct kg_resolved_boundary *const boundary = &s->resolved->boundaries[group_of(s, i)];
  const kedge_points points = kg_face_points(s->mesh, &s->rule, side_of(s, i), &f->at);
  evaluate(s, boundary, &points, f);
  const double factor = boundary->type == KEDGE_BOUNDARY_DIRICHLET ? 1.0 : f->at.jacobian;
  for (int k = 0; k < s->m; ++k) modes[k] = 0.0;
  for (int q = 0; q < s->rule.n; ++q)
    for (int k = 0; k < s->m; ++k)
      modes[k] += factor * s->rule.weight[q] * f->g[q] * s->psi[q * s->m + k];
  return first_bad(s, f->g);
}

/// @param[in] what  the value, or the coefficient, with the place of its setting
static kedge_status refuse(kedge_context *ctx, const sampler *s, int32_t i, const char *what,
                           const kg_setting *at, const double *values, const kg_face *face)
{
  const int q = first_bad(s, values);
  return kg_problem_fail(
      ctx, s->problem, at,
      "the %s on boundary %s is %g at x = %.6g, y = %.6g, z = %.6g, in "
      "element %d (from 0); change it so that it is finite on the whole boundary",
      what, s->mesh->groups[group_of(s, i)].name, isnan(values[q]) ? NAN : values[q], face->x[0][q],
      face->x[1][q], face->x[2][q], s->mesh->element_origin[kg_side_element(side_of(s, i))]);
}

static kedge_status sample(kedge_context *ctx, const sampler *s, int32_t count, double *modes)
{
  int32_t bad = count;
#pragma omp parallel for schedule(static) reduction(min    \
                                                    : bad) \
    num_threads(kg_loop_threads(ctx, count, 16 * s->rule.n))
  for (int32_t i = 0; i < count; ++i) {
    sampled f;
    if (project(s, i, &f, modes + (size_t)i * (size_t)s->m) < s->rule.n && i < bad) bad = i;
  }
  if (bad == count) return KEDGE_OK;
  sampled f;
  double again[KG_SPACE_FACET_MAX];
  project(s, bad, &f, again);
  return refuse(ctx, s, bad, "value", s->resolved->boundaries[group_of(s, bad)].at, f.g, &f.at);
}

/// Coefficients of Robin faces, as they are.
static kedge_status sample_robin(kedge_context *ctx, const sampler *s, int32_t count, double *to)
{
  int32_t bad = count;
  const size_t n = (size_t)s->rule.n;
#pragma omp parallel for schedule(static) reduction(min    \
                                                    : bad) \
    num_threads(kg_loop_threads(ctx, count, 4 * s->rule.n))
  for (int32_t i = 0; i < count; ++i) {
    kg_face face;
    double *const values = to + n * (size_t)i;
    const kedge_points points = kg_face_points(s->mesh, &s->rule, side_of(s, i), &face);
    evaluate_robin(&s->resolved->boundaries[group_of(s, i)], &points, values);
    if (first_bad(s, values) < s->rule.n && i < bad) bad = i;
  }
  if (bad == count) return KEDGE_OK;
  kg_face face;
  kg_face_points(s->mesh, &s->rule, side_of(s, bad), &face);
  return refuse(ctx, s, bad, "coefficient",
                s->resolved->boundaries[group_of(s, bad)].coefficient_at, to + n * (size_t)bad,
                &face);
}

/// Make coefficients those of integrals over the faces, and widen their range.
static void finish_robin(const sampler *s, int32_t count, double scale, kg_robin_samples *out)
{
  const int n = s->rule.n;
  kg_face face;
  for (int32_t i = 0; i < count; ++i) {
    double *const a = out->coefficient + (size_t)i * (size_t)n;
    out->side[i] = side_of(s, i);
    kg_face_points(s->mesh, &s->rule, side_of(s, i), &face);
    for (int q = 0; q < n; ++q) {
      if (a[q] < out->range.least) out->range.least = a[q], out->range.least_group = group_of(s, i);
      if (a[q] > out->range.most) out->range.most = a[q], out->range.most_group = group_of(s, i);
      a[q] *= scale * s->rule.weight[q] * face.jacobian;
    }
  }
  memcpy(out->psi, s->psi, (size_t)(n * s->m) * sizeof *out->psi);
}

static void put_modes(int order, sampler *s)
{
  for (int q = 0; q < s->rule.n; ++q) {
    const long double on[2] = {s->rule.on[0][q], s->rule.on[1][q]};
    long double psi[KG_SPACE_FACET_MAX];
    kg_triangle.modes(order, on, psi, NULL);
    for (int k = 0; k < s->m; ++k) s->psi[q * s->m + k] = (double)psi[k];
  }
}

/// @param[out] out  close_sampler()
static kedge_status open_sampler(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kg_trace_layout *layout, const kedge_problem *problem,
                                 const kg_resolved *resolved, sampler **out)
{
  int32_t *mesh_facet;
  KG_TRY(kg_trace_boundary(ctx, layout, &mesh_facet));
  const kedge_status status = kg_host_alloc(ctx, 1, sizeof **out, out);
  if (status != KEDGE_OK) {
    free(mesh_facet);
    return status;
  }
  sampler *const s = *out;
  s->mesh = mesh;
  s->mesh_facet = mesh_facet;
  s->problem = problem;
  s->resolved = resolved;
  s->m = kg_triangle.n_modes(problem->order);
  kg_face_rule_make(kg_boundary_points(problem), &s->rule);
  put_modes(problem->order, s);
  return KEDGE_OK;
}

static void close_sampler(sampler *s)
{
  free(s->mesh_facet);
  free(s);
}

kedge_status kg_sample_faces(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_trace_layout *layout, const kedge_problem *problem,
                             const kg_resolved *resolved, double *modes)
{
  const kg_trace_counts *const n = &layout->count;
  sampler *s;
  KG_TRY(open_sampler(ctx, mesh, layout, problem, resolved, &s));
  const kedge_status status = sample(ctx, s, n->n_edges - (n->n_free - n->n_neumann), modes);
  close_sampler(s);
  return status;
}

kedge_status kg_sample_robin_faces(kedge_context *ctx, const kedge_mesh *mesh,
                                   const kg_trace_layout *layout, const kedge_problem *problem,
                                   const kg_resolved *resolved, double scale, kg_robin_samples *out)
{
  const int32_t n = layout->count.n_neumann;
  sampler *s;
  KG_TRY(open_sampler(ctx, mesh, layout, problem, resolved, &s));
  const kedge_status status = sample_robin(ctx, s, n, out->coefficient);
  if (status == KEDGE_OK) finish_robin(s, n, scale, out);
  close_sampler(s);
  return status;
}
