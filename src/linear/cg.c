// Conjugate gradients iterate from a residual to a stop. Their scalars are on the device; the host
// launches batches of iterations and reads the scalars in between.
#include "linear/cg.h"

#include <math.h>

#include "core/clock.h"
#include "device/context.h"
#include "core/nvtx.h"
#include "ops/vector/round.h"

enum { BATCH = 8 };  // iterations of one recording, where M is pointwise

kg_cg kg_cg_of(const kg_krylov_table *table, const kg_cg_args *a)
{
  const bool single = a->linear->number == KG_SINGLE;
  kg_cg cg = {.base = {.table = table,
                       .linear = a->linear,
                       .precond = a->precond,
                       .x = a->x,
                       .r = a->r,
                       .p = a->p,
                       .ap = a->ap,
                       .z = a->precond->pointwise ? NULL : a->z,
                       .sum = {a->part, &a->state->rr, NULL},
                       .exponent = single ? &a->state->exponent : NULL},
              .v = {.n = a->linear->rows,
                    .inverse = a->precond->inverse,
                    .x = a->x,
                    .partial = a->part,
                    .state = a->state,
                    .steps = a->steps},
              .product_part = a->product_part,
              .work = a->work,
              .plan = a->plan,
              .repeat = {.stop = &a->state->stop}};
  if (single) {
    cg.v.r_single = a->r;
    cg.v.p_single = a->p;
    cg.v.ap_single = a->ap;
  } else {
    cg.v.r = a->r;
    cg.v.p = a->p;
    cg.v.ap = a->ap;
  }
  if (a->precond->number == KG_SINGLE)
    cg.v.z_single = a->z;
  else
    cg.v.z = a->z;
  return cg;
}

/// A p. Rows that the product leaves open are closed by the update.
static kedge_status multiply(kedge_context *ctx, kg_cg *cg)
{
  kg_cg_state *state = cg->v.state;
  const kg_pass pass = {.stop = &state->stop,
                        .sum = {cg->product_part, &state->p_ap, NULL},
                        .open = &cg->v.open,
                        .after_vectors = true};
  return kg_linear_apply(ctx, cg->base.linear, cg->base.p, cg->base.ap, &pass);
}

static kedge_status precondition(kedge_context *ctx, const kg_cg *cg)
{
  const kg_linear *a = cg->base.linear;
  const kg_precond *m = cg->base.precond;
  kg_cg_state *state = cg->v.state;
  const kg_pass pass = {.stop = &state->stop, .sum = {cg->v.partial, &state->rz_next, NULL}};
  kg_range_push("precondition", a->n_elements, a->rows);
  const kedge_status status = m->table->apply(ctx, m, cg->base.r, cg->base.z, &pass);
  kg_range_pop();
  return status;
}

/// Arguments of an iteration, which a recording keeps.
typedef struct recorded {
  kedge_context *ctx;
  kg_cg *cg;
} recorded;

static kedge_status iterate_pointwise(void *user)
{
  const recorded *r = user;
  for (int i = 0; i < BATCH; ++i) {
    KG_TRY(multiply(r->ctx, r->cg));
    KG_TRY(kg_cg_update(r->ctx, &r->cg->v));
    KG_TRY(kg_cg_direction(r->ctx, &r->cg->v));
  }
  return KEDGE_OK;
}

/// A preconditioner that is more than a diagonal makes few iterations: one a recording.
static kedge_status iterate_preconditioned(void *user)
{
  const recorded *r = user;
  KG_TRY(precondition(r->ctx, r->cg));
  KG_TRY(kg_plan_enter(r->ctx, r->cg->plan, KG_PHASE_STEP));
  KG_TRY(kg_pcg_direction(r->ctx, &r->cg->v));
  KG_TRY(multiply(r->ctx, r->cg));
  return kg_pcg_update(r->ctx, &r->cg->v);
}

static kedge_status launch_recordings(kedge_context *ctx, kg_cg *cg, int batches)
{
  recorded r = {ctx, cg};
  const bool pointwise = cg->base.precond->pointwise;
  return kg_repeat_run(ctx, &cg->repeat, batches,
                       pointwise ? iterate_pointwise : iterate_preconditioned, &r);
}

/// What the iteration so far says of the error that it leaves, where it is the longest of a solve.
static void look_back(const kg_cg *cg, kg_iterated *result)
{
  const kg_cg_state *const s = &cg->state;
  const bool pointwise = cg->base.precond->pointwise;  // then r . z is that of the last residual
  if (cg->lanczos.n <= result->longest || !(s->rr > 0.0)) return;
  result->longest = cg->lanczos.n;
  result->energy = kg_lanczos_energy(&cg->lanczos, pointwise ? s->rz_next / s->rr : 0.0);
}

static int batch_length(const kg_cg *cg)
{
  return cg->base.precond->pointwise ? BATCH : 1;
}

/// Batches until the next check: few at first, for solves that end soon. Where the host has to look
/// for the stop itself, 64 iterations at most are launched in vain, and none with a preconditioner,
/// whose operators do not look for it; else only the progress wants it.
static int next_batches(const kg_cg *cg, int batches, double seconds)
{
  const int length = batch_length(cg);
  const bool more = seconds < 0.1 && 2 * batches * length <= KG_CG_STEPS &&
                    (cg->repeat.watches || (batches < 8 && cg->base.precond->pointwise));
  return more ? 2 * batches : batches;
}

/// Read the state, and the first step where it is asked how far r . z has come since.
static kedge_status read_state(kedge_context *ctx, kg_cg *cg)
{
  KG_TRY(kg_copy_out(ctx, &cg->state, cg->v.state, sizeof cg->state));
  if (!cg->brief || cg->lanczos.n > 0) return KEDGE_OK;
  return kg_lanczos_take(ctx, &cg->lanczos, cg->v.steps, cg->state.iterations);
}

/// Whether r . z has become the part of what it was that the rule asks for.
static bool is_part(const kg_cg *cg, const kg_rule *rule)
{
  return rule->part > 0.0 && cg->lanczos.n > 0 &&
         cg->state.rz <= rule->part * cg->lanczos.step[0].rz;
}

/// The first direction. With a preconditioner that is z = M r (rz = 0), which the iteration makes.
static kedge_status begin(kedge_context *ctx, kg_cg *cg, double rr, const kg_rule *rule,
                          int64_t iterations)
{
  const kg_precond *m = cg->base.precond;
  cg->state = (kg_cg_state){.rr = rr,
                            .target = rule->target,
                            .iterations = iterations,
                            .steps = iterations,
                            .max_iterations = rule->max_iterations,
                            .exponent = cg->base.exponent ? kg_round_exponent(rr) : 0};
  kg_lanczos_begin(&cg->lanczos, iterations);
  cg->brief = rule->part > 0.0;
  KG_TRY(kg_copy_in(ctx, cg->v.state, &cg->state, sizeof cg->state));
  if (m->table->begin) KG_TRY(m->table->begin(ctx, m, 1, &rr));
  return m->pointwise ? kg_cg_begin(ctx, &cg->v) : KEDGE_OK;
}

/// Name, for a sentence, what to try first where rounding to single precision may be to blame.
static const char *instead_of(kg_number number)
{
  return number == KG_SINGLE ? "take precision = double, " : "";
}

/// Say why r . M r is not positive.
static kedge_status refuse_preconditioner(kedge_context *ctx, const kg_krylov *k,
                                          const kg_cg_state *s)
{
  if (k->precond->pointwise)
    return KG_FAIL(
        ctx, KEDGE_ERR_NUMERIC,
        "the diagonal of the trace operator is not positive in double precision: check the mesh "
        "for nearly degenerate elements, or choose a stabilization nearer to diffusion / h");
  return KG_FAIL(
      ctx, KEDGE_ERR_NUMERIC,
      "the %s preconditioner is not positive definite (r.Mr = %g in iteration %lld): "
      "%scheck the mesh for nearly degenerate elements, choose a stabilization nearer to "
      "diffusion / h, or take %s",
      k->precond->table->name, s->rz_next, (long long)s->iterations + 1,
      instead_of(k->precond->number), k->precond->remedy);
}

kedge_status kg_cg_check_stop(kedge_context *ctx, const kg_krylov *k, const kg_cg_state *s)
{
  KG_REQUIRE(ctx, s->stop != KG_CG_INDEFINITE, KEDGE_ERR_NUMERIC,
             "the trace operator is not positive definite (p.Ap = %g in iteration %lld): %scheck "
             "the mesh for nearly degenerate elements, choose a stabilization nearer to diffusion "
             "/ h, or, with Neumann conditions alone, a reaction that is not negligible beside the "
             "diffusion",
             s->p_ap, (long long)s->iterations + 1, instead_of(k->linear->number));
  if (s->stop == KG_CG_PRECONDITIONER) return refuse_preconditioner(ctx, k, s);
  KG_REQUIRE(ctx, s->stop != KG_CG_NOT_FINITE, KEDGE_ERR_NUMERIC,
             "conjugate gradients met NaN or infinity after %lld iterations: check the source, "
             "coefficients and boundary values for overflow",
             (long long)s->iterations);
  return KEDGE_OK;
}

kedge_status kg_cg_iterate(kedge_context *ctx, kg_cg *cg, kg_cg_launch *launch, double rr,
                           const kg_rule *rule, kg_iterated *result)
{
  const kg_linear *a = cg->base.linear;
  int batches = 1;
  KG_TRY(begin(ctx, cg, rr, rule, result->iterations));
  while (cg->state.stop == KG_CG_RUNNING && !is_part(cg, rule)) {
    const double began = kg_seconds();
    kg_range_push("cg_iterations", a->n_elements, a->rows);
    kedge_status status = launch(ctx, cg, batches);
    kg_range_pop();
    KG_TRY(status);
    kg_range_push("cg_check", a->n_elements, a->rows);
    status = read_state(ctx, cg);
    if (status == KEDGE_OK && rule->progress)
      status = rule->progress(rule->user, cg->state.iterations, cg->state.rr);
    kg_range_pop();
    KG_TRY(status);
    if (!cg->brief) batches = next_batches(cg, batches, kg_seconds() - began);
    const int next = batches * batch_length(cg);
    KG_TRY(kg_lanczos_spare(ctx, &cg->lanczos, cg->v.steps, cg->state.iterations,
                            next > KG_CG_LAUNCH ? next : KG_CG_LAUNCH));
  }
  KG_TRY(kg_lanczos_take(ctx, &cg->lanczos, cg->v.steps, cg->state.iterations));
  look_back(cg, result);
  result->iterations = cg->state.iterations;
  result->rr = cg->state.rr;
  result->at_limit = cg->state.stop == KG_CG_LIMIT;
  return cg->brief ? KEDGE_OK : kg_cg_check_stop(ctx, &cg->base, &cg->state);
}

static kedge_status iterate(kedge_context *ctx, kg_krylov *base, double rr, const kg_rule *rule,
                            kg_iterated *result)
{
  return kg_cg_iterate(ctx, (kg_cg *)base, launch_recordings, rr, rule, result);
}

static bool takes(kedge_context *ctx, const kg_linear *linear, const kg_precond *precond)
{
  (void)ctx;
  return linear->symmetric && (!precond->pointwise || linear->number == KG_DOUBLE);
}

kg_cost kg_cg_cost(const kg_krylov *k)
{
  return k->precond->pointwise ? kg_cg_vectors_cost(k->linear->rows)
                               : kg_pcg_vectors_cost(k->linear->rows, k->linear->number);
}

void kg_cg_free(kedge_context *ctx, kg_krylov *base)
{
  kg_cg *const cg = (kg_cg *)base;
  kg_repeat_free(ctx, &cg->repeat);
  kg_lanczos_free(&cg->lanczos);
}

const kg_krylov_table kg_cg_loop = {takes, iterate, kg_cg_cost, kg_cg_free};
