// Whether the rule of the norms of errors has points enough: kg_norms_moves().
#include <math.h>
#include <stdlib.h>

#include "basis/quadrature.h"
#include "core/memory.h"
#include "device/loop.h"
#include "elliptic/recover/recover.h"
#include "solution/values.h"

enum {
  WORST = 4,   ///< groups with the largest errors of q, and of the flux
  SPREAD = 2,  ///< groups, of the others, at equal distances
  GROUPS = 2 * WORST + SPREAD
};

/// Where rounding is, relative to the exact solution: the exact solution itself has it at points.
static const double ROUNDING = 1e-13;

/// A group counts as one of the worst if the square of its error norm is at least this part of the
/// total. If four groups are below this, their squares must triple to change the norm by 1 %.
static const double WORTH_A_LOOK = 0.0025;

/// The groups that are looked at, the worst first.
typedef struct chosen {
  int n, n_worst;
  int32_t group[GROUPS];
} chosen;

/// The norms that are looked at: where the diffusion is a number the flux is that times q.
static int norms_of(const kg_elliptic *p)
{
  return p->shape.choice.is_uniform ? KG_NORMS - 1 : KG_NORMS;
}

/// Whether a group has elements; of those that fill the last patch of a batch nothing was summed.
static bool has_elements(const kg_elliptic *p, int32_t group)
{
  const kg_chunk c = kg_chunk_of(p, group);
  return c.first * KG_LANES < p->shape.batch[c.batch].lanes.n_elements;
}

/// Sum squares over the chosen groups by the finer quadrature rule.
/// @param[out] error  [chosen group]: squares of the errors
/// @param[out] exact  squares of the exact solution, over all chosen groups
static kedge_status sum_groups(const kg_elliptic *p, const kg_measure *m, const chosen *c,
                               kg_squares *error, kg_squares *exact)
{
  const int n = c->n * m->n_parts;
  kg_squares *of_part;
  KG_TRY(kg_host_calloc(p->ctx, 2 * (size_t)n, sizeof *of_part, &of_part));
#pragma omp parallel for schedule(dynamic) \
    num_threads(kg_loop_threads(p->ctx, n, kg_measure_work(m)))
  for (int i = 0; i < n; ++i)
    kg_measure_part(m, c->group[i / m->n_parts], i % m->n_parts, &of_part[i], &of_part[n + i]);
  for (int i = 0; i < n; ++i) {
    kg_squares_add(&of_part[i], &error[i / m->n_parts]);
    kg_squares_add(&of_part[n + i], exact);
  }
  free(of_part);
  return KEDGE_OK;
}

static bool is_among(const chosen *c, int32_t group)
{
  for (int k = 0; k < c->n; ++k)
    if (c->group[k] == group) return true;
  return false;
}

/// Choose the groups with the largest squared errors: at least the part WORTH_A_LOOK of `total`.
/// @param[in] first  the squared error of group 0; that of group g is first[stride * g]
static void choose_worst(const kg_elliptic *p, const double *first, size_t stride, double total,
                         chosen *c)
{
  int32_t worst[WORST];
  int found = 0;
  for (int32_t g = 0; g < p->shape.count.n_groups; ++g) {
    if (!has_elements(p, g)) continue;
    int k = found < WORST ? found++ : WORST;
    for (; k > 0 && first[stride * (size_t)g] > first[stride * (size_t)worst[k - 1]]; --k)
      if (k < WORST) worst[k] = worst[k - 1];
    if (k < WORST) worst[k] = g;
  }
  for (int k = 0; k < found; ++k)
    if (first[stride * (size_t)worst[k]] >= WORTH_A_LOOK * total && !is_among(c, worst[k]))
      c->group[c->n++] = worst[k];
}

/// All groups where they are few.
static chosen choose_groups(const kg_elliptic *p, const kg_group_errors *of)
{
  const int32_t n_groups = p->shape.count.n_groups;
  chosen c = {0};
  for (int32_t g = 0; n_groups <= GROUPS && g < n_groups; ++g)
    if (has_elements(p, g)) c.group[c.n++] = g;
  if (c.n == 0) {
    choose_worst(p, &of->sums->q, sizeof *of->sums / sizeof(double), of->total[1], &c);
    if (norms_of(p) == KG_NORMS) choose_worst(p, of->flux, 1, of->total[3], &c);
  }
  c.n_worst = c.n;
  for (int k = 1; n_groups > GROUPS && k <= SPREAD; ++k) {
    const int32_t g = (int32_t)((int64_t)n_groups * k / (SPREAD + 1));
    if (has_elements(p, g) && !is_among(&c, g)) c.group[c.n++] = g;
  }
  return c;
}

static void add(double u, double q, double u_star, double flux, double sum[KG_NORMS])
{
  const double here[KG_NORMS] = {u, q, u_star, flux};
  for (int k = 0; k < KG_NORMS; ++k) sum[k] += here[k];
}

/// Estimate the relative change of a norm from the groups that were integrated again. The worst
/// groups contribute their own change; all others change by the ratio found in a few of them.
/// @param[in] coarse, fine  squared errors of the worst groups, and of the few, by either rule
static double move_of(double total, const double coarse[2], const double fine[2])
{
  const double rest = total - coarse[0], ratio = coarse[1] > 0.0 ? fine[1] / coarse[1] : 1.0;
  const double moved = total + fine[0] - coarse[0] + (rest > 0.0 ? rest * (ratio - 1.0) : 0.0);
  const double move = fabs(sqrt(moved / total) - 1.0);
  return isfinite(move) ? move : 0.0;
}

static kedge_status compare(kg_elliptic *p, const kg_group_errors *of, const kg_measure *m,
                            double moves[KG_NORMS])
{
  double exact[KG_NORMS] = {0};
  double coarse[2][KG_NORMS] = {{0}}, fine[2][KG_NORMS] = {{0}};
  kg_squares finer[GROUPS] = {{0}}, solution = {0};
  const chosen c = choose_groups(p, of);
  for (int i = 0; i < c.n; ++i) KG_TRY(kg_chunk_bring(p, kg_chunk_of(p, c.group[i])));
  KG_TRY(sum_groups(p, m, &c, finer, &solution));
  for (int i = 0; i < c.n; ++i) {
    const kg_error_sums *s = &of->sums[c.group[i]];
    const kg_squares *f = &finer[i];
    add(s->u, s->q, s->u_star, of->flux[c.group[i]], coarse[i >= c.n_worst]);
    add(f->u, f->q, f->u_star, f->sigma, fine[i >= c.n_worst]);
  }
  add(solution.u, solution.q, solution.u_star, solution.sigma, exact);
  for (int k = 0; k < norms_of(p); ++k) {
    const double before[2] = {coarse[0][k], coarse[1][k]}, after[2] = {fine[0][k], fine[1][k]};
    if (after[0] + after[1] > ROUNDING * ROUNDING * exact[k])
      moves[k] = move_of(of->total[k], before, after);
  }
  return KEDGE_OK;
}

/// Points a direction of the rule of the solve, the most of its batches.
static int rows_of(const kg_shape *s)
{
  int most = 0;
  for (int i = 0; i < s->n_batches; ++i) {
    const int rows = s->batch[i].by_quadrature ? s->exact_rows : s->fast_exact_rows;
    most = rows > most ? rows : most;
  }
  return most;
}

kedge_status kg_norms_moves(kg_elliptic *p, const kg_group_errors *of, double moves[KG_NORMS])
{
  const int twice = 2 * rows_of(&p->shape);
  kg_measure m;
  for (int k = 0; k < KG_NORMS; ++k) moves[k] = 0.0;
  p->run.solution->equation = p->equation.resolved.equation;  // lent: the solution is not complete
  kedge_status status = kg_measure_open(p->run.solution, p->equation.problem,
                                        twice < KG_GAUSS_MAX ? twice : KG_GAUSS_MAX, &m);
  if (status == KEDGE_OK) status = compare(p, of, &m, moves);
  kg_measure_close(&m);
  p->run.solution->equation = (kg_coefficients){0};
  return status;
}
