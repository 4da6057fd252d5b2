#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "elliptic/memory.h"
#include "elliptic/elliptic.h"

static int64_t element_unknowns(const kg_shape *s)
{
  int64_t n = 0;
  for (const kg_shape_batch *b = s->batch; b < s->batch + s->n_batches; ++b)
    n += (int64_t)b->lanes.n_elements * b->size.n_modes;
  return n;
}

void kg_report_fill(kg_elliptic *p)
{
  kedge_solution *s = p->run.solution;
  const kedge_mesh *mesh = p->mesh;
  kedge_report *r = &s->report;
  const kg_locals locals = kg_shape_locals(&p->shape);
  const double mesh_seconds = r->stages[KG_STAGE_MESH].seconds;
  *r = (kedge_report){
      .size = sizeof *r,
      .elements = mesh->n_elements,
      .edges = mesh->n_edges,
      .vertices = mesh->n_vertices,
      .boundary_edges = mesh->n_boundary_edges,
      .order = p->equation.problem->order,
      .trace_unknowns = (int64_t)p->space.layout.count.n_free * p->shape.size.n_edge,
      .element_unknowns = element_unknowns(&p->shape),
      .backend = kedge_backend_name(p->ctx->backend),
      .device = p->ctx->device,
      .operator_name = kedge_operator_name(p->equation.problem->operator_kind),
      .preconditioner = kg_precond_name(p->shape.choice.precond),
      .precision = kedge_precision_name(p->equation.problem->precision),
      .smoother = "",
      .tolerance = p->equation.problem->tolerance,
      .solver_note = s->note,
      .evaluation = s->evaluation,
      .has_exact = p->shape.choice.wants_errors,
      .u_l2 = NAN,
      .u_linf = NAN,
      .q_l2 = NAN,
      .u_star_l2 = NAN,
      .sigma_l2 = NAN,
      .triangle_inverse = "",
      .quadrilateral_inverse = "",
      .iteration_u = NAN,
      .iteration_u_star = NAN,
      .iteration_q = NAN,
      .iteration_sigma = NAN,
      .stabilization_length = kg_stabilization_length(p),
      .predicted_device_bytes = (int64_t)p->plan.bytes,
      .local_matrices_bytes = (int64_t)kg_locals_bytes(&locals),
  };
  for (int i = 0; i < p->shape.n_batches; ++i) {
    const kg_shape_batch *b = &p->shape.batch[i];
    if (!b->by_quadrature) continue;
    *(b->cell == &kg_triangle ? &r->triangle_inverse : &r->quadrilateral_inverse) =
        b->keeps_gradient ? "gradient"
        : b->exact        ? "exact"
                          : "adjusted";
  }
  r->n_stages = KG_STAGE_COUNT;
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
    r->stages[stage].name = kg_stage_name(stage);
  r->stages[KG_STAGE_MESH].seconds = mesh_seconds;
}

kedge_status kg_results_allocate(kg_elliptic *p, kg_place place)
{
  kedge_solution *const s = p->run.solution;
  s->mesh = p->mesh;
  s->size = p->shape.size;
  s->n_groups = p->space.layout.count.n_groups;
  s->n_edges = p->space.layout.count.n_edges;
  s->scale = p->equation.scale;
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
                               .n_groups = b->lanes.n_groups};
  }
  return kg_solution_allocate(s, p->shape.choice.kept, place);
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
        (int64_t)p->before->plan.memory.bytes;
  if (kg_holds(p->run.solution, KG_HELD_INDICATOR))
    available.host += kg_host_bytes(&p->shape);  // results are there
  const kg_memory need = kg_memory_choose(p->ctx, &p->shape, available, &p->plan, &p->arrays);
  return kg_memory_check(p->ctx, &p->shape, need, available);
}

/// K^e become something else between local matrices and trace solve.
static bool has_assembly(const kg_choice *choice)
{
  return choice->linear != KEDGE_OPERATOR_MATRIX_FREE || choice->precond != KG_JACOBI;
}

kedge_status kg_elliptic_set_up(kg_elliptic *p)
{
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRANSFER, kg_stage_transfer));
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_LOCAL_MATRICES, kg_stage_local_matrices));
  return has_assembly(&p->shape.choice) ? kg_elliptic_stage(p, KG_STAGE_ASSEMBLY, kg_stage_assembly)
                                        : KEDGE_OK;
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
  KG_TRY(kg_layout_share(p->ctx, &p->space.layout, &s->cut));
  p->space.layout = (kg_trace_layout){0};  // the solution has it now
  return KEDGE_OK;
}

kedge_status kg_elliptic_name_robin(const kg_elliptic *p, kedge_status status)
{
  const bool indefinite =
      status == KEDGE_ERR_NUMERIC && strstr(kedge_context_error(p->ctx), "not positive");
  if (!indefinite || !(p->equation.robin.least < 0.0)) return status;
  return KG_FAIL(p->ctx, status,
                 "on boundary '%s' the robin coefficient is as small as %.3g: with it the operator "
                 "is not positive definite, and kedge cannot solve the problem",
                 p->mesh->groups[p->equation.robin.least_group].name, p->equation.robin.least);
}

static kedge_status solve(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                          const char *function, bool only_report, kedge_solution **out)
{
  KG_REQUIRE(ctx, out != NULL, KEDGE_ERR_ARG, "%s: out is NULL", function);
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && problem, KEDGE_ERR_ARG, "%s: context, mesh or problem is NULL",
             function);
  KG_TRY(kg_enter(ctx));
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
  KG_TRY(kg_solution_create(ctx, &p.run.solution));
  p.run.solution->only_report = only_report;
  kg_range_push("solve", mesh->n_elements, 0);
  kedge_status status = kg_elliptic_name_robin(&p, run(&p));
  kg_range_pop();
  kg_elliptic_free(&p);
  if (status == KEDGE_OK) status = kg_sync(ctx);  // freeing may have found something
  if (status != KEDGE_OK) {
    kedge_solution_destroy(p.run.solution);
    return status;
  }
  *out = p.run.solution;
  return KEDGE_OK;
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
