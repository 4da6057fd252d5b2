// Local solve, post-processing and errors, chunk by chunk, so that they need a fixed amount of
// device memory. If the solution is on the device, results are computed in its memory. If it is on
// the host, each chunk is copied there, as a first part of the output.
#include <stdlib.h>

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
  kg_plan_array(
      plan, "values of the exact solution",
      errors ? (1 + (size_t)s->batch[0].size.dimension) * (size_t)kg_shape_exact_points(s) * lanes
             : 0,
      d, recover, &a->exact_values);
  kg_plan_array(plan, "sums of errors", errors ? n_groups : 0, sizeof *a->error_sums, recover,
                &a->error_sums);
  kg_plan_array(plan, "sums of flux errors", fluxes ? n_groups : 0, sizeof *a->flux_sums, recover,
                &a->flux_sums);
  for (int k = 0; k < KG_CELL_KINDS; ++k)
    kg_plan_array(plan, "modes where fields are looked at", kg_fields_values(s, k), d, recover,
                  &a->field_points[k]);
  kg_plan_array(plan, "sums of fields", (size_t)kg_field_pieces(s->count.n_groups),
                sizeof *a->field_sums, recover, &a->field_sums);
  kg_numbers_declare(plan, s, &a->numbers);
}

/// Return the load vectors of a chunk. If they were discarded before the trace solve they are
/// computed again, in the memory that u* will use afterwards, which has more modes.
static kedge_status find_loads(kg_elliptic *p, const kg_chunk *c, const double **load)
{
  const kg_arrays *a = &p->arrays;
  double *const u_star = p->made[KG_HELD_U_STAR];
  const size_t group = (size_t)p->shape.batch[c->batch].size.n_modes * KG_LANES;
  *load = u_star;
  if (p->remainder.makes == KG_SIZES_PART)
    return kg_zero(p->ctx, u_star, group * (size_t)c->n * sizeof *u_star);
  if (p->shape.choice.loads_stay) {
    *load = kg_elliptic_rows(p, a->load, KG_ROWS_MODES, c);
    return KEDGE_OK;
  }
  return kg_source_loads(&p->source, c->batch, c->first, c->n,
                         kg_plan_buffer(&p->plan, &a->source.values), u_star);
}

/// @param[in] counts  the chunk is added to the sums over groups of the mesh
static kedge_status solve_chunk(kg_elliptic *p, kg_chunk *c, bool counts)
{
  const kg_elements part = kg_elements_part(&p->elements[c->batch], c->first, c->n);
  const kg_arrays *a = &p->arrays;
  double *const u = p->made[KG_HELD_U], *const flux = p->made[KG_HELD_FLUX];
  const double *load;
  KG_TRY(find_loads(p, c, &load));
  KG_TRY(kg_coefficients_put(&p->coefficients, c->batch, c->first, c->n, a->coefficients.values,
                             &c->coefficient));
  KG_TRY(p->equation.form->recover(p->ctx, &part, &c->coefficient, load, a->iteration.x, u, flux));
  if (counts) KG_TRY(kg_numbers_add(p, c, load));
  if (!p->shape.choice.wants_means || kg_only_sizes(p)) return KEDGE_OK;
  return p->equation.form->means(p->ctx, &part, &c->coefficient, u, flux, p->made[KG_HELD_MEANS]);
}

static kedge_status postprocess_chunk(kg_elliptic *p, const kg_chunk *c)
{
  const kg_elements part = kg_elements_part(&p->elements[c->batch], c->first, c->n);
  return p->equation.form->postprocess(p->ctx, &part, &c->coefficient, p->made[KG_HELD_U],
                                       p->made[KG_HELD_FLUX], p->made[KG_HELD_U_STAR],
                                       p->made[KG_HELD_INDICATOR]);
}

/// Post-process a chunk, and add it to sums of fields and of errors.
static kedge_status finish_chunk(kg_elliptic *p, const kg_chunk *c, kg_sampler *exact)
{
  const kg_arrays *a = &p->arrays;
  KG_TRY(postprocess_chunk(p, c));
  KG_TRY(kg_fields_add(p, c));
  if (!p->shape.choice.wants_errors || kg_only_sizes(p)) return KEDGE_OK;
  const kg_solved_chunk solved = {c->batch,
                                  c->first,
                                  c->n,
                                  p->made[KG_HELD_U],
                                  p->made[KG_HELD_FLUX],
                                  p->made[KG_HELD_U_STAR],
                                  a->exact_values,
                                  a->coefficients.diffusion,
                                  a->error_sums,
                                  a->flux_sums};
  return kg_sampler_errors(exact, &solved);
}

/// Give the caller's arrays in device memory their values of a chunk.
static kedge_status give_chunk(kg_elliptic *p, kg_chunk c)
{
  const int32_t n = kg_elements_part(&p->elements[c.batch], c.first, c.n).n_elements;
  for (int k = 0; k < p->data.n_given; ++k) {
    kg_node_values_args a = p->data.given[k].of[c.batch];
    a.n_elements = n;
    a.from = p->made[p->data.given[k].field];
    a.origin += (int64_t)c.first * KG_LANES;
    if (a.quadrilaterals) a.quadrilaterals += (int64_t)c.first * KG_LANES;
    KG_TRY(kg_node_values(p->ctx, &a));
  }
  return KEDGE_OK;
}

/// Copy some fields of a chunk to host memory.
static kedge_status take_chunk(kg_elliptic *p, unsigned fields, kg_chunk c)
{
  const kedge_solution *const s = p->run.solution;
  for (kg_held_field f = 0; f < KG_HELD_TRACE; ++f) {
    const size_t group = kg_held_rows(&s->batch[c.batch], f) * KG_LANES;
    if (fields >> f & 1)
      KG_TRY(kg_copy_out(p->ctx, kg_solution_here(s, f, c.batch) + group * (size_t)c.first,
                         p->made[f], group * (size_t)c.n * sizeof(double)));
  }
  return KEDGE_OK;
}

kg_chunk kg_chunk_of(const kg_elliptic *p, int32_t group)
{
  const kg_results *const batches = p->run.solution->batch, *b = batches;
  while (group - b->first_group >= b->n_groups) ++b;
  return (kg_chunk){.batch = (int)(b - batches), .first = group - b->first_group, .n = 1};
}

kedge_status kg_chunk_bring(kg_elliptic *p, kg_chunk c)
{
  const bool again = p->run.solution->only_report;
  if (p->run.solution->held[KG_HELD_U].is_current) return KEDGE_OK;
  KG_TRY(kg_solution_make_room(p->run.solution, KG_HOLDS_MODES));
  kg_elliptic_place_chunk(p, c.batch, c.first, true);
  if (again) KG_TRY(solve_chunk(p, &c, false));
  if (again) KG_TRY(postprocess_chunk(p, &c));
  return take_chunk(p, KG_HOLDS_MODES, c);
}

/// Give and take what is wanted of a chunk.
static kedge_status deliver(kg_elliptic *p, kg_chunk c)
{
  if (kg_only_sizes(p)) return KEDGE_OK;
  KG_TRY(give_chunk(p, c));
  return p->run.solution->place == KG_ON_HOST ? take_chunk(p, p->shape.choice.kept, c) : KEDGE_OK;
}

static kedge_status take_trace(kg_elliptic *p)
{
  const kg_held *const trace = &p->run.solution->held[KG_HELD_TRACE];
  const size_t bytes = trace->numbers * sizeof(double);
  double *const there = kg_solution_there(p->run.solution, KG_HELD_TRACE, 0);
  return there ? kg_copy(p->ctx, there, p->arrays.iteration.x, bytes)
               : kg_copy_out(p->ctx, trace->host, p->arrays.iteration.x, bytes);
}

static kedge_status take_rest(kg_elliptic *p, const kg_group_errors *of)
{
  if (kg_only_sizes(p)) return KEDGE_OK;
  KG_TRY(take_trace(p));
  if (!p->shape.choice.wants_errors) return KEDGE_OK;
  // The host looks at norms once it has the results.
  if (!p->shape.choice.wants_means && !kg_mesh_in_space(p->mesh))
    KG_TRY(kg_norms_moves(p, of, p->norm_moves));
  return kg_elliptic_diagnose(p, KG_ABOUT_NORMS);
}

/// Bring tables, and make again the sides of elements that have left memory for the trace solve.
static kedge_status prepare(kg_elliptic *p)
{
  KG_TRY(kg_fields_begin(p));
  if (!kg_only_sizes(p)) KG_TRY(kg_numbers_begin(p));
  if (p->shape.choice.sides_stay) return KEDGE_OK;
  kg_run_cost(&p->run, kg_trace_sides_cost(&p->shape.count), 1.0);
  return kg_trace_sides(p->ctx, &(kg_trace_sides_args){p->space.batch, p->arrays.space.side_edge});
}

static kedge_status one_chunk(kg_elliptic *p, kg_chunk c, kg_sampler *exact)
{
  kg_elliptic_place_chunk(p, c.batch, c.first, !kg_only_sizes(p));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_LOCAL_SOLVE));
  KG_TRY(kg_run_end(&p->run, solve_chunk(p, &c, !kg_only_sizes(p))));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_POSTPROCESS));
  KG_TRY(kg_run_end(&p->run, finish_chunk(p, &c, exact)));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_OUTPUT));
  KG_TRY(kg_run_end(&p->run, deliver(p, c)));
  return kg_run_announce(&p->run, KG_STAGE_LOCAL_SOLVE, false);
}

static kedge_status judge(kg_elliptic *p, kg_group_errors *of)
{
  KG_TRY(kg_fields_judge(p));
  if (!kg_only_sizes(p)) KG_TRY(kg_numbers_judge(p));
  return p->shape.choice.wants_errors && !kg_only_sizes(p) ? kg_errors_sum(p, of) : KEDGE_OK;
}

/// @param[out] of  free its arrays, also after a failure
static kedge_status all_chunks(kg_elliptic *p, kg_sampler *exact, kg_group_errors *of)
{
  if (!kg_only_sizes(p)) kg_solution_change(p->run.solution);
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_LOCAL_SOLVE));
  KG_TRY(kg_run_end(&p->run, prepare(p)));
  for (kg_chunk c = {0}; kg_next_chunk(p, p->shape.choice.recover_groups, &c);)
    KG_TRY(one_chunk(p, c, exact));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_POSTPROCESS));
  KG_TRY(kg_run_end(&p->run, judge(p, of)));
  KG_TRY(kg_run_begin(&p->run, KG_STAGE_OUTPUT));
  return kg_run_end(&p->run, take_rest(p, of));
}

/// u of all chunks.
static kedge_status all_modes(kg_elliptic *p)
{
  const kg_arrays *const a = &p->arrays;
  for (kg_chunk c = {0}; kg_next_chunk(p, p->shape.choice.recover_groups, &c);) {
    const kg_elements part = kg_elements_part(&p->elements[c.batch], c.first, c.n);
    KG_TRY(kg_coefficients_put(&p->coefficients, c.batch, c.first, c.n, a->coefficients.values,
                               &c.coefficient));
    KG_TRY(p->equation.form->modes(
        p->ctx, &part, &c.coefficient, kg_elliptic_rows(p, a->load, KG_ROWS_MODES, &c),
        a->iteration.x, kg_elliptic_rows(p, p->data.moving->u, KG_ROWS_MODES, &c), a->q));
    kg_run_cost(&p->run, p->equation.form->recover_cost(&p->elements[c.batch]),
                (double)c.n / kg_elements_groups(&p->elements[c.batch]));
  }
  return KEDGE_OK;
}

kedge_status kg_stage_modes(kg_elliptic *p)
{
  return kg_elliptic_stage(p, KG_STAGE_LOCAL_SOLVE, all_modes);
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
  static const char *const names[] = {"exact u", "du/dx of exact u", "du/dy of exact u",
                                      "du/dz of exact u"};
  const kg_function *const functions[] = {
      &p->equation.problem->exact_u, &p->equation.problem->exact_dx, &p->equation.problem->exact_dy,
      &p->equation.problem->exact_dz};
  char place[KG_PLACE_BYTES];
  kedge_problem_place(p->equation.problem, "exact", "u", place, sizeof place);
  kg_sampler exact =
      kg_sampler_of(&p->coefficients, KG_SAMPLE_ERRORS,
                    (kg_sample_set){1 + p->mesh->dimension, functions, names, place});
  kg_source_open(&p->source, p->data.resolved, p->data.gives_source, p->data.origin);
  kedge_status status = kg_run_announce(&p->run, KG_STAGE_LOCAL_SOLVE, false);
  kg_group_errors errors = {0};
  if (status == KEDGE_OK) status = all_chunks(p, &exact, &errors);
  free(errors.sums);
  free(errors.flux);
  kg_sampler_close(&exact);
  kg_sampler_rest(&p->source.sampler);
  KG_TRY(status);
  add_costs(p);
  KG_TRY(kg_run_announce(&p->run, KG_STAGE_LOCAL_SOLVE, true));
  KG_TRY(kg_run_announce(&p->run, KG_STAGE_POSTPROCESS, false));
  return kg_run_announce(&p->run, KG_STAGE_POSTPROCESS, true);
}
