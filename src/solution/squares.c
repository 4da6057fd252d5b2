// Squares of errors: lanes of a group go through the points together.
#include <omp.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "expression/function.h"
#include "ops/local/quadrature/elements.h"
#include "problem/located.h"
#include "solution/values.h"

enum {
  LANES = KG_LANES,
  AT_ONCE = 2048,           ///< points that functions are asked for, of all elements of a group
  ARRAYS = 9 + KG_LOCATED,  ///< numbers of a point: what `points` has
};

/// Points of all lanes of a group, [point][lane], n of them.
typedef struct points {
  size_t n;
  double *x, *y;
  double *exact;      ///< [3][n]: u, u_x, u_y
  double *diffusion;  ///< [4][n]: as kg_coefficients_evaluate() leaves it
  kg_located at;
} points;

/// The elements of a group; lanes behind the last repeat it.
typedef struct group {
  const kg_results *results;
  int32_t first, n;  ///< of the results; lanes that are not empty
  double x[LANES][KG_NODES_MAX], y[LANES][KG_NODES_MAX];
} group;

/// Values at a point, of all lanes.
typedef struct values {
  double u[LANES], u_star[LANES], x[LANES], y[LANES];
  double sigma[2][LANES];  ///< where it is not diffusion q
} values;

typedef struct lane_squares {
  double u[LANES], u_star[LANES], q[LANES], sigma[LANES], energy[LANES];
} lane_squares;

void kg_squares_add(const kg_squares *part, kg_squares *sum)
{
  sum->u += part->u;
  sum->u_star += part->u_star;
  sum->q += part->q;
  sum->sigma += part->sigma;
  sum->energy += part->energy;
}

static int most_points(const kg_measure *m)
{
  return (m->n_points + m->n_parts - 1) / m->n_parts;
}

int64_t kg_measure_work(const kg_measure *m)
{
  return (int64_t)64 * LANES * most_points(m);
}

kedge_status kg_measure_open(const kedge_solution *s, const kedge_problem *problem, int rows,
                             kg_measure *m)
{
  *m = (kg_measure){.solution = s,
                    .exact = {problem->exact_u, problem->exact_dx, problem->exact_dy},
                    .n_points = rows * rows,
                    .n_parts = (rows * rows * LANES + AT_ONCE - 1) / AT_ONCE};
  const kg_function *const exact[] = {&m->exact[0], &m->exact[1], &m->exact[2]};
  for (int k = 0; k < 3; ++k) m->exact[k].t = kg_coefficients_time(&s->equation);
  KG_TRY(kg_coefficients_bring(&s->equation));
  KG_TRY(kg_rule_create(s, rows, &m->rule));
  // A caller's function cannot be compiled, and what does not fit need not be.
  if (kg_functions_compile(NULL, 3, exact, &m->program) != KEDGE_OK) m->program.n_results = 0;
  const size_t of_thread = (size_t)(ARRAYS * LANES * most_points(m));
  return kg_host_alloc(s->ctx, (size_t)s->ctx->threads * of_thread, sizeof *m->memory, &m->memory);
}

void kg_measure_close(kg_measure *m)
{
  kg_program_free(&m->program);
  kg_element_points_free(&m->rule);
  free(m->memory);
  *m = (kg_measure){0};
}

/// This thread's memory, for n points of each lane.
static points points_of(const kg_measure *m, int n)
{
  const size_t all = (size_t)(n * LANES);
  double *const at =
      m->memory + (size_t)omp_get_thread_num() * (size_t)(ARRAYS * LANES * most_points(m));
  return (points){all, at, at + all, at + 2 * all, at + 5 * all, kg_located_in(at + 9 * all, all)};
}

static void find_group(const kg_measure *m, int32_t number, group *g)
{
  const kg_results *r = m->solution->batch;
  while (number - r->first_group >= r->n_groups) ++r;
  const int32_t first = (number - r->first_group) * LANES, left = r->n_elements - first;
  g->results = r;
  g->first = first;
  g->n = left < 0 ? 0 : left < LANES ? left : LANES;
}

static int32_t element_of(const group *g, int lane)
{
  return g->results->first_element + g->first + (lane < g->n ? lane : g->n - 1);
}

/// Write where the points are, and what the functions are there.
static void evaluate(const kg_measure *m, const kg_cell_points *rule, const group *g, points *p)
{
  const kedge_solution *s = m->solution;
  for (size_t i = 0; i < p->n; ++i) {
    const int q = (int)i / LANES, lane = (int)i % LANES;
    const kg_cell_place place = kg_cell_place_at(rule, q, g->x[lane], g->y[lane]);
    p->x[i] = place.x;
    p->y[i] = place.y;
    kg_locate(&p->at, i, s->mesh, element_of(g, lane), rule->r[q], rule->s[q]);
  }
  kedge_points at = kg_located_points(&p->at, s->mesh, p->n, p->x, p->y);
  at.t = m->exact[0].t;
  if (m->program.n_results > 0) {
    kg_program_run(&m->program, &at, NULL, p->exact);
  } else {
    for (size_t k = 0; k < 3; ++k) kg_function_evaluate(&m->exact[k], &at, p->exact + k * p->n);
  }
  kg_coefficients_evaluate(&s->equation, &at, p->diffusion);
}

/// Sums of modes. @param[in] from  [mode][lane]
static void sum_modes(int n, const double *phi, const double *from, double *to)
{
  double sum[LANES] = {0};
  for (int k = 0; k < n; ++k)
    for (int lane = 0; lane < LANES; ++lane) sum[lane] += phi[k] * from[k * LANES + lane];
  for (int lane = 0; lane < LANES; ++lane) to[lane] = sum[lane];
}

/// From the sums of the flux functions, which are in x and y, to q.
static void make_gradients(const kg_measure *m, const kg_cell_place *place, const double *diffusion,
                           size_t n, values *v)
{
  for (int lane = 0; lane < LANES; ++lane) {
    const double *const d = diffusion + lane, kappa[] = {d[0], d[n], d[2 * n]};
    double sigma[2], gradient[2];
    kg_cell_flux_of(&place[lane], v->x[lane], v->y[lane], sigma);
    for (int k = 0; k < 2; ++k) sigma[k] /= m->solution->scale;
    kg_cell_gradient_of(kappa, sigma, gradient);
    v->x[lane] = gradient[0];
    v->y[lane] = gradient[1];
  }
}

/// Compute sigma and q at a point, for all lanes of a group. v->x and v->y hold the sums of the
/// flux functions and give sigma. q is the weak gradient, computed from its own coefficients.
static void take_gradients(const kg_measure *m, const kg_cell_place *place, int half,
                           const double *flux, const double *of_gradient, values *v)
{
  double g[2][LANES];
  for (int k = 0; k < 2; ++k)
    sum_modes(half, flux + k * half, of_gradient + k * half * LANES, g[k]);
  for (int lane = 0; lane < LANES; ++lane) {
    double sigma[2], gradient[2];
    kg_cell_flux_of(&place[lane], v->x[lane], v->y[lane], sigma);
    kg_cell_gradient_at(&place[lane], g[0][lane], g[1][lane], gradient);
    for (int k = 0; k < 2; ++k) v->sigma[k][lane] = sigma[k] / m->solution->scale;
    v->x[lane] = gradient[0];
    v->y[lane] = gradient[1];
  }
}

/// The solution at point q.
static void solution_at(const kg_measure *m, const kg_cell_points *rule, const group *g, int q,
                        const kg_cell_place *place, const double *diffusion, size_t n, values *v)
{
  const kg_results *const r = g->results;
  const int N = r->size.n_modes, n_star = r->size.n_star, half = r->size.n_flux / 2;
  const double *const phi = rule->value + q * n_star;
  const double *const flux = rule->flux + q * 2 * half;
  const int rows = kg_cell_flux_rows(2 * half, r->keeps_gradient);
  const double *const of_flux = r->flux + (int64_t)g->first * rows;
  sum_modes(N, phi, r->u + (int64_t)g->first * N, v->u);
  sum_modes(n_star, phi, r->u_star + (int64_t)g->first * n_star, v->u_star);
  sum_modes(half, flux, of_flux, v->x);
  sum_modes(half, flux + half, of_flux + half * LANES, v->y);
  if (r->keeps_gradient)
    take_gradients(m, place, half, flux, of_flux + 2 * half * LANES, v);
  else if (r->by_quadrature)
    make_gradients(m, place, diffusion, n, v);
}

static void add_point(const double *weight, const double *diffusion, size_t n, const values *v,
                      lane_squares *sum)
{
  for (int lane = 0; lane < LANES; ++lane) {
    const double w = weight[lane], x = v->x[lane], y = v->y[lane];
    const double *const d = diffusion + lane;
    const double along = d[0] * x + d[n] * y, across = d[n] * x + d[2 * n] * y;
    sum->u[lane] += w * v->u[lane] * v->u[lane];
    sum->u_star[lane] += w * v->u_star[lane] * v->u_star[lane];
    sum->q[lane] += w * (x * x + y * y);
    sum->sigma[lane] += w * (along * along + across * across);
    sum->energy[lane] += w * (along * x + across * y);
  }
}

/// Add a point to the sums of squares, as add_point() does, for elements on which sigma is not
/// exactly diffusion q. v holds the errors of u, u* and q, but sigma itself, not its error.
/// @param[in] e  the exact solution at the point
static void add_kept_point(const double *weight, const double *diffusion, size_t n, const values *v,
                           const values *e, lane_squares *sum)
{
  for (int lane = 0; lane < LANES; ++lane) {
    const double w = weight[lane], x = v->x[lane], y = v->y[lane];
    const double *const d = diffusion + lane, kappa[] = {d[0], d[n], d[2 * n]};
    const double error[2] = {v->sigma[0][lane] - (kappa[0] * e->x[lane] + kappa[1] * e->y[lane]),
                             v->sigma[1][lane] - (kappa[1] * e->x[lane] + kappa[2] * e->y[lane])};
    double by[2];
    kg_cell_gradient_of(kappa, error, by);
    sum->u[lane] += w * v->u[lane] * v->u[lane];
    sum->u_star[lane] += w * v->u_star[lane] * v->u_star[lane];
    sum->q[lane] += w * (x * x + y * y);
    sum->sigma[lane] += w * (error[0] * error[0] + error[1] * error[1]);
    sum->energy[lane] += w * (error[0] * by[0] + error[1] * by[1]);
  }
}

static void add_lanes(const lane_squares *lanes, int n, kg_squares *sum)
{
  for (int i = 0; i < n; ++i)
    kg_squares_add(&(kg_squares){lanes->u[i], lanes->u_star[i], lanes->q[i], lanes->sigma[i],
                                 lanes->energy[i]},
                   sum);
}

static void add_points(const kg_measure *m, const kg_cell_points *rule, const group *g,
                       const points *p, kg_squares *error, kg_squares *exact)
{
  lane_squares errors = {{0}}, exacts = {{0}};
  kg_cell_place place[LANES];
  double weight[LANES];
  values v, e;
  const size_t n = p->n;
  for (int q = 0; q < rule->n; ++q) {
    const double *const u = p->exact + q * LANES, *const diffusion = p->diffusion + q * LANES;
    for (int lane = 0; lane < LANES; ++lane) {
      place[lane] = kg_cell_place_at(rule, q, g->x[lane], g->y[lane]);
      weight[lane] = rule->weight[q] * place[lane].jacobian;
    }
    solution_at(m, rule, g, q, place, diffusion, n, &v);
    for (int lane = 0; lane < LANES; ++lane) {
      e.u[lane] = e.u_star[lane] = u[lane];
      e.x[lane] = u[n + (size_t)lane];
      e.y[lane] = u[2 * n + (size_t)lane];
      v.u[lane] -= e.u[lane];
      v.u_star[lane] -= e.u_star[lane];
      v.x[lane] -= e.x[lane];
      v.y[lane] -= e.y[lane];
    }
    if (g->results->keeps_gradient)
      add_kept_point(weight, diffusion, n, &v, &e, &errors);
    else
      add_point(weight, diffusion, n, &v, &errors);
    add_point(weight, diffusion, n, &e, &exacts);
  }
  add_lanes(&errors, g->n, error);
  add_lanes(&exacts, g->n, exact);
}

void kg_measure_part(const kg_measure *m, int32_t number, int part, kg_squares *error,
                     kg_squares *exact)
{
  group g;
  const int most = most_points(m), first = part * most, left = m->n_points - first;
  find_group(m, number, &g);
  if (g.n == 0 || left <= 0) return;
  for (int lane = 0; lane < LANES; ++lane)
    kg_nodes_of(m->solution->mesh, element_of(&g, lane), g.x[lane], g.y[lane]);
  const kg_cell_points rule = kg_points_part(kg_points_of(m->solution, &m->rule, element_of(&g, 0)),
                                             first, left < most ? left : most);
  points p = points_of(m, rule.n);
  evaluate(m, &rule, &g, &p);
  add_points(m, &rule, &g, &p, error, exact);
}
