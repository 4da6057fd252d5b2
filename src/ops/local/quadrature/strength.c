// The adjusted flux is s = Pi (G g) of the weak gradient g, so that G^-1 s - g = G^-1 (Pi - 1)
// (G - D) g with any D that commutes with Pi: on triangles constant matrices, on quadrilaterals,
// whose directions have spaces of their own, constant diagonal ones. The norms of G^-1 and G - D,
// of unit vectors along the directions of the element and of physical q, are the bound.
#include "ops/local/quadrature/strength.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/loop.h"
#include "ops/local/quadrature/elements.h"
#include "problem/located.h"

enum {
  ROWS = 2,  ///< points a direction
  POINTS = ROWS * ROWS,
  TOGETHER = 32,  ///< elements
  MANY = TOGETHER * POINTS
};

/// What threads share.
typedef struct view {
  const kedge_mesh *mesh;
  const kg_resolved *resolved;
  const kg_block *block;
  kg_cell_points rule;
  double finer;  ///< what an error of order P is of one of order P + 1
} view;

/// Sums over elements.
typedef struct sums {
  double bend, left;
} sums;

/// An element at its points, and the root mean squares of both columns of F.
typedef struct element {
  kg_cell_place place[POINTS];
  double length[2], jacobian;  ///< of J the mean
} element;

static element element_at(const view *v, int32_t number)
{
  const kedge_mesh *mesh = v->mesh;
  double x[KG_NODES_MAX], y[KG_NODES_MAX];
  element e = {.jacobian = 0.0};
  for (int l = 0; l < v->rule.n_nodes; ++l) {
    const double *const at =
        mesh->nodes ? kg_element_nodes(mesh, number) + 2 * l
                    : mesh->vertices + 2 * (int64_t)kg_element_vertices(mesh, number)[l];
    x[l] = at[0];
    y[l] = at[1];
  }
  for (int q = 0; q < POINTS; ++q) {
    const kg_cell_place p = e.place[q] = kg_cell_place_at(&v->rule, q, x, y);
    e.length[0] += (p.x_r * p.x_r + p.y_r * p.y_r) / POINTS;
    e.length[1] += (p.x_s * p.x_s + p.y_s * p.y_s) / POINTS;
    e.jacobian += p.jacobian / POINTS;
  }
  for (int k = 0; k < 2; ++k) e.length[k] = sqrt(e.length[k]);
  return e;
}

/// The norm of a symmetric matrix: rr, rs, ss.
static double norm_of(const double a[3])
{
  return fabs(0.5 * (a[0] + a[2])) + hypot(0.5 * (a[0] - a[2]), a[1]);
}

/// The bound, of the diffusion xx, xy, yy at the points of an element.
/// @param[out] turn  what errors along one direction of the element are along the other
static double bound_of(const view *v, const element *e, const double kappa[POINTS][3], double *turn)
{
  const double *const l = e->length;
  const double unit[3] = {l[0] * l[0] / e->jacobian, l[0] * l[1] / e->jacobian,
                          l[1] * l[1] / e->jacobian};
  double g[POINTS][3], mean[3] = {0.0, 0.0, 0.0}, inverse = 0.0, rest = 0.0;
  for (int q = 0; q < POINTS; ++q) {
    const double *const k = kappa[q];
    kg_cell_flux_matrix(&e->place[q], k, g[q]);
    for (int i = 0; i < 3; ++i) mean[i] += (g[q][i] *= unit[i]) / POINTS;
    inverse = fmax(inverse, norm_of(k) / (k[0] * k[2] - k[1] * k[1]));
  }
  *turn = fabs(mean[1]) / fmin(mean[0], mean[2]);
  if (v->block->cell != &kg_triangle) mean[1] = 0.0;
  for (int q = 0; q < POINTS; ++q) {
    const double d[3] = {g[q][0] - mean[0], g[q][1] - mean[1], g[q][2] - mean[2]};
    rest = fmax(rest, norm_of(d));
  }
  return inverse * rest;
}

/// How much F varies, as a part of its mean.
static double bend_of(const element *e)
{
  double mean[4] = {0.0, 0.0, 0.0, 0.0}, square = 0.0, all = 0.0;
  for (int q = 0; q < POINTS; ++q) {
    const kg_cell_place *const p = &e->place[q];
    const double f[4] = {p->x_r, p->x_s, p->y_r, p->y_s};
    for (int i = 0; i < 4; ++i) mean[i] += f[i] / POINTS;
  }
  for (int q = 0; q < POINTS; ++q) {
    const kg_cell_place *const p = &e->place[q];
    const double f[4] = {p->x_r, p->x_s, p->y_r, p->y_s};
    for (int i = 0; i < 4; ++i) square += (f[i] - mean[i]) * (f[i] - mean[i]) / POINTS;
  }
  for (int i = 0; i < 4; ++i) all += mean[i] * mean[i];
  return sqrt(square / all);
}

/// Diffusion at the points of elements of the mesh from `first` on. @param[out] value  [4][n
/// POINTS]
static void evaluate(const view *v, int32_t first, const element *e, int n, double *value)
{
  double x[MANY], y[MANY], memory[KG_LOCATED * MANY];
  const kg_located at = kg_located_in(memory, MANY);
  for (int i = 0; i < n * POINTS; ++i) {
    const kg_cell_place *const place = &e[i / POINTS].place[i % POINTS];
    x[i] = place->x;
    y[i] = place->y;
    kg_locate(&at, (size_t)i, v->mesh, first + i / POINTS, v->rule.r[i % POINTS],
              v->rule.s[i % POINTS]);
  }
  const kedge_points points = kg_located_points(&at, v->mesh, (size_t)(n * POINTS), x, y);
  kg_coefficients_evaluate(&v->resolved->equation, &points, value);
}

/// What is left of an element where q is the weak gradient. Along the weak axis only stabilization
/// holds it, to the order P, as long as h is not below a length over the root of the ratio. On
/// quadrilaterals that is so if their directions are almost the axes, or as much as they bend.
static double left_of(const view *v, double bound, double turn, double bend)
{
  const double left =
      v->block->cell == &kg_triangle ? 2.0 * sqrt(bound) : fmax(0.25 * turn, bend * v->finer);
  return fmin(left, v->finer);
}

/// Elements of the mesh from `first` on. @return the largest bound, as kg_strength.most
static double look_at(const view *v, int32_t first, int n, sums *sum)
{
  static const double one[POINTS][3] = {{1, 0, 1}, {1, 0, 1}, {1, 0, 1}, {1, 0, 1}};
  element e[TOGETHER];
  double value[4 * MANY], most = 0.0;
  *sum = (sums){0.0, 0.0};
  for (int i = 0; i < n; ++i) e[i] = element_at(v, first + i);
  evaluate(v, first, e, n, value);
  for (int i = 0; i < n; ++i) {
    double kappa[POINTS][3];
    for (int q = 0; q < POINTS; ++q)
      for (int k = 0; k < 3; ++k) kappa[q][k] = value[(k * n + i) * POINTS + q];
    double turn, of_one;
    const double least = fmax(1.0, bound_of(v, &e[i], one, &of_one)), bend = bend_of(&e[i]);
    const double bound = bound_of(v, &e[i], kappa, &turn) / least;
    const double left = left_of(v, bound, turn / fmax(1.0, of_one), bend);
    most = fmax(most, bound);
    sum->bend += bend;
    sum->left += left * left;
  }
  return most;
}

kedge_status kg_strength_find(kedge_context *ctx, const kedge_mesh *mesh,
                              const kg_resolved *resolved, const kg_block *block, int order,
                              kg_strength *out)
{
  view v = {.mesh = mesh,
            .resolved = resolved,
            .block = block,
            .finer = (order + 1) * sqrt((double)mesh->n_elements)};
  const int32_t n_parts = (block->n + TOGETHER - 1) / TOGETHER;
  sums *part_of, all = {0.0, 0.0};
  double *memory, most = 0.0;
  KG_TRY(kg_coefficients_bring(&resolved->equation));
  KG_TRY(
      kg_cell_points_create(ctx, block->cell, 1, mesh->geometry, ROWS, KG_BEHIND_NOTHING, &memory));
  v.rule = kg_cell_points_at(block->cell, 1, mesh->geometry, ROWS, KG_BEHIND_NOTHING, memory);
  const kedge_status status = kg_host_alloc(ctx, (size_t)n_parts, sizeof *part_of, &part_of);
  if (status != KEDGE_OK) {
    free(memory);
    return status;
  }
#pragma omp parallel for reduction(max : most) num_threads(kg_loop_threads(ctx, n_parts, 64 * MANY))
  for (int32_t part = 0; part < n_parts; ++part) {
    const int32_t first = part * TOGETHER, left = block->n - first;
    most = fmax(most, look_at(&v, block->first + first, left < TOGETHER ? (int)left : TOGETHER,
                              &part_of[part]));
  }
  for (int32_t part = 0; part < n_parts; ++part) {
    all.bend += part_of[part].bend;
    all.left += part_of[part].left;
  }
  free(part_of);
  free(memory);
  *out = (kg_strength){most, all.bend / block->n, sqrt(all.left / block->n)};
  return KEDGE_OK;
}
