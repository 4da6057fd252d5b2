#include "ops/smooth/line_sweep.h"

#include "device/context.h"

KG_OPERATOR_OF_NUMBERS(kg_line_sweep, kg_line_sweep_args, args->number)

/// Factors and x are read once, x is written once; the edge of a step.
kg_cost kg_line_sweep_cost(int m, int32_t n_steps, kg_number number)
{
  const double square = m * m, steps = n_steps, real = (double)kg_number_bytes(number);
  return (kg_cost){.bytes = steps * (sizeof(float) * square + real * 2.0 * m + 4.0),
                   .flops = steps * 2.0 * square};
}
