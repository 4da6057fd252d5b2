/// @file
/// Set up once, solve many times: mesh, coefficients and kinds of conditions stay, source and
/// boundary values change.
///
/// A solver keeps its device memory, the local matrices and the preconditioner. Its solutions are
/// those of kedge_solve(), bit for bit. A solution lies on the device if that has room for it
/// (kedge_plan.solution_bytes) and for a second set-up; else in host memory. A call that reads a
/// field copies it to the host, once. Destroy all solutions before the context.
#pragma once
#include "kedge/solution.h"
KEDGE_BEGIN_DECLS

typedef struct kedge_solver kedge_solver;

/// The value of one boundary condition: text, as `value` of a problem file, or a function. Text may
/// use the problem's parameters.
typedef struct kedge_boundary_value {
  /// Name or number of a boundary group of the mesh, or "default": all groups of [boundary default]
  /// that no other value names.
  const char *group;
  const char *text;          ///< NULL: the function
  kedge_function *function;  ///< NULL: the text
  void *user;                ///< handed to the function
} kedge_boundary_value;

/// Values of a field that a solve leaves in memory of the context's device, of kedge_data.device;
/// with a backend of the host in its memory. They take no way through the host. Of meshes in space
/// there are none: KEDGE_ERR_UNSUPPORTED.
typedef struct kedge_device_values {
  kedge_field field;  ///< U, U_STAR; on straight triangles with coefficients that are constant in
                      ///< each QX and QY too
  int order;          ///< of the nodes, 1 to KEDGE_ORDER_MAX + 1
  double *values;     ///< [element][node] of the device, as of kedge_solution_values()
} kedge_device_values;

/// The data of one solve: what is left out is as the problem says. All is borrowed during the call.
/// Begin with KEDGE_DATA_INIT: later versions add members at the end.
typedef struct kedge_data {
  size_t size;                      ///< sizeof(kedge_data)
  const char *source;               ///< text, of all regions; NULL: the function, or the problem's
  kedge_function *source_function;  ///< NULL: the text, or the problem's
  void *source_user;                ///< handed to source_function
  int n_values;
  const kedge_boundary_value *values;  ///< [n_values], each of another group
  /// NULL: the iteration begins with 0. Else with the trace of this solution, of the same mesh,
  /// order and kinds of conditions: near the one that is sought it saves the digits that
  /// report.start_residual lacks to 1. It may be the one that is overwritten.
  const kedge_solution *start;
  /// Arrays to fill, before the solve returns; it waits for the device's default stream as
  /// kedge_solver_apply_device() does. The first solve with some takes kedge_plan.values_bytes on
  /// the device, each for its time table_bytes an array. After a failure they hold anything.
  int n_device;
  const kedge_device_values *device;  ///< [n_device]
  /// The source as one number an element, [element] in the caller's order, in memory of the
  /// context's device; with a backend of the host in its memory. NULL: source, source_function or
  /// the problem's. It is gathered there; the first solve with one takes kedge_plan.values_bytes,
  /// and each waits as with `device`.
  const double *source_by_element;
} kedge_data;
#define KEDGE_DATA_INIT \
  {                     \
    sizeof(kedge_data)  \
  }

/// Set up: allocate the device memory of a solve, make local matrices and preconditioner.
/// @param[in] mesh, problem  borrowed; both must outlive the solver, the mesh its solutions too. A
///            problem that has changed is refused until kedge_solver_update().
/// @retval KEDGE_ERR_INPUT, KEDGE_ERR_MEMORY, KEDGE_ERR_NUMERIC, KEDGE_ERR_DEVICE  as from
///         kedge_solve()
KEDGE_API kedge_status kedge_solver_create(kedge_context *ctx, const kedge_mesh *mesh,
                                           const kedge_problem *problem, kedge_solver **out);
KEDGE_API void kedge_solver_destroy(kedge_solver *solver);  ///< NULL is allowed

/// Solve. Not converging is KEDGE_OK with report.converged == false. The report's times and costs
/// are those of this solve; local_matrices is there the time of the right-hand side. Errors are
/// against the problem's exact solution.
/// @param[in]     data      NULL: source and boundary values of the problem
/// @param[in,out] solution  *solution is NULL: a solution is made, which the caller destroys and
///                which outlives the solver; else it is a solution of this solver, which is
///                overwritten in the memory that it has. After a failure it is destroyed and NULL;
///                the solver can go on.
/// @retval KEDGE_ERR_ARG the problem has changed, or the solution is not of this solver's kind,
///                            or what it starts from does not fit
/// @retval KEDGE_ERR_INPUT    a text is refused, a group is none of the mesh, a value is not finite
/// @retval KEDGE_ERR_NUMERIC, KEDGE_ERR_DEVICE  as from kedge_solve()
KEDGE_API kedge_status kedge_solver_solve(kedge_solver *solver, const kedge_data *data,
                                          kedge_solution **solution);

/// Solve for several right-hand sides, each to its own stop: as kedge_solver_solve() for each. On a
/// GPU three or four are solved at once on straight triangles, with multigrid that smooths by
/// edges, up to order 6, where none starts from a solution or is made of one to overwrite by
/// kedge_by_solution(): results are then those of single solves to the tolerance, not to the bit,
/// and functions of the data may be evaluated twice; they must not read solutions to overwrite.
/// Times of the trace solve are equal shares, its costs those of single solves. It takes device
/// memory for their vectors, which the solver keeps; where there is none, they are solved one by
/// one.
/// @param[in]     data       [n]; an entry may be NULL. A sentence about refused ones begins with
///                           data[i]
/// @param[in,out] solutions  [n], no two the same; after a failure, or a cancelled solve, all are
///                           destroyed and NULL
/// @retval KEDGE_ERR_ARG  n is not positive, an array is NULL, or two solutions are the same, which
///                        are left as they are; else as kedge_solver_solve()
KEDGE_API kedge_status kedge_solver_solve_many(kedge_solver *solver, int n,
                                               const kedge_data *const *data,
                                               kedge_solution **solutions);

/// Set up anew after the problem has changed, in coefficients or in anything else. Local matrices
/// and preconditioner are made in the memory that is there; memory is allocated, in its place, only
/// where the problem needs more now.
/// @retval KEDGE_ERR_INPUT, KEDGE_ERR_MEMORY, KEDGE_ERR_NUMERIC, KEDGE_ERR_DEVICE  as from
///         kedge_solve(); solves are refused until an update succeeds
KEDGE_API kedge_status kedge_solver_update(kedge_solver *solver);

/// Predict the memory of a solver, which it holds from its set-up on, as kedge_plan_make() that of
/// kedge_solve(), and what it takes beside. Arguments and failures are those of kedge_plan_make().
/// Reports of its solves have what it takes beside in predicted_device_bytes, too.
KEDGE_API kedge_status kedge_solver_plan(kedge_context *ctx, const kedge_mesh *mesh,
                                         const kedge_problem *problem, kedge_plan *plan);

/// The report of the set-up: sizes, choices, times and memory, without what a solve finds.
/// @param[in,out] report  its `size` is read; strings live as long as the solver
/// @retval KEDGE_ERR_ARG  an argument is NULL, or `size` was not set by KEDGE_REPORT_INIT
KEDGE_API kedge_status kedge_solver_report(const kedge_solver *solver, kedge_report *report);

// The system A x = b of the trace, for who solves it otherwise or wants eigenvalues. A is symmetric
// and positive definite, as problems that do not determine u are refused by kedge_solver_create();
// it and b are in the units of the problem. The unknowns x are those of kedge_solution_trace():
// its edges in their order, those with Dirichlet values left out, with order + 1 modes each, in
// space (order + 1)(order + 2)/2.
// report.trace_unknowns of kedge_solver_report() says how many there are. Functions with a solver
// that has changed are refused as kedge_solver_solve() is: KEDGE_ERR_ARG.

/// Tell which edges have unknowns: with m modes each, that of mode i of edges[k] is k m + i.
/// @param[out] edges  [trace_unknowns / m] ascending numbers of edges, as
///                    kedge_solution_trace() orders them
KEDGE_API kedge_status kedge_solver_edges(const kedge_solver *solver, int32_t *edges);

/// Multiply: y = A x, on the device, from and to host memory.
/// @param[in]  x  [trace_unknowns]
/// @param[out] y  [trace_unknowns]; it may be x
/// @retval KEDGE_ERR_UNSUPPORTED  precision = compact, which has A in single precision alone; mixed
///                                has it in double precision
KEDGE_API kedge_status kedge_solver_apply(kedge_solver *solver, const double *x, double *y);

/// Multiply from and to memory of the context's device, without a copy through the host; with a
/// backend of the host, from and to its memory. The first call takes kedge_plan.apply_bytes.
/// Work that the device's default stream has been given (CUDA's legacy one, which is that of
/// streams without cudaStreamNonBlocking too) is waited for; y is there when the call returns.
/// @param[in]  x  [trace_unknowns]
/// @param[out] y  [trace_unknowns]; it may be x
/// @retval KEDGE_ERR_ARG  also an array that is not in memory of this GPU
KEDGE_API kedge_status kedge_solver_apply_device(kedge_solver *solver, const double *x, double *y);

/// Precondition: z = M r, with the preconditioner of the solver's own iterations, on the device,
/// from and to host memory. M is about the inverse of A, linear, symmetric and positive definite.
/// Multigrid is symmetric to the rounding of single precision alone where that is its precision
/// (mixed), coefficients vary or elements are no straight triangles. The first call takes
/// kedge_plan.apply_bytes.
/// @param[in]  r  [trace_unknowns]
/// @param[out] z  [trace_unknowns]; it may be r
/// @retval KEDGE_ERR_UNSUPPORTED  precision = compact, as of kedge_solver_apply()
KEDGE_API kedge_status kedge_solver_precondition(kedge_solver *solver, const double *r, double *z);
/// Precondition in memory of the context's device, as kedge_solver_apply_device() multiplies there.
KEDGE_API kedge_status kedge_solver_precondition_device(kedge_solver *solver, const double *r,
                                                        double *z);

/// Make b, of source and boundary values; Dirichlet values have been moved to it.
/// @param[in]  data  as of kedge_solver_solve(); `start` and `device` are not read
/// @param[out] b     [trace_unknowns]
/// @retval KEDGE_ERR_INPUT, KEDGE_ERR_DEVICE  as from kedge_solver_solve()
KEDGE_API kedge_status kedge_solver_rhs(kedge_solver *solver, const kedge_data *data, double *b);
/// Make b in memory of the context's device, as kedge_solver_apply_device() has y there.
KEDGE_API kedge_status kedge_solver_rhs_device(kedge_solver *solver, const kedge_data *data,
                                               double *b);

/// Local solve and post-processing of a trace that was found elsewhere. The report's
/// relative_residual is that of this trace (infinite where b is 0 and the trace is not), converged
/// whether it reaches the tolerance, else `stop` is KEDGE_STOP_LIMIT; iterations are 0.
/// @param[in]     data      as of kedge_solver_solve(); `start` is not read
/// @param[in]     trace     [trace_unknowns]; Dirichlet values are those of data
/// @param[in,out] solution  as of kedge_solver_solve()
/// @retval KEDGE_ERR_INPUT  also a trace that is not finite; else as from kedge_solver_solve()
KEDGE_API kedge_status kedge_solver_recover(kedge_solver *solver, const kedge_data *data,
                                            const double *trace, kedge_solution **solution);
/// Likewise of a trace in memory of the device, as kedge_solver_apply_device() has x there.
KEDGE_API kedge_status kedge_solver_recover_device(kedge_solver *solver, const kedge_data *data,
                                                   const double *trace, kedge_solution **solution);

/// A in rows. Columns of a row ascend.
typedef struct kedge_matrix {
  int64_t rows;
  int64_t *begin;   ///< [rows + 1]: row i has entries begin[i] to begin[i + 1] - 1
  int32_t *column;  ///< [begin[rows]]
  double *value;    ///< [begin[rows]]
} kedge_matrix;

/// Make the matrix, for small problems: a row has up to 5 (order + 1) entries, 7 (order + 1) with
/// quadrilaterals, and while it is made host memory holds it twice, and local matrices.
/// @param[out] out  the caller's; it does not need the solver
/// @retval KEDGE_ERR_UNSUPPORTED  precision = compact, or more unknowns than 32 bits can number
/// @retval KEDGE_ERR_MEMORY       there is no memory
KEDGE_API kedge_status kedge_solver_matrix(kedge_solver *solver, kedge_matrix **out);
KEDGE_API void kedge_matrix_destroy(kedge_matrix *matrix);  ///< NULL is allowed

KEDGE_END_DECLS
