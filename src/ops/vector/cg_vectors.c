#include "ops/vector/cg_vectors.h"

#include "device/context.h"

KG_OPERATOR(kg_cg_begin, kg_cg_vectors_args)
KG_OPERATOR(kg_cg_update, kg_cg_vectors_args)
KG_OPERATOR(kg_cg_direction, kg_cg_vectors_args)

kg_cost kg_cg_vectors_cost(int64_t n)
{
  // update: z, Ap, D^-1 in, z out; direction: z, p, x in, p, x out.
  return (kg_cost){.bytes = 8.0 * 9.0 * (double)n, .flops = 12.0 * (double)n};
}
