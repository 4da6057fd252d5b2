// element_solve.cuh: what kernels that solve A x = b for every element of a chunk take.
#pragma once
#include "device/cuda_each.cuh"
#include "ops/local/triangle/element.h"
#include "ops/ops.h"

namespace kg
{

struct element_solve_args {
  kg_batch batch;
  kg_material material;
  int32_t first_group, n_groups;  ///< the chunk of this call
  double *x;
  int rows;  ///< of x in a group
};

}  // namespace kg
