#include "elliptic/iteration.h"

#include "device/context.h"
#include "ops/assembled/ell.h"

static const unsigned kept = KG_FROM(ASSEMBLY, STEP);

/// The cycle of multigrid has vectors of its own, in single precision.
static bool has_copies(const kg_choice *c)
{
  return c->precond != KG_JACOBI && c->cycles != c->iterates;
}

/// The vectors of several right-hand sides that those of one have beside their iteration.
static void declare_several(kg_plan *plan, const kg_shape *s, kg_iteration *it, size_t n_rhs)
{
  const size_t load = s->choice.loads_stay ? kg_shape_numbers(s, KG_ROWS_MODES, s->n_batches) : 0;
  const size_t rows = (size_t)s->count.n_free * (size_t)s->m;
  kg_plan_array(plan, "load vectors", n_rhs * load, sizeof *it->load, KG_IN_SOLVE, &it->load);
  kg_plan_array(plan, "b", n_rhs * rows, sizeof *it->b, KG_IN_SOLVE, &it->b);
}

static kg_patches patches_of(const kg_batch *batch, kg_locals locals, void *halo, int n_rhs)
{
  kg_patches a =
      kg_patches_of(&(kg_trace_product_args){.batch = *batch, .locals = locals, .halo = halo});
  a.base.n_rhs = n_rhs;
  return a;
}

/// Make A: of counts, or of arrays once they are there.
static void make_linear(kg_iteration *it, const kg_shape *s, const kg_batch *batch,
                        kg_locals locals, int n_rhs)
{
  kg_linears *const a = &it->linear;
  kg_local full = kg_shape_full_local(s);
  full.data = it->full_local;
  if (s->choice.linear == KEDGE_OPERATOR_ELL) {
    kg_ell_matrix matrix = kg_ell_shape(s->m, &s->count);
    matrix.column = it->ell_column;
    matrix.value = it->ell_value;
    a->ell = (kg_ell){.base = kg_linear_of(&kg_ell_table, batch, KG_DOUBLE),
                      .batch = *batch,
                      .locals = locals,
                      .matrix = matrix,
                      .work = it->ell_work,
                      .work_bytes = s->ell_work_bytes};
  } else if (s->choice.linear == KEDGE_OPERATOR_MATRIX_FREE_PLAIN) {
    a->gather = (kg_gather){.base = kg_linear_of(&kg_gather_table, batch, KG_DOUBLE),
                            .batch = *batch,
                            .made = locals,
                            .full = full};
  } else {
    a->patches = patches_of(batch, locals, it->halo, n_rhs);
    a->patches.one_kernel_bytes = s->resident_bytes;
  }
  a->base.symmetric = s->choice.form->symmetric;
}

/// Likewise A of a cycle that has a number of its own.
static void make_cycle_linear(kg_iteration *it, const kg_batch *batch, kg_locals locals, int n_rhs)
{
  if (!kg_multigrid_has_copies(&it->multigrid.shape)) return;
  it->cycle_linear = patches_of(batch, locals, it->multigrid.single.halo, n_rhs);
}

static kg_precond *make_precond(kg_iteration *it, const kg_shape *s, const kg_batch *batch,
                                int n_rhs)
{
  it->jacobi = kg_jacobi_of(&it->linear.base, NULL);
  if (s->choice.precond == KG_JACOBI) return &it->jacobi;
  it->multigrid = (kg_multigrid){.shape = kg_shape_multigrid(s), .solver = &kg_amg};
  make_cycle_linear(it, batch, kg_multigrid_cycle_locals(&it->multigrid.shape), n_rhs);
  it->cycle = kg_cycle_of(&it->multigrid,
                          has_copies(&s->choice) ? &it->cycle_linear.base : &it->linear.base);
  return &it->cycle.base;
}

/// Declare the arrays of A.
static void declare_linear(kg_plan *plan, const kg_shape *s, size_t n_rhs, kg_iteration *it)
{
  const kg_local full = kg_shape_full_local(s);
  const kg_ell_matrix matrix = kg_ell_shape(s->m, &s->count);
  const size_t n = (size_t)matrix.width * (size_t)matrix.stride;
  const size_t halo = n_rhs * (size_t)s->count.n_shared * (size_t)s->m;
  const unsigned of_cycle = has_copies(&s->choice) ? 0 : KG_IN(DOWN) | KG_IN(UP);
  const unsigned products = KG_IN(BOUND) | KG_IN(RESIDUAL) | KG_IN(STEP) | of_cycle;
  if (s->choice.linear == KEDGE_OPERATOR_ELL) {
    kg_plan_array(plan, "ELL columns", n, sizeof *it->ell_column, kept, &it->ell_column);
    kg_plan_array(plan, "ELL values", n, sizeof *it->ell_value, kept, &it->ell_value);
    kg_plan_array(plan, "ELL work", s->ell_work_bytes, 1, KG_IN(ASSEMBLY), &it->ell_work);
  } else if (s->choice.linear == KEDGE_OPERATOR_MATRIX_FREE_PLAIN) {
    kg_plan_array(plan, "full K^e", kg_local_bytes(&full), 1, kept, &it->full_local);
  } else {
    kg_plan_array(plan, "halo", halo, sizeof *it->halo, products | kg_phase_of_b(&s->choice),
                  &it->halo);
  }
}

void kg_iteration_declare(kg_plan *plan, const kg_shape *s, int n_rhs, kg_iteration *it)
{
  const kg_batch batch = {.m = s->m, .count = s->count};
  kg_krylov *const k = &it->method.base;
  *it = (kg_iteration){0};
  if (n_rhs > 1) declare_several(plan, s, it, (size_t)n_rhs);
  declare_linear(plan, s, (size_t)n_rhs, it);
  make_linear(it, s, &batch, kg_shape_locals(s), n_rhs);
  k->linear = &it->linear.base;
  k->precond = make_precond(it, s, &batch, n_rhs);
  k->sum_phases = kg_phase_of_b(&s->choice);
  k->table = kg_krylov_for(k->linear, k->precond);
  if (k->table) k->table->declare(plan, k);
}

kedge_status kg_iteration_bind(kedge_context *ctx, kg_iteration *it, const kg_shape *s,
                               const kg_batch *batch, kg_locals locals)
{
  kg_krylov *const k = &it->method.base;
  const int n_rhs = k->linear->n_rhs;
  KG_REQUIRE(ctx, k->table, KEDGE_ERR_INTERNAL, "no iteration takes the trace operator with %s",
             k->precond->table->name);
  make_linear(it, s, batch, locals, n_rhs);
  make_cycle_linear(it, batch, it->multigrid.single.locals, n_rhs);
  k->table->bind(k);
  it->x = k->x;
  it->first = it->blocks = it->cycle;
  it->first.well = true;
  it->blocks.blocks = true;
  return KEDGE_OK;
}

void kg_iteration_free(kedge_context *ctx, kg_iteration *it)
{
  kg_krylov *const k = &it->method.base;
  if (k->table) k->table->free(ctx, k);
  kg_multigrid_destroy(ctx, &it->multigrid);
}

bool kg_many_pays(const kedge_context *ctx, int n)
{
  return ctx->backend == KEDGE_BACKEND_CUDA && n >= 3;
}

/// Whether there is a product of many vectors with all K^e.
static bool multiplies_many(kedge_context *ctx, const kg_shape *s, const kg_locals *locals)
{
  kg_trace_apply_args args = {.local = locals->local[0]};
  args.batch.m = s->m;
  args.batch.count = s->count;
  args.batch.arrays.lanes = s->count.lanes;
  return locals->n_locals == 1 && kg_trace_takes_many(ctx, &args);
}

bool kg_many_takes(kedge_context *ctx, const kg_shape *s)
{
  const kg_choice *c = &s->choice;
  if (c->linear != KEDGE_OPERATOR_MATRIX_FREE || c->precond != KG_CYCLE ||
      c->iterates != KG_DOUBLE || !kg_all_lanes_are(&s->count.lanes, KG_TRIANGLES) ||
      !c->form->symmetric || !kg_smoother_table_of(c->smoother)->takes_many)
    return false;
  const kg_multigrid_shape multigrid = kg_shape_multigrid(s);
  const kg_locals locals = kg_shape_locals(s), copies = kg_multigrid_cycle_locals(&multigrid);
  return multiplies_many(ctx, s, &locals) && multiplies_many(ctx, s, &copies);
}

int64_t kg_many_bytes(const kg_shape *shape)
{
  kg_plan plan = {0};
  kg_iteration iteration;
  kg_iteration_declare(&plan, shape, KG_VECTORS, &iteration);
  return (int64_t)kg_plan_place(&plan);
}
