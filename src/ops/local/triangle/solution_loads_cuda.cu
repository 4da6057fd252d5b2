// solution_loads_cuda.cu: load vectors from the modes of a solution.
// Layout  [group][mode][lane], both: lanes are neighbouring words.
// Map     thread = element.
// Cost    of an element 8 (2 N) + 12 bytes, N operations.
#include "device/cuda_each.cuh"
#include "ops/local/triangle/solution_loads.h"

extern "C" kedge_status kg_solution_loads_cuda(kedge_context *ctx, const kg_solution_loads_args *a)
{
  const int64_t lanes = ((int64_t)a->n_elements + KG_LANES - 1) / KG_LANES * KG_LANES;
  return kg_do_each<256, kg_solution_load>(ctx, "solution_loads", lanes, *a);
}
