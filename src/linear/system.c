// The loop around an iteration: residuals made from x, restarts where rounding has let the
// recurrence part from them. One file, because all of it reads and moves one `solve`.
#include "linear/system.h"

#include <math.h>

#include "core/clock.h"
#include "device/context.h"
#include "core/nvtx.h"
#include "ops/vector/difference.h"
#include "ops/vector/round.h"
#include "ops/vector/rounding.h"

/// One solve: what stays the same through restarts.
typedef struct solve {
  kedge_context *ctx;
  const kg_system *system;
  const kg_system_rule *rule;
  double rr;            ///< r . r of the last residual
  double rr_start;      ///< of the residual that tolerances are relative to
  double tolerance_rr;  ///< r . r at the tolerance
  double rr_rounding;   ///< r . r that storing x makes; 0: not measured
  kg_iterated iterated;
  int residuals, roundings;  ///< made from x, or as one is; measured
  double began;
} solve;

static kedge_status plain_make(kedge_context *ctx, kg_residual *base, const double *x, double *r,
                               kg_sum sum)
{
  const kg_plain_residual *p = (const kg_plain_residual *)base;
  const kg_linear *a = p->linear;
  KG_TRY(x ? kg_linear_apply(ctx, a, x, r, &(kg_pass){0})
           : kg_zero(ctx, r, (size_t)a->rows * sizeof *r));
  return kg_difference(ctx, &(kg_difference_args){.n = a->rows, .b = p->b, .r = r, .sum = sum});
}

static kg_cost plain_cost(const kg_residual *base)
{
  const kg_linear *a = ((const kg_plain_residual *)base)->linear;
  return a->table->cost(a);
}

kg_plain_residual kg_plain_residual_of(const kg_linear *linear, const double *b)
{
  return (kg_plain_residual){{plain_make, plain_cost}, linear, b};
}

static kedge_status report_progress(void *user, int64_t iterations, double rr)
{
  const solve *s = user;
  const double relative = sqrt(rr / s->rr_start);
  kg_range_residual(relative);
  return kg_progress(s->ctx, &(kedge_progress){.stage = "trace_solve",
                                               .seconds = kg_seconds() - s->began,
                                               .iteration = iterations,
                                               .relative_residual = relative,
                                               .tolerance = s->rule->tolerance});
}

/// The residual as the iteration takes it. Where it was made p and z may lie.
static kedge_status hand_over(const solve *s)
{
  const kg_krylov *k = s->system->krylov;
  const kg_linear *a = k->linear;
  kg_plan *plan = s->system->plan;
  if (k->r == (void *)s->system->r) return kg_plan_enter(s->ctx, plan, KG_PHASE_STEP);
  KG_TRY(kg_plan_enter(s->ctx, plan, KG_PHASE_ROUND));
  const int32_t exponent = kg_round_exponent(s->rr);
  KG_TRY(kg_copy_in(s->ctx, k->exponent, &exponent, sizeof exponent));
  KG_TRY(kg_round(
      s->ctx,
      &(kg_round_args){.n = a->rows, .from = s->system->r, .to = k->r, .exponent = k->exponent}));
  KG_TRY(kg_plan_enter(s->ctx, plan, KG_PHASE_STEP));
  const size_t rows = (size_t)a->all_rows;
  KG_TRY(kg_zero(s->ctx, k->p, rows * kg_number_bytes(a->number)));
  return k->z ? kg_zero(s->ctx, k->z, rows * kg_number_bytes(k->precond->number)) : KEDGE_OK;
}

/// r = b - A x, and rr; or r = b, without boundary values.
static kedge_status make_residual(solve *s, bool of_zero)
{
  const kg_krylov *k = s->system->krylov;
  kg_residual *residual = s->system->residual;
  KG_TRY(kg_plan_enter(s->ctx, s->system->plan, KG_PHASE_RESIDUAL));
  KG_TRY(residual->make(s->ctx, residual, of_zero ? NULL : k->x, s->system->r, k->sum));
  return kg_copy_out(s->ctx, &s->rr, k->sum.total, sizeof s->rr);
}

kedge_status kg_system_check_residual(kedge_context *ctx, double rr, int64_t iterations)
{
  KG_REQUIRE(
      ctx, isfinite(rr) || iterations > 0, KEDGE_ERR_NUMERIC,
      "the trace system holds NaN or infinity before the first iteration: check the mesh for "
      "nearly degenerate elements, and the source, coefficients and boundary values for overflow");
  KG_REQUIRE(ctx, isfinite(rr), KEDGE_ERR_NUMERIC,
             "the residual recomputed after %lld iterations is NaN or infinity: check the source, "
             "coefficients and boundary values for overflow",
             (long long)iterations);
  return KEDGE_OK;
}

/// The residual b - A x from scratch.
static kedge_status start(solve *s)
{
  ++s->residuals;
  KG_TRY(make_residual(s, false));
  KG_TRY(kg_system_check_residual(s->ctx, s->rr, s->iterated.iterations));
  return hand_over(s);
}

/// Measure the residual that storing x makes. Once is enough, as x still changes by little beside
/// itself. p and A p serve as work; they are made anew afterwards.
static kedge_status measure_rounding(solve *s)
{
  const kg_krylov *k = s->system->krylov;
  const kg_linear *a = k->linear;
  const kg_rounding_args args = {.n = a->rows,
                                 .x = k->x,
                                 .number = a->number,
                                 .p = k->p,
                                 .ap = k->ap,
                                 .exponent = k->exponent,
                                 .part = k->sum.part,
                                 .total = k->sum.total};
  ++s->roundings;
  kg_range_push("rounding", a->n_elements, a->rows);
  kedge_status status = kg_rounding_perturb(s->ctx, &args);
  if (status == KEDGE_OK) status = kg_linear_apply(s->ctx, a, k->p, k->ap, &(kg_pass){0});
  if (status == KEDGE_OK) status = kg_rounding_sum(s->ctx, &args);
  if (status == KEDGE_OK)
    status = kg_copy_out(s->ctx, &s->rr_rounding, k->sum.total, sizeof s->rr_rounding);
  kg_range_pop();
  return status;
}

bool kg_system_begins_smooth(const kg_system_rule *rule, double rr)
{
  const double little = 0.1, boundary = rule->boundary_residual;
  return boundary * boundary < little * little * rr;
}

bool kg_system_may_be_rounding(const kg_system_rule *rule, const kg_linear *linear)
{
  return DBL_EPSILON * (double)linear->n_elements >= rule->tolerance;
}

static kedge_status raise_target(solve *s, kg_rule *rule)
{
  if (!kg_system_may_be_rounding(s->rule, s->system->krylov->linear)) return KEDGE_OK;
  KG_TRY(measure_rounding(s));
  rule->target = fmax(rule->target, s->rr_rounding);
  return KEDGE_OK;
}

/// Iterate until the target or the limit. An iteration with another preconditioner stands alone:
/// the next begins anew, with what the residual of the recurrence is then.
static kedge_status run(solve *s, double target)
{
  const kg_system *system = s->system;
  kg_iterated *done = &s->iterated;
  kg_rule rule = {target, s->rule->max_iterations, report_progress, s};
  done->rr = s->rr;
  if (s->system->first && !s->system->warm && done->iterations == 0 &&
      kg_system_begins_smooth(s->rule, s->rr)) {
    rule.max_iterations = 1;
    KG_TRY(system->first->table->iterate(s->ctx, system->first, s->rr, &rule, done));
    rule.max_iterations = s->rule->max_iterations;
    if (!done->at_limit || done->iterations >= rule.max_iterations) return KEDGE_OK;
    KG_TRY(raise_target(s, &rule));
  }
  return system->krylov->table->iterate(s->ctx, system->krylov, s->rr, &rule, done);
}

/// A true residual of up to this many times the residual that storing x makes is rounding. Without
/// a restart multigrid ends at 2.8 to 4.2 times, at 16 on stretched triangles; Jacobi, whose
/// rounding adds up over more iterations, at 12 to 28; restarts bring 1.3 to 10
/// (profiling/cases/poisson.ini, 2048 and 32,768 triangles, tolerance 1e-15).
enum { ROUNDING_NEAR = 16 };

/// Whether a restart may lower a residual above the tolerance. A restart aims at the tolerance,
/// whoever chose it, where rounding leaves room for that.
static bool can_gain(double rr, double tolerance_rr, double rr_rounding)
{
  return rr_rounding < tolerance_rr || rr > ROUNDING_NEAR * ROUNDING_NEAR * rr_rounding;
}

bool kg_system_is_done(const kg_system_begun *begun)
{
  if (begun->rr <= begun->tolerance_rr || begun->iterated.at_limit) return true;
  return begun->roundings > 0 && !can_gain(begun->rr, begun->tolerance_rr, begun->rr_rounding);
}

/// The recurrence stops at this r . r. With a rounded A it drifts from the residual: it stops below
/// `aim`, so that the residual made anew gets there too, but falls by `gain` at most.
static double next_target(const solve *s, double aim)
{
  const double gain = s->system->gain;
  return gain > 0.0 ? fmax(0.25 * aim, s->rr / (gain * gain)) : aim;
}

/// Iterate and recompute the residual.
/// @param[in] begun  NULL, or by what both have been done
static kedge_status run_and_measure(solve *s, double aim, const kg_system_begun *begun)
{
  if (!begun) {
    KG_TRY(run(s, next_target(s, aim)));
    return start(s);
  }
  s->rr = begun->rr;
  return kg_system_is_done(begun) ? KEDGE_OK : start(s);
}

/// Iterate, recompute the residual, restart while that gains something.
static kedge_status iterate_and_restart(solve *s, kg_system_result *result)
{
  double rr_before = INFINITY, aim = s->tolerance_rr;
  const kg_system_begun *begun = s->system->begun;
  result->stop = KEDGE_STOP_ROUNDING;
  while (s->rr < 0.25 * rr_before) {
    rr_before = s->rr;
    ++result->starts;
    KG_TRY(run_and_measure(s, aim, begun));
    begun = NULL;
    const bool at_limit = s->iterated.iterations >= s->rule->max_iterations;
    if (s->rr <= s->tolerance_rr || s->iterated.at_limit) {
      result->stop = s->rr <= s->tolerance_rr ? KEDGE_STOP_TOLERANCE : KEDGE_STOP_LIMIT;
      return KEDGE_OK;
    }
    const bool spoilt = s->roundings == 0;
    if (spoilt) KG_TRY(measure_rounding(s));
    if (!can_gain(s->rr, s->tolerance_rr, s->rr_rounding)) return KEDGE_OK;
    if (at_limit) {
      result->stop = KEDGE_STOP_LIMIT;
      return KEDGE_OK;
    }
    aim = fmax(s->tolerance_rr, s->rr_rounding);
    // The residual may have lain in A p, but for one that was rounded away from there.
    if (spoilt && s->system->gain == 0.0) KG_TRY(start(s));
  }
  return KEDGE_OK;
}

double kg_system_reference(const kg_system_rule *rule, double rr, double bb)
{
  const double ratio = rule->stabilization_ratio;
  return ratio > 1.0 ? fmin(rr, bb + rr / (ratio * ratio)) : rr;
}

kedge_status kg_system_check_start(kedge_context *ctx, double rr_start)
{
  KG_REQUIRE(ctx, rr_start == 0.0 || rr_start >= KG_SYSTEM_LEAST_RR, KEDGE_ERR_NUMERIC,
             KG_SYSTEM_TOO_SMALL, sqrt(rr_start));
  return KEDGE_OK;
}

/// Make the residual of x_0, and the target that the tolerance means.
static kedge_status refer(solve *s)
{
  double bb = 0.0;
  if (s->rule->stabilization_ratio > 1.0) {  // without a gain b has no product, and costs little
    if (s->system->gain > 0.0) ++s->residuals;
    KG_TRY(make_residual(s, true));
    bb = s->rr;
  }
  KG_TRY(start(s));
  s->rr_start = kg_system_reference(s->rule, s->rr, bb);
  KG_TRY(kg_system_check_start(s->ctx, s->rr_start));
  s->tolerance_rr = s->rule->tolerance * s->rule->tolerance * s->rr_start;
  return KEDGE_OK;
}

/// Put the x in place of x_0 that a solve is to begin with, and make its residual.
static kedge_status warm(solve *s)
{
  KG_TRY(s->system->warm(s->ctx, s->system->user));
  return start(s);
}

/// A residual of more times than this what storing x makes of it is no rounding: restarts bring 10.
enum { ROUNDING_FAR = 128 };

static bool is_converged(const kg_system_rule *rule, const kg_system_result *result)
{
  if (result->stop != KEDGE_STOP_ROUNDING) return result->stop == KEDGE_STOP_TOLERANCE;
  return rule->accepts_rounding && result->relative_residual <= KG_SYSTEM_ROUNDING_MOST &&
         result->relative_residual <= ROUNDING_FAR * result->rounding_residual;
}

/// What others have done for it already.
static void take(solve *s, const kg_system_begun *begun)
{
  s->rr = begun->rr_before;
  s->rr_start = begun->rr_start;
  s->tolerance_rr = begun->tolerance_rr;
  s->rr_rounding = begun->rr_rounding;
  s->iterated = begun->iterated;
  s->residuals = begun->residuals;
  s->roundings = begun->roundings;
}

static kedge_status solve_system(solve *s, kg_system_result *result)
{
  if (s->system->begun)
    take(s, s->system->begun);
  else
    KG_TRY(refer(s));
  if (s->system->warm && s->rr_start > 0.0) KG_TRY(warm(s));
  result->converged = s->rr <= s->tolerance_rr;
  if (s->rr_start == 0.0) return KEDGE_OK;
  result->start_residual = sqrt(s->rr / s->rr_start);
  if (!result->converged) KG_TRY(iterate_and_restart(s, result));
  result->iterations = s->iterated.iterations;
  result->relative_residual = sqrt(s->rr / s->rr_start);
  result->rounding_residual = sqrt(s->rr_rounding / s->rr_start);
  result->energy = s->iterated.energy;
  result->rr = s->rr;
  result->converged = is_converged(s->rule, result);
  return KEDGE_OK;
}

kedge_status kg_system_solve(kedge_context *ctx, const kg_system *system,
                             const kg_system_rule *rule, kg_system_result *result)
{
  solve s = {.ctx = ctx, .system = system, .rule = rule, .began = kg_seconds()};
  *result = (kg_system_result){0};
  const kedge_status status = solve_system(&s, result);
  result->residuals = s.residuals;
  result->roundings = s.roundings;
  kg_krylov *const methods[] = {system->krylov, system->first};
  for (int i = 0; i < 2; ++i)
    if (methods[i] && !system->keeps) methods[i]->table->free(ctx, methods[i]);
  return status;
}

static kedge_status go_on(solve *s, kg_system_further *f)
{
  kg_krylov *const k = s->system->krylov;
  const kg_rule rule = {
      .max_iterations = f->most, .progress = report_progress, .user = s, .part = f->part};
  KG_TRY(warm(s));
  KG_TRY(measure_rounding(s));
  KG_TRY(start(s));  // rounding was measured where the residual may lie
  s->rr_start = f->rr = s->rr;
  f->rr_rounding = s->rr_rounding;
  KG_TRY(kg_zero(s->ctx, k->x, (size_t)k->linear->all_rows * sizeof *k->x));
  if (s->rr == 0.0) return KEDGE_OK;
  const kedge_status status = k->table->iterate(s->ctx, k, s->rr, &rule, &s->iterated);
  f->iterations = s->iterated.iterations;
  return status;
}

kedge_status kg_system_go_on(kedge_context *ctx, const kg_system *system,
                             const kg_system_rule *rule, kg_system_further *further)
{
  solve s = {.ctx = ctx, .system = system, .rule = rule, .began = kg_seconds()};
  const kedge_status status = go_on(&s, further);
  if (!system->keeps) system->krylov->table->free(ctx, system->krylov);
  return status;
}

kedge_status kg_system_measure(kedge_context *ctx, const kg_system *system,
                               const kg_system_rule *rule, kg_system_result *result)
{
  solve s = {.ctx = ctx, .system = system, .rule = rule};
  *result = (kg_system_result){0};
  KG_TRY(refer(&s));
  KG_TRY(warm(&s));
  result->start_residual = s.rr > 0.0 ? sqrt(s.rr / s.rr_start) : 0.0;
  result->relative_residual = result->start_residual;
  result->converged = s.rr <= s.tolerance_rr;
  result->stop = result->converged ? KEDGE_STOP_TOLERANCE : KEDGE_STOP_LIMIT;
  result->residuals = s.residuals;
  return KEDGE_OK;
}
