/// @file
/// What a problem says of time: the keys of [time], and of [output] those that only a problem in
/// time has.
#pragma once
#include "core/error.h"
#include "kedge/problem.h"

typedef enum kg_scheme {
  KG_SCHEME_EULER,
  KG_SCHEME_TRBDF2,
  KG_SCHEME_ESDIRK4,
  KG_SCHEMES
} kg_scheme;
extern const char *const kg_scheme_words[KG_SCHEMES];  ///< of problem files

typedef enum kg_until { KG_UNTIL_END, KG_UNTIL_STEADY, KG_UNTILS } kg_until;

#define KG_STEPS_MAX   1000000000  ///< most steps of one size
#define KG_OUTPUTS_MAX 1000000     ///< most times of `every`

/// Times ascend; the first is 0. What is 0 was not given.
typedef struct kg_time_settings {
  bool is_set;  ///< the problem has a [time]: without it nothing below is set
  double end;
  int64_t steps;
  double step;       ///< the most that a step may take: as given, or that of `steps`
  double tolerance;  ///< of steps that adapt; 0: steps are fixed
  kg_scheme scheme;
  int n_events;
  double *events;  ///< [n_events] after 0 and before the end; owned by the problem
  kg_until until;
  double steady_tolerance;
  double every;
  int n_outputs;
  double *outputs;  ///< [n_outputs] after 0, of waves 0 too, to the end; owned by the problem
} kg_time_settings;

/// Whether a march takes norms of what it computes, to adapt its steps or to end.
static inline bool kg_time_measures(const kg_time_settings *time)
{
  return time->tolerance > 0.0 || time->until == KG_UNTIL_STEADY;
}

/// Make what depends on several keys, which all have been read: the step of `steps`, and the scheme
/// where none is named.
/// @param[in] names_scheme  one is
void kg_time_settle(kg_time_settings *time, bool names_scheme);

/// Refuse a problem with [time] where a steady one is solved.
kedge_status kg_problem_refuse_time(kedge_context *ctx, const kedge_problem *problem);

/// Refuse keys of time that do not go together, and without [time] all that needs it: `t` in an
/// expression, [initial], outputs at times. A file is checked as a whole when it is read; a problem
/// that is made by calls when it meets a mesh.
/// @retval KEDGE_ERR_INPUT  with the place
kedge_status kg_problem_check_time(kedge_context *ctx, const kedge_problem *problem);
