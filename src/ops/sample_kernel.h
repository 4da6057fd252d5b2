/// @file
/// Values of functions at the points of elements, by a CUDA kernel made for these functions when
/// they are known. The points lie in its constant memory.
#pragma once
#include "ops/ops.h"
#include "problem/problem.h"

enum { KG_SAMPLE_WARPS = 4 };  ///< of a block, which does one group

/// Points of the reference triangle.
typedef struct kg_sample_points {
  int n;
  const double *r, *s;  ///< [n]
} kg_sample_points;

typedef struct kg_sample_kernel kg_sample_kernel;

typedef struct kg_sample_kernel_args {
  const double *vertices;  ///< [vertex][2]
  const int32_t *vertex;   ///< [group][3][lane]
  int32_t first_group, n_groups;
  double *values;  ///< out: [group of the chunk][function][point][lane]
} kg_sample_kernel_args;

/// The kernel's source: CUDA C++, and C for who defines the words of CUDA as nothing.
/// @param[out] source  freed with free(); NULL on failure
/// @retval KEDGE_ERR_UNSUPPORTED  as kg_functions_emit()
kedge_status kg_sample_kernel_source(kedge_context *ctx, kg_sample_points points, int n_functions,
                                     const kg_function *const *functions, char **source);

/// Below: builds with CUDA.
kedge_status kg_sample_kernel_create(kedge_context *ctx, kg_sample_points points, int n_functions,
                                     const kg_function *const *functions, kg_sample_kernel **out);
void kg_sample_kernel_free(kg_sample_kernel *kernel);
/// Run and wait.
/// @param[out] bad  smallest index into values of one that is not finite; -1: all are finite
kedge_status kg_sample_kernel_run(kedge_context *ctx, const kg_sample_kernel *kernel,
                                  const kg_sample_kernel_args *args, int64_t *bad);
