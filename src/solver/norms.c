// Whether the rule of the norms of errors has points enough: kg_norms_moves().
#include <math.h>
#include <stdlib.h>

#include "basis/quadrature.h"
#include "core/memory.h"
#include "device/context.h"
#include "expression/function.h"
#include "solver/pipeline.h"
#include "solver/values.h"

enum {
  WORST = 4,   ///< groups with the largest errors of q
  SPREAD = 2,  ///< groups, of the others, at equal distances
  GROUPS = WORST + SPREAD
};

/// Where rounding is, relative to the exact solution: the exact solution itself has it at points.
static const double ROUNDING = 1e-13;

/// Sums of squares, by field: u, q, u*.
typedef struct squares {
  double error[3], exact[3];
} squares;

static void add(const squares *part, squares *sum)
{
  for (int k = 0; k < 3; ++k) {
    sum->error[k] += part->error[k];
    sum->exact[k] += part->exact[k];
  }
}

/// Points [first, first + n) of a rule.
static kg_cell_points part_of(const kg_cell_points *rule, int first, int n)
{
  kg_cell_points part = *rule;
  part.n = n;
  part.r += first;
  part.s += first;
  part.weight += first;
  part.map += 3 * first * rule->n_nodes;
  part.value += first * rule->size.n_star;
  part.flux += first * rule->size.n_flux;
  return part;
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
  double xy[2 * N], x[N], y[N], region[N], weight[N], found[N], exact[N];
  kg_place_points(p->solution, points, element, 2, xy);
  kg_weigh_points(p->solution, points, element, weight);
  for (int q = 0; q < points->n; ++q) {
    x[q] = xy[2 * q];
    y[q] = xy[2 * q + 1];
    region[q] = p->mesh->element_region[element];
  }
  const kedge_points at = {.n = (size_t)points->n, .x = x, .y = y, .region = region};
  for (int k = 0; k < 4; ++k) {
    kg_field_at(p->solution, points, fields[k], element, found);
    kg_function_evaluate(functions[k], &at, exact);
    for (int q = 0; q < points->n; ++q) {
      sum->error[norm[k]] += weight[q] * (found[q] - exact[q]) * (found[q] - exact[q]);
      sum->exact[norm[k]] += weight[q] * exact[q] * exact[q];
    }
  }
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
    const kg_cell_points points = part_of(rule, row * rows, rows);
    add_points(p, &points, element, &sum);
  }
  return sum;
}

/// Sums of groups by the finer rule.
static void sum_groups(const kg_pipeline *p, const kg_element_points *rules, int rows, int n,
                       const int32_t *groups, squares *of)
{
  squares of_lane[GROUPS * KG_LANES];
#pragma omp parallel for schedule(dynamic) num_threads(p->ctx->threads)
  for (int i = 0; i < n * KG_LANES; ++i)
    of_lane[i] = sum_lane(p, rules, rows, groups[i / KG_LANES], i % KG_LANES);
  for (int i = 0; i < n; ++i) of[i] = (squares){{0}};
  for (int i = 0; i < n * KG_LANES; ++i) add(&of_lane[i], &of[i / KG_LANES]);
}

/// The groups with the largest errors of q, largest first, as many as there are or as asked.
static int find_worst(const kg_pipeline *p, const kg_error_sums *by_group, int32_t worst[WORST])
{
  int n = 0;
  for (int32_t g = 0; g < p->layout.count.n_groups; ++g) {
    if (!has_elements(p, g)) continue;
    int k = n < WORST ? n++ : WORST;
    for (; k > 0 && by_group[g].q > by_group[worst[k - 1]].q; --k)
      if (k < WORST) worst[k] = worst[k - 1];
    if (k < WORST) worst[k] = g;
  }
  return n;
}

static bool is_among(int n, const int32_t *groups, int32_t group)
{
  for (int k = 0; k < n; ++k)
    if (groups[k] == group) return true;
  return false;
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

static void compare(const kg_pipeline *p, const kg_error_sums *by_group,
                    const kg_element_points *rules, int rows, double moves[3])
{
  const int32_t n_groups = p->layout.count.n_groups;
  int32_t groups[GROUPS];
  const int n_worst = find_worst(p, by_group, groups);
  int n = n_worst;
  for (int k = 1; k <= SPREAD; ++k) {
    const int32_t g = (int32_t)((int64_t)n_groups * k / (SPREAD + 1));
    if (has_elements(p, g) && !is_among(n, groups, g)) groups[n++] = g;
  }
  double total[3] = {0}, coarse[3][2] = {{0}}, fine[3][2] = {{0}}, exact[3] = {0};
  squares finer[GROUPS];
  sum_groups(p, rules, rows, n, groups, finer);
  for (int32_t g = 0; g < n_groups; ++g) {
    const double sums[3] = {by_group[g].u, by_group[g].q, by_group[g].u_star};
    for (int k = 0; k < 3 && has_elements(p, g); ++k) total[k] += sums[k];
  }
  for (int i = 0; i < n; ++i) {
    const kg_error_sums *of = &by_group[groups[i]];
    const double sums[3] = {of->u, of->q, of->u_star};
    for (int k = 0; k < 3; ++k) {
      coarse[k][i >= n_worst] += sums[k];
      fine[k][i >= n_worst] += finer[i].error[k];
      exact[k] += finer[i].exact[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    const double found = fine[k][0] + fine[k][1];
    moves[k] = found > ROUNDING * ROUNDING * exact[k] ? move_of(total[k], coarse[k], fine[k]) : 0.0;
  }
}

kedge_status kg_norms_moves(const kg_pipeline *p, const kg_error_sums *by_group, double moves[3])
{
  const kg_shape *s = &p->shape;
  const int most = s->exact_rows > s->fast_exact_rows ? s->exact_rows : s->fast_exact_rows;
  const int rows = 2 * most < KG_GAUSS_MAX ? 2 * most : KG_GAUSS_MAX;
  kg_element_points rules;
  for (int k = 0; k < 3; ++k) moves[k] = 0.0;
  const kedge_status status = kg_rule_create(p->solution, rows, &rules);
  if (status == KEDGE_OK) {
    p->solution->equation = p->resolved.equation;  // lent: the solution is not complete
    compare(p, by_group, &rules, rows, moves);
    p->solution->equation = (kg_coefficients){0};
  }
  kg_element_points_free(&rules);
  return status;
}
