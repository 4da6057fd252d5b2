#include "ops/smooth/smooth_vectors.h"

#include "device/context.h"

KG_OPERATOR_OF_NUMBERS(kg_smooth_residual, kg_smooth_vectors_args, args->number)
KG_OPERATOR_OF_NUMBERS(kg_smooth_advance, kg_smooth_vectors_args, args->number)

kg_cost kg_smooth_vectors_cost(int64_t n, kg_number number)
{
  // residual: r, A z in, v out; advance: y, z, r in, z out.
  return (kg_cost){.bytes = 7.0 * (double)kg_number_bytes(number) * (double)n,
                   .flops = 5.0 * (double)n};
}
