#include "ops/rounding.h"

#include "core/context.h"

KG_OPERATOR_OF_NUMBERS(kg_rounding_perturb, kg_cg_vectors_args, kg_cg_number(args))
KG_OPERATOR_OF_NUMBERS(kg_rounding_sum, kg_cg_vectors_args, kg_cg_number(args))

kg_cost kg_rounding_cost(int64_t n)
{
  return (kg_cost){.bytes = 3 * 8.0 * (double)n, .flops = 4.0 * (double)n};
}
