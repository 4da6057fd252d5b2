// Local solve, post-processing and errors, chunk by chunk: what a chunk needs is a fixed amount of
// device memory, and results travel to the host as they are made: the first part of output.
#include <math.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "ops/constant_modes.h"
#include "ops/errors.h"
#include "ops/local_solve.h"
#include "ops/postprocess.h"
#include "ops/trace_sides.h"
#include "solver/pipeline.h"
#include "solver/sampler.h"

void kg_recover_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const size_t lanes = kg_shape_chunk_lanes(s), N = (size_t)s->size.n_modes, d = sizeof(double);
  const size_t n_groups = (size_t)s->count.n_groups;
  const bool means = s->choice.wants_means, errors = s->choice.wants_errors;
  const unsigned recover = KG_IN(RECOVER);
  kg_plan_array(plan, "u", N * lanes, d, recover, &a->u);
  kg_plan_array(plan, "q", 2 * N * lanes, d, recover, &a->q);
  kg_plan_array(plan, "u*", (size_t)s->size.n_star * lanes, d, recover, &a->u_star);
  kg_plan_array(plan, "indicator", lanes, d, recover, &a->indicator);
  kg_plan_array(plan, "means", means ? 3 * lanes : 0, d, recover, &a->constant);
  kg_plan_array(plan, "values of the exact solution", errors ? 3 * (size_t)s->n_points * lanes : 0,
                d, recover, &a->exact_values);
  kg_plan_array(plan, "sums of errors", errors ? n_groups : 0, sizeof *a->error_sums, recover,
                &a->error_sums);
}

static kedge_status local_solve(kg_pipeline *p, int32_t first, int32_t count)
{
  return kg_local_solve(p->ctx, &(kg_local_solve_args){.batch = p->batch,
                                                       .material = p->material,
                                                       .first_group = first,
                                                       .n_groups = count,
                                                       .trace = p->arrays.x,
                                                       .load = p->arrays.load,
                                                       .u = p->arrays.u,
                                                       .q = p->arrays.q});
}

static kedge_status constant_modes(kg_pipeline *p, int32_t count)
{
  return kg_constant_modes(p->ctx, &(kg_constant_modes_args){.size = p->shape.size,
                                                             .n_groups = count,
                                                             .u = p->arrays.u,
                                                             .q = p->arrays.q,
                                                             .constant = p->arrays.constant});
}

static kedge_status postprocess(kg_pipeline *p, int32_t first, int32_t count)
{
  return kg_postprocess(p->ctx, &(kg_postprocess_args){.batch = p->batch,
                                                       .first_group = first,
                                                       .n_groups = count,
                                                       .u = p->arrays.u,
                                                       .q = p->arrays.q,
                                                       .u_star = p->arrays.u_star,
                                                       .indicator = p->arrays.indicator});
}

static kedge_status take(kg_pipeline *p, const double *array, double *to, int rows, int32_t first,
                         int32_t count)
{
  const size_t group = (size_t)rows * KG_LANES;
  return kg_copy_out(p->ctx, to + group * (size_t)first, array, group * (size_t)count * sizeof *to);
}

static kedge_status solve_chunk(kg_pipeline *p, int32_t first, int32_t count)
{
  KG_TRY(local_solve(p, first, count));
  return p->shape.choice.wants_means ? constant_modes(p, count) : KEDGE_OK;
}

static kedge_status postprocess_chunk(kg_pipeline *p, int32_t first, int32_t count,
                                      kg_sampler *exact)
{
  KG_TRY(postprocess(p, first, count));
  if (!p->shape.choice.wants_errors) return KEDGE_OK;
  KG_TRY(kg_sampler_errors(exact, first, count));
  return kg_sampler_settle(exact, first, count);
}

static kedge_status take_chunk(kg_pipeline *p, int32_t first, int32_t count)
{
  kedge_solution *s = p->solution;
  const kg_sizes z = s->size;
  KG_TRY(take(p, p->arrays.indicator, s->indicator, 1, first, count));
  if (p->shape.choice.wants_means) return take(p, p->arrays.constant, s->constant, 3, first, count);
  KG_TRY(take(p, p->arrays.u, s->u, z.n_modes, first, count));
  KG_TRY(take(p, p->arrays.q, s->flux, 2 * z.n_modes, first, count));
  return take(p, p->arrays.u_star, s->u_star, z.n_star, first, count);
}

static kedge_status take_trace(kg_pipeline *p)
{
  if (p->shape.choice.wants_means) return KEDGE_OK;
  return kg_copy_out(
      p->ctx, p->solution->trace, p->arrays.x,
      (size_t)p->layout.count.n_edges * (size_t)p->shape.size.n_edge * sizeof(double));
}

static kedge_status sum_errors(kg_pipeline *p)
{
  const size_t n = (size_t)p->layout.count.n_groups;
  kg_error_sums *by_group, total = {0};
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *by_group, &by_group));
  kedge_status status = kg_copy_out(p->ctx, by_group, p->arrays.error_sums, n * sizeof *by_group);
  for (size_t g = 0; status == KEDGE_OK && g < n; ++g) {
    total.u += by_group[g].u;
    total.q += by_group[g].q;
    total.u_star += by_group[g].u_star;
    total.u_max = kg_larger(total.u_max, by_group[g].u_max);
  }
  free(by_group);
  kedge_report *report = &p->solution->report;
  report->u_l2 = sqrt(total.u);
  report->q_l2 = sqrt(total.q);
  report->u_star_l2 = sqrt(total.u_star);
  report->u_linf = total.u_max;
  if (status == KEDGE_OK) kg_note_small_error(p);
  return status;
}

/// What has left memory for the trace solve.
static kedge_status make_again(kg_pipeline *p)
{
  if (!p->shape.choice.sides_stay) {
    kg_stage_cost(p, kg_trace_sides_cost(&p->layout.count), 1.0);
    KG_TRY(kg_trace_sides(
        p->ctx, &(kg_trace_sides_args){.batch = p->batch, .side_edge = p->arrays.side_edge}));
  }
  return p->shape.choice.loads_stay ? KEDGE_OK : kg_make_loads(p);
}

static kedge_status all_chunks(kg_pipeline *p, kg_sampler *exact)
{
  const int32_t n_groups = p->layout.count.n_groups, chunk = p->shape.choice.recover_groups;
  KG_TRY(kg_stage_begin(p, KEDGE_STAGE_LOCAL_SOLVE));
  KG_TRY(kg_stage_end(p, make_again(p)));
  for (int32_t first = 0; first < n_groups; first += chunk) {
    const int32_t count = n_groups - first < chunk ? n_groups - first : chunk;
    KG_TRY(kg_stage_begin(p, KEDGE_STAGE_LOCAL_SOLVE));
    KG_TRY(kg_stage_end(p, solve_chunk(p, first, count)));
    KG_TRY(kg_stage_begin(p, KEDGE_STAGE_POSTPROCESS));
    KG_TRY(kg_stage_end(p, postprocess_chunk(p, first, count, exact)));
    KG_TRY(kg_stage_begin(p, KEDGE_STAGE_OUTPUT));
    KG_TRY(kg_stage_end(p, take_chunk(p, first, count)));
    KG_TRY(kg_stage_announce(p, KEDGE_STAGE_LOCAL_SOLVE, false));
  }
  KG_TRY(kg_stage_begin(p, KEDGE_STAGE_POSTPROCESS));
  KG_TRY(kg_stage_end(p, p->shape.choice.wants_errors ? sum_errors(p) : KEDGE_OK));
  KG_TRY(kg_stage_begin(p, KEDGE_STAGE_OUTPUT));
  return kg_stage_end(p, take_trace(p));
}

static void add_costs(kg_pipeline *p)
{
  const int64_t n = p->mesh->n_elements;
  p->stage = KEDGE_STAGE_LOCAL_SOLVE;
  kg_stage_cost(p, kg_local_solve_cost(p->shape.size, n), 1.0);
  if (p->shape.choice.wants_means) kg_stage_cost(p, kg_constant_modes_cost(n), 1.0);
  p->stage = KEDGE_STAGE_POSTPROCESS;
  kg_stage_cost(p, kg_postprocess_cost(p->shape.size, n), 1.0);
}

kedge_status kg_stages_local(kg_pipeline *p)
{
  static const char *const names[] = {"exact u", "du/dx of exact u", "du/dy of exact u"};
  const kg_function *const functions[] = {&p->problem->exact_u, &p->problem->exact_dx,
                                          &p->problem->exact_dy};
  char place[KG_PLACE_BYTES];
  kedge_problem_place(p->problem, "exact", "u", place, sizeof place);
  kg_sampler exact =
      kg_sampler_of(p, KG_SAMPLE_ERRORS, (kg_sample_set){3, functions, names, place});
  kedge_status status = kg_stage_announce(p, KEDGE_STAGE_LOCAL_SOLVE, false);
  if (status == KEDGE_OK) status = all_chunks(p, &exact);
  kg_sampler_close(&exact);
  KG_TRY(status);
  add_costs(p);
  KG_TRY(kg_stage_announce(p, KEDGE_STAGE_LOCAL_SOLVE, true));
  KG_TRY(kg_stage_announce(p, KEDGE_STAGE_POSTPROCESS, false));
  return kg_stage_announce(p, KEDGE_STAGE_POSTPROCESS, true);
}
