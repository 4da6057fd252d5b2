#include "integrals/faces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/quadrature.h"
#include "basis/roughness.h"
#include "core/memory.h"
#include "device/loop.h"
#include "integrals/element.h"
#include "integrals/refined.h"
#include "problem/face_points.h"

/// The rule of a face, and the faces of sections 3 and 4 of a trace.
typedef struct sampler {
  const kedge_mesh *mesh;
  int32_t *mesh_facet;
  const kedge_problem *problem;
  const kg_resolved *resolved;
  int m;  ///< modes
  kg_face_rule rule;
  int rows;                                                      ///< of the rule
  double top[KG_QUADRATURE_MAX], top_of_row[KG_QUADRATURE_MAX];  ///< kg_roughness_top()
  double *size, *rough;  ///< [face of sections 3 and 4]: kg_roughness
  bool robin;            ///< coefficients of Robin faces in place of values
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

static const struct kg_resolved_boundary *condition_of(const sampler *s, int32_t i)
{
  return &s->resolved->boundaries[group_of(s, i)];
}

/// What integrals over a face are multiplied by: those of a projection are in its parameters.
static double factor_of(const sampler *s, int32_t i, const kg_face *f)
{
  return condition_of(s, i)->type == KEDGE_BOUNDARY_DIRICHLET ? 1.0 : f->jacobian;
}

/// How rough values at the points of the rule are.
static kg_roughness roughness_of(const sampler *s, double factor, const double *values)
{
  double weighted[KG_QUADRATURE_MAX];
  kg_roughness of = {0};
  for (int row = 0; row < s->rows; ++row) {
    for (int a = 0; a < s->rows; ++a) {
      const int q = row * s->rows + a;
      weighted[a] = factor * s->rule.weight[q] * values[q];
    }
    kg_roughness_add(s->rows, s->top, s->top_of_row[row], weighted, 1, &of);
  }
  return of;
}

static void note_roughness(const sampler *s, int32_t i, double factor, const double *values)
{
  const kg_roughness of = roughness_of(s, factor, values);
  s->size[i] = of.size;
  s->rough[i] = of.along + fabs(of.across);
}

/// @return as first_bad()
static int project(const sampler *s, int32_t i, sampled *f, double *modes)
{
  const kedge_points points = kg_face_points(s->mesh, &s->rule, side_of(s, i), &f->at);
  evaluate(s, condition_of(s, i), &points, f);
  const double factor = factor_of(s, i, &f->at);
  note_roughness(s, i, factor, f->g);
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
    evaluate_robin(condition_of(s, i), &points, values);
    note_roughness(s, i, face.jacobian, values);
    if (first_bad(s, values) < s->rule.n && i < bad) bad = i;
  }
  if (bad == count) return KEDGE_OK;
  kg_face face;
  kg_face_points(s->mesh, &s->rule, side_of(s, bad), &face);
  return refuse(ctx, s, bad, "coefficient",
                s->resolved->boundaries[group_of(s, bad)].coefficient_at, to + n * (size_t)bad,
                &face);
}

/// Scale the values of Robin coefficients on faces to integrals over them, and note the least and
/// the largest.
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
  double x[KG_GAUSS_MAX], w[KG_GAUSS_MAX];
  kg_gauss_jacobi(s->rows, 0, x, w);
  kg_roughness_top(s->rows, x, w, s->top);
  kg_gauss_jacobi(s->rows, 1, x, w);
  kg_roughness_top(s->rows, x, w, s->top_of_row);
  for (int q = 0; q < s->rule.n; ++q) {
    const long double on[2] = {s->rule.on[0][q], s->rule.on[1][q]};
    long double psi[KG_SPACE_FACET_MAX];
    kg_triangle.modes(order, on, psi, NULL);
    for (int k = 0; k < s->m; ++k) s->psi[q * s->m + k] = (double)psi[k];
  }
}

static void close_sampler(sampler *s)
{
  free(s->mesh_facet);
  free(s->size);
  free(s);
}

/// @param[in]  count  faces that are sampled
/// @param[out] out    close_sampler()
static kedge_status open_sampler(kedge_context *ctx, const kedge_mesh *mesh,
                                 const kg_trace_layout *layout, const kedge_problem *problem,
                                 const kg_resolved *resolved, int32_t count, sampler **out)
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
  s->rows = kg_boundary_points(problem);
  s->robin = false;
  s->size = NULL;
  kg_face_rule_make(s->rows, &s->rule);
  put_modes(problem->order, s);
  const kedge_status has_room = kg_host_alloc(ctx, 2 * (size_t)count, sizeof *s->size, &s->size);
  if (has_room == KEDGE_OK)
    s->rough = s->size + count;
  else
    close_sampler(s);
  return has_room;
}

/// Point q of the rule in a part of the reference face.
static void point_of_part(const sampler *s, const kg_part *part, int q, long double on[2])
{
  const double(*const c)[3] = part->corner;
  const double a = 0.5 * (1.0 + s->rule.on[0][q]), b = 0.5 * (1.0 + s->rule.on[1][q]);
  for (int k = 0; k < 2; ++k) on[k] = c[0][k] + a * (c[1][k] - c[0][k]) + b * (c[2][k] - c[0][k]);
}

/// The integrals over a part of a face.
static kg_roughness sum_part(const sampler *s, int32_t face, const kg_part *part, double *sums)
{
  const double(*const c)[3] = part->corner;
  const double share = 0.25 * fabs((c[1][0] - c[0][0]) * (c[2][1] - c[0][1]) -
                                   (c[1][1] - c[0][1]) * (c[2][0] - c[0][0]));
  const kg_side side = side_of(s, face);
  double place[KG_FACE_POINTS][3];
  long double on[2], at[3], psi[KG_SPACE_FACET_MAX];
  sampled f;
  for (int q = 0; q < s->rule.n; ++q) {
    point_of_part(s, part, q, on);
    kg_cell_on_facet(&kg_tetrahedron, kg_side_facet(side), on, at);
    for (int k = 0; k < 3; ++k) place[q][k] = (double)at[k];
  }
  const kedge_points points =
      kg_face_points_at(s->mesh, s->rule.n, (const double(*)[3])place, side, &f.at);
  if (s->robin)
    evaluate_robin(condition_of(s, face), &points, f.g);
  else
    evaluate(s, condition_of(s, face), &points, &f);
  const double factor = share * factor_of(s, face, &f.at);
  for (int q = 0; q < s->rule.n; ++q) {
    point_of_part(s, part, q, on);
    kg_triangle.modes(s->problem->order, on, psi, NULL);
    for (int k = 0; k < s->m; ++k) sums[k] += factor * s->rule.weight[q] * f.g[q] * (double)psi[k];
  }
  return roughness_of(s, factor, f.g);
}

static void sum_parts(const void *user, int32_t item, int n_parts, const kg_part *parts,
                      double *sums, double *size, double *rough)
{
  const sampler *const s = user;
  memset(sums, 0, (size_t)(n_parts * s->m) * sizeof *sums);
  for (int k = 0; k < n_parts; ++k) {
    const kg_roughness of = sum_part(s, item, &parts[k], sums + k * s->m);
    size[k] = of.size;
    rough[k] = of.along + fabs(of.across);
  }
}

static kg_part_shape shape_of(const void *user, int32_t item)
{
  (void)user, (void)item;
  return KG_PART_TRIANGLE;
}

/// An edge of a face.
typedef struct rim {
  int32_t low, high, face;
} rim;

/// Faces of one kind of condition, by their edges.
typedef struct surface {
  const sampler *s;
  int32_t n;
  rim *rims;  ///< [n], ascending
} surface;

static int compare_rims(const void *a, const void *b)
{
  const rim *const x = a, *const y = b;
  if (x->low != y->low) return (x->low > y->low) - (x->low < y->low);
  if (x->high != y->high) return (x->high > y->high) - (x->high < y->high);
  return (x->face > y->face) - (x->face < y->face);
}

static void rims_of(const sampler *s, int32_t face, rim rims[3])
{
  int32_t v[3];
  kg_side_corners(s->mesh, side_of(s, face), v);
  for (int l = 0; l < 3; ++l) {
    const int32_t a = v[l], b = v[(l + 1) % 3];
    rims[l] = (rim){a < b ? a : b, a < b ? b : a, face};
  }
}

static int find_neighbours(const void *user, int32_t item, int32_t to[KG_FACETS_MAX])
{
  const surface *const of = user;
  rim own[3];
  int n = 0;
  rims_of(of->s, item, own);
  for (int l = 0; l < 3; ++l) {
    const rim *const found = bsearch(&own[l], of->rims, (size_t)of->n, sizeof own[l], compare_rims);
    for (int step = -1; found && step <= 1; step += 2) {
      const ptrdiff_t at = found - of->rims + step;
      if (at < 0 || at >= of->n || n == KG_FACETS_MAX) continue;
      const rim *const other = &of->rims[at];
      if (other->low == own[l].low && other->high == own[l].high) to[n++] = other->face;
    }
  }
  return n;
}

/// What values that are derived may have of rounding, of a face: those of u, or of its flux.
static double rounding_of(const sampler *s, int32_t face, const double exact[2])
{
  const struct kg_resolved_boundary *const boundary = condition_of(s, face);
  if (s->robin || boundary->value) return 0.0;
  if (boundary->type == KEDGE_BOUNDARY_DIRICHLET) return kg_triangle.measure * exact[0];
  return kg_space_area(s->mesh, s->mesh_facet[face]) * exact[1];
}

/// Look for the faces of a condition whose values are rough.
/// @param[out] faces  [n]: they
/// @param[out] all    the sum of the sizes of all
static kedge_status open_surface(kedge_context *ctx, const sampler *s, int32_t count,
                                 kedge_boundary_type type, int32_t *n, int32_t *faces, double *all,
                                 surface *out)
{
  double exact[2] = {0.0, 0.0};
  *out = (surface){.s = s};
  *n = 0;
  *all = 0.0;
  if (s->problem->exact_u.kind != KG_FUNCTION_NONE)
    kg_exact_rounding(s->mesh, &s->problem->exact_u, &s->resolved->equation, exact);
  for (int32_t i = 0; i < count; ++i) {
    const kg_roughness of = {.size = s->size[i], .along = s->rough[i]};
    const double rounding = rounding_of(s, i, exact);
    if (condition_of(s, i)->type != type) continue;
    *all += fmax(of.size, rounding);
    if (kg_is_rough(&of, rounding)) faces[(*n)++] = i;
  }
  if (*n == 0) return KEDGE_OK;
  KG_TRY(kg_host_alloc(ctx, 3 * (size_t)count, sizeof *out->rims, &out->rims));
  for (int32_t i = 0; i < count; ++i) {
    if (condition_of(s, i)->type != type) continue;
    rims_of(s, i, out->rims + out->n);
    out->n += 3;
  }
  qsort(out->rims, (size_t)out->n, sizeof *out->rims, compare_rims);
  return KEDGE_OK;
}

static void note_moves(const sampler *s, const kg_refined *refined, double all,
                       kg_boundary_moves *moves)
{
  const double whole = fmax(all, refined->size);
  const double left = refined->left > 0.0 ? refined->left / whole : 0.0;
  moves->n += refined->n;
  if (refined->n > 0) moves->moved = fmax(moves->moved, refined->moved / whole);
  if (left <= moves->left) return;
  int32_t v[3];
  kg_side_corners(s->mesh, side_of(s, refined->worst), v);
  moves->left = left;
  for (int k = 0; k < 3; ++k) {
    moves->left_at[k] = 0.0;
    for (int l = 0; l < 3; ++l) moves->left_at[k] += s->mesh->vertices[3 * (int64_t)v[l] + k] / 3.0;
  }
}

/// Integrate rough values of one condition by parts. Of Robin conditions, where coefficients and
/// values must be integrated alike, and of a rule that the problem asks for, what is left is seen.
/// @param[in]  count  faces
/// @param[out] modes  NULL: of coefficients
static kedge_status refine(kedge_context *ctx, const sampler *s, int32_t count,
                           kedge_boundary_type type, double *modes, kg_boundary_moves *moves)
{
  int32_t *faces, n;
  double all;
  surface near;
  kg_refined refined = {0};
  KG_TRY(kg_host_alloc(ctx, (size_t)count, sizeof *faces, &faces));
  kedge_status status = open_surface(ctx, s, count, type, &n, faces, &all, &near);
  const kg_refining of = {.integrand = {s->m, shape_of, sum_parts, s},
                          .n_items = count,
                          .least = kg_least_move(s->problem->order),
                          .whole = all,
                          .judges = s->problem->load_quadrature > 0 || type == KEDGE_BOUNDARY_ROBIN,
                          .user = &near,
                          .neighbours = find_neighbours};
  if (status == KEDGE_OK) status = kg_refine(ctx, &of, n, faces, &refined);
  if (status == KEDGE_OK) note_moves(s, &refined, all, moves);
  for (int32_t i = 0; modes && i < refined.n; ++i)
    memcpy(modes + (size_t)refined.item[i] * (size_t)s->m, refined.sums + (size_t)i * (size_t)s->m,
           (size_t)s->m * sizeof *modes);
  kg_refined_free(&refined);
  free(near.rims);
  free(faces);
  return status;
}

kedge_status kg_sample_faces(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_trace_layout *layout, const kedge_problem *problem,
                             const kg_resolved *resolved, double *modes, kg_boundary_moves *moves)
{
  static const kedge_boundary_type types[] = {KEDGE_BOUNDARY_NEUMANN, KEDGE_BOUNDARY_ROBIN,
                                              KEDGE_BOUNDARY_DIRICHLET};
  const kg_trace_counts *const n = &layout->count;
  const int32_t count = n->n_edges - (n->n_free - n->n_neumann);
  sampler *s;
  KG_TRY(open_sampler(ctx, mesh, layout, problem, resolved, count, &s));
  kedge_status status = sample(ctx, s, count, modes);
  for (int k = 0; status == KEDGE_OK && k < 3; ++k)
    status = refine(ctx, s, count, types[k], modes, moves);
  close_sampler(s);
  return status;
}

kedge_status kg_sample_robin_faces(kedge_context *ctx, const kedge_mesh *mesh,
                                   const kg_trace_layout *layout, const kedge_problem *problem,
                                   const kg_resolved *resolved, double scale, kg_robin_samples *out)
{
  const int32_t n = layout->count.n_neumann;
  sampler *s;
  KG_TRY(open_sampler(ctx, mesh, layout, problem, resolved, n, &s));
  s->robin = true;
  kedge_status status = sample_robin(ctx, s, n, out->coefficient);
  if (status == KEDGE_OK) status = refine(ctx, s, n, KEDGE_BOUNDARY_ROBIN, NULL, &out->moves);
  if (status == KEDGE_OK) finish_robin(s, n, scale, out);
  close_sampler(s);
  return status;
}
