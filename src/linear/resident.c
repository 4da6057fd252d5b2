// Conjugate gradients of small problems, all iterations in one kernel that keeps everything on the
// multiprocessors (ops/trace/cg_resident.h).
#include "device/context.h"
#include "linear/cg.h"
#include "linear/linears.h"
#include "ops/trace/cg_resident.h"

enum { BRIEF = 8 };  // most iterations of a launch that is looked at often

static bool takes(const kg_linear *linear, const kg_precond *precond)
{
  return precond->pointwise && linear->table == &kg_patches_table && linear->symmetric &&
         ((const kg_patches *)linear)->one_kernel_bytes > 0;
}

static void declare(kg_plan *plan, kg_krylov *base)
{
  ((kg_cg *)base)->work_bytes = ((const kg_patches *)base->linear)->one_kernel_bytes;
  kg_cg_declare(plan, base);
}

static kedge_status launch(kedge_context *ctx, kg_cg *cg, const kg_precond *precond, int batches)
{
  const kg_trace_product_args *a = &((const kg_patches *)cg->base.linear)->args;
  (void)precond, (void)batches;
  return kg_cg_resident(ctx, &(kg_cg_resident_args){.batch = a->batch,
                                                    .local = a->locals.local[0],
                                                    .vectors = cg->v,
                                                    .work = cg->work,
                                                    .steps = cg->brief ? BRIEF : KG_CG_LAUNCH});
}

/// Messages of a phase are those of no other while phases are counted from zeros.
static kedge_status iterate(kedge_context *ctx, kg_krylov *base, const kg_precond *precond,
                            const double *rr, const kg_rule *rule, kg_iterated *result)
{
  kg_cg *cg = (kg_cg *)base;
  if (result->iterations == 0) KG_TRY(kg_zero(ctx, cg->work, cg->work_bytes));
  return kg_cg_iterate(ctx, cg, precond, launch, rr, rule, result);
}

const kg_krylov_table kg_cg_one_kernel = {.takes = takes,
                                          .declare = declare,
                                          .bind = kg_cg_bind,
                                          .take = kg_cg_take,
                                          .iterate = iterate,
                                          .cost = kg_cg_cost,
                                          .free = kg_cg_free};
