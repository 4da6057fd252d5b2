#include "integrals/boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "basis/quadrature.h"
#include "core/memory.h"
#include "device/loop.h"
#include "integrals/element.h"
#include "integrals/faces.h"
#include "basis/roughness.h"
#include "problem/located.h"

enum {
  EDGE_POINTS_MAX = KG_QUADRATURE_MAX,
  BLOCK_POINTS = 544,  // a call of a user's function costs more than a few points
  BLOCK_EDGES = BLOCK_POINTS / (KEDGE_ORDER_MIN + 2),
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
  double psi[EDGE_POINTS_MAX][EDGE_POINTS_MAX];  ///< [point][degree]
  double top[EDGE_POINTS_MAX];                   ///< kg_roughness_top()
  double *modes;
  double *robin, *speed;  ///< [edge][point]: coefficients and ds/dt in place of modes; or NULL
  double scale;           ///< coefficients by parts are multiplied by it
  double *size, *rough;   ///< [edge]: kg_roughness
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

/// Robin coefficients at n points of a block; 0 where the condition is another.
static void evaluate_robin(const boundary_sampler *s, const struct kg_resolved_boundary *boundary,
                           size_t n, edge_block *b, double *a)
{
  const kedge_points points = points_of(s, b, n);
  if (boundary->coefficient)
    kg_function_evaluate(boundary->coefficient, &points, a);
  else
    memset(a, 0, n * sizeof *a);
}

/// g at n points of a block: the boundary's own value, or what the exact solution says.
static void evaluate_block(const boundary_sampler *s, const struct kg_resolved_boundary *boundary,
                           size_t n, edge_block *b)
{
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
    evaluate_robin(s, boundary, n, b, dy);
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

/// Place points of an edge, behind the first ones of a block.
static void put_points(const boundary_sampler *s, int32_t edge, int n, const double *t,
                       size_t first, edge_block *b)
{
  const kg_located located = kg_located_in(b->located, BLOCK_POINTS);
  const kg_side side = s->mesh->edge_sides[2 * (int64_t)s->mesh_edge[edge]];
  int32_t ends[2];
  kg_side_ends(s->mesh, side, ends);
  for (size_t i = first; i < first + (size_t)n; ++i) {
    // The edge runs from its lower to its higher vertex.
    const double here = ends[0] > ends[1] ? -t[i - first] : t[i - first];
    double at[2], along[2];
    kg_side_point(s->mesh, side, here, at, along);
    const double speed = hypot(along[0], along[1]);
    b->x[i] = at[0];
    b->y[i] = at[1];
    b->speed[i] = speed;
    b->normal_x[i] = along[1] / speed;
    b->normal_y[i] = -along[0] / speed;
    kg_locate_side(&located, i, s->mesh, side, here);
  }
}

static void evaluate(const boundary_sampler *s, const struct kg_resolved_boundary *boundary,
                     size_t n, edge_block *b)
{
  if (s->robin)
    evaluate_robin(s, boundary, n, b, b->g);
  else
    evaluate_block(s, boundary, n, b);
}

/// Whether the integrals of a condition are in the parameter of the edge, not along it.
static bool is_projection(const boundary_sampler *s, const struct kg_resolved_boundary *boundary)
{
  return !s->robin && boundary->type == KEDGE_BOUNDARY_DIRICHLET;
}

/// How rough the values of an edge are.
static kg_roughness roughness_of(const boundary_sampler *s, const double *speed, const double *g)
{
  double weighted[EDGE_POINTS_MAX];
  kg_roughness of = {0};
  for (int q = 0; q < s->n; ++q) weighted[q] = (speed ? speed[q] : 1.0) * s->w[q] * g[q];
  kg_roughness_add(s->n, s->top, 0.0, weighted, 1, &of);
  return of;
}

/// Edges [begin, begin + count), all of one group.
static void sample_block(const boundary_sampler *s, int32_t begin, int count, edge_block *b,
                         bad_edge_value *bad)
{
  const int n = s->n, m = s->problem->order + 1;
  const kg_located located = kg_located_in(b->located, BLOCK_POINTS);
  const struct kg_resolved_boundary *boundary = &s->resolved->boundaries[group_of(s, begin)];
  for (int i = 0; i < count; ++i) put_points(s, begin + i, n, s->t, (size_t)(i * n), b);
  evaluate(s, boundary, (size_t)(count * n), b);
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
  for (int i = 0; i < count; ++i) {
    const double *const speed = is_projection(s, boundary) ? NULL : b->speed + i * n;
    const kg_roughness rough = roughness_of(s, speed, b->g + i * n);
    if (!s->robin)
      project(s, speed, b->g + i * n, s->modes + ((size_t)begin + (size_t)i) * (size_t)m);
    s->size[begin + i] = rough.size;
    s->rough[begin + i] = rough.along;
  }
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
  const int32_t at_once = BLOCK_POINTS / s->n, n_blocks = (s->count + at_once - 1) / at_once;
  bad_edge_value bad = {.index = -1};
#pragma omp parallel num_threads(kg_loop_threads(ctx, s->count, 16 * s->n))
  {
    edge_block block;
    bad_edge_value mine = {.index = -1};
#pragma omp for schedule(dynamic)
    for (int32_t i = 0; i < n_blocks; ++i) {
      const int32_t begin = i * at_once, left = s->count - begin;
      sample_run(s, begin, begin + (left < at_once ? left : at_once), &block, &mine);
    }
#pragma omp critical
    if (mine.index >= 0 && (bad.index < 0 || mine.index < bad.index)) bad = mine;
  }
  return bad;
}

/// Sample `count` edges from the first of section 3 on. @param[out] bad  the first value that is
/// not finite
static kedge_status sample_any(kedge_context *ctx, boundary_sampler *s, int32_t count,
                               bad_edge_value *bad)
{
  s->count = count;
  s->n = kg_boundary_points(s->problem);
  kg_gauss_jacobi(s->n, 0, s->t, s->w);
  kg_roughness_top(s->n, s->t, s->w, s->top);
  for (int q = 0; q < s->n; ++q) kg_legendre(s->n - 1, s->t[q], s->psi[q]);
  KG_TRY(kg_host_alloc(ctx, 2 * (size_t)count, sizeof *s->size, &s->size));
  s->rough = s->size + count;
  *bad = sample_edges(ctx, s);
  return KEDGE_OK;
}

static kedge_status sample(kedge_context *ctx, boundary_sampler *s, int32_t count)
{
  bad_edge_value bad;
  KG_TRY(sample_any(ctx, s, count, &bad));
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

/// The integrals over parts of an edge: a value, or a Robin coefficient, times the modes, as many
/// as the rule has points of the latter.
static void sum_parts(const void *user, int32_t item, int n_parts, const kg_part *parts,
                      double *sums, double *size, double *rough)
{
  const boundary_sampler *const s = user;
  const struct kg_resolved_boundary *const boundary = &s->resolved->boundaries[group_of(s, item)];
  const int n = s->n, m = s->robin ? n : s->problem->order + 1;
  edge_block b;
  double t[KG_PARTS_MAX * EDGE_POINTS_MAX], psi[EDGE_POINTS_MAX];
  for (int i = 0; i < n_parts * n; ++i) {
    const kg_part *const part = &parts[i / n];
    const double from = part->corner[0][0], to = part->corner[1][0];
    t[i] = from + 0.5 * (1.0 + s->t[i % n]) * (to - from);
  }
  put_points(s, item, n_parts * n, t, 0, &b);
  evaluate(s, boundary, (size_t)(n_parts * n), &b);
  memset(sums, 0, (size_t)(n_parts * m) * sizeof *sums);
  for (int k = 0; k < n_parts; ++k) {
    const double share = 0.5 * (parts[k].corner[1][0] - parts[k].corner[0][0]);
    for (int q = k * n; q < (k + 1) * n; ++q) {
      if (is_projection(s, boundary)) b.speed[q] = 1.0;
      b.speed[q] *= share;
      kg_legendre(m - 1, t[q], psi);
      for (int i = 0; i < m; ++i) sums[k * m + i] += b.speed[q] * s->w[q - k * n] * b.g[q] * psi[i];
    }
    const kg_roughness of = roughness_of(s, b.speed + k * n, b.g + k * n);
    size[k] = of.size;
    rough[k] = of.along;
  }
}

static kg_part_shape shape_of(const void *user, int32_t item)
{
  (void)user, (void)item;
  return KG_PART_INTERVAL;
}

/// Edges, and the boundary edges of the same kind of condition at each vertex.
typedef struct edge_neighbours {
  const boundary_sampler *s;
  int32_t (*at)[2];  ///< [vertex]: edges, or -1; more than two are not needed
} edge_neighbours;

static void ends_of(const boundary_sampler *s, int32_t i, int32_t ends[2])
{
  kg_side_ends(s->mesh, s->mesh->edge_sides[2 * (int64_t)s->mesh_edge[i]], ends);
}

static int find_neighbours(const void *user, int32_t item, int32_t to[KG_FACETS_MAX])
{
  const edge_neighbours *const of = user;
  int32_t ends[2];
  int n = 0;
  ends_of(of->s, item, ends);
  for (int l = 0; l < 2; ++l)
    for (int k = 0; k < 2; ++k) {
      const int32_t other = of->at[ends[l]][k];
      if (other >= 0 && other != item) to[n++] = other;
    }
  return n;
}

/// The kinds of values that have one unit.
static bool is_of(const boundary_sampler *s, int32_t edge, bool projections)
{
  return is_projection(s, &s->resolved->boundaries[group_of(s, edge)]) == projections;
}

static kedge_status make_neighbours(kedge_context *ctx, const boundary_sampler *s, bool projections,
                                    edge_neighbours *out)
{
  const size_t n = (size_t)s->mesh->n_vertices;
  *out = (edge_neighbours){.s = s};
  KG_TRY(kg_host_alloc(ctx, n, sizeof *out->at, &out->at));
  memset(out->at, -1, n * sizeof *out->at);
  for (int32_t i = 0; i < s->count; ++i) {
    int32_t ends[2];
    if (!is_of(s, i, projections)) continue;
    ends_of(s, i, ends);
    for (int l = 0; l < 2; ++l) {
      int32_t *const at = out->at[ends[l]];
      at[at[0] >= 0 ? 1 : 0] = i;
    }
  }
  return KEDGE_OK;
}

/// What values that are derived may have of rounding, of an edge: those of u, or of its flux.
static double rounding_of(const boundary_sampler *s, int32_t edge, const double exact[2])
{
  const struct kg_resolved_boundary *const boundary = &s->resolved->boundaries[group_of(s, edge)];
  if (s->robin || boundary->value) return 0.0;
  if (is_projection(s, boundary)) return 2.0 * exact[0];
  int32_t ends[2];
  ends_of(s, edge, ends);
  const double *const a = s->mesh->vertices + 2 * (size_t)ends[0];
  const double *const b = s->mesh->vertices + 2 * (size_t)ends[1];
  return hypot(b[0] - a[0], b[1] - a[1]) * exact[1];
}

static kg_integrand integrand_of(const boundary_sampler *s)
{
  return (kg_integrand){s->robin ? s->n : s->problem->order + 1, shape_of, sum_parts, s};
}

/// Integrate rough values of one unit by parts; by a rule that the problem asks for, see what is
/// left.
/// @param[out] refined  of edges of the sampler
static kedge_status refine_kind(kedge_context *ctx, const boundary_sampler *s, bool projections,
                                kg_boundary_moves *moves, kg_refined *refined)
{
  int32_t *edges, n = 0;
  double exact[2] = {0.0, 0.0}, all = 0.0;
  edge_neighbours near = {0};
  *refined = (kg_refined){0};
  KG_TRY(kg_host_alloc(ctx, (size_t)s->count, sizeof *edges, &edges));
  if (s->problem->exact_u.kind != KG_FUNCTION_NONE)
    kg_exact_rounding(s->mesh, &s->problem->exact_u, &s->resolved->equation, exact);
  for (int32_t i = 0; i < s->count; ++i) {
    if (!is_of(s, i, projections)) continue;
    const kg_roughness of = {.size = s->size[i], .along = s->rough[i]};
    const double rounding = rounding_of(s, i, exact);
    all += fmax(of.size, rounding);
    if (kg_is_rough(&of, rounding)) edges[n++] = i;
  }
  kedge_status status = n > 0 ? make_neighbours(ctx, s, projections, &near) : KEDGE_OK;
  const kg_refining of = {.integrand = integrand_of(s),
                          .n_items = s->count,
                          .least = kg_least_move(s->problem->order),
                          .whole = all,
                          .judges = s->problem->load_quadrature > 0,
                          .user = &near,
                          .neighbours = find_neighbours};
  if (status == KEDGE_OK) status = kg_refine(ctx, &of, n, edges, refined);
  free(near.at);
  free(edges);
  const double whole = fmax(all, refined->size);
  const double left = refined->left > 0.0 ? refined->left / whole : 0.0;
  moves->n += refined->n;
  if (refined->n > 0) moves->moved = fmax(moves->moved, refined->moved / whole);
  if (left <= moves->left) return status;
  double along[2];
  moves->left = left;
  kg_side_point(s->mesh, s->mesh->edge_sides[2 * (int64_t)s->mesh_edge[refined->worst]], 0.0,
                moves->left_at, along);
  return status;
}

/// What Robin edges have beside what a sampler has of them: their coefficients beside values, or
/// the other way round. A solution that both agree on, as value = coefficient has, asks that they
/// are integrated alike: the edges of either that are made by parts are those of both.
/// @param[in] count    edges of section 3
/// @param[out] others  of edges of the sampler
static kedge_status refine_others(kedge_context *ctx, const boundary_sampler *s, int32_t count,
                                  kg_refined *others)
{
  const size_t n = (size_t)count * (size_t)s->n;
  boundary_sampler other = *s;
  double *room;
  bad_edge_value bad = {.index = -1};
  kg_boundary_moves ignored = {0};
  *others = (kg_refined){0};
  if (count == 0 || !s->resolved->has_robin || s->problem->load_quadrature > 0) return KEDGE_OK;
  KG_TRY(kg_host_alloc(ctx, 2 * n, sizeof *room, &room));
  other.robin = s->robin ? NULL : room;
  other.speed = s->robin ? NULL : room + n;
  other.modes = s->robin ? room : NULL;  // m of each edge, which is less than n
  other.size = NULL;
  kedge_status status = sample_any(ctx, &other, count, &bad);
  if (status == KEDGE_OK && bad.index < 0)
    status = refine_kind(ctx, &other, false, &ignored, others);
  free(other.size);
  free(room);
  return status;
}

/// Takes the integrals of an edge.
typedef void put_sums(const boundary_sampler *s, int32_t edge, const double *sums);

/// Integrate what a sampler has of Robin edges by parts where the others were, and it was not.
static kedge_status refine_alike(kedge_context *ctx, const boundary_sampler *s, int32_t count,
                                 const kg_refined *own, put_sums *put)
{
  const kg_integrand of = integrand_of(s);
  double sums[EDGE_POINTS_MAX];
  kg_refined others;
  kedge_status status = refine_others(ctx, s, count, &others);
  for (int32_t i = 0; status == KEDGE_OK && i < others.n; ++i) {
    const int32_t edge = others.item[i], at = kg_refined_from(own, edge);
    kg_integral by_parts = {.sums = sums};
    if (!s->resolved->boundaries[group_of(s, edge)].coefficient) continue;
    if (at < own->n && own->item[at] == edge) continue;
    status = kg_integral_make(ctx, &of, edge, 0.0, 2 * KG_LEVELS_BEFORE, KG_CUTS_MOST, &by_parts);
    if (status == KEDGE_OK && isfinite(by_parts.size)) put(s, edge, sums);
  }
  kg_refined_free(&others);
  return status;
}

static void put_modes(const boundary_sampler *s, int32_t edge, const double *sums)
{
  const size_t m = (size_t)s->problem->order + 1;
  memcpy(s->modes + (size_t)edge * m, sums, m * sizeof *sums);
}

/// Where values of one unit are rough, and where those beside them are, they are integrated by
/// parts. @param[in] count  edges of section 3
static kedge_status refine(kedge_context *ctx, const boundary_sampler *s, bool projections,
                           int32_t count, kg_boundary_moves *moves, put_sums *put)
{
  kg_refined refined;
  KG_TRY(refine_kind(ctx, s, projections, moves, &refined));
  for (int32_t i = 0; i < refined.n; ++i)
    put(s, refined.item[i], refined.sums + (int64_t)i * integrand_of(s).n);
  const kedge_status status = projections ? KEDGE_OK : refine_alike(ctx, s, count, &refined, put);
  kg_refined_free(&refined);
  return status;
}

kedge_status kg_sample_boundary(kedge_context *ctx, const kedge_mesh *mesh,
                                const kg_trace_layout *layout, const kedge_problem *problem,
                                const kg_resolved *resolved, double *modes,
                                kg_boundary_moves *moves)
{
  int32_t *mesh_edge;
  if (kg_mesh_in_space(mesh))
    return kg_sample_faces(ctx, mesh, layout, problem, resolved, modes, moves);
  KG_TRY(kg_trace_boundary(ctx, layout, &mesh_edge));
  boundary_sampler s = {.mesh = mesh,
                        .mesh_edge = mesh_edge,
                        .problem = problem,
                        .resolved = resolved,
                        .modes = modes};
  const kg_trace_counts *n = &layout->count;
  kedge_status status = sample(ctx, &s, n->n_edges - (n->n_free - n->n_neumann));
  for (int k = 0; status == KEDGE_OK && k < 2; ++k)
    status = refine(ctx, &s, k == 1, n->n_neumann, moves, put_modes);
  free(s.size);
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
    }
  const int m = s->problem->order + 1;
  for (int q = 0; q < s->n; ++q) memcpy(out->psi + q * m, s->psi[q], (size_t)m * sizeof *out->psi);
  for (int32_t i = 0; i < s->count; ++i)
    out->side[i] = s->mesh->edge_sides[2 * (int64_t)s->mesh_edge[i]];
}

/// The rule of an edge gets numbers with which products of modes have their integrals to degree
/// n - 1, and are those of the polynomial of this degree that has them.
static void put_coefficients(const boundary_sampler *s, int32_t edge, const double *sums)
{
  const int n = s->n;
  for (int q = 0; q < n; ++q) {
    double *const to = &s->robin[(int64_t)edge * n + q];
    *to = 0.0;
    for (int k = 0; k < n; ++k) *to += sums[k] * s->psi[q][k];
    *to *= s->scale * s->w[q];
  }
}

kedge_status kg_sample_robin(kedge_context *ctx, const kedge_mesh *mesh,
                             const kg_trace_layout *layout, const kedge_problem *problem,
                             const kg_resolved *resolved, double scale, kg_robin_samples *out)
{
  const int32_t n = layout->count.n_neumann;
  int32_t *mesh_edge;
  double *speed = NULL;
  if (kg_mesh_in_space(mesh))
    return kg_sample_robin_faces(ctx, mesh, layout, problem, resolved, scale, out);
  KG_TRY(kg_trace_boundary(ctx, layout, &mesh_edge));
  kedge_status status =
      kg_host_alloc(ctx, (size_t)n * (size_t)kg_boundary_points(problem), sizeof *speed, &speed);
  boundary_sampler s = {.mesh = mesh,
                        .mesh_edge = mesh_edge,
                        .problem = problem,
                        .resolved = resolved,
                        .robin = out->coefficient,
                        .speed = speed,
                        .scale = scale};
  if (status == KEDGE_OK) status = sample(ctx, &s, n);
  if (status == KEDGE_OK) finish_robin(&s, scale, out);
  if (status == KEDGE_OK) status = refine(ctx, &s, false, n, &out->moves, put_coefficients);
  free(s.size);
  free(speed);
  free(mesh_edge);
  return status;
}
