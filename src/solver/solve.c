#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/context.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "solver/memory.h"
#include "solver/pipeline.h"

static void fill_report(kg_pipeline *p)
{
  kedge_solution *s = p->solution;
  const kedge_mesh *mesh = p->mesh;
  kedge_report *r = &s->report;
  const kg_local local = kg_shape_local(&p->shape);
  const double mesh_seconds = r->stages[KEDGE_STAGE_MESH].seconds;
  *r = (kedge_report){
      .elements = mesh->n_elements,
      .edges = mesh->n_edges,
      .vertices = mesh->n_vertices,
      .boundary_edges = mesh->n_boundary_edges,
      .order = p->problem->order,
      .trace_unknowns = (int64_t)p->layout.count.n_free * p->shape.size.n_edge,
      .element_unknowns = (int64_t)mesh->n_elements * p->shape.size.n_modes,
      .backend = kedge_backend_name(p->ctx->backend),
      .device = p->ctx->device,
      .operator_name = kedge_operator_name(p->problem->operator_kind),
      .preconditioner = kg_precond_name(p->shape.choice.precond),
      .precision = kedge_precision_name(p->problem->precision),
      .smoother = "",
      .tolerance = p->problem->tolerance,
      .solver_note = s->note,
      .evaluation = s->evaluation,
      .has_exact = p->shape.choice.wants_errors,
      .u_l2 = NAN,
      .u_linf = NAN,
      .q_l2 = NAN,
      .u_star_l2 = NAN,
      .predicted_device_bytes = (int64_t)p->plan.bytes,
      .local_matrices_bytes = (int64_t)kg_local_bytes(&local),
  };
  r->stages[KEDGE_STAGE_MESH].seconds = mesh_seconds;
}

/// Where the rows of a batch begin; those of batches in front of it take the doubles `before`.
static double *place(double *all, size_t *before, int rows, int32_t n_groups)
{
  double *const at = all ? all + *before : NULL;
  *before += (size_t)rows * KG_LANES * (size_t)n_groups;
  return at;
}

/// What batches have, and where, once memory is there.
/// @param[out] count  doubles of u, flux, u_star
static void place_results(kedge_solution *s, const kg_lane_batches *batches, size_t count[3])
{
  size_t indicator = 0, constant = 0;
  s->n_batches = batches->n;
  for (int k = 0; k < 3; ++k) count[k] = 0;
  for (int i = 0; i < batches->n; ++i) {
    const kg_lane_batch *b = &batches->batch[i];
    const kg_cell *cell = b->n_facets == 3 ? &kg_triangle : &kg_quadrilateral;
    const kg_cell_sizes z = kg_cell_sizes_of(cell, s->size.order);
    const int32_t n = b->n_groups;
    s->batch[i] = (kg_results){.cell = cell,
                               .size = z,
                               .first_element = b->first_element,
                               .n_elements = b->n_elements,
                               .first_group = b->first_group,
                               .n_groups = n,
                               .indicator = place(s->indicator, &indicator, 1, n),
                               .constant = place(s->constant, &constant, 3, n),
                               .u = place(s->u, &count[0], z.n_modes, n),
                               .flux = place(s->flux, &count[1], z.n_flux, n),
                               .u_star = place(s->u_star, &count[2], z.n_star, n)};
  }
}

/// Host memory for the results.
static kedge_status allocate_results(kg_pipeline *p)
{
  kedge_solution *s = p->solution;
  const kg_sizes z = p->shape.size;
  const size_t lanes = (size_t)p->layout.count.n_groups * KG_LANES, d = sizeof(double);
  size_t count[3];
  s->ctx = p->ctx;
  s->mesh = p->mesh;
  s->size = z;
  s->n_groups = p->layout.count.n_groups;
  s->n_edges = p->layout.count.n_edges;
  s->diffusion = p->material.diffusion;
  place_results(s, &p->layout.batches, count);
  KG_TRY(kg_host_alloc(p->ctx, lanes, d, &s->indicator));
  if (p->shape.choice.wants_means) {
    KG_TRY(kg_host_alloc(p->ctx, lanes * 3, d, &s->constant));
  } else {
    KG_TRY(kg_host_alloc(p->ctx, count[0], d, &s->u));
    KG_TRY(kg_host_alloc(p->ctx, count[1], d, &s->flux));
    KG_TRY(kg_host_alloc(p->ctx, count[2], d, &s->u_star));
    KG_TRY(kg_host_alloc(p->ctx, (size_t)s->n_edges * (size_t)z.n_edge, d, &s->trace));
  }
  place_results(s, &p->layout.batches, count);
  return KEDGE_OK;
}

static kedge_status run_stage(kg_pipeline *p, kedge_stage stage,
                              kedge_status (*work)(kg_pipeline *))
{
  KG_TRY(kg_stage_announce(p, stage, false));
  KG_TRY(kg_stage_begin(p, stage));
  KG_TRY(kg_stage_end(p, work(p)));
  return kg_stage_announce(p, stage, true);
}

/// Cut patches: the last part of the mesh stage, which began when the mesh was read.
static kedge_status prepare(kg_pipeline *p)
{
  const double began = kg_seconds();
  kg_range_push("mesh", p->mesh->n_elements, 0);
  const kedge_status status = kg_pipeline_prepare(p);
  kg_range_pop();
  KG_TRY(status);
  p->solution->report.stages[KEDGE_STAGE_MESH].seconds = p->mesh->seconds + kg_seconds() - began;
  KG_TRY(kg_stage_announce(p, KEDGE_STAGE_MESH, true));
  // Before anything is allocated on the device, or for the results.
  const kg_memory available = kg_memory_free(p->ctx);
  kg_memory_choose(p->ctx, &p->shape, available);
  kg_pipeline_plan(p);
  return kg_memory_check(p->ctx, &p->shape, available);
}

/// K^e become something else between local matrices and trace solve.
static bool has_assembly(const kg_choice *choice)
{
  return choice->linear != KEDGE_OPERATOR_MATRIX_FREE || choice->precond != KG_JACOBI;
}

static kedge_status run(kg_pipeline *p)
{
  KG_TRY(prepare(p));
  fill_report(p);
  KG_TRY(allocate_results(p));
  p->ctx->bytes_peak = p->ctx->bytes_in_use;
  const int64_t in_use_before = p->ctx->bytes_in_use;
  KG_TRY(run_stage(p, KEDGE_STAGE_TRANSFER, kg_stage_transfer));
  KG_TRY(run_stage(p, KEDGE_STAGE_LOCAL_MATRICES, kg_stage_local_matrices));
  if (has_assembly(&p->shape.choice)) KG_TRY(run_stage(p, KEDGE_STAGE_ASSEMBLY, kg_stage_assembly));
  KG_TRY(run_stage(p, KEDGE_STAGE_TRACE_SOLVE, kg_stage_trace_solve));
  KG_TRY(kg_stages_local(p));
  p->solution->report.peak_device_bytes = p->ctx->bytes_peak - in_use_before;
  if (p->shape.choice.wants_means) return KEDGE_OK;
  p->solution->layout = p->layout;
  p->layout = (kg_trace_layout){0};  // the solution owns it now
  return KEDGE_OK;
}

kedge_status kedge_solve(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                         kedge_solution **out)
{
  KG_REQUIRE(ctx, out != NULL, KEDGE_ERR_ARG, "kedge_solve: out is NULL");
  *out = NULL;
  KG_REQUIRE(ctx, ctx && mesh && problem, KEDGE_ERR_ARG,
             "kedge_solve: context, mesh or problem is NULL");
  KG_TRY(kg_enter(ctx));
  kg_pipeline p = {.ctx = ctx, .mesh = mesh, .problem = problem};
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *p.solution, &p.solution));
  kg_range_push("solve", mesh->n_elements, 0);
  kedge_status status = run(&p);
  kg_range_pop();
  kg_pipeline_free(&p);
  if (status == KEDGE_OK) status = kg_sync(ctx);  // freeing may have found something
  if (status != KEDGE_OK) {
    kedge_solution_destroy(p.solution);
    return status;
  }
  *out = p.solution;
  return KEDGE_OK;
}
