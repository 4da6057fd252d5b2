// An exact solution of branches, by ?:, abs, min, atan2 and the like, may jump, or its flux may,
// where no source and no boundary value says so: on facets, along the boundary, inside of elements.
#include <float.h>
#include <math.h>
#include <string.h>

#include "diagnose/looks.h"
#include "diagnose/predicates.h"
#include "expression/expression_tree.h"
#include "problem/located.h"

enum {
  SIDES_MOST = 1 << 14,  ///< facets of each kind that are looked at where u is a formula
  ELEMENTS_MOST = 1 << 11,
  CALLERS_MOST = 256,  ///< facets of each kind, where u is a function of the caller
  HALVES = 24  ///< cuts of a line in an element: what is smooth changes 1e-7 of its slope over it
};

/// Jumps inside of elements count from so many thresholds on: lines that are cut in halves see the
/// slope of what is steep.
#define INSIDE_OF_ELEMENTS 1e3

/// The largest jump that was met.
typedef struct jump {
  double u, flux;  ///< as parts of the sizes below
  double at_u[3], at_flux[3];
  double u_size, flux_size;
} jump;

/// Whether a formula may have branches.
static bool has_branches(const kg_function *u)
{
  static const kg_op ops[] = {KG_OP_CHOOSE, KG_OP_ATAN, KG_OP_ABS,   KG_OP_FLOOR, KG_OP_CEIL,
                              KG_OP_ROUND,  KG_OP_SIGN, KG_OP_STEP,  KG_OP_MOD,   KG_OP_ATAN2,
                              KG_OP_MIN,    KG_OP_MAX,  KG_OP_EQUAL, KG_OP_LESS,  KG_OP_GREATER};
  if (u->kind == KG_FUNCTION_CALLER) return true;
  if (u->kind != KG_FUNCTION_EXPRESSION) return false;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; ++i)
    if (kg_expression_uses(u->expression, ops[i])) return true;
  return false;
}

static void note(double by, double size, const double x[3], double *most, double at[3])
{
  if (!isfinite(by) || !(by > *most * size)) return;
  *most = by / size;
  memcpy(at, x, 3 * sizeof *x);
}

/// The sizes of u and of its flux inside of elements, and on some sides; never 0.
static void find_sizes(const kg_diagnosis *d, const kg_looks *at, jump *to)
{
  double u[KG_LOOKS], flux[3][KG_LOOKS];
  kg_look_from_inside(d, &d->problem->exact_u, at, u);
  kg_look_at_flux(d, at, flux);
  for (int i = 0; i < at->n; ++i) {
    const double size = hypot(hypot(flux[0][i], flux[1][i]), flux[2][i]);
    if (isfinite(u[i])) to->u_size = fmax(to->u_size, fabs(u[i]));
    if (isfinite(size)) to->flux_size = fmax(to->flux_size, size);
  }
}

/// What u and its flux differ by between both sides of facets.
static void differences(const kg_diagnosis *d, const kg_looks both[2], double by[2][KG_LOOKS])
{
  double u[2][KG_LOOKS], flux[2][3][KG_LOOKS];
  for (int k = 0; k < 2; ++k) {
    kg_look_from_inside(d, &d->problem->exact_u, &both[k], u[k]);
    kg_look_at_flux(d, &both[k], flux[k]);
  }
  for (int i = 0; i < both[0].n; ++i) by[0][i] = u[0][i] - u[1][i];
  kg_look_flux_jump(&both[0], flux, by[1]);
}

/// Compare both sides of facets.
static void compare_sides(const kg_diagnosis *d, kg_looks both[2], jump *to)
{
  double far[2][KG_LOOKS], near[2][KG_LOOKS];
  for (int k = 0; k < 2; ++k) find_sizes(d, &both[k], to);
  differences(d, both, far);
  both[0].near = both[1].near = true;
  differences(d, both, near);
  both[0].near = both[1].near = false;
  for (int i = 0; i < both[0].n; ++i) {
    double x[3];
    kg_look_place(&both[0], i, x);
    const double u = kg_settled(far[0][i], near[0][i]), flux = kg_settled(far[1][i], near[1][i]);
    note(fabs(u), to->u_size, x, &to->u, to->at_u);
    note(fabs(flux), to->flux_size, x, &to->flux, to->at_flux);
  }
}

static void look_at_facets(const kg_diagnosis *d, int most, jump *to)
{
  const kedge_mesh *const mesh = d->mesh;
  const int64_t stride = ((int64_t)mesh->n_edges + most - 1) / most;
  kg_looks both[2] = {{.on_sides = true}, {.on_sides = true}};
  for (int64_t edge = 0; edge < mesh->n_edges; edge += stride) {
    const kg_side *const side = mesh->edge_sides + 2 * edge;
    if (side[1] == KG_NO_SIDE) continue;
    for (int k = 0; k < 2; ++k) kg_look_at_side(mesh, side[k], k == 1, &both[k]);
    if (both[0].n < KG_LOOKS) continue;
    compare_sides(d, both, to);
    both[0].n = both[1].n = 0;
  }
  compare_sides(d, both, to);
}

/// What u and its flux, as they are on the boundary, differ by from what they are inside.
static void boundary_differences(const kg_diagnosis *d, const kg_looks *at, double by[2][KG_LOOKS])
{
  double on[KG_LOOKS], u[KG_LOOKS], inside[KG_LOOKS], gap[3][KG_LOOKS];
  double k[KG_COEFFICIENTS_MAX * KG_LOOKS];
  const kedge_problem *const p = d->problem;
  const kg_function *const slopes[3] = {&p->exact_dx, &p->exact_dy, &p->exact_dz};
  kg_look(d, &p->exact_u, at, on);
  kg_look_from_inside(d, &p->exact_u, at, u);
  for (int i = 0; i < at->n; ++i) by[0][i] = on[i] - u[i];
  memset(gap[2], 0, sizeof gap[2]);
  for (int l = 0; l < d->mesh->dimension; ++l) {
    kg_look(d, slopes[l], at, on);
    kg_look_from_inside(d, slopes[l], at, inside);
    for (int i = 0; i < at->n; ++i) gap[l][i] = on[i] - inside[i];
  }
  kg_look_from_inside(d, NULL, at, k);
  for (int i = 0; i < at->n; ++i) {
    const double of[3] = {gap[0][i], gap[1][i], gap[2][i]};
    double normal[3];
    kg_look_normal(at, i, normal);
    by[1][i] = kg_flux_along(d->mesh->dimension, k + i, (size_t)at->n, of, normal);
  }
}

/// Compare boundary values that the exact solution gives with those that it has inside.
static void compare_boundary(const kg_diagnosis *d, kg_looks *at, jump *to)
{
  double far[2][KG_LOOKS], near[2][KG_LOOKS];
  boundary_differences(d, at, far);
  at->near = true;
  boundary_differences(d, at, near);
  at->near = false;
  for (int i = 0; i < at->n; ++i) {
    const struct kg_resolved_boundary *const b =
        &d->resolved->boundaries[d->mesh->edge_group[kg_side_edge(d->mesh, at->side[i])]];
    const double u = kg_settled(far[0][i], near[0][i]), flux = kg_settled(far[1][i], near[1][i]);
    double x[3];
    kg_look_place(at, i, x);
    if (b->type != KEDGE_BOUNDARY_NEUMANN) note(fabs(u), to->u_size, x, &to->u, to->at_u);
    if (b->type != KEDGE_BOUNDARY_DIRICHLET)
      note(fabs(flux), to->flux_size, x, &to->flux, to->at_flux);
  }
}

static void look_at_boundary(const kg_diagnosis *d, int most, jump *to)
{
  const kedge_mesh *const mesh = d->mesh;
  const int64_t stride = ((int64_t)mesh->n_boundary_edges + most - 1) / most;
  kg_looks at = {.on_sides = true};
  int64_t n = 0;
  for (int64_t edge = 0; edge < mesh->n_edges; ++edge) {
    const kg_side *const side = mesh->edge_sides + 2 * edge;
    if (side[1] != KG_NO_SIDE || n++ % stride != 0) continue;
    if (d->resolved->boundaries[mesh->edge_group[edge]].value) continue;
    kg_look_at_side(mesh, side[0], false, &at);
    if (at.n < KG_LOOKS) continue;
    compare_boundary(d, &at, to);
    at.n = 0;
  }
  compare_boundary(d, &at, to);
}

/// Lines in elements, which are cut in halves again and again: the half that changes more stays.
typedef struct lines {
  kg_looks end[2];
  double value[2][4][KG_LOOKS];  ///< u, its derivatives
} lines;

static void look_at_end(const kg_diagnosis *d, const kg_looks *at, double value[4][KG_LOOKS])
{
  kg_look(d, &d->problem->exact_u, at, value[0]);
  kg_look(d, &d->problem->exact_dx, at, value[1]);
  kg_look(d, &d->problem->exact_dy, at, value[2]);
  if (kg_mesh_in_space(d->mesh))
    kg_look(d, &d->problem->exact_dz, at, value[3]);
  else
    memset(value[3], 0, sizeof value[3]);
}

/// How much changes between two ends, of u or of its gradient.
static double change_of(bool of_u, int i, double (*a)[KG_LOOKS], double (*b)[KG_LOOKS])
{
  return of_u ? fabs(a[0][i] - b[0][i])
              : hypot(hypot(a[1][i] - b[1][i], a[2][i] - b[2][i]), a[3][i] - b[3][i]);
}

static void halve(const kg_diagnosis *d, bool of_u, lines *l)
{
  kg_looks middle = l->end[0];
  double value[4][KG_LOOKS];
  for (int i = 0; i < middle.n; ++i)
    for (int k = 0; k < d->mesh->dimension; ++k) {
      middle.x[k][i] = 0.5 * (l->end[0].x[k][i] + l->end[1].x[k][i]);
      middle.in[k][i] = 0.5 * (l->end[0].in[k][i] + l->end[1].in[k][i]);
    }
  look_at_end(d, &middle, value);
  for (int i = 0; i < middle.n; ++i) {
    const bool first =
        change_of(of_u, i, l->value[0], value) > change_of(of_u, i, value, l->value[1]);
    kg_looks *const end = &l->end[first ? 1 : 0];
    for (int k = 0; k < d->mesh->dimension; ++k) {
      end->x[k][i] = middle.x[k][i];
      end->in[k][i] = middle.in[k][i];
    }
    for (int k = 0; k < 4; ++k) l->value[first ? 1 : 0][k][i] = value[k][i];
  }
}

/// Note jumps between the ends of lines, of u, or of its flux across where its gradient jumps: a
/// jump of the diffusion along with that of the gradient is none of the flux.
/// @param[in] before  changes between the ends before half of the cuts
static void compare_ends(const kg_diagnosis *d, bool of_u, lines *l, const double *before, jump *to)
{
  double k[2][KG_COEFFICIENTS_MAX * KG_LOOKS];
  const size_t n = (size_t)l->end[0].n;
  for (int side = 0; side < 2; ++side) kg_look_from_inside(d, NULL, &l->end[side], k[side]);
  for (size_t i = 0; i < n; ++i) {
    double x[3];
    kg_look_place(&l->end[0], (int)i, x);
    const double change = kg_settled(before[i], change_of(of_u, (int)i, l->value[0], l->value[1]));
    if (of_u) {
      note(change / INSIDE_OF_ELEMENTS, to->u_size, x, &to->u, to->at_u);
    } else if (change > 0.0) {
      double across[3], flux[2];
      for (int j = 0; j < 3; ++j)
        across[j] = (l->value[0][1 + j][i] - l->value[1][1 + j][i]) / change;
      for (int side = 0; side < 2; ++side) {
        const double slope[3] = {l->value[side][1][i], l->value[side][2][i], l->value[side][3][i]};
        flux[side] = kg_flux_along(d->mesh->dimension, k[side] + i, n, slope, across);
      }
      note(fabs(flux[0] - flux[1]) / INSIDE_OF_ELEMENTS, to->flux_size, x, &to->flux, to->at_flux);
    }
  }
}

static void look_at_lines(const kg_diagnosis *d, const lines *from, jump *to)
{
  for (int of_u = 0; of_u < 2; ++of_u) {
    lines l = *from;
    for (int side = 0; side < 2; ++side) look_at_end(d, &l.end[side], l.value[side]);
    for (int k = 0; k < HALVES / 2; ++k) halve(d, of_u == 1, &l);
    double before[KG_LOOKS];
    for (int i = 0; i < l.end[0].n; ++i)
      before[i] = change_of(of_u == 1, i, l.value[0], l.value[1]);
    for (int k = 0; k < HALVES / 2; ++k) halve(d, of_u == 1, &l);
    compare_ends(d, of_u == 1, &l, before, to);
  }
}

/// Add lines from each corner of an element to the next, a little inside.
static void add_lines(const kedge_mesh *mesh, int32_t e, lines *to)
{
  const kg_cell *const cell = kg_block_of(mesh, e)->cell;
  const int32_t *const v = kg_element_vertices(mesh, e);
  const int n = cell->n_vertices, dimension = mesh->dimension;
  const double part = 0.1;
  // x, then places in the reference shape.
  double corner[KG_FACETS_MAX][6] = {{0.0}}, middle[6] = {0.0};
  for (int l = 0; l < n; ++l) {
    for (int k = 0; k < dimension; ++k) {
      corner[l][k] = mesh->vertices[dimension * (int64_t)v[l] + k];
      corner[l][3 + k] = cell->corner[l][k];
    }
    for (int k = 0; k < 6; ++k) middle[k] += corner[l][k] / n;
  }
  for (int l = 0; l < n; ++l)
    for (int k = 0; k < 6; ++k) corner[l][k] += part * (middle[k] - corner[l][k]);
  for (int l = 0; l < n; ++l)
    for (int side = 0; side < 2; ++side) {
      kg_looks *const end = &to->end[side];
      const double *const at = corner[(l + side) % n];
      const kg_located located = kg_looks_located(end);
      kg_locate_at(&located, (size_t)end->n, mesh, e, at + 3);
      for (int k = 0; k < 3; ++k) end->x[k][end->n] = at[k];
      ++end->n;
    }
}

static void look_inside(const kg_diagnosis *d, int most, jump *to)
{
  const kedge_mesh *const mesh = d->mesh;
  const int64_t stride = ((int64_t)mesh->n_elements + most - 1) / most;
  lines l = {0};
  for (int64_t e = 0; e < mesh->n_elements; e += stride) {
    add_lines(mesh, (int32_t)e, &l);
    if (l.end[0].n + KG_FACETS_MAX <= KG_LOOKS) continue;
    look_at_lines(d, &l, to);
    l.end[0].n = l.end[1].n = 0;
  }
  look_at_lines(d, &l, to);
}

/// The largest jump of an exact solution of branches, and where.
bool kg_finds_jump_of_exact(kg_diagnosis *d)
{
  const kg_function *const u = &d->problem->exact_u;
  if (!d->report->has_exact || !has_branches(u)) return false;
  const bool formula = u->kind == KG_FUNCTION_EXPRESSION;
  jump found = {.u_size = DBL_MIN, .flux_size = DBL_MIN};
  kg_looks inside;
  kg_look_inside(d->mesh, &inside);
  find_sizes(d, &inside, &found);
  look_at_facets(d, formula ? SIDES_MOST : CALLERS_MOST, &found);
  look_at_boundary(d, formula ? SIDES_MOST : CALLERS_MOST, &found);
  if (found.u <= d->threshold && found.flux <= d->threshold)
    look_inside(d, formula ? ELEMENTS_MOST : CALLERS_MOST / 4, &found);
  const bool of_u = found.u > d->threshold;
  kg_say_word(d, of_u ? "u" : "diffusion grad u . n");
  kg_say_place(d, "%.4g", of_u ? found.at_u : found.at_flux);
  kg_say_word(d, of_u ? "" : ", where the source has no part");
  return of_u || found.flux > d->threshold;
}
