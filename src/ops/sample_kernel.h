/// @file
/// Load vectors and errors from formulas, by a CUDA kernel made for these formulas when they are
/// known: it evaluates a function where the value is needed (sample_kernels.cuh).
#pragma once
#include "ops/errors.h"
#include "ops/load_vectors.h"
#include "problem/problem.h"

/// What is made from the functions: load vectors of one, errors against u, u_x, u_y.
typedef enum kg_sample_kind { KG_SAMPLE_LOADS, KG_SAMPLE_ERRORS } kg_sample_kind;

/// Points of the reference triangle, and what belongs to them, in host memory.
typedef struct kg_sample_points {
  int order;
  kg_points points;
} kg_sample_points;

typedef struct kg_sample_kernel kg_sample_kernel;

/// Of the kernel for errors, by order. One row at a time leaves the registers to more warps, which
/// is more here than loads of modes that two rows share.
static inline kg_error_shape kg_sample_shape(int order)
{
  static const kg_error_shape shapes[KEDGE_ORDER_MAX] = {
      {1, 2, 4}, {1, 1, 4}, {1, 1, 4}, {4, 1, 4}, {4, 1, 4}, {5, 1, 3},
      {5, 1, 3}, {4, 1, 3}, {4, 1, 3}, {5, 1, 2}, {5, 1, 2}, {5, 1, 2}};
  return shapes[order - 1];
}

/// The kernel's source, CUDA C++. @param functions  one, or three
/// @param[out] source  freed with free(); NULL on failure
/// @retval KEDGE_ERR_UNSUPPORTED  as kg_functions_emit()
kedge_status kg_sample_kernel_source(kedge_context *ctx, kg_sample_kind kind,
                                     kg_sample_points points, const kg_function *const *functions,
                                     char **source);

/// Load vectors or errors without values in memory, from functions of so many operations a point.
kg_cost kg_sample_cost(kg_sample_kind kind, kg_sizes size, double operations, int64_t n_elements);

/// Below: builds with CUDA.
kedge_status kg_sample_kernel_create(kedge_context *ctx, kg_sample_kind kind,
                                     kg_sample_points points, const kg_function *const *functions,
                                     kg_sample_kernel **out);
void kg_sample_kernel_free(kg_sample_kernel *kernel);
/// Run and wait; `values` and `exact` of the arguments are not looked at.
/// @param[out] bad  smallest index [group of the call][function][point][lane] of a value that is
///                  not finite; -1: all are finite
kedge_status kg_sample_loads(kedge_context *ctx, const kg_sample_kernel *kernel,
                             const kg_load_vectors_args *args, int64_t *bad);
kedge_status kg_sample_errors(kedge_context *ctx, const kg_sample_kernel *kernel,
                              const kg_errors_args *args, int64_t *bad);
