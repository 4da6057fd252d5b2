#include "ops/vector/pcg_vectors.h"

#include "device/context.h"

KG_OPERATOR_OF_NUMBERS(kg_pcg_direction, kg_cg_vectors_args, kg_cg_number(args))
KG_OPERATOR_OF_NUMBERS(kg_pcg_update, kg_cg_vectors_args, kg_cg_number(args))

kg_cost kg_pcg_vectors_cost(int64_t n, kg_number number)
{
  // direction: z, p in, p out; update: x, p, r, Ap in, x, r out.
  return (kg_cost){.bytes = (number == KG_SINGLE ? 4.0 * 7.0 + 8.0 * 2.0 : 8.0 * 9.0) * (double)n,
                   .flops = 8.0 * (double)n};
}
