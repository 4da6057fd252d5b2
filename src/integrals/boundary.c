#include "integrals/boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "core/memory.h"
#include "device/loop.h"
#include "problem/located.h"

/// The boundary side of an edge, and whether the edge runs against it: from lower to higher vertex.
static kg_side side_of(const kedge_mesh *mesh, int32_t edge, bool *is_reversed)
{
  const kg_side side = mesh->edge_sides[2 * (int64_t)edge];
  int32_t ends[2];
  kg_side_ends(mesh, side, ends);
  *is_reversed = ends[0] > ends[1];
  return side;
}

enum {
  EDGE_POINTS_MAX = KEDGE_ORDER_MAX + KG_BOUNDARY_POINTS_MORE,
  BLOCK_EDGES = 32,  // a call of a user's function costs more than a few points
  BLOCK_POINTS = BLOCK_EDGES * EDGE_POINTS_MAX,
};

/// The boundary edges of a trace, sections 3 and 4, and the rule on each of them.
typedef struct boundary_sampler {
  const kedge_mesh *mesh;
  const int32_t *mesh_edge;
  const kedge_problem *problem;
  const kg_resolved *resolved;
  int32_t count;
  int n;  ///< points an edge
  double t[EDGE_POINTS_MAX], w[EDGE_POINTS_MAX];
  double psi[EDGE_POINTS_MAX][KEDGE_ORDER_MAX + 1];
  double *modes;
  double *robin, *speed;  ///< [edge][point]: coefficients and ds/dt in place of modes; or NULL
} boundary_sampler;

/// Consecutive edges of one group, and what was found on them: [edge][point].
typedef struct edge_block {
  double speed[BLOCK_POINTS];  ///< ds/dt
  double x[BLOCK_POINTS], y[BLOCK_POINTS], g[BLOCK_POINTS];
  double normal_x[BLOCK_POINTS], normal_y[BLOCK_POINTS], located[KG_LOCATED * BLOCK_POINTS];
} edge_block;

static kedge_points points_of(const boundary_sampler *s, edge_block *b, size_t n)
{
  const kg_located at = kg_located_in(b->located, BLOCK_POINTS);
  kedge_points points = kg_located_points(&at, s->mesh, n, b->x, b->y);
  points.normal_x = b->normal_x;
  points.normal_y = b->normal_y;
  return points;
}

/// The first value on the boundary that is not finite.
typedef struct bad_edge_value {
  int64_t index;  ///< edge of the sampler * points an edge + point; -1: there is none
  double x, y, value;
  int32_t element;  ///< in the caller's order
} bad_edge_value;

static int group_of(const boundary_sampler *s, int32_t i)
{
  return s->mesh->edge_group[s->mesh_edge[i]];
}

/// Robin coefficients at the points of a block; 0 where the condition is another.
static void evaluate_robin(const boundary_sampler *s, const struct kg_resolved_boundary *boundary,
                           int count, edge_block *b, double *a)
{
  const size_t n = (size_t)count * (size_t)s->n;
  const kedge_points points = points_of(s, b, n);
  if (boundary->coefficient)
    kg_function_evaluate(boundary->coefficient, &points, a);
  else
    memset(a, 0, n * sizeof *a);
}

/// g at the points of a block: the boundary's own value, or what the exact solution says.
static void evaluate_block(const boundary_sampler *s, const struct kg_resolved_boundary *boundary,
                           int count, edge_block *b)
{
  const size_t n = (size_t)count * (size_t)s->n;
  const kedge_points points = points_of(s, b, n);
  if (boundary->value) {
    kg_function_evaluate(boundary->value, &points, b->g);
  } else if (boundary->type == KEDGE_BOUNDARY_DIRICHLET) {
    kg_function_evaluate(&s->problem->exact_u, &points, b->g);
  } else {
    double dx[BLOCK_POINTS], dy[BLOCK_POINTS], k[4 * BLOCK_POINTS];
    kg_coefficients_evaluate(&s->resolved->equation, &points, k);
    kg_function_evaluate(&s->problem->exact_dx, &points, dx);
    kg_function_evaluate(&s->problem->exact_dy, &points, dy);
    for (size_t i = 0; i < n; ++i)
      b->g[i] = kg_normal_flux(k + i, n, dx[i], dy[i], b->normal_x[i], b->normal_y[i]);
    if (!boundary->coefficient) return;
    kg_function_evaluate(&s->problem->exact_u, &points, dx);
    evaluate_robin(s, boundary, count, b, dy);
    for (size_t i = 0; i < n; ++i) b->g[i] += dy[i] * dx[i];
  }
}

/// The projection on a Dirichlet edge, in its parameter; <g_N, psi> is an integral along it.
/// @param[in] speed  ds/dt, or NULL
static void project(const boundary_sampler *s, const double *speed, const double *g, double *modes)
{
  const int m = s->problem->order + 1;
  for (int k = 0; k < m; ++k) modes[k] = 0.0;
  for (int q = 0; q < s->n; ++q)
    for (int k = 0; k < m; ++k)
      modes[k] += (speed ? speed[q] : 1.0) * s->w[q] * g[q] * s->psi[q][k];
}

/// Edges [begin, begin + count), all of one group.
static void sample_block(const boundary_sampler *s, int32_t begin, int count, edge_block *b,
                         bad_edge_value *bad)
{
  const int n = s->n, m = s->problem->order + 1;
  const kg_located located = kg_located_in(b->located, BLOCK_POINTS);
  const struct kg_resolved_boundary *boundary = &s->resolved->boundaries[group_of(s, begin)];
  for (int i = 0; i < count; ++i) {
    bool is_reversed;
    const kg_side side = side_of(s->mesh, s->mesh_edge[begin + i], &is_reversed);
    for (int q = 0; q < n; ++q) {
      double at[2], along[2];
      kg_side_point(s->mesh, side, is_reversed ? -s->t[q] : s->t[q], at, along);
      const double speed = hypot(along[0], along[1]);
      b->x[i * n + q] = at[0];
      b->y[i * n + q] = at[1];
      b->speed[i * n + q] = speed;
      b->normal_x[i * n + q] = along[1] / speed;
      b->normal_y[i * n + q] = -along[0] / speed;
      kg_locate_side(&located, (size_t)(i * n + q), s->mesh, side,
                     is_reversed ? -s->t[q] : s->t[q]);
    }
  }
  if (s->robin)
    evaluate_robin(s, boundary, count, b, b->g);
  else
    evaluate_block(s, boundary, count, b);
  for (int i = 0; i < count * n; ++i)
    if (!isfinite(b->g[i])) {
      const int64_t index = (int64_t)begin * n + i;
      if (bad->index < 0 || index < bad->index)
        *bad = (bad_edge_value){index, b->x[i], b->y[i], b->g[i], located.element[i]};
      return;
    }
  for (int i = 0; s->robin && i < count * n; ++i) {
    s->robin[(int64_t)begin * n + i] = b->g[i];
    s->speed[(int64_t)begin * n + i] = b->speed[i];
  }
  for (int i = 0; !s->robin && i < count; ++i)
    project(s, boundary->type == KEDGE_BOUNDARY_DIRICHLET ? NULL : b->speed + i * n, b->g + i * n,
            s->modes + ((size_t)begin + (size_t)i) * (size_t)m);
}

/// Edges [begin, end), cut where the group changes.
static void sample_run(const boundary_sampler *s, int32_t begin, int32_t end, edge_block *b,
                       bad_edge_value *bad)
{
  while (begin < end) {
    int32_t next = begin + 1;
    while (next < end && group_of(s, next) == group_of(s, begin)) ++next;
    sample_block(s, begin, next - begin, b, bad);
    begin = next;
  }
}

static bad_edge_value sample_edges(const kedge_context *ctx, const boundary_sampler *s)
{
  const int32_t n_blocks = (s->count + BLOCK_EDGES - 1) / BLOCK_EDGES;
  bad_edge_value bad = {.index = -1};
#pragma omp parallel num_threads(kg_loop_threads(ctx, s->count, 16 * s->n))
  {
    edge_block block;
    bad_edge_value mine = {.index = -1};
#pragma omp for schedule(dynamic)
    for (int32_t i = 0; i < n_blocks; ++i) {
      const int32_t begin = i * BLOCK_EDGES, left = s->count - begin;
      sample_run(s, begin, begin + (left < BLOCK_EDGES ? left : BLOCK_EDGES), &block, &mine);
    }
#pragma omp critical
    if (mine.index >= 0 && (bad.index < 0 || mine.index < bad.index)) bad = mine;
  }
  return bad;
}

/// Sample `count` edges from the first of section 3 on.
/// @param[in] mesh_edge  of these
static kedge_status sample(kedge_context *ctx, boundary_sampler *s, int32_t count)
{
  s->count = count;
  s->n = kg_boundary_points(s->problem->order);
  kg_gauss_jacobi(s->n, 0, s->t, s->w);
  for (int q = 0; q < s->n; ++q) kg_legendre(s->problem->order, s->t[q], s->psi[q]);
  const bad_edge_value bad = sample_edges(ctx, s);
  if (bad.index < 0) return KEDGE_OK;
  const int group = group_of(s, (int32_t)(bad.index / s->n));
  const struct kg_resolved_boundary *boundary = &s->resolved->boundaries[group];
  const bool derived = boundary->coefficient && !boundary->value;
  return kg_problem_fail(
      ctx, s->problem, s->robin || derived ? boundary->coefficient_at : boundary->at,
      "the %s on boundary %s is %g at x = %.6g, y = %.6g, in element %d (from 0); change it so "
      "that it is finite on the whole boundary",
      s->robin  ? "coefficient"
      : derived ? "value from [exact] u and the coefficient"
                : "value",
      s->mesh->groups[group].name, isnan(bad.value) ? NAN : bad.value, bad.x, bad.y, bad.element);
}

kedge_status kg_sample_boundary(kedge_context *ctx, const kedge_mesh *mesh,
                                const kg_trace_layout *layout, const kedge_problem *problem,
                                const kg_resolved *resolved, double *modes)
{
  int32_t *mesh_edge;
  KG_TRY(kg_trace_boundary(ctx, layout, &mesh_edge));
  boundary_sampler s = {.mesh = mesh,
                        .mesh_edge = mesh_edge,
                        .problem = problem,
                        .resolved = resolved,
                        .modes = modes};
  const kg_trace_counts *n = &layout->count;
  const kedge_status status = sample(ctx, &s, n->n_edges - (n->n_free - n->n_neumann));
  free(mesh_edge);
  return status;
}

/// What the sampler found, as integrals along the edges have it.
static void finish_robin(const boundary_sampler *s, double scale, kg_robin_samples *out)
{
  for (int32_t i = 0; i < s->count; ++i)
    for (int q = 0; q < s->n; ++q) {
      double *const a = &out->coefficient[(int64_t)i * s->n + q];
      kg_robin_range *const r = &out->range;
      if (*a < r->least) r->least = *a, r->least_group = group_of(s, i);
      if (*a > r->most) r->most = *a, r->most_group = group_of(s, i);
      *a *= scale * s->w[q] * s->speed[(int64_t)i * s->n + q];
      r->total += *a;
    }
  const int m = s->problem->order + 1;
  for (int q = 0; q < s->n; ++q) memcpy(out->psi + q * m, s->psi[q], (size_t)m * sizeof *out->psi);
  for (int32_t i = 0; i < s->count; ++i)
    out->side[i] = s->mesh->edge_sides[2 * (int64_t)s->mesh_edge[i]];
}

kedge_status kg_sample_robin(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_trace_layout *layout, const kedge_problem *problem,
                             const kg_resolved *resolved, double scale, kg_robin_samples *out)
{
  const int32_t n = layout->count.n_neumann;
  int32_t *mesh_edge;
  double *speed = NULL;
  KG_TRY(kg_trace_boundary(ctx, layout, &mesh_edge));
  kedge_status status = kg_host_alloc(ctx, (size_t)n * (size_t)kg_boundary_points(problem->order),
                                      sizeof *speed, &speed);
  boundary_sampler s = {.mesh = mesh,
                        .mesh_edge = mesh_edge,
                        .problem = problem,
                        .resolved = resolved,
                        .robin = out->coefficient,
                        .speed = speed};
  if (status == KEDGE_OK) status = sample(ctx, &s, n);
  if (status == KEDGE_OK) finish_robin(&s, scale, out);
  free(speed);
  free(mesh_edge);
  return status;
}
