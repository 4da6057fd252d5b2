#include "linear/cg_many.h"

#include "core/nvtx.h"
#include "device/context.h"

kg_cg_many kg_cg_many_of(const kg_cg_many_args *a)
{
  kg_cg_many cg = {
      .base = {.linear = a->linear,
               .precond = a->precond,
               .x = a->x,
               .r = a->r,
               .p = a->p,
               .ap = a->ap,
               .z = a->z,
               .sum = {.part = a->part, .total = a->total, .stride = 1, .parts = KG_PIECES}},
      .v = {.n = a->linear->rows * KG_VECTORS,
            .x = a->x,
            .p = a->p,
            .states = a->states,
            .steps = a->steps},
      .advance = {.r = a->r,
                  .y = a->ap,
                  .factor = &a->states->of[0].factor,
                  .sum = {.part = a->part,
                          .total = &a->states->of[0].rr_next,
                          .stride = KG_CG_STRIDE,
                          .parts = KG_PIECES}},
      .product_sum = {.part = a->product_part,
                      .total = &a->states->of[0].p_ap,
                      .stride = KG_CG_STRIDE,
                      .parts = a->product_parts},
      .repeat = {.stop = &a->states->stop}};
  if (a->precond->number == KG_SINGLE)
    cg.v.z_single = a->z;
  else
    cg.v.z = a->z;
  return cg;
}

/// Arguments of an iteration, which a recording keeps.
typedef struct recorded {
  kedge_context *ctx;
  kg_cg_many *cg;
} recorded;

/// From the first part of z = M r to that of the next residual, which is made in it.
static kedge_status iterate_once(void *user)
{
  const recorded *r = user;
  kedge_context *const ctx = r->ctx;
  kg_cg_many *const cg = r->cg;
  const kg_krylov *const k = &cg->base;
  const kg_precond *const m = k->precond;
  kg_cg_states *const states = cg->v.states;
  const kg_pass precondition = {.stop = &states->stop,
                                .sum = {.part = k->sum.part,
                                        .total = &states->of[0].rz_next,
                                        .stride = KG_CG_STRIDE,
                                        .parts = KG_PIECES},
                                .many = true};
  const kg_pass multiply = {.stop = &states->stop,
                            .sum = cg->product_sum,
                            .open = &cg->advance.open,
                            .after_vectors = true,
                            .many = true};
  kg_range_push("precondition", k->linear->n_elements, k->linear->rows);
  const kedge_status status = m->table->apply(ctx, m, k->r, k->z, &precondition);
  kg_range_pop();
  KG_TRY(status);
  KG_TRY(kg_pcg_many_direction(ctx, &cg->v));
  KG_TRY(kg_linear_apply(ctx, k->linear, k->p, k->ap, &multiply));
  KG_TRY(kg_pcg_many_step(ctx, &cg->v));
  KG_TRY(m->table->start(ctx, m, k->r, k->z, &cg->advance));
  return kg_pcg_many_count(ctx, &cg->v);
}

static kedge_status begin(kedge_context *ctx, kg_cg_many *cg, const double *rr, const kg_rule *rule,
                          const kg_iterated *from)
{
  const kg_precond *m = cg->base.precond;
  cg->state.stop = 1;
  for (int v = 0; v < KG_VECTORS; ++v) {
    const bool runs = rr[v] > rule[v].target;
    cg->state.of[v] = (kg_cg_state){.rr = rr[v],
                                    .target = rule[v].target,
                                    .iterations = from[v].iterations,
                                    .steps = from[v].iterations,
                                    .max_iterations = rule[v].max_iterations,
                                    .stop = runs ? KG_CG_RUNNING : KG_CG_CONVERGED};
    if (runs) cg->state.stop = 0;
    kg_lanczos_begin(&cg->lanczos[v], from[v].iterations);
  }
  KG_TRY(kg_copy_in(ctx, cg->v.states, &cg->state, sizeof cg->state));
  if (m->table->begin) KG_TRY(m->table->begin(ctx, m, KG_VECTORS, rr));
  return m->table->start(ctx, m, cg->base.r, cg->base.z, NULL);
}

/// The vector that is furthest from its target.
static kedge_status tell(const kg_cg_many *cg, const kg_rule *rule)
{
  int last = 0;
  double most = 0.0;
  for (int v = 0; v < KG_VECTORS; ++v) {
    const kg_cg_state *s = &cg->state.of[v];
    if (!(s->target > 0.0) || s->rr / s->target <= most) continue;
    most = s->rr / s->target;
    last = v;
  }
  const kg_cg_state *s = &cg->state.of[last];
  return rule->progress ? rule->progress(rule[last].user, s->iterations, s->rr) : KEDGE_OK;
}

/// Read the states, and take steps before so many more overwrite them, or the last ones.
static kedge_status read_states(kedge_context *ctx, kg_cg_many *cg, int64_t more)
{
  KG_TRY(kg_copy_out(ctx, &cg->state, cg->v.states, sizeof cg->state));
  for (int v = 0; v < KG_VECTORS && cg->v.steps; ++v)
    KG_TRY(kg_lanczos_spare(ctx, &cg->lanczos[v], cg->v.steps + v * KG_CG_STEPS,
                            cg->state.of[v].iterations, cg->state.stop ? KG_CG_STEPS : more));
  return KEDGE_OK;
}

/// One recording is an iteration; more of them are launched where the device looks for the stop.
/// They leave x a step behind.
static kedge_status run(kedge_context *ctx, kg_cg_many *cg, const kg_rule *rule)
{
  const kg_linear *a = cg->base.linear;
  recorded r = {ctx, cg};
  for (int batches = 1; cg->state.stop == 0;) {
    kg_range_push("cg_iterations", a->n_elements, a->rows);
    kedge_status status = kg_repeat_run(ctx, &cg->repeat, batches, iterate_once, &r);
    kg_range_pop();
    KG_TRY(status);
    kg_range_push("cg_check", a->n_elements, a->rows);
    if (cg->repeat.watches && batches < 64) batches *= 2;
    status = read_states(ctx, cg, batches);
    if (status == KEDGE_OK) status = tell(cg, rule);
    kg_range_pop();
    KG_TRY(status);
  }
  return kg_pcg_many_direction(ctx, &cg->v);
}

kedge_status kg_cg_many_iterate(kedge_context *ctx, kg_cg_many *cg, const double *rr,
                                const kg_rule *rule, kg_iterated *result)
{
  KG_TRY(begin(ctx, cg, rr, rule, result));
  KG_TRY(run(ctx, cg, rule));
  for (int v = 0; v < KG_VECTORS; ++v) {
    const kg_cg_state *s = &cg->state.of[v];
    KG_TRY(kg_cg_check_stop(ctx, &cg->base, s));
    result[v].iterations = s->iterations;
    result[v].rr = s->rr;
    result[v].at_limit = s->stop == KG_CG_LIMIT;
    if (cg->lanczos[v].n <= result[v].longest) continue;
    result[v].longest = cg->lanczos[v].n;
    result[v].energy = kg_lanczos_energy(&cg->lanczos[v], 0.0);
  }
  return KEDGE_OK;
}

void kg_cg_many_free(kedge_context *ctx, kg_cg_many *cg)
{
  kg_repeat_free(ctx, &cg->repeat);
  for (int v = 0; v < KG_VECTORS; ++v) kg_lanczos_free(&cg->lanczos[v]);
}
