/// @file
/// The run of a solve through the stages of its method, with the time and cost of each stage.
#pragma once
#include "device/plan.h"
#include "method/method.h"
#include "ops/ops.h"
#include "solution/solution.h"
KEDGE_BEGIN_DECLS

typedef struct kg_run {
  kedge_context *ctx;
  const kg_method *method;
  kg_plan *plan;               ///< whose phases the stages enter
  kedge_solution *solution;    ///< whose report is filled
  bool is_again;               ///< a set-up stands, and solves follow
  int64_t n_elements, n_rows;  ///< for ranges of profilers
  int stage;                   ///< running
  double began;
} kg_run;

/// Begin a stage or a part of it: its phase, its NVTX range, its clock. Stages do not nest.
kedge_status kg_run_begin(kg_run *run, int stage);
/// End a stage: wait for the device and add the time since kg_run_begin() to the report. `status`
/// is the result of the stage's work; it is returned if it is a failure.
kedge_status kg_run_end(kg_run *run, kedge_status status);
/// Call the progress function: a stage has begun, continues, or has ended. The function also gets
/// the time of the stage from the report.
/// @retval KEDGE_ERR_CANCELLED  the progress function wants to stop the solve
kedge_status kg_run_announce(const kg_run *run, int stage, bool finished);
/// Add the cost of an operator to the running stage of the report.
void kg_run_cost(const kg_run *run, kg_cost cost, double times);

KEDGE_END_DECLS
