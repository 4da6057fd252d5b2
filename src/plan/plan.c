#include "device/context.h"
#include "core/sized.h"
#include "plan/plan.h"
#include "equation/evaluation.h"
#include "elliptic/memory.h"
#include "space/caller_order.h"

/// The solve with another operator, or that of the problem, in memory that holds nothing of it yet,
/// not even the mesh.
static kedge_status plan_operator(kg_elliptic *p, kedge_operator op, kg_memory empty,
                                  kedge_plan *plan)
{
  kg_shape shape;
  const kedge_status status = kg_elliptic_shape(p, op, &shape);
  if (status == KEDGE_ERR_INPUT && op != p->equation.problem->operator_kind) {
    p->ctx->error[0] = '\0';  // the mesh has elements that this operator does not take
    return KEDGE_OK;
  }
  KG_TRY(status);
  if (op == KEDGE_OPERATOR_MATRIX_FREE) {
    const kg_choice *const c = &shape.choice;
    plan->preconditioner = kg_precond_name(c->precond);
    plan->smoother = c->precond != KG_JACOBI ? kedge_smoother_name(c->smoother) : "";
  }
  kg_plan memory;
  kg_arrays arrays;
  empty.host -= kg_prepared_bytes(&shape);
  const kg_memory need = kg_memory_choose(p->ctx, &shape, empty, &memory, &arrays);
  plan->fits[op] = kg_memory_fits(need, empty);
  for (kg_stage stage = 0; stage < KG_STAGE_COUNT; ++stage)
    plan->stage_bytes[op][stage] = kg_stage_bytes(&memory, stage);
  plan->peak_bytes[op] = (int64_t)memory.bytes;
  plan->needed_bytes[op] = p->ctx->backend == KEDGE_BACKEND_CUDA ? need.device : need.host;
  return KEDGE_OK;
}

/// The names of what the solve would be, and its unknowns.
static void describe(const kg_elliptic *p, kedge_plan *plan)
{
  const kg_shape *shape = &p->shape;
  const kedge_mesh_info *mesh = &p->mesh->info;
  plan->dimension = p->mesh->dimension;
  plan->elements = mesh->elements;
  plan->edges = mesh->edges;
  plan->vertices = mesh->vertices;
  plan->boundary_edges = mesh->boundary_edges;
  plan->operator_kind = shape->choice.linear;
  plan->order = shape->size.order;
  plan->trace_unknowns = (int64_t)shape->count.n_free * shape->m;
  plan->precision = kedge_precision_name(p->equation.problem->precision);
  plan->stabilization_length = kg_stabilization_length(&p->equation);
  plan->n_stages = KG_STAGE_COUNT;
  for (kg_stage s = 0; s < KG_STAGE_COUNT; ++s) plan->stage_name[s] = kg_stage_name(s);
}

/// What solver/many.c, solver/unknowns.h and solver/giving.h take on the device.
static void describe_requests(const kg_elliptic *p, kedge_plan *plan)
{
  const kg_shape *const s = &p->shape;
  size_t table = 0;
  for (int i = 0; i < s->n_batches; ++i)
    table +=
        (size_t)s->batch[i].cell->n_modes(KEDGE_ORDER_MAX + 1) * (size_t)s->batch[i].size.n_star;
  if (kg_many_pays(p->ctx, KG_VECTORS) && kg_many_takes(p->ctx, s))
    plan->many_bytes = kg_many_bytes(s);
  plan->solution_bytes = (int64_t)kg_rounded((size_t)kg_results_bytes(s));
  plan->values_bytes = kg_caller_order_bytes(p->mesh);
  plan->table_bytes = (int64_t)kg_rounded(table * sizeof(double));
  plan->march_bytes = s->march_bytes;
  plan->apply_bytes = (int64_t)kg_rounded((size_t)s->count.n_free * sizeof(uint32_t));
}

static const char COUNTED[] =
    "the mesh was not made: counts follow from the words that generate it, and what depends on the "
    "order of its elements is estimated from a smaller one, within 2 %";

/// @param[in] of  the mesh that stands for another one, or nothing
static kedge_status fill(kg_elliptic *p, const kg_plan_mesh *of, kedge_plan *plan)
{
  const char *wish;
  KG_TRY(kg_evaluation_wish(p->ctx, &wish));  // that it can be read
  KG_TRY(kg_elliptic_prepare(p));
  if (of->is_smaller) KG_TRY(kg_plan_mesh_grow(of, p));
  describe(p, plan);
  const kg_memory now = kg_memory_free(p->ctx);
  const int64_t prepared = kg_prepared_bytes(&p->shape), later = of->is_smaller ? prepared : 0;
  const kg_memory available = {now.device, now.host > later ? now.host - later : 0};
  const kg_memory empty = {available.device, available.host + prepared};
  const bool shared = p->ctx->backend != KEDGE_BACKEND_CUDA;
  plan->free_bytes = shared ? available.host : kg_free_bytes(p->ctx);
  plan->host_free_bytes = available.host;
  const kg_memory need = kg_memory_choose(p->ctx, &p->shape, available, &p->plan, &p->arrays);
  plan->host_bytes = prepared + kg_host_bytes(&p->shape);
  const kedge_status room = kg_plan_mesh_check(p->ctx, of);
  for (kedge_operator op = 0; op < KEDGE_OPERATOR_COUNT; ++op) {
    KG_TRY(plan_operator(p, op, empty, plan));
    plan->fits[op] = plan->fits[op] && room == KEDGE_OK;
  }
  if (p->repeats) describe_requests(p, plan);
  plan->note = of->is_smaller ? COUNTED : "";
  kedge_status status = kg_plan_mesh_check(p->ctx, of);
  if (status == KEDGE_OK) status = kg_memory_check(p->ctx, &p->shape, need, available);
  return status == KEDGE_ERR_MEMORY ? KEDGE_OK : status;  // its sentence stays in the context
}

kedge_status kedge_plan_make(kedge_context *ctx, const kedge_mesh *mesh,
                             const kedge_problem *problem, kedge_plan *plan)
{
  KG_REQUIRE(ctx, ctx && problem && plan, KEDGE_ERR_ARG, "kedge_plan_make: an argument is NULL");
  return kg_plan_make(ctx, &(kg_plan_args){mesh, problem, false, 0, KG_COUNTED_ELEMENTS}, plan);
}

kedge_status kg_plan_make(kedge_context *ctx, const kg_plan_args *args, kedge_plan *plan)
{
  kedge_plan filled = KEDGE_PLAN_INIT;
  kg_plan_mesh own = {0};
  KG_TRY(kg_check_sized(ctx, "KEDGE_PLAN_INIT", plan->size));
  KG_TRY(kg_enter(ctx));
  if (!args->mesh) KG_TRY(kg_plan_mesh_make(ctx, args->problem, args->counted_from, &own));
  kg_elliptic p = {.ctx = ctx,
                   .mesh = args->mesh ? args->mesh : own.mesh,
                   .equation.problem = args->problem,
                   .repeats = args->repeats,
                   .march_vectors = args->march_vectors};
  const kedge_status status = fill(&p, &own, &filled);
  kg_elliptic_free(&p);
  kedge_mesh_destroy(own.mesh);
  filled.march_step = args->march_step;
  filled.march_steps = args->march_steps;
  if (status == KEDGE_OK) kg_copy_sized(&filled, plan);
  return status;
}
