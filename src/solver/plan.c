#include "core/context.h"
#include "ops/ell.h"
#include "solver/pipeline.h"

/// The same mesh with more or fewer elements: every count in proportion.
static kg_shape scaled(const kg_shape *shape, double factor)
{
  kg_shape s = *shape;
  int32_t *const counts[] = {&s.count.n_elements, &s.count.n_groups,   &s.count.n_patches,
                             &s.count.n_edges,    &s.count.n_interior, &s.count.n_shared,
                             &s.count.n_neumann,  &s.count.n_free,     &s.count.n_halo};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
    *counts[i] = (int32_t)(factor * *counts[i] + 0.5);
  if (s.count.n_groups < 1) s.count.n_groups = 1;
  s.n_vertices = (int64_t)(factor * (double)s.n_vertices) + 1;
  s.chunk_groups = kg_chunk_groups(&s);
  return s;
}

/// Largest number of elements whose prediction is within the free memory, by bisection.
static kedge_status largest_mesh(kedge_context *ctx, const kg_shape *shape, int64_t available,
                                 int64_t *elements)
{
  const double most = (double)(INT32_MAX / 3 - KG_LANES) / shape->count.n_elements;
  double fits = 0.0, fails = most;
  for (int step = 0; step < 60 && (fails - fits) * shape->count.n_elements > 0.5; ++step) {
    const double factor = step == 0 ? most : 0.5 * (fits + fails);
    kg_shape s = scaled(shape, factor);
    KG_TRY(kg_ell_work_bytes(ctx, s.size, &s.count, &s.ell_work_bytes));
    if (kg_peak_bytes(&s) <= available)
      fits = factor;
    else
      fails = factor;
    if (fits == most) break;
  }
  *elements = (int64_t)(fits * shape->count.n_elements);
  return KEDGE_OK;
}

static kedge_status fill(kg_pipeline *p, kedge_plan *plan)
{
  KG_TRY(kg_pipeline_prepare(p));
  plan->free_bytes = kg_free_bytes(p->ctx);
  for (kedge_operator op = 0; op < KEDGE_OPERATOR_COUNT; ++op) {
    kg_shape shape = p->shape;
    shape.operator_kind = op;
    for (kedge_stage stage = 0; stage < KEDGE_STAGE_COUNT; ++stage)
      plan->stage_bytes[op][stage] = kg_stage_bytes(stage, &shape);
    plan->peak_bytes[op] = kg_peak_bytes(&shape);
    KG_TRY(largest_mesh(p->ctx, &shape, plan->free_bytes, &plan->largest_elements[op]));
  }
  return KEDGE_OK;
}

kedge_status kedge_plan_make(kedge_context *ctx, const kedge_mesh *mesh,
                             const kedge_problem *problem, kedge_plan *plan)
{
  KG_REQUIRE(ctx, mesh && problem && plan, KEDGE_ERR_ARG, "kedge_plan_make: an argument is NULL");
  *plan = (kedge_plan){0};
  KG_TRY(kg_enter(ctx));
  kg_pipeline p = {.ctx = ctx, .mesh = mesh, .problem = problem};
  const kedge_status status = fill(&p, plan);
  kg_pipeline_free(&p);
  return status;
}
