/// @file
/// Load vectors and errors from formulas, by a CUDA kernel made for these formulas when they are
/// known: it evaluates a function where the value is needed (sample_kernels.cuh).
#pragma once
#include "ops/sample/errors.h"
#include "ops/sample/load_vectors.h"
#include "problem/problem.h"

/// A kernel makes load vectors from one function, or errors against u, u_x, u_y.
typedef enum kg_sample_kind { KG_SAMPLE_LOADS, KG_SAMPLE_ERRORS, KG_SAMPLE_KINDS } kg_sample_kind;

typedef struct kg_sample_kernel kg_sample_kernel;

/// How a kernel goes through the rows of points of a group.
typedef struct kg_sample_shape {
  int share;   ///< warps that share a group
  int blocks;  ///< blocks for which a multiprocessor is to have registers
} kg_sample_shape;

kg_sample_shape kg_sample_shape_of(kg_sample_kind kind, int order);

/// The kernel's source, CUDA C++. @param functions  one, or three
/// @param[out] source  freed with free(); NULL on failure
/// @retval KEDGE_ERR_UNSUPPORTED  as kg_functions_emit()
kedge_status kg_sample_kernel_source(kedge_context *ctx, kg_sample_kind kind, kg_points points,
                                     const kg_function *const *functions, char **source);

/// The cost of load vectors or errors without values in memory, from functions of `operations`
/// operations a point. @param[in] rows  of the rule of errors
/// @param[in] flux  as kg_errors_cost()
kg_cost kg_sample_cost(kg_sample_kind kind, kg_sizes size, int rows, bool flux, double operations,
                       int64_t n_elements);

/// Below: builds with CUDA.
kedge_status kg_sample_kernel_create(kedge_context *ctx, kg_sample_kind kind, kg_points points,
                                     const kg_function *const *functions, kg_sample_kernel **out);
void kg_sample_kernel_free(kg_sample_kernel *kernel);
/// Launch; `values` and `exact` of the arguments are not looked at.
/// @param[in] region  [element of the batch], in device memory; NULL: no function reads it
/// @param[in] t       the time
kedge_status kg_sample_loads(kedge_context *ctx, const kg_sample_kernel *kernel,
                             const kg_load_vectors_args *args, const int32_t *region, double t);
kedge_status kg_sample_errors(kedge_context *ctx, const kg_sample_kernel *kernel,
                              const kg_errors_args *args, const int32_t *region, double t);
/// Wait for all launches of the kernel.
/// @param[out] bad  smallest index [group][function][point][lane] of a value that was not finite;
///                  -1: all were finite
kedge_status kg_sample_bad(kedge_context *ctx, const kg_sample_kernel *kernel, int64_t *bad);
