// What the errors of a bench are against: values that lie there, and formulas.
#include <stdlib.h>

#include "bench.h"
#include "core/memory.h"

void bench_add_exact(bench *b)
{
  kedge_context *ctx = b->p.ctx;
  const kg_arrays *a = &b->p.arrays;
  const kg_points points = kg_rules_points(&b->p.rules, KG_SAMPLE_ERRORS);
  const size_t n = 3 * (size_t)points.n * KG_LANES * (size_t)b->p.shape.choice.recover_groups;
  double *values;
  BENCH_TRY(ctx, kg_host_alloc(ctx, n, sizeof *values, &values));
  for (size_t i = 0; i < n; ++i) values[i] = bench_random(i);
  BENCH_TRY(ctx, kg_upload(ctx, values, n, sizeof *values, &b->exact));
  free(values);
  BENCH_TRY(
      ctx, kg_alloc(ctx, (size_t)b->p.shape.count.n_groups, sizeof(kg_error_sums), &b->error_sums));
  b->p.arrays.error_sums = b->error_sums.data;
  b->errors = (kg_errors_args){b->p.space.batch,
                               points,
                               0,
                               b->p.shape.choice.recover_groups,
                               a->u,
                               a->q,
                               a->u_star,
                               b->exact.data,
                               a->error_sums,
                               NULL,
                               NULL,
                               NULL};
}

kedge_status bench_sample_errors(bench *b, int32_t first, int32_t count)
{
  const kg_arrays *a = &b->p.arrays;
  const kg_solved_chunk chunk = {.first = first,
                                 .count = count,
                                 .u = a->u,
                                 .flux = a->q,
                                 .u_star = a->u_star,
                                 .exact = a->exact_values,
                                 .sums = a->error_sums,
                                 .flux_sums = a->flux_sums};
  return kg_sampler_errors(&b->exact_solution, &chunk);
}

/// The samplers choose at their first call.
bool bench_add_formulas(bench *b)
{
  static const char *const names[] = {"u", "du/dx", "du/dy"};
  kedge_context *ctx = b->p.ctx;
  bench_set(ctx, b->problem, "exact", "u", "sin(2*pi*x)*sin(2*pi*y)");
  b->functions[0] = &b->problem->equation.source;
  b->functions[1] = &b->problem->exact_u;
  b->functions[2] = &b->problem->exact_dx;
  b->functions[3] = &b->problem->exact_dy;
  b->source = kg_sampler_of(&b->p.coefficients, KG_SAMPLE_LOADS,
                            (kg_sample_set){1, b->functions, names, ""});
  b->exact_solution = kg_sampler_of(&b->p.coefficients, KG_SAMPLE_ERRORS,
                                    (kg_sample_set){3, b->functions + 1, names, ""});
  if (ctx->backend != KEDGE_BACKEND_CUDA)
    BENCH_TRY(ctx, kg_alloc(ctx, b->exact.bytes, 1, &b->exact_values));
  b->p.arrays.exact_values = b->exact_values.data;
  setenv("KEDGE_EVALUATE", "compile", 1);
  BENCH_TRY(ctx, kg_sampler_loads(&b->source, 0, 0, 0,
                                  kg_plan_buffer(&b->p.plan, &b->p.arrays.source.values), NULL));
  BENCH_TRY(ctx, bench_sample_errors(b, 0, 0));
  unsetenv("KEDGE_EVALUATE");
  const bool compiled = b->source.evaluation.triangles && b->exact_solution.evaluation.triangles;
  return ctx->backend != KEDGE_BACKEND_CUDA || compiled;
}
