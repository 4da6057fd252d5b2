// A residual with an A that lies in memory.
#include "device/context.h"
#include "linear/system.h"
#include "ops/vector/difference.h"

static kedge_status plain_make(kedge_context *ctx, kg_residual *base, const double *x, double *r,
                               kg_sum sum)
{
  const kg_plain_residual *p = (const kg_plain_residual *)base;
  const kg_linear *a = p->linear;
  const int64_t n = a->rows * a->n_rhs;
  KG_TRY(x ? kg_linear_apply(ctx, a, x, r, &(kg_pass){0}) : kg_zero(ctx, r, (size_t)n * sizeof *r));
  return kg_difference(
      ctx, &(kg_difference_args){.n = n, .b = p->b, .r = r, .sum = sum, .many = a->n_rhs > 1});
}

static kg_cost plain_cost(const kg_residual *base)
{
  const kg_linear *a = ((const kg_plain_residual *)base)->linear;
  return a->table->cost(a);
}

kg_plain_residual kg_plain_residual_of(const kg_linear *linear, const double *b)
{
  return (kg_plain_residual){{plain_make, plain_cost}, linear, b};
}
