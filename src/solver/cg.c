// One solve of the trace system by conjugate gradients: first residual, batches of iterations, and
// restarts where rounding has let the recurrence part from the residual. One file, because all of
// it reads and moves one `solve`; what an end means is in cg_end.c.
#include "solver/cg.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/nvtx.h"
#include "multigrid/bound.h"
#include "ops/advice.h"
#include "ops/pcg_vectors.h"
#include "ops/rounding.h"

/// One solve: what stays the same through restarts.
typedef struct solve {
  kedge_context *ctx;
  kg_trace_operator op;
  kg_cg_vectors_args v;  ///< v.open: what the last product of the iteration left open
  kg_cg_settings settings;
  kg_cg_state state;         ///< host copy, as of the last check
  double rr_start;           ///< of the residual that tolerances are relative to
  double tolerance_rr;       ///< r . r at the tolerance
  double rr_rounding;        ///< r . r that storing x makes; 0: not measured
  int residuals, roundings;  ///< made from x, or as one is; measured
  double began;
  kg_repeat repeat;  ///< a batch of iterations
} solve;

static kedge_status apply(const solve *s, const void *x, void *y, kg_pass pass)
{
  kg_range_push("trace_apply", s->settings.n_elements, s->v.n);
  const kedge_status status = kg_trace_operator_apply(s->ctx, &s->op, x, y, pass);
  kg_range_pop();
  return status;
}

/// A p
static kedge_status apply_to_direction(const solve *s, kg_pass pass)
{
  const kg_cg_vectors_args *v = &s->v;
  return v->p_single ? apply(s, v->p_single, v->ap_single, pass) : apply(s, v->p, v->ap, pass);
}

/// A p of an iteration. The edges between patches need no pass of their own: the update finds their
/// rows in the halo.
static kedge_status multiply_direction(solve *s)
{
  kg_cg_state *state = s->v.state;
  return apply_to_direction(s, (kg_pass){.stop = &state->stop,
                                         .sum = {s->op.partial, &state->p_ap, NULL},
                                         .open = &s->v.open,
                                         .after_vectors = true});
}

static kedge_status read_state(solve *s)
{
  return kg_copy_out(s->ctx, &s->state, s->v.state, sizeof s->state);
}

static kedge_status report_progress(const solve *s)
{
  const double relative = sqrt(s->state.rr / s->rr_start);
  kg_range_residual(relative);
  return kg_progress(s->ctx, &(kedge_progress){.stage = "trace_solve",
                                               .seconds = kg_seconds() - s->began,
                                               .iteration = s->state.iterations,
                                               .relative_residual = relative,
                                               .tolerance = s->settings.tolerance});
}

/// r = b - A x; or of x = 0, without boundary values.
static kedge_status make_residual(const solve *s, bool of_zero)
{
  const kg_cg_refinement *refinement = s->settings.refinement;
  if (refinement) return refinement->start(refinement->user, of_zero);
  if (of_zero)
    KG_TRY(kg_zero(s->ctx, s->v.ap, (size_t)s->v.n * sizeof *s->v.ap));
  else
    KG_TRY(apply(s, s->v.x, s->v.ap, (kg_pass){0}));
  kg_cg_vectors_args v = s->v;
  v.open = (kg_open){0};  // that product is complete
  return s->settings.multigrid ? kg_pcg_start(s->ctx, &v) : kg_cg_start(s->ctx, &v);
}

/// The residual b - A x from scratch, and the first direction.
static kedge_status start(solve *s)
{
  ++s->residuals;
  KG_TRY(make_residual(s, false));
  KG_TRY(read_state(s));
  const bool has_residual = isfinite(s->state.rr), finite = has_residual && isfinite(s->state.rz);
  KG_REQUIRE(
      s->ctx, finite || !has_residual || s->state.iterations > 0, KEDGE_ERR_NUMERIC,
      "the diagonal of the trace operator is not positive in double precision: check the mesh "
      "for nearly degenerate elements, or choose a stabilization nearer to diffusion / h");
  KG_REQUIRE(
      s->ctx, finite || s->state.iterations > 0, KEDGE_ERR_NUMERIC,
      "the trace system holds NaN or infinity before the first iteration: check the mesh for "
      "nearly degenerate elements, and the source, coefficients and boundary values for overflow");
  KG_REQUIRE(s->ctx, finite, KEDGE_ERR_NUMERIC,
             "the residual recomputed after %lld iterations is NaN or infinity: check the source, "
             "coefficients and boundary values for overflow",
             (long long)s->state.iterations);
  return KEDGE_OK;
}

enum {
  BATCH = 8,             // iterations of one recording
  RESIDENT_STEPS = 256,  // most iterations of one kernel: a millisecond or two
};

static kedge_status iterate(void *user)
{
  solve *s = user;
  for (int i = 0; i < BATCH; ++i) {
    KG_TRY(multiply_direction(s));
    KG_TRY(kg_cg_update(s->ctx, &s->v));
    KG_TRY(kg_cg_direction(s->ctx, &s->v));
  }
  return KEDGE_OK;
}

static kedge_status precondition(const solve *s, bool well)
{
  kg_range_push("precondition", s->settings.n_elements, s->v.n);
  const kg_multigrid_vectors v = kg_multigrid_vectors_of(&s->v);
  const kedge_status status =
      kg_multigrid_apply(s->ctx, s->settings.multigrid, well, &s->op.matrix_free, &v);
  kg_range_pop();
  return status;
}

/// @param[in] well  the coarse system is solved well
static kedge_status step_multigrid(solve *s, bool well)
{
  KG_TRY(precondition(s, well));
  KG_TRY(kg_pcg_direction(s->ctx, &s->v));
  KG_TRY(multiply_direction(s));
  return kg_pcg_update(s->ctx, &s->v);
}

/// Iterates with multigrid, one iteration a recording, because there are few.
static kedge_status iterate_multigrid(void *user)
{
  return step_multigrid(user, false);
}

/// What is launched between two checks: recordings, or one kernel that keeps everything on the
/// multiprocessors.
static kedge_status launch(solve *s, int batches)
{
  kg_range_push("cg_iterations", s->settings.n_elements, s->v.n);
  kedge_status status;
  if (s->settings.resident_work)
    status = kg_cg_resident(s->ctx, &(kg_cg_resident_args){.batch = s->op.matrix_free.batch,
                                                           .local = s->op.matrix_free.local,
                                                           .vectors = s->v,
                                                           .work = s->settings.resident_work,
                                                           .steps = RESIDENT_STEPS});
  else
    status = kg_repeat_run(s->ctx, &s->repeat, batches,
                           s->settings.multigrid ? iterate_multigrid : iterate, s);
  kg_range_pop();
  return status;
}

/// Batches until the next check: few at first, for solves that end soon. Where the host has to look
/// for the stop itself, 64 iterations at most are launched in vain, and none with multigrid, whose
/// operators do not look for it; else only the progress wants it.
static int next_batches(const solve *s, int batches, double seconds)
{
  const bool more = s->repeat.watches ? seconds < 0.1 : batches < 8 && !s->settings.multigrid;
  return more ? 2 * batches : batches;
}

/// What storing x makes of the residual: once, as what x still changes by is little beside x. Work
/// is p and A p, which are made anew after it.
static kedge_status measure_rounding(solve *s)
{
  const double rr = s->state.rr;
  ++s->roundings;
  kg_range_push("rounding", s->settings.n_elements, s->v.n);
  const kg_cg_vectors_args *v = &s->v;
  const bool single = v->r_single != NULL;
  const kg_rounding_args args = {.n = v->n,
                                 .x = v->x,
                                 .number = kg_cg_number(v),
                                 .p = single ? (void *)v->p_single : v->p,
                                 .ap = single ? (void *)v->ap_single : v->ap,
                                 .exponent = single ? &v->state->exponent : NULL,
                                 .part = v->partial,
                                 .total = &v->state->rr};
  kedge_status status = kg_rounding_perturb(s->ctx, &args);
  if (status == KEDGE_OK) status = apply_to_direction(s, (kg_pass){0});
  if (status == KEDGE_OK) status = kg_rounding_sum(s->ctx, &args);
  if (status == KEDGE_OK) status = read_state(s);
  kg_range_pop();
  s->rr_rounding = s->state.rr;
  s->state.rr = rr;
  return status;
}

/// The residual is that of a source: smooth. It stays so only where the coarse system is solved
/// well (docs/multigrid.md#the-first-iteration).
static bool begins_smooth(const solve *s)
{
  const double little = 0.1, boundary = s->settings.boundary_residual;
  return s->settings.multigrid && s->state.iterations == 0 &&
         boundary * boundary < little * little * s->state.rr;
}

/// Rounding leaves some DBL_EPSILON times the number of triangles of a smooth residual. Where that
/// may be more than the tolerance, measure it: further down only the recurrence converges.
static kedge_status raise_target(solve *s)
{
  if (DBL_EPSILON * (double)s->settings.n_elements < s->settings.tolerance) return KEDGE_OK;
  KG_TRY(measure_rounding(s));
  s->state.target = fmax(s->state.target, s->rr_rounding);
  return KEDGE_OK;
}

/// An iteration of its own: the next begins anew (rz = 0), as its preconditioner is another one.
static kedge_status step_well(solve *s)
{
  KG_TRY(step_multigrid(s, true));
  KG_TRY(read_state(s));
  KG_TRY(report_progress(s));
  if (s->state.stop == KG_CG_RUNNING) KG_TRY(raise_target(s));
  s->state.rz = 0.0;
  return kg_copy_in(s->ctx, s->v.state, &s->state, sizeof s->state);
}

/// What helps where one step smooths too far: more have its bound measured (multigrid/smoother.h).
static const char *instead_of_estimate(const solve *s)
{
  const kg_multigrid_shape *shape = &s->settings.multigrid->shape;
  if (shape->smoothing_steps != 1 || kg_multigrid_is_measured(shape)) return "";
  return shape->smoother == KEDGE_SMOOTHER_EDGE
             ? "smoothing_steps = 2, which measures the bound of its smoother, smoother = line "
               "where triangles are thin, or "
             : "smoothing_steps = 2, which measures the bound of its smoother, or ";
}

/// What to try first where rounding to single precision may be to blame.
static const char *instead_of_single(bool is_single)
{
  return is_single ? "take precision = double, " : "";
}

/// Iterate until a kernel stops.
static kedge_status run(solve *s)
{
  int batches = 1;
  s->state.stop = KG_CG_RUNNING;
  KG_TRY(kg_copy_in(s->ctx, s->v.state, &s->state, sizeof s->state));
  if (begins_smooth(s)) KG_TRY(step_well(s));
  while (s->state.stop == KG_CG_RUNNING) {
    const double began = kg_seconds();
    KG_TRY(launch(s, batches));
    kg_range_push("cg_check", s->settings.n_elements, s->v.n);
    kedge_status status = read_state(s);
    if (status == KEDGE_OK) status = report_progress(s);
    kg_range_pop();
    KG_TRY(status);
    batches = next_batches(s, batches, kg_seconds() - began);
  }
  KG_REQUIRE(
      s->ctx, s->state.stop != KG_CG_INDEFINITE, KEDGE_ERR_NUMERIC,
      "the trace operator is not positive definite (p.Ap = %g in iteration %lld): %scheck the "
      "mesh for nearly degenerate elements, choose a stabilization nearer to diffusion / h, or, "
      "with Neumann conditions alone, a reaction that is not negligible beside the diffusion",
      s->state.p_ap, (long long)s->state.iterations + 1,
      instead_of_single(s->settings.refinement != NULL));
  KG_REQUIRE(s->ctx, s->state.stop != KG_CG_PRECONDITIONER, KEDGE_ERR_NUMERIC,
             "the multigrid preconditioner is not positive definite (r.Mr = %g in iteration %lld): "
             "%scheck the mesh for nearly degenerate elements, choose a stabilization nearer to "
             "diffusion / h, or take %s" KG_WITHOUT_MULTIGRID,
             s->state.rz_next, (long long)s->state.iterations + 1,
             instead_of_single(s->settings.multigrid->shape.number == KG_SINGLE),
             instead_of_estimate(s));
  KG_REQUIRE(s->ctx, s->state.stop != KG_CG_NOT_FINITE, KEDGE_ERR_NUMERIC,
             "conjugate gradients met NaN or infinity after %lld iterations: check the source, "
             "coefficients and boundary values for overflow",
             (long long)s->state.iterations);
  return KEDGE_OK;
}

/// A true residual of so many times what storing x makes of it is rounding. Without a restart
/// multigrid ends at 2.8 to 4.2 times, at 16 on stretched triangles; Jacobi, whose rounding adds up
/// over more iterations, at 12 to 28; restarts bring 1.3 to 10 (profiling/cases/poisson.ini, 2048
/// and 32,768 triangles, tolerance 1e-15).
enum { ROUNDING_NEAR = 16 };

/// Whether a restart may lower a residual above the tolerance. It aims at the tolerance, whoever
/// chose it, where rounding leaves room for that.
static bool can_gain(const solve *s)
{
  const bool has_room = s->rr_rounding < s->tolerance_rr;
  return has_room || s->state.rr > ROUNDING_NEAR * ROUNDING_NEAR * s->rr_rounding;
}

/// Where the recurrence stops on its way to r . r = aim. That of a rounded A drifts from the
/// residual: a little below the aim, so that the residual made anew is there too, but no further
/// than it follows.
static double next_target(const solve *s, double aim)
{
  if (!s->settings.refinement) return aim;
  const double gain = s->settings.refinement->gain;
  return fmax(0.25 * aim, s->state.rr / (gain * gain));
}

/// Iterate, recompute the residual, restart while that gains something.
static kedge_status iterate_and_restart(solve *s, kg_cg_result *result)
{
  double rr_before = INFINITY, aim = s->tolerance_rr;
  result->stop = KEDGE_STOP_ROUNDING;
  while (s->state.rr < 0.25 * rr_before) {
    rr_before = s->state.rr;
    s->state.target = next_target(s, aim);
    ++result->starts;
    KG_TRY(run(s));
    const bool cut = s->state.stop == KG_CG_LIMIT;
    const bool at_limit = s->state.iterations >= s->settings.max_iterations;
    KG_TRY(start(s));
    if (s->state.rr <= s->tolerance_rr || cut) {
      result->stop = s->state.rr <= s->tolerance_rr ? KEDGE_STOP_TOLERANCE : KEDGE_STOP_LIMIT;
      return KEDGE_OK;
    }
    const bool spoilt = s->roundings == 0;
    if (spoilt) KG_TRY(measure_rounding(s));
    if (!can_gain(s)) return KEDGE_OK;
    if (at_limit) {
      result->stop = KEDGE_STOP_LIMIT;
      return KEDGE_OK;
    }
    aim = fmax(s->tolerance_rr, s->rr_rounding);
    // With a refinement p is multiplied by beta = 0 first.
    if (spoilt && !s->settings.refinement) KG_TRY(start(s));
  }
  return KEDGE_OK;
}

/// b . b; the vectors are work. Without refinement this has no product, and costs next to nothing.
static kedge_status measure_right_hand_side(solve *s, double *bb)
{
  if (s->settings.refinement) ++s->residuals;
  KG_TRY(make_residual(s, true));
  KG_TRY(read_state(s));
  *bb = s->state.rr;
  return KEDGE_OK;
}

/// What tolerances are relative to, from r . r of x_0. A large stabilization multiplies the jumps
/// of x_0 where Dirichlet edges end, and only them: b has none of it.
static double reference_of(const solve *s, double bb)
{
  const double ratio = s->settings.stabilization_ratio, rr = s->state.rr;
  return ratio > 1.0 ? fmin(rr, bb + rr / (ratio * ratio)) : rr;
}

/// The residual of the x that is there, and what tolerances mean by it.
static kedge_status begin(solve *s)
{
  double bb = 0.0;
  if (s->settings.stabilization_ratio > 1.0) KG_TRY(measure_right_hand_side(s, &bb));
  KG_TRY(start(s));
  s->rr_start = reference_of(s, bb);
  KG_REQUIRE(s->ctx, s->rr_start == 0.0 || s->rr_start >= KG_CG_LEAST_RR, KEDGE_ERR_NUMERIC,
             KG_CG_TOO_SMALL, sqrt(s->rr_start));
  s->tolerance_rr = s->settings.tolerance * s->settings.tolerance * s->rr_start;
  s->state.max_iterations = s->settings.max_iterations;
  s->state.iterations = 0;
  return KEDGE_OK;
}

static kedge_status solve_system(solve *s, kg_cg_result *result)
{
  if (s->settings.resident_work) {
    const kg_batch *batch = &s->op.matrix_free.batch;
    KG_TRY(kg_zero(s->ctx, s->settings.resident_work,
                   kg_cg_resident_bytes(s->ctx, batch->reference.size, &batch->count)));
  }
  KG_TRY(begin(s));
  result->converged = s->state.rr <= s->tolerance_rr;
  if (s->rr_start == 0.0) return KEDGE_OK;
  result->start_residual = sqrt(s->state.rr / s->rr_start);
  if (!result->converged) KG_TRY(iterate_and_restart(s, result));
  result->iterations = s->state.iterations;
  result->relative_residual = sqrt(s->state.rr / s->rr_start);
  result->rounding_residual = sqrt(s->rr_rounding / s->rr_start);
  kg_cg_judge_end(&s->settings, result);
  return KEDGE_OK;
}

kedge_status kg_cg_solve(kedge_context *ctx, const kg_trace_operator *op,
                         const kg_cg_vectors_args *vectors, kg_cg_settings settings,
                         kg_cg_result *result)
{
  solve s = {.ctx = ctx,
             .op = *op,
             .v = *vectors,
             .settings = settings,
             .began = kg_seconds(),
             .repeat = {.stop = &vectors->state->stop}};
  assert(!settings.resident_work || op->kind == KEDGE_OPERATOR_MATRIX_FREE);
  *result = (kg_cg_result){0};
  const kedge_status status = solve_system(&s, result);
  result->residuals = s.residuals;
  result->roundings = s.roundings;
  kg_repeat_free(ctx, &s.repeat);
  return status;
}
