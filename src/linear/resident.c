// Conjugate gradients of small problems, all iterations in one kernel that keeps everything on the
// multiprocessors (ops/trace/cg_resident.h).
#include "device/context.h"
#include "linear/cg.h"
#include "linear/linears.h"
#include "ops/trace/cg_resident.h"

enum { BRIEF = 8 };  // most iterations of a launch that is looked at often

static bool takes(kedge_context *ctx, const kg_linear *linear, const kg_precond *precond)
{
  if (!precond->pointwise || linear->table != &kg_patches_table) return false;
  const kg_trace_product_args *a = &((const kg_patches *)linear)->args;
  const kg_local *local = &a->locals.local[0];
  const bool triangles = a->locals.n_locals == 1 && a->batch.count.n_wide_groups == 0;
  return linear->number == KG_DOUBLE && linear->symmetric && triangles &&
         local->layout == KG_LAYOUT_PACKED &&
         kg_cg_resident_bytes(ctx, a->batch.reference.size, &a->batch.count) > 0;
}

static kedge_status launch(kedge_context *ctx, kg_cg *cg, int batches)
{
  const kg_trace_product_args *a = &((const kg_patches *)cg->base.linear)->args;
  (void)batches;
  return kg_cg_resident(ctx, &(kg_cg_resident_args){.batch = a->batch,
                                                    .local = a->locals.local[0],
                                                    .vectors = cg->v,
                                                    .work = cg->work,
                                                    .steps = cg->brief ? BRIEF : KG_CG_LAUNCH});
}

/// Messages of a phase are those of no other while phases are counted from zeros.
static kedge_status iterate(kedge_context *ctx, kg_krylov *base, double rr, const kg_rule *rule,
                            kg_iterated *result)
{
  kg_cg *cg = (kg_cg *)base;
  const kg_batch *batch = &((const kg_patches *)base->linear)->args.batch;
  const kg_sizes size = batch->reference.size;
  if (result->iterations == 0)
    KG_TRY(kg_zero(ctx, cg->work, kg_cg_resident_bytes(ctx, size, &batch->count)));
  return kg_cg_iterate(ctx, cg, launch, rr, rule, result);
}

const kg_krylov_table kg_cg_one_kernel = {takes, iterate, kg_cg_cost, kg_cg_free};
