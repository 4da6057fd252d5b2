#include "elliptic/sampler.h"

#include <stdlib.h>

#include "device/context.h"
#include "core/memory.h"
#include "ops/sample/element_values.h"
#include "ops/vector/first_bad.h"
#include "elliptic/cells.h"
#include "elliptic/materials.h"

/// The points at which the functions are used: the source not at corners.
static kg_points used(const kg_sampler *s, kg_points points)
{
  return s->kind == KG_SAMPLE_LOADS ? kg_points_of_rule(points) : points;
}

static kg_points points_on_host(const kg_sampler *s)
{
  return used(s, kg_sampling_points(&s->evaluation.elliptic->sampling[s->kind]));
}

/// The kernels of straight triangles sample a batch.
static bool has_triangles(const kg_sampler *s, int batch)
{
  return !s->evaluation.elliptic->shape.batch[batch].by_quadrature;
}

/// A kernel makes load vectors or errors of a batch without values in memory.
static bool has_kernel(const kg_sampler *s, int batch)
{
  return has_triangles(s, batch) && s->evaluation.triangles;
}

static kg_places places_of(const kg_sampler *s, int batch)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  const kg_lane_batch *lanes = &p->shape.batch[batch].lanes;
  kg_places places;
  if (has_triangles(s, batch)) {
    const kg_points points = points_on_host(s);
    places = kg_triangle_places(&points, p->mesh);
  } else {
    const kg_cell_points points = kg_cells_host_points(p, batch, s->kind);
    const bool corners = s->kind == KG_SAMPLE_ERRORS;
    places = kg_cell_places(&points, points.n - (corners ? lanes->n_facets : 0), p->mesh);
  }
  places.first_element = lanes->first_element;
  places.n_elements = lanes->n_elements;
  return places;
}

/// The number of values of a group.
static size_t values_of_group(const kg_sampler *s, int batch)
{
  return (size_t)s->evaluation.set.n * (size_t)places_of(s, batch).n * KG_LANES;
}

/// The most points of an element.
static int most_points(const kg_sampler *s)
{
  const kg_shape *shape = &s->evaluation.elliptic->shape;
  return s->kind == KG_SAMPLE_LOADS ? kg_shape_source_points(shape) : kg_shape_exact_points(shape);
}

static kedge_status take_host(kg_sampler *s)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  const size_t group = (size_t)s->evaluation.set.n * (size_t)most_points(s) * KG_LANES;
  if (s->staging) return KEDGE_OK;
  return kg_host_alloc(p->ctx, group * (size_t)p->shape.choice.recover_groups, sizeof *s->staging,
                       &s->staging);
}

/// Whether it is a source that is gathered in device memory.
static bool is_on_device(const kg_sampler *s)
{
  return s->kind == KG_SAMPLE_LOADS && s->evaluation.elliptic->data.origin;
}

/// Refuse an array that is not finite in an element of the caller.
static kedge_status refuse_element(const kg_sampler *s, const double *array, int64_t bad)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  kg_function value = {.kind = KG_FUNCTION_CONSTANT};
  const kg_function *const function = &value;
  kg_sample_set set = s->evaluation.set;
  set.functions = &function;
  KG_TRY(kg_copy_out(p->ctx, &value.constant, array + bad, sizeof *array));
  int32_t e = 0, batch = 0;
  while (p->mesh->element_origin[e] != bad) ++e;
  while (e >= p->shape.batch[batch].lanes.first_element + p->shape.batch[batch].lanes.n_elements)
    ++batch;
  const int32_t lane = e - p->shape.batch[batch].lanes.first_element;
  const kg_places places = places_of(s, batch);
  const int64_t first = (int64_t)(lane / KG_LANES) * places.n * KG_LANES;
  return kg_sample_refuse(p->ctx, places, 0, &set, first + lane % KG_LANES);
}

static kedge_status check_elements(const kg_sampler *s)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  const double *const array = s->evaluation.set.functions[0]->user;
  int64_t bad;
  const kg_first_bad_args args = {p->mesh->n_elements, array, &bad};
  KG_TRY(kg_first_bad(p->ctx, &args));
  return bad < 0 ? KEDGE_OK : refuse_element(s, array, bad);
}

/// Values of groups [first, first + count) of a batch from an array in device memory.
static kedge_status put_elements(const kg_sampler *s, int batch, int32_t first, int32_t count,
                                 double *values)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  const kg_lane_batch *lanes = &p->shape.batch[batch].lanes;
  const int64_t begin = (int64_t)first * KG_LANES;
  const kg_element_values_args args = {.n_elements = lanes->n_elements - begin,
                                       .n_groups = count,
                                       .n_points = places_of(s, batch).n,
                                       .origin = p->data.origin + lanes->first_element + begin,
                                       .from = s->evaluation.set.functions[0]->user,
                                       .values = values};
  kg_run_cost(&s->evaluation.elliptic->run,
                kg_evaluate_cost(1, 0.0, args.n_points, (int64_t)count * KG_LANES), 1.0);
  return kg_element_values(p->ctx, &args);
}

static kedge_status prepare(kg_sampler *s)
{
  if (is_on_device(s) && !s->evaluation.ready) KG_TRY(check_elements(s));
  return kg_evaluation_prepare(&s->evaluation, (double)s->evaluations * most_points(s));
}

/// Values of groups [first, first + count) of a batch by the GPU, if it can. Those of triangles
/// count after settle().
static kedge_status put_by_gpu(kg_sampler *s, int batch, int32_t first, int32_t count,
                               double *values, bool *done)
{
  kg_evaluation *e = &s->evaluation;
  const kg_elliptic *p = e->elliptic;
  if (has_triangles(s, batch))
    return kg_evaluation_triangles(e,
                                   (kg_evaluate_args){.batch = p->elements[batch].batch,
                                                      .points = used(s, p->points[s->kind]),
                                                      .first_group = first,
                                                      .n_groups = count,
                                                      .region = kg_evaluation_regions(e, batch, 0),
                                                      .values = values},
                                   done);
  const kg_cells cells = kg_cells_part(&p->elements[batch].cells, first, count);
  const kg_cell_values_args args = {.n_elements = cells.n_elements,
                                    .vertices = cells.vertices,
                                    .vertex = cells.vertex,
                                    .nodes = cells.nodes,
                                    .points = kg_cells_device_points(p, batch, s->kind),
                                    .n_used = places_of(s, batch).n_rule,
                                    .scale = 1.0,
                                    .region = kg_evaluation_regions(e, batch, first),
                                    .values = values};
  return kg_evaluation_cells(e, &args, done);
}

/// Values of groups [first, first + count) of a batch in device memory, by the GPU or the host.
/// Those of triangles count after settle().
static kedge_status put_values(kg_sampler *s, int batch, int32_t first, int32_t count,
                               double *values)
{
  kedge_context *ctx = s->evaluation.elliptic->ctx;
  bool done;
  if (is_on_device(s)) return put_elements(s, batch, first, count, values);
  KG_TRY(put_by_gpu(s, batch, first, count, values, &done));
  if (done) return KEDGE_OK;
  KG_TRY(take_host(s));
  KG_TRY(kg_sample(ctx, places_of(s, batch), first, count, &s->evaluation.set, s->staging));
  return kg_copy_in(ctx, values, s->staging,
                    values_of_group(s, batch) * (size_t)count * sizeof *values);
}

kg_sampler kg_sampler_of(kg_elliptic *p, kg_sample_kind kind, kg_sample_set set)
{
  const kg_evaluated what = kind == KG_SAMPLE_LOADS ? KG_EVALUATED_SOURCE : KG_EVALUATED_EXACT;
  return (kg_sampler){
      .evaluation = {.elliptic = p, .set = set, .what = what}, .kind = kind, .evaluations = 1};
}

static int64_t elements_of(const kg_elliptic *p, int batch, int32_t first, int32_t count)
{
  const int64_t left = p->shape.batch[batch].lanes.n_elements - (int64_t)first * KG_LANES;
  const int64_t n = (int64_t)count * KG_LANES;
  return n < left ? n : left;
}

/// Whether errors of the flux are summed: not where they are a number times those of q.
static bool wants_flux(const kg_elliptic *p)
{
  return p->arrays.flux_sums && !p->shape.choice.is_uniform;
}

/// Launch the kernel. @param[in] args  of the operator that it takes the place of, by kind
static kedge_status run_kernel(const kg_sampler *s, int batch, const void *args, int64_t n_elements)
{
  static kedge_status (*const loads)(kedge_context *, const kg_sample_kernel *,
                                     const kg_load_vectors_args *, const int32_t *) =
      KG_IF_CUDA(kg_sample_loads);
  static kedge_status (*const errors)(kedge_context *, const kg_sample_kernel *,
                                      const kg_errors_args *, const int32_t *) =
      KG_IF_CUDA(kg_sample_errors);
  const kg_evaluation *e = &s->evaluation;
  const int32_t *const region = kg_evaluation_regions(e, batch, 0);
  const double operations = kg_evaluation_operations(e);
  kg_elliptic *const p = e->elliptic;
  kg_run_cost(&p->run,
                kg_sample_cost(s->kind, p->shape.size, p->shape.fast_exact_rows, wants_flux(p),
                               operations, n_elements),
                1.0);
  return s->kind == KG_SAMPLE_LOADS ? loads(p->ctx, e->triangles, args, region)
                                    : errors(p->ctx, e->triangles, args, region);
}

/// Wait for the GPU, which may have found a value at points of triangles that is not finite. Where
/// the host finds one, this is a failure; else, as for the sine of a number from 2^46 on, which a
/// kernel does not know, another way is taken from here on.
/// @param[in]  first  group of the chunk
/// @param[out] good   false: what was made has to be made again
static kedge_status settle(kg_sampler *s, int batch, int32_t first, bool *good)
{
  kg_evaluation *e = &s->evaluation;
  int64_t bad = -1;
  if (has_triangles(s, batch)) KG_TRY(kg_evaluation_bad(e, &bad));
  *good = bad < 0;
  if (*good) return KEDGE_OK;
  if (e->triangles) first = 0;  // it counts from the first group of the batch
  KG_TRY(kg_sample_refuse(e->elliptic->ctx, places_of(s, batch), first, &e->set, bad));
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
static uint8_t *rough_of(const kg_sampler *s, load_chunk c)
{
  const kg_lane_batch *lanes = &s->evaluation.elliptic->shape.batch[c.batch].lanes;
  return s->rough ? s->rough + (size_t)(lanes->first_group + c.first) * KG_LANES : NULL;
}

static kg_load_vectors_args load_args(const kg_sampler *s, load_chunk c)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  return (kg_load_vectors_args){.batch = p->elements[c.batch].batch,
                                .points = used(s, p->points[s->kind]),
                                .host_points = points_on_host(s),
                                .first_group = c.first,
                                .n_groups = c.count,
                                .scale = p->equation.scale,
                                .values = c.values,
                                .load = c.load,
                                .rough = rough_of(s, c),
                                .least = s->least};
}

static kedge_status loads_of_chunk(kg_sampler *s, load_chunk c)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  const int64_t n = elements_of(p, c.batch, c.first, c.count);
  KG_TRY(put_values(s, c.batch, c.first, c.count, c.values));
  if (!has_triangles(s, c.batch))
    return kg_cells_loads(
        s->evaluation.elliptic, c.batch, c.first, c.count,
        &(kg_cell_loads_args){
            .values = c.values, .load = c.load, .rough = rough_of(s, c), .least = s->least});
  kg_run_cost(&s->evaluation.elliptic->run, kg_load_vectors_cost(p->shape.size, n), 1.0);
  const kg_load_vectors_args args = load_args(s, c);
  return kg_load_vectors(p->ctx, &args);
}

static kedge_status settled_loads(kg_sampler *s, load_chunk c)
{
  for (bool good = false; !good;) {
    KG_TRY(loads_of_chunk(s, c));
    KG_TRY(settle(s, c.batch, c.first, &good));
  }
  return KEDGE_OK;
}

/// Makes load vectors from values of the source, for as many groups at a time as have room.
static kedge_status loads_of_values(kg_sampler *s, load_chunk all, size_t value_bytes)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  const size_t group = (size_t)p->shape.batch[all.batch].size.n_modes * KG_LANES;
  const size_t group_bytes = values_of_group(s, all.batch) * sizeof(double);
  const size_t room = value_bytes / group_bytes;
  const int32_t end = all.first + all.count, most = p->shape.choice.recover_groups;
  const int32_t chunk = room < (size_t)most ? (int32_t)room : most;
  KG_REQUIRE(p->ctx, chunk > 0, KEDGE_ERR_INTERNAL,
             "load vectors: %zu bytes for values of the source where a group needs %zu",
             value_bytes, group_bytes);
  for (load_chunk c = all; c.first < end; c.first += chunk, c.load += group * (size_t)chunk) {
    c.count = end - c.first < chunk ? end - c.first : chunk;
    KG_TRY(settled_loads(s, c));
    KG_TRY(kg_run_announce(&s->evaluation.elliptic->run, p->run.stage, false));
  }
  return KEDGE_OK;
}

kedge_status kg_sampler_loads(kg_sampler *s, int batch, int32_t first, int32_t count,
                              kg_buffer values, double *load)
{
  const load_chunk all = {batch, first, count, values.data, load};
  KG_TRY(prepare(s));
  if (has_kernel(s, batch)) {
    const kg_load_vectors_args args = load_args(s, all);
    KG_TRY(run_kernel(s, batch, &args, elements_of(s->evaluation.elliptic, batch, first, count)));
    bool good;
    KG_TRY(settle(s, batch, first, &good));
    if (good) return KEDGE_OK;
  }
  return loads_of_values(s, all, values.bytes);
}

static kg_errors_args errors_of(const kg_sampler *s, int batch, int32_t first, int32_t count)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  return (kg_errors_args){
      .batch = p->elements[batch].batch,
      .points = p->points[KG_SAMPLE_ERRORS],
      .first_group = first,
      .n_groups = count,
      .u = p->made[KG_HELD_U],
      .q = p->made[KG_HELD_FLUX],
      .u_star = p->made[KG_HELD_U_STAR],
      .exact = p->arrays.exact_values,
      .by_group = p->arrays.error_sums + p->shape.batch[batch].lanes.first_group,
      .flux_by_group =
          wants_flux(p) ? p->arrays.flux_sums + p->shape.batch[batch].lanes.first_group : NULL,
      .diffusion = p->arrays.material_values,
      .material = kg_materials_from(p, batch, 0).constant.index};
}

static kedge_status errors_of_values(kg_sampler *s, int batch, int32_t first, int32_t count)
{
  const kg_elliptic *p = s->evaluation.elliptic;
  KG_TRY(put_values(s, batch, first, count, p->arrays.exact_values));
  if (!has_triangles(s, batch)) return kg_cells_errors(s->evaluation.elliptic, batch, first, count);
  const kg_errors_args args = errors_of(s, batch, first, count);
  const int64_t n = elements_of(p, batch, first, count);
  kg_run_cost(&s->evaluation.elliptic->run,
                kg_errors_cost(p->shape.size, args.points.rows, wants_flux(p), n), 1.0);
  return kg_errors(p->ctx, &args);
}

static kedge_status errors_of_chunk(kg_sampler *s, int batch, int32_t first, int32_t count)
{
  if (!has_kernel(s, batch)) return errors_of_values(s, batch, first, count);
  const kg_errors_args args = errors_of(s, batch, first, count);
  return run_kernel(s, batch, &args, elements_of(s->evaluation.elliptic, batch, first, count));
}

kedge_status kg_sampler_errors(kg_sampler *s, int batch, int32_t first, int32_t count)
{
  KG_TRY(prepare(s));
  for (bool good = false; !good;) {
    KG_TRY(errors_of_chunk(s, batch, first, count));
    KG_TRY(settle(s, batch, first, &good));
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
