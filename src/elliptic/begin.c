// The first parts of a solve: the decision whether it fits, and the set-up.
#include <string.h>

#include "core/clock.h"
#include "core/nvtx.h"
#include "device/context.h"
#include "elliptic/elliptic.h"

kg_data kg_elliptic_data(const kg_elliptic *p)
{
  return (kg_data){.resolved = &p->equation.resolved};
}

kedge_status kg_elliptic_stage(kg_elliptic *p, kg_stage stage, kedge_status (*work)(kg_elliptic *))
{
  KG_TRY(kg_run_announce(&p->run, stage, false));
  KG_TRY(kg_run_begin(&p->run, stage));
  KG_TRY(kg_run_end(&p->run, work(p)));
  return kg_run_announce(&p->run, stage, true);
}

kedge_status kg_elliptic_begin(kg_elliptic *p)
{
  // Cutting patches is the last part of the mesh stage, which began when the mesh was read.
  const double began = kg_seconds();
  kg_range_push("mesh", p->mesh->n_elements, 0);
  const kedge_status status = kg_elliptic_prepare(p);
  kg_range_pop();
  KG_TRY(status);
  p->run.solution->report.stages[KG_STAGE_MESH].seconds = p->mesh->seconds + kg_seconds() - began;
  KG_TRY(kg_run_announce(&p->run, KG_STAGE_MESH, true));
  // Before anything is allocated on the device, or for the results.
  kg_memory available = kg_memory_free(p->ctx);
  if (p->before)
    *(p->ctx->backend == KEDGE_BACKEND_CUDA ? &available.device : &available.host) +=
        (int64_t)p->before->plan.memory.bytes + p->before->shape.march_bytes;
  if (kg_holds(p->run.solution, KG_HELD_INDICATOR))
    available.host += kg_host_bytes(&p->shape);  // results are there
  const kg_memory need = kg_memory_choose(p->ctx, &p->shape, available, &p->plan, &p->arrays);
  return kg_memory_check(p->ctx, &p->shape, need, available);
}

kedge_status kg_elliptic_set_up(kg_elliptic *p)
{
  const kg_choice *const c = &p->shape.choice;
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRANSFER, kg_stage_transfer));
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_LOCAL_MATRICES, kg_stage_local_matrices));
  if (c->linear == KEDGE_OPERATOR_MATRIX_FREE && c->precond == KG_JACOBI) return KEDGE_OK;
  return kg_elliptic_stage(p, KG_STAGE_ASSEMBLY, kg_stage_assembly);
}

kedge_status kg_elliptic_name_robin(const kg_elliptic *p, kedge_status status)
{
  const bool indefinite =
      status == KEDGE_ERR_NUMERIC && strstr(kedge_context_error(p->ctx), "not positive");
  if (!indefinite || !(p->robin.least < 0.0)) return status;
  return KG_FAIL(p->ctx, status,
                 "on boundary '%s' the robin coefficient is as small as %.3g: with it the operator "
                 "is not positive definite, and kedge cannot solve the problem",
                 p->mesh->groups[p->robin.least_group].name, p->robin.least);
}
