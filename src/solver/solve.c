#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/nvtx.h"
#include "elliptic/memory.h"
#include "elliptic/elliptic.h"

/// Find a batch's results in an array; NULL if there is no array.
static double *of_batch(const kg_shape *s, double *array, kg_rows rows, int batch)
{
  return array ? array + kg_shape_numbers(s, rows, batch) : NULL;
}

static void place_results(const kg_shape *shape, kedge_solution *s)
{
  s->n_batches = shape->n_batches;
  for (int i = 0; i < s->n_batches; ++i) {
    const kg_shape_batch *b = &shape->batch[i];
    const size_t lanes = (size_t)b->lanes.first_group * KG_LANES;
    s->batch[i] = (kg_results){.cell = b->cell,
                               .size = b->size,
                               .first_element = b->lanes.first_element,
                               .n_elements = b->lanes.n_elements,
                               .first_group = b->lanes.first_group,
                               .by_quadrature = b->by_quadrature,
                               .keeps_gradient = b->keeps_gradient,
                               .n_groups = b->lanes.n_groups,
                               .indicator = s->indicator + lanes,
                               .constant = of_batch(shape, s->constant, KG_ROWS_MEANS, i),
                               .u = of_batch(shape, s->u, KG_ROWS_MODES, i),
                               .flux = of_batch(shape, s->flux, KG_ROWS_FLUX, i),
                               .u_star = of_batch(shape, s->u_star, KG_ROWS_STAR, i)};
  }
}

static kedge_status allocate_rows(kg_elliptic *p, kg_rows rows, double **out)
{
  return kg_host_alloc(p->ctx, kg_shape_numbers(&p->shape, rows, p->shape.n_batches), sizeof **out,
                       out);
}

kedge_status kg_results_allocate(kg_elliptic *p)
{
  kedge_solution *s = p->run.solution;
  const size_t lanes = (size_t)p->space.layout.count.n_groups * KG_LANES, d = sizeof(double);
  s->ctx = p->ctx;
  s->mesh = p->mesh;
  s->size = p->shape.size;
  s->n_groups = p->space.layout.count.n_groups;
  s->n_edges = p->space.layout.count.n_edges;
  s->scale = p->equation.scale;
  KG_TRY(kg_host_alloc(p->ctx, lanes, d, &s->indicator));
  if (p->shape.choice.wants_means) {
    KG_TRY(allocate_rows(p, KG_ROWS_MEANS, &s->constant));
  } else {
    KG_TRY(allocate_rows(p, KG_ROWS_MODES, &s->u));
    KG_TRY(allocate_rows(p, KG_ROWS_FLUX, &s->flux));
    KG_TRY(allocate_rows(p, KG_ROWS_STAR, &s->u_star));
    KG_TRY(kg_host_alloc(p->ctx, (size_t)s->n_edges * (size_t)s->size.n_edge, d, &s->trace));
  }
  place_results(&p->shape, s);
  return KEDGE_OK;
}

kedge_status kg_results_adapt(kg_elliptic *p)
{
  kedge_solution *s = p->run.solution;
  bool same = true;
  for (int i = 0; i < s->n_batches; ++i)
    same = same && s->batch[i].keeps_gradient == p->shape.batch[i].keeps_gradient;
  if (same) return KEDGE_OK;
  free(s->flux);
  s->flux = NULL;
  if (!p->shape.choice.wants_means) KG_TRY(allocate_rows(p, KG_ROWS_FLUX, &s->flux));
  place_results(&p->shape, s);
  return KEDGE_OK;
}

static kedge_status run(kg_elliptic *p)
{
  KG_TRY(kg_elliptic_begin(p));
  kg_report_fill(p);
  KG_TRY(kg_results_allocate(p));
  p->ctx->bytes_peak = p->ctx->bytes_in_use;
  const int64_t in_use_before = p->ctx->bytes_in_use;
  KG_TRY(kg_elliptic_set_up(p));
  KG_TRY(kg_elliptic_stage(p, KG_STAGE_TRACE_SOLVE, kg_stage_trace_solve));
  KG_TRY(kg_stages_local(p));
  KG_TRY(kg_remainder_look(p));
  p->run.solution->equation = p->equation.resolved.equation;
  p->equation.resolved.equation = (kg_coefficients){0};
  p->run.solution->report.peak_device_bytes = p->ctx->bytes_peak - in_use_before;
  if (p->shape.choice.wants_means) return KEDGE_OK;
  p->run.solution->layout = p->space.layout;
  p->space.layout = (kg_trace_layout){0};  // the solution owns it now
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
  kg_elliptic p = {.ctx = ctx, .mesh = mesh, .equation.problem = problem};
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *p.run.solution, &p.run.solution));
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
