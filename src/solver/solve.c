#include "device/context.h"
#include "core/nvtx.h"
#include "solver/solver.h"

kedge_status kg_results_allocate(kg_elliptic *p, kg_place place)
{
  kedge_solution *const s = p->run.solution;
  s->mesh = p->mesh;
  s->m = p->shape.m;
  s->size = p->shape.size;
  s->n_groups = p->shape.count.n_groups;
  s->n_edges = p->shape.count.n_edges;
  s->scale = p->equation.scale;
  s->stabilization =
      (kg_stabilization){.length = p->equation.coefficient.cells.length,
                         .number = p->equation.material.stabilization / p->equation.scale,
                         .scaling = p->equation.material.scaling,
                         .rows = p->shape.rows};
  s->n_batches = p->shape.n_batches;
  for (int i = 0; i < s->n_batches; ++i) {
    const kg_shape_batch *const b = &p->shape.batch[i];
    s->batch[i] = (kg_results){.cell = b->cell,
                               .size = b->size,
                               .first_element = b->lanes.first_element,
                               .n_elements = b->lanes.n_elements,
                               .first_group = b->lanes.first_group,
                               .by_quadrature = b->by_quadrature,
                               .keeps_gradient = b->keeps_gradient,
                               .n_means = b->n_means,
                               .n_groups = b->lanes.n_groups};
  }
  return kg_solution_allocate(s, p->shape.choice.kept, place, (int64_t)p->plan.bytes);
}

static kedge_status run(kg_elliptic *p)
{
  kedge_solution *const s = p->run.solution;
  KG_TRY(kg_elliptic_begin(p));
  kg_report_fill(p);
  const int64_t in_use_before = p->ctx->bytes_in_use;
  KG_TRY(kg_results_allocate(p, KG_ON_HOST));
  p->ctx->bytes_peak = p->ctx->bytes_in_use;
  KG_TRY(kg_elliptic_set_up(p));
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve));
  KG_TRY(kg_stages_local(p));
  KG_TRY(kg_remainder_look(p));
  s->equation = p->equation.resolved.equation;
  p->equation.resolved.equation = (kg_coefficients){0};
  s->report.peak_device_bytes = p->ctx->bytes_peak - in_use_before;
  if (s->only_report) kg_solution_free_fields(s);
  if (!kg_holds(s, KG_HELD_TRACE)) return KEDGE_OK;
  s->cut = kg_layout_use(p->space.cut);
  return KEDGE_OK;
}

static kedge_status solve(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                          const char *function, bool only_report, kedge_solution **out)
{
  KG_REQUIRE(ctx, out != NULL, KEDGE_ERR_ARG, "%s: out is NULL", function);
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && problem, KEDGE_ERR_ARG, "%s: context, mesh or problem is NULL",
             function);
  KG_TRY(kg_problem_refuse_time(ctx, problem));
  KG_TRY(kg_enter(ctx));
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
  KG_TRY(kg_solution_create(ctx, &p.run.solution));
  p.run.solution->only_report = only_report;
  kg_range_push("solve", mesh->n_elements, 0);
  kedge_status status = kg_elliptic_name_robin(&p, run(&p));
  kg_range_pop();
  kg_elliptic_free(&p);
  if (status == KEDGE_OK) status = kg_sync(ctx);  // freeing may have found something
  if (status == KEDGE_OK)
    *out = p.run.solution;
  else
    kedge_solution_destroy(p.run.solution);
  return status;
}

kedge_status kedge_solve(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                         kedge_solution **out)
{
  return solve(ctx, mesh, problem, "kedge_solve", false, out);
}

kedge_status kedge_solve_report(kedge_context *ctx, const kedge_mesh *mesh,
                                const kedge_problem *problem, kedge_solution **out)
{
  return solve(ctx, mesh, problem, "kedge_solve_report", true, out);
}
