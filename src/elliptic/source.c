#include "elliptic/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/loop.h"
#include "integrals/element.h"
#include "integrals/patch.h"
#include "ops/sample/points.h"
#include "elliptic/cells.h"

/// A coefficient is about as rough as the source where cuts move it by this part of what they move
/// the source by, each beside its size.
#define ALIKE 0.1
/// Reaction whose integral over an element is less than this part of the diffusion does nothing.
#define NO_REACTION 1e-3

static void open_source(kg_elliptic *p)
{
  static const char *const key = "source";
  kg_source *s = &p->source;
  if (s->function) return;
  s->function = &p->data.resolved->equation.source;
  const bool derived = p->data.resolved->derives_source;
  const bool placed = !derived && !p->data.gives_source;  // by a setting
  s->name = derived ? "source, derived from u of [exact]," : "source";
  if (!p->data.gives_source)
    kedge_problem_place(p->equation.problem, "exact", "u", s->place, sizeof s->place);
  s->sampler = kg_sampler_of(p, KG_SAMPLE_LOADS,
                             (kg_sample_set){1, &s->function, &s->name, s->place,
                                             placed ? p->equation.problem : NULL, &key});
  const int residuals = p->shape.choice.residual == KG_REMADE_WITH_LOADS ? KG_RESIDUALS : 1;
  s->sampler.evaluations = residuals + (p->shape.choice.loads_stay ? 0 : 1);
}

bool kg_source_moves(kg_elliptic *p)
{
  open_source(p);
  return !p->data.origin && p->equation.problem->load_quadrature == 0 &&
         kg_function_varies(p->source.function);
}

/// The rows of the rule of load vectors, by shape.
static void rows_of(const kg_elliptic *p, int rows[KG_CELL_KINDS])
{
  const int asked = p->equation.problem->load_quadrature, order = p->shape.size.order;
  for (int k = 0; k < KG_CELL_KINDS; ++k) rows[k] = asked ? asked : kg_cell_sample_rows(order);
  for (int i = 0; !asked && i < p->shape.n_batches; ++i)
    if (!p->shape.batch[i].by_quadrature)
      rows[kg_cell_index(p->shape.batch[i].cell)] = kg_point_rows(order);
}

static kedge_status open_integrals(const kg_elliptic *p, const kg_function *function,
                                   kg_element_integrals *out)
{
  int rows[KG_CELL_KINDS];
  rows_of(p, rows);
  return kg_element_integrals_open(p->ctx, p->mesh, function, p->shape.size.order, rows, out);
}

/// What a derived source may have of rounding, by a source that makes a u of the exact one's size.
static double rounding_of(const kg_elliptic *p)
{
  double rounding[2];
  if (!p->data.resolved->derives_source) return 0.0;
  kg_exact_rounding(p->mesh, &p->equation.problem->exact_u, &p->data.resolved->equation, rounding);
  return rounding[1] / sqrt(p->mesh->info.area);
}

void kg_source_look(kg_elliptic *p)
{
  p->source.sampler.rough = p->arrays.rough;
  p->source.sampler.least = rounding_of(p);
}

/// Gather the elements whose loads are rough, ascending. @param[out] rough  owned by the caller
static kedge_status gather(const kg_elliptic *p, int32_t *n, int32_t **rough)
{
  const size_t lanes = (size_t)p->space.layout.count.n_groups * KG_LANES;
  uint8_t *flags;
  *n = 0;
  *rough = NULL;
  KG_TRY(kg_host_alloc(p->ctx, lanes, sizeof *flags, &flags));
  kedge_status status = kg_copy_out(p->ctx, flags, p->arrays.rough, lanes);
  if (status == KEDGE_OK && memchr(flags, 1, lanes))
    status = kg_host_alloc(p->ctx, (size_t)p->mesh->n_elements, sizeof **rough, rough);
  for (int b = 0; *rough && b < p->shape.n_batches; ++b) {
    const kg_lane_batch *const of = &p->shape.batch[b].lanes;
    const uint8_t *const flag = flags + (size_t)of->first_group * KG_LANES;
    for (int32_t i = 0; i < of->n_elements; ++i)
      if (flag[i]) (*rough)[(*n)++] = of->first_element + i;
  }
  free(flags);
  return status;
}

/// The integral of the absolute source, of some elements that stand for all.
static double size_of(const kg_elliptic *p, const kg_element_integrals *integrals)
{
  enum { SAMPLES = 256, MODES_MAX = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1) };
  const int32_t all = p->mesh->n_elements, n = all < SAMPLES ? all : SAMPLES;
  double sums[MODES_MAX], total = 0.0;
  for (int32_t i = 0; i < n; ++i) {
    const double size = kg_element_integral(integrals, (int32_t)((int64_t)i * all / n), sums, NULL);
    if (isfinite(size)) total += size;
  }
  return total * all / n;
}

/// What is left of the source, for findings.
static void note_left(kg_elliptic *p, const kg_refined *refined, double whole)
{
  kg_loads_left *const left = &p->loads_left;
  kg_element_middle(p->mesh, refined->worst, left->source_at);
  left->source = refined->left > 0.0 ? refined->left / fmax(whole, refined->size) : 0.0;
  left->untried = p->equation.problem->load_quadrature > 0 ? 0 : refined->untried;
  if (refined->n > 0) left->moved = refined->moved / fmax(whole, refined->size);
}

/// Take elements out in which a coefficient is about as rough as the source: local matrices have
/// the common rule, and what a source shares with a coefficient has to have one rule with it.
/// @param[in] least  the least integral of the coefficient that matters
static kedge_status leave_to_coefficient(kg_elliptic *p, const kg_refining *source, const char *key,
                                         const kg_function *function, double least)
{
  kg_refined *const to = &p->source.refined;
  const size_t n = (size_t)source->integrand.n;
  kg_element_integrals integrals;
  double *work = NULL;
  int32_t kept = 0;
  if (to->n == 0 || !kg_function_varies(function)) return KEDGE_OK;
  kedge_status status = open_integrals(p, function, &integrals);
  const kg_refining of = kg_element_refining(&integrals);
  if (status == KEDGE_OK)
    status = kg_host_alloc(p->ctx, (KG_PARTS_MAX + 1) * n, sizeof *work, &work);
  for (int32_t i = 0; status == KEDGE_OK && i < to->n; ++i) {
    kg_integral here = {0}, there = {0};
    kg_integral_try(&of.integrand, to->item[i], work, &here);
    kg_integral_try(&source->integrand, to->item[i], work, &there);
    const bool leaves = here.size > least &&
                        here.moved * there.size > ALIKE * there.moved * here.size &&
                        here.moved > source->least * here.size;
    if (leaves && !p->loads_left.coefficient) {
      p->loads_left.coefficient = key;
      kg_element_middle(p->mesh, to->item[i], p->loads_left.coefficient_at);
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

static kedge_status leave_to_coefficients(kg_elliptic *p, const kg_refining *source)
{
  const kg_coefficients *const of = &p->equation.resolved.equation;
  KG_TRY(leave_to_coefficient(p, source, "reaction", &of->reaction,
                              NO_REACTION * p->equation.material.diffusion));
  for (int k = 0; k < of->n_diffusion; ++k)
    KG_TRY(leave_to_coefficient(p, source, "diffusion", &of->diffusion[k], 0.0));
  return KEDGE_OK;
}

kedge_status kg_source_refine(kg_elliptic *p)
{
  kg_source *const s = &p->source;
  int32_t n, *rough;
  s->sampler.rough = NULL;
  KG_TRY(gather(p, &n, &rough));
  if (n == 0) return KEDGE_OK;
  kg_element_integrals integrals;
  kedge_status status = open_integrals(p, s->function, &integrals);
  if (status == KEDGE_OK) {
    kg_refining refining = kg_element_refining(&integrals);
    refining.whole = size_of(p, &integrals);
    status = kg_refine(p->ctx, &refining, n, rough, &s->refined);
    note_left(p, &s->refined, refining.whole);
    if (status == KEDGE_OK) status = leave_to_coefficients(p, &refining);
  }
  p->run.solution->report.refined_elements = s->refined.n;
  kg_element_integrals_close(&integrals);
  free(rough);
  return status;
}

/// List the elements in which the source is rough by the rule that the problem asks for, ascending.
/// @param[out] rough  [elements] @return how many there are
static int32_t list_rough(const kg_elliptic *p, const kg_element_integrals *integrals,
                          int32_t *rough)
{
  const int32_t all = p->mesh->n_elements;
  int32_t n = 0;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(p->ctx, all, 4096))
  for (int32_t i = 0; i < all; ++i) {
    double sums[2 * (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1)];
    bool is_rough;
    const double size = kg_element_integral(integrals, i, sums, &is_rough);
    rough[i] = isfinite(size) && is_rough ? i : -1;
  }
  for (int32_t i = 0; i < all; ++i)
    if (rough[i] >= 0) rough[n++] = i;
  return n;
}

kedge_status kg_source_judge(kg_elliptic *p)
{
  const kg_source *const s = &p->source;
  int32_t *rough = NULL;
  open_source(p);
  if (p->data.origin || p->equation.problem->load_quadrature == 0 ||
      !kg_function_varies(s->function))
    return KEDGE_OK;
  kg_element_integrals integrals;
  kedge_status status = open_integrals(p, s->function, &integrals);
  if (status == KEDGE_OK)
    status = kg_host_alloc(p->ctx, (size_t)p->mesh->n_elements, sizeof *rough, &rough);
  if (status == KEDGE_OK) {
    kg_refining refining = kg_element_refining(&integrals);
    kg_refined moves;
    refining.judges = true;
    status = kg_refine(p->ctx, &refining, list_rough(p, &integrals, rough), rough, &moves);
    const double rounding = rounding_of(p) * p->mesh->info.area;
    note_left(p, &moves, fmax(size_of(p, &integrals), rounding));
  }
  free(rough);
  kg_element_integrals_close(&integrals);
  return status;
}

kedge_status kg_source_patch(kg_elliptic *p, int batch, int32_t first, int32_t count, double *load)
{
  const kg_shape_batch *const b = &p->shape.batch[batch];
  int most = 0;
  if (p->source.refined.n == 0) return KEDGE_OK;
  for (int i = 0; i < p->shape.n_batches; ++i)
    if (p->shape.batch[i].size.n_modes > most) most = p->shape.batch[i].size.n_modes;
  return kg_patch_loads(p->ctx,
                        &(kg_patch){.first_element = b->lanes.first_element,
                                    .n_elements = b->lanes.n_elements,
                                    .n_modes = b->size.n_modes,
                                    .n_sums = most,
                                    .first = first,
                                    .count = count,
                                    .scale = p->equation.scale,
                                    .load = load},
                        &p->source.refined);
}

/// Say where a value of an element is not finite.
static kedge_status refuse(const kg_elliptic *p, const kg_element_integrals *integrals,
                           int32_t element)
{
  const kg_part_rule *const rule =
      &integrals->rule[kg_cell_index(kg_block_of(p->mesh, element)->cell)];
  const int geometry = p->mesh->nodes ? p->mesh->geometry : 1, n = rule->cell->n_modes(geometry);
  long double shape[3 * KG_NODES_MAX];
  double map[3 * KG_NODES_MAX];
  for (int q = 0; q < rule->rows * rule->rows; ++q) {
    rule->cell->map(geometry, rule->r[q], rule->s[q], shape);
    for (int k = 0; k < 3 * n; ++k) map[k] = (double)shape[k];
    const kg_places at = {p->mesh, element, 1, 1, 1, rule->r + q, rule->s + q, map};
    KG_TRY(kg_sample_refuse(p->ctx, at, 0, &p->source.sampler.evaluation.set, 0));
  }
  return KEDGE_OK;
}

/// Load vectors of some groups by the rule that the problem asks for, in host memory.
/// @param[out] bad  an element with a value that is not finite: the first; or as it was
static void sum_groups(const kg_elliptic *p, const kg_element_integrals *integrals, int batch,
                       int32_t first, int32_t count, double *load, int32_t *bad)
{
  const kg_shape_batch *const b = &p->shape.batch[batch];
  const int N = b->size.n_modes, rows = integrals->rule[kg_cell_index(b->cell)].rows;
  int32_t found = INT32_MAX;
  memset(load, 0, (size_t)count * (size_t)N * KG_LANES * sizeof *load);
#pragma omp parallel for schedule(static) reduction(min      \
                                                    : found) \
    num_threads(kg_loop_threads(p->ctx, count, (int64_t)KG_LANES *rows *rows *N))
  for (int32_t i = 0; i < count * KG_LANES; ++i) {
    const int32_t lane = first * KG_LANES + i;
    double sums[2 * (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1)];
    if (lane >= b->lanes.n_elements) continue;
    const int32_t element = b->lanes.first_element + lane;
    const double size = kg_element_integral(integrals, element, sums, NULL);
    if (!isfinite(size) && element < found) found = element;
    double *const to = load + ((size_t)(i / KG_LANES) * (size_t)N) * KG_LANES + i % KG_LANES;
    for (int k = 0; k < N; ++k) to[k * KG_LANES] = p->equation.scale * sums[k];
  }
  if (found < INT32_MAX) *bad = found;
}

/// Load vectors by a rule that the problem asks for: the host evaluates.
static kedge_status loads_by_rule(kg_elliptic *p, int batch, int32_t first, int32_t count,
                                  double *load)
{
  const size_t group = (size_t)p->shape.batch[batch].size.n_modes * KG_LANES;
  const int32_t most = p->shape.choice.recover_groups;
  kg_element_integrals integrals;
  double *staging = NULL;
  kg_evaluation_note(&p->source.sampler.evaluation, "host: [equation] quadrature");
  kedge_status status = open_integrals(p, p->source.function, &integrals);
  if (status == KEDGE_OK)
    status = kg_host_alloc(p->ctx, group * (size_t)most, sizeof *staging, &staging);
  for (int32_t at = 0; status == KEDGE_OK && at < count; at += most) {
    const int32_t n = count - at < most ? count - at : most;
    int32_t bad = -1;
    sum_groups(p, &integrals, batch, first + at, n, staging, &bad);
    if (bad >= 0) status = refuse(p, &integrals, bad);
    if (status == KEDGE_OK)
      status =
          kg_copy_in(p->ctx, load + (size_t)at * group, staging, (size_t)n * group * sizeof *load);
    if (status == KEDGE_OK) status = kg_run_announce(&p->run, p->run.stage, false);
  }
  free(staging);
  kg_element_integrals_close(&integrals);
  return status;
}

kedge_status kg_source_loads(kg_elliptic *p, int batch, int32_t first, int32_t count,
                             kg_buffer values, double *load)
{
  kg_source *s = &p->source;
  const size_t group = (size_t)p->shape.batch[batch].size.n_modes * KG_LANES;
  open_source(p);
  if (s->function->kind == KG_FUNCTION_NONE)
    return kg_zero(p->ctx, load, group * (size_t)count * sizeof *load);
  if (p->equation.problem->load_quadrature > 0 && kg_function_varies(s->function) &&
      !p->data.origin)
    return loads_by_rule(p, batch, first, count, load);
  KG_TRY(kg_sampler_loads(&s->sampler, batch, first, count, values, load));
  return kg_source_patch(p, batch, first, count, load);
}

void kg_source_rest(kg_source *s)
{
  kg_sampler_rest(&s->sampler);
}

void kg_source_close(kg_source *s)
{
  kg_sampler_close(&s->sampler);
  kg_refined_free(&s->refined);
  *s = (kg_source){0};
}
