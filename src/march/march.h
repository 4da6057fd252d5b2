/// @file
/// Steps in time: which ones, and the stages of each. What a stage is, is the affair of a method
/// (kg_march_method): this knows no equation.
#pragma once
#include "kedge/march.h"
#include "march/schemes.h"
#include "problem/time.h"

/// A stage of a step. The base of its value is u + sum_j factor[j] k_j.
typedef struct kg_march_stage {
  double t;  ///< at which data are evaluated
  int index;
  int n;  ///< k before it
  double factor[KG_STAGES_MAX];
  bool is_last;  ///< its value is the end of the step, and its k is found by `accept`
} kg_march_stage;

enum { KG_MARCH_ARRAYS_MAX = 8 };

/// An array of the device that a checkpoint has.
typedef struct kg_march_array {
  double *data;
  int64_t n;
} kg_march_array;

/// What marches: a state u, and k_0, k_1, ... of the stages of a step.
typedef struct kg_march_method {
  /// The stages to come have a step of gamma dt = 1 / rate.
  kedge_status (*prepare)(void *state, double rate);
  /// Make k_index. A failure leaves u and k_0 what they were.
  kedge_status (*stage)(void *state, const kg_march_stage *stage);
  /// The value of the last stage becomes u, and its k becomes k_0, of the next step.
  kedge_status (*accept)(void *state);
  /// Between the last stage of a step and `accept`, of schemes with three stages and more: the norm
  /// in L2 of a sum of all k. It overwrites k_1.
  kedge_status (*estimate)(void *state, int n, const double *factor, double *norm);
  /// Behind `accept`: that of k_0 of the next step.
  kedge_status (*change)(void *state, double *norm);
  /// The solution of the last stage, that of a step once it is accepted.
  /// @param[out] out  lives until the next stage
  kedge_status (*solution)(void *state, const kedge_solution **out);
  /// kedge_march_data(), kedge_march_update()
  kedge_status (*data)(void *state, const kedge_data *data);
  kedge_status (*update)(void *state);
  /// What the next step reads, and the solution is made of. @return how many
  int (*arrays)(void *state, kg_march_array arrays[KG_MARCH_ARRAYS_MAX]);
  /// These arrays have been filled with those of another march.
  /// @param[in] t  of the data of its last stage
  kedge_status (*resume)(void *state, double t);
  void (*destroy)(void *state);
  /// Before a checkpoint: fail where there is no state to go on from. NULL: there always is.
  kedge_status (*may_save)(void *state);
} kg_march_method;

/// A time at which a step ends.
typedef struct kg_hit {
  double t;
  bool is_event, is_output;
} kg_hit;

/// Where a march is, and what it does next: numbers of 8 bytes, as a checkpoint has them.
typedef struct kg_march_plan {
  double t;
  int64_t is_output;  ///< t is one of the problem's
  int64_t is_fresh;   ///< data have jumped, or nothing was before: there is no k_0
  /// Steps of equal length: number `done` of `n` from `begin` to `until`.
  double begin, until;
  int64_t n, done;
  double rate;    ///< that is prepared
  double data_t;  ///< of the data of the last stage: t, or just before an event
  double wanted;  ///< of steps that adapt: the longest of the steps to come
  int64_t is_steady;
  int64_t has_failed;  ///< the last step, which has left no base and trace of u
} kg_march_plan;

struct kedge_march {
  kedge_context *ctx;
  const kg_march_method *method;
  void *state;
  const kedge_mesh *mesh;        ///< the caller's, as
  const kedge_problem *problem;  ///< this
  const kg_tableau *scheme;
  double end, most_step;
  double tolerance;         ///< of steps that adapt; 0: they do not
  double steady_tolerance;  ///< of u_t, below which the march ends; 0: it does not
  double created;           ///< kg_seconds(), earlier by what a checkpoint says
  bool has_solution;        ///< a step was made
  bool has_changed;         ///< problem or data, on the way
  int n_hits, n_past, hits_room;
  kg_hit *hits;  ///< ascending, the end among them; the first n_past are not after t
  kg_march_plan plan;
  kedge_marched report;
};

/// Plan the steps of a march: all but method and state, which the caller sets.
/// @param[out] march  kedge_march_destroy(), also after a failure
kedge_status kg_march_open(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                           kedge_march **march);
/// How many k a method keeps beside u: those of all stages but the last.
static inline int kg_march_ks(const kg_tableau *scheme)
{
  return scheme->n_stages - 1;
}
/// Go on with the plan of a checkpoint, which the march has, to another end than that of the file.
/// Steps that do not depend on the end are those that were planned.
/// @param[in] hits  [n] of the file: those that are past stay, and those that were asked for
kedge_status kg_march_move_end(kedge_march *march, int n, const kg_hit *hits);
/// Steps have another longest length from now on.
void kg_march_limit(kedge_march *march, double most_step);
/// How many steps are left, of those that do not adapt. @param[out] longest  of them
int64_t kg_march_left(const kedge_march *march, double *longest);
/// The rate of the next step.
double kg_march_rate(const kedge_march *march);
