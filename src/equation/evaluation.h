/// @file
/// The choice of who evaluates functions at the points of elements (docs/report.md#evaluation).
/// With the CUDA backend the GPU does: it interprets the functions or, if NVRTC is available and
/// there are so many points that compiling pays, runs a kernel compiled for them. Otherwise the
/// host does, and also where the GPU meets a bad value, as the host can say where. The report of a
/// solve names the choice.
///
/// The environment variable KEDGE_EVALUATE=host, =interpret or =compile overrides it on a GPU.
#pragma once
#include "device/backend.h"
#include "ops/sample/cell_kernel.h"
#include "ops/sample/evaluate.h"
#include "ops/sample/sample_kernel.h"
#include "equation/rules.h"

typedef enum kg_evaluated {
  KG_EVALUATED_SOURCE,
  KG_EVALUATED_EXACT,
  KG_EVALUATED_COEFFICIENTS,
  KG_EVALUATED_COUNT
} kg_evaluated;

/// Functions and the way they are evaluated. Nothing is allocated or compiled before
/// kg_evaluation_prepare(). If `triangles`, `cells` and `code` are all NULL, the host evaluates.
typedef struct kg_evaluation {
  const kg_rules *rules;
  kg_sample_set set;
  kg_evaluated what;
  bool is_array;  ///< values lie on the device, by element: nothing is evaluated
  bool ready;
  kg_sample_kernel
      *triangles;  ///< that the kernels of straight triangles take: no values in memory
  kg_cell_kernel *cells;
  kg_point_code *code;
} kg_evaluation;

/// Read the environment variable KEDGE_EVALUATE. @param[out] wish  its value; NULL: it is not set
/// @retval KEDGE_ERR_INPUT  its value is not one of the known words
kedge_status kg_evaluation_wish(kedge_context *ctx, const char **wish);
/// Choose how the functions are evaluated, unless this has been done.
/// @param[in] points  evaluations in an element: its points times how often they are evaluated
kedge_status kg_evaluation_prepare(kg_evaluation *e, double points);
/// Take the next way: the interpreter in place of a kernel, the host in place of it.
void kg_evaluation_change(kg_evaluation *e);
/// Note where the functions are evaluated, in place of what is noted of them already.
void kg_evaluation_note(const kg_evaluation *e, const char *where);
void kg_evaluation_close(kg_evaluation *e);

/// Operations of all functions at a point.
double kg_evaluation_operations(const kg_evaluation *e);
/// The time at which they are evaluated, which all have in common.
double kg_evaluation_time(const kg_evaluation *e);
/// Evaluate functions on the GPU in groups [first, first + count) of a batch by quadrature.
/// @param[in]  args  the points, what is done with the values, and the array for them
/// @param[out] done  false: the GPU could not do it, and the host has to
kedge_status kg_evaluation_cells(kg_evaluation *e, int batch, int32_t first, int32_t count,
                                 kg_cell_values_args args, bool *done);
/// Start the GPU's interpreter at the points of groups of straight triangles. The values may be
/// used once kg_evaluation_bad() has found no bad one.
/// @param[in]  args  the points, the groups, and the array for the values
/// @param[out] done  false: no interpreted code exists; a compiled kernel or the host must evaluate
kedge_status kg_evaluation_triangles(const kg_evaluation *e, int batch, kg_evaluate_args args,
                                     bool *done);
/// Wait until the GPU has evaluated functions at points of straight triangles.
/// @param[out] bad  index of the first value that is not finite, from kg_sample_bad() for a
///                  compiled kernel, else kg_evaluate_bad(); -1: none, or the host evaluates
kedge_status kg_evaluation_bad(const kg_evaluation *e, int64_t *bad);
