// The loop around an iteration: residuals made from x, restarts where rounding has let the
// recurrence part from them. One file, because all of it reads and moves one `solve`.
#include "linear/system.h"

#include <math.h>

#include "core/clock.h"
#include "core/nvtx.h"
#include "device/context.h"
#include "ops/vector/difference.h"
#include "ops/vector/rounding.h"

/// A right-hand side: what stays the same through restarts.
typedef struct rhs {
  double rr;                 ///< r . r of the last residual
  double rr_before;          ///< of the one before the last iteration
  double rr_start;           ///< of the residual that tolerances are relative to
  double tolerance_rr;       ///< r . r at the tolerance
  double rr_rounding;        ///< r . r that storing x makes; 0: not measured
  double aim;                ///< of the next iteration
  int residuals, roundings;  ///< made from x, or as one is; measured
  bool runs;                 ///< else it is done, and stands still
} rhs;

/// One solve.
typedef struct solve {
  kedge_context *ctx;
  const kg_system *system;
  const kg_system_rule *rules;  ///< [n], as what follows
  int n;
  rhs of[KG_VECTORS];
  kg_iterated iterated[KG_VECTORS];
  bool has_vectors;  ///< the method has taken a residual
  double began;
} solve;

static solve begin(kedge_context *ctx, const kg_system *system, const kg_system_rule *rules)
{
  solve s = {.ctx = ctx,
             .system = system,
             .rules = rules,
             .n = system->krylov->linear->n_rhs,
             .began = kg_seconds()};
  for (int v = 0; v < s.n; ++v) s.of[v].runs = true;
  return s;
}

static bool any_runs(const solve *s)
{
  bool any = false;
  for (int v = 0; v < s->n; ++v) any = any || s->of[v].runs;
  return any;
}

/// Who hears of the progress of a right-hand side.
typedef struct listener {
  const solve *s;
  int v;
} listener;

static kedge_status report_progress(void *user, int64_t iterations, double rr)
{
  const listener *l = user;
  const solve *s = l->s;
  const double relative = sqrt(rr / s->of[l->v].rr_start);
  kg_range_residual(relative);
  return kg_progress(s->ctx, &(kedge_progress){.stage = "trace_solve",
                                               .seconds = kg_seconds() - s->began,
                                               .iteration = iterations,
                                               .relative_residual = relative,
                                               .tolerance = s->rules[l->v].tolerance});
}

/// r = b - A x, and rr, [n]; or r = b, without boundary values.
static kedge_status make_residual(solve *s, bool of_zero, double *rr)
{
  const kg_krylov *k = s->system->krylov;
  kg_residual *residual = s->system->residual;
  KG_TRY(kg_plan_enter(s->ctx, k->plan, KG_PHASE_RESIDUAL));
  KG_TRY(residual->make(s->ctx, residual, of_zero ? NULL : k->x, k->residual, k->sum));
  return kg_copy_out(s->ctx, rr, k->sum.total, (size_t)s->n * sizeof *rr);
}

static kedge_status check_residual(kedge_context *ctx, double rr, int64_t iterations)
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
  kg_krylov *const k = s->system->krylov;
  double rr[KG_VECTORS];
  for (int v = 0; v < s->n; ++v) s->of[v].residuals += s->of[v].runs;
  KG_TRY(make_residual(s, false, rr));
  for (int v = 0; v < s->n; ++v) {
    if (!s->of[v].runs) continue;
    s->of[v].rr = rr[v];
    KG_TRY(check_residual(s->ctx, rr[v], s->iterated[v].iterations));
  }
  const bool first = !s->has_vectors;
  s->has_vectors = true;
  return k->table->take(s->ctx, k, rr, first);
}

/// Measure the residual that storing x makes. Once is enough, as x still changes by little beside
/// itself. The vectors between iterations serve as work.
static kedge_status measure_rounding(solve *s)
{
  const kg_krylov *k = s->system->krylov;
  const kg_linear *a = k->linear;
  const kg_rounding_args args = {.n = a->rows * s->n,
                                 .x = k->x,
                                 .number = a->number,
                                 .p = k->work_all,
                                 .ap = k->work,
                                 .exponent = k->exponent,
                                 .part = k->sum.part,
                                 .total = k->sum.total};
  const kg_difference_args all = {.n = args.n, .r = k->work, .sum = k->sum, .many = true};
  double rr[KG_VECTORS];
  kg_range_push("rounding", a->n_elements, a->rows);
  kedge_status status = kg_rounding_perturb(s->ctx, &args);
  if (status == KEDGE_OK) status = kg_linear_apply(s->ctx, a, k->work_all, k->work, &(kg_pass){0});
  if (status == KEDGE_OK)
    status = s->n > 1 ? kg_difference(s->ctx, &all) : kg_rounding_sum(s->ctx, &args);
  if (status == KEDGE_OK) status = kg_copy_out(s->ctx, rr, k->sum.total, (size_t)s->n * sizeof *rr);
  kg_range_pop();
  KG_TRY(status);
  for (int v = 0; v < s->n; ++v) {
    if (!s->of[v].runs) continue;
    s->of[v].rr_rounding = rr[v];
    ++s->of[v].roundings;
  }
  return KEDGE_OK;
}

/// The residual is that of a source: smooth. It stays so only where the coarse system is solved
/// well (docs/multigrid.md#the-first-iteration).
static bool begins_smooth(const solve *s)
{
  const double little = 0.1;
  bool any = false;
  for (int v = 0; v < s->n; ++v) {
    const double boundary = s->rules[v].boundary_residual;
    any = any || (s->of[v].runs && s->iterated[v].iterations == 0 &&
                  boundary * boundary < little * little * s->of[v].rr);
  }
  return any && s->system->first && !s->system->warm;
}

/// Rounding leaves some DBL_EPSILON times the number of elements of a smooth residual. Where that
/// may be more than the tolerance it is measured: further down only the recurrence converges.
static kedge_status raise_targets(solve *s, kg_rule *rule)
{
  const double elements = (double)s->system->krylov->linear->n_elements;
  if (DBL_EPSILON * elements < s->rules->tolerance) return KEDGE_OK;
  KG_TRY(measure_rounding(s));
  for (int v = 0; v < s->n; ++v) rule[v].target = fmax(rule[v].target, s->of[v].rr_rounding);
  return KEDGE_OK;
}

/// Iterate once with the better preconditioner. An iteration with another one stands alone: the
/// next begins anew, with what the residual of the recurrence is then.
/// @param[out] goes_on  whether there is more to do
static kedge_status iterate_first(solve *s, kg_rule *rule, double *rr, bool *goes_on)
{
  kg_krylov *const k = s->system->krylov;
  for (int v = 0; v < s->n; ++v) rule[v].max_iterations = 1;
  KG_TRY(k->table->iterate(s->ctx, k, s->system->first, rr, rule, s->iterated));
  *goes_on = false;
  for (int v = 0; v < s->n; ++v) {
    const kg_iterated *const done = &s->iterated[v];
    rr[v] = done->rr;
    rule[v].max_iterations = s->rules[v].max_iterations;
    if (done->at_limit && done->iterations < rule[v].max_iterations)
      *goes_on = true;
    else
      rule[v].target = INFINITY;
  }
  return *goes_on ? raise_targets(s, rule) : KEDGE_OK;
}

/// The recurrence stops at this r . r. With a rounded A it drifts from the residual: it stops below
/// `aim`, so that the residual made anew gets there too, but falls by `gain` at most.
static double next_target(const solve *s, const rhs *of)
{
  const double gain = s->system->gain;
  return gain > 0.0 ? fmax(0.25 * of->aim, of->rr / (gain * gain)) : of->aim;
}

/// Iterate until the targets or the limits.
static kedge_status run(solve *s)
{
  kg_krylov *const k = s->system->krylov;
  listener heard[KG_VECTORS];
  kg_rule rule[KG_VECTORS];
  double rr[KG_VECTORS];
  bool goes_on = true;
  for (int v = 0; v < s->n; ++v) {
    const double target = s->of[v].runs ? next_target(s, &s->of[v]) : INFINITY;
    heard[v] = (listener){s, v};
    rule[v] = (kg_rule){.target = target,
                        .max_iterations = s->rules[v].max_iterations,
                        .progress = report_progress,
                        .user = &heard[v]};
    rr[v] = s->iterated[v].rr = s->of[v].rr;
  }
  if (begins_smooth(s)) KG_TRY(iterate_first(s, rule, rr, &goes_on));
  return goes_on ? k->table->iterate(s->ctx, k, k->precond, rr, rule, s->iterated) : KEDGE_OK;
}

/// A true residual of up to this many times the residual that storing x makes is rounding. Without
/// a restart multigrid ends at 2.8 to 4.2 times, at 16 on stretched triangles; Jacobi, whose
/// rounding adds up over more iterations, at 12 to 28; restarts bring 1.3 to 10
/// (profiling/cases/poisson.ini, 2048 and 32,768 triangles, tolerance 1e-15).
enum { ROUNDING_NEAR = 16 };

/// Return whether a restart may still lower a residual that is above the tolerance. A restart aims
/// at the tolerance, or at the rounding error of the residual if that is larger.
static bool can_gain(const rhs *of)
{
  return of->rr_rounding < of->tolerance_rr ||
         of->rr > ROUNDING_NEAR * ROUNDING_NEAR * of->rr_rounding;
}

static void stop(rhs *of, kedge_stop why, kg_system_result *result)
{
  of->runs = false;
  result->stop = why;
}

/// Whether tolerance or limit end those that run.
/// @return whether what rounding makes of one that goes on is not known
static bool judge(solve *s, kg_system_result *result)
{
  bool unknown = false;
  for (int v = 0; v < s->n; ++v) {
    rhs *const of = &s->of[v];
    if (!of->runs) continue;
    if (of->rr <= of->tolerance_rr)
      stop(of, KEDGE_STOP_TOLERANCE, &result[v]);
    else if (s->iterated[v].at_limit)
      stop(of, KEDGE_STOP_LIMIT, &result[v]);
    else
      unknown = unknown || of->roundings == 0;
  }
  return unknown;
}

/// Whether rounding ends those that run, or a limit; else what they aim at next.
static void judge_rounding(solve *s, kg_system_result *result)
{
  for (int v = 0; v < s->n; ++v) {
    rhs *const of = &s->of[v];
    if (!of->runs) continue;
    if (!can_gain(of))
      stop(of, KEDGE_STOP_ROUNDING, &result[v]);
    else if (s->iterated[v].iterations >= s->rules[v].max_iterations)
      stop(of, KEDGE_STOP_LIMIT, &result[v]);
    of->aim = fmax(of->tolerance_rr, of->rr_rounding);
  }
}

/// Iterate, recompute the residual, restart while that gains something.
static kedge_status iterate_and_restart(solve *s, kg_system_result *result)
{
  while (any_runs(s)) {
    for (int v = 0; v < s->n; ++v) {
      result[v].starts += s->of[v].runs;
      s->of[v].rr_before = s->of[v].rr;
    }
    KG_TRY(run(s));
    KG_TRY(start(s));
    const bool spoilt = judge(s, result);
    if (spoilt) KG_TRY(measure_rounding(s));
    judge_rounding(s, result);
    // The residual may have lain in the work, but for one that was rounded away from there.
    if (spoilt && any_runs(s) && s->system->gain == 0.0) KG_TRY(start(s));
    for (int v = 0; v < s->n; ++v) {
      rhs *const of = &s->of[v];
      if (of->runs && !(of->rr < 0.25 * of->rr_before)) stop(of, KEDGE_STOP_ROUNDING, &result[v]);
    }
  }
  return KEDGE_OK;
}

/// The r . r to which tolerances are relative, from that of x_0 and b . b. A large stabilization
/// multiplies the jumps of x_0 where Dirichlet edges end, and only them: b has none of it.
static double reference(const kg_system_rule *rule, double rr, double bb)
{
  const double ratio = rule->stabilization_ratio;
  return ratio > 1.0 ? fmin(rr, bb + rr / (ratio * ratio)) : rr;
}

/// Make the residuals of x_0, and the targets that the tolerances mean.
static kedge_status refer(solve *s)
{
  double bb[KG_VECTORS] = {0.0};
  if (s->rules->stabilization_ratio > 1.0) {  // without a gain b has no product, and costs little
    for (int v = 0; v < s->n; ++v) s->of[v].residuals += s->system->gain > 0.0;
    KG_TRY(make_residual(s, true, bb));
  }
  KG_TRY(start(s));
  for (int v = 0; v < s->n; ++v) {
    rhs *const of = &s->of[v];
    const double tolerance = s->rules[v].tolerance;
    of->rr_start = reference(&s->rules[v], of->rr, bb[v]);
    KG_REQUIRE(s->ctx, of->rr_start == 0.0 || of->rr_start >= KG_SYSTEM_LEAST_RR, KEDGE_ERR_NUMERIC,
               KG_SYSTEM_TOO_SMALL, sqrt(of->rr_start));
    of->aim = of->tolerance_rr = tolerance * tolerance * of->rr_start;
  }
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

static void report(const solve *s, int v, kg_system_result *result)
{
  const rhs *const of = &s->of[v];
  result->iterations = s->iterated[v].iterations;
  result->relative_residual = sqrt(of->rr / of->rr_start);
  result->rounding_residual = sqrt(of->rr_rounding / of->rr_start);
  result->energy = s->iterated[v].energy;
  result->rr = of->rr;
  result->converged = is_converged(&s->rules[v], result);
}

static kedge_status solve_system(solve *s, kg_system_result *result)
{
  KG_TRY(refer(s));
  if (s->system->warm && s->of->rr_start > 0.0) KG_TRY(warm(s));
  for (int v = 0; v < s->n; ++v) {
    rhs *const of = &s->of[v];
    result[v].converged = of->rr <= of->tolerance_rr;
    of->runs = of->rr_start > 0.0 && !result[v].converged;
    if (of->rr_start > 0.0) result[v].start_residual = sqrt(of->rr / of->rr_start);
  }
  KG_TRY(iterate_and_restart(s, result));
  for (int v = 0; v < s->n; ++v)
    if (s->of[v].rr_start > 0.0) report(s, v, &result[v]);
  return KEDGE_OK;
}

kedge_status kg_system_solve(kedge_context *ctx, const kg_system *system,
                             const kg_system_rule *rule, kg_system_result *result)
{
  solve s = begin(ctx, system, rule);
  for (int v = 0; v < s.n; ++v) result[v] = (kg_system_result){0};
  const kedge_status status = solve_system(&s, result);
  for (int v = 0; v < s.n; ++v) {
    result[v].residuals = s.of[v].residuals;
    result[v].roundings = s.of[v].roundings;
  }
  if (!system->keeps) system->krylov->table->free(ctx, system->krylov);
  return status;
}

static kedge_status go_on(solve *s, kg_system_further *f)
{
  kg_krylov *const k = s->system->krylov;
  rhs *const of = s->of;
  listener heard = {s, 0};
  const kg_rule rule = {
      .max_iterations = f->most, .progress = report_progress, .user = &heard, .part = f->part};
  KG_TRY(warm(s));
  KG_TRY(measure_rounding(s));
  KG_TRY(start(s));  // rounding was measured where the residual may lie
  of->rr_start = f->rr = of->rr;
  f->rr_rounding = of->rr_rounding;
  KG_TRY(kg_zero(s->ctx, k->x, (size_t)k->linear->all_rows * sizeof *k->x));
  if (of->rr == 0.0) return KEDGE_OK;
  const kedge_status status = k->table->iterate(s->ctx, k, k->precond, &of->rr, &rule, s->iterated);
  f->iterations = s->iterated->iterations;
  return status;
}

kedge_status kg_system_go_on(kedge_context *ctx, const kg_system *system,
                             const kg_system_rule *rule, kg_system_further *further)
{
  solve s = begin(ctx, system, rule);
  const kedge_status status = go_on(&s, further);
  if (!system->keeps) system->krylov->table->free(ctx, system->krylov);
  return status;
}

kedge_status kg_system_measure(kedge_context *ctx, const kg_system *system,
                               const kg_system_rule *rule, kg_system_result *result)
{
  solve s = begin(ctx, system, rule);
  const rhs *const of = s.of;
  *result = (kg_system_result){0};
  KG_TRY(refer(&s));
  KG_TRY(warm(&s));
  result->start_residual = of->rr > 0.0 ? sqrt(of->rr / of->rr_start) : 0.0;
  result->relative_residual = result->start_residual;
  result->converged = of->rr <= of->tolerance_rr;
  result->stop = result->converged ? KEDGE_STOP_TOLERANCE : KEDGE_STOP_LIMIT;
  result->residuals = of->residuals;
  return KEDGE_OK;
}
