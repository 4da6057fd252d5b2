#include "linear/system_many.h"

#include <math.h>

#include "core/clock.h"
#include "core/nvtx.h"
#include "device/context.h"
#include "ops/vector/difference.h"
#include "ops/vector/rounding.h"

typedef struct solve {
  kedge_context *ctx;
  const kg_system_many *system;
  const kg_system_rule *rules;
  kg_system_begun *of;  ///< [vector]
  double began;
} solve;

/// The progress of a vector.
typedef struct heard {
  const solve *s;
  int vector;
} heard;

static kedge_status report_progress(void *user, int64_t iterations, double rr)
{
  const heard *h = user;
  const double relative = sqrt(rr / h->s->of[h->vector].rr_start);
  kg_range_residual(relative);
  return kg_progress(h->s->ctx, &(kedge_progress){.stage = "trace_solve",
                                                  .seconds = kg_seconds() - h->s->began,
                                                  .iteration = iterations,
                                                  .relative_residual = relative,
                                                  .tolerance = h->s->rules[h->vector].tolerance});
}

/// r = b - r, and r . r of each vector; b may be NULL.
static kedge_status subtract(const solve *s, const double *b, double *r, double rr[KG_VECTORS])
{
  const kg_krylov *k = &s->system->cg->base;
  const kg_difference_args args = {
      .n = k->linear->rows * KG_VECTORS, .b = b, .r = r, .sum = k->sum, .many = true};
  KG_TRY(kg_difference(s->ctx, &args));
  return kg_copy_out(s->ctx, rr, k->sum.total, KG_VECTORS * sizeof *rr);
}

static kedge_status make_residuals(const solve *s, double rr[KG_VECTORS])
{
  const kg_krylov *k = &s->system->cg->base;
  for (int v = 0; v < KG_VECTORS; ++v) ++s->of[v].residuals;
  KG_TRY(kg_linear_apply(s->ctx, k->linear, k->x, k->r, &(kg_pass){.many = true}));
  KG_TRY(subtract(s, s->system->b, k->r, rr));
  for (int v = 0; v < KG_VECTORS; ++v)
    KG_TRY(kg_system_check_residual(s->ctx, rr[v], s->of[v].iterated.iterations));
  return KEDGE_OK;
}

/// The residuals of x_0, and the targets that the tolerances mean.
static kedge_status refer(const solve *s)
{
  const kg_krylov *k = &s->system->cg->base;
  double rr[KG_VECTORS], bb[KG_VECTORS] = {0.0};
  if (s->rules[0].stabilization_ratio > 1.0) {
    KG_TRY(kg_zero(s->ctx, k->r, (size_t)k->linear->rows * KG_VECTORS * sizeof(double)));
    KG_TRY(subtract(s, s->system->b, k->r, bb));
  }
  KG_TRY(make_residuals(s, rr));
  for (int v = 0; v < KG_VECTORS; ++v) {
    kg_system_begun *const of = &s->of[v];
    const double tolerance = s->rules[v].tolerance;
    of->rr_before = of->rr = rr[v];
    of->rr_start = kg_system_reference(&s->rules[v], rr[v], bb[v]);
    KG_TRY(kg_system_check_start(s->ctx, of->rr_start));
    of->tolerance_rr = tolerance * tolerance * of->rr_start;
  }
  return KEDGE_OK;
}

/// Measure the residuals that storing x makes. p and A p serve as work.
static kedge_status measure_rounding(const solve *s, double rr[KG_VECTORS])
{
  const kg_krylov *k = &s->system->cg->base;
  const kg_rounding_args args = {.n = k->linear->rows * KG_VECTORS, .x = k->x, .p = k->p};
  kg_range_push("rounding", k->linear->n_elements, k->linear->rows);
  kedge_status status = kg_rounding_perturb(s->ctx, &args);
  if (status == KEDGE_OK)
    status = kg_linear_apply(s->ctx, k->linear, k->p, k->ap, &(kg_pass){.many = true});
  if (status == KEDGE_OK) status = subtract(s, NULL, k->ap, rr);
  kg_range_pop();
  return status;
}

/// One iteration with the better preconditioner where residuals are smooth, and what it says of
/// their targets. Where one residual is smooth all of them take it: none is the worse for it.
static kedge_status begin_smooth(const solve *s, kg_rule *rule, kg_iterated *done, double *rr)
{
  bool any = false;
  for (int v = 0; v < KG_VECTORS; ++v)
    any = any || (rr[v] > rule[v].target && kg_system_begins_smooth(&s->rules[v], rr[v]));
  if (!any) return KEDGE_OK;
  for (int v = 0; v < KG_VECTORS; ++v) rule[v].max_iterations = 1;
  KG_TRY(kg_cg_many_iterate(s->ctx, s->system->first, rr, rule, done));
  for (int v = 0; v < KG_VECTORS; ++v) {
    rule[v].max_iterations = s->rules[v].max_iterations;
    rr[v] = done[v].rr;
  }
  if (!kg_system_may_be_rounding(&s->rules[0], s->system->cg->base.linear)) return KEDGE_OK;
  double rounding[KG_VECTORS];
  KG_TRY(measure_rounding(s, rounding));
  for (int v = 0; v < KG_VECTORS; ++v) {
    s->of[v].rr_rounding = rounding[v];
    ++s->of[v].roundings;
    rule[v].target = fmax(rule[v].target, rounding[v]);
  }
  return KEDGE_OK;
}

kedge_status kg_system_solve_many(kedge_context *ctx, const kg_system_many *system,
                                  const kg_system_rule *rules, kg_system_begun *begun)
{
  const solve s = {
      .ctx = ctx, .system = system, .rules = rules, .of = begun, .began = kg_seconds()};
  double rr[KG_VECTORS];
  kg_rule rule[KG_VECTORS];
  kg_iterated done[KG_VECTORS] = {{0}};
  heard progress[KG_VECTORS];
  for (int v = 0; v < KG_VECTORS; ++v) begun[v] = (kg_system_begun){0};
  KG_TRY(refer(&s));
  for (int v = 0; v < KG_VECTORS; ++v) {
    progress[v] = (heard){&s, v};
    rule[v] =
        (kg_rule){begun[v].tolerance_rr, rules[v].max_iterations, report_progress, &progress[v]};
    rr[v] = done[v].rr = begun[v].rr;
  }
  KG_TRY(begin_smooth(&s, rule, done, rr));
  bool any = false;
  for (int v = 0; v < KG_VECTORS; ++v) {
    if (done[v].iterations >= rules[v].max_iterations) rule[v].target = INFINITY;
    any = any || rr[v] > rule[v].target;
  }
  if (any) KG_TRY(kg_cg_many_iterate(ctx, system->cg, rr, rule, done));
  for (int v = 0; v < KG_VECTORS; ++v) {
    begun[v].iterated = done[v];
    begun[v].iterated.at_limit = done[v].at_limit && done[v].iterations >= rules[v].max_iterations;
  }
  KG_TRY(make_residuals(&s, rr));
  for (int v = 0; v < KG_VECTORS; ++v) begun[v].rr = rr[v];
  return KEDGE_OK;
}
