/// @file
/// Problems that move: mass u_t - div(diffusion grad u) + reaction u = source, step by step.
///
/// A step is a call, and so is what a program does between steps: look at the solution, change the
/// data or the problem. The state, stages and loads stay on the device.
#pragma once
#include "kedge/solver.h"
KEDGE_BEGIN_DECLS

typedef struct kedge_march kedge_march;

/// What a march has done. Begin with KEDGE_MARCHED_INIT: later versions add members at the end.
typedef struct kedge_marched {
  size_t size;         ///< sizeof(kedge_marched)
  const char *scheme;  ///< euler, trbdf2 or esdirk4
  double t;            ///< the time that is reached
  double step;         ///< length of the last step; before the first, of waves the longest of
                       ///< those to come, else 0
  int64_t steps;
  int64_t solves;      ///< of the trace system, some a step
  int64_t iterations;  ///< of all of them
  int64_t set_ups;     ///< local matrices and preconditioner were made
  bool converged;      ///< all solves have; of waves: grown_step is 0
  bool remakes;        ///< a set-up for each solve, as coefficients depend on t, or may: functions
                       ///< of the program, but for kedge_steady() and those of the library
  double end;          ///< of [time]
  double seconds;      ///< of wall time, from its beginning to the end of the last step
  /// For kedge_report_write(): what the caller has kept of the notes of solves, with their steps; a
  /// march gives NULL
  const char *note;
  int64_t rejected;  ///< of steps that adapt: those that were made again, shorter
  double change;     ///< of until = steady: |u_t| in L2 at t; NAN: it was not asked for
  bool is_steady;    ///< it has ended as that is below steady_tolerance
  /// The step and time at which the energy of waves was first seen to have grown by more than came
  /// in; 0: it was not. Without sources, data at the boundary and updates the energy has then grown
  /// above that at t = 0 by more than rounding. With them it may grow, and no step up to
  /// kedge_march_longest() makes energy of its own. Behind longer steps a trial step is taken from
  /// the same state without sources and data, and thrown away: it had more energy at its end than
  /// at its beginning. kedge_march_energy() looks, and every 32nd of longer steps.
  int64_t grown_step;
  double grown_t;
} kedge_marched;
#define KEDGE_MARCHED_INIT \
  {                        \
    sizeof(kedge_marched)  \
  }

/// Begin at t = 0 with [initial] u, where it is left out with [exact] u, else with 0, and set up
/// for the first step of [time].
/// @param[in] mesh, problem  borrowed; both must outlive the march, the mesh its solutions too.
///            Changes of the problem are taken by kedge_march_update().
/// @retval KEDGE_ERR_INPUT        there is no [time], or as from kedge_solver_create(); also a mass
///                                that is not positive
/// @retval KEDGE_ERR_UNSUPPORTED  precision = compact
/// @retval KEDGE_ERR_MEMORY, KEDGE_ERR_NUMERIC, KEDGE_ERR_DEVICE  as from kedge_solver_create()
KEDGE_API kedge_status kedge_march_create(kedge_context *ctx, const kedge_mesh *mesh,
                                          const kedge_problem *problem, kedge_march **out);
KEDGE_API void kedge_march_destroy(kedge_march *march);  ///< NULL is allowed

/// Predict the memory of a march as kedge_solver_plan() that of a solver: in `march_bytes` what it
/// has beside. Arguments and failures are those of kedge_plan_make(); a problem without [time] is
/// KEDGE_ERR_INPUT.
KEDGE_API kedge_status kedge_march_plan(kedge_context *ctx, const kedge_mesh *mesh,
                                        const kedge_problem *problem, kedge_plan *plan);

KEDGE_API double kedge_march_time(const kedge_march *march);  ///< that is reached
/// Return whether the march is over: it has reached the end of [time], or a steady state where the
/// problem has until = steady.
KEDGE_API bool kedge_march_ended(const kedge_march *march);

/// Whether the problem asks for an output at the time that is reached: [output] every or at do, and
/// the end of [time]. Waves have one at 0 where `at` names it.
KEDGE_API bool kedge_march_is_output(const kedge_march *march);

/// The times of the problem's outputs up to the one that is reached, those before a checkpoint too.
/// @param[out] t  [room] the first of them; NULL: none are wanted
/// @return how many there are
KEDGE_API int64_t kedge_march_outputs(const kedge_march *march, int64_t room, double *t);

/// One step. Between two times that are hit steps have equal lengths, none more than `step`; with a
/// `tolerance` they adapt, and may be made again before the call returns. Solves that do not
/// converge are no failure: see the report.
/// @retval KEDGE_ERR_ARG      the march has ended
/// @retval KEDGE_ERR_INPUT, KEDGE_ERR_MEMORY, KEDGE_ERR_NUMERIC, KEDGE_ERR_DEVICE,
///         KEDGE_ERR_CANCELLED  as from kedge_solver_solve(); the time is that before the step,
///                              which may be tried again, but of waves that have failed behind the
///                              first stage, or by data that a GPU evaluates, as these are looked
///                              at behind the last one. KEDGE_ERR_NUMERIC also where no step is
///                              short enough for the tolerance
KEDGE_API kedge_status kedge_march_step(kedge_march *march);

/// Have a step end at a time, as at events, outputs and the end of the problem. The time that is
/// reached, but for rounding, is hit already.
/// @retval KEDGE_ERR_ARG  the time is past, or behind the end
KEDGE_API kedge_status kedge_march_hit(kedge_march *march, double t);

/// The solution at the time that is reached. It is made when it is asked for.
/// @param[out] solution  belongs to the march: it is overwritten by the next call after a step, and
///                       ends with it
/// @retval KEDGE_ERR_ARG  there was no step yet, which alone makes fluxes and traces
KEDGE_API kedge_status kedge_march_solution(kedge_march *march, const kedge_solution **solution);

/// Take source and boundary values from these data from now on, in place of the problem's: they may
/// jump, so that the next step begins anew.
/// @param[in] data  NULL: those of the problem. Texts are copied; functions, what they read, and
///                  arrays are borrowed until other data are given. `start` and `device` are not
///                  read
/// @retval KEDGE_ERR_ARG, KEDGE_ERR_INPUT  as from kedge_solver_solve() for such data; those before
///                                         stay
KEDGE_API kedge_status kedge_march_data(kedge_march *march, const kedge_data *data);

/// The problem has changed: go on with its new coefficients and data. The mesh, the order, and
/// [time] and [initial], stay what they were, of waves system and precision too; their step = auto
/// is found anew.
/// @retval KEDGE_ERR_INPUT, KEDGE_ERR_MEMORY, KEDGE_ERR_NUMERIC, KEDGE_ERR_DEVICE  as from
///         kedge_solver_update(); steps go on as if there had been no update, and the next one
///         reads the problem again
/// @retval KEDGE_ERR_ARG  of waves: a step has failed in its middle
KEDGE_API kedge_status kedge_march_update(kedge_march *march);

/// Write what the steps to come depend on, whole or not at all: beside the file, which then takes
/// its place. It has the time, u, derivative and trace of the last step, the steps that are
/// planned, the counts of the report, and what tells mesh and problem, arrays of kedge_by_element()
/// too; of functions only that they are there.
/// @retval KEDGE_ERR_IO           the file cannot be written; an old one there is as it was
/// @retval KEDGE_ERR_UNSUPPORTED  kedge_march_data() or kedge_march_update() was called: a file has
///                                no such changes
/// @retval KEDGE_ERR_ARG, KEDGE_ERR_NUMERIC  of waves: a step has failed, or the state is not
/// finite
KEDGE_API kedge_status kedge_march_save(const kedge_march *march, const char *path);

/// Go on where a march was saved, to the same bits as if it had not ended, on the same backend and
/// number of threads.
/// @param[in] mesh, problem  as of kedge_march_create(), the same ones: [mesh], names of [output],
///                           probes and integrals alone may be others, and `end`, if the time of
///                           the file is before it; of `steps` both, if the step is as long
/// @retval KEDGE_ERR_IO     the file cannot be read
/// @retval KEDGE_ERR_INPUT  it is no checkpoint, is damaged, or is of another mesh or problem: the
///                          sentence names the first key that differs
/// Others are as from kedge_march_create().
KEDGE_API kedge_status kedge_march_restore(kedge_context *ctx, const kedge_mesh *mesh,
                                           const kedge_problem *problem, const char *path,
                                           kedge_march **out);

/// @param[in,out] report  its `size` is read
/// @retval KEDGE_ERR_ARG  an argument is NULL, or `size` was not set by KEDGE_MARCHED_INIT
KEDGE_API kedge_status kedge_march_report(const kedge_march *march, kedge_marched *report);

/// Write the list of files and their times by which ParaView opens them as one (name it as a file
/// of them and add ".series": plate.vtkhdf.series), whole or not at all.
/// @param[in] names  [n] relative to the folder of the list
/// @param[in] times  [n]
/// @retval KEDGE_ERR_ARG  an argument is NULL, or n is negative
/// @retval KEDGE_ERR_IO   the list cannot be written; an old one there is as it was
KEDGE_API kedge_status kedge_series_write(kedge_context *ctx, const char *path, int64_t n,
                                          const char *const *names, const double *times);

KEDGE_END_DECLS
