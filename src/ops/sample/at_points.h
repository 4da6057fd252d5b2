/// @file
/// Values of functions at points that lie in device memory: those of facets of the boundary, say.
/// By register code, or by a CUDA kernel that is made for the functions when they are known.
/// Builds with CUDA, but for the source of the kernel.
#pragma once
#include "ops/sample/evaluate.h"
#include "expression/function.h"
KEDGE_BEGIN_DECLS

/// Points lie in pieces, each with the values of all functions one behind the other. Nothing waits.
typedef struct kg_at_points_args {
  kg_number number;  ///< of the values
  int64_t n;
  int piece;              ///< points of a piece
  const double *x;        ///< [3][n]
  const int32_t *region;  ///< [n]
  double t;
  void *values;  ///< out: [piece][function][point of the piece]
  /// out: 1 where a value is not finite in these numbers, or nothing is known of it; else it stays
  unsigned *bad;
} kg_at_points_args;

/// Evaluate register code (evaluate.h), whose time is that of the arguments.
kedge_status kg_evaluate_points(kedge_context *ctx, kg_point_code *code,
                                const kg_at_points_args *args);

typedef struct kg_point_kernel kg_point_kernel;

/// The kernel's source, CUDA C++.
/// @param[out] source  freed with free(); NULL on failure
/// @retval KEDGE_ERR_UNSUPPORTED  as kg_functions_emit()
kedge_status kg_point_kernel_source(kedge_context *ctx, int n_functions,
                                    const kg_function *const *functions, char **source);
kedge_status kg_point_kernel_create(kedge_context *ctx, int n_functions,
                                    const kg_function *const *functions, kg_point_kernel **out);
void kg_point_kernel_free(kg_point_kernel *kernel);
/// Likewise. Angles that are too large for its sines are bad.
kedge_status kg_point_kernel_run(kedge_context *ctx, const kg_point_kernel *kernel,
                                 const kg_at_points_args *args);

KEDGE_END_DECLS
