// Norms of errors against the exact solution of any problem: kedge_solution_errors().
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "basis/quadrature.h"
#include "core/memory.h"
#include "core/sized.h"
#include "device/context.h"
#include "device/loop.h"
#include "problem/located.h"
#include "solution/values.h"

enum {
  TOGETHER = 512,               ///< points of a tetrahedron whose errors are computed together
  ARRAYS = 3 + 4 + KG_LOCATED,  ///< numbers of a point: x, y, z, the exact solution
  VALUES = 5                    ///< and u, u*, q
};

static kedge_errors errors_of(const kg_squares *all)
{
  return (kedge_errors){.size = sizeof(kedge_errors),
                        .u = sqrt(all->u),
                        .u_star = sqrt(all->u_star),
                        .q = sqrt(all->q),
                        .sigma = sqrt(all->sigma),
                        .energy = sqrt(all->energy)};
}

/// Groups do not depend on the number of threads, and their sums are added in order.
static kedge_status measure_all(const kg_measure *m, kedge_errors *errors)
{
  kedge_context *const ctx = m->solution->ctx;
  const int32_t n = m->solution->n_groups;
  kg_squares *of_group, all = {0};
  KG_TRY(kg_host_calloc(ctx, (size_t)n, sizeof *of_group, &of_group));
#pragma omp parallel for schedule(dynamic) \
    num_threads(kg_loop_threads(ctx, n, m->n_parts *kg_measure_work(m)))
  for (int32_t g = 0; g < n; ++g) {
    kg_squares exact = {0};
    for (int part = 0; part < m->n_parts; ++part) kg_measure_part(m, g, part, &of_group[g], &exact);
  }
  for (int32_t g = 0; g < n; ++g) kg_squares_add(&of_group[g], &all);
  free(of_group);
  *errors = errors_of(&all);
  return KEDGE_OK;
}

/// The exact solution at points of a tetrahedron, and its gradient.
/// @param[out] exact  [4][TOGETHER], and room for the other ARRAYS behind it
static void evaluate_exact(const kedge_solution *s, const kedge_problem *problem,
                           const kg_cell_points *points, int32_t element, double *exact)
{
  const kg_function *const of[4] = {&problem->exact_u, &problem->exact_dx, &problem->exact_dy,
                                    &problem->exact_dz};
  double *const x = exact + 4 * TOGETHER;
  const kg_located located = kg_located_in(x + 3 * TOGETHER, TOGETHER);
  for (int q = 0; q < points->n; ++q) {
    const double at[3] = {points->r[q], points->s[q], points->t[q]};
    double place[3];
    kg_tetrahedron_point(s->mesh, element, at, place);
    for (int d = 0; d < 3; ++d) x[d * TOGETHER + q] = place[d];
    kg_locate_at(&located, (size_t)q, s->mesh, element, at);
  }
  kedge_points at = kg_located_points(&located, s->mesh, (size_t)points->n, x, x + TOGETHER);
  at.z = x + 2 * TOGETHER;
  for (int k = 0; k < 4; ++k) kg_function_evaluate(of[k], &at, exact + k * TOGETHER);
}

/// Add the squares at points of a tetrahedron, where sigma is diffusion q.
/// @param[in] memory  [VALUES + ARRAYS][TOGETHER], for work
static void add_points(const kedge_solution *s, const kedge_problem *problem,
                       const kg_cell_points *points, int32_t element, double *memory,
                       kg_squares *sum)
{
  static const kedge_field fields[VALUES] = {KEDGE_FIELD_U, KEDGE_FIELD_U_STAR, KEDGE_FIELD_QX,
                                             KEDGE_FIELD_QY, KEDGE_FIELD_QZ};
  const double volumes = kg_space_volume(s->mesh, element) / kg_tetrahedron.measure;
  double *const exact = memory + VALUES * TOGETHER;
  evaluate_exact(s, problem, points, element, exact);
  for (int f = 0; f < VALUES; ++f)
    kg_field_at(s, points, fields[f], element, memory + f * TOGETHER);
  for (int q = 0; q < points->n; ++q) {
    const double at[3] = {points->r[q], points->s[q], points->t[q]};
    const double weight = volumes * points->weight[q];
    const double *const value = memory + q, *const e = exact + q;
    const double u = value[0] - e[0], u_star = value[TOGETHER] - e[0];
    double error[3], flux[3];
    for (int k = 0; k < 3; ++k) error[k] = value[(2 + k) * TOGETHER] - e[(1 + k) * TOGETHER];
    kg_diffusion_turn(s, element, at, error, flux);
    sum->u += weight * u * u;
    sum->u_star += weight * u_star * u_star;
    for (int k = 0; k < 3; ++k) {
      sum->q += weight * error[k] * error[k];
      sum->sigma += weight * flux[k] * flux[k];
      sum->energy += weight * error[k] * flux[k];
    }
  }
}

/// Measure the errors on a mesh of tetrahedra, KG_LANES elements at a time.
static kedge_status measure_space(const kedge_solution *s, const kedge_problem *problem, int rows,
                                  kedge_errors *errors)
{
  const int32_t n_elements = s->mesh->n_elements, n = (n_elements + KG_LANES - 1) / KG_LANES;
  kg_element_points rule = {0};
  kg_squares *of_group = NULL, all = {0};
  const size_t of_thread = (size_t)(VALUES + ARRAYS) * TOGETHER;
  double *memory = NULL;
  KG_TRY(kg_coefficients_bring(&s->equation));
  kedge_status status = kg_rule_create(s, rows, &rule);
  if (status == KEDGE_OK)
    status = kg_host_alloc(s->ctx, (size_t)s->ctx->threads * of_thread, sizeof *memory, &memory);
  if (status == KEDGE_OK) status = kg_host_calloc(s->ctx, (size_t)n, sizeof *of_group, &of_group);
  if (status == KEDGE_OK) {
    const kg_cell_points *const points = kg_points_of(s, &rule, 0);
#pragma omp parallel for schedule(dynamic) \
    num_threads(kg_loop_threads(s->ctx, n, (int64_t)64 * KG_LANES * points->n))
    for (int32_t g = 0; g < n; ++g)
      for (int32_t e = g * KG_LANES; e < n_elements && e < (g + 1) * KG_LANES; ++e)
        for (int first = 0; first < points->n; first += TOGETHER) {
          const int left = points->n - first;
          const kg_cell_points part =
              kg_points_part(points, first, left < TOGETHER ? left : TOGETHER);
          add_points(s, problem, &part, e, memory + (size_t)omp_get_thread_num() * of_thread,
                     &of_group[g]);
        }
    for (int32_t g = 0; g < n; ++g) kg_squares_add(&of_group[g], &all);
    *errors = errors_of(&all);
  }
  free(memory);
  free(of_group);
  kg_element_points_free(&rule);
  return status;
}

static kedge_status measure_plane(const kedge_solution *s, const kedge_problem *problem, int rows,
                                  kedge_errors *errors)
{
  kg_measure m;
  kedge_status status = kg_measure_open(s, problem, rows, &m);
  if (status == KEDGE_OK) status = measure_all(&m, errors);
  kg_measure_close(&m);
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
  KG_TRY(kg_problem_check_exact(s->ctx, problem, s->mesh));
  KG_TRY(kg_solution_check_full(s, "kedge_solution_errors"));
  KG_TRY(kg_solution_bring(s, KG_HOLDS_MODES));
  kedge_errors all;
  const int rows = points ? points : kg_cell_sample_rows(s->size.order);
  KG_TRY((kg_mesh_in_space(s->mesh) ? measure_space : measure_plane)(s, problem, rows, &all));
  kg_copy_sized(&all, errors);
  return KEDGE_OK;
}
