// Norms of errors against the exact solution of any problem: kedge_solution_errors().
#include <math.h>
#include <stdlib.h>

#include "basis/quadrature.h"
#include "core/memory.h"
#include "core/sized.h"
#include "device/loop.h"
#include "solution/values.h"

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
  *errors = (kedge_errors){.size = sizeof *errors,
                           .u = sqrt(all.u),
                           .u_star = sqrt(all.u_star),
                           .q = sqrt(all.q),
                           .sigma = sqrt(all.sigma),
                           .energy = sqrt(all.energy)};
  return KEDGE_OK;
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
  KG_TRY(kg_solution_bring(s, KG_HOLDS_MODES));
  kedge_errors all;
  kg_measure m;
  const int rows = points ? points : kg_cell_sample_rows(s->size.order);
  kedge_status status = kg_measure_open(s, problem, rows, &m);
  if (status == KEDGE_OK) status = measure_all(&m, &all);
  kg_measure_close(&m);
  if (status == KEDGE_OK) kg_copy_sized(&all, errors);
  return status;
}
