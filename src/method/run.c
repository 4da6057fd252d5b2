#include "method/run.h"

#include "core/clock.h"
#include "core/nvtx.h"
#include "device/context.h"

kedge_status kg_run_begin(kg_run *run, int stage)
{
  const kg_method_stage *const s = &run->method->stage[stage];
  run->stage = stage;
  run->began = kg_seconds();
  kg_range_push(s->name, run->n_elements, run->n_rows);
  const kedge_status status =
      kg_plan_enter(run->ctx, run->plan, run->is_again ? s->again : s->phase);
  if (status != KEDGE_OK) kg_range_pop();
  return status;
}

kedge_status kg_run_end(kg_run *run, kedge_status status)
{
  if (status == KEDGE_OK) status = kg_sync(run->ctx);
  kg_range_pop();
  run->solution->report.stages[run->stage].seconds += kg_seconds() - run->began;
  return status;
}

kedge_status kg_run_announce(const kg_run *run, int stage, bool finished)
{
  return kg_progress(run->ctx,
                     &(kedge_progress){.stage = run->method->stage[stage].name,
                                       .finished = finished,
                                       .seconds = run->solution->report.stages[stage].seconds});
}

void kg_run_cost(const kg_run *run, kg_cost cost, double times)
{
  kedge_stage_report *const to = &run->solution->report.stages[run->stage];
  to->bytes += times * cost.bytes;
  to->flops += times * cost.flops;
}
