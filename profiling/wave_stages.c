// The parts of a stage beside kedge's, from the same state.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "wave_parts.h"
#include "waves.h"
#include "ops/waves/stage_kernel.h"
#include "waves/waves.h"

static const double error_limit = 1e-4;  // single precision, derivatives of order 9
static const double step = 1e-5;         // short: the state of a benchmark stays what it is
static const char *const names[WAVE_PARTS] = {"gather", "lift", "differentiate", "update", "one"};

typedef struct stages {
  const bench_machine *m;
  kg_waves waves;
  wave_parts parts;
  wave_part part;
  int elements;  ///< of a block
} stages;

static kedge_status call_kedge(void *user)
{
  stages *const s = user;
  return kg_waves_stage(&s->waves, 1, step, 0.0);
}

static kedge_status call_part(void *user)
{
  const stages *const s = user;
  return wave_part_run(s->m->ctx, &s->parts.args, s->part, s->elements);
}

/// The state of kedge, in the layout of the parts.
static float *state_of(stages *s)
{
  const wave_parts_args *const a = &s->parts.args;
  double *all;
  float *u;
  BENCH_TRY(s->m->ctx,
            kg_host_alloc(s->m->ctx, (size_t)kg_wave_state(&s->waves.args), sizeof *all, &all));
  BENCH_TRY(s->m->ctx, kg_host_alloc(s->m->ctx, WAVE_FIELDS * (size_t)a->n_elements * (size_t)a->n,
                                     sizeof *u, &u));
  BENCH_TRY(s->m->ctx, kg_waves_get_elements(&s->waves, 0, a->n_elements, all));
  BENCH_TRY(s->m->ctx, kg_sync(s->m->ctx));
  for (int f = 0; f < WAVE_FIELDS; ++f)
    for (int32_t e = 0; e < a->n_elements; ++e)
      for (int i = 0; i < a->n; ++i)
        u[wave_place(a, f, e, i)] = (float)all[kg_wave_place(&s->waves.args, e, f, i)];
  free(all);
  return u;
}

/// ||there - expected|| / ||change||, where the change is what a stage has made.
static double difference(const stages *s, const float *there, const float *expected,
                         const float *before)
{
  const wave_parts_args *const a = &s->parts.args;
  const size_t n = WAVE_FIELDS * (size_t)a->n_elements * (size_t)a->n;
  float *found;
  double sum = 0.0, norm = 0.0;
  BENCH_TRY(s->m->ctx, kg_host_alloc(s->m->ctx, n, sizeof *found, &found));
  BENCH_TRY(s->m->ctx, kg_copy_out(s->m->ctx, found, there, n * sizeof *found));
  BENCH_TRY(s->m->ctx, kg_sync(s->m->ctx));
  for (size_t i = 0; i < n; ++i) {
    const double change = (double)expected[i] - (double)before[i];
    sum += ((double)found[i] - (double)expected[i]) * ((double)found[i] - (double)expected[i]);
    norm += change * change;
  }
  free(found);
  return sqrt(sum / norm);
}

/// The parts and the one kernel after kedge's first stage from the same state. @return those that
/// differ
static int check(stages *s)
{
  enum { LONG = 4 };  // of 1e-2: rounding of the state is below the limit
  wave_parts_args *const a = &s->parts.args;
  const size_t bytes = WAVE_FIELDS * (size_t)a->n_elements * (size_t)a->n * sizeof(float);
  float *const before = state_of(s);
  BENCH_TRY(s->m->ctx, kg_waves_stage(&s->waves, 0, 1e-2 / LONG, 0.0));
  float *const expected = state_of(s);
  a->before = 0.0f;
  a->step = (float)s->waves.args.step;
  a->after = (float)s->waves.args.after;
  BENCH_TRY(s->m->ctx, kg_copy_in(s->m->ctx, a->u, before, bytes));
  BENCH_TRY(s->m->ctx, wave_part_run(s->m->ctx, a, WAVE_ONE, 1));
  const double one = difference(s, a->next, expected, before);
  for (int part = 0; part < WAVE_ONE; ++part) {
    const int elements =
        wave_part_fits(a, (wave_part)part, 5) ? 5 : 1;  // the last block is not full
    BENCH_TRY(s->m->ctx, wave_part_run(s->m->ctx, a, (wave_part)part, elements));
  }
  const double separate = difference(s, a->u, expected, before);
  bench_print_number("error_of_parts", separate);
  bench_print_number("error_of_one", one);
  free(before);
  free(expected);
  return !(one < error_limit) + !(separate < error_limit);
}

static void print_seconds(const stages *s, double seconds, kg_cost cost)
{
  bench_print_number("seconds", seconds);
  bench_print_number("flops", cost.flops);
  bench_print_number("bytes", cost.bytes);
  bench_print_number("gflops", 1e-9 * cost.flops / seconds);
  bench_print_number("gbytes", 1e-9 * cost.bytes / seconds);
  bench_print_number("share_of_floor", bench_floor(&s->m->roof, cost) / seconds);
}

/// The fastest number of elements a block, and all of them.
static void measure_part(const bench_settings *settings, stages *s, int order)
{
  const bool is_host = s->m->ctx->backend == KEDGE_BACKEND_HOST;
  double best = INFINITY;
  int best_elements = 1;
  waves_print(names[s->part], s->m->mesh, order);
  printf(",\"blocks\":[");
  for (int elements = 1; elements <= (is_host ? 1 : 64); elements *= 2) {
    double seconds;
    s->elements = elements;
    if (!wave_part_fits(&s->parts.args, s->part, elements)) break;
    BENCH_TRY(s->m->ctx,
              bench_time(s->m->ctx, (bench_work){call_part, NULL, s}, settings->samples, &seconds));
    printf("%s[%d,%.6g]", elements > 1 ? "," : "", elements, seconds);
    if (seconds >= best) continue;
    best = seconds;
    best_elements = elements;
  }
  printf("],\"elements_of_block\":%d", best_elements);
  print_seconds(s, best, wave_part_cost(&s->parts.args, s->part));
  printf("}\n");
}

#ifdef KEDGE_WITH_CUDA
/// Stages of other kernels than the one that kedge takes.
typedef struct form {
  const char *name;
  int elements;  ///< of a block; 0: as kedge chooses
  bool plain, splits, copies_ahead;
} form;

enum { FORMS_ORDER_MAX = 4 };  ///< above it what is not split into sectors takes long to compile

static void measure_form(const bench_settings *settings, stages *s, const form *f, int order)
{
  kg_wave_args *const a = &s->waves.args;
  kg_wave_kernel *const own = a->kernel;
  const int block = a->block;
  double seconds = 0.0;
  kedge_status status = KEDGE_OK;
  a->kernel = NULL;
  a->block = 0;
  if (!f->plain) {
    kg_wave_tiling tiling = kg_wave_tiling_of(s->waves.law, &s->waves.nodal, a->number);
    if (f->elements > 0) tiling.elements = f->elements;
    tiling.splits = f->splits;
    tiling.copies_ahead = f->copies_ahead;
    tiling.places = 0;
    kg_wave_tiling_fit(s->waves.law, &s->waves.nodal, a->number, &tiling);
    status = kg_wave_kernel_create(s->m->ctx, s->waves.law, &s->waves.nodal, a->number, &tiling,
                                   &a->kernel);
    if (status == KEDGE_OK) a->block = kg_wave_kernel_block(a->kernel);
  }
  if (status == KEDGE_OK) {
    BENCH_TRY(s->m->ctx, bench_time(s->m->ctx, (bench_work){call_kedge, NULL, s}, settings->samples,
                                    &seconds));
    waves_print(f->name, s->m->mesh, order);
    bench_print_number("seconds", seconds);
    printf("}\n");
  }
  kg_wave_kernel_free(a->kernel);
  a->kernel = own;
  a->block = block;
  if (status != KEDGE_ERR_UNSUPPORTED) BENCH_TRY(s->m->ctx, status);
}

/// Where kedge's stage is a compiled kernel: without each of what makes it fast, and other blocks.
static void measure_forms(const bench_settings *settings, stages *s, int order)
{
  static const form forms[] = {{"stage plain", .plain = true},
                               {"stage without sectors", .copies_ahead = true},
                               {"stage without copies ahead", .splits = true},
                               {"stage of 16", 16, .splits = true, .copies_ahead = true},
                               {"stage of 32", 32, .splits = true, .copies_ahead = true}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
    if (forms[i].plain || order <= FORMS_ORDER_MAX) measure_form(settings, s, &forms[i], order);
}
#endif

int waves_measure_parts(const bench_settings *settings, const bench_machine *m, int order)
{
  kedge_problem *const problem = waves_problem(settings, m, order);
  stages s = {.m = m};
  double seconds;
  int wrong = 0;
  BENCH_TRY(m->ctx, kg_waves_create(m->ctx, m->mesh, problem, &s.waves));
  BENCH_TRY(m->ctx, wave_parts_open(m->ctx, m->mesh, &s.waves.nodal, &s.parts));
  waves_print("stage", m->mesh, order);
  if (settings->check) wrong = check(&s);
  BENCH_TRY(m->ctx,
            bench_time(m->ctx, (bench_work){call_kedge, NULL, &s}, settings->samples, &seconds));
  print_seconds(&s, seconds,
                (kg_cost){kg_wave_cost(&s.waves.args, m->mesh->n_elements).bytes,
                          wave_part_cost(&s.parts.args, WAVE_ONE).flops});
  printf("}\n");
#ifdef KEDGE_WITH_CUDA
  if (s.waves.args.kernel) measure_forms(settings, &s, order);
#endif
  s.parts.args.before = -0.5f;
  s.parts.args.step = (float)step;
  s.parts.args.after = 0.1f;
  for (int part = 0; part < WAVE_PARTS; ++part) {
    s.part = (wave_part)part;
    measure_part(settings, &s, order);
  }
  fprintf(stderr, "parts, order %d: kedge's stage %.3f ms\n", order, 1e3 * seconds);
  wave_parts_close(&s.parts);
  kg_waves_free(&s.waves);
  kedge_problem_destroy(problem);
  return wrong;
}
