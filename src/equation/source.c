#include "equation/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/polynomials.h"
#include "core/memory.h"
#include "device/loop.h"
#include "integrals/element.h"
#include "integrals/patch.h"
#include "ops/sample/points.h"
#include "ops/local/triangle/solution_loads.h"
#include "solution/values.h"

/// The ratio from which on a coefficient is about as rough as the source. Compared are the relative
/// changes of both integrals when an element is cut into parts.
#define ALIKE 0.1
/// A reaction is never held to be as rough as the source where its integral over an element is less
/// than this part of the largest diffusion.
#define NO_REACTION 1e-3

void kg_source_declare(kg_plan *plan, const kg_shape *s, kg_source_arrays *a)
{
  const unsigned sampled = s->choice.repeats ? KG_IN(LOADS) : KG_IN(TRANSFER);
  const bool compact = s->choice.iterates == KG_SINGLE;  // values lie where K^e of a chunk will
  const unsigned phases = (compact ? 0 : sampled) | (s->choice.loads_stay ? 0 : KG_IN(RECOVER));
  kg_plan_array(plan, "rough loads", (size_t)s->count.n_groups * KG_LANES, 1, sampled, &a->rough);
  kg_plan_array(plan, "values of the source",
                phases ? (size_t)kg_shape_source_points(s) * kg_shape_chunk_lanes(s) : 0,
                sizeof *a->values, phases, &a->values);
}

static const kg_rules *rules_of(const kg_source *s)
{
  return s->coefficients->rules;
}

static const kg_equation *equation_of(const kg_source *s)
{
  return s->coefficients->equation;
}

void kg_source_open(kg_source *s, const kg_resolved *resolved, bool is_given, const int32_t *origin)
{
  static const char *const key = "source";
  const kedge_problem *const problem = equation_of(s)->problem;
  const kg_choice *const choice = &rules_of(s)->shape->choice;
  if (s->function) return;
  s->resolved = resolved;
  s->function = &resolved->equation.source;
  const bool derived = resolved->derives_source;
  const bool placed = !derived && !is_given;  // by a setting
  s->name = derived ? "source, derived from u of [exact]," : "source";
  if (!is_given) kedge_problem_place(problem, "exact", "u", s->place, sizeof s->place);
  const kg_sample_set set = {1, &s->function, &s->name, s->place, placed ? problem : NULL, &key};
  s->sampler = kg_sampler_of(s->coefficients, KG_SAMPLE_LOADS, set);
  s->sampler.origin = origin;
  s->sampler.evaluation.is_array = origin != NULL;
  const int residuals = choice->residual == KG_REMADE_WITH_LOADS ? KG_RESIDUALS : 1;
  s->sampler.evaluations = residuals + (choice->loads_stay ? 0 : 1);
}

/// Whether the source is u* of a solution on the device, whose modes are read there: where all
/// elements are straight triangles with constant coefficients, in the same lanes.
static bool lies_there(const kg_source *s)
{
  const kg_rules *const rules = rules_of(s);
  const kg_shape *const shape = rules->shape;
  const kedge_solution *const of = kg_solution_of(s->function);
  if (!of || !kg_lies_with(of, rules->ctx)) return false;
  bool same = of->n_batches == shape->n_batches;
  for (int i = 0; same && i < shape->n_batches; ++i) {
    const kg_shape_batch *const b = &shape->batch[i];
    same = !b->samples_cells && b->lanes.first_element == of->batch[i].first_element &&
           b->lanes.n_elements == of->batch[i].n_elements;
  }
  return same;
}

/// Whether it is integrated by a rule that the problem asks for.
static bool has_rule(const kg_source *s)
{
  return !s->sampler.origin && equation_of(s)->problem->load_quadrature > 0 &&
         kg_function_varies(s->function);
}

bool kg_source_moves(const kg_source *s)
{
  return !s->sampler.origin && equation_of(s)->problem->load_quadrature == 0 &&
         kg_function_varies(s->function) && !lies_there(s);
}

/// The rows of the rule of load vectors, by shape.
static void rows_of(const kg_source *s, int rows[KG_CELL_KINDS])
{
  const kg_shape *const shape = rules_of(s)->shape;
  const int asked = equation_of(s)->problem->load_quadrature, order = shape->size.order;
  for (int k = 0; k < KG_CELL_KINDS; ++k) rows[k] = asked ? asked : kg_cell_sample_rows(order);
  for (int i = 0; !asked && i < shape->n_batches; ++i)
    if (!shape->batch[i].samples_cells)
      rows[kg_cell_index(shape->batch[i].cell)] = kg_point_rows(order);
}

static kedge_status open_integrals(const kg_source *s, const kg_function *function,
                                   kg_element_integrals *out)
{
  const kg_rules *const rules = rules_of(s);
  int rows[KG_CELL_KINDS];
  rows_of(s, rows);
  return kg_element_integrals_open(rules->ctx, rules->mesh, function, rules->shape->size.order,
                                   rows, out);
}

/// What a derived source may have of rounding, by a source that makes a u of the exact one's size.
static double rounding_of(const kg_source *s)
{
  const kg_equation *const e = equation_of(s);
  double rounding[2];
  if (!s->resolved->derives_source) return 0.0;
  kg_exact_rounding(e->mesh, &e->problem->exact_u, &s->resolved->equation, rounding);
  return rounding[1] / kg_mesh_length(e->mesh);
}

void kg_source_look(kg_source *s)
{
  s->sampler.rough = s->arrays->rough;
  s->sampler.least = rounding_of(s);
}

/// Gather the elements whose loads are rough, ascending. @param[out] rough  owned by the caller
static kedge_status gather(const kg_source *s, int32_t *n, int32_t **rough)
{
  const kg_rules *const rules = rules_of(s);
  const kg_shape *const shape = rules->shape;
  const size_t lanes = (size_t)shape->count.n_groups * KG_LANES;
  uint8_t *flags;
  *n = 0;
  *rough = NULL;
  KG_TRY(kg_host_alloc(rules->ctx, lanes, sizeof *flags, &flags));
  kedge_status status = kg_copy_out(rules->ctx, flags, s->arrays->rough, lanes);
  if (status == KEDGE_OK && memchr(flags, 1, lanes))
    status = kg_host_alloc(rules->ctx, (size_t)rules->mesh->n_elements, sizeof **rough, rough);
  for (int b = 0; *rough && b < shape->n_batches; ++b) {
    const kg_lane_batch *const of = &shape->batch[b].lanes;
    const uint8_t *const flag = flags + (size_t)of->first_group * KG_LANES;
    for (int32_t i = 0; i < of->n_elements; ++i)
      if (flag[i]) (*rough)[(*n)++] = of->first_element + i;
  }
  free(flags);
  return status;
}

/// The integral of the absolute source, of some elements that stand for all.
static double size_of(const kedge_mesh *mesh, const kg_element_integrals *integrals)
{
  enum { SAMPLES = 256 };
  const int32_t all = mesh->n_elements, n = all < SAMPLES ? all : SAMPLES;
  double sums[KG_INTEGRALS_MAX], total = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    const double size = kg_element_integral(integrals, (int32_t)((int64_t)i * all / n), sums, NULL);
    if (isfinite(size)) total += size;
  }
  return total * all / n;
}

/// What is left of the source, for findings.
static void note_left(const kg_source *s, const kg_refined *refined, double whole,
                      kg_loads_left *left)
{
  kg_element_middle(rules_of(s)->mesh, refined->worst, left->source_at);
  left->source = refined->left > 0.0 ? refined->left / fmax(whole, refined->size) : 0.0;
  left->untried = equation_of(s)->problem->load_quadrature > 0 ? 0 : refined->untried;
  if (refined->n > 0) left->moved = refined->moved / fmax(whole, refined->size);
}

/// Remove the elements from the list of refined ones in which a coefficient is about as rough as
/// the source. Local matrices are integrated by the common rule, and factors that source and
/// coefficient have in common must be integrated by the same rule.
/// @param[in] least  integrals of the coefficient up to this size do not matter
static kedge_status leave_to_coefficient(kg_source *s, const kg_refining *source, const char *key,
                                         const kg_function *function, double least,
                                         kg_loads_left *left)
{
  kg_refined *const to = &s->refined;
  const size_t n = (size_t)source->integrand.n;
  kg_element_integrals integrals;
  double *work = NULL;
  int32_t kept = 0;
  if (to->n == 0 || !kg_function_varies(function)) return KEDGE_OK;
  kedge_status status = open_integrals(s, function, &integrals);
  const kg_refining of = kg_element_refining(&integrals);
  if (status == KEDGE_OK)
    status = kg_host_alloc(rules_of(s)->ctx, (KG_PARTS_MAX + 1) * n, sizeof *work, &work);
  for (int32_t i = 0; status == KEDGE_OK && i < to->n; ++i) {
    kg_integral here = {0}, there = {0};
    kg_integral_try(&of.integrand, to->item[i], work, &here);
    kg_integral_try(&source->integrand, to->item[i], work, &there);
    const bool leaves = here.size > least &&
                        here.moved * there.size > ALIKE * there.moved * here.size &&
                        here.moved > source->least * here.size;
    if (leaves && !left->coefficient) {
      left->coefficient = key;
      kg_element_middle(rules_of(s)->mesh, to->item[i], left->coefficient_at);
    }
    if (leaves) continue;
    to->item[kept] = to->item[i];
    memmove(to->sums + (size_t)kept++ * n, to->sums + (size_t)i * n, n * sizeof *to->sums);
  }
  if (status == KEDGE_OK) to->n = kept;
  free(work);
  kg_element_integrals_close(&integrals);
  return status;
}

static kedge_status leave_to_coefficients(kg_source *s, const kg_refining *source,
                                          kg_loads_left *left)
{
  const kg_coefficients *const of = &equation_of(s)->resolved.equation;
  const double least = NO_REACTION * equation_of(s)->material.diffusion;
  KG_TRY(leave_to_coefficient(s, source, "reaction", &of->reaction, least, left));
  for (int k = 0; k < of->n_diffusion; ++k)
    KG_TRY(leave_to_coefficient(s, source, "diffusion", &of->diffusion[k], 0.0, left));
  return KEDGE_OK;
}

kedge_status kg_source_refine(kg_source *s, kg_loads_left *left)
{
  const kg_rules *const rules = rules_of(s);
  int32_t n, *rough;
  s->sampler.rough = NULL;
  KG_TRY(gather(s, &n, &rough));
  if (n == 0) {
    free(rough);  // flags were those of empty lanes
    return KEDGE_OK;
  }
  kg_element_integrals integrals;
  kedge_status status = open_integrals(s, s->function, &integrals);
  if (status == KEDGE_OK) {
    kg_refining refining = kg_element_refining(&integrals);
    refining.whole = size_of(rules->mesh, &integrals);
    status = kg_refine(rules->ctx, &refining, n, rough, &s->refined);
    note_left(s, &s->refined, refining.whole, left);
    if (status == KEDGE_OK) status = leave_to_coefficients(s, &refining, left);
  }
  rules->run->solution->report.refined_elements = s->refined.n;
  kg_element_integrals_close(&integrals);
  free(rough);
  return status;
}

/// List the elements in which the source, integrated by the rule that the problem sets, is rough.
/// @param[out] rough  [elements]: their numbers, ascending @return the number of rough elements
static int32_t list_rough(const kg_rules *rules, const kg_element_integrals *integrals,
                          int32_t *rough)
{
  const int32_t all = rules->mesh->n_elements;
  int32_t n = 0;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(rules->ctx, all, 4096))
  for (int32_t i = 0; i < all; ++i) {
    double sums[KG_INTEGRALS_MAX];
    bool is_rough;
    const double size = kg_element_integral(integrals, i, sums, &is_rough);
    rough[i] = isfinite(size) && is_rough ? i : -1;
  }
  for (int32_t i = 0; i < all; ++i)
    if (rough[i] >= 0) rough[n++] = i;
  return n;
}

kedge_status kg_source_judge(const kg_source *s, kg_loads_left *left)
{
  const kg_rules *const rules = rules_of(s);
  const kedge_mesh *const mesh = rules->mesh;
  int32_t *rough = NULL;
  if (!has_rule(s)) return KEDGE_OK;
  kg_element_integrals integrals;
  kedge_status status = open_integrals(s, s->function, &integrals);
  if (status == KEDGE_OK)
    status = kg_host_alloc(rules->ctx, (size_t)mesh->n_elements, sizeof *rough, &rough);
  if (status == KEDGE_OK) {
    kg_refining refining = kg_element_refining(&integrals);
    kg_refined moves;
    refining.judges = true;
    status = kg_refine(rules->ctx, &refining, list_rough(rules, &integrals, rough), rough, &moves);
    const double rounding = rounding_of(s) * mesh->info.area;
    note_left(s, &moves, fmax(size_of(mesh, &integrals), rounding), left);
  }
  free(rough);
  kg_element_integrals_close(&integrals);
  return status;
}

kedge_status kg_source_patch(const kg_source *s, int batch, int32_t first, int32_t count,
                             double *load)
{
  const kg_shape *const shape = rules_of(s)->shape;
  const kg_shape_batch *const b = &shape->batch[batch];
  if (s->refined.n == 0) return KEDGE_OK;
  return kg_patch_loads(rules_of(s)->ctx,
                        &(kg_patch){.first_element = b->lanes.first_element,
                                    .n_elements = b->lanes.n_elements,
                                    .n_modes = b->size.n_modes,
                                    .n_sums = (int)kg_shape_most_rows(shape, KG_ROWS_MODES),
                                    .first = first,
                                    .count = count,
                                    .scale = equation_of(s)->scale,
                                    .load = load},
                        &s->refined);
}

/// Say where a value of an element is not finite.
static kedge_status refuse(const kg_source *s, const kg_element_integrals *integrals,
                           int32_t element)
{
  const kedge_mesh *const mesh = rules_of(s)->mesh;
  const kg_part_rule *const rule =
      &integrals->rule[kg_cell_index(kg_block_of(mesh, element)->cell)];
  const int geometry = mesh->nodes ? mesh->geometry : 1, n = rule->cell->n_modes(geometry);
  const int dimension = rule->cell->dimension;
  long double shape[3 * KG_NODES_MAX], point[3];
  double map[3 * KG_NODES_MAX];
  for (int q = 0; q < rule->n; ++q) {
    for (int k = 0; k < dimension; ++k) point[k] = rule->at[k][q];
    rule->cell->map(geometry, point, shape);
    kg_round_all((1 + dimension) * n, shape, map);
    const kg_places at = {mesh,
                          element,
                          1,
                          1,
                          1,
                          rule->at[0] + q,
                          rule->at[1] + q,
                          dimension == 3 ? rule->at[2] + q : NULL,
                          map};
    KG_TRY(kg_sample_refuse(rules_of(s)->ctx, at, 0, &s->sampler.evaluation.set, 0));
  }
  return KEDGE_OK;
}

/// Compute the load vectors of some groups by the rule that the problem sets, in host memory.
/// @param[out] bad  the first element with a value that is not finite; unchanged if there is none
static void sum_groups(const kg_source *s, const kg_element_integrals *integrals, int batch,
                       int32_t first, int32_t count, double *load, int32_t *bad)
{
  const kg_shape_batch *const b = &rules_of(s)->shape->batch[batch];
  const double scale = equation_of(s)->scale;
  const int N = b->size.n_modes, points = integrals->rule[kg_cell_index(b->cell)].n;
  int32_t found = INT32_MAX;
  memset(load, 0, (size_t)count * (size_t)N * KG_LANES * sizeof *load);
#pragma omp parallel for schedule(static) reduction(min      \
                                                    : found) \
    num_threads(kg_loop_threads(rules_of(s)->ctx, count, (int64_t)KG_LANES *points *N))
  for (int32_t i = 0; i < count * KG_LANES; ++i) {
    const int32_t lane = first * KG_LANES + i;
    double sums[KG_INTEGRALS_MAX];
    if (lane >= b->lanes.n_elements) continue;
    const int32_t element = b->lanes.first_element + lane;
    const double size = kg_element_integral(integrals, element, sums, NULL);
    if (!isfinite(size) && element < found) found = element;
    double *const to = load + ((size_t)(i / KG_LANES) * (size_t)N) * KG_LANES + i % KG_LANES;
    for (int k = 0; k < N; ++k) to[k * KG_LANES] = scale * sums[k];
  }
  if (found < INT32_MAX) *bad = found;
}

/// Load vectors by a rule that the problem asks for: the host evaluates.
static kedge_status loads_by_rule(kg_source *s, int batch, int32_t first, int32_t count,
                                  double *load)
{
  const kg_rules *const rules = rules_of(s);
  const size_t group = (size_t)rules->shape->batch[batch].size.n_modes * KG_LANES;
  const int32_t most = rules->shape->choice.recover_groups;
  kg_element_integrals integrals;
  double *staging = NULL;
  kg_evaluation_note(&s->sampler.evaluation, "host: [equation] quadrature");
  kedge_status status = open_integrals(s, s->function, &integrals);
  if (status == KEDGE_OK)
    status = kg_host_alloc(rules->ctx, group * (size_t)most, sizeof *staging, &staging);
  for (int32_t at = 0; status == KEDGE_OK && at < count; at += most) {
    const int32_t n = count - at < most ? count - at : most;
    int32_t bad = -1;
    sum_groups(s, &integrals, batch, first + at, n, staging, &bad);
    if (bad >= 0) status = refuse(s, &integrals, bad);
    if (status == KEDGE_OK)
      status = kg_copy_in(rules->ctx, load + (size_t)at * group, staging,
                          (size_t)n * group * sizeof *load);
    if (status == KEDGE_OK) status = kg_run_announce(rules->run, rules->run->stage, false);
  }
  free(staging);
  kg_element_integrals_close(&integrals);
  return status;
}

/// Load vectors from the modes of a solution, by the device.
static kedge_status loads_of_solution(kg_source *s, int batch, int32_t first, int32_t count,
                                      double *load)
{
  const kg_rules *const rules = rules_of(s);
  const kedge_solution *const of = kg_solution_of(s->function);
  const kg_elements part = kg_elements_part(&rules->elements[batch], first, count);
  const int n_star = of->batch[batch].size.n_star;
  const size_t group = (size_t)n_star * KG_LANES;
  kg_evaluation_note(&s->sampler.evaluation,
                     rules->ctx->backend == KEDGE_BACKEND_CUDA ? "gpu" : "host");
  return kg_solution_loads(
      rules->ctx, &(kg_solution_loads_args){
                      .arrays = part.batch.arrays,
                      .n_elements = part.n_elements,
                      .n_modes = part.size.n_modes,
                      .n_star = n_star,
                      .from = kg_solution_there(of, KG_HELD_U_STAR, batch) + group * (size_t)first,
                      .scale = equation_of(s)->scale,
                      .load = load});
}

kedge_status kg_source_loads(kg_source *s, int batch, int32_t first, int32_t count,
                             kg_buffer values, double *load)
{
  const kg_rules *const rules = rules_of(s);
  const size_t group = (size_t)rules->shape->batch[batch].size.n_modes * KG_LANES;
  if (s->function->kind == KG_FUNCTION_NONE)
    return kg_zero(rules->ctx, load, group * (size_t)count * sizeof *load);
  const kedge_solution *const of = kg_solution_of(s->function);
  if (of && !(lies_there(s) && !has_rule(s))) KG_TRY(kg_solution_bring(of, KG_HOLDS_U_STAR));
  if (has_rule(s)) return loads_by_rule(s, batch, first, count, load);
  if (lies_there(s)) return loads_of_solution(s, batch, first, count, load);
  KG_TRY(kg_sampler_loads(&s->sampler, batch, first, count, values, load));
  return kg_source_patch(s, batch, first, count, load);
}

void kg_source_close(kg_source *s)
{
  kg_sampler_close(&s->sampler);
  kg_refined_free(&s->refined);
  *s = (kg_source){.coefficients = s->coefficients, .arrays = s->arrays};
}
