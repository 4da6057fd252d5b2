#include "solver/sampling.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "core/context.h"
#include "core/memory.h"

static int rule_degree(int order)
{
  return 2 * order + 6;
}

int kg_sampling_count(int order)
{
  const int n = rule_degree(order) / 2 + 1;
  return n * n + kg_triangle_modes(order);
}

kedge_status kg_sampling_create(kedge_context *ctx, int order, kg_sampling *out)
{
  *out = (kg_sampling){0};
  kg_triangle_rule rule;
  KG_TRY(kg_triangle_rule_create(ctx, rule_degree(order), &rule));
  const int n = kg_sampling_count(order), n_star = kg_triangle_modes(order + 1);
  double *memory;
  const kedge_status status =
      kg_host_calloc(ctx, (size_t)n * (size_t)(3 + n_star), sizeof *memory, &memory);
  if (status == KEDGE_OK) {
    *out = (kg_sampling){n, order, memory, memory + n, memory + 2 * n, memory + 3 * n};
    memcpy(out->r, rule.r, (size_t)rule.n * sizeof *rule.r);
    memcpy(out->s, rule.s, (size_t)rule.n * sizeof *rule.s);
    memcpy(out->weight, rule.w, (size_t)rule.n * sizeof *rule.w);
    kg_lagrange_nodes(order, out->r + rule.n, out->s + rule.n);
    for (int q = 0; q < n; ++q)
      kg_dubiner(order + 1, out->r[q], out->s[q], out->basis + q * n_star, NULL, NULL);
  }
  kg_triangle_rule_free(&rule);
  return status;
}

void kg_sampling_free(kg_sampling *sampling)
{
  free(sampling->r);  // one piece of memory
  *sampling = (kg_sampling){0};
}

/// A coordinate of the point (r, s) from those of the corners. A kernel that evaluates on the GPU
/// does the same in the same order, and neither uses fused multiply-adds: their points agree to the
/// bit.
static inline double interpolate(double r, double s, double v0, double v1, double v2)
{
  const double b = 0.5 * (1.0 + r), c = 0.5 * (1.0 + s), a = 1.0 - b - c;
  return a * v0 + b * v1 + c * v2;
}

/// Physical coordinates [point][lane] of one group.
static void place_points(const kg_sampling *sampling, const kg_trace_layout *layout, int32_t group,
                         double *x, double *y)
{
  double corner_x[3][KG_LANES], corner_y[3][KG_LANES];
  for (int l = 0; l < 3; ++l)
    for (int i = 0; i < KG_LANES; ++i) {
      const size_t v = (size_t)layout->host.vertex[((size_t)group * 3 + l) * KG_LANES + i];
      corner_x[l][i] = layout->host.vertices[2 * v];
      corner_y[l][i] = layout->host.vertices[2 * v + 1];
    }
  for (int q = 0; q < sampling->n; ++q) {
    const double r = sampling->r[q], s = sampling->s[q];
    for (int i = 0; i < KG_LANES; ++i) {
      x[q * KG_LANES + i] = interpolate(r, s, corner_x[0][i], corner_x[1][i], corner_x[2][i]);
      y[q * KG_LANES + i] = interpolate(r, s, corner_y[0][i], corner_y[1][i], corner_y[2][i]);
    }
  }
}

kedge_status kg_sample_refuse(kedge_context *ctx, const kg_sampling *sampling,
                              const kg_trace_layout *layout, int32_t first,
                              const kg_sample_set *set, kg_bad_value bad)
{
  const int64_t lane = bad.index % KG_LANES, row = bad.index / KG_LANES;
  const int64_t q = row % sampling->n, f = row / sampling->n % set->n;
  const int64_t group = first + row / sampling->n / set->n;
  double x[3], y[3];
  for (int l = 0; l < 3; ++l) {
    const size_t v = (size_t)layout->host.vertex[(group * 3 + l) * KG_LANES + lane];
    x[l] = layout->host.vertices[2 * v];
    y[l] = layout->host.vertices[2 * v + 1];
  }
  const double r = sampling->r[q], s = sampling->s[q];
  return KG_FAIL(
      ctx, KEDGE_ERR_INPUT,
      "%s is %g at x = %.6g, y = %.6g, inside the mesh; change the expression so that it "
      "is finite everywhere",
      set->names[f], isnan(bad.value) ? NAN : bad.value,  // some NaN print as -nan
      interpolate(r, s, x[0], x[1], x[2]), interpolate(r, s, y[0], y[1], y[2]));
}

/// The first value of a row that is not finite, unless `bad` is an earlier one.
static void look_for_bad(size_t n, const double *value, int64_t row, kg_bad_value *bad)
{
  if (bad->index >= 0 && bad->index < row) return;
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(value[i])) {
      *bad = (kg_bad_value){row + (int64_t)i, value[i]};
      return;
    }
}

kedge_status kg_sample(kedge_context *ctx, const kg_sampling *sampling,
                       const kg_trace_layout *layout, int32_t first, int32_t count,
                       const kg_sample_set *set, double *values)
{
  const size_t n = (size_t)sampling->n * KG_LANES;
  double *points;
  KG_TRY(kg_host_alloc(ctx, 2 * n * (size_t)ctx->threads, sizeof *points, &points));
  kg_bad_value bad = {.index = -1};
#pragma omp parallel num_threads(ctx->threads)
  {
    double *x = points + 2 * n * (size_t)omp_get_thread_num(), *y = x + n;
    kg_bad_value mine = {.index = -1};
#pragma omp for schedule(dynamic, 4)
    for (int32_t g = 0; g < count; ++g) {
      place_points(sampling, layout, first + g, x, y);
      for (int f = 0; f < set->n; ++f) {
        const size_t row = ((size_t)g * (size_t)set->n + (size_t)f) * n;
        kg_function_evaluate(set->functions[f], n, x, y, values + row);
        look_for_bad(n, values + row, (int64_t)row, &mine);
      }
    }
#pragma omp critical
    if (mine.index >= 0 && (bad.index < 0 || mine.index < bad.index)) bad = mine;
  }
  free(points);
  return bad.index < 0 ? KEDGE_OK : kg_sample_refuse(ctx, sampling, layout, first, set, bad);
}

/// One boundary edge, along its trace direction (lower to higher vertex).
typedef struct edge_geometry {
  double x0, y0, x1, y1;
  double length;
  double normal[2];  ///< outward
} edge_geometry;

static edge_geometry edge_of(const kedge_mesh *mesh, int32_t edge)
{
  const int32_t side = mesh->edge_sides[2 * (size_t)edge];
  const int l = side % 3;
  const int32_t *v = mesh->element_vertices + 3 * (size_t)(side / 3);
  const double *from = mesh->vertices + 2 * (size_t)v[l];
  const double *to = mesh->vertices + 2 * (size_t)v[(l + 1) % 3];
  const double dx = to[0] - from[0], dy = to[1] - from[1], length = hypot(dx, dy);
  edge_geometry g = {from[0], from[1], to[0], to[1], length, {dy / length, -dx / length}};
  if (mesh->side_edge[side] & 1u)
    g = (edge_geometry){to[0], to[1], from[0], from[1], length, {g.normal[0], g.normal[1]}};
  return g;
}

enum { EDGE_POINTS_MAX = KEDGE_ORDER_MAX + 5 };

/// g at the points of an edge: the boundary's own value, or what the exact solution says.
static void evaluate_on_edge(const kedge_problem *problem,
                             const struct kg_resolved_boundary *boundary, const edge_geometry *e,
                             int n, const double *x, const double *y, double *g)
{
  if (boundary->value) {
    kg_function_evaluate(boundary->value, (size_t)n, x, y, g);
  } else if (boundary->type == KEDGE_BOUNDARY_DIRICHLET) {
    kg_function_evaluate(&problem->exact_u, (size_t)n, x, y, g);
  } else {
    double dx[EDGE_POINTS_MAX], dy[EDGE_POINTS_MAX];
    kg_function_evaluate(&problem->exact_dx, (size_t)n, x, y, dx);
    kg_function_evaluate(&problem->exact_dy, (size_t)n, x, y, dy);
    for (int q = 0; q < n; ++q)
      g[q] = problem->diffusion * (e->normal[0] * dx[q] + e->normal[1] * dy[q]);
  }
}

kedge_status kg_sample_boundary(kedge_context *ctx, const kedge_mesh *mesh,
                                const kg_trace_layout *layout, const kedge_problem *problem,
                                const kg_resolved *resolved, double *modes)
{
  const int m = problem->order + 1, n = m + 4;
  double t[EDGE_POINTS_MAX], w[EDGE_POINTS_MAX], psi[EDGE_POINTS_MAX][KEDGE_ORDER_MAX + 1];
  kg_gauss_jacobi(n, 0, t, w);
  for (int q = 0; q < n; ++q) kg_legendre(problem->order, t[q], psi[q]);
  const int32_t first = layout->count.n_free - layout->count.n_neumann;
  for (int32_t trace = first; trace < layout->count.n_edges; ++trace) {
    const int32_t edge = layout->mesh_edge[trace];
    const int group = mesh->edge_group[edge];
    const struct kg_resolved_boundary *boundary = &resolved->boundaries[group];
    const edge_geometry e = edge_of(mesh, edge);
    double x[EDGE_POINTS_MAX], y[EDGE_POINTS_MAX], g[EDGE_POINTS_MAX];
    for (int q = 0; q < n; ++q) {
      x[q] = 0.5 * ((1.0 - t[q]) * e.x0 + (1.0 + t[q]) * e.x1);
      y[q] = 0.5 * ((1.0 - t[q]) * e.y0 + (1.0 + t[q]) * e.y1);
    }
    evaluate_on_edge(problem, boundary, &e, n, x, y, g);
    // The projection on a Dirichlet edge is scaled to the reference edge; <g_N, psi> is an
    // integral.
    const double scale = boundary->type == KEDGE_BOUNDARY_NEUMANN ? 0.5 * e.length : 1.0;
    double *out = modes + (size_t)(trace - first) * (size_t)m;
    for (int k = 0; k < m; ++k) out[k] = 0.0;
    for (int q = 0; q < n; ++q) {
      KG_REQUIRE(ctx, isfinite(g[q]), KEDGE_ERR_INPUT,
                 "the value on boundary %s is %g at x = %.6g, y = %.6g; change it so that it is "
                 "finite on the whole boundary",
                 mesh->groups[group].name, g[q], x[q], y[q]);
      for (int k = 0; k < m; ++k) out[k] += scale * w[q] * g[q] * psi[q][k];
    }
  }
  return KEDGE_OK;
}
