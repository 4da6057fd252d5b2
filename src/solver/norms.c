// Whether the rule of the norms of errors has points enough: kg_norms_moves().
#include <math.h>
#include <stdlib.h>

#include "basis/quadrature.h"
#include "core/memory.h"
#include "device/loop.h"
#include "expression/function.h"
#include "problem/located.h"
#include "solver/pipeline.h"
#include "solver/values.h"

enum {
  WORST = 4,   ///< groups with the largest errors of q, and of the flux
  SPREAD = 2,  ///< groups, of the others, at equal distances
  GROUPS = 2 * WORST + SPREAD
};

/// Where rounding is, relative to the exact solution: the exact solution itself has it at points.
static const double ROUNDING = 1e-13;

/// Sums of squares, by field: u, q, u*, flux.
typedef struct squares {
  double error[KG_NORMS], exact[KG_NORMS];
} squares;

/// The norms that are looked at: where the diffusion is a number the flux is that times q.
static int norms_of(const kg_pipeline *p)
{
  return p->shape.choice.is_uniform ? KG_NORMS - 1 : KG_NORMS;
}

static void add(const squares *part, squares *sum)
{
  for (int k = 0; k < KG_NORMS; ++k) {
    sum->error[k] += part->error[k];
    sum->exact[k] += part->exact[k];
  }
}

/// Add the squares of diffusion times gradients, x, then y, at points.
static void add_fluxes(const kg_pipeline *p, const kedge_points *at, const double *weight,
                       const double *gradient, double *sum)
{
  double diffusion[4 * KG_GAUSS_MAX];
  const size_t n = at->n;
  kg_coefficients_evaluate(&p->resolved.equation, at, diffusion);
  for (size_t q = 0; q < n; ++q) {
    const double *k = diffusion + q, x = gradient[q], y = gradient[KG_GAUSS_MAX + q];
    const double along = k[0] * x + k[n] * y, across = k[n] * x + k[2 * n] * y;
    *sum += weight[q] * (along * along + across * across);
  }
}

/// Add what some points of an element, at most KG_GAUSS_MAX, have.
static void add_points(const kg_pipeline *p, const kg_cell_points *points, int32_t element,
                       squares *sum)
{
  enum { N = KG_GAUSS_MAX };
  static const kedge_field fields[] = {KEDGE_FIELD_U, KEDGE_FIELD_QX, KEDGE_FIELD_QY,
                                       KEDGE_FIELD_U_STAR};
  const kg_function *const functions[] = {&p->problem->exact_u, &p->problem->exact_dx,
                                          &p->problem->exact_dy, &p->problem->exact_u};
  static const int norm[] = {0, 1, 1, 2};
  double xy[2 * N], x[N], y[N], memory[KG_LOCATED * N], weight[N], error[4 * N], exact[4 * N];
  const kg_located located = kg_located_in(memory, N);
  kg_place_points(p->solution, points, element, 2, xy);
  kg_weigh_points(p->solution, points, element, weight);
  for (int q = 0; q < points->n; ++q) {
    x[q] = xy[2 * q];
    y[q] = xy[2 * q + 1];
    kg_locate(&located, (size_t)q, p->mesh, element, points->r[q], points->s[q]);
  }
  const kedge_points at = kg_located_points(&located, p->mesh, (size_t)points->n, x, y);
  for (int k = 0; k < 4; ++k) {
    double *const e = error + k * N, *const u = exact + k * N;
    kg_field_at(p->solution, points, fields[k], element, e);
    kg_function_evaluate(functions[k], &at, u);
    for (int q = 0; q < points->n; ++q) {
      e[q] -= u[q];
      sum->error[norm[k]] += weight[q] * e[q] * e[q];
      sum->exact[norm[k]] += weight[q] * u[q] * u[q];
    }
  }
  if (norms_of(p) < KG_NORMS) return;
  add_fluxes(p, &at, weight, error + N, &sum->error[KG_NORMS - 1]);
  add_fluxes(p, &at, weight, exact + N, &sum->exact[KG_NORMS - 1]);
}

/// The results that a group is in.
static const kg_results *results_of(const kg_pipeline *p, int32_t group)
{
  const kg_results *r = p->solution->batch;
  while (group - r->first_group >= r->n_groups) ++r;
  return r;
}

/// Whether a group has elements; of those that fill the last patch of a batch nothing was summed.
static bool has_elements(const kg_pipeline *p, int32_t group)
{
  const kg_results *r = results_of(p, group);
  return (group - r->first_group) * KG_LANES < r->n_elements;
}

/// Sums of the element in a lane by the finer rule; of an empty lane 0.
static squares sum_lane(const kg_pipeline *p, const kg_element_points *rules, int rows,
                        int32_t group, int lane)
{
  squares sum = {{0}};
  const kg_results *r = results_of(p, group);
  const int32_t e = (group - r->first_group) * KG_LANES + lane, element = r->first_element + e;
  for (int row = 0; e < r->n_elements && row < rows; ++row) {
    const kg_cell_points *rule = kg_points_of(p->solution, rules, element);
    const kg_cell_points points = kg_points_part(rule, row * rows, rows);
    add_points(p, &points, element, &sum);
  }
  return sum;
}

/// Sums of groups by the finer rule.
static void sum_groups(const kg_pipeline *p, const kg_element_points *rules, int rows, int n,
                       const int32_t *groups, squares *of)
{
  squares of_lane[GROUPS * KG_LANES];
#pragma omp parallel for schedule(dynamic) \
    num_threads(kg_loop_threads(p->ctx, n, KG_LANES * 64 * rows * rows))
  for (int i = 0; i < n * KG_LANES; ++i)
    of_lane[i] = sum_lane(p, rules, rows, groups[i / KG_LANES], i % KG_LANES);
  for (int i = 0; i < n; ++i) of[i] = (squares){{0}};
  for (int i = 0; i < n * KG_LANES; ++i) add(&of_lane[i], &of[i / KG_LANES]);
}

static bool is_among(int n, const int32_t *groups, int32_t group)
{
  for (int k = 0; k < n; ++k)
    if (groups[k] == group) return true;
  return false;
}

/// Add the groups with the largest values that are not among the n first ones. @return all groups
static int add_worst(const kg_pipeline *p, const double *first, size_t stride, int n,
                     int32_t *groups)
{
  int32_t *const worst = groups + n;
  int found = 0;
  for (int32_t g = 0; g < p->layout.count.n_groups; ++g) {
    if (!has_elements(p, g) || is_among(n, groups, g)) continue;
    int k = found < WORST ? found++ : WORST;
    for (; k > 0 && first[stride * (size_t)g] > first[stride * (size_t)worst[k - 1]]; --k)
      if (k < WORST) worst[k] = worst[k - 1];
    if (k < WORST) worst[k] = g;
  }
  return n + found;
}

/// Groups to look at, all where they are few. @param[out] n_worst  of them, which stand first
static int choose_groups(const kg_pipeline *p, const kg_group_errors *of, int32_t groups[GROUPS],
                         int *n_worst)
{
  const int32_t n_groups = p->layout.count.n_groups;
  int n = 0;
  for (int32_t g = 0; n_groups <= GROUPS && g < n_groups; ++g)
    if (has_elements(p, g)) groups[n++] = g;
  if (n == 0) {
    n = add_worst(p, &of->sums->q, sizeof *of->sums / sizeof(double), n, groups);
    if (norms_of(p) == KG_NORMS) n = add_worst(p, of->flux, 1, n, groups);
  }
  *n_worst = n;
  for (int k = 1; n_groups > GROUPS && k <= SPREAD; ++k) {
    const int32_t g = (int32_t)((int64_t)n_groups * k / (SPREAD + 1));
    if (has_elements(p, g) && !is_among(n, groups, g)) groups[n++] = g;
  }
  return n;
}

static void add_squares(const kg_group_errors *of, int32_t group, double sum[KG_NORMS])
{
  const kg_error_sums *s = &of->sums[group];
  const double here[KG_NORMS] = {s->u, s->q, s->u_star, of->flux[group]};
  for (int k = 0; k < KG_NORMS; ++k) sum[k] += here[k];
}

/// How much a norm moves: the worst groups by what they have, the others by the ratio of a few.
/// @param[in] coarse, fine  squares of errors of the worst groups, then of the few
static double move_of(double total, const double coarse[2], const double fine[2])
{
  const double rest = total - coarse[0], ratio = coarse[1] > 0.0 ? fine[1] / coarse[1] : 1.0;
  const double moved = total + fine[0] - coarse[0] + (rest > 0.0 ? rest * (ratio - 1.0) : 0.0);
  const double move = fabs(sqrt(moved / total) - 1.0);
  return isfinite(move) ? move : 0.0;
}

static void compare(const kg_pipeline *p, const kg_group_errors *of, const kg_element_points *rules,
                    int rows, double moves[KG_NORMS])
{
  int32_t groups[GROUPS];
  int n_worst;
  const int n = choose_groups(p, of, groups, &n_worst);
  double total[KG_NORMS] = {0}, coarse[2][KG_NORMS] = {{0}};
  squares finer[GROUPS], fine[2] = {{{0}, {0}}};
  sum_groups(p, rules, rows, n, groups, finer);
  for (int32_t g = 0; g < p->layout.count.n_groups; ++g)
    if (has_elements(p, g)) add_squares(of, g, total);
  for (int i = 0; i < n; ++i) {
    add_squares(of, groups[i], coarse[i >= n_worst]);
    add(&finer[i], &fine[i >= n_worst]);
  }
  for (int k = 0; k < norms_of(p); ++k) {
    const double before[2] = {coarse[0][k], coarse[1][k]};
    const double after[2] = {fine[0].error[k], fine[1].error[k]};
    const double exact = fine[0].exact[k] + fine[1].exact[k];
    if (after[0] + after[1] > ROUNDING * ROUNDING * exact)
      moves[k] = move_of(total[k], before, after);
  }
}

kedge_status kg_norms_moves(const kg_pipeline *p, const kg_group_errors *of, double moves[KG_NORMS])
{
  const kg_shape *s = &p->shape;
  const int most = s->exact_rows > s->fast_exact_rows ? s->exact_rows : s->fast_exact_rows;
  const int rows = 2 * most < KG_GAUSS_MAX ? 2 * most : KG_GAUSS_MAX;
  kg_element_points rules;
  for (int k = 0; k < KG_NORMS; ++k) moves[k] = 0.0;
  const kedge_status status = kg_rule_create(p->solution, rows, &rules);
  if (status == KEDGE_OK) {
    p->solution->equation = p->resolved.equation;  // lent: the solution is not complete
    compare(p, of, &rules, rows, moves);
    p->solution->equation = (kg_coefficients){0};
  }
  kg_element_points_free(&rules);
  return status;
}
