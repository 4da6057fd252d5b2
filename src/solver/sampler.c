#include "solver/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "expression/function.h"
#include "solver/cells.h"
#include "solver/materials.h"

/// The points at which the functions are used: the source not at corners.
static kg_points used(const kg_sampler *s, kg_points points)
{
  return s->kind == KG_SAMPLE_LOADS ? kg_points_of_rule(points) : points;
}

static kg_points points_on_host(const kg_sampler *s)
{
  return used(s, kg_sampling_points(&s->pipeline->sampling[s->kind]));
}

/// The kernels of straight triangles sample a batch.
static bool has_triangles(const kg_sampler *s, int batch)
{
  return !s->pipeline->shape.batch[batch].by_quadrature;
}

static kg_places places_of(const kg_sampler *s, int batch)
{
  const kg_pipeline *p = s->pipeline;
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
  return (size_t)s->set.n * (size_t)places_of(s, batch).n * KG_LANES;
}

/// The times that the ways to evaluate would take, as docs/report.md has them.
typedef struct estimate {
  double host, interpret, compile;
} estimate;

/// Operations of all functions at a point.
static double operations_of(const kg_sampler *s)
{
  return kg_functions_operations(s->set.n, s->set.functions);
}

static estimate estimate_of(const kg_sampler *s)
{
  const kg_pipeline *p = s->pipeline;
  const double operations = operations_of(s);
  const double points = (double)p->mesh->n_elements * points_on_host(s).n * s->evaluations;
  return (estimate){.host = points * (2e-9 * operations / p->ctx->threads + 1e-9 * s->set.n),
                    .interpret = points * 2e-12 * operations,
                    .compile = 0.2 + 0.003 * operations};
}

/// Note where the functions are evaluated, in place of what is noted of them already; two different
/// answers are told apart.
static void note(const kg_sampler *s, const char *where)
{
  kedge_solution *solution = s->pipeline->solution;
  char(*const of)[sizeof solution->evaluated[0]] = solution->evaluated;
  const char *const source = of[KG_SAMPLE_LOADS], *const exact = of[KG_SAMPLE_ERRORS];
  const size_t size = sizeof solution->evaluation;
  snprintf(of[s->kind], sizeof of[s->kind], "%s", where);
  if (source[0] != '\0' && exact[0] != '\0' && strcmp(source, exact) != 0)
    snprintf(solution->evaluation, size, "source: %s; exact solution: %s", source, exact);
  else
    snprintf(solution->evaluation, size, "%s", of[s->kind]);
}

static kedge_status create_kernel(kg_sampler *s)
{
  static kedge_status (*const create)(kedge_context *, kg_sample_kind, kg_points,
                                      const kg_function *const *, kg_sample_kernel **) =
      KG_IF_CUDA(kg_sample_kernel_create);
  kg_range_push("compile", s->pipeline->mesh->n_elements, 0);
  const kedge_status status =
      create(s->pipeline->ctx, s->kind, kg_sampling_points(&s->pipeline->sampling[s->kind]),
             s->set.functions, &s->kernel);
  kg_range_pop();
  return status;
}

static kedge_status create_code(kg_sampler *s)
{
  static int (*const rows)(kedge_context *) = KG_IF_CUDA(kg_evaluate_rows);
  kedge_context *ctx = s->pipeline->ctx;
  kg_program program;
  KG_TRY(kg_functions_compile(ctx, s->set.n, s->set.functions, &program));
  kedge_status status = kg_host_alloc(ctx, 1, sizeof *s->code, &s->code);
  if (status == KEDGE_OK) status = kg_point_code_of(ctx, &program, rows(ctx), s->code);
  kg_program_free(&program);
  if (status == KEDGE_OK) return KEDGE_OK;
  free(s->code);
  s->code = NULL;
  return status;
}

/// The way that is asked for; else the faster one, and the other where that is not possible.
static kedge_status take_gpu(kg_sampler *s, const char *wish)
{
  const estimate seconds = estimate_of(s);
  bool compile = wish ? strcmp(wish, "compile") == 0 : seconds.compile < seconds.interpret;
  kedge_status status = compile ? create_kernel(s) : create_code(s);
  if (status != KEDGE_OK && !wish && (compile || seconds.compile < seconds.host)) {
    compile = !compile;
    status = compile ? create_kernel(s) : create_code(s);
  }
  if (status == KEDGE_OK) note(s, compile ? "gpu" : "gpu, interpreted");
  return status;
}

kedge_status kg_sampler_wish(kedge_context *ctx, const char **wish)
{
  static const char *const words[] = {"host", "interpret", "compile"};
  const char *const found = getenv("KEDGE_EVALUATE");
  *wish = found && found[0] != '\0' ? found : NULL;
  if (!*wish) return KEDGE_OK;
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    if (strcmp(found, words[i]) == 0) return KEDGE_OK;
  return KG_FAIL(ctx, KEDGE_ERR_INPUT,
                 "the environment variable KEDGE_EVALUATE is \"%s\", and may be host, interpret or "
                 "compile; choose one of them, or unset it",
                 found);
}

static bool any_by_quadrature(const kg_shape *s)
{
  bool any = false;
  for (int i = 0; i < s->n_batches; ++i) any = any || s->batch[i].by_quadrature;
  return any;
}

/// Choose the GPU where it is possible. That it is not possible is no failure.
static void choose(kg_sampler *s, const char *wish)
{
  kedge_context *ctx = s->pipeline->ctx;
  if (ctx->backend != KEDGE_BACKEND_CUDA) {
    note(s, "host");
  } else if (any_by_quadrature(&s->pipeline->shape)) {
    note(s, "host: the GPU evaluates in straight triangles with constant coefficients alone");
  } else if (wish && strcmp(wish, "host") == 0) {
    note(s, "host: KEDGE_EVALUATE says so");
  } else {
    if (take_gpu(s, wish) != KEDGE_OK) {
      char where[sizeof ctx->error + 8];
      snprintf(where, sizeof where, "host: %s", ctx->error);
      note(s, where);
    }
    ctx->error[0] = '\0';
  }
}

static kedge_status take_host(kg_sampler *s)
{
  const kg_pipeline *p = s->pipeline;
  const int points = s->kind == KG_SAMPLE_LOADS ? kg_shape_source_points(&p->shape)
                                                : kg_shape_exact_points(&p->shape);
  const size_t group = (size_t)s->set.n * (size_t)points * KG_LANES;
  if (s->staging) return KEDGE_OK;
  return kg_host_alloc(p->ctx, group * (size_t)p->shape.choice.recover_groups, sizeof *s->staging,
                       &s->staging);
}

static kedge_status prepare(kg_sampler *s)
{
  const char *wish;
  if (s->ready) return KEDGE_OK;
  KG_TRY(kg_sampler_wish(s->pipeline->ctx, &wish));
  s->ready = true;
  choose(s, wish);
  return KEDGE_OK;
}

static void release_gpu(kg_sampler *s)
{
  static void (*const release)(kg_sample_kernel *) = KG_IF_CUDA(kg_sample_kernel_free);
  if (s->kernel) release(s->kernel);
  free(s->code);
  s->kernel = NULL;
  s->code = NULL;
}

/// The GPU has found a value that is not finite. Where the host finds one, this is a failure; else,
/// as for the sine of a number from 2^46 on, which a kernel does not know, another way is taken
/// from here on.
/// @param[in] bad  its index; [group] counts from `first`
static kedge_status refuse_or_change(kg_sampler *s, int batch, int32_t first, int64_t bad)
{
  const kg_pipeline *p = s->pipeline;
  const bool compiled = s->kernel != NULL;
  KG_TRY(kg_sample_refuse(p->ctx, places_of(s, batch), first, &s->set, bad));
  release_gpu(s);
  if (compiled && create_code(s) == KEDGE_OK) {
    note(s, "gpu, interpreted");
    return KEDGE_OK;
  }
  p->ctx->error[0] = '\0';
  note(s, "host");
  return KEDGE_OK;
}

/// Values of groups [first, first + count) of a batch in device memory, by the GPU's interpreter or
/// the host.
static kedge_status put_values(kg_sampler *s, int batch, int32_t first, int32_t count,
                               double *values)
{
  static kedge_status (*const evaluate)(kedge_context *, const kg_evaluate_args *, int64_t *) =
      KG_IF_CUDA(kg_evaluate);
  const kg_pipeline *p = s->pipeline;
  if (s->code) {
    int64_t bad;
    KG_TRY(evaluate(p->ctx,
                    &(kg_evaluate_args){.batch = p->elements[batch].batch,
                                        .points = used(s, p->points[s->kind]),
                                        .first_group = first,
                                        .n_groups = count,
                                        .code = s->code,
                                        .values = values},
                    &bad));
    kg_stage_cost(s->pipeline,
                  kg_evaluate_cost(s->code, points_on_host(s).n, (int64_t)count * KG_LANES), 1.0);
    if (bad < 0) return KEDGE_OK;
    KG_TRY(refuse_or_change(s, batch, first, bad));
  }
  KG_TRY(take_host(s));
  KG_TRY(kg_sample(p->ctx, places_of(s, batch), first, count, &s->set, s->staging));
  return kg_copy_in(p->ctx, values, s->staging,
                    values_of_group(s, batch) * (size_t)count * sizeof *values);
}

kg_sampler kg_sampler_of(kg_pipeline *p, kg_sample_kind kind, kg_sample_set set)
{
  return (kg_sampler){.pipeline = p, .set = set, .kind = kind, .evaluations = 1};
}

static int64_t elements_of(const kg_pipeline *p, int batch, int32_t first, int32_t count)
{
  const int64_t left = p->shape.batch[batch].lanes.n_elements - (int64_t)first * KG_LANES;
  const int64_t n = (int64_t)count * KG_LANES;
  return n < left ? n : left;
}

/// Launch the kernel. @param[in] args  of the operator that it takes the place of, by kind
static kedge_status run_kernel(const kg_sampler *s, const void *args, int64_t n_elements)
{
  static kedge_status (*const loads)(kedge_context *, const kg_sample_kernel *,
                                     const kg_load_vectors_args *) = KG_IF_CUDA(kg_sample_loads);
  static kedge_status (*const errors)(kedge_context *, const kg_sample_kernel *,
                                      const kg_errors_args *) = KG_IF_CUDA(kg_sample_errors);
  kg_pipeline *const p = s->pipeline;
  kg_stage_cost(p,
                kg_sample_cost(s->kind, p->shape.size, p->shape.fast_exact_rows, operations_of(s),
                               n_elements),
                1.0);
  return s->kind == KG_SAMPLE_LOADS ? loads(p->ctx, s->kernel, args)
                                    : errors(p->ctx, s->kernel, args);
}

/// Wait for the kernel; afterwards there is none where it did not know a value.
static kedge_status settle(kg_sampler *s, int batch)
{
  static kedge_status (*const find)(kedge_context *, const kg_sample_kernel *, int64_t *) =
      KG_IF_CUDA(kg_sample_bad);
  int64_t bad;
  KG_TRY(find(s->pipeline->ctx, s->kernel, &bad));
  return bad < 0 ? KEDGE_OK : refuse_or_change(s, batch, 0, bad);
}

/// Groups of a batch that are handled at once, and the loads that they get.
typedef struct load_chunk {
  int batch;
  int32_t first, count;
  double *values, *load;
} load_chunk;

static kg_load_vectors_args load_args(const kg_sampler *s, load_chunk c)
{
  const kg_pipeline *p = s->pipeline;
  return (kg_load_vectors_args){.batch = p->elements[c.batch].batch,
                                .points = used(s, p->points[s->kind]),
                                .host_points = points_on_host(s),
                                .first_group = c.first,
                                .n_groups = c.count,
                                .scale = p->scale,
                                .values = c.values,
                                .load = c.load};
}

static kedge_status loads_of_chunk(kg_sampler *s, load_chunk c)
{
  const kg_pipeline *p = s->pipeline;
  const int64_t n = elements_of(p, c.batch, c.first, c.count);
  KG_TRY(put_values(s, c.batch, c.first, c.count, c.values));
  if (!has_triangles(s, c.batch))
    return kg_cells_loads(s->pipeline, c.batch, c.first, c.count, c.values, c.load);
  kg_stage_cost(s->pipeline, kg_load_vectors_cost(p->shape.size, n), 1.0);
  const kg_load_vectors_args args = load_args(s, c);
  return kg_load_vectors(p->ctx, &args);
}

/// Makes load vectors from values of the source, for as many groups at a time as have room.
static kedge_status loads_of_values(kg_sampler *s, load_chunk all, size_t value_bytes)
{
  const kg_pipeline *p = s->pipeline;
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
    KG_TRY(loads_of_chunk(s, c));
    KG_TRY(kg_stage_announce(s->pipeline, p->stage, false));
  }
  return KEDGE_OK;
}

kedge_status kg_sampler_loads(kg_sampler *s, int batch, int32_t first, int32_t count,
                              kg_buffer values, double *load)
{
  const load_chunk all = {batch, first, count, values.data, load};
  KG_TRY(prepare(s));
  if (s->kernel) {
    const kg_load_vectors_args args = load_args(s, all);
    KG_TRY(run_kernel(s, &args, elements_of(s->pipeline, batch, first, count)));
    KG_TRY(settle(s, batch));
    if (s->kernel) return KEDGE_OK;
  }
  return loads_of_values(s, all, values.bytes);
}

static kg_errors_args errors_of(const kg_sampler *s, int batch, int32_t first, int32_t count)
{
  const kg_pipeline *p = s->pipeline;
  return (kg_errors_args){
      .batch = p->elements[batch].batch,
      .points = p->points[KG_SAMPLE_ERRORS],
      .first_group = first,
      .n_groups = count,
      .u = p->arrays.u,
      .q = p->arrays.q,
      .u_star = p->arrays.u_star,
      .exact = p->arrays.exact_values,
      .by_group = p->arrays.error_sums + p->shape.batch[batch].lanes.first_group,
      .flux_by_group = p->arrays.material_diffusion
                           ? p->arrays.flux_sums + p->shape.batch[batch].lanes.first_group
                           : NULL,
      .diffusion = p->arrays.material_diffusion,
      .material = kg_materials_from(p, batch, 0).index};
}

static kedge_status errors_of_values(kg_sampler *s, int batch, int32_t first, int32_t count)
{
  const kg_pipeline *p = s->pipeline;
  KG_TRY(put_values(s, batch, first, count, p->arrays.exact_values));
  if (!has_triangles(s, batch)) return kg_cells_errors(s->pipeline, batch, first, count);
  const kg_errors_args args = errors_of(s, batch, first, count);
  const int64_t n = elements_of(p, batch, first, count);
  kg_stage_cost(s->pipeline, kg_errors_cost(p->shape.size, args.points.rows, n), 1.0);
  return kg_errors(p->ctx, &args);
}

kedge_status kg_sampler_errors(kg_sampler *s, int batch, int32_t first, int32_t count)
{
  KG_TRY(prepare(s));
  if (!s->kernel) return errors_of_values(s, batch, first, count);
  const kg_errors_args args = errors_of(s, batch, first, count);
  return run_kernel(s, &args, elements_of(s->pipeline, batch, first, count));
}

kedge_status kg_sampler_settle(kg_sampler *s, int batch, int32_t first, int32_t count)
{
  if (!s->kernel) return KEDGE_OK;
  KG_TRY(settle(s, batch));
  return s->kernel ? KEDGE_OK : errors_of_values(s, batch, first, count);
}

void kg_sampler_rest(kg_sampler *s)
{
  free(s->staging);
  s->staging = NULL;
}

void kg_sampler_close(kg_sampler *s)
{
  release_gpu(s);
  kg_sampler_rest(s);
  *s = (kg_sampler){0};
}
