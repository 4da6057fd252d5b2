#include "solver/boundary.h"

#include <math.h>
#include <stdlib.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "device/context.h"

/// One boundary edge, along its trace direction (lower to higher vertex).
typedef struct edge_geometry {
  double x0, y0, x1, y1;
  double length;
  double normal[2];  ///< outward
} edge_geometry;

static edge_geometry edge_of(const kedge_mesh *mesh, int32_t edge)
{
  int32_t ends[2];
  kg_side_ends(mesh, mesh->edge_sides[2 * (size_t)edge], ends);
  const double *from = mesh->vertices + 2 * (size_t)ends[0];
  const double *to = mesh->vertices + 2 * (size_t)ends[1];
  const double dx = to[0] - from[0], dy = to[1] - from[1], length = hypot(dx, dy);
  edge_geometry g = {from[0], from[1], to[0], to[1], length, {dy / length, -dx / length}};
  if (ends[0] > ends[1])
    g = (edge_geometry){to[0], to[1], from[0], from[1], length, {g.normal[0], g.normal[1]}};
  return g;
}

enum {
  EDGE_POINTS_MAX = KEDGE_ORDER_MAX + 5,
  BLOCKS_OF_ONE = 16,  // so few are done before a team of threads is awake
  BLOCK_EDGES = 32,    // a call of a user's function costs more than a few points
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
} boundary_sampler;

/// Consecutive edges of one group, and what was found on them: [edge][point].
typedef struct edge_block {
  edge_geometry edge[BLOCK_EDGES];
  double x[BLOCK_POINTS], y[BLOCK_POINTS], g[BLOCK_POINTS];
  double normal_x[BLOCK_POINTS], normal_y[BLOCK_POINTS], region[BLOCK_POINTS];
} edge_block;

/// The first value on the boundary that is not finite.
typedef struct bad_edge_value {
  int64_t index;  ///< edge of the sampler * points an edge + point; -1: there is none
  double x, y, value;
} bad_edge_value;

static int group_of(const boundary_sampler *s, int32_t i)
{
  return s->mesh->edge_group[s->mesh_edge[i]];
}

/// g at the points of a block: the boundary's own value, or what the exact solution says.
static void evaluate_block(const boundary_sampler *s, const struct kg_resolved_boundary *boundary,
                           int count, edge_block *b)
{
  const size_t n = (size_t)count * (size_t)s->n;
  const kedge_points points = {n, b->x, b->y, b->normal_x, b->normal_y, b->region};
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
  }
}

/// The projection on a Dirichlet edge is scaled to the reference edge; <g_N, psi> is an integral.
static void project(const boundary_sampler *s, double scale, const double *g, double *modes)
{
  const int m = s->problem->order + 1;
  for (int k = 0; k < m; ++k) modes[k] = 0.0;
  for (int q = 0; q < s->n; ++q)
    for (int k = 0; k < m; ++k) modes[k] += scale * s->w[q] * g[q] * s->psi[q][k];
}

/// Edges [begin, begin + count), all of one group.
static void sample_block(const boundary_sampler *s, int32_t begin, int count, edge_block *b,
                         bad_edge_value *bad)
{
  const int n = s->n, m = s->problem->order + 1;
  const struct kg_resolved_boundary *boundary = &s->resolved->boundaries[group_of(s, begin)];
  for (int i = 0; i < count; ++i) {
    b->edge[i] = edge_of(s->mesh, s->mesh_edge[begin + i]);
    const edge_geometry *e = &b->edge[i];
    const kg_side side = s->mesh->edge_sides[2 * (int64_t)s->mesh_edge[begin + i]];
    const double region = s->mesh->element_region[kg_side_element(side)];
    for (int q = 0; q < n; ++q) {
      b->x[i * n + q] = 0.5 * ((1.0 - s->t[q]) * e->x0 + (1.0 + s->t[q]) * e->x1);
      b->y[i * n + q] = 0.5 * ((1.0 - s->t[q]) * e->y0 + (1.0 + s->t[q]) * e->y1);
      b->normal_x[i * n + q] = e->normal[0];
      b->normal_y[i * n + q] = e->normal[1];
      b->region[i * n + q] = region;
    }
  }
  evaluate_block(s, boundary, count, b);
  for (int i = 0; i < count * n; ++i)
    if (!isfinite(b->g[i])) {
      const int64_t index = (int64_t)begin * n + i;
      if (bad->index < 0 || index < bad->index)
        *bad = (bad_edge_value){index, b->x[i], b->y[i], b->g[i]};
      return;
    }
  for (int i = 0; i < count; ++i)
    project(s, boundary->type == KEDGE_BOUNDARY_NEUMANN ? 0.5 * b->edge[i].length : 1.0,
            b->g + i * n, s->modes + ((size_t)begin + (size_t)i) * (size_t)m);
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

static bad_edge_value sample_edges(const boundary_sampler *s, int threads)
{
  const int32_t n_blocks = (s->count + BLOCK_EDGES - 1) / BLOCK_EDGES;
  bad_edge_value bad = {.index = -1};
#pragma omp parallel num_threads(threads) if (n_blocks > BLOCKS_OF_ONE)
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

kedge_status kg_sample_boundary(kedge_context *ctx, const kedge_mesh *mesh,
                                const kg_trace_layout *layout, const kedge_problem *problem,
                                const kg_resolved *resolved, double *modes)
{
  int32_t *mesh_edge;
  KG_TRY(kg_trace_boundary(ctx, layout, &mesh_edge));
  boundary_sampler s = {
      .mesh = mesh,
      .mesh_edge = mesh_edge,
      .problem = problem,
      .resolved = resolved,
      .count = layout->count.n_edges - (layout->count.n_free - layout->count.n_neumann),
      .n = problem->order + 5,
      .modes = modes};
  kg_gauss_jacobi(s.n, 0, s.t, s.w);
  for (int q = 0; q < s.n; ++q) kg_legendre(problem->order, s.t[q], s.psi[q]);
  const bad_edge_value bad = sample_edges(&s, ctx->threads);
  const int bad_group = bad.index < 0 ? 0 : group_of(&s, (int32_t)(bad.index / s.n));
  free(mesh_edge);
  if (bad.index >= 0)
    return kg_problem_fail(
        ctx, problem, resolved->boundaries[bad_group].at,
        "the value on boundary %s is %g at x = %.6g, y = %.6g; change it so that it is finite on "
        "the whole boundary",
        mesh->groups[bad_group].name, isnan(bad.value) ? NAN : bad.value, bad.x, bad.y);
  return KEDGE_OK;
}
