// Local solve, post-processing and errors, chunk by chunk: what a chunk needs is a fixed amount of
// device memory, and results travel to the host as they are made: the first part of output.
#include <stdlib.h>

#include "device/context.h"
#include "ops/trace/trace_sides.h"
#include "elliptic/recover/recover.h"

void kg_recover_declare(kg_plan *plan, const kg_shape *s, kg_arrays *a)
{
  const size_t lanes = kg_shape_chunk_lanes(s), d = sizeof(double);
  const size_t n_groups = (size_t)s->count.n_groups;
  const bool means = s->choice.wants_means, errors = s->choice.wants_errors;
  const bool fluxes = errors && (kg_shape_has_quadrature(s) || !s->choice.is_uniform);
  const unsigned recover = KG_IN(RECOVER);
  kg_plan_array(plan, "u", kg_shape_most_rows(s, KG_ROWS_MODES) * lanes, d, recover, &a->u);
  kg_plan_array(plan, "q", kg_shape_most_rows(s, KG_ROWS_FLUX) * lanes, d, recover, &a->q);
  kg_plan_array(plan, "u*", kg_shape_most_rows(s, KG_ROWS_STAR) * lanes, d, recover, &a->u_star);
  kg_plan_array(plan, "indicator", lanes, d, recover, &a->indicator);
  kg_plan_array(plan, "means", means ? kg_shape_most_rows(s, KG_ROWS_MEANS) * lanes : 0, d, recover,
                &a->constant);
  kg_plan_array(plan, "values of the exact solution",
                errors ? 3 * (size_t)kg_shape_exact_points(s) * lanes : 0, d, recover,
                &a->exact_values);
  kg_plan_array(plan, "sums of errors", errors ? n_groups : 0, sizeof *a->error_sums, recover,
                &a->error_sums);
  kg_plan_array(plan, "sums of flux errors", fluxes ? n_groups : 0, sizeof *a->flux_sums, recover,
                &a->flux_sums);
  for (int k = 0; k < KG_CELL_KINDS; ++k)
    kg_plan_array(plan, "modes where fields are looked at", kg_fields_values(s, k), d, recover,
                  &a->field_points[k]);
  kg_plan_array(plan, "sums of fields", (size_t)kg_field_pieces(s->count.n_groups),
                sizeof *a->field_sums, recover, &a->field_sums);
}

/// The load vectors of a chunk. Those that have left memory for the trace solve are made again, and
/// lie where u*, which has more modes, will.
static kedge_status find_loads(kg_elliptic *p, const kg_chunk *c, const double **load)
{
  const kg_arrays *a = &p->arrays;
  const size_t group = (size_t)p->shape.batch[c->batch].size.n_modes * KG_LANES;
  if (p->remainder.makes == KG_SIZES_PART) {
    *load = a->u_star;
    return kg_zero(p->ctx, a->u_star, group * (size_t)c->n * sizeof *a->u_star);
  }
  if (p->shape.choice.loads_stay) {
    *load = kg_elliptic_rows(p, a->load, KG_ROWS_MODES, c->batch) + group * (size_t)c->first;
    return KEDGE_OK;
  }
  *load = a->u_star;
  return kg_source_loads(&p->source, c->batch, c->first, c->n,
                         kg_plan_buffer(&p->plan, &a->source.values), a->u_star);
}

static kedge_status solve_chunk(kg_elliptic *p, kg_chunk *c)
{
  const kg_elements part = kg_elements_part(&p->elements[c->batch], c->first, c->n);
  const kg_arrays *a = &p->arrays;
  const double *load;
  KG_TRY(find_loads(p, c, &load));
  KG_TRY(kg_coefficients_put(&p->coefficients, c->batch, c->first, c->n, a->coefficients.values,
                             &c->coefficient));
  KG_TRY(
      p->equation.form->recover(p->ctx, &part, &c->coefficient, load, a->iteration.x, a->u, a->q));
  if (!p->shape.choice.wants_means || kg_only_sizes(p)) return KEDGE_OK;
  return p->equation.form->means(p->ctx, &part, &c->coefficient, a->u, a->q, a->constant);
}

static kedge_status postprocess_chunk(kg_elliptic *p, const kg_chunk *c, kg_sampler *exact)
{
  const kg_elements part = kg_elements_part(&p->elements[c->batch], c->first, c->n);
  const kg_arrays *a = &p->arrays;
  KG_TRY(p->equation.form->postprocess(p->ctx, &part, &c->coefficient, a->u, a->q, a->u_star,
                                       a->indicator));
  KG_TRY(kg_fields_add(p, c));
  if (!p->shape.choice.wants_errors || kg_only_sizes(p)) return KEDGE_OK;
  const kg_solved_chunk solved = {c->batch,
                                  c->first,
                                  c->n,
                                  a->u,
                                  a->q,
                                  a->u_star,
                                  a->exact_values,
                                  a->coefficients.diffusion,
                                  a->error_sums,
                                  a->flux_sums};
  return kg_sampler_errors(exact, &solved);
}

static kedge_status take(kg_elliptic *p, const double *array, double *to, int rows, kg_chunk c)
{
  const size_t group = (size_t)rows * KG_LANES;
  return kg_copy_out(p->ctx, to + group * (size_t)c.first, array, group * (size_t)c.n * sizeof *to);
}

/// Give the caller's arrays in device memory their values of a chunk.
static kedge_status give_chunk(kg_elliptic *p, kg_chunk c)
{
  const int32_t n = kg_elements_part(&p->elements[c.batch], c.first, c.n).n_elements;
  for (int k = 0; k < p->data.n_given; ++k) {
    kg_node_values_args a = p->data.given[k].of[c.batch];
    a.n_elements = n;
    a.origin += (int64_t)c.first * KG_LANES;
    if (a.wide) a.wide += (int64_t)c.first * KG_LANES;
    KG_TRY(kg_node_values(p->ctx, &a));
  }
  return KEDGE_OK;
}

static kedge_status take_chunk(kg_elliptic *p, kg_chunk c)
{
  const kg_results *to = &p->run.solution->batch[c.batch];
  const kg_arrays *a = &p->arrays;
  if (kg_only_sizes(p)) return KEDGE_OK;
  KG_TRY(give_chunk(p, c));
  KG_TRY(take(p, a->indicator, to->indicator, 1, c));
  const int n_means = kg_batch_rows(&p->shape.batch[c.batch], KG_ROWS_MEANS);
  if (p->shape.choice.wants_means) return take(p, a->constant, to->constant, n_means, c);
  KG_TRY(take(p, a->u, to->u, to->size.n_modes, c));
  KG_TRY(take(p, a->q, to->flux, kg_batch_rows(&p->shape.batch[c.batch], KG_ROWS_FLUX), c));
  return take(p, a->u_star, to->u_star, to->size.n_star, c);
}

static kedge_status take_trace(kg_elliptic *p)
{
  if (p->shape.choice.wants_means) return KEDGE_OK;
  return kg_copy_out(
      p->ctx, p->run.solution->trace, p->arrays.iteration.x,
      (size_t)p->space.layout.count.n_edges * (size_t)p->shape.size.n_edge * sizeof(double));
}

/// The host looks at norms once it has the results.
static kedge_status look_at_norms(kg_elliptic *p, const kg_group_errors *of)
{
  if (!p->shape.choice.wants_errors) return KEDGE_OK;
  if (!p->shape.choice.wants_means) KG_TRY(kg_norms_moves(p, of, p->norm_moves));
  return kg_elliptic_diagnose(p, KG_ABOUT_NORMS);
}

static kedge_status take_rest(kg_elliptic *p, const kg_group_errors *of)
{
  if (kg_only_sizes(p)) return KEDGE_OK;
  KG_TRY(take_trace(p));
  return look_at_norms(p, of);
}

/// Make again the sides of elements that have left memory for the trace solve.
static kedge_status make_sides(kg_elliptic *p)
{
  if (p->shape.choice.sides_stay) return KEDGE_OK;
  kg_run_cost(&p->run, kg_trace_sides_cost(&p->space.layout.count), 1.0);
  return kg_trace_sides(p->ctx, &(kg_trace_sides_args){.batch = p->space.batch,
                                                       .side_edge = p->arrays.space.side_edge});
}

static kedge_status prepare(kg_elliptic *p)
{
  KG_TRY(kg_fields_begin(p));
  return make_sides(p);
}

static kedge_status one_chunk(kg_elliptic *p, kg_chunk c, kg_sampler *exact)
{
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_LOCAL_SOLVE));
  KG_TRY(kg_run_end(&p->run, solve_chunk(p, &c)));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_POSTPROCESS));
  KG_TRY(kg_run_end(&p->run, postprocess_chunk(p, &c, exact)));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_OUTPUT));
  KG_TRY(kg_run_end(&p->run, take_chunk(p, c)));
  return kg_run_announce(&p->run, KG_STAGE_LOCAL_SOLVE, false);
}

static kedge_status judge(kg_elliptic *p, kg_group_errors *of)
{
  KG_TRY(kg_fields_judge(p));
  return p->shape.choice.wants_errors && !kg_only_sizes(p) ? kg_errors_sum(p, of) : KEDGE_OK;
}

/// @param[out] of  free its arrays, also after a failure
static kedge_status all_chunks(kg_elliptic *p, kg_sampler *exact, kg_group_errors *of)
{
  const int32_t most = p->shape.choice.recover_groups;
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_LOCAL_SOLVE));
  KG_TRY(kg_run_end(&p->run, prepare(p)));
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const int32_t n_groups = kg_elements_groups(&p->elements[i]);
    for (int32_t first = 0; first < n_groups; first += most) {
      const int32_t left = n_groups - first;
      KG_TRY(one_chunk(p, (kg_chunk){.batch = i, .first = first, .n = left < most ? left : most},
                       exact));
    }
  }
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_POSTPROCESS));
  KG_TRY(kg_run_end(&p->run, judge(p, of)));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_OUTPUT));
  return kg_run_end(&p->run, take_rest(p, of));
}

static void add_costs(kg_elliptic *p)
{
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_elements *e = &p->elements[i];
    p->run.stage = KG_STAGE_LOCAL_SOLVE;
    kg_run_cost(&p->run, p->equation.form->recover_cost(e), 1.0);
    if (p->shape.choice.wants_means) kg_run_cost(&p->run, p->equation.form->means_cost(e), 1.0);
    p->run.stage = KG_STAGE_POSTPROCESS;
    kg_run_cost(&p->run, p->equation.form->postprocess_cost(e), 1.0);
  }
}

kedge_status kg_stages_local(kg_elliptic *p)
{
  static const char *const names[] = {"exact u", "du/dx of exact u", "du/dy of exact u"};
  const kg_function *const functions[] = {&p->equation.problem->exact_u,
                                          &p->equation.problem->exact_dx,
                                          &p->equation.problem->exact_dy};
  char place[KG_PLACE_BYTES];
  kedge_problem_place(p->equation.problem, "exact", "u", place, sizeof place);
  kg_sampler exact = kg_sampler_of(&p->coefficients, KG_SAMPLE_ERRORS,
                                   (kg_sample_set){3, functions, names, place});
  kg_elliptic_open_source(p);
  kedge_status status = kg_run_announce(&p->run, KG_STAGE_LOCAL_SOLVE, false);
  kg_group_errors errors = {0};
  if (status == KEDGE_OK) status = all_chunks(p, &exact, &errors);
  free(errors.sums);
  free(errors.flux);
  kg_sampler_close(&exact);
  kg_source_rest(&p->source);
  KG_TRY(status);
  add_costs(p);
  KG_TRY(kg_run_announce(&p->run, KG_STAGE_LOCAL_SOLVE, true));
  KG_TRY(kg_run_announce(&p->run, KG_STAGE_POSTPROCESS, false));
  return kg_run_announce(&p->run, KG_STAGE_POSTPROCESS, true);
}
