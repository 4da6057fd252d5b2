/// @file
/// The inside of a context.
#pragma once
#include "device/backend.h"
#include "core/error.h"
KEDGE_BEGIN_DECLS

struct kedge_context {
  kedge_backend backend;
  const kg_backend_table *table;
  void *state;             ///< of the backend
  int threads;             ///< OpenMP threads of host loops
  int64_t work_of_a_team;  ///< KG_WORK_OF_A_TEAM; 0 in tests: every loop takes all threads
  void *scratch;           ///< of the threads of a loop, kg_loop_scratch()
  size_t scratch_bytes;    ///< of all threads
  char device[192];
  char reason[192];
  char error[1024];
  char plan_note[200];  ///< behind kedge_plan.note
  kedge_progress_function *progress;
  void *progress_user;
  double progress_interval, progress_told;  ///< seconds; and when the function was last called
  int64_t bytes_in_use, bytes_peak;         ///< of kg_alloc(), for the report
  double
      *reference[KEDGE_ORDER_MAX + 1];  ///< reference matrices, of kg_reference_of(); NULL: not yet
  bool arrays_apart;                    ///< of a solve: none lies where another one did before
  int n_cuts;                           ///< of a solve, for tests: elements that begin a batch too
  const int32_t *cuts;                  ///< [n_cuts], ascending
  struct kg_images *images;             ///< of kernels compiled at run time (device/cuda_nvrtc.h)
  int broken_guards;                    ///< of the shadow backend: arrays with writes beside them
};

/// Hand a moment to the progress function, if there is one.
/// @retval KEDGE_ERR_CANCELLED  the progress function does not want to go on
kedge_status kg_progress(kedge_context *ctx, const kedge_progress *progress);

KEDGE_END_DECLS
