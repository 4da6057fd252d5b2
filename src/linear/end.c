// How a solve ended, in a sentence for the user: converged, converged to rounding, or why not.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linear/system.h"

/// A residual of more times than this what storing x makes of it is no rounding: restarts bring 10
/// (linear/system.c).
enum { ROUNDING_FAR = 128 };

/// Above this the equations hold to less than three digits, which is no solution, whoever is to
/// blame. Fine meshes are far below: 3e-9 at ten million triangles, growing like their number.
#define ROUNDING_MOST 1e-3

static bool is_converged(const kg_system_rule *rule, const kg_system_result *result)
{
  if (result->stop != KEDGE_STOP_ROUNDING) return result->stop == KEDGE_STOP_TOLERANCE;
  return rule->accepts_rounding && result->relative_residual <= ROUNDING_MOST &&
         result->relative_residual <= ROUNDING_FAR * result->rounding_residual;
}

/// Rounding is a part of the stabilization: with one that is so many times smaller the tolerance
/// would have been reached (docs/math.md#large-stabilization).
static bool stabilization_is_to_blame(const kg_system_rule *rule, const kg_system_result *result)
{
  const double ratio = rule->stabilization_ratio;
  return ratio > 1.0 && result->relative_residual <= rule->tolerance * ratio;
}

/// @param[in] is_none    so much that there is no solution
/// @param[in] is_single  it is that of single precision
static void blame(const kg_system_rule *rule, kg_system_result *result, bool is_none,
                  bool is_single)
{
  const size_t length = strlen(result->note), room = sizeof result->note - length;
  if (stabilization_is_to_blame(rule, result))
    snprintf(
        result->note + length, room,
        "; rounding grows with the stabilization, some %.0e times diffusion / h: choose one near "
        "diffusion / h",
        rule->stabilization_ratio);
  else if (is_none && is_single)
    snprintf(result->note + length, room, "; take precision = double");
  else if (is_none)
    snprintf(result->note + length, room,
             "; u may be next to undetermined: give Dirichlet values, or a reaction that is not "
             "negligible beside the diffusion");
}

/// What was reached, rounded up to one digit.
static double attainable(double residual)
{
  const double unit = pow(10.0, floor(log10(residual)));
  return ceil(residual / unit) * unit;
}

static void describe_rounding(const kg_system_rule *rule, bool is_refined, kg_system_result *result)
{
  const bool is_none = rule->accepts_rounding && result->relative_residual > ROUNDING_MOST;
  const bool has_room = result->rounding_residual < rule->tolerance;
  const bool is_single = has_room && is_refined;
  if (result->converged)
    snprintf(result->note, sizeof result->note,
             "converged to rounding: of the relative residual of %.2e, storing the solution in "
             "double precision makes %.2e, so that %.1e %s",
             result->relative_residual, result->rounding_residual, rule->tolerance,
             is_single  ? "is out of reach of precision = compact; take precision = double for it"
             : has_room ? "is out of reach of restarts"
                        : "cannot be reached");
  else if (is_none)
    snprintf(result->note, sizeof result->note,
             "rounding keeps the true relative residual at %.2e (storing the solution alone makes "
             "%.2e), which is no solution",
             result->relative_residual, result->rounding_residual);
  else
    snprintf(result->note, sizeof result->note,
             "rounding keeps the true relative residual at %.2e (storing the solution alone makes "
             "%.2e); a tolerance of %.1e is not attainable %s for this problem; %sask for %.0e%s",
             result->relative_residual, result->rounding_residual, rule->tolerance,
             is_single ? "with precision = compact" : "in double precision",
             is_single ? "take precision = double, or " : "", attainable(result->relative_residual),
             rule->accepts_rounding ? "" : ", or leave tolerance = auto");
  blame(rule, result, is_none, is_single);
}

void kg_system_judge_end(const kg_system_rule *rule, bool is_refined, kg_system_result *result)
{
  result->converged = is_converged(rule, result);
  if (result->stop == KEDGE_STOP_LIMIT)
    snprintf(result->note, sizeof result->note,
             "stopped after max_iterations = %lld with a relative residual of %.2e; raise "
             "max_iterations or tolerance",
             (long long)rule->max_iterations, result->relative_residual);
  else if (result->stop == KEDGE_STOP_ROUNDING)
    describe_rounding(rule, is_refined, result);
}
