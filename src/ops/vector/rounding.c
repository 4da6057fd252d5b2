#include "ops/vector/rounding.h"

#include "device/context.h"

KG_OPERATOR_OF_NUMBERS(kg_rounding_perturb, kg_rounding_args, args->number)
KG_OPERATOR_OF_NUMBERS(kg_rounding_sum, kg_rounding_args, args->number)

kg_cost kg_rounding_cost(int64_t n)
{
  return (kg_cost){.bytes = 3 * 8.0 * (double)n, .flops = 4.0 * (double)n};
}
