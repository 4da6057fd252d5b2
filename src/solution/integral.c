// Integrals of expressions: kedge_integral.
#include "solution/integral.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/sized.h"
#include "device/context.h"
#include "device/loop.h"
#include "space/line_sides.h"

/// Read an expression of the caller.
static kedge_status parse(kedge_context *ctx, const kedge_integral_options *options,
                          kg_expression **out)
{
  const kedge_problem *const problem = options->problem;
  kg_syntax_error error;
  const kedge_status status = kg_expression_parse_fields(
      ctx, options->of, problem ? problem->parameters : NULL, problem ? problem->n_parameters : 0,
      kg_integral_names, &error, out);
  if (status != KEDGE_ERR_INPUT || error.what[0] == '\0') return status;
  return KG_FAIL(ctx, status, "column %d of the integral of '%.200s': %s%s%s",
                 kg_text_column(options->of, error.offset, NULL), options->of, error.what,
                 error.hint[0] ? ": " : "", error.hint);
}

static kedge_status copy_expression(kedge_context *ctx, const kg_expression *from,
                                    kg_expression **to)
{
  kg_function copy;
  const kg_function all = {.kind = KG_FUNCTION_EXPRESSION, .expression = (kg_expression *)from};
  KG_TRY(kg_function_copy(ctx, &all, &copy));
  *to = copy.expression;
  return KEDGE_OK;
}

/// Find what is asked for, with an expression that the integral owns.
/// @param[out] asked  its strings are borrowed
static kedge_status read_options(kedge_integral *in, const kedge_integral_options *options,
                                 kg_wanted_integral *asked)
{
  kedge_context *const ctx = in->ctx;
  const kedge_problem *const problem = options->problem;
  if (options->name) {
    int i = 0;
    while (problem && i < problem->n_integrals &&
           strcmp(problem->integrals[i].name, options->name) != 0)
      ++i;
    KG_REQUIRE(ctx, problem && i < problem->n_integrals, KEDGE_ERR_ARG,
               "kedge_integral_create: the problem has no section [integral %s]", options->name);
    *asked = problem->integrals[i];
    char place[KG_PLACE_BYTES];
    kg_setting_place(&problem->settings, asked->of_at, place);
    snprintf(in->what, sizeof in->what, "%s[integral %.200s]: of", place, asked->name);
    return asked->of ? copy_expression(ctx, asked->of, &in->of) : KEDGE_OK;
  }
  KG_REQUIRE(ctx, !options->of != !options->function, KEDGE_ERR_ARG,
             "kedge_integral_create: there is an expression, or a function, and not both");
  KG_REQUIRE(ctx, options->quadrature >= 0 && options->quadrature <= KG_INTEGRAL_POINTS_MAX,
             KEDGE_ERR_ARG, "the integral: quadrature is %d; it is 1 to %d points, or 0",
             options->quadrature, KG_INTEGRAL_POINTS_MAX);
  if (options->of) KG_TRY(parse(ctx, options, &in->of));
  in->function = options->function;
  in->user = options->user;
  if (options->of)
    snprintf(in->what, sizeof in->what, "the integrand '%.200s'", options->of);
  else
    snprintf(in->what, sizeof in->what, "the function of the integral");
  const bool all = options->on && strcmp(options->on, "all") == 0;
  *asked = (kg_wanted_integral){
      .of = in->of, .on = all ? NULL : (char *)options->on, .quadrature = options->quadrature};
  return KEDGE_OK;
}

/// List the elements of a region, or the sides of a group of lines.
static kedge_status list(kedge_integral *in, const kg_integral_place *at)
{
  const kedge_mesh *const mesh = in->mesh;
  in->n = mesh->n_elements;
  if (at->group < 0) return KEDGE_OK;
  const kg_group *const group = &mesh->groups[at->group];
  const int64_t n = at->inside ? group->n_inner : group->count;
  in->on_lines = kg_is_edge_group(mesh, group);
  in->n = 0;
  if (!in->on_lines) {
    KG_TRY(kg_host_alloc(in->ctx, (size_t)n, sizeof *in->element, &in->element));
    for (int32_t e = 0; e < mesh->n_elements; ++e)
      if (mesh->element_region[e] == group->tag) in->element[in->n++] = e;
    return KEDGE_OK;
  }
  const int32_t mark = at->inside ? kg_inner_group(at->group) : at->group;
  int32_t *edges;
  KG_TRY(kg_host_alloc(in->ctx, (size_t)n, sizeof *in->side, &in->side));
  KG_TRY(kg_host_alloc(in->ctx, (size_t)n, sizeof *edges, &edges));
  for (int32_t i = 0; i < mesh->n_group_edges; ++i) {
    const int32_t edge = mesh->group_edges[i];
    if (mesh->edge_group[edge] == mark) edges[in->n++] = edge;
  }
  const kedge_status status = kg_line_sides(in->ctx, mesh, in->n, edges, in->side);
  free(edges);
  return status == KEDGE_OK ? kg_integral_find_read(in) : status;
}

kedge_status kedge_integral_create(kedge_context *ctx, const kedge_mesh *mesh,
                                   const kedge_integral_options *options, kedge_integral **out)
{
  KG_REQUIRE(ctx, out, KEDGE_ERR_ARG, "kedge_integral_create: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && options, KEDGE_ERR_ARG,
             "kedge_integral_create: context, mesh or options is NULL");
  kedge_integral_options known = KEDGE_INTEGRAL_OPTIONS_INIT;
  KG_TRY(kg_check_sized(ctx, "KEDGE_INTEGRAL_OPTIONS_INIT", options->size));
  kg_copy_sized(options, &known);
  kedge_integral *in;
  kg_wanted_integral asked;
  kg_integral_place at;
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *in, &in));
  in->ctx = ctx;
  in->mesh = mesh;
  pthread_mutex_init(&in->evaluates, NULL);
  kedge_status status = read_options(in, &known, &asked);
  if (status == KEDGE_OK)
    status = kg_integral_find(ctx, known.name ? known.problem : NULL, &asked, mesh, &at);
  if (status == KEDGE_OK) status = list(in, &at);
  if (status != KEDGE_OK) {
    kedge_integral_destroy(in);
    return status;
  }
  in->quadrature = asked.quadrature;
  in->names = in->of ? kg_expression_fields(in->of) : 0;
  *out = in;
  return KEDGE_OK;
}

void kedge_integral_destroy(kedge_integral *in)
{
  if (!in) return;
  kg_expression_free(in->of);
  free(in->element);
  free(in->side);
  kg_integral_rule_free(&in->rule);
  kg_layout_leave(&in->cut);
  kg_integral_read_free(&in->elements);
  kg_integral_read_free(&in->edges);
  pthread_mutex_destroy(&in->evaluates);
  free(in);
}

/// Elements or sides of a block.
static int32_t block_of(const kedge_integral *in)
{
  const int each = kg_integral_points_each(in);
  return each < KG_INTEGRAL_BLOCK ? KG_INTEGRAL_BLOCK / each : 1;
}

/// Points that a block has room for.
static size_t room_of(const kedge_integral *in)
{
  const int each = kg_integral_points_each(in);
  return (size_t)(each < KG_INTEGRAL_BLOCK ? KG_INTEGRAL_BLOCK : each);
}

/// @param[in] memory  [KG_INTEGRAL_ARRAYS * room]
static kg_integral_points points_in(double *memory, size_t room)
{
  kg_integral_points p = {
      .x = {memory, memory + room, memory + 2 * room},
      .weight = memory + 3 * room,
      .value = memory + 4 * room,
  };
  memory += 5 * room;
  for (int k = 0; k < KG_NAMES; ++k, memory += room) p.name[k] = memory;
  p.at = kg_located_in(memory, room);
  return p;
}

/// The integrand at the points of the elements or sides of block b.
static kg_integral_points values_of_block(const kg_integral_reading *r, int32_t b, double *memory)
{
  const kedge_integral *const in = r->integral;
  const int32_t block = block_of(in), first = b * block;
  const int32_t last = in->n - first < block ? in->n : first + block;
  kg_integral_points p = points_in(memory, room_of(in));
  for (int32_t i = first; i < last; ++i) kg_integral_points_add(r, i, &p);
  kedge_points points = kg_located_points(&p.at, in->mesh, p.n, p.x[0], p.x[1]);
  if (r->solution) points.t = kg_coefficients_time(&r->solution->equation);
  if (kg_mesh_in_space(in->mesh)) points.z = p.x[2];
  if (in->on_lines) {
    points.normal_x = p.name[KG_NAME_NORMAL_X];
    points.normal_y = p.name[KG_NAME_NORMAL_Y];
    if (kg_mesh_in_space(in->mesh)) points.normal_z = p.name[KG_NAME_NORMAL_Z];
  }
  if (in->of)
    kg_expression_evaluate_fields(in->of, &points, (const double *const *)p.name, p.value);
  else
    in->function(in->user, &points, p.value);
  return p;
}

static double sum_block(const kg_integral_reading *r, int32_t b, double *memory)
{
  const kg_integral_points p = values_of_block(r, b, memory);
  double sum = 0.0;
  for (size_t i = 0; i < p.n; ++i) sum += p.weight[i] * p.value[i];
  return sum;
}

/// Refuse a value at a point.
static kedge_status refuse_at(const kedge_integral *in, const kg_integral_points *p, size_t i)
{
  char z[40] = "";
  if (kg_mesh_in_space(in->mesh)) snprintf(z, sizeof z, ", z = %.6g", p->x[2][i]);
  return KG_FAIL(
      in->ctx, KEDGE_ERR_INPUT,
      "%s is %g at x = %.6g, y = %.6g%s, in element %d (from 0); change it so that it is "
      "finite everywhere",
      in->what, isnan(p->value[i]) ? NAN : p->value[i], p->x[0][i], p->x[1][i], z,
      (int)p->at.element[i]);  // some NaN print as -nan
}

/// Refuse a sum that is not finite: name the first point where the integrand is not.
/// @param[in] sum     [n_blocks]
/// @param[in] memory  of a thread
static kedge_status refuse(const kg_integral_reading *r, int32_t n_blocks, const double *sum,
                           double value, double *memory)
{
  const kedge_integral *const in = r->integral;
  for (int32_t b = 0; b < n_blocks; ++b) {
    if (isfinite(sum[b])) continue;
    const kg_integral_points p = values_of_block(r, b, memory);
    for (size_t i = 0; i < p.n; ++i)
      if (!isfinite(p.value[i])) return refuse_at(in, &p, i);
  }
  return KG_FAIL(in->ctx, KEDGE_ERR_INPUT,
                 "%s has finite values that add up to %g; scale it so that double precision holds "
                 "their sum",
                 in->what, isnan(value) ? NAN : value);
}

/// Blocks do not depend on the number of threads, and their sums are added in order.
static kedge_status sum_all(const kg_integral_reading *r, double *value)
{
  const kedge_integral *const in = r->integral;
  kedge_context *const ctx = in->ctx;
  const int32_t block = block_of(in), n = (in->n + block - 1) / block;
  const size_t of_thread = (size_t)KG_INTEGRAL_ARRAYS * room_of(in);
  const int threads = kg_loop_threads(ctx, n, (int64_t)KG_INTEGRAL_BLOCK * 16);
  double *sum, *memory = NULL, all = 0.0;
  KG_TRY(kg_host_alloc(ctx, (size_t)n, sizeof *sum, &sum));
  kedge_status status = kg_host_alloc(ctx, (size_t)threads * of_thread, sizeof *memory, &memory);
  if (status == KEDGE_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int32_t b = 0; b < n; ++b)
      sum[b] = sum_block(r, b, memory + (size_t)omp_get_thread_num() * of_thread);
    for (int32_t b = 0; b < n; ++b) all += sum[b];
    if (isfinite(all))
      *value = all;
    else
      status = refuse(r, n, sum, all, memory);
  }
  free(memory);
  free(sum);
  return status;
}

/// Check a solution that is read: the one that is given, or the one whose u* is the integrand.
static kedge_status check(const kedge_integral *in, const kedge_solution *s)
{
  KG_REQUIRE(in->ctx, s->mesh == in->mesh, KEDGE_ERR_ARG,
             "kedge_integral_evaluate: the solution is of another mesh object than the integral");
  return kg_integral_pass_on(in, s->ctx, kg_solution_check_full(s, "kedge_integral_evaluate"));
}

kedge_status kedge_integral_evaluate(const kedge_integral *in, const kedge_solution *s,
                                     double *value)
{
  KG_REQUIRE(NULL, in && value, KEDGE_ERR_ARG,
             "kedge_integral_evaluate: the integral or the value is NULL");
  KG_REQUIRE(in->ctx, s || !(in->names & ~(unsigned)KG_NAMES_OF_NORMAL), KEDGE_ERR_ARG,
             "kedge_integral_evaluate: the expression names fields, and the solution is NULL");
  KG_REQUIRE(in->ctx, !s || s->mesh == in->mesh, KEDGE_ERR_ARG,
             "kedge_integral_evaluate: the solution is of another mesh object than the integral");
  if (s && in->names) KG_TRY(check(in, s));
  if (in->function == kedge_by_solution) {
    KG_REQUIRE(in->ctx, in->user, KEDGE_ERR_ARG, "kedge_by_solution: the solution is NULL");
    KG_TRY(check(in, in->user));
  }
  kedge_integral *const kept = (kedge_integral *)in;  // what it is stays the same
  kg_integral_reading reading;
  pthread_mutex_lock(&kept->evaluates);
  kedge_status status = kg_integral_reading_open(kept, s, &reading);
  if (status == KEDGE_OK) status = sum_all(&reading, value);
  kg_integral_reading_close(&reading);
  pthread_mutex_unlock(&kept->evaluates);
  return status;
}
