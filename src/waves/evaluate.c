// Data of stages (waves/data.h).
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "equation/evaluation.h"
#include "solution/values.h"
#include "waves/waves.h"

static bool moves(const kg_wave_data *d, const kg_wave_part *part)
{
  bool any = false;
  for (int f = 0; f < d->n_functions; ++f) any = any || kg_function_may_move(part->function[f]);
  return any;
}

/// The setting that a value of a piece is of. NULL: none is found
static const kg_setting *setting_of(const kg_waves *w, const kg_wave_piece *p, const char *name)
{
  const kedge_mesh *const mesh = w->mesh;
  const char *region;
  if (p->facet < 0)
    return kg_coefficient_setting(w->problem, mesh, mesh->element_region[p->element],
                                  strncmp(name, "current", 7) == 0 ? "current" : name, &region);
  const int64_t edge = kg_side_edge(mesh, kg_side_of(p->element, p->facet));
  const kedge_problem *const problem = w->problem;
  const kg_setting *found = NULL;
  char section[KG_PLACE_BYTES];
  snprintf(section, sizeof section, "boundary %s", mesh->groups[mesh->edge_group[edge]].name);
  found = kg_settings_find(&problem->settings, section, name);
  if (!found) found = kg_settings_find(&problem->settings, "boundary default", name);
  return found ? found : kg_settings_find(&problem->settings, "exact", name);
}

static kedge_status refuse(const kg_waves *w, const kg_wave_data *d, int64_t i)
{
  const kg_wave_piece *const p = &d->piece[i / kg_wave_data_numbers(d, 1)];
  const int j = (int)(i % d->n);
  const char *const name = d->name[i / d->n % d->n_functions];
  char at[KG_PLACE_TEXT], what[80];
  kg_waves_place(w, p->element, p->facet < 0 ? j : w->nodal.facet_node[p->facet * d->n + j], at);
  snprintf(what, sizeof what, d->what, name);
  return kg_problem_fail(w->ctx, w->problem, setting_of(w, p, name), "%s is %g at %s, t = %.9g%s",
                         what, isnan(d->host[i]) ? (double)NAN : d->host[i], at, w->problem->t,
                         isfinite(d->host[i]) ? ", which single precision does not hold" : "");
}

/// Evaluate a part on the host.
static kedge_status take_on_host(const kg_waves *w, kg_wave_data *d, const kg_wave_part *part)
{
  const int64_t first = kg_wave_data_numbers(d, part->first), n = kg_wave_data_numbers(d, part->n);
  const double most = w->args.number == KG_SINGLE ? FLT_MAX : DBL_MAX;
  KG_TRY(kg_wave_data_evaluate(w, d, part->function, part->n, d->piece + part->first,
                               d->host + first));
  for (int64_t i = first; i < first + n; ++i)
    if (!(fabs(d->host[i]) <= most)) return refuse(w, d, i);
  char *const there = (char *)d->values.data + (size_t)first * kg_number_bytes(w->args.number);
  return kg_waves_put(w, there, d->host + first, n);
}

static void release(kg_wave_part *part)
{
  static void (*const free_kernel)(kg_point_kernel *) = KG_IF_CUDA(kg_point_kernel_free);
  if (part->kernel) free_kernel(part->kernel);
  free(part->code);
  part->kernel = NULL;
  part->code = NULL;
}

static kedge_status interpret(const kg_waves *w, const kg_wave_data *d, kg_wave_part *part)
{
  static int (*const rows)(kedge_context *) = KG_IF_CUDA(kg_evaluate_rows);
  kg_program program;
  KG_TRY(kg_functions_compile(w->ctx, d->n_functions, part->function, &program));
  kedge_status status = kg_host_alloc(w->ctx, 1, sizeof *part->code, &part->code);
  if (status == KEDGE_OK) status = kg_point_code_of(w->ctx, &program, rows(w->ctx), part->code);
  kg_program_free(&program);
  if (status != KEDGE_OK) release(part);
  return status;
}

static kedge_status compile(const kg_waves *w, const kg_wave_data *d, kg_wave_part *part)
{
  static kedge_status (*const create)(kedge_context *, int, const kg_function *const *,
                                      kg_point_kernel **) = KG_IF_CUDA(kg_point_kernel_create);
  return create(w->ctx, d->n_functions, part->function, &part->kernel);
}

static bool is_on_gpu(const kg_wave_part *part)
{
  return part->kernel || part->code;
}

/// The faster way of the GPU, as for other functions (equation/evaluation.c), and the other one
/// where that is not possible; the host where both are not, which is no failure.
static void choose(const kg_waves *w, const kg_wave_data *d, kg_wave_part *part, const char *wish)
{
  const kg_time_settings *const time = &w->problem->time;
  const double step = time->step > 0.0 ? time->step : w->problem->wave.cfl * w->longest;
  const double operations = kg_functions_operations(d->n_functions, part->function);
  const double points = KG_WAVE_STAGES * time->end / step * (double)part->n * d->n;
  const bool compiled =
      wish ? strcmp(wish, "compile") == 0 : 0.2 + 0.003 * operations < points * 2e-12 * operations;
  kedge_status status = compiled ? compile(w, d, part) : interpret(w, d, part);
  if (status != KEDGE_OK && !wish) status = compiled ? interpret(w, d, part) : compile(w, d, part);
  if (status != KEDGE_OK) w->ctx->error[0] = '\0';
}

static kedge_status take_on_gpu(const kg_waves *w, kg_wave_data *d, kg_wave_part *part)
{
  static kedge_status (*const run)(kedge_context *, const kg_point_kernel *,
                                   const kg_at_points_args *) = KG_IF_CUDA(kg_point_kernel_run);
  static kedge_status (*const evaluate)(kedge_context *, kg_point_code *,
                                        const kg_at_points_args *) = KG_IF_CUDA(kg_evaluate_points);
  const double *const x = d->points.data;
  const kg_at_points_args args = {
      .number = w->args.number,
      .n = (int64_t)part->n * d->n,
      .piece = d->n,
      .x = x + 3 * part->first_point,
      .region = (const int32_t *)(x + 3 * d->n_points) + part->first_point,
      .t = w->problem->t,
      .values = (char *)d->values.data +
                (size_t)kg_wave_data_numbers(d, part->first) * kg_number_bytes(w->args.number),
      .bad = d->bad.data};
  return part->kernel ? run(w->ctx, part->kernel, &args) : evaluate(w->ctx, part->code, &args);
}

/// What was compiled does not know sines of very large angles, which what interprets does. Angles
/// grow in time: it is tried now and at the end.
static kedge_status try_compiled(const kg_waves *w, kg_wave_data *d, kg_wave_part *part)
{
  const double now = w->problem->t;
  unsigned bad;
  if (!part->kernel) return KEDGE_OK;
  kg_problem_set_time(w->problem, w->problem->time.end);
  KG_TRY(take_on_gpu(w, d, part));
  kg_problem_set_time(w->problem, now);
  KG_TRY(take_on_gpu(w, d, part));
  KG_TRY(kg_copy_out(w->ctx, &bad, d->bad.data, sizeof bad));
  if (!bad) return KEDGE_OK;
  KG_TRY(kg_zero(w->ctx, d->bad.data, sizeof bad));
  release(part);
  if (interpret(w, d, part) != KEDGE_OK) w->ctx->error[0] = '\0';
  return take_on_host(w, d, part);
}

/// Whether the GPU may evaluate a part.
static bool is_for_gpu(const kg_waves *w, const kg_wave_data *d, const kg_wave_part *part)
{
  bool may = w->ctx->backend == KEDGE_BACKEND_CUDA && part->moves;
  for (int f = 0; f < d->n_functions; ++f) may = may && !kg_function_of_caller(part->function[f]);
  return may;
}

/// Coordinates and regions of the points of a part. @param[out] x  [3][points]
static void list_points(const kg_waves *w, const kg_wave_data *d, const kg_wave_part *part,
                        double *x, int32_t *region)
{
  const int64_t n = (int64_t)part->n * d->n;
  const bool pulled = kg_waves_may_jump(d->n_functions, part->function);
  for (int32_t i = 0; i < part->n; ++i) {
    const kg_wave_piece *const p = &d->piece[part->first + i];
    double place[3 * KG_WAVE_POINTS];
    kg_wave_piece_nodes(w, d, p, place);
    double *const to = x + (int64_t)i * d->n;
    kg_waves_coordinates(w, p->element, d->n, place, (size_t)d->n, to, (size_t)n);
    if (pulled) kg_waves_pull_in(w, p->element, d->n, to, (size_t)n, to);
    for (int j = 0; j < d->n; ++j)
      region[(int64_t)i * d->n + j] = w->mesh->element_region[p->element];
  }
}

/// Bytes of so many points in device memory.
static size_t points_bytes(int64_t n)
{
  return (size_t)n * (3 * sizeof(double) + sizeof(int32_t));
}

/// Have the GPU evaluate what it may.
static kedge_status go_to_gpu(const kg_waves *w, kg_wave_data *d)
{
  const char *wish;
  int64_t n = 0;
  double *x = NULL;
  for (int i = 0; i < d->n_parts; ++i) {
    d->part[i].first_point = n;
    if (is_for_gpu(w, d, &d->part[i])) n += (int64_t)d->part[i].n * d->n;
  }
  KG_TRY(kg_evaluation_wish(w->ctx, &wish));
  if (n == 0 || (wish && strcmp(wish, "host") == 0)) return KEDGE_OK;
  d->n_points = n;
  const size_t bytes = points_bytes(n);
  KG_TRY(kg_alloc(w->ctx, bytes, 1, &d->points));
  KG_TRY(kg_alloc(w->ctx, 1, sizeof(unsigned), &d->bad));
  KG_TRY(kg_zero(w->ctx, d->bad.data, sizeof(unsigned)));
  KG_TRY(kg_host_calloc(w->ctx, bytes, 1, &x));
  for (int i = 0; i < d->n_parts; ++i)
    if (is_for_gpu(w, d, &d->part[i]))
      list_points(w, d, &d->part[i], x + 3 * d->part[i].first_point,
                  (int32_t *)(x + 3 * n) + d->part[i].first_point);
  kedge_status status = kg_copy_in(w->ctx, d->points.data, x, bytes);
  free(x);
  for (int i = 0; i < d->n_parts && status == KEDGE_OK; ++i) {
    if (!is_for_gpu(w, d, &d->part[i])) continue;
    choose(w, d, &d->part[i], wish);
    status = try_compiled(w, d, &d->part[i]);
  }
  return status;
}

/// A value that the GPU has made for a stage of this step is bad: the host says which.
static kedge_status refuse_step(const kg_waves *w, kg_wave_data *d)
{
  for (int stage = 0; stage < KG_WAVE_STAGES; ++stage) {
    kg_problem_set_time(w->problem, w->times[stage]);
    for (int i = 0; i < d->n_parts; ++i)
      if (is_on_gpu(&d->part[i])) KG_TRY(take_on_host(w, d, &d->part[i]));
  }
  return KG_FAIL(
      w->ctx, KEDGE_ERR_NUMERIC,
      "step %lld: the GPU has no value of a boundary or a source somewhere, as of sines of very "
      "large angles, and the host has one: set KEDGE_EVALUATE=host, and begin anew or go on from a "
      "checkpoint",
      (long long)w->steps);
}

kedge_status kg_wave_data_take(const kg_waves *w, kg_wave_data *d)
{
  for (int i = 0; i < d->n_parts && d->part[i].moves; ++i) {
    kg_wave_part *const part = &d->part[i];
    KG_TRY(is_on_gpu(part) ? take_on_gpu(w, d, part) : take_on_host(w, d, part));
  }
  return KEDGE_OK;
}

kedge_status kg_wave_data_check(const kg_waves *w, kg_wave_data *d)
{
  bool any = false;
  unsigned bad = 0;
  for (int i = 0; i < d->n_parts; ++i) any = any || is_on_gpu(&d->part[i]);
  if (any) KG_TRY(kg_copy_out(w->ctx, &bad, d->bad.data, sizeof bad));
  return bad ? refuse_step(w, d) : KEDGE_OK;
}

/// Put parts that move first, and pieces in the order of parts.
static void sort(const kg_wave_pieces *from, kg_wave_data *d, int32_t *number, int32_t *place)
{
  for (int i = 0; i < from->n_parts; ++i) number[i] = 0;
  for (int32_t i = 0; i < from->n; ++i)
    if (from->part[i] >= 0) ++number[from->part[i]];
  d->n_pieces = 0;
  d->n_parts = 0;
  for (int wanted = 1; wanted >= 0; --wanted)
    for (int i = 0; i < from->n_parts; ++i) {
      kg_wave_part part = from->parts[i];
      if (number[i] <= 0) continue;
      part.moves = moves(d, &part);
      if (part.moves != (wanted == 1)) continue;
      part.first = d->n_pieces;
      part.n = number[i];
      d->n_pieces += part.n;
      d->part[d->n_parts++] = part;
      number[i] = -1 - part.first;  // where its next piece comes
    }
  for (int32_t i = 0; i < from->n; ++i) {
    const int32_t part = from->part[i];
    place[i] = part < 0 ? -1 : -1 - number[part]--;
    if (part >= 0) d->piece[place[i]] = from->piece[i];
  }
}

static size_t taken(size_t bytes)
{
  return kg_rounded(bytes > 0 ? bytes : 1);
}

kedge_status kg_wave_data_bytes(const kg_waves *w, const kg_wave_pieces *from,
                                const kg_wave_data *d, int64_t *bytes)
{
  const char *wish;
  bool *moving;
  int64_t n = 0, points = 0;
  KG_TRY(kg_evaluation_wish(w->ctx, &wish));
  KG_TRY(kg_host_calloc(w->ctx, (size_t)from->n_parts, sizeof *moving, &moving));
  for (int i = 0; i < from->n_parts; ++i) {
    kg_wave_part part = from->parts[i];
    part.moves = moves(d, &part);
    moving[i] = is_for_gpu(w, d, &part) && !(wish && strcmp(wish, "host") == 0);
  }
  for (int32_t i = 0; i < from->n; ++i) {
    if (from->part[i] < 0) continue;
    ++n;
    points += moving[from->part[i]] ? d->n : 0;
  }
  free(moving);
  const size_t values = (size_t)(n * kg_wave_data_numbers(d, 1)) * kg_number_bytes(w->args.number);
  *bytes = (int64_t)taken(values);
  if (points > 0) *bytes += (int64_t)(taken(points_bytes(points)) + taken(sizeof(unsigned)));
  return KEDGE_OK;
}

kedge_status kg_wave_data_make(const kg_waves *w, const kg_wave_pieces *from, kg_wave_data *d,
                               int32_t *place)
{
  int32_t *number, n = 0;
  for (int32_t i = 0; i < from->n; ++i) n += from->part[i] >= 0;
  KG_TRY(kg_host_alloc(w->ctx, (size_t)n, sizeof *d->piece, &d->piece));
  KG_TRY(kg_host_calloc(w->ctx, (size_t)from->n_parts, sizeof *d->part, &d->part));
  KG_TRY(kg_host_alloc(w->ctx, (size_t)from->n_parts, sizeof *number, &number));
  sort(from, d, number, place);
  free(number);
  const size_t all = (size_t)kg_wave_data_numbers(d, n);
  KG_TRY(kg_host_calloc(w->ctx, all, sizeof *d->host, &d->host));
  KG_TRY(kg_alloc(w->ctx, all, kg_number_bytes(w->args.number), &d->values));
  for (int i = 0; i < d->n_parts; ++i) KG_TRY(take_on_host(w, d, &d->part[i]));
  return go_to_gpu(w, d);
}

void kg_wave_data_free(kedge_context *ctx, kg_wave_data *d)
{
  for (int i = 0; i < d->n_parts; ++i) release(&d->part[i]);
  kg_free(ctx, &d->values);
  kg_free(ctx, &d->points);
  kg_free(ctx, &d->bad);
  free(d->piece);
  free(d->part);
  free(d->host);
  *d = (kg_wave_data){0};
}
