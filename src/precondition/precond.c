#include "precondition/precond.h"

#include "device/context.h"
#include "ops/advice.h"
#include "ops/vector/round.h"

kg_precond kg_jacobi_of(const double *inverse)
{
  return (kg_precond){
      .table = &kg_jacobi_table, .number = KG_DOUBLE, .pointwise = true, .inverse = inverse};
}

static kg_cost no_cost(const kg_precond *base)
{
  (void)base;
  return (kg_cost){0};
}

const kg_precond_table kg_jacobi_table = {.name = "Jacobi", .cost = no_cost};

/// What helps where one step smooths too far: more have its bound measured
/// (precondition/smoother.h).
static const char *remedy_of(const kg_multigrid_shape *shape)
{
  if (shape->smoothing_steps != 1 || kg_multigrid_is_measured(shape)) return KG_WITHOUT_MULTIGRID;
  return !kg_smoother_has_lines(shape->smoother)
             ? "smoothing_steps = 2, which measures the bound of its smoother, smoother = line "
               "where triangles are thin, or " KG_WITHOUT_MULTIGRID
             : "smoothing_steps = 2, which measures the bound of its smoother, "
               "or " KG_WITHOUT_MULTIGRID;
}

kg_cycle kg_cycle_of(const kg_multigrid *m, const kg_patches *a, void *product, int32_t *exponent)
{
  kg_cycle c = {
      .base = {.table = &kg_cycle_table, .number = m->shape.number, .remedy = remedy_of(&m->shape)},
      .multigrid = m,
      .linear = *a,
      .product = product};
  if (!kg_multigrid_has_copies(&m->shape)) return c;
  kg_trace_product_args args = a->args;
  args.locals = m->single.locals;
  args.halo = m->single.halo;
  c.linear = kg_patches_of(&args);
  c.product = m->single.product;
  c.exponent = exponent;
  return c;
}

static kedge_status begin(kedge_context *ctx, const kg_precond *base, double rr)
{
  const kg_cycle *c = (const kg_cycle *)base;
  const int32_t exponent = kg_round_exponent(rr);
  return c->exponent ? kg_copy_in(ctx, c->exponent, &exponent, sizeof exponent) : KEDGE_OK;
}

/// Zeros in the rows of z that steps do not write.
static kedge_status zero_dirichlet(kedge_context *ctx, const kg_cycle *c, void *z)
{
  const kg_linear *a = &c->linear.base;
  const size_t real = kg_number_bytes(c->base.number);
  return kg_zero(ctx, (char *)z + (size_t)a->rows * real, (size_t)(a->all_rows - a->rows) * real);
}

static kedge_status apply(kedge_context *ctx, const kg_precond *base, const void *r, void *z,
                          const kg_pass *pass)
{
  const kg_cycle *c = (const kg_cycle *)base;
  const kg_multigrid *m = c->multigrid;
  if (!c->blocks) KG_TRY(kg_plan_enter(ctx, m->plan, KG_PHASE_DOWN));
  if (kg_multigrid_z_rests(&m->shape)) KG_TRY(zero_dirichlet(ctx, c, z));
  kg_multigrid_vectors v = {.r = r, .z = z, .product = c->product, .sum = pass->sum};
  if (c->exponent) {
    v.r = m->single.r;
    v.sum.exponent = c->exponent;
    KG_TRY(kg_round(
        ctx, &(kg_round_args){
                 .n = c->linear.base.rows, .from = r, .to = m->single.r, .exponent = c->exponent}));
  }
  return c->blocks ? kg_multigrid_apply_blocks(ctx, m, &c->linear, &v)
                   : kg_multigrid_apply(ctx, m, c->well, &c->linear, &v);
}

static kg_cost cost(const kg_precond *base)
{
  return kg_multigrid_apply_cost(&((const kg_cycle *)base)->multigrid->shape);
}

const kg_precond_table kg_cycle_table = {
    .name = "multigrid", .begin = begin, .apply = apply, .cost = cost};
