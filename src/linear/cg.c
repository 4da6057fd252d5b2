// Conjugate gradients iterate from a residual to a stop. Their scalars are on the device; the host
// launches batches of iterations and reads the scalars in between. An iteration has three bodies:
// with a diagonal, with a preconditioner that is more, and of several right-hand sides.
#include "linear/cg.h"

#include "core/clock.h"
#include "core/nvtx.h"
#include "device/context.h"

enum { BATCH = 8 };  // iterations of one recording, where M is pointwise

/// Arguments of an iteration, which a recording keeps.
typedef struct recorded {
  kedge_context *ctx;
  kg_cg *cg;
  const kg_precond *precond;
} recorded;

/// A p. Rows that the product leaves open are closed by the update.
static kedge_status multiply(const recorded *r)
{
  kg_cg *const cg = r->cg;
  const kg_pass pass = {.stop = cg->repeat->stop,
                        .sum = {.part = cg->product_part,
                                .total = &cg->states->of->p_ap,
                                .stride = KG_CG_STRIDE,
                                .parts = cg->base.linear->n_parts},
                        .open = kg_cg_is_several(cg) ? &cg->advance.open : &cg->v.open,
                        .after_vectors = true};
  return kg_linear_apply(r->ctx, cg->base.linear, cg->p, cg->ap, &pass);
}

static kedge_status precondition(const recorded *r)
{
  const kg_cg *cg = r->cg;
  const kg_linear *a = cg->base.linear;
  const kg_pass pass = {.stop = cg->repeat->stop,
                        .sum = {.part = cg->part,
                                .total = &cg->states->of->rz_next,
                                .stride = KG_CG_STRIDE,
                                .parts = KG_PIECES}};
  kg_range_push("precondition", a->n_elements, a->rows);
  const kedge_status status = r->precond->table->apply(r->ctx, r->precond, cg->r, cg->z, &pass);
  kg_range_pop();
  return status;
}

static kedge_status iterate_pointwise(void *user)
{
  const recorded *r = user;
  for (int i = 0; i < BATCH; ++i) {
    KG_TRY(multiply(r));
    KG_TRY(kg_cg_update(r->ctx, &r->cg->v));
    KG_TRY(kg_cg_direction(r->ctx, &r->cg->v));
  }
  return KEDGE_OK;
}

/// A preconditioner that is more than a diagonal makes few iterations: one a recording.
static kedge_status iterate_preconditioned(void *user)
{
  const recorded *r = user;
  KG_TRY(precondition(r));
  KG_TRY(kg_plan_enter(r->ctx, r->cg->base.plan, KG_PHASE_STEP));
  KG_TRY(kg_pcg_direction(r->ctx, &r->cg->v));
  KG_TRY(multiply(r));
  return kg_pcg_update(r->ctx, &r->cg->v);
}

/// From the first part of z = M r to that of the next residual, which is made in it.
static kedge_status iterate_several(void *user)
{
  const recorded *r = user;
  kg_cg *const cg = r->cg;
  KG_TRY(precondition(r));
  KG_TRY(kg_pcg_many_direction(r->ctx, &cg->many));
  KG_TRY(multiply(r));
  KG_TRY(kg_pcg_many_step(r->ctx, &cg->many));
  KG_TRY(r->precond->table->start(r->ctx, r->precond, cg->r, cg->z, &cg->advance));
  return kg_pcg_many_count(r->ctx, &cg->many);
}

static kedge_status launch_recordings(kedge_context *ctx, kg_cg *cg, const kg_precond *m,
                                      int batches)
{
  recorded r = {ctx, cg, m};
  kg_repeat_body *const body = kg_cg_is_several(cg) ? iterate_several
                               : m->pointwise       ? iterate_pointwise
                                                    : iterate_preconditioned;
  return kg_repeat_run(ctx, &cg->repeat[m == cg->base.precond ? 0 : 1], batches, body, &r);
}

static int batch_length(const kg_precond *m)
{
  return m->pointwise ? BATCH : 1;
}

/// Batches until the next check: few at first, for solves that end soon. Where the host has to look
/// for the stop itself, 64 iterations at most are launched in vain, and none with a preconditioner,
/// whose operators do not look for it; else only the progress wants it.
static int next_batches(const kg_cg *cg, const kg_precond *m, int batches, double seconds)
{
  const bool watches = cg->repeat[m == cg->base.precond ? 0 : 1].watches;
  const bool more = seconds < 0.1 && 2 * batches * batch_length(m) <= KG_CG_STEPS &&
                    (watches || (batches < 8 && m->pointwise));
  return more ? 2 * batches : batches;
}

static bool has_stopped(const kg_cg *cg)
{
  return kg_cg_is_several(cg) ? cg->state.stop != 0 : cg->state.of->stop != KG_CG_RUNNING;
}

static size_t state_bytes(const kg_cg *cg)
{
  return kg_cg_is_several(cg) ? sizeof cg->state : sizeof *cg->state.of;
}

/// The steps of a right-hand side.
static const kg_cg_step *steps_of(const kg_cg *cg, int vector)
{
  return cg->steps ? cg->steps + vector * KG_CG_STEPS : NULL;
}

/// Read the states, and the first step where it is asked how far r . z has come since.
static kedge_status read_states(kedge_context *ctx, kg_cg *cg)
{
  KG_TRY(kg_copy_out(ctx, &cg->state, cg->states, state_bytes(cg)));
  if (!cg->brief || cg->lanczos->n > 0) return KEDGE_OK;
  return kg_lanczos_take(ctx, cg->lanczos, cg->steps, cg->state.of->iterations);
}

/// Whether r . z has become the part of what it was that the rule asks for.
static bool is_part(const kg_cg *cg, const kg_rule *rule)
{
  return rule->part > 0.0 && cg->lanczos->n > 0 &&
         cg->state.of->rz <= rule->part * cg->lanczos->step[0].rz;
}

/// The first direction. With a preconditioner that is z = M r (rz = 0), which the iteration makes.
static kedge_status begin(kedge_context *ctx, kg_cg *cg, const kg_precond *m, const double *rr,
                          const kg_rule *rule, const kg_iterated *from)
{
  cg->state.stop = 1;
  for (int v = 0; v < cg->base.linear->n_rhs; ++v) {
    const bool runs = !kg_cg_is_several(cg) || rr[v] > rule[v].target;
    cg->state.of[v] = (kg_cg_state){.rr = rr[v],
                                    .target = rule[v].target,
                                    .iterations = from[v].iterations,
                                    .steps = from[v].iterations,
                                    .max_iterations = rule[v].max_iterations,
                                    .stop = runs ? KG_CG_RUNNING : KG_CG_CONVERGED,
                                    .exponent = cg->state.of[v].exponent};
    if (runs) cg->state.stop = 0;
    cg->lanczos[v].first = from[v].iterations;
    cg->lanczos[v].n = 0;
  }
  cg->brief = rule->part > 0.0;
  KG_TRY(kg_copy_in(ctx, cg->states, &cg->state, state_bytes(cg)));
  if (m->table->begin) KG_TRY(m->table->begin(ctx, m, rr));
  if (kg_cg_is_several(cg)) return m->table->start(ctx, m, cg->r, cg->z, NULL);
  return m->pointwise ? kg_cg_begin(ctx, &cg->v) : KEDGE_OK;
}

/// Tell of the right-hand side that is furthest from its target.
static kedge_status tell(const kg_cg *cg, const kg_rule *rule)
{
  int last = 0;
  double most = 0.0;
  for (int v = 0; v < cg->base.linear->n_rhs; ++v) {
    const kg_cg_state *s = &cg->state.of[v];
    if (!(s->target > 0.0) || s->rr / s->target <= most) continue;
    most = s->rr / s->target;
    last = v;
  }
  const kg_cg_state *s = &cg->state.of[last];
  return rule->progress ? rule->progress(rule[last].user, s->iterations, s->rr) : KEDGE_OK;
}

/// Name, for a sentence, what to try first where rounding to single precision may be to blame.
static const char *instead_of(kg_number number)
{
  return number == KG_SINGLE ? "take precision = double, " : "";
}

/// Say why r . M r is not positive.
static kedge_status refuse_preconditioner(kedge_context *ctx, const kg_precond *m,
                                          const kg_cg_state *s)
{
  if (m->pointwise)
    return KG_FAIL(
        ctx, KEDGE_ERR_NUMERIC,
        "the diagonal of the trace operator is not positive in double precision: check the mesh "
        "for nearly degenerate elements, or choose a stabilization nearer to diffusion / h");
  return KG_FAIL(
      ctx, KEDGE_ERR_NUMERIC,
      "the %s preconditioner is not positive definite (r.Mr = %g in iteration %lld): "
      "%scheck the mesh for nearly degenerate elements, choose a stabilization nearer to "
      "diffusion / h, or take %s",
      m->table->name, s->rz_next, (long long)s->iterations + 1, instead_of(m->linear->number),
      m->remedy);
}

/// A stop that is a failure, in a sentence.
static kedge_status check_stop(kedge_context *ctx, const kg_linear *a, const kg_precond *m,
                               const kg_cg_state *s)
{
  KG_REQUIRE(ctx, s->stop != KG_CG_INDEFINITE, KEDGE_ERR_NUMERIC,
             "the trace operator is not positive definite (p.Ap = %g in iteration %lld): %scheck "
             "the mesh for nearly degenerate elements, choose a stabilization nearer to diffusion "
             "/ h, or, with Neumann conditions alone, a reaction that is not negligible beside the "
             "diffusion",
             s->p_ap, (long long)s->iterations + 1, instead_of(a->number));
  if (s->stop == KG_CG_PRECONDITIONER) return refuse_preconditioner(ctx, m, s);
  KG_REQUIRE(ctx, s->stop != KG_CG_NOT_FINITE, KEDGE_ERR_NUMERIC,
             "conjugate gradients met NaN or infinity after %lld iterations: check the source, "
             "coefficients and boundary values for overflow",
             (long long)s->iterations);
  return KEDGE_OK;
}

/// What the iteration so far says of the error that it leaves, where it is the longest of a solve.
static void look_back(const kg_lanczos *lanczos, const kg_cg_state *s, bool pointwise,
                      kg_iterated *result)
{
  if (lanczos->n <= result->longest || !(s->rr > 0.0)) return;
  result->longest = lanczos->n;
  // With a diagonal r . z is that of the last residual.
  result->energy = kg_lanczos_energy(lanczos, pointwise ? s->rz_next / s->rr : 0.0);
}

static kedge_status end(kedge_context *ctx, kg_cg *cg, const kg_precond *m, int vector,
                        kg_iterated *result)
{
  const kg_cg_state *const s = &cg->state.of[vector];
  kg_lanczos *const lanczos = &cg->lanczos[vector];
  KG_TRY(kg_lanczos_take(ctx, lanczos, steps_of(cg, vector), s->iterations));
  look_back(lanczos, s, m->pointwise, result);
  result->iterations = s->iterations;
  result->rr = s->rr;
  result->at_limit = s->stop == KG_CG_LIMIT;
  return cg->brief ? KEDGE_OK : check_stop(ctx, cg->base.linear, m, s);
}

/// Launch, and look at what has come of it.
static kedge_status advance(kedge_context *ctx, kg_cg *cg, const kg_precond *m,
                            kg_cg_launch *launch, int batches, const kg_rule *rule)
{
  const kg_linear *a = cg->base.linear;
  kg_range_push("cg_iterations", a->n_elements, a->rows);
  kedge_status status = launch(ctx, cg, m, batches);
  kg_range_pop();
  KG_TRY(status);
  kg_range_push("cg_check", a->n_elements, a->rows);
  status = read_states(ctx, cg);
  if (status == KEDGE_OK) status = tell(cg, rule);
  kg_range_pop();
  return status;
}

kedge_status kg_cg_iterate(kedge_context *ctx, kg_cg *cg, const kg_precond *m, kg_cg_launch *launch,
                           const double *rr, const kg_rule *rule, kg_iterated *result)
{
  const int n = cg->base.linear->n_rhs;
  int batches = 1;
  KG_TRY(begin(ctx, cg, m, rr, rule, result));
  while (!has_stopped(cg) && !is_part(cg, rule)) {
    const double began = kg_seconds();
    KG_TRY(advance(ctx, cg, m, launch, batches, rule));
    if (!cg->brief) batches = next_batches(cg, m, batches, kg_seconds() - began);
    const int next = batches * batch_length(m);
    for (int v = 0; v < n; ++v)
      KG_TRY(kg_lanczos_spare(ctx, &cg->lanczos[v], steps_of(cg, v), cg->state.of[v].iterations,
                              next > KG_CG_LAUNCH ? next : KG_CG_LAUNCH));
  }
  if (n > 1) KG_TRY(kg_pcg_many_direction(ctx, &cg->many));  // x is a step behind
  for (int v = 0; v < n; ++v) KG_TRY(end(ctx, cg, m, v, &result[v]));
  return KEDGE_OK;
}

static kedge_status iterate(kedge_context *ctx, kg_krylov *base, const kg_precond *precond,
                            const double *rr, const kg_rule *rule, kg_iterated *result)
{
  return kg_cg_iterate(ctx, (kg_cg *)base, precond, launch_recordings, rr, rule, result);
}

static bool takes(const kg_linear *linear, const kg_precond *precond)
{
  const bool is_double = linear->number == KG_DOUBLE;
  if (!linear->symmetric || !precond->symmetric) return false;
  return precond->pointwise ? is_double && linear->n_rhs == 1 : is_double || linear->n_rhs == 1;
}

kg_cost kg_cg_cost(const kg_krylov *k)
{
  return k->precond->pointwise ? kg_cg_vectors_cost(k->linear->rows)
                               : kg_pcg_vectors_cost(k->linear->rows, k->linear->number);
}

void kg_cg_free(kedge_context *ctx, kg_krylov *base)
{
  kg_cg *const cg = (kg_cg *)base;
  for (int i = 0; i < 2; ++i) kg_repeat_free(ctx, &cg->repeat[i]);
  for (int v = 0; v < KG_VECTORS; ++v) kg_lanczos_free(&cg->lanczos[v]);
}

const kg_krylov_table kg_cg_loop = {.takes = takes,
                                    .declare = kg_cg_declare,
                                    .bind = kg_cg_bind,
                                    .take = kg_cg_take,
                                    .iterate = iterate,
                                    .cost = kg_cg_cost,
                                    .free = kg_cg_free};
