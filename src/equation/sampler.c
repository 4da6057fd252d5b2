#include "equation/sampler.h"

#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"
#include "ops/local/quadrature/errors.h"
#include "ops/sample/element_values.h"
#include "ops/local/tetrahedron/samples.h"
#include "ops/vector/first_bad.h"

static const kg_rules *rules_of(const kg_sampler *s)
{
  return s->evaluation.rules;
}

static const kg_shape_batch *batch_of(const kg_sampler *s, int batch)
{
  return &s->evaluation.rules->shape->batch[batch];
}

static bool in_space(const kg_sampler *s, int batch)
{
  return batch_of(s, batch)->cell == &kg_tetrahedron;
}

/// A kernel makes load vectors or errors of a batch of straight triangles without values in memory.
static bool has_kernel(const kg_sampler *s, int batch)
{
  return !batch_of(s, batch)->samples_cells && s->evaluation.triangles;
}

static kg_places places_of(const kg_sampler *s, int batch)
{
  return kg_rules_places(s->evaluation.rules, batch, s->kind);
}

/// The number of values of a group.
static size_t values_of_group(const kg_sampler *s, int batch)
{
  return (size_t)s->evaluation.set.n * (size_t)places_of(s, batch).n * KG_LANES;
}

/// The most points of an element.
static int most_points(const kg_sampler *s)
{
  const kg_shape *shape = s->evaluation.rules->shape;
  return s->kind == KG_SAMPLE_LOADS ? kg_shape_source_points(shape) : kg_shape_exact_points(shape);
}

/// Refuse an array that is not finite in an element of the caller.
static kedge_status refuse_element(const kg_sampler *s, const double *array, int64_t bad)
{
  const kg_rules *const rules = rules_of(s);
  kg_function value = {.kind = KG_FUNCTION_CONSTANT};
  const kg_function *const function = &value;
  kg_sample_set set = s->evaluation.set;
  set.functions = &function;
  KG_TRY(kg_copy_out(rules->ctx, &value.constant, array + bad, sizeof *array));
  int32_t e = 0, batch = 0;
  while (rules->mesh->element_origin[e] != bad) ++e;
  while (e >= batch_of(s, batch)->lanes.first_element + batch_of(s, batch)->lanes.n_elements)
    ++batch;
  const int32_t lane = e - batch_of(s, batch)->lanes.first_element;
  const kg_places places = places_of(s, batch);
  const int64_t first = (int64_t)(lane / KG_LANES) * places.n * KG_LANES;
  return kg_sample_refuse(rules->ctx, places, 0, &set, first + lane % KG_LANES);
}

/// Values of groups [first, first + count) of a batch from an array in device memory.
static kedge_status put_elements(const kg_sampler *s, int batch, int32_t first, int32_t count,
                                 double *values)
{
  const kg_rules *const rules = rules_of(s);
  const kg_lane_batch *lanes = &batch_of(s, batch)->lanes;
  const int64_t begin = (int64_t)first * KG_LANES;
  const kg_element_values_args args = {.n_elements = lanes->n_elements - begin,
                                       .n_groups = count,
                                       .n_points = places_of(s, batch).n,
                                       .origin = s->origin + lanes->first_element + begin,
                                       .from = s->evaluation.set.functions[0]->user,
                                       .values = values};
  kg_run_cost(rules->run, kg_evaluate_cost(1, 0.0, args.n_points, (int64_t)count * KG_LANES), 1.0);
  return kg_element_values(rules->ctx, &args);
}

static kedge_status prepare(kg_sampler *s)
{
  if (s->origin && !s->evaluation.ready) {
    const double *const array = s->evaluation.set.functions[0]->user;
    int64_t bad;
    KG_TRY(kg_first_bad(rules_of(s)->ctx,
                        &(kg_first_bad_args){rules_of(s)->mesh->n_elements, array, &bad}));
    if (bad >= 0) return refuse_element(s, array, bad);
  }
  return kg_evaluation_prepare(&s->evaluation, (double)s->evaluations * most_points(s));
}

/// Evaluate functions in groups [first, first + count) of a batch on the GPU, if it can. On
/// straight triangles the values may be used only after settle().
static kedge_status put_by_gpu(kg_sampler *s, int batch, int32_t first, int32_t count,
                               double *values, bool *done)
{
  kg_evaluation *e = &s->evaluation;
  *done = false;
  if (!batch_of(s, batch)->samples_cells) {
    const kg_evaluate_args args = {.points = kg_rules_points(e->rules, s->kind),
                                   .first_group = first,
                                   .n_groups = count,
                                   .values = values};
    return kg_evaluation_triangles(e, batch, args, done);
  }
  const kg_cell_values_args args = {.points = kg_rules_cell_points(e->rules, batch, s->kind),
                                    .n_used = places_of(s, batch).n_rule,
                                    .scale = 1.0,
                                    .values = values};
  return kg_evaluation_cells(e, batch, first, count, args, done);
}

/// Write values of functions in groups [first, first + count) of a batch to device memory; the GPU
/// or the host evaluates. On straight triangles they may be used only after settle().
static kedge_status put_values(kg_sampler *s, int batch, int32_t first, int32_t count,
                               double *values)
{
  const kg_rules *const rules = rules_of(s);
  kedge_context *const ctx = rules->ctx;
  const size_t most = (size_t)s->evaluation.set.n * (size_t)most_points(s) * KG_LANES *
                      (size_t)rules->shape->choice.recover_groups;
  bool done;
  if (s->origin) return put_elements(s, batch, first, count, values);
  KG_TRY(put_by_gpu(s, batch, first, count, values, &done));
  if (done) return KEDGE_OK;
  if (!s->staging) KG_TRY(kg_host_alloc(ctx, most, sizeof *s->staging, &s->staging));
  KG_TRY(kg_sample(ctx, places_of(s, batch), first, count, &s->evaluation.set, s->staging));
  return kg_copy_in(ctx, values, s->staging,
                    values_of_group(s, batch) * (size_t)count * sizeof *values);
}

kg_sampler kg_sampler_of(kg_coefficient_values *coefficients, kg_sample_kind kind,
                         kg_sample_set set)
{
  const kg_evaluated what = kind == KG_SAMPLE_LOADS ? KG_EVALUATED_SOURCE : KG_EVALUATED_EXACT;
  return (kg_sampler){.evaluation = {.rules = coefficients->rules, .set = set, .what = what},
                      .coefficients = coefficients,
                      .kind = kind,
                      .evaluations = 1};
}

static int64_t elements_of(const kg_sampler *s, int batch, int32_t first, int32_t count)
{
  const int64_t left = batch_of(s, batch)->lanes.n_elements - (int64_t)first * KG_LANES;
  const int64_t n = (int64_t)count * KG_LANES;
  return n < left ? n : left;
}

/// The cost of a kernel that evaluates. @param[in] flux  whether errors of the flux are summed
static void add_kernel_cost(const kg_sampler *s, bool flux, int64_t n_elements)
{
  const kg_shape *const shape = rules_of(s)->shape;
  kg_run_cost(rules_of(s)->run,
              kg_sample_cost(s->kind, shape->size, shape->fast_exact_rows, flux,
                             kg_evaluation_operations(&s->evaluation), n_elements),
              1.0);
}

/// Wait for the GPU and check whether it has found a value at points of triangles that is not
/// finite. If the host finds the same, this is a failure. If not (a compiled kernel does not know
/// the sine of numbers from 2^46 on), functions are evaluated in another way from now on.
/// @param[in]  first  the first group of the chunk
/// @param[out] good   false: the results of the chunk must be computed again
static kedge_status settle(kg_sampler *s, int batch, int32_t first, bool *good)
{
  kg_evaluation *e = &s->evaluation;
  int64_t bad = -1;
  if (!batch_of(s, batch)->samples_cells) KG_TRY(kg_evaluation_bad(e, &bad));
  *good = bad < 0;
  if (*good) return KEDGE_OK;
  if (e->triangles) first = 0;  // it counts from the first group of the batch
  KG_TRY(kg_sample_refuse(e->rules->ctx, places_of(s, batch), first, &e->set, bad));
  kg_evaluation_change(e);
  return KEDGE_OK;
}

/// Groups of a batch that are handled at once, and the loads that they get.
typedef struct load_chunk {
  int batch;
  int32_t first, count;
  double *values, *load;
} load_chunk;

/// Where it is noted which loads are rough.
static uint8_t *rough_of(const kg_sampler *s, const load_chunk *c)
{
  const int32_t group = batch_of(s, c->batch)->lanes.first_group + c->first;
  return s->rough ? s->rough + (size_t)group * KG_LANES : NULL;
}

static kg_load_vectors_args load_args(const kg_sampler *s, const load_chunk *c)
{
  const kg_rules *const rules = rules_of(s);
  return (kg_load_vectors_args){.batch = rules->elements[c->batch].batch,
                                .points = kg_rules_points(rules, s->kind),
                                .host_points = kg_rules_host_points(rules, s->kind),
                                .first_group = c->first,
                                .n_groups = c->count,
                                .scale = s->coefficients->equation->scale,
                                .values = c->values,
                                .load = c->load,
                                .rough = rough_of(s, c),
                                .least = s->least};
}

static kedge_status loads_by_kernel(const kg_sampler *s, const load_chunk *c)
{
  static kedge_status (*const launch)(kedge_context *, const kg_sample_kernel *,
                                      const kg_load_vectors_args *, const int32_t *, double) =
      KG_IF_CUDA(kg_sample_loads);
  const kg_load_vectors_args args = load_args(s, c);
  add_kernel_cost(s, false, elements_of(s, c->batch, c->first, c->count));
  return launch(rules_of(s)->ctx, s->evaluation.triangles, &args,
                kg_rules_regions(rules_of(s), c->batch, 0), kg_evaluation_time(&s->evaluation));
}

static kedge_status loads_of_cells(const kg_sampler *s, const load_chunk *c)
{
  const kg_rules *const rules = rules_of(s);
  const kg_cell_loads_args args = {
      .cells = kg_cells_part(&rules->elements[c->batch].cells, c->first, c->count),
      .points = kg_rules_cell_points(rules, c->batch, s->kind),
      .scale = s->coefficients->equation->scale,
      .values = c->values,
      .load = c->load,
      .rough = rough_of(s, c),
      .least = s->least};
  kg_run_cost(rules->run, kg_cell_loads_cost(&args.points, args.cells.n_elements), 1.0);
  return kg_cell_loads(rules->ctx, &args);
}

static kedge_status loads_of_tetrahedra(const kg_sampler *s, const load_chunk *c)
{
  const kg_rules *const rules = rules_of(s);
  const kg_space_loads_args args = {
      .cells = kg_tetrahedra_part(&rules->elements[c->batch].tetrahedra, c->first, c->count),
      .points = kg_rules_cell_points(rules, c->batch, s->kind),
      .scale = s->coefficients->equation->scale,
      .values = c->values,
      .load = c->load,
      .rough = rough_of(s, c),
      .least = s->least};
  kg_run_cost(rules->run, kg_space_loads_cost(&args.points, args.cells.n_elements), 1.0);
  return kg_space_loads(rules->ctx, &args);
}

static kedge_status loads_of_chunk(kg_sampler *s, const load_chunk *c)
{
  const kg_rules *const rules = rules_of(s);
  const int64_t n = elements_of(s, c->batch, c->first, c->count);
  KG_TRY(put_values(s, c->batch, c->first, c->count, c->values));
  if (in_space(s, c->batch)) return loads_of_tetrahedra(s, c);
  if (batch_of(s, c->batch)->by_quadrature) return loads_of_cells(s, c);
  kg_run_cost(rules->run, kg_load_vectors_cost(rules->shape->size, n), 1.0);
  const kg_load_vectors_args args = load_args(s, c);
  return kg_load_vectors(rules->ctx, &args);
}

/// Makes load vectors from values of the source, for as many groups at a time as have room.
static kedge_status loads_of_values(kg_sampler *s, load_chunk all, size_t value_bytes)
{
  const kg_rules *const rules = rules_of(s);
  const size_t group = (size_t)batch_of(s, all.batch)->size.n_modes * KG_LANES;
  const size_t group_bytes = values_of_group(s, all.batch) * sizeof(double);
  const size_t room = value_bytes / group_bytes;
  const int32_t end = all.first + all.count, most = rules->shape->choice.recover_groups;
  const int32_t chunk = room < (size_t)most ? (int32_t)room : most;
  KG_REQUIRE(rules->ctx, chunk > 0, KEDGE_ERR_INTERNAL,
             "load vectors: %zu bytes for values of the source where a group needs %zu",
             value_bytes, group_bytes);
  for (load_chunk c = all; c.first < end; c.first += chunk, c.load += group * (size_t)chunk) {
    c.count = end - c.first < chunk ? end - c.first : chunk;
    for (bool good = false; !good;) {
      KG_TRY(loads_of_chunk(s, &c));
      KG_TRY(settle(s, c.batch, c.first, &good));
    }
    KG_TRY(kg_run_announce(rules->run, rules->run->stage, false));
  }
  return KEDGE_OK;
}

kedge_status kg_sampler_loads(kg_sampler *s, int batch, int32_t first, int32_t count,
                              kg_buffer values, double *load)
{
  const load_chunk all = {batch, first, count, values.data, load};
  KG_TRY(prepare(s));
  if (has_kernel(s, batch)) {
    bool good;
    KG_TRY(loads_by_kernel(s, &all));
    KG_TRY(settle(s, batch, first, &good));
    if (good) return KEDGE_OK;
  }
  return loads_of_values(s, all, values.bytes);
}

/// Whether errors of the flux of triangles are summed: not where they are those of q by a number.
static bool wants_flux(const kg_sampler *s, const kg_solved_chunk *c)
{
  return c->flux_sums && !rules_of(s)->shape->choice.is_uniform;
}

static kg_errors_args error_args(const kg_sampler *s, const kg_solved_chunk *c)
{
  const kg_rules *const rules = rules_of(s);
  const kg_coefficient_values *const v = s->coefficients;
  const int32_t group = batch_of(s, c->batch)->lanes.first_group;
  const kg_coefficient all =
      kg_materials_from(v->equation, rules->shape, v->materials, c->batch, 0);
  return (kg_errors_args){.batch = rules->elements[c->batch].batch,
                          .points = kg_rules_points(rules, s->kind),
                          .first_group = c->first,
                          .n_groups = c->count,
                          .u = c->u,
                          .q = c->flux,
                          .u_star = c->u_star,
                          .exact = c->exact,
                          .by_group = c->sums + group,
                          .flux_by_group = wants_flux(s, c) ? c->flux_sums + group : NULL,
                          .diffusion = v->materials->values,
                          .material = all.constant.index};
}

static kedge_status errors_by_kernel(const kg_sampler *s, const kg_solved_chunk *c)
{
  static kedge_status (*const launch)(kedge_context *, const kg_sample_kernel *,
                                      const kg_errors_args *, const int32_t *, double) =
      KG_IF_CUDA(kg_sample_errors);
  const kg_errors_args args = error_args(s, c);
  add_kernel_cost(s, wants_flux(s, c), elements_of(s, c->batch, c->first, c->count));
  return launch(rules_of(s)->ctx, s->evaluation.triangles, &args,
                kg_rules_regions(rules_of(s), c->batch, 0), kg_evaluation_time(&s->evaluation));
}

static kedge_status errors_of_cells(const kg_sampler *s, const kg_solved_chunk *c)
{
  const kg_rules *const rules = rules_of(s);
  kg_coefficient_values *const v = s->coefficients;
  const int32_t group = batch_of(s, c->batch)->lanes.first_group + c->first;
  kg_cell_errors_args args = {
      .cells = kg_cells_part(&rules->elements[c->batch].cells, c->first, c->count),
      .material =
          kg_materials_from(v->equation, rules->shape, v->materials, c->batch, c->first).cells,
      .points = kg_rules_cell_points(rules, c->batch, s->kind),
      .u = c->u,
      .flux = c->flux,
      .u_star = c->u_star,
      .exact = c->exact,
      .by_group = c->sums + group,
      .flux_by_group = c->flux_sums ? c->flux_sums + group : NULL};
  if (rules->shape->choice.varies) {
    KG_TRY(kg_coefficients_put_diffusion(v, c->batch, c->first, c->count, c->diffusion,
                                         &args.n_diffusion));
    args.diffusion = c->diffusion;
  }
  kg_run_cost(rules->run, kg_cell_errors_cost(&args.points, args.cells.n_elements), 1.0);
  return kg_cell_errors(rules->ctx, &args);
}

static kedge_status errors_of_tetrahedra(const kg_sampler *s, const kg_solved_chunk *c)
{
  const kg_rules *const rules = rules_of(s);
  kg_coefficient_values *const v = s->coefficients;
  const int32_t group = batch_of(s, c->batch)->lanes.first_group + c->first;
  kg_space_errors_args args = {
      .cells = kg_tetrahedra_part(&rules->elements[c->batch].tetrahedra, c->first, c->count),
      .points = kg_rules_cell_points(rules, c->batch, s->kind),
      .u = c->u,
      .q = c->flux,
      .u_star = c->u_star,
      .exact = c->exact,
      .by_group = c->sums + group,
      .flux_by_group = c->flux_sums ? c->flux_sums + group : NULL,
      .materials =
          kg_materials_from(v->equation, rules->shape, v->materials, c->batch, c->first).space};
  if (rules->shape->choice.varies) {
    KG_TRY(kg_coefficients_put_diffusion(v, c->batch, c->first, c->count, c->diffusion,
                                         &args.n_diffusion));
    args.diffusion = c->diffusion;
  }
  kg_run_cost(rules->run, kg_space_errors_cost(&args.points, args.cells.n_elements), 1.0);
  return kg_space_errors(rules->ctx, &args);
}

static kedge_status errors_of_values(kg_sampler *s, const kg_solved_chunk *c)
{
  const kg_rules *const rules = rules_of(s);
  KG_TRY(put_values(s, c->batch, c->first, c->count, c->exact));
  if (in_space(s, c->batch)) return errors_of_tetrahedra(s, c);
  if (batch_of(s, c->batch)->by_quadrature) return errors_of_cells(s, c);
  const kg_errors_args args = error_args(s, c);
  const int64_t n = elements_of(s, c->batch, c->first, c->count);
  kg_run_cost(rules->run, kg_errors_cost(rules->shape->size, args.points.rows, wants_flux(s, c), n),
              1.0);
  return kg_errors(rules->ctx, &args);
}

kedge_status kg_sampler_errors(kg_sampler *s, const kg_solved_chunk *c)
{
  KG_TRY(prepare(s));
  for (bool good = false; !good;) {
    KG_TRY(has_kernel(s, c->batch) ? errors_by_kernel(s, c) : errors_of_values(s, c));
    KG_TRY(settle(s, c->batch, c->first, &good));
  }
  return KEDGE_OK;
}

void kg_sampler_rest(kg_sampler *s)
{
  free(s->staging);
  s->staging = NULL;
}

void kg_sampler_close(kg_sampler *s)
{
  kg_evaluation_close(&s->evaluation);
  kg_sampler_rest(s);
  *s = (kg_sampler){0};
}
