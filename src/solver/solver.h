/// @file
/// The inside of a solver, and what its solves share.
#pragma once
#include "kedge/solver.h"
#include "solver/data.h"
#include "elliptic/elliptic.h"

struct kedge_solver {
  kg_elliptic *elliptic;  ///< it does not move: its arrays are known by their places
  int64_t version;        ///< of the problem that was set up; 0: of none
  kg_shared_layout
      *cut;       ///< that of the pipeline, which borrows it; NULL: the pipeline has its own
  int64_t bytes;  ///< of device memory that the set-up and `many` hold
  kedge_solution set_up;  ///< its report, and where coefficients are evaluated
  /// [free edge, in the caller's order of unknowns]: trace edge << 1 | the caller's direction is
  /// the other one (solver/unknowns.h); NULL: nobody has asked yet
  uint32_t *unknowns;
  kg_buffer device_unknowns;  ///< `unknowns` in device memory; zeros: nobody has asked yet
  kg_buffer element_order;    ///< of kg_caller_order_upload(), from its first use on
  kg_buffer node_tables;      ///< of kg_giving_open(), during a solve
  kg_given *given;            ///< [kedge_data.n_device], during a solve
  struct kg_many *many;       ///< from the first solve of many on; NULL: there is none
  int vector;                 ///< of many, that is being solved
};

/// Refuse what a solver cannot do once its problem has changed.
/// @param[in] function  for the sentence
kedge_status kg_solver_check(const kedge_solver *solver, const char *function);
/// Refuse also where the operator is not there in double precision.
kedge_status kg_solver_check_double(const kedge_solver *solver, const char *function);

/// Parts of a solve with data in place of the problem's: what `work` does.
/// @param[in] begins  the solution is filled in or made first; else it is one that has begun
kedge_status kg_solver_work(kedge_solver *solver, const char *function, const kedge_data *data,
                            kedge_solution **solution, bool begins,
                            kedge_status (*work)(kedge_solver *));
/// The last parts of a solve, from the trace solve on.
kedge_status kg_solver_end(kedge_solver *solver);
/// Forget what solves of many at once keep.
void kg_solver_forget_many(kedge_solver *solver, kedge_context *ctx);
/// Solve with data in place of the problem's; or, without an iteration, take the trace.
/// @param[in] function  that was called, for sentences
/// @param[in] trace     [free row] in host memory, in the numbering of the trace; NULL: solve
kedge_status kg_solver_run(kedge_solver *solver, const char *function, const kedge_data *data,
                           const double *trace, kedge_solution **solution);
