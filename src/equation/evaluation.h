/// @file
/// Who evaluates functions at the points of elements (docs/report.md#evaluation). On the CUDA
/// backend the GPU does: it interprets them, or, where there are so many points that compiling
/// pays, and NVRTC is there, runs a kernel made for them. Else, and where the GPU meets a value
/// that is bad, which then needs a sentence, the host does. A solve says in its report which it
/// was.
///
/// KEDGE_EVALUATE=host, =interpret or =compile in the environment takes the choice away, where
/// there is one.
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

/// Functions and the way they are evaluated in. Nothing is allocated or compiled before
/// kg_evaluation_prepare(). Where all three are NULL the host evaluates.
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

/// Read KEDGE_EVALUATE; NULL: it is not set.
/// @retval KEDGE_ERR_INPUT  KEDGE_EVALUATE is a word without meaning
kedge_status kg_evaluation_wish(kedge_context *ctx, const char **wish);
/// Choose, unless this was done. @param[in] points  at which there will be values, of an element,
/// as often as they are evaluated
kedge_status kg_evaluation_prepare(kg_evaluation *e, double points);
/// Take the next way: the interpreter in place of a kernel, the host in place of it.
void kg_evaluation_change(kg_evaluation *e);
/// Note where the functions are evaluated, in place of what is noted of them already.
void kg_evaluation_note(const kg_evaluation *e, const char *where);
void kg_evaluation_close(kg_evaluation *e);

/// Operations of all functions at a point.
double kg_evaluation_operations(const kg_evaluation *e);
/// Have the GPU evaluate at points of groups [first, first + count) of a batch by quadrature.
/// @param[in]  args  its points, what is to be done there, and where values go
/// @param[out] done  whether it could: else the host has to
kedge_status kg_evaluation_cells(kg_evaluation *e, int batch, int32_t first, int32_t count,
                                 kg_cell_values_args args, bool *done);
/// Have it interpret at points of groups of straight triangles: values count once
/// kg_evaluation_bad() finds none that is bad.
/// @param[in]  args  likewise
/// @param[out] done  whether it could: else a kernel or the host has to
kedge_status kg_evaluation_triangles(const kg_evaluation *e, int batch, kg_evaluate_args args,
                                     bool *done);
/// Wait for what the GPU has evaluated last at points of straight triangles.
/// @param[out] bad  as kg_evaluate_bad() or, with a kernel, kg_sample_bad(); -1 for the host
kedge_status kg_evaluation_bad(const kg_evaluation *e, int64_t *bad);
