// What conjugate gradients have in device memory, and what they do to it before an iteration.
#include "device/context.h"
#include "linear/cg.h"
#include "ops/vector/round.h"

/// Conjugate gradients with the diagonal of A.
static void declare_pointwise(kg_plan *plan, kg_cg *cg)
{
  const kg_linear *a = cg->base.linear;
  const size_t d = sizeof(double);
  kg_plan_array(plan, "z", (size_t)a->rows, d, KG_IN_SOLVE, &cg->z);
  kg_plan_array(plan, "p", (size_t)a->all_rows, d, KG_IN_SOLVE, &cg->p);
  kg_plan_array(plan, "A p", (size_t)a->rows, d, KG_IN_SOLVE, &cg->ap);
}

/// Vectors that have phases. Several right-hand sides have a plan of their own, where all of them
/// live together.
static unsigned lives(const kg_cg *cg, unsigned phases)
{
  return kg_cg_is_several(cg) ? KG_IN_SOLVE : phases;
}

/// In double precision Dirichlet rows of p and z, and p itself, stay from one iteration to the
/// next; in single precision they are zeros again after a residual, which is made in double
/// precision beside.
static void declare_preconditioned(kg_plan *plan, kg_cg *cg)
{
  kg_krylov *const k = &cg->base;
  const kg_linear *a = k->linear;
  const kg_precond *m = k->precond;
  const bool single = a->number == KG_SINGLE;
  const size_t real = kg_number_bytes(a->number), K = (size_t)a->n_rhs;
  const size_t n_free = K * (size_t)a->rows, n = K * (size_t)a->all_rows;
  const unsigned iterates = single ? KG_IN(BOUND) | KG_IN_ITERATION : KG_IN_SOLVE;
  const unsigned product = KG_IN(BOUND) | KG_IN(STEP) | m->product_phases;
  kg_plan_array(plan, "r", n_free, real, iterates | KG_IN(ROUND), &cg->r);
  kg_plan_array(plan, "z", m->z ? 0 : n, kg_number_bytes(m->linear->number),
                lives(cg, iterates & ~m->rests), &cg->z);
  kg_plan_array(plan, "p", n, real, iterates, &cg->p);
  kg_plan_array(plan, "A p", n_free, real, lives(cg, product), &cg->ap);
  kg_plan_array(plan, "residual", single ? n_free : 0, sizeof *k->residual,
                KG_IN(RESIDUAL) | KG_IN(ROUND), &k->residual);
  // A first iteration lends p, which it has not made yet.
  kg_plan_array(plan, "coarse directions", n * real < m->room_bytes ? m->room_bytes : 0, 1,
                lives(cg, KG_IN(COARSE)), &cg->room);
}

/// The sequence decides places (device/plan.h).
void kg_cg_declare(kg_plan *plan, kg_krylov *k)
{
  kg_cg *const cg = (kg_cg *)k;
  const kg_linear *a = k->linear;
  const size_t K = (size_t)a->n_rhs, d = sizeof(double);
  const unsigned sums = KG_IN_SOLVE | k->sum_phases;
  k->plan = plan;
  kg_plan_array(plan, "parts of p . A p", K * (size_t)a->n_parts, d, KG_IN_SOLVE,
                &cg->product_part);
  kg_plan_array(plan, "one kernel", cg->work_bytes, 1, KG_IN_SOLVE, &cg->work);
  kg_plan_array(plan, "x", K * (size_t)a->all_rows, d, KG_FROM(BOUND, RECOVER), &k->x);
  kg_plan_array(plan, "parts of vectors", (K > 1 ? K : 2) * KG_PIECES, d, sums, &cg->part);
  kg_plan_array(plan, "totals", K > 1 ? K : 0, d, sums, &cg->total);
  kg_plan_array(plan, "state", 1, K > 1 ? sizeof *cg->states : sizeof *cg->states->of, sums,
                &cg->states);
  kg_plan_array(plan, "steps of the iteration", K * KG_CG_STEPS, sizeof *cg->steps,
                lives(cg, KG_IN_ITERATION | KG_IN(RESIDUAL)), &cg->steps);
  kg_plan_array(plan, "exponent", K, sizeof *cg->exponent, KG_IN_SOLVE, &cg->exponent);
  if (k->precond->table->declare) k->precond->table->declare(plan, k->precond);
  if (k->precond->pointwise)
    declare_pointwise(plan, cg);
  else
    declare_preconditioned(plan, cg);
}

static void bind_one(kg_cg *cg)
{
  const kg_krylov *k = &cg->base;
  kg_cg_vectors_args *const v = &cg->v;
  *v = (kg_cg_vectors_args){.n = k->linear->rows,
                            .inverse = k->precond->inverse,
                            .x = k->x,
                            .partial = cg->part,
                            .state = cg->states->of,
                            .steps = cg->steps};
  if (k->linear->number == KG_SINGLE) {
    v->r_single = cg->r;
    v->p_single = cg->p;
    v->ap_single = cg->ap;
  } else {
    v->r = cg->r;
    v->p = cg->p;
    v->ap = cg->ap;
  }
  if (k->precond->linear->number == KG_SINGLE)
    v->z_single = cg->z;
  else
    v->z = cg->z;
}

static void bind_several(kg_cg *cg)
{
  const kg_krylov *k = &cg->base;
  cg->many = (kg_pcg_many_args){.n = k->linear->rows * KG_VECTORS,
                                .x = k->x,
                                .p = cg->p,
                                .z = cg->v.z,
                                .z_single = cg->v.z_single,
                                .states = cg->states,
                                .steps = cg->steps};
  cg->advance = (kg_advance){.r = cg->r,
                             .y = cg->ap,
                             .factor = &cg->states->of->factor,
                             .sum = {.part = cg->part,
                                     .total = &cg->states->of->rr_next,
                                     .stride = KG_CG_STRIDE,
                                     .parts = KG_PIECES}};
}

void kg_cg_bind(kg_krylov *k)
{
  kg_cg *const cg = (kg_cg *)k;
  kg_precond *const m = k->precond;
  const bool single = k->linear->number == KG_SINGLE, several = kg_cg_is_several(cg);
  if (m->pointwise) cg->r = cg->ap;
  if (m->z) cg->z = *m->z;
  if (!single) k->residual = cg->r;
  k->work_all = cg->p;
  k->work = m->product = cg->ap;
  m->room = cg->room ? cg->room : cg->p;
  m->exponent = cg->exponent;
  k->exponent = single ? &cg->states->of->exponent : NULL;
  k->sum = (kg_sum){.part = cg->part,
                    .total = several ? cg->total : &cg->states->of->rr,
                    .stride = 1,
                    .parts = KG_PIECES};
  bind_one(cg);
  if (several) bind_several(cg);
  cg->repeat[0].stop = cg->repeat[1].stop = several ? &cg->states->stop : &cg->states->of->stop;
}

/// Zeros in all of p and z: in rows of Dirichlet edges, which iterations leave alone, and numbers
/// elsewhere.
static kedge_status clear(kedge_context *ctx, const kg_cg *cg)
{
  const kg_linear *a = cg->base.linear;
  const kg_precond *m = cg->base.precond;
  const size_t n = (size_t)(a->n_rhs * a->all_rows);
  KG_TRY(kg_zero(ctx, cg->p, n * kg_number_bytes(a->number)));
  if (m->pointwise || m->z) return KEDGE_OK;
  return kg_zero(ctx, cg->z, n * kg_number_bytes(m->linear->number));
}

/// In single precision p and z may lie where the residual was made.
kedge_status kg_cg_take(kedge_context *ctx, kg_krylov *k, const double *rr, bool first)
{
  kg_cg *const cg = (kg_cg *)k;
  const bool single = k->linear->number == KG_SINGLE;
  if (single) {
    int32_t *const exponent = &cg->state.of->exponent;
    KG_TRY(kg_plan_enter(ctx, k->plan, KG_PHASE_ROUND));
    *exponent = kg_round_exponent(*rr);
    KG_TRY(kg_copy_in(ctx, k->exponent, exponent, sizeof *exponent));
    KG_TRY(kg_round(
        ctx, &(kg_round_args){
                 .n = k->linear->rows, .from = k->residual, .to = cg->r, .exponent = k->exponent}));
  }
  KG_TRY(kg_plan_enter(ctx, k->plan, KG_PHASE_STEP));
  return single || first ? clear(ctx, cg) : KEDGE_OK;
}
