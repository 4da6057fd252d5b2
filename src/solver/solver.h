/// @file
/// The internal structure of a solver, which is set up once for many solves, and functions that
/// these solves share.
#pragma once
#include "elliptic/elliptic.h"
#include "kedge/solver.h"

struct kedge_solver {
  kg_elliptic *elliptic;  ///< it does not move: its arrays are known by their places
  int64_t version;        ///< of the problem that was set up; 0: of none
  int64_t bytes;          ///< of device memory that the set-up and `many` hold
  kedge_solution set_up;  ///< its report, and where coefficients are evaluated
  /// [free edge, in the caller's order of unknowns]: the number of the edge in the trace, times
  /// two, plus 1 if the caller gives the edge the other direction (solver/unknowns.h). NULL: the
  /// table has not been needed yet.
  uint32_t *unknowns;
  kg_buffer device_unknowns;  ///< `unknowns` in device memory; zeros: nobody has asked yet
  kg_buffer element_order;    ///< of kg_caller_order_upload(), from its first use on
  kg_buffer node_tables;      ///< of kg_giving_open(), during a solve
  kg_given *given;            ///< [kedge_data.n_device], during a solve
  struct kg_many *many;       ///< from the first solve of many on; NULL: there is none
  int vector;                 ///< of many, that is being solved
};

/// Fail if the problem has changed since the solver was set up.
/// @param[in] function  the name of the called function, for the error message
kedge_status kg_solver_check(const kedge_solver *solver, const char *function);
/// Fail also if the trace operator is not kept in double precision.
kedge_status kg_solver_check_double(const kedge_solver *solver, const char *function);

/// Whether a solution has the arrays of this solver's results.
bool kg_solver_fits(const kedge_solver *solver, const kedge_solution *solution);

/// A trace that is taken as it is, without an iteration.
typedef struct kg_taken_trace {
  const double *rows;      ///< [free row] in host memory, in the numbering of the trace; or NULL
  kg_unknowns_args there;  ///< from device memory: all but `to`
} kg_taken_trace;

/// kedge_solver_create() of a solver whose solves are stages of steps in time, beside so many
/// vectors of u; 0: they are not.
kedge_status kg_solver_create(kedge_context *ctx, const kedge_mesh *mesh,
                              const kedge_problem *problem, int march_vectors, kedge_solver **out);

/// Parts of a solve with data in place of the problem's.
typedef struct kg_work {
  const char *function;         ///< that was called, for sentences
  const kedge_data *data;       ///< NULL: those of the problem
  const kg_taken_trace *trace;  ///< NULL: it is solved for
  bool begins;  ///< the solution is filled in or made first; else it is one that has begun
  kedge_status (*run)(kedge_solver *);
  const kg_moving *moving;  ///< NULL: the solve is no stage of a step in time
  const double *start;      ///< rows of the trace in device memory to begin with; NULL: `data` says
} kg_work;

kedge_status kg_solver_work(kedge_solver *solver, const kg_work *work, kedge_solution **solution);
/// The last parts of a solve, behind the trace solve.
kedge_status kg_solver_end(kedge_solver *solver);
/// Free the memory of joint solves with several right-hand sides.
void kg_solver_forget_many(kedge_solver *solver, kedge_context *ctx);
/// All parts of a solve.
kedge_status kg_solver_run(kedge_solver *solver, const char *function, const kedge_data *data,
                           const kg_taken_trace *trace, kedge_solution **solution);
/// Describe the batches of the solution of a solve, and allocate memory for its fields, or keep
/// that of an earlier solve. On the device as much as the set-up takes is left free.
kedge_status kg_results_allocate(kg_elliptic *p, kg_place place);
