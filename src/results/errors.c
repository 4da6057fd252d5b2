// Norms of errors against the exact solution of any problem: kedge_solution_errors().
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "basis/quadrature.h"
#include "core/memory.h"
#include "core/sized.h"
#include "device/loop.h"
#include "expression/function.h"
#include "problem/located.h"
#include "results/results.h"
#include "solver/cells.h"

enum {
  AT_ONCE = 4096,      // points that functions are asked for
  ROW = KG_GAUSS_MAX,  // points of a row
  ARRAYS = 5 + KG_LOCATED
};

/// Sums of squares, by kedge_errors.
typedef struct squares {
  double u, u_star, q, sigma, energy;
} squares;

/// Points of some elements, and the exact u, u_x and u_y there.
typedef struct block {
  double *x, *y, *exact[3];
  kg_located located;
} block;

typedef struct measure {
  const kedge_solution *s;
  const kedge_problem *problem;
  const kg_element_points *rules;
  int rows, at_once;  ///< points a direction; elements of a block
  squares *of_block;  ///< [block]
  double *memory;     ///< [thread][ARRAYS][at_once * rows^2]
} measure;

static block block_of(const measure *m, int thread)
{
  const size_t n = (size_t)m->at_once * (size_t)(m->rows * m->rows);
  double *const at = m->memory + ARRAYS * n * (size_t)thread;
  return (block){at, at + n, {at + 2 * n, at + 3 * n, at + 4 * n}, kg_located_in(at + 5 * n, n)};
}

/// Ask for the exact solution at all points of elements [first, end).
static void evaluate(const measure *m, int32_t first, int32_t end, const block *b)
{
  const kg_function *const functions[] = {&m->problem->exact_u, &m->problem->exact_dx,
                                          &m->problem->exact_dy};
  double xy[2 * ROW];
  size_t n = 0;
  for (int32_t e = first; e < end; ++e)
    for (int row = 0; row < m->rows; ++row) {
      const kg_cell_points part =
          kg_points_part(kg_points_of(m->s, m->rules, e), row * m->rows, m->rows);
      kg_place_points(m->s, &part, e, 2, xy);
      for (int q = 0; q < m->rows; ++q, ++n) {
        b->x[n] = xy[2 * q];
        b->y[n] = xy[2 * q + 1];
        kg_locate(&b->located, n, m->s->mesh, e, part.r[q], part.s[q]);
      }
    }
  const kedge_points points = kg_located_points(&b->located, m->s->mesh, n, b->x, b->y);
  for (int k = 0; k < 3; ++k) kg_function_evaluate(functions[k], &points, b->exact[k]);
}

/// Add the squares of a row of points. @param[in] exact  [3], of the row
static void add_row(const measure *m, const kg_cell_points *points, int32_t element,
                    const double *const exact[3], squares *sum)
{
  static const kedge_field fields[] = {KEDGE_FIELD_U, KEDGE_FIELD_U_STAR, KEDGE_FIELD_QX,
                                       KEDGE_FIELD_QY};
  double weight[ROW], error[4][ROW], diffusion[4 * ROW];
  const int n = points->n;
  kg_weigh_points(m->s, points, element, weight);
  kg_diffusion_at(m->s, points, element, diffusion);
  for (int k = 0; k < 4; ++k) kg_field_at(m->s, points, fields[k], element, error[k]);
  for (int i = 0; i < n; ++i) {
    const double u = error[0][i] - exact[0][i], u_star = error[1][i] - exact[0][i];
    const double x = error[2][i] - exact[1][i], y = error[3][i] - exact[2][i];
    const double *const k = diffusion + i;
    const double along = k[0] * x + k[n] * y, across = k[n] * x + k[2 * n] * y;
    sum->u += weight[i] * u * u;
    sum->u_star += weight[i] * u_star * u_star;
    sum->q += weight[i] * (x * x + y * y);
    sum->sigma += weight[i] * (along * along + across * across);
    sum->energy += weight[i] * (along * x + across * y);
  }
}

static squares sum_block(const measure *m, int32_t first, int32_t end, const block *b)
{
  squares sum = {0};
  size_t at = 0;
  evaluate(m, first, end, b);
  for (int32_t e = first; e < end; ++e)
    for (int row = 0; row < m->rows; ++row, at += (size_t)m->rows) {
      const kg_cell_points part =
          kg_points_part(kg_points_of(m->s, m->rules, e), row * m->rows, m->rows);
      const double *const exact[] = {b->exact[0] + at, b->exact[1] + at, b->exact[2] + at};
      add_row(m, &part, e, exact, &sum);
    }
  return sum;
}

/// Blocks do not depend on the number of threads, and their sums are added in order.
static void sum_all(const measure *m, kedge_errors *errors)
{
  const int32_t n = m->s->mesh->n_elements, step = m->at_once, blocks = (n + step - 1) / step;
#pragma omp parallel for schedule(dynamic) \
    num_threads(kg_loop_threads(m->s->ctx, n, 64 * m->rows * m->rows))
  for (int32_t i = 0; i < blocks; ++i) {
    const block b = block_of(m, omp_get_thread_num());
    const int32_t first = i * step, end = n - first < step ? n : first + step;
    m->of_block[i] = sum_block(m, first, end, &b);
  }
  squares all = {0};
  for (int32_t i = 0; i < blocks; ++i) {
    all.u += m->of_block[i].u;
    all.u_star += m->of_block[i].u_star;
    all.q += m->of_block[i].q;
    all.sigma += m->of_block[i].sigma;
    all.energy += m->of_block[i].energy;
  }
  *errors = (kedge_errors){.size = sizeof *errors,
                           .u = sqrt(all.u),
                           .u_star = sqrt(all.u_star),
                           .q = sqrt(all.q),
                           .sigma = sqrt(all.sigma),
                           .energy = sqrt(all.energy)};
}

static kedge_status measure_all(measure *m, kedge_errors *errors)
{
  kedge_context *const ctx = m->s->ctx;
  const int n = m->rows * m->rows;
  kg_element_points rules;
  m->rules = &rules;
  m->at_once = AT_ONCE / n > 0 ? AT_ONCE / n : 1;
  const size_t blocks = (size_t)(m->s->mesh->n_elements / m->at_once) + 1;
  kedge_status status = kg_rule_create(m->s, m->rows, &rules);
  if (status == KEDGE_OK) status = kg_host_alloc(ctx, blocks, sizeof *m->of_block, &m->of_block);
  if (status == KEDGE_OK)
    status = kg_host_alloc(ctx, (size_t)ctx->threads * ARRAYS * (size_t)m->at_once,
                           (size_t)n * sizeof *m->memory, &m->memory);
  if (status == KEDGE_OK) sum_all(m, errors);
  free(m->memory);
  free(m->of_block);
  kg_element_points_free(&rules);
  return status;
}

kedge_status kedge_solution_errors(const kedge_solution *s, const kedge_problem *problem,
                                   int points, kedge_errors *errors)
{
  KG_REQUIRE(NULL, s && problem && errors, KEDGE_ERR_ARG,
             "kedge_solution_errors: an argument is NULL");
  KG_TRY(kg_check_sized(s->ctx, "KEDGE_ERRORS_INIT", errors->size));
  KG_REQUIRE(s->ctx, points >= 0 && points <= KG_GAUSS_MAX, KEDGE_ERR_ARG,
             "kedge_solution_errors: points is %d; it is 1 to %d, or 0", points, KG_GAUSS_MAX);
  KG_REQUIRE(s->ctx, problem->exact_u.kind != KG_FUNCTION_NONE, KEDGE_ERR_ARG,
             "kedge_solution_errors: the problem has no exact solution");
  KG_TRY(kg_solution_check_full(s, "kedge_solution_errors"));
  kedge_errors all;
  measure m = {
      .s = s, .problem = problem, .rows = points ? points : kg_cell_sample_rows(s->size.order)};
  KG_TRY(measure_all(&m, &all));
  kg_copy_sized(&all, errors);
  return KEDGE_OK;
}
