// element_operator.cuh: what kernels that solve A x = b for every element share.
//
// An operator has
//   TERMS                       how many reference matrices it combines
//   explicit operator(element)  its factors for an element
//   read(ref, k, r)             entry k of the packed reference matrices
//   combine(r, same)            the entry of A; whether its modes are of the same parity
//   BY_PARITY                   whether parity matters; then
//   combine_other(r)            the entry for modes of different parity, from fewer of the matrices
//   diagonal                    what is added to the diagonal of A
#pragma once
#include "device/cuda_rt.h"
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

__device__ __forceinline__ kg_element element_of(const element_solve_args &a, int64_t g, int lane)
{
  double x[3], y[3];
  kg_element_corners(a.batch.arrays.vertices, a.batch.arrays.vertex, a.first_group + g, lane, x, y);
  return kg_element_of(x, y, a.material);
}

}  // namespace kg
