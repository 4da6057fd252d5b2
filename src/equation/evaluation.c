#include "equation/evaluation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "expression/function.h"

double kg_evaluation_operations(const kg_evaluation *e)
{
  return kg_functions_operations(e->set.n, e->set.functions);
}

double kg_evaluation_time(const kg_evaluation *e)
{
  return e->set.functions[0]->t;
}

/// Write what is noted of all functions: once where it is alike.
static void write_notes(kedge_solution *solution)
{
  static const char *const names[KG_EVALUATED_COUNT] = {"source", "exact solution", "coefficients"};
  char *const out = solution->evaluation;
  const size_t size = sizeof solution->evaluation;
  const char *first = NULL;
  bool alike = true;
  size_t at = 0;
  for (int i = 0; i < KG_EVALUATED_COUNT; ++i) {
    const char *const where = solution->evaluated[i];
    if (where[0] == '\0') continue;
    if (!first) first = where;
    alike = alike && strcmp(where, first) == 0;
    const int n = snprintf(out + at, size - at, "%s%s: %s", at ? "; " : "", names[i], where);
    at += (size_t)n < size - at ? (size_t)n : 0;
  }
  if (alike && first) snprintf(out, size, "%s", first);
}

void kg_evaluation_note(const kg_evaluation *e, const char *where)
{
  kedge_solution *solution = e->rules->run->solution;
  snprintf(solution->evaluated[e->what], sizeof solution->evaluated[0], "%s", where);
  write_notes(solution);
}

static void release(kg_evaluation *e)
{
  static void (*const free_triangles)(kg_sample_kernel *) = KG_IF_CUDA(kg_sample_kernel_free);
  static void (*const free_cells)(kg_cell_kernel *) = KG_IF_CUDA(kg_cell_kernel_free);
  if (e->triangles) free_triangles(e->triangles);
  if (e->cells) free_cells(e->cells);
  free(e->code);
  e->triangles = NULL;
  e->cells = NULL;
  e->code = NULL;
}

/// Make kernels for the kinds of elements that there are.
static kedge_status create_kernels(kg_evaluation *e)
{
  static kedge_status (*const create_triangles)(kedge_context *, kg_sample_kind, kg_points,
                                                const kg_function *const *, kg_sample_kernel **) =
      KG_IF_CUDA(kg_sample_kernel_create);
  static kedge_status (*const create_cells)(kedge_context *, int, int, const kg_function *const *,
                                            kg_cell_kernel **) = KG_IF_CUDA(kg_cell_kernel_create);
  const kg_rules *rules = e->rules;
  const kg_shape *shape = rules->shape;
  const kg_sample_kind kind = e->what == KG_EVALUATED_SOURCE ? KG_SAMPLE_LOADS : KG_SAMPLE_ERRORS;
  const bool sampled = e->what != KG_EVALUATED_COEFFICIENTS;  // at points of all elements
  kedge_status status = KEDGE_OK;
  kg_range_push("compile", rules->mesh->n_elements, 0);
  for (int i = 0; status == KEDGE_OK && i < shape->n_batches; ++i)
    if (shape->batch[i].samples_cells && !e->cells)
      status =
          create_cells(rules->ctx, rules->mesh->dimension, e->set.n, e->set.functions, &e->cells);
    else if (!shape->batch[i].samples_cells && sampled && !e->triangles)
      status = create_triangles(rules->ctx, kind, kg_sampling_points(&rules->sampling[kind]),
                                e->set.functions, &e->triangles);
  kg_range_pop();
  if (status != KEDGE_OK) release(e);
  return status;
}

static kedge_status create_code(kg_evaluation *e)
{
  static int (*const rows)(kedge_context *) = KG_IF_CUDA(kg_evaluate_rows);
  kedge_context *ctx = e->rules->ctx;
  kg_program program;
  KG_TRY(kg_functions_compile(ctx, e->set.n, e->set.functions, &program));
  kedge_status status = kg_host_alloc(ctx, 1, sizeof *e->code, &e->code);
  if (status == KEDGE_OK) status = kg_point_code_of(ctx, &program, rows(ctx), e->code);
  kg_program_free(&program);
  if (status != KEDGE_OK) release(e);
  return status;
}

/// The way that is asked for; else the faster one, and the other where that is not possible.
static kedge_status take_gpu(kg_evaluation *e, const char *wish, double points_of_element)
{
  // The times that the ways would take, as docs/report.md has them.
  const double operations = kg_evaluation_operations(e);
  const double points = (double)e->rules->mesh->n_elements * points_of_element;
  const double host = points * (2e-9 * operations / e->rules->ctx->threads + 1e-9 * e->set.n);
  const double interpreted = points * 2e-12 * operations, compiled = 0.2 + 0.003 * operations;
  bool compile = wish ? strcmp(wish, "compile") == 0 : compiled < interpreted;
  kedge_status status = compile ? create_kernels(e) : create_code(e);
  if (status != KEDGE_OK && !wish && (compile || compiled < host)) {
    compile = !compile;
    status = compile ? create_kernels(e) : create_code(e);
  }
  if (status == KEDGE_OK) kg_evaluation_note(e, compile ? "gpu" : "gpu, interpreted");
  return status;
}

kedge_status kg_evaluation_wish(kedge_context *ctx, const char **wish)
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

kedge_status kg_evaluation_prepare(kg_evaluation *e, double points)
{
  kedge_context *ctx = e->rules->ctx;
  const char *wish;
  if (e->ready) return KEDGE_OK;
  KG_TRY(kg_evaluation_wish(ctx, &wish));
  e->ready = true;
  if (ctx->backend != KEDGE_BACKEND_CUDA) {
    kg_evaluation_note(e, "host");
  } else if (e->is_array) {
    kg_evaluation_note(e, "gpu");
  } else if (wish && strcmp(wish, "host") == 0) {
    kg_evaluation_note(e, "host: KEDGE_EVALUATE says so");
  } else {
    // It is no failure that the GPU cannot.
    if (take_gpu(e, wish, points) != KEDGE_OK) {
      char where[sizeof ctx->error + 8];
      snprintf(where, sizeof where, "host: %s", ctx->error);
      kg_evaluation_note(e, where);
    }
    ctx->error[0] = '\0';
  }
  return KEDGE_OK;
}

void kg_evaluation_change(kg_evaluation *e)
{
  const bool interprets = e->code == NULL;
  release(e);
  if (interprets && create_code(e) == KEDGE_OK) {
    kg_evaluation_note(e, "gpu, interpreted");
    return;
  }
  e->rules->ctx->error[0] = '\0';
  kg_evaluation_note(e, "host");
}

void kg_evaluation_close(kg_evaluation *e)
{
  release(e);
  *e = (kg_evaluation){0};
}

/// Count values that lie in memory.
static void add_cost(const kg_evaluation *e, int points, int64_t n_elements)
{
  const double operations = e->code ? e->code->n_instructions : kg_evaluation_operations(e);
  kg_run_cost(e->rules->run, kg_evaluate_cost(e->set.n, operations, points, n_elements), 1.0);
}

static void put_elements(const kg_evaluation *e, int batch, int32_t first, int32_t count,
                         kg_cell_values_args *to)
{
  const kg_elements *const all = &e->rules->elements[batch];
  to->dimension = e->rules->mesh->dimension;
  if (to->dimension == 3) {
    const kg_tetrahedra part = kg_tetrahedra_part(&all->tetrahedra, first, count);
    to->n_elements = part.n_elements;
    to->vertices = part.vertices;
    to->vertex = part.vertex;
    return;
  }
  const kg_cells part = kg_cells_part(&all->cells, first, count);
  to->n_elements = part.n_elements;
  to->vertices = part.vertices;
  to->vertex = part.vertex;
  to->nodes = part.nodes;
}

kedge_status kg_evaluation_cells(kg_evaluation *e, int batch, int32_t first, int32_t count,
                                 kg_cell_values_args args, bool *done)
{
  static kedge_status (*const run)(kedge_context *, const kg_cell_kernel *,
                                   const kg_cell_values_args *, int64_t *) =
      KG_IF_CUDA(kg_cell_kernel_run);
  static kedge_status (*const interpret)(kedge_context *, const kg_point_code *,
                                         const kg_cell_values_args *, int64_t *) =
      KG_IF_CUDA(kg_evaluate_cells);
  kedge_context *ctx = e->rules->ctx;
  put_elements(e, batch, first, count, &args);
  args.region = kg_rules_regions(e->rules, batch, first);
  args.t = kg_evaluation_time(e);
  *done = false;
  while (!*done && (e->cells || e->code)) {
    int64_t bad;
    if (e->code) kg_point_code_set_time(e->code, args.t);
    KG_TRY(e->cells ? run(ctx, e->cells, &args, &bad) : interpret(ctx, e->code, &args, &bad));
    add_cost(e, args.points.n, args.n_elements);
    *done = bad < 0;
    if (!*done) kg_evaluation_change(e);
  }
  return KEDGE_OK;
}

kedge_status kg_evaluation_triangles(const kg_evaluation *e, int batch, kg_evaluate_args args,
                                     bool *done)
{
  static kedge_status (*const interpret)(kedge_context *, const kg_evaluate_args *) =
      KG_IF_CUDA(kg_evaluate);
  *done = e->code != NULL;
  if (!*done) return KEDGE_OK;
  args.batch = e->rules->elements[batch].batch;
  args.region = kg_rules_regions(e->rules, batch, 0);
  args.code = e->code;
  kg_point_code_set_time(e->code, kg_evaluation_time(e));
  add_cost(e, args.points.n, (int64_t)args.n_groups * KG_LANES);
  return interpret(e->rules->ctx, &args);
}

kedge_status kg_evaluation_bad(const kg_evaluation *e, int64_t *bad)
{
  static kedge_status (*const of_kernel)(kedge_context *, const kg_sample_kernel *, int64_t *) =
      KG_IF_CUDA(kg_sample_bad);
  static kedge_status (*const of_code)(kedge_context *, int64_t *) = KG_IF_CUDA(kg_evaluate_bad);
  kedge_context *ctx = e->rules->ctx;
  *bad = -1;
  if (e->triangles) return of_kernel(ctx, e->triangles, bad);
  return e->code ? of_code(ctx, bad) : KEDGE_OK;
}
