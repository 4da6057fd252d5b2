// Local solve, post-processing and errors, chunk by chunk: what a chunk needs is a fixed amount of
// device memory, and results travel to the host as they are made: the first part of output.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "core/memory.h"
#include "ops/sample/errors.h"
#include "ops/sample/field_sums.h"
#include "ops/trace/trace_sides.h"
#include "solver/cells.h"
#include "solver/pipeline.h"
#include "solver/sampler.h"

/// The length of the table of kg_field_points() of a shape; 0 where the mesh has none of it.
static size_t field_values(const kg_shape *s, int kind)
{
  for (int i = 0; i < s->n_batches; ++i) {
    const kg_shape_batch *b = &s->batch[i];
    if (kg_cell_index(b->cell) == kind)
      return (size_t)(2 * b->size.n_facets + 1) * (size_t)b->size.n_star;
  }
  return 0;
}

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
  kg_plan_array(plan, "magnitudes", n_groups, sizeof *a->magnitudes, recover, &a->magnitudes);
  kg_plan_array(plan, "values of the exact solution",
                errors ? 3 * (size_t)kg_shape_exact_points(s) * lanes : 0, d, recover,
                &a->exact_values);
  kg_plan_array(plan, "sums of errors", errors ? n_groups : 0, sizeof *a->error_sums, recover,
                &a->error_sums);
  kg_plan_array(plan, "sums of flux errors", fluxes ? n_groups : 0, sizeof *a->flux_sums, recover,
                &a->flux_sums);
  for (int k = 0; k < KG_CELL_KINDS; ++k)
    kg_plan_array(plan, "modes where fields are looked at", field_values(s, k), d, recover,
                  &a->field_points[k]);
  kg_plan_array(plan, "sums of fields", (size_t)kg_field_pieces(s->count.n_groups),
                sizeof *a->field_sums, recover, &a->field_sums);
}

/// Groups first .. first + n of a batch, as many as are handled at once, and their coefficients.
typedef struct chunk {
  int batch;
  int32_t first, n;
  kg_coefficient coefficient;
} chunk;

static bool only_sizes(const kg_pipeline *p)
{
  return p->remainder.makes != KG_MAKES_SOLUTION;
}

/// The load vectors of a chunk. Those that have left memory for the trace solve are made again, and
/// lie where u*, which has more modes, will.
static kedge_status find_loads(kg_pipeline *p, const chunk *c, const double **load)
{
  const kg_arrays *a = &p->arrays;
  const size_t group = (size_t)p->shape.batch[c->batch].size.n_modes * KG_LANES;
  if (p->remainder.makes == KG_SIZES_PART) {
    *load = a->u_star;
    return kg_zero(p->ctx, a->u_star, group * (size_t)c->n * sizeof *a->u_star);
  }
  if (p->shape.choice.loads_stay) {
    *load = kg_pipeline_rows(p, a->load, KG_ROWS_MODES, c->batch) + group * (size_t)c->first;
    return KEDGE_OK;
  }
  *load = a->u_star;
  return kg_source_loads(p, c->batch, c->first, c->n, kg_plan_buffer(&p->plan, &a->source_values),
                         a->u_star);
}

static kedge_status solve_chunk(kg_pipeline *p, chunk *c)
{
  const kg_elements part = kg_elements_part(&p->elements[c->batch], c->first, c->n);
  const kg_arrays *a = &p->arrays;
  const double *load;
  KG_TRY(find_loads(p, c, &load));
  KG_TRY(kg_cells_coefficient(p, c->batch, c->first, c->n, a->coefficients, &c->coefficient));
  KG_TRY(p->form->recover(p->ctx, &part, &c->coefficient, load, a->x, a->u, a->q));
  if (!p->shape.choice.wants_means || only_sizes(p)) return KEDGE_OK;
  return p->form->means(p->ctx, &part, &c->coefficient, a->u, a->q, a->constant);
}

/// The tables of the points where fields are looked at.
static kedge_status put_field_points(kg_pipeline *p)
{
  static const kg_cell *const cells[KG_CELL_KINDS] = {&kg_triangle, &kg_quadrilateral};
  for (int k = 0; k < KG_CELL_KINDS; ++k) {
    double value[KG_FIELD_POINTS * (KEDGE_ORDER_MAX + 2) * (KEDGE_ORDER_MAX + 2)];
    if (!p->arrays.field_points[k]) continue;
    kg_field_points(cells[k], p->shape.size.order, value);
    KG_TRY(kg_copy_in(p->ctx, p->arrays.field_points[k], value,
                      field_values(&p->shape, k) * sizeof *value));
  }
  return KEDGE_OK;
}

/// Add a chunk to the sums of fields.
static kedge_status look_at_fields(kg_pipeline *p, const kg_elements *part, const chunk *c)
{
  const kg_arrays *a = &p->arrays;
  const kg_shape_batch *b = &p->shape.batch[c->batch];
  const kg_field_sums_args args = {
      .n_facets = b->size.n_facets,
      .n_modes = b->size.n_modes,
      .n_star = b->size.n_star,
      .n_points = 2 * b->size.n_facets + 1,
      .value = a->field_points[kg_cell_index(b->cell)],
      .n_elements = part->n_elements,
      .first_element = b->lanes.first_element + c->first * KG_LANES,
      .vertices = a->vertices,
      .vertex = part->by_quadrature ? part->cells.vertex : part->batch.arrays.vertex,
      .u = a->u,
      .u_star = a->u_star,
      .n_means = kg_batch_rows(b, KG_ROWS_MEANS),
      .means = a->constant,
      .begins = c->batch == 0 && c->first == 0,
      .n_pieces = kg_field_pieces(p->shape.count.n_groups),
      .sums = a->field_sums};
  kg_stage_cost(p, kg_field_sums_cost(&args), 1.0);
  return kg_field_sums_add(p->ctx, &args);
}

static kedge_status measure_chunk(kg_pipeline *p, const chunk *c, const kg_elements *part)
{
  const kg_arrays *a = &p->arrays;
  const int32_t first = p->shape.batch[c->batch].lanes.first_group + c->first;
  const kg_magnitudes_args args = {.by_quadrature = part->by_quadrature,
                                   .batch = part->batch,
                                   .cells = part->cells,
                                   .n_elements = part->n_elements,
                                   .material = c->coefficient.cells,
                                   .u = a->u,
                                   .flux = a->q,
                                   .u_star = a->u_star,
                                   .by_group = a->magnitudes + first};
  kg_stage_cost(p, kg_magnitudes_cost(&args), 1.0);
  return kg_magnitudes_of_groups(p->ctx, &args);
}

static kedge_status postprocess_chunk(kg_pipeline *p, const chunk *c, kg_sampler *exact)
{
  const kg_elements part = kg_elements_part(&p->elements[c->batch], c->first, c->n);
  const kg_arrays *a = &p->arrays;
  KG_TRY(p->form->postprocess(p->ctx, &part, &c->coefficient, a->u, a->q, a->u_star, a->indicator));
  if (!only_sizes(p)) KG_TRY(look_at_fields(p, &part, c));
  KG_TRY(measure_chunk(p, c, &part));
  return p->shape.choice.wants_errors && !only_sizes(p)
             ? kg_sampler_errors(exact, c->batch, c->first, c->n)
             : KEDGE_OK;
}

static kedge_status take(kg_pipeline *p, const double *array, double *to, int rows, chunk c)
{
  const size_t group = (size_t)rows * KG_LANES;
  return kg_copy_out(p->ctx, to + group * (size_t)c.first, array, group * (size_t)c.n * sizeof *to);
}

/// Give the caller's arrays in device memory their values of a chunk.
static kedge_status give_chunk(kg_pipeline *p, chunk c)
{
  const int32_t n = kg_elements_part(&p->elements[c.batch], c.first, c.n).n_elements;
  for (int k = 0; k < p->n_given; ++k) {
    kg_node_values_args a = p->given[k].of[c.batch];
    a.n_elements = n;
    a.origin += (int64_t)c.first * KG_LANES;
    if (a.wide) a.wide += (int64_t)c.first * KG_LANES;
    KG_TRY(kg_node_values(p->ctx, &a));
  }
  return KEDGE_OK;
}

static kedge_status take_chunk(kg_pipeline *p, chunk c)
{
  const kg_results *to = &p->solution->batch[c.batch];
  const kg_arrays *a = &p->arrays;
  if (only_sizes(p)) return KEDGE_OK;
  KG_TRY(give_chunk(p, c));
  KG_TRY(take(p, a->indicator, to->indicator, 1, c));
  const int n_means = kg_batch_rows(&p->shape.batch[c.batch], KG_ROWS_MEANS);
  if (p->shape.choice.wants_means) return take(p, a->constant, to->constant, n_means, c);
  KG_TRY(take(p, a->u, to->u, to->size.n_modes, c));
  KG_TRY(take(p, a->q, to->flux, kg_batch_rows(&p->shape.batch[c.batch], KG_ROWS_FLUX), c));
  return take(p, a->u_star, to->u_star, to->size.n_star, c);
}

static kedge_status take_trace(kg_pipeline *p)
{
  if (p->shape.choice.wants_means) return KEDGE_OK;
  return kg_copy_out(
      p->ctx, p->solution->trace, p->arrays.x,
      (size_t)p->layout.count.n_edges * (size_t)p->shape.size.n_edge * sizeof(double));
}

/// The square of the L2 norm of the error of diffusion grad u. Where diffusion is one number, fast
/// kernels leave its sum out: the flux is that times q.
/// @param[in]  by_group  [group]
/// @param[out] flux      [group]: squares in the user's units
static kedge_status sum_fluxes(kg_pipeline *p, const kg_error_sums *by_group, double *flux,
                               double *total)
{
  const size_t n = p->arrays.flux_sums ? (size_t)p->layout.count.n_groups : 0;
  const kedge_status status = kg_copy_out(p->ctx, flux, p->arrays.flux_sums, n * sizeof *flux);
  *total = 0.0;
  for (int i = 0; status == KEDGE_OK && i < p->shape.n_batches; ++i) {
    const kg_shape_batch *b = &p->shape.batch[i];
    const bool sums = b->by_quadrature || !p->shape.choice.is_uniform;
    const double d = p->material.diffusion;
    for (int32_t g = 0; g < kg_elements_groups(&p->elements[i]); ++g) {
      const size_t k = (size_t)b->lanes.first_group + (size_t)g;
      if (!sums) flux[k] = d * (d * by_group[k].q);
      *total += flux[k];
      flux[k] = flux[k] / p->scale / p->scale;
    }
  }
  return status;
}

/// An element of the first group whose errors are not finite, or else of that with the largest.
static int32_t worst_element(const kg_pipeline *p, const kg_error_sums *by_group)
{
  double most = 0.0;
  int32_t worst = 0;
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_lane_batch *lanes = &p->shape.batch[i].lanes;
    for (int32_t g = 0; g < kg_elements_groups(&p->elements[i]); ++g) {
      const kg_error_sums *of = &by_group[lanes->first_group + g];
      const double sum = of->u + of->q + of->u_star;
      if (sum <= most) continue;
      worst = lanes->first_element + g * KG_LANES;
      if (!isfinite(sum)) return worst;
      most = sum;
    }
  }
  return worst;
}

/// @param[out] of  free its arrays, also after a failure
static kedge_status sum_errors(kg_pipeline *p, kg_group_errors *of)
{
  const size_t n = (size_t)p->layout.count.n_groups;
  double flux = 0.0;
  kg_error_sums total = {0};
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *of->sums, &of->sums));
  KG_TRY(kg_host_calloc(p->ctx, n, sizeof *of->flux, &of->flux));
  KG_TRY(kg_copy_out(p->ctx, of->sums, p->arrays.error_sums, n * sizeof *of->sums));
  KG_TRY(sum_fluxes(p, of->sums, of->flux, &flux));
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_error_sums *of_batch = of->sums + p->shape.batch[i].lanes.first_group;
    for (int32_t g = 0; g < kg_elements_groups(&p->elements[i]); ++g) {
      total.u += of_batch[g].u;
      total.q += of_batch[g].q;
      total.u_star += of_batch[g].u_star;
      total.u_max = kg_larger(total.u_max, of_batch[g].u_max);
    }
  }
  const double squares[KG_NORMS] = {total.u, total.q, total.u_star, flux / p->scale / p->scale};
  memcpy(of->total, squares, sizeof squares);
  kedge_report *report = &p->solution->report;
  report->u_l2 = sqrt(total.u);
  report->q_l2 = sqrt(total.q);
  report->u_star_l2 = sqrt(total.u_star);
  report->u_linf = total.u_max;
  report->sigma_l2 = sqrt(flux) / p->scale;
  p->lost_error = worst_element(p, of->sums);
  return kg_pipeline_diagnose(p, KG_ABOUT_ERROR);
}

/// Whether sigma, by the most diffusion that is met, is finite in an element.
/// @param[in] times  sigma over the coefficients of the flux that a batch has
static bool has_flux(const kg_results *r, int32_t element, double times)
{
  double zero = 0.0;
  for (int k = 0; k < r->size.n_flux; ++k)
    zero += 0.0 * (times * r->flux[kg_cell_at(element - r->first_element, r->size.n_flux, k)]);
  return zero == 0.0;
}

/// The first element of which sigma leaves double precision where u and q do not: they have no
/// scale, and sigma has that of the diffusion. Sums of u alone tell where that may be.
static int32_t find_lost_flux(const kg_pipeline *p)
{
  const kg_field_sums *const f = &p->fields;
  const double h = sqrt(kg_mean_square(p->mesh)), d = p->material.diffusion / p->scale;
  const double most = fmax(fabs(f->star_least), fabs(f->star_most));
  if (isfinite(1e9 * most * d / h)) return -1;
  for (int32_t e = 0; e < p->mesh->n_elements; ++e) {
    const kg_results *const r = kg_results_of(p->solution, e);
    if (!has_flux(r, e, r->by_quadrature ? 1.0 / (h * p->scale) : d)) return e;
  }
  return -1;
}

/// Name the field that is not finite, if one is, and say where.
static kg_lost_field find_lost_field(const kg_pipeline *p)
{
  const kg_field_sums *const f = &p->fields;
  const bool means = p->shape.choice.wants_means;
  if (f->bad_mean >= 0) return (kg_lost_field){"the mean of q or sigma", f->bad_mean};
  if (f->bad_star < 0) {
    const int32_t e = means ? -1 : find_lost_flux(p);
    return (kg_lost_field){e < 0 ? NULL : "sigma", e};
  }
  const kg_results *const r = kg_results_of(p->solution, f->bad_star);
  const char *const flux = r->by_quadrature ? "sigma" : "q";
  if (means) return (kg_lost_field){"the error indicator", f->bad_star};
  return (kg_lost_field){has_flux(r, f->bad_star, 1.0) ? "u*" : flux, f->bad_star};
}

/// Join the sums of fields, and say what they tell.
static kedge_status judge_fields(kg_pipeline *p)
{
  const size_t n = (size_t)kg_field_pieces(p->shape.count.n_groups);
  kg_field_sums *pieces;
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *pieces, &pieces));
  const kedge_status status = kg_copy_out(p->ctx, pieces, p->arrays.field_sums, n * sizeof *pieces);
  p->fields = kg_no_field_sums();
  for (size_t i = 0; status == KEDGE_OK && i < n; ++i) kg_field_sums_join(&pieces[i], &p->fields);
  free(pieces);
  KG_TRY(status);
  p->lost = find_lost_field(p);
  KG_TRY(kg_pipeline_diagnose(p, KG_ABOUT_LOSS));
  return kg_pipeline_diagnose(p, KG_ABOUT_FIELDS);
}

/// The host looks at norms once it has the results.
static kedge_status look_at_norms(kg_pipeline *p, const kg_group_errors *of)
{
  if (!p->shape.choice.wants_errors) return KEDGE_OK;
  if (!p->shape.choice.wants_means) KG_TRY(kg_norms_moves(p, of, p->norm_moves));
  return kg_pipeline_diagnose(p, KG_ABOUT_NORMS);
}

static kedge_status take_rest(kg_pipeline *p, const kg_group_errors *of)
{
  if (only_sizes(p)) return KEDGE_OK;
  KG_TRY(take_trace(p));
  return look_at_norms(p, of);
}

/// Add the magnitudes of all elements.
static kedge_status sum_magnitudes(kg_pipeline *p)
{
  const size_t n = (size_t)p->layout.count.n_groups;
  kg_magnitudes *const sum = &p->remainder.size, *by_group;
  *sum = (kg_magnitudes){.least = DBL_MAX};
  KG_TRY(kg_host_alloc(p->ctx, n, sizeof *by_group, &by_group));
  const kedge_status status =
      kg_copy_out(p->ctx, by_group, p->arrays.magnitudes, n * sizeof *by_group);
  for (int i = 0; status == KEDGE_OK && i < p->shape.n_batches; ++i) {
    const kg_magnitudes *const of_batch = by_group + p->shape.batch[i].lanes.first_group;
    for (int32_t g = 0; g < kg_elements_groups(&p->elements[i]); ++g)
      kg_magnitudes_add(&of_batch[g], sum);
  }
  free(by_group);
  return status;
}

/// Make again the sides of elements that have left memory for the trace solve.
static kedge_status make_sides(kg_pipeline *p)
{
  if (p->shape.choice.sides_stay) return KEDGE_OK;
  kg_stage_cost(p, kg_trace_sides_cost(&p->layout.count), 1.0);
  return kg_trace_sides(
      p->ctx, &(kg_trace_sides_args){.batch = p->batch, .side_edge = p->arrays.side_edge});
}

static kedge_status prepare(kg_pipeline *p)
{
  KG_TRY(put_field_points(p));
  return make_sides(p);
}

static kedge_status one_chunk(kg_pipeline *p, chunk c, kg_sampler *exact)
{
  KG_TRY(kg_stage_begin(p, KG_STAGE_LOCAL_SOLVE));
  KG_TRY(kg_stage_end(p, solve_chunk(p, &c)));
  KG_TRY(kg_stage_begin(p, KG_STAGE_POSTPROCESS));
  KG_TRY(kg_stage_end(p, postprocess_chunk(p, &c, exact)));
  KG_TRY(kg_stage_begin(p, KG_STAGE_OUTPUT));
  KG_TRY(kg_stage_end(p, take_chunk(p, c)));
  return kg_stage_announce(p, KG_STAGE_LOCAL_SOLVE, false);
}

static kedge_status judge(kg_pipeline *p, kg_group_errors *of)
{
  KG_TRY(sum_magnitudes(p));
  if (only_sizes(p)) return KEDGE_OK;
  KG_TRY(judge_fields(p));
  return p->shape.choice.wants_errors ? sum_errors(p, of) : KEDGE_OK;
}

/// @param[out] of  free its arrays, also after a failure
static kedge_status all_chunks(kg_pipeline *p, kg_sampler *exact, kg_group_errors *of)
{
  const int32_t most = p->shape.choice.recover_groups;
  KG_TRY(kg_stage_begin(p, KG_STAGE_LOCAL_SOLVE));
  KG_TRY(kg_stage_end(p, prepare(p)));
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const int32_t n_groups = kg_elements_groups(&p->elements[i]);
    for (int32_t first = 0; first < n_groups; first += most) {
      const int32_t left = n_groups - first;
      KG_TRY(
          one_chunk(p, (chunk){.batch = i, .first = first, .n = left < most ? left : most}, exact));
    }
  }
  KG_TRY(kg_stage_begin(p, KG_STAGE_POSTPROCESS));
  KG_TRY(kg_stage_end(p, judge(p, of)));
  KG_TRY(kg_stage_begin(p, KG_STAGE_OUTPUT));
  return kg_stage_end(p, take_rest(p, of));
}

static void add_costs(kg_pipeline *p)
{
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_elements *e = &p->elements[i];
    p->stage = KG_STAGE_LOCAL_SOLVE;
    kg_stage_cost(p, p->form->recover_cost(e), 1.0);
    if (p->shape.choice.wants_means) kg_stage_cost(p, p->form->means_cost(e), 1.0);
    p->stage = KG_STAGE_POSTPROCESS;
    kg_stage_cost(p, p->form->postprocess_cost(e), 1.0);
  }
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
  kedge_status status = kg_stage_announce(p, KG_STAGE_LOCAL_SOLVE, false);
  kg_group_errors errors = {0};
  if (status == KEDGE_OK) status = all_chunks(p, &exact, &errors);
  free(errors.sums);
  free(errors.flux);
  kg_sampler_close(&exact);
  kg_source_rest(&p->source);
  KG_TRY(status);
  add_costs(p);
  KG_TRY(kg_stage_announce(p, KG_STAGE_LOCAL_SOLVE, true));
  KG_TRY(kg_stage_announce(p, KG_STAGE_POSTPROCESS, false));
  return kg_stage_announce(p, KG_STAGE_POSTPROCESS, true);
}
