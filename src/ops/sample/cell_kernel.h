/// @file
/// Values of functions at points of cells by a CUDA kernel that is made for them when they are
/// known (cell_kernel.cuh).
#pragma once
#include "expression/function.h"
#include "ops/sample/cell_values.h"

typedef struct kg_cell_kernel kg_cell_kernel;

/// The kernel's source, CUDA C++.
/// @param[in]  dimension  of the cells, 2 or 3
/// @param[out] source  freed with free(); NULL on failure
/// @retval KEDGE_ERR_UNSUPPORTED  as kg_functions_emit()
kedge_status kg_cell_kernel_source(kedge_context *ctx, int dimension, int n_functions,
                                   const kg_function *const *functions, char **source);

/// Below: builds with CUDA.
kedge_status kg_cell_kernel_create(kedge_context *ctx, int dimension, int n_functions,
                                   const kg_function *const *functions, kg_cell_kernel **out);
void kg_cell_kernel_free(kg_cell_kernel *kernel);
/// Evaluate, and wait. After a bad value the kernel is of no more use.
/// @param[out] bad  see cell_values.h
kedge_status kg_cell_kernel_run(kedge_context *ctx, const kg_cell_kernel *kernel,
                                const kg_cell_values_args *args, int64_t *bad);
