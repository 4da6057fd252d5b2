#include "problem/hold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/quadrature.h"
#include "core/memory.h"
#include "device/loop.h"
#include "mesh/build.h"
#include "mesh/nodes.h"
#include "problem/face_points.h"
#include "problem/located.h"

/// Points of a rule, or some of them, in the reference cell of each shape; and what looks at the
/// elements of a mesh there.
typedef struct gauge {
  const kedge_mesh *mesh;
  const kg_coefficients *equation;
  double (*element)[2];  ///< [element] reaction and diffusion, as a kg_part_hold has them
  int n;
  double weight[KG_CELL_KINDS][KG_NODES_MAX];  ///< their sum over all points of the rule is 1
  double r[KG_CELL_KINDS][KG_NODES_MAX], s[KG_CELL_KINDS][KG_NODES_MAX];
  double t[KG_NODES_MAX];               ///< of tetrahedra
  kg_node_matrix place[KG_CELL_KINDS];  ///< of shapes of the plane
} gauge;

static kg_part_hold *hold_of(const kg_holds *holds, int32_t element)
{
  return &holds->hold[holds->part ? holds->part[element] : 0];
}

/// The integral of a Robin coefficient over a face.
static double robin_of_face(const kedge_mesh *mesh, const kg_face_rule *rule, kg_side side,
                            const kg_function *f)
{
  kg_face face;
  double a[KG_FACE_POINTS], sum = 0.0;
  const kedge_points points = kg_face_points(mesh, rule, side, &face);
  kg_function_evaluate(f, &points, a);
  for (int q = 0; q < rule->n; ++q) sum += rule->weight[q] * face.jacobian * a[q];
  return sum;
}

/// The integral of a Robin coefficient along an edge.
static double robin_of(const kedge_mesh *mesh, const kedge_problem *problem, kg_side side,
                       const kg_function *f)
{
  enum { MOST = KG_QUADRATURE_MAX };
  const int n = kg_boundary_points(problem);
  double t[MOST], w[MOST], xy[2][MOST], normal[2][MOST], speed[MOST], a[MOST], sum = 0.0;
  double memory[KG_LOCATED * MOST];
  const kg_located located = kg_located_in(memory, MOST);
  kg_gauss_jacobi(n, 0, t, w);
  for (int q = 0; q < n; ++q) {
    double at[2], along[2];
    kg_side_point(mesh, side, t[q], at, along);
    kg_locate_side(&located, (size_t)q, mesh, side, t[q]);
    speed[q] = hypot(along[0], along[1]);
    for (int k = 0; k < 2; ++k) xy[k][q] = at[k];
    normal[0][q] = along[1] / speed[q];
    normal[1][q] = -along[0] / speed[q];
  }
  kedge_points points = kg_located_points(&located, mesh, (size_t)n, xy[0], xy[1]);
  points.normal_x = normal[0];
  points.normal_y = normal[1];
  kg_function_evaluate(f, &points, a);
  for (int q = 0; q < n; ++q) sum += w[q] * speed[q] * a[q];
  return sum;
}

/// @param[in] rule  of faces; NULL: in the plane
static void add_edges(const kedge_mesh *mesh, const kedge_problem *problem,
                      const kg_resolved *resolved, const kg_face_rule *rule, const kg_holds *to)
{
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) {
    const int32_t group = mesh->edge_group[edge];
    if (group < 0) continue;
    const struct kg_resolved_boundary *b = &resolved->boundaries[group];
    const kg_side side = mesh->edge_sides[2 * edge];
    kg_part_hold *const hold = hold_of(to, kg_side_element(side));
    hold->fixed = hold->fixed || b->type == KEDGE_BOUNDARY_DIRICHLET;
    if (b->type != KEDGE_BOUNDARY_ROBIN) continue;
    const double a = rule ? robin_of_face(mesh, rule, side, b->coefficient)
                          : robin_of(mesh, problem, side, b->coefficient);
    hold->robin += a;
    hold->added += a <= 0.0 ? 0.0 : a;
  }
}

/// The nodes of an element's map: its corners, where the mesh is straight.
static const double *nodes_of(const kedge_mesh *mesh, int32_t e, double corner[KG_FACETS_MAX][2])
{
  if (mesh->nodes) return kg_element_nodes(mesh, e);
  const int32_t *v = kg_element_vertices(mesh, e);
  for (int i = 0; i < kg_block_of(mesh, e)->cell->n_vertices; ++i)
    memcpy(corner[i], mesh->vertices + 2 * (int64_t)v[i], sizeof corner[i]);
  return corner[0];
}

/// The area, or volume, between the corners of an element.
static double area_of(const kedge_mesh *mesh, int32_t e)
{
  if (kg_mesh_in_space(mesh)) return kg_space_volume(mesh, e);
  const int n = kg_block_of(mesh, e)->cell->n_vertices;
  const int32_t *v = kg_element_vertices(mesh, e);
  const double *a = mesh->vertices + 2 * (int64_t)v[0];
  double twice = 0.0;
  for (int i = 2; i < n; ++i) {
    const double *b = mesh->vertices + 2 * (int64_t)v[i - 1];
    const double *c = mesh->vertices + 2 * (int64_t)v[i];
    twice += (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
  }
  return 0.5 * twice;
}

enum { BLOCK = 256 };  ///< points that are evaluated together, more than KG_NODES_MAX

static void locate_in_space(const gauge *g, int32_t e, const kg_located *to, size_t first,
                            double *x[3])
{
  const int kind = kg_cell_index(&kg_tetrahedron);
  for (int q = 0; q < g->n; ++q) {
    const double at[3] = {g->r[kind][q], g->s[kind][q], g->t[q]};
    double place[3];
    kg_tetrahedron_point(g->mesh, e, at, place);
    kg_locate_at(to, first + (size_t)q, g->mesh, e, at);
    for (int k = 0; k < 3; ++k) x[k][first + (size_t)q] = place[k];
  }
}

static void locate(const gauge *g, int32_t e, const kg_located *to, size_t first, double *x,
                   double *y)
{
  const int kind = kg_cell_index(kg_block_of(g->mesh, e)->cell);
  double corner[KG_FACETS_MAX][2], place[2 * KG_NODES_MAX];
  kg_nodes_make(&g->place[kind], nodes_of(g->mesh, e, corner), place);
  for (int q = 0; q < g->n; ++q) {
    kg_locate(to, first + (size_t)q, g->mesh, e, g->r[kind][q], g->s[kind][q]);
    x[first + (size_t)q] = place[2 * q];
    y[first + (size_t)q] = place[2 * q + 1];
  }
}

/// An element of mean measure over h^2.
static double per_square(const kedge_mesh *mesh)
{
  const double mean = mesh->info.area / (double)mesh->n_elements;
  return kg_mesh_in_space(mesh) ? mean / pow(6.0 * mean, 2.0 / 3.0) : 0.5;
}

/// Add what elements [first, end) have at the points, BLOCK at most.
static void add_block(const gauge *g, int32_t first, int32_t end)
{
  double memory[KG_LOCATED * BLOCK], x[BLOCK], y[BLOCK], z[BLOCK];
  double value[KG_COEFFICIENTS_MAX * BLOCK], k[KG_COEFFICIENTS_MAX], *at[3] = {x, y, z};
  const kg_located located = kg_located_in(memory, BLOCK);
  const size_t n = (size_t)g->n, count = (size_t)(end - first) * n;
  const int dimension = g->mesh->dimension, numbers = kg_tensor_numbers(dimension);
  const double per = per_square(g->mesh);
  for (int32_t e = first; e < end; ++e) {
    const size_t i = (size_t)(e - first) * n;
    if (dimension == 3)
      locate_in_space(g, e, &located, i, at);
    else
      locate(g, e, &located, i, x, y);
  }
  kedge_points points = kg_located_points(&located, g->mesh, count, x, y);
  if (dimension == 3) points.z = z;
  kg_coefficients_evaluate(g->equation, &points, value);
  for (size_t i = 0; i < count; ++i) {
    const int32_t e = first + (int32_t)(i / n);
    for (int c = 0; c <= numbers; ++c) k[c] = value[(size_t)c * count + i];
    const double reaction = k[numbers];
    const double w = g->weight[kg_cell_index(kg_block_of(g->mesh, e)->cell)][i % n];
    // A reaction that is negative or no number is refused for that, where it is used.
    g->element[e][0] += w * area_of(g->mesh, e) * (reaction >= 0.0 ? reaction : NAN);
    g->element[e][1] += w * per * kg_most_diffusion(dimension, k);
  }
}

/// Add points [begin, begin + n) of a rule of `rows` points a direction, in all elements.
static void add_points(kedge_context *ctx, gauge *g, int rows, int begin)
{
  enum { MOST = KG_QUADRATURE_MAX * KG_QUADRATURE_MAX };
  long double r[MOST], s[MOST], t[MOST], w[MOST];
  for (int b = 0; b < g->mesh->n_blocks; ++b) {
    const kg_cell *const cell = g->mesh->block[b].cell;
    const int k = kg_cell_index(cell);
    cell->rule(rows, (long double *const[]){r, s, t}, w);
    for (int q = 0; q < g->n; ++q) {
      if (cell->dimension == 3) g->t[q] = (double)t[begin + q];
      g->r[k][q] = (double)r[begin + q];
      g->s[k][q] = (double)s[begin + q];
      g->weight[k][q] = (double)w[begin + q] / cell->measure;
    }
    if (cell->dimension == 2)
      kg_node_matrix_at(cell, g->mesh->geometry, g->n, g->r[k], g->s[k], &g->place[k]);
  }
  const int32_t n = g->mesh->n_elements, elements = BLOCK / g->n;
  const int32_t blocks = (n + elements - 1) / elements;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, blocks, 64 * BLOCK))
  for (int32_t i = 0; i < blocks; ++i)
    add_block(g, i * elements, i + 1 < blocks ? (i + 1) * elements : n);
}

enum { SPACE_ROWS = 8 };  ///< points a direction of a tetrahedron, at most

/// Look at all points of a rule.
static void look(kedge_context *ctx, gauge *g, int rows, const kg_holds *to)
{
  const kedge_mesh *mesh = g->mesh;
  memset(g->element, 0, (size_t)mesh->n_elements * sizeof *g->element);
  const int all = kg_mesh_in_space(mesh) ? rows * rows * rows : rows * rows;
  for (int first = 0; first < all; first += g->n) {
    g->n = all - first < KG_NODES_MAX ? all - first : KG_NODES_MAX;
    add_points(ctx, g, rows, first);
  }
  for (int32_t p = 0; p < to->n; ++p) to->hold[p].reaction = to->hold[p].diffusion = 0.0;
  for (int32_t e = 0; e < mesh->n_elements; ++e) {
    kg_part_hold *const hold = hold_of(to, e);
    hold->reaction += g->element[e][0];
    hold->diffusion += g->element[e][1];
  }
}

static kedge_status add_facets(kedge_context *ctx, const kedge_mesh *mesh,
                               const kedge_problem *problem, const kg_resolved *resolved,
                               const kg_holds *to)
{
  kg_face_rule *rule = NULL;
  if (kg_mesh_in_space(mesh)) {
    KG_TRY(kg_host_alloc(ctx, 1, sizeof *rule, &rule));
    kg_face_rule_make(kg_boundary_points(problem), rule);
  }
  add_edges(mesh, problem, resolved, rule, to);
  free(rule);
  return KEDGE_OK;
}

/// A share of the diffusion that is next to nothing: then more points are looked at.
#define LITTLE 1e-6

static bool is_any_little(const kg_holds *holds)
{
  bool any = false;
  for (int32_t p = 0; p < holds->n; ++p) {
    const kg_part_hold *h = &holds->hold[p];
    any = any || (!h->fixed && h->reaction + h->added < LITTLE * h->diffusion);
  }
  return any;
}

static bool are_all_fixed(const kg_holds *holds)
{
  int32_t p = 0;
  while (p < holds->n && holds->hold[p].fixed) ++p;
  return p == holds->n;
}

/// One part of one material needs no look at its elements. Of arrays on a device their largest
/// numbers, which are known, stand for all.
static bool take_uniform(const kedge_mesh *mesh, const kg_resolved *r, const kg_holds *to)
{
  const bool is_one = !r->varies && !r->by_element && r->n_materials == 1;
  if (to->n > 1 || !(is_one || r->by_device)) return false;
  const double *const k = r->by_device ? NULL : kg_material_of(r, 0);
  const double reaction = k ? k[kg_tensor_numbers(mesh->dimension)] : r->summary.most[1];
  const double diffusion = k ? kg_most_diffusion(mesh->dimension, k) : r->summary.most[0];
  to->hold->reaction = reaction * mesh->info.area;
  to->hold->diffusion = per_square(mesh) * diffusion * mesh->n_elements;
  return true;
}

static kedge_status look_at_elements(kedge_context *ctx, const kedge_problem *problem,
                                     const kedge_mesh *mesh, const kg_resolved *resolved,
                                     const kg_holds *to)
{
  gauge g = {.mesh = mesh, .equation = &resolved->equation, .n = 1};
  const int asked = problem->quadrature > 0 ? problem->quadrature : problem->order + 2;
  const int rows = kg_mesh_in_space(mesh) && asked > SPACE_ROWS ? SPACE_ROWS : asked;
  KG_TRY(kg_coefficients_bring(&resolved->equation));
  KG_TRY(kg_host_alloc(ctx, (size_t)mesh->n_elements, sizeof *g.element, &g.element));
  look(ctx, &g, 1, to);
  if (resolved->varies && is_any_little(to)) look(ctx, &g, rows, to);
  free(g.element);
  return KEDGE_OK;
}

kedge_status kg_holds_measure(kedge_context *ctx, const kedge_problem *problem,
                              const kedge_mesh *mesh, const kg_resolved *resolved, kg_holds *out)
{
  *out = (kg_holds){.n = 1};
  kedge_status status = KEDGE_OK;
  if (mesh->info.parts > 1) status = kg_mesh_parts(ctx, mesh, &out->part, &out->n);
  if (status == KEDGE_OK)
    status = kg_host_calloc(ctx, (size_t)out->n, sizeof *out->hold, &out->hold);
  if (status == KEDGE_OK) {
    if (out->n > 1 || resolved->has_robin) status = add_facets(ctx, mesh, problem, resolved, out);
    if (status == KEDGE_OK && !are_all_fixed(out) && !take_uniform(mesh, resolved, out))
      status = look_at_elements(ctx, problem, mesh, resolved, out);
  }
  if (status != KEDGE_OK) kg_holds_free(out);
  return status;
}

void kg_holds_free(kg_holds *holds)
{
  free(holds->part);
  free(holds->hold);
  *holds = (kg_holds){0};
}
